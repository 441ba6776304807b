"""Modules, arrays and progress in notebooks."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from tests.tools.browser import needs_browser, started
from tests.tools.test_extension import install

import irax
import irax.numpy as jnp
from irax import ir as irs
from irax.execution.diagnostics import progress
from irax_tools.show.notebook import framed

SHOWS = "import irax, irax.numpy as jnp; print(irax.make_ir(jnp.sin)(1.0)._repr_html_())"


def page_in(frame: str) -> str:
    match = re.fullmatch(r'<iframe srcdoc="([^"]*)" style="[^"]*"></iframe>', frame)
    assert match is not None
    return unescape(match[1])


def test_a_module_is_its_page():
    page = page_in(framed(irax.make_ir(lambda x: jnp.tanh(x) * 2)(jnp.ones(3))) or "")
    assert page.startswith("<!doctype html>")
    assert "stablehlo.tanh" in page


def test_a_module_that_cannot_be_lowered_shows_why():
    @irax.jit
    def f(x):
        return irax.lax.psum(x, "i")

    traced = irax.vmap(f, axis_name="i")
    assert "stablehlo.reduce" in page_in(framed(irax.make_ir(traced)(jnp.ones(3))) or "")
    text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {"
    text += '%y = "other.op"(%x) : (tensor<2xf32>) -> tensor<2xf32> return %y : tensor<2xf32> }'
    page = page_in(framed(irs.load(text).ir) or "")
    (data,) = re.findall(r'<script id="data"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert "other.op" in json.loads(data)[0]["error"]


def test_a_module_that_is_too_large_is_text(monkeypatch):
    monkeypatch.setattr("irax_tools.show.notebook._LARGEST", 1000)
    assert framed(irax.make_ir(jnp.sin)(1.0)) is None


def test_the_viewer_is_found_by_its_entry_point(tmp_path: Path):
    environment = install(tmp_path / "site", {"irax.viewers": {"show": "irax_tools.show.notebook"}})
    command = [sys.executable, "-W", "error", "-c", SHOWS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "stablehlo.sine" in page_in(done.stdout.strip())


def test_without_a_viewer_a_module_is_its_text(monkeypatch):
    monkeypatch.setattr(irs, "_viewers", [])
    monkeypatch.setattr(irs.api, "load_extensions", lambda group: None)
    module = irax.make_ir(jnp.sin)(1.0)
    assert module._repr_html_() is None
    assert "stablehlo.sine" in repr(module)


def test_arrays_are_shown_as_jax_shows_them():
    """By their text: JAX's arrays have no other form either."""
    assert repr(jnp.ones(2)) == "Array([1., 1.], dtype=float32)"
    assert not hasattr(jnp.ones(2), "_repr_html_")


@needs_browser
def test_the_page_works_in_a_frame(tmp_path):
    frame = framed(irax.make_ir(lambda x: jnp.tanh(x) * 2)(jnp.ones(3))) or ""
    (tmp_path / "notebook.html").write_text(f"<!doctype html><title>notebook</title>{frame}")
    with started(tmp_path / "browser") as browser:
        browser.open(tmp_path / "notebook.html")
        inside = "document.querySelector('iframe').contentDocument"
        browser.wait(f"{inside}.querySelector('#stages.counted')")
        browser.evaluate(f"{inside}.querySelectorAll('.stage')[1].click()")
        browser.wait(f"{inside}.querySelectorAll('.stage')[1].ariaCurrent === 'step'")
        assert "tanh" in browser.evaluate(f"{inside}.querySelector('#ir').textContent")
        assert browser.errors == []


class OutStream(io.StringIO):
    """A stream such as those of notebooks."""


OutStream.__module__ = "ipykernel.iostream"


def test_progress_below_a_cell(monkeypatch):
    """The line is written over, since notebooks know no sequence that erases one."""
    stream = OutStream()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "AFTER", 0.01)
    monkeypatch.setattr(progress, "_EVERY", 0.01)
    with progress.shown("f"):
        while stream.getvalue().count("irax: compiling f, 0 s") < 2:
            pass
    assert "\x1b" not in stream.getvalue()
    shown = ""
    for part in stream.getvalue().split("\r"):
        shown = part + shown[len(part) :]
    assert shown.strip() == ""


@pytest.mark.parametrize("stream", [io.StringIO(), None])
def test_no_progress_elsewhere(monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "AFTER", 0.0)
    with progress.shown("f"):
        pass
    assert stream is None or stream.getvalue() == ""
