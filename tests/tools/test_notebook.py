"""Modules, arrays and progress in notebooks."""

from __future__ import annotations

import io
import json
import linecache
import re
import subprocess
import sys
import types
from html import unescape
from pathlib import Path

import pytest
from tests.tools.browser import needs_browser, started
from tests.tools.test_extension import install

import irax
import irax.numpy as jnp
from irax import ir as irs
from irax.core import source
from irax.execution.diagnostics import loop_progress, progress
from irax_compiler.locations import Frame
from irax_compiler.mlir import file_location, location_text
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


class Shell:
    """The part of IPython that shows outputs; what each output shows is a list of its texts."""

    def __init__(self, monkeypatch) -> None:
        self.outputs: list[list[str]] = []
        monkeypatch.setattr(sys, "stderr", OutStream())
        package = types.SimpleNamespace(display=types.SimpleNamespace(display=self.display))
        monkeypatch.setitem(sys.modules, "IPython", package)
        monkeypatch.setitem(sys.modules, "IPython.display", package.display)

    def display(self, data, raw, display_id):
        assert (raw, display_id) == (True, True)
        texts = [data["text/plain"]]
        self.outputs.append(texts)
        update = lambda data, raw: texts.append(data["text/plain"])
        return types.SimpleNamespace(update=update)


def test_progress_below_a_cell(monkeypatch):
    """One output is changed: a notebook that is saved would keep each text of a stream."""
    shell = Shell(monkeypatch)
    monkeypatch.setattr(progress, "AFTER", 0.01)
    monkeypatch.setattr(progress, "_EVERY", 0.01)
    with progress.shown("f"):
        while not shell.outputs or len(shell.outputs[0]) < 2:
            pass
    ((*texts, last),) = shell.outputs
    assert set(texts) == {"irax: compiling f, 0 s"}
    assert last == ""


def test_progress_of_loops_below_a_cell(monkeypatch):
    shell = Shell(monkeypatch)
    monkeypatch.setattr(progress, "AFTER", 3600.0)  # not even where compiling takes long
    monkeypatch.setattr(loop_progress, "EVERY", 0.0)
    f = irax.jit(lambda n: irax.lax.fori_loop(0, n, lambda i, c: c + i, 0.0, progress="steps"))
    for count in (1, 2):
        assert f(100) == 4950
        irax.effects_barrier()
        assert len(shell.outputs) == count
        texts = shell.outputs[-1]
        assert len(texts) == 51
        assert re.fullmatch(r"steps: 2 of 100, [\d.]+ s, [\d.]+ s left", texts[1])
        assert re.fullmatch(r"steps: 100 of 100, [\d.]+ s", texts[-1])
    assert sys.stderr.getvalue() == ""


@pytest.mark.parametrize("stream", [io.StringIO(), None])
def test_no_progress_elsewhere(monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "AFTER", 0.0)
    with progress.shown("f"):
        pass
    assert stream is None or stream.getvalue() == ""


CELL = """def loss(w, x):
    return jnp.sum(jnp.tanh(x @ w) ** 2)
"""


def cell(monkeypatch, name="In[3]"):
    """A function of a notebook's cell, whose source `linecache` has and no file."""
    path = "/tmp/ipykernel_7/123.py"
    monkeypatch.setitem(linecache.cache, path, (len(CELL), None, CELL.splitlines(True), path))
    names = types.SimpleNamespace(format_code_name=lambda p: ("Cell", name) if p == path else None)
    shell = types.SimpleNamespace(compile=names)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    scope = {"jnp": jnp}
    exec(compile(CELL, path, "exec"), scope)
    return scope["loss"]


def model_of(page):
    (data,) = re.findall(r'<script id="data"[^>]*>(.*?)</script>', page, re.DOTALL)
    (model,) = json.loads(data)
    return model


def test_cells_have_their_source_and_number(monkeypatch):
    ir = irax.show(cell(monkeypatch), jnp.ones((3, 2)), jnp.ones((4, 3)))
    files = {f["name"]: f for f in model_of(page_in(framed(ir) or ""))["files"]}
    assert files["In[3]"]["lines"] == CELL.splitlines()
    assert files["In[3]"]["language"] == "python"


def test_messages_name_cells_by_their_number(monkeypatch):
    """As IPython's tracebacks do, in place of the file that it makes for a cell."""
    loss = cell(monkeypatch)
    name = "/tmp/ipykernel_7/123.py"
    assert location_text(file_location(name, 2)) == "In[3]:2"
    assert Frame(name, 2).place(short=True) == "In[3]:2"
    assert source.line_with_text(name, 2) == "In[3]:2: `return jnp.sum(jnp.tanh(x @ w) ** 2)`"
    step = irax.jit(irax.grad(loss))
    scope = {"step": step, "x": jnp.ones((2, 2))}
    exec(compile("step(x, x)", name, "exec"), scope)
    assert " In[3]:1: " in str(irax.explain(step))


def test_the_page_of_a_gradient_shows_how_it_is_derived(monkeypatch, tmp_path):
    loss = cell(monkeypatch)
    for gradient in (irax.grad(loss, 1), irax.jit(irax.grad(loss, -1))):
        irax.show(gradient, jnp.ones((3, 2)), jnp.ones((4, 3))).save(tmp_path / "page.html")
        model = model_of((tmp_path / "page.html").read_text())
        assert model["title"] == "grad of loss"
        assert [s["name"] for s in model["stages"][:3]] == ["traced", "linearize", "vjp"]
        derived = model["stages"][model["opens"]]
        assert derived["group"] == "derive"
        results = model["bodies"][derived["bodies"][0][0]]["text"][0].partition("->")[2]
        assert results.strip() == "tensor<4x3xf32> {"


@pytest.mark.slow
def test_objects_show_themselves_as_tables():
    @irax.jit
    def scaled(x, *, by):
        return {"out": x * by}

    assert "<table>" in scaled._repr_html_()
    scaled(jnp.ones(3), by=2.0)
    for shown in (scaled, irax.explain(scaled)):
        text = shown._repr_html_()
        assert "float32[3]" in text
        assert "it is traced for the first time" in text
    lowered = scaled.lower(jnp.ones(3), by=jnp.ones(3))
    text = lowered._repr_html_()
    for part in (">x<", ">by<", "float32[3]", "result 0", "flops"):
        assert part in text
    compiled = lowered.compile()
    assert "bytes of temporaries" in compiled._repr_html_()
    with irax.profiler.trace() as session:
        scaled(jnp.ones(3), by=3.0).values()
        assert session._repr_html_() is None
    for shown in (session, session.profile_data):
        assert ">execute<" in shown._repr_html_()
        assert ">scaled<" in shown._repr_html_()
    line = next(x for x in irax.profiler.summary().splitlines() if "execute" in x)
    assert line.split()[-1] == "scaled"
    assert irax.profiler.summary(session) == irax.profiler.summary(session.profile_data)
    assert "<th" not in irax.jit(lambda x: x)._repr_html_()  # no heads without rows
    told = irax.profiler.summary(session)
    assert repr(told) == told  # lines, at Python's prompt
    assert told._repr_html_() == session.profile_data._repr_html_()
