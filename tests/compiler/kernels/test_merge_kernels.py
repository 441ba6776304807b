"""Kernels that differ by numbers alone are compiled once."""

import re

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler import api
from irax_compiler.iree import phases
from irax_compiler.lowering import lower

COUNT = 12


def chain(x):
    for i in range(COUNT):
        x = jnp.argsort(x) * 3 + i
    return x


def kernels(function, *arguments):
    """The kernels that IREE compiles for a function."""
    module = api.parse(irax.jit(function).lower(*arguments).as_text())
    for phase, made in phases.phases(lower(module, function.__name__)):
        if phase == "flow":
            return re.findall(r"(?:flow|stream)\.executable private @(\w+)", str(made))
    raise AssertionError("there is no phase flow")


def test_chains_of_sorts_have_few_kernels():
    x = np.arange(7, dtype=np.int32)
    assert len(kernels(chain, x)) <= 6


def test_numbers_that_became_operands_are_right():
    x = np.array([3, 1, 2, 0, 6, 5, 4], np.int32)
    expected = x
    for i in range(COUNT):
        expected = (np.argsort(expected, kind="stable") * 3 + i).astype(np.int32)
    np.testing.assert_array_equal(irax.jit(chain)(x), expected)


@pytest.mark.slow
def test_numbers_of_all_widths_become_operands():
    def function(x):
        for i in range(COUNT):
            x = jnp.cumsum(x * jnp.array(2, x.dtype)) + jnp.array(i, x.dtype)
        return x

    for dtype in ("int8", "float16", "float64"):
        with irax.enable_x64(True):
            x = jnp.array([1, 2, 0], dtype)
            assert len(kernels(function, x)) <= 7  # float16 is added up in float32
            with irax.disable_jit():
                expected = np.asarray(function(x))
            np.testing.assert_allclose(irax.jit(function)(x), expected, rtol=2e-3)
