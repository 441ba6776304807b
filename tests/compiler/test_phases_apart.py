"""Phases of IREE that are run as pipelines, in invocations of their own."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax_compiler import api, mlir, targets
from irax_compiler.iree import compiler, invocation
from irax_compiler.mlir import Module


def elementwise(x, y):
    """An operation for which IREE makes a kernel, and one for which irax does."""
    return x + y, jnp.tanh(x).sum(0)


def history(x, y):
    """A loop that carries an array which it updates, and whose length is not known."""

    def step(carry):
        i, rows = carry
        return i + 1, lax.dynamic_update_slice(rows, y[i][None] * rows[i - 1], (i, 0))

    return lax.while_loop(lambda carry: carry[0] < jnp.int32(y[0, 0]), step, (jnp.int32(1), x))[1]


def lowered(function) -> Module:
    shapes = [np.ones((60, 70), np.float32)] * 2
    module = mlir.parse_module(irax.jit(function).lower(*shapes).as_text())
    return api.lower(module, function.__name__, "iree-cpu")


@pytest.mark.parametrize("function", [elementwise, history])
def test_pipelines_make_the_programs_that_phases_make(function, monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    module = lowered(function)
    by_pipelines = targets.compile(module, "iree-cpu")
    monkeypatch.setattr(invocation, "_PIPELINES", {})
    monkeypatch.setattr(compiler, "AFRESH", ())
    assert targets.compile(module, "iree-cpu") == by_pipelines


def test_a_pipeline_that_fails_says_why(monkeypatch):
    monkeypatch.setitem(invocation._PIPELINES, "vm", "iree-vm-transformation-pipeline,no-such-pass")
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    with pytest.raises(api.CompileError, match="no-such-pass"):
        targets.compile(lowered(elementwise), "iree-cpu")


def test_kernels_that_are_loops_already_are_not_tiled():
    text = str(lowered(elementwise))
    kernels = text.count("stream.executable private")
    assert kernels == text.count("pipeline = #iree_codegen.no_pipeline") > 0
