"""Scatters one after the other, run by IREE and compared with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

SIZE, UPDATES = 100_000, 300


def _chain(x: Any, i: Any, j: Any, v: Any) -> Any:
    return x.at[i].add(v).at[j].add(v).at[i].set(v).at[j].max(v)


def _in_numpy(x: np.ndarray, i: np.ndarray, j: np.ndarray, v: np.ndarray) -> np.ndarray:
    x = x.copy()
    np.add.at(x, i, v)
    np.add.at(x, j, v)
    x[i] = v
    np.maximum.at(x, j, v)
    return x


def _drawn(dtype: Any, *row: int) -> list[np.ndarray]:
    rng = np.random.default_rng(len(row))
    i, j = (rng.permutation(SIZE)[:UPDATES] for _ in range(2))
    j[:50] = i[:50]
    x, v = (rng.integers(0, 9, (n, *row)).astype(dtype) for n in (SIZE, UPDATES))
    return [x, i, j, v]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.float64])
def test_chains(dtype: Any):
    arguments = _drawn(dtype)
    with irax.enable_x64():
        np.testing.assert_array_equal(irax.jit(_chain)(*arguments), _in_numpy(*arguments))


def test_rows():
    arguments = _drawn(np.float32, 5)
    np.testing.assert_array_equal(irax.jit(_chain)(*arguments), _in_numpy(*arguments))


@pytest.mark.slow
def test_what_is_used_again_is_kept():
    """The array, and one between two scatters."""
    x, i, j, v = _drawn(np.float32)

    def f(x: Any, i: Any, j: Any, v: Any) -> Any:
        y = (2 * x).at[i].add(v)
        return y, y.at[j].add(v), x

    y = 2 * x
    np.add.at(y, i, v)
    z = y.copy()
    np.add.at(z, j, v)
    for found, wanted in zip(irax.jit(f)(x, i, j, v), (y, z, x), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.slow
def test_loops():
    x, i, j, v = _drawn(np.float32)

    def f(x: Any, i: Any, j: Any, v: Any) -> Any:
        def step(k: Any, state: tuple[Any, Any]) -> Any:
            x, _ = state
            return (x + 1).at[i].add(v).at[j].add(k), x

        return irax.lax.fori_loop(0, 5, step, (x, x))

    wanted, before = x, x
    for k in range(5):
        before, wanted = wanted, wanted + 1
        np.add.at(wanted, i, v)
        np.add.at(wanted, j, np.float32(k))
    found = irax.jit(f)(x, i, j, v)
    np.testing.assert_array_equal(found[0], wanted)
    np.testing.assert_array_equal(found[1], before)


@pytest.mark.slow
def test_a_chain_is_in_the_memory_of_its_result():
    def f(x: Any, i: Any, j: Any, v: Any) -> Any:
        return x.at[i].add(v).at[j].add(v).at[i].max(v)

    compiled = irax.jit(f).lower(*_drawn(np.float32)).compile()
    assert compiled.memory_analysis().temp_size_in_bytes < SIZE


@pytest.mark.slow
def test_numbers_of_arrays_made_here():
    """A scatter to a constant has no array to be in."""
    i = jnp.arange(0, SIZE, 400)
    found = irax.jit(lambda i: jnp.zeros(SIZE).at[i].add(1.0).at[i].add(2.0))(i)
    wanted = np.zeros(SIZE)
    wanted[::400] = 3
    np.testing.assert_array_equal(found, wanted)


def test_unsigned_places_are_never_counted_from_the_end():
    along = lax.ScatterDimensionNumbers((), (0,), (0,))

    def added(x, i):
        places = jnp.where(i < 0, i + jnp.uint8(44), i)[:, None]
        return lax.scatter_add(x, places, jnp.ones(len(i), jnp.int32), along)

    x, i = np.zeros(300, np.int32), np.array([1, 127, 128, 200, 255] * 30, np.uint8)
    expected = x.copy()
    np.add.at(expected, i, 1)
    np.testing.assert_array_equal(irax.jit(added)(jnp.asarray(x), i), expected)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
def test_a_carried_array_is_read_before_it_is_written_over(dtype: Any):
    """Updates beyond the array are replaced by an element of it."""
    along = lax.ScatterDimensionNumbers((0,), (), (1,), (0,), (0,))

    def f(n, x, values, i):
        def step(carry):
            k, x, values = carry
            updates = values.real.astype(dtype)[i[:, 0]][None]
            return k + 1, lax.scatter(x, i, updates, along, unique_indices=True), values

        return lax.while_loop(lambda carry: carry[0] < n, step, (0, x, values))[1]

    x, i = jnp.arange(6, dtype=dtype).reshape(3, 2), jnp.array([[1], [4], [0]])
    values = jnp.array([7, 8], jnp.complex64)
    np.testing.assert_array_equal(irax.jit(f)(2, x, values, i), [[0, 8], [2, 3], [7, 5]])
