"""Reductions of what is computed from smaller arrays that are broadcast, such as the distances of
all pairs of vectors: compiled, beside NumPy.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp

RNG = np.random.default_rng(7)


def _numbers(*shape: int, dtype: str = "float32") -> np.ndarray:
    """Return small integers, so that sums are exact."""
    return RNG.integers(-4, 5, shape).astype(dtype)


A, B = _numbers(150, 11), _numbers(130, 11)
BATCHES = _numbers(3, 40, 9), _numbers(3, 50, 9)
FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "distances": (lambda np_, a, b: np_.sum((a[:, None] - b) ** 2, -1), (A, B)),
    "absolute": (lambda np_, a, b: np_.sum(abs(a[:, None] - b), -1) * 2, (A, B)),
    "maximum": (lambda np_, a, b: np_.max(a[:, None] * b, -1), (A, B)),
    "first axis": (lambda np_, a, b: np_.sum(abs(a.T[:, :, None] - b.T[:, None]), 0), (A, B)),
    "middle axis": (lambda np_, a, b: np_.min(a[:, :, None] - b.T, 1), (A, B)),
    "batches": (lambda np_, a, b: np_.sum(a[:, :, None] * b[:, None], -1), BATCHES),
    "number": (lambda np_, a, b: np_.sum(np_.where(a[:, None] > b, a[:, None], 3), -1), (A, B)),
    "one vector": (lambda np_, a, b: np_.sum(abs(a[:, None] - b[0] + b[:5]), -1), (A, B)),
    "twice": (
        lambda np_, a, b: (
            lambda d: (np_.sum(d, -1), np_.sum(d * d, -1), np_.max(d, (0, 1)), d[0, 0])
        )(a[:, None] - b),
        (A, B),
    ),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["float32", pytest.param("int16", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_numpy(name: str, dtype: str) -> None:
    function, arrays = FUNCTIONS[name]
    arrays = tuple(x.astype(dtype) for x in arrays)
    found = irax.tree.leaves(irax.jit(lambda *xs: function(jnp, *xs))(*arrays))
    expected = irax.tree.leaves(function(np, *arrays))
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(x), y)


@pytest.mark.slow
def test_many_lengths() -> None:
    for length in (2, 3, 7, 8, 9, 16, 31, 32, 33, 64, 127, 128, 129):
        a, b = _numbers(70, length), _numbers(130, length)
        found = irax.jit(lambda a, b: jnp.sum((a[:, None] - b) ** 2, -1))(a, b)
        np.testing.assert_array_equal(np.asarray(found), ((a[:, None] - b) ** 2).sum(-1))
