"""Windows that reach beyond an array, beside the evaluator: their kernels pad what they read."""

from __future__ import annotations

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

NUMBERS = ("NHWC", "HWIO", "NHWC")


def depthwise(x):
    kernel = jnp.cos(jnp.arange(9.0 * x.shape[-1])).reshape(3, 3, 1, -1)
    return lax.conv_general_dilated(
        *(x, kernel, (1, 1), "SAME"),
        dimension_numbers=NUMBERS,
        feature_group_count=x.shape[-1],
    )


def strided(x):
    kernel = jnp.sin(jnp.arange(25.0 * x.shape[-1])).reshape(5, 5, 1, -1)
    return lax.conv_general_dilated(
        *(x, kernel, (2, 3), ((4, 1), (0, 3))),
        rhs_dilation=(1, 2),
        dimension_numbers=NUMBERS,
        feature_group_count=x.shape[-1],
    )


def largest(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


def average(x):
    ones = jnp.ones_like(x)
    sums = (
        lax.reduce_window(a, 0.0, lax.add, (1, 4, 3, 1), (1, 1, 1, 1), "SAME") for a in (x, ones)
    )
    return jnp.divide(*sums)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("shape", [(2, 7, 9, 3), (2, 33, 40, 16), (3, 56, 57, 65)])
@pytest.mark.parametrize(
    "program", [depthwise, strided, largest, average], ids=lambda f: f.__name__
)
def test_values(program, shape):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    with irax.disable_jit():
        expected = program(jnp.asarray(x)), program(jnp.sin(jnp.asarray(x)))
    constant = jnp.asarray(x)
    found = irax.jit(program)(x), irax.jit(lambda: program(jnp.sin(constant)))()
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", [depthwise, largest], ids=lambda f: f.__name__)
def test_memory(program):
    """There is no padded copy."""
    x = np.ones((2, 32, 32, 16), np.float32)
    memory = irax.jit(program).lower(x).compile().memory_analysis()
    assert memory.temp_size_in_bytes == 0


@pytest.mark.sampled(9)
@pytest.mark.parametrize("fill", [-np.inf, 0.0, 1.5])
@pytest.mark.parametrize("edges", [(0, 0, 1), (1, 2, 2), (2, 1, 0)])
def test_windows_of_padded(fill, edges):
    """Arrays that are padded, and then padded again by windows or a convolution."""
    kernel = np.arange(1.0, 7.0).reshape(1, 1, 2, 3)

    def largest_of(x, window, padding):
        return lax.reduce_window(x, -np.inf, lax.max, window, (1, 1), padding)

    def program(x):
        computed = largest_of(x, (2, 2), "VALID")
        padded = lax.pad(computed, x.dtype.type(fill), [edges, edges])
        finite = lax.pad(x, x.dtype.type(max(fill, 0.0)), [edges, edges])
        sums = lax.conv_general_dilated(finite[None, None], kernel, (1, 1), "SAME")
        return largest_of(padded, (2, 3), "SAME"), sums

    with irax.enable_x64(True):
        x = np.random.default_rng(0).standard_normal((4, 7))
        with irax.disable_jit():
            expected = program(jnp.asarray(x))
        for a, b in zip(irax.jit(program)(x), expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def test_windows_of_an_updated_array():
    def program(x):
        added = x.at[jnp.array([7, 6, 3])].add(1.5)
        return lax.reduce_window(
            *(added, -np.inf, lax.max, (2,), (2,), [(0, -1)]), base_dilation=(2,)
        )

    x = np.random.default_rng(0).standard_normal(14).astype(np.float32)
    with irax.disable_jit():
        expected = program(jnp.asarray(x))
    np.testing.assert_allclose(irax.jit(program)(x), expected, rtol=1e-6)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.uint32])
@pytest.mark.parametrize("reverse", [False, True])
def test_cumulative_extrema_of_unsigned_numbers(dtype: type, reverse: bool):
    def program(x):
        return lax.cummin(lax.cummax(x, reverse=reverse) ^ x)

    x = np.random.default_rng(0).integers(0, 256, 5000).astype(dtype)
    with irax.disable_jit():
        expected = program(jnp.asarray(x))
    np.testing.assert_array_equal(irax.jit(program)(x), expected)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [np.uint32, np.float32])
@pytest.mark.parametrize("ends", [(39, 2), (39, -2), (2, 39)])
def test_windows_of_all_elements_of_another_number(dtype: type, ends: tuple[int, int]):
    def program(x):
        return lax.reduce_window(x, dtype(0), lax.max, (40, 1), (1, 1), [ends, (0, 0)])

    x = np.random.default_rng(0).integers(0, 256, (40, 30)).astype(dtype)
    with irax.disable_jit():
        expected = program(jnp.asarray(x))
    np.testing.assert_array_equal(irax.jit(program)(x), expected)
