"""Kernels whose code IREE gets after the phases that are about their calls."""

import re

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax_compiler import api, mlir
from irax_compiler.iree import compiler, kernels_aside
from irax_compiler.pipeline import run_pipeline


def step(weights, x):
    """Products, a softmax and sums of columns, which irax writes kernels for."""
    hidden = jnp.maximum(x @ weights[0] + weights[1], 0)
    chosen = irax.nn.softmax(hidden @ weights[2])
    return chosen, chosen.sum(0), (hidden * hidden).mean(-1)


def arguments():
    generator = np.random.default_rng(0)
    weights = [generator.normal(size=s).astype("f4") for s in ((96, 128), (128,), (128, 64))]
    return weights, generator.normal(size=(256, 96)).astype("f4")


def expected(weights, x):
    """Return what `step` does, by NumPy."""
    hidden = np.maximum(x @ weights[0] + weights[1], 0)
    powers = np.exp(hidden @ weights[2] - (hidden @ weights[2]).max(-1, keepdims=True))
    chosen = powers / powers.sum(-1, keepdims=True)
    return chosen, chosen.sum(0), (hidden * hidden).mean(-1)


@pytest.fixture
def lowered():
    module = mlir.parse_module(irax.jit(step).lower(*arguments()).as_text())
    return api.lower(module, "step", "iree-cpu")


def operations(module):
    """The operations of a module, whose values have no names, in no order."""
    run_pipeline(module, "canonicalize,cse")
    return sorted(re.sub(r"%[\w#:]+", "%", mlir.generic_text(module)).split("\n"))


def test_kernels_are_as_they_were(lowered):
    aside = kernels_aside.keep_aside(lowered)
    assert aside is not None
    rest = mlir.parse_module(aside.rest)
    assert len(mlir.text_of(rest.operation)) < len(mlir.text_of(lowered.operation)) / 4
    assert aside.put_back(rest)
    assert operations(rest) == operations(lowered)


def test_few_operations_stay_where_they_are(lowered, monkeypatch):
    monkeypatch.setattr(kernels_aside, "MANY", 10**9)
    assert kernels_aside.keep_aside(lowered) is None


def test_programs_of_kernels_kept_aside(monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    monkeypatch.setattr(kernels_aside, "MANY", 1)
    for result, wanted in zip(irax.jit(step)(*arguments()), expected(*arguments()), strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-5)


def test_a_loop_over_kernels_kept_aside(monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    monkeypatch.setattr(kernels_aside, "MANY", 1)
    generator = np.random.default_rng(1)
    matrix = (generator.normal(size=(200, 200)) / 20).astype("f4")
    start = generator.normal(size=(200, 200)).astype("f4")
    wanted = start
    for _ in range(3):
        wanted = np.tanh(wanted @ matrix)
    result = irax.jit(lambda x: lax.fori_loop(0, 3, lambda i, x: jnp.tanh(x @ matrix), x))(start)
    np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("chip", ["host", "x86-64-v3"])
def test_programs_for_other_processors_are_in_irees_own_form(chip):
    made = compiler.linking_flags(b"", "module", (f"{compiler.CHIP_FLAG}{chip}",))
    assert any("link-embedded=false" in flag for flag in made) == (chip == "host")


def test_without_a_folder_to_load_from(monkeypatch):
    monkeypatch.setattr(compiler, "_can_load_libraries", lambda: False)
    assert compiler.linking_flags(b"", "module", (compiler.FOR_THIS_PROCESSOR,)) == ()
