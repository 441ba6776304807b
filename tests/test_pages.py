"""Markdown files: their links lead somewhere, they have titles, and places on the site."""

from __future__ import annotations

import re
import xml.dom.minidom
from pathlib import Path

import click
import pytest
from tests.runtime.pjrt.pjrt_programs import python
from website import commands, drawings, links, passes, reference, tutorial_pictures

from irax_compiler import api
from irax_tools.cli import main

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
FILES = [*PAGES, *sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("examples/**/README.md"))]
MKDOCS = (ROOT / "mkdocs.yml").read_text("utf-8")
NAV = re.findall(r"^ +- (?:.*: )?(\S+\.md)\b", MKDOCS, re.MULTILINE)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def prose(path: Path) -> str:
    """The text of a file without what is between fences."""
    return "".join(p for p in links.FENCE.split(path.read_text("utf-8")) if p[:3] != "```")


def anchors(path: Path) -> set[str]:
    """The names by which links refer to the headings of a file."""
    headings = re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE)
    return {
        re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


def problems(path: Path, text: str) -> list[str]:
    """The complaints about the links in a text of a file."""
    found = []
    for _, _, address in links.LINK.findall(text):
        name, _, anchor = address.partition("#")
        target = (path.parent / name).resolve() if name else path
        if "://" in address:
            continue
        if not target.exists():
            found.append(f"{address}: there is no such file")
        elif anchor and anchor not in anchors(target):
            found.append(f"{address}: there is no such heading")
    return found


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_links_lead_somewhere(path: Path) -> None:
    assert problems(path, prose(path)) == []


@pytest.mark.parametrize(
    "link, problem",
    [
        ("[a](nowhere.md)", "no such file"),
        ("[`a`](devices.md#nothing)", "no such heading"),
        ("![a [b]](pictures/none.png)", "no such file"),
    ],
)
def test_a_broken_link_is_found(link: str, problem: str) -> None:
    (found,) = problems(ROOT / "docs" / "export.md", f"See {link}.")
    assert problem in found


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_text_is_taken_for_markup(path: Path) -> None:
    """A type such as `tensor<f32>` is code: elsewhere Markdown leaves `<f32>` out."""
    lines = (line for line in prose(path).splitlines() if not line.startswith("    "))
    text = re.sub(r"`[^`]*`", "", "\n".join(lines))
    assert re.findall(r"<[A-Za-z][^>]*>", text) == []


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_pages_have_one_title(path: Path) -> None:
    assert prose(path).startswith("# ")
    assert len(re.findall(r"^# ", prose(path), re.MULTILINE)) == 1


def test_the_site_has_a_place_for_each_page() -> None:
    pages = {str(path.relative_to(ROOT / "docs")) for path in PAGES}
    generated = {*links.OUTSIDE.values(), "reference/index.md", "reference/command.md"}
    assert sorted(NAV) == sorted(pages | generated | {"reference/passes.md"})


@pytest.mark.parametrize(
    "source, here, link, expected",
    [
        ("docs/export.md", "export.md", "[a](devices.md#x)", "[a](devices.md#x)"),
        ("docs/index.md", "index.md", "[a](../examples/README.md)", "[a](gallery.md)"),
        ("docs/reports/a.md", "reports/a.md", "[a](../../CHANGELOG.md)", "[a](../changelog.md)"),
        ("CHANGELOG.md", "changelog.md", "[a](docs/api.md)", "[a](api.md)"),
        ("examples/README.md", "gallery.md", "![a](b.png)", "![a](examples/b.png)"),
        ("examples/README.md", "gallery.md", "[![a](b.png)](#a)", "[![a](examples/b.png)](#a)"),
        ("docs/export.md", "export.md", "[`a`](../tests/a.py)", "`a`"),
        ("docs/export.md", "export.md", "[a](https://a.b) [b](#c)", "[a](https://a.b) [b](#c)"),
        ("docs/export.md", "export.md", "```py\na[b](c.md)\n```", "```py\na[b](c.md)\n```"),
    ],
)
def test_links_on_the_site(source: str, here: str, link: str, expected: str) -> None:
    assert links.linked(link, source, here, {"examples/b.png"}.__contains__) == expected


def test_the_reference_has_every_option_of_every_command() -> None:
    (text,) = commands.pages().values()
    for name, command in main.commands.items():
        assert f"## irax {name}\n" in text
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert all(
                    f"{option} " in text or f"{option}`" in text for option in parameter.opts
                )


@pytest.mark.slow
def test_the_reference_has_every_pass() -> None:
    (text,) = passes.pages().values()
    headings = set(re.findall(r"^## (.*)$", text, re.MULTILINE))
    assert headings == set(api.passes())
    assert text.count('`--pipeline "') > 0.95 * len(headings)
    assert "func.func @main.vjp(" in text


def test_the_reference_shows_arguments_errors_and_examples() -> None:
    text = reference.page("irax")
    grad = text.partition("\n## grad\n")[2].partition("\n## ")[0]
    assert "    fun: Callable[P, Any],\n    argnums: ArgNums = 0,\n" in grad
    assert "\n**Raises**\n\n- `TypeError`: on a call" in grad
    assert "\n```pycon\n>>> grad(lambda x: x**2)(3.0)\nArray(6." in grad


def test_the_reference_lists_members_of_classes() -> None:
    array = reference.page("irax").partition("\n## Array\n")[2].partition("\n## ")[0]
    assert "\n| `astype` | Convert the elements to another dtype" in array
    assert "`__add__`" not in array


def test_all_examples_of_the_reference_are_code() -> None:
    outside = links.FENCE.sub("", reference.page("irax"))
    assert ">>>" not in outside


@pytest.mark.slow
def test_the_examples_of_the_reference_run() -> None:
    """Modules whose examples need other names than these run in the tests of these modules. What
    examples register, a process registers once: this one is their own.
    """
    code = """
        import doctest, importlib
        import numpy as np
        import irax
        from website import reference

        homes = {
            getattr(getattr(module, name), "__module__", None)
            for module in map(importlib.import_module, reference.MODULES)
            for name in reference.names(module)
        }
        names = {"irax": irax, "jnp": irax.numpy, "np": np, "lax": irax.lax, "jit": irax.jit}
        names["stats"] = irax.scipy.stats
        for home in sorted(filter(None, homes)):
            if home.startswith("irax"):
                doctest.testmod(importlib.import_module(home), extraglobs=names)
        print("done")
        """
    done = python(code)
    assert done.stdout.strip() == "done", done.stdout + done.stderr


@pytest.mark.parametrize("name", drawings.DRAWINGS)
def test_drawings_are_up_to_date(name: str) -> None:
    text = (ROOT / "docs" / "pictures" / name).read_text("utf-8")
    assert text == drawings.DRAWINGS[name](), "`make docs` draws it anew"
    xml.dom.minidom.parseString(text)


@pytest.mark.slow
@pytest.mark.parametrize("tutorial", tutorial_pictures.PICTURES)
def test_pictures_of_tutorials(tutorial: str) -> None:
    """They are there, and on the page; their numbers depend a little on the processor."""
    name = f"tutorial-{tutorial}.svg"
    assert name in (ROOT / "docs" / "tutorials" / f"{tutorial}.md").read_text("utf-8")
    xml.dom.minidom.parse(str(ROOT / "docs" / "pictures" / name))


def test_a_picture_of_a_tutorial_is_drawn_of_its_names() -> None:
    draw = tutorial_pictures.PICTURES["custom-rules"]
    text = draw(tutorial_pictures.names_of("custom-rules"))
    assert [word in text for word in ("softplus", "its derivative", "polyline")] == [True] * 3
