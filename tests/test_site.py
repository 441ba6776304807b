"""The documentation site in a real browser: `make site` builds it, warnings are errors."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.tools.browser import Browser, needs_browser, started

ROOT = Path(__file__).parents[1]
pytestmark = [
    pytest.mark.slow,
    needs_browser,
    pytest.mark.needs_system(
        "" if importlib.util.find_spec("material") else "no MkDocs: `make site` installs it"
    ),
]
PHONE = {"width": 390, "height": 844}


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without telling of each."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with started(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


def pages(folder: Path) -> list[str]:
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.html"))
    assert len(found) > 50
    return found


def test_every_page_has_a_title_and_links_that_lead_somewhere(browser, folder, site):
    titles: dict[str, str] = {}
    wanted: dict[str, str] = {}
    anchors: dict[str, set[str]] = {}
    for page in pages(folder):
        if page == "404.html":
            continue
        text = json.dumps((folder / page).read_text("utf-8"))
        parsed = f"new DOMParser().parseFromString({text}, 'text/html')"
        title, heading, links, ids = browser.evaluate(
            f"((d) => [d.title, d.querySelectorAll('h1').length,"
            " [...d.querySelectorAll('a[href], img[src]')]"
            "   .map((e) => e.getAttribute('href') || e.getAttribute('src')),"
            f" [...d.querySelectorAll('[id]')].map((e) => e.id)])({parsed})"
        )
        assert title, page
        assert heading == 1, page
        titles[page] = title
        anchors[page] = set(ids)
        for link in links:
            if not link.startswith(("http:", "https:", "mailto:")):
                path, _, anchor = link.partition("#")
                target = (
                    os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                )
                wanted[f"{target}#{anchor}"] = page
    assert len(set(titles.values())) == len(titles)
    for link, page in wanted.items():
        target, _, anchor = link.partition("#")
        assert (folder / target).is_file(), f"{page}: {link}"
        assert not anchor or anchor in anchors[target], f"{page}: {link}"


def test_pages_ask_no_other_server(browser, site):
    browser.open(f"{site}/reference/irax.numpy.html")
    browser.wait("document.querySelector('h1')")
    assert browser.requests
    assert all(request.startswith(("http://127.0.0.1", "data:")) for request in browser.requests)
    assert browser.errors == []


def test_search(browser, site):
    browser.open(f"{site}/index.html")
    browser.wait("document.querySelector('.md-search__input')")
    browser.click(".md-search__input")
    browser.evaluate(
        "((e) => { e.value = 'cholesky'; e.dispatchEvent(new KeyboardEvent('keyup')); "
        "e.dispatchEvent(new Event('input')); })(document.querySelector('.md-search__input'))"
    )
    found = browser.wait(
        "[...document.querySelectorAll('.md-search-result__link')].map((e) => e.href).join(' ')"
    )
    assert "reference/irax.numpy.linalg.html" in found


def test_the_first_page_has_a_live_page(browser, site):
    browser.open(f"{site}/index.html")
    frame = "document.querySelector('iframe.live')"
    browser.evaluate(f"{frame}.scrollIntoView()")
    inside = f"{frame}.contentDocument"
    browser.wait(f"{inside} && {inside}.querySelector('#stages.counted')")
    selected = browser.evaluate(f"{inside}.querySelector('.line.linked code').textContent")
    assert "irax.nn.gelu" in selected
    assert browser.evaluate(f"{inside}.querySelectorAll('.box').length") > 10
    assert str(ROOT) not in browser.evaluate(f"{inside}.documentElement.outerHTML")
    assert browser.errors == []


def test_light_and_dark(tmp_path, site):
    """The system's choice comes first, until a reader makes another."""
    colour = "getComputedStyle(document.body).backgroundColor"
    with started(tmp_path) as browser:
        media = [{"name": "prefers-color-scheme", "value": "dark"}]
        browser.send("Emulation.setEmulatedMedia", features=media)
        browser.open(f"{site}/glossary.html")
        browser.wait("document.body.dataset.mdColorScheme === 'slate'")
        dark = browser.evaluate(colour)
        browser.click("label[title='Light colours']")
        browser.wait("document.body.dataset.mdColorScheme === 'default'")
        browser.wait(f"{colour} !== '{dark}'")


@pytest.mark.parametrize(
    "page", ["index", "getting-started", "gallery", "ops", "reference/irax", "reference/passes"]
)
def test_a_phone_shows_pages_without_scrolling_sideways(browser, site, page):
    browser.open(f"{site}/{page}.html", **PHONE)
    browser.wait("document.querySelector('h1')")
    assert browser.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    size = "parseFloat(getComputedStyle(document.querySelector('article p')).fontSize)"
    assert browser.evaluate(size) >= 14
