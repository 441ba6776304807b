"""Gathers of many elements of a small table, which AVX-512 keeps in registers."""

from __future__ import annotations

import numpy as np
import pytest

import irax
import irax.numpy as jnp

SIZES = [1, 2, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100, 127, 128, 129]


def check(table, places):
    """Compare with NumPy: places beyond are the nearest ones, or filled."""
    size = len(table)
    counted = places.astype(np.int64)
    counted = np.where(counted < 0, counted + size, counted)
    nearest = table[np.clip(counted, 0, size - 1)]
    filled = np.where((counted < 0) | (counted >= size), table.dtype.type(7), nearest)
    for mode, expected in (("clip", nearest), ("fill", filled)):
        at = irax.jit(lambda t, i, mode=mode: t.at[i].get(mode=mode, fill_value=7))
        np.testing.assert_array_equal(at(table, places), expected)


def drawn(low, high, dtype=np.int32, size=5003):
    return np.random.default_rng(size).integers(low, high, size).astype(dtype)


def test_tables_of_an_odd_number_of_registers():
    check(np.arange(39, dtype=np.float32) ** 2, drawn(-50, 50))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint32])
def test_small_tables(size, dtype):
    table = np.random.default_rng(size).integers(0, 1000, size).astype(dtype)
    check(table, drawn(-2 * size - 1, 2 * size + 1))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint32])
def test_places_in_other_integers(kind):
    limits = np.iinfo(kind)
    check(np.arange(100, dtype=np.float32), drawn(max(limits.min, -120), 127, kind))


@pytest.mark.slow
def test_tables_of_special_numbers_and_in_more_dimensions():
    table = np.array([np.nan, -np.inf, np.inf, -0.0, 1e-40], np.float32)
    places = drawn(0, 5)
    found = np.asarray(irax.jit(lambda t, i: t[i])(table, places))
    np.testing.assert_array_equal(found.view(np.int32), table[places].view(np.int32))
    rows = drawn(0, 8).reshape(5003)[:5000].reshape(50, 100)
    grid = np.arange(56, dtype=np.int32).reshape(7, 8)
    both = irax.jit(lambda t, i, j: t[i, j])
    np.testing.assert_array_equal(both(grid, rows % 7, rows), grid[rows % 7, rows])
    lanes = irax.jit(irax.vmap(lambda t, i: t[i]))
    np.testing.assert_array_equal(lanes(grid, rows[:7]), np.take_along_axis(grid, rows[:7], axis=1))
    derivative = irax.jit(irax.grad(lambda t: (t[jnp.asarray(places)] ** 2).sum()))
    weights = np.arange(5, dtype=np.float32)
    expected = 2 * weights * np.bincount(places, minlength=5)
    np.testing.assert_allclose(derivative(weights), expected, rtol=1e-5)
