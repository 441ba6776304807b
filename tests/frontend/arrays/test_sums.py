"""Sums of many elements, eager and compiled, compared with NumPy's in float64.

Added one by one, numbers of float32 are off by 0.1 % after 10^5 elements, and stop at 2^24.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

N = 300_007
ROWS = np.full((N, 3), 0.1, np.float32)
COLUMN = ROWS[:, 0].copy()
ZERO = np.float32(0)


class Case(NamedTuple):
    """A function of `x`, and the same in NumPy, where it is not the same function."""

    of: Callable[[Any], Any]
    x: np.ndarray = ROWS
    reference: Callable[[np.ndarray], Any] | None = None


def _two_sums(x: Any) -> Any:
    def both(left: Any, right: Any) -> Any:
        return left[0] + right[0], left[1] + right[1]

    return jnp.stack(lax.reduce((x, x), (ZERO, ZERO), both, (0,)))


def _window_sums(x: Any, size: int, stride: int, step: int = 1, before: int = 0) -> Any:
    ones = (1,) * (x.ndim - 1)
    padding = [(before, 0), *((0, 0) for _ in ones)]
    sizes, strides, steps = (size, *ones), (stride, *ones), (step, *ones)
    return lax.reduce_window(x, ZERO, lax.add, sizes, strides, padding, window_dilation=steps)


def _slid(size: int, stride: int, step: int, before: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that adds up the same windows of a vector in NumPy."""

    def sums(x: np.ndarray) -> np.ndarray:
        x = np.concatenate([np.zeros(before), x])
        starts = range(0, len(x) - (size - 1) * step, stride)
        return np.array([x[i : i + size * step : step].sum() for i in starts])

    return sums


def _in_loop(f: Callable[[Any], Any], x: np.ndarray) -> Case:
    """A loop that computes `f`, of something else in each step."""
    return Case(
        lambda x: lax.fori_loop(1, 4, lambda i, y: y * 0 + f(x * i), f(x) * 0),
        x[:50_000],
        lambda x: f(3 * x),
    )


def _bias(x: Any) -> Any:
    return irax.grad(lambda b: ((b + x) * x).sum())(jnp.zeros(3))


def _psum(x: Any) -> Any:
    return irax.vmap(lambda row: lax.psum(row, "i"), axis_name="i")(x)[0]


def _sum(x: np.ndarray) -> np.ndarray:
    return x.sum(0)


CASES = {
    "sum": Case(lambda x: x.sum(0)),
    "sum of all": Case(lambda x: x.sum()),
    "sum of columns": Case(lambda x: x.T.sum(1)),
    "sum of outer and inner": Case(lambda x: x[:-1].reshape(-1, 2, 3).sum((0, 2))),
    "sum between": Case(lambda x: x[:-7].reshape(4, -1, 3).sum(1)),
    "sum of a slice": Case(lambda x: x[:, :2].sum((0, 1))),
    "sum of the reverse": Case(lambda x: x[::-1].sum(0)),
    "sum of a row": Case(lambda x: jnp.broadcast_to(x[:1], (N, 3)).sum(0), reference=_sum),
    "sum of a column": Case(lambda x: jnp.broadcast_to(x[:, :1], (N, 3)).sum(0), reference=_sum),
    "mean": Case(lambda x: x.mean(0)),
    "var": Case(
        lambda x: jnp.var(x * np.float32([1, 2, 3]), 0, mean=jnp.zeros((1, 3))),
        reference=lambda x: (x * x).mean(0) * [1, 4, 9],
    ),
    "nansum": Case(lambda x: jnp.nansum(x, 0), reference=_sum),
    "norm": Case(lambda x: jnp.linalg.norm(x, axis=0), reference=lambda x: (x * x).sum(0) ** 0.5),
    "trapezoid": Case(lambda x: jnp.trapezoid(x, axis=0), reference=lambda x: x[1:].sum(0)),
    "cumsum": Case(lambda x: x.cumsum(0)),
    "cumsum of a vector": Case(lambda x: x.cumsum(), COLUMN),
    "reverse cumsum": Case(
        lambda x: lax.cumsum(x, 0, reverse=True), reference=lambda x: x[::-1].cumsum(0)[::-1]
    ),
    "reduce": Case(lambda x: lax.reduce(x, ZERO, lax.add, (0,)), reference=_sum),
    "windows": Case(
        lambda x: _window_sums(x, 100_000, 100_000),
        reference=lambda x: x[:300_000].reshape(3, -1, 3).sum(1),
    ),
    "psum": Case(_psum, reference=_sum),
    "einsum": Case(lambda x: jnp.einsum("ij->j", x), reference=_sum),
    "bias": Case(_bias, reference=_sum),
    "complex sum": Case(lambda x: (x * (1 + 1j)).sum(0)),
    "complex sum of a vector": Case(lambda x: (x * (1 + 1j)).sum(), COLUMN),
    "complex mean of every other": Case(lambda x: (x * (1 + 1j))[::2].mean(), COLUMN),
    "two sums": Case(_two_sums, reference=lambda x: [x.sum(0)] * 2),
    "two sums of vectors": Case(_two_sums, COLUMN, lambda x: [x.sum()] * 2),
    "windows that overlap": Case(
        lambda x: _window_sums(x, 5003, 50_000, 3, 10_007), COLUMN, _slid(5003, 50_000, 3, 10_007)
    ),
    "dot": Case(lambda x: x @ x, COLUMN),
    "vdot": Case(lambda x: jnp.vdot(x, x), COLUMN, lambda x: x @ x),
    "vector times matrix": Case(lambda x: x[:, 0] @ x),
    "matrix times vector": Case(lambda x: x.T @ x[:, 1]),
    "matrices": Case(lambda x: x.T @ x),
    "wide matrices": Case(lambda x: x[:-7].reshape(-1, 12).T @ x[:-7].reshape(-1, 12)),
    "dots": Case(lambda x: jnp.einsum("nb,nb->b", x, x), reference=lambda x: (x * x).sum(0)),
    "complex dot": Case(lambda x: (x * (1 + 1j)) @ x, COLUMN),
    "complex vector times matrix": Case(lambda x: (x[:, 0] * (1 + 1j)) @ x),
    "convolution": Case(
        lambda x: jnp.convolve(x, x[:-2], "valid"), COLUMN, lambda x: (x[2:] @ x[2:]) * np.ones(3)
    ),
    "sum in a loop": _in_loop(lambda x: x.sum(0), ROWS),
    "sum of a vector in a loop": _in_loop(lambda x: x.sum(), COLUMN),
    "dot in a loop": _in_loop(lambda x: x @ x, COLUMN),
    "product in a loop": _in_loop(lambda x: x[:, 0] @ x, ROWS),
}
"""Sums that take many elements, most of them along a leading dimension."""


@pytest.mark.sampled(12)
@pytest.mark.parametrize("is_compiled", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("name", CASES)
def test_many_elements_are_added_up_in_blocks(name: str, is_compiled: bool):
    f, x, reference = CASES[name]
    found = np.asarray((irax.jit(f) if is_compiled else f)(jnp.asarray(x)))
    assert found.dtype in (np.float32, np.complex64)
    np.testing.assert_allclose(found, (reference or f)(x.astype(np.float64)), rtol=2e-5)


COUNTS = {"bfloat16": 1000, "float16": 5000}
"""Numbers of ones beyond those at which a sum in these dtypes stops: 256 and 2048."""


def _histogram(ones: Any, places: Any) -> Any:
    return jnp.histogram(places, 4, (0, 4), weights=ones)[0]


UPDATES: dict[str, Callable[[Any, Any], Any]] = {
    "at": lambda ones, places: jnp.zeros(4, ones.dtype).at[places].add(ones),
    "rows": lambda ones, places: jnp.zeros((4, 2), ones.dtype).at[places].add(ones[:, None])[:, 1],
    "segment_sum": lambda ones, places: irax.ops.segment_sum(ones, places, 4),
    "bincount": lambda ones, places: jnp.bincount(places, ones, length=4),
    "histogram": _histogram,
    "gather": lambda ones, places: irax.grad(lambda w: w[places].sum())(ones[:4]),
    "reduceat": lambda ones, places: jnp.add.reduceat(ones - (jnp.arange(len(ones)) < 1), [0, 1]),
    "loop": lambda ones, places: irax.grad(
        lambda w: lax.scan(lambda c, x: (c, w[1] * x), 0, ones)[1].sum()
    )(ones[:4]),
    "rows of a loop": lambda ones, places: irax.grad(
        lambda w: lax.scan(lambda c, i: (c, w[i]), 0, places)[1].sum()
    )(ones[:4]),
    "pooling": lambda ones, places: irax.grad(
        lambda x: lax.reduce_window(x, -np.inf, lax.max, (len(ones),), (1,), "SAME").sum()
    )(ones.at[len(ones) // 2].set(2))[len(ones) // 2 - 1 :],
}
"""Updates that meet at one place: the second of four has as many as there are ones."""


@pytest.mark.sampled(6)
@pytest.mark.parametrize("is_compiled", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("dtype", COUNTS)
@pytest.mark.parametrize("name", UPDATES)
def test_narrow_updates_are_added_up_in_float32(name: str, dtype: str, is_compiled: bool):
    count, f = COUNTS[dtype], UPDATES[name]
    ones, places = jnp.ones(count, dtype), jnp.ones(count, int)
    found = (irax.jit(f) if is_compiled else f)(ones, places)
    assert found.dtype == dtype
    np.testing.assert_array_equal(np.asarray(found, np.float64)[:2], [0, count])


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "float16", "bfloat16"])
def test_cumulative_sums_keep_their_dtype(dtype: str):
    x = jnp.asarray([100, 100, 100], dtype)
    assert lax.cumsum(x).dtype == x.dtype
    np.testing.assert_array_equal(lax.cumsum(x), np.cumsum(np.asarray(x)).astype(dtype))
