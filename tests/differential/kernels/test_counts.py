"""Sums of many numbers at few places, of which the workgroups of a kernel each have tables."""

from __future__ import annotations

import numpy as np
import pytest

import irax
import irax.numpy as jnp

MANY = 40_003
"""No multiple of the number of workgroups or of tables."""


def drawn(low, high, size=MANY, seed=0, dtype=np.int32):
    return np.random.default_rng(seed).integers(low, high, size, dtype)


def summed(x, places, updates):
    """NumPy's sum, in which negative places count from the end and others beyond are left out."""
    inside = (places >= -len(x)) & (places < len(x))
    found = x.copy()
    np.add.at(found, places[inside], np.broadcast_to(updates, places.shape)[inside])
    return found


def check(x, places, updates):
    given = jnp.asarray(updates)
    place = irax.jit(lambda x, i: x.at[i].add(given, mode="drop"))
    expected = summed(x, places, updates)
    np.testing.assert_array_equal(place(x, places), expected)
    sized = irax.jit(lambda i: jnp.full(x.shape, x[0], x.dtype).at[i].add(given, mode="drop"))
    np.testing.assert_array_equal(sized(places), summed(np.full_like(x, x[0]), places, updates))


def test_counts_of_all_places_and_beyond():
    places = drawn(-150, 150)
    for kind in (np.int32, np.float32):
        count = irax.jit(lambda i, k=kind: jnp.zeros(100, k).at[i].add(1, mode="drop"))
        expected = summed(np.zeros(100, kind), places, kind(1))
        np.testing.assert_array_equal(count(places), expected)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int32, np.float32])
@pytest.mark.parametrize("size", [1, 7, 100, 1023, 1025])
def test_sums_at_few_places(dtype, size):
    x = drawn(0, 100, size).astype(dtype)
    places = drawn(-size - 2, size + 3, seed=1)
    check(x, places, np.asarray(3, dtype))
    check(x, places, drawn(0, 90, seed=2).astype(dtype))


@pytest.mark.slow
@pytest.mark.parametrize("count", [16_383, 16_384, 16_385, 32_768, 131_075, 200_000])
def test_numbers_of_updates_around_those_of_workgroups(count):
    places = drawn(0, 12, count)
    bins = irax.jit(lambda i: jnp.bincount(i, length=12))(places)
    np.testing.assert_array_equal(bins, np.bincount(places, minlength=12))
    assert int(bins.sum()) == count


@pytest.mark.slow
@pytest.mark.parametrize("update", [0.5, 600.0, 601.5, -0.0, np.inf, np.nan, -419.0])
@pytest.mark.parametrize("fill", [0.0, -0.0, 3.0, 1e7, 0.25, -5.0])
def test_sums_that_round_are_in_order(update, fill):
    """Whole numbers up to 2^24 are exact in any order, and nothing else is."""
    places = drawn(0, 5)
    x = np.full(6, fill, np.float32)
    place = irax.jit(lambda i: jnp.full(6, fill, np.float32).at[i].add(np.float32(update)))
    found = np.asarray(place(places))
    expected = summed(x, places, np.float32(update))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.slow
def test_counts_in_other_forms():
    """In two dimensions, of lanes, donated, in loops, and by unsigned and narrow places."""
    rows, columns = drawn(0, 9), drawn(-3, 14, seed=1)
    at = irax.jit(lambda i, j: jnp.zeros((9, 11), np.int32).at[i, j].add(1, mode="drop"))
    inside = (columns >= -11) & (columns < 11)
    grid = np.zeros((9, 11), np.int32)
    np.add.at(grid, (rows[inside], columns[inside]), 1)
    np.testing.assert_array_equal(at(rows, columns), grid)
    lanes = np.stack([drawn(0, 50, seed=k) for k in range(3)])
    counts = irax.jit(irax.vmap(lambda i: jnp.bincount(i, length=50)))(lanes)
    np.testing.assert_array_equal(counts, [np.bincount(x, minlength=50) for x in lanes])
    add = irax.jit(lambda x, i: x.at[i].add(2), donate_argnums=0)
    x = jnp.arange(50)
    for lane in lanes:
        x = add(x, lane)
    expected = np.arange(50) + 2 * sum(np.bincount(lane, minlength=50) for lane in lanes)
    np.testing.assert_array_equal(x, expected)
    loop = irax.jit(
        lambda i: irax.lax.fori_loop(
            0, 3, lambda k, c: c + jnp.zeros(50, np.int32).at[i].add(1), jnp.zeros(50, np.int32)
        )
    )
    np.testing.assert_array_equal(loop(lanes[0]), 3 * np.bincount(lanes[0], minlength=50))
    for kind in (np.uint8, np.int8, np.uint16):
        narrow = lanes[0].astype(kind)
        by = irax.jit(lambda i: jnp.zeros(50, np.float32).at[i].add(1.0))(narrow)
        np.testing.assert_array_equal(by, np.bincount(lanes[0], minlength=50))


@pytest.mark.slow
def test_derivatives_of_sums_at_few_places():
    places = drawn(0, 40)
    f = irax.jit(irax.grad(lambda x: (x.at[places].add(1.0) ** 2).sum()))
    x = np.arange(40, dtype=np.float32)
    np.testing.assert_allclose(f(x), 2 * (x + np.bincount(places, minlength=40)), rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("update", [3, 3.5, True])
def test_updates_that_are_one_number(update):
    """Their array is in no memory: of rows, single elements, and sets as sums."""
    dtype = np.asarray(update).dtype.type if update is not True else np.bool_
    dtype = {np.int64: np.int32, np.float64: np.float32}.get(dtype, dtype)
    rows = drawn(0, 300, 200)
    x = np.zeros((300, 33), dtype)
    put = irax.jit(lambda x, i: x.at[i].set(dtype(update)))
    expected = x.copy()
    expected[rows] = update
    np.testing.assert_array_equal(put(x, rows), expected)
    flat = irax.jit(lambda x, i: x[:, 0].at[i].max(dtype(update)))
    np.testing.assert_array_equal(flat(x, rows), expected[:, 0])
    if update is not True:
        added = irax.jit(lambda x, i: x.at[i].add(dtype(update)))
        expected = x.copy()
        np.add.at(expected, rows, update)
        np.testing.assert_array_equal(added(x, rows), expected)
