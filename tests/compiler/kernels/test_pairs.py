"""Reductions of what is computed of all pairs of a few coordinates, in loops and outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

RNG = np.random.default_rng(0)


def _forces(lib: Any, x: Any, mass: Any) -> Any:
    apart = x[None] - x[:, None]
    square = lib.sum(apart * apart, -1) + lib.float32(0.1)
    return lib.sum(apart * (mass / square)[..., None], 1) - lib.max(apart * apart[..., :1], 0)


SLOW = [pytest.param(*sizes, marks=pytest.mark.slow) for sizes in ((91, 2), (200, 7), (91, 9))]


@pytest.mark.parametrize("bodies, coordinates", [(129, 3), *SLOW])
def test_forces_beside_numpy(bodies: int, coordinates: int) -> None:
    """Coordinates in registers and in memory, of odd numbers, and more than are taken apart."""
    x = RNG.normal(size=(bodies, coordinates)).astype(np.float32)
    mass = RNG.uniform(0.5, 1, bodies).astype(np.float32)
    rate = np.float32(1e-3)

    def steps(x: Any, mass: Any) -> Any:
        return lax.fori_loop(0, 3, lambda _, x: x + rate * _forces(jnp, x, mass), x)

    expected = _forces(np, x, mass)
    np.testing.assert_allclose(
        irax.jit(lambda x, mass: _forces(jnp, x, mass))(x, mass), expected, rtol=2e-5, atol=1e-4
    )
    found = irax.jit(steps)(x, mass)
    for _ in range(3):
        x = x + rate * _forces(np, x, mass)
    np.testing.assert_allclose(found, x, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8])
def test_folds_of_pairs_beside_the_evaluator(dtype: Any) -> None:
    """Batches, other combiners, other starts, and a nan."""
    x, y = (RNG.integers(0, 9, (2, n, 3)).astype(dtype) for n in (97, 65))
    if dtype == np.float32:
        x[0, 5, 1] = np.nan

    def folds(x: Any, y: Any) -> list[Any]:
        pairs = x[:, None] * y[:, :, None] + x[:, None]
        return [
            jnp.max(pairs, 1),
            jnp.min(pairs, 2, initial=3),
            jnp.sum(pairs, (1, 2), dtype=dtype),
            jnp.prod(jnp.minimum(pairs, 1), 1, dtype=dtype),
            jnp.any(pairs > y[:, :, None], 2),
        ]

    def looped(x: Any, y: Any) -> list[Any]:
        start = [jnp.zeros_like(z) for z in folds(x, y)]
        return lax.fori_loop(0, 2, lambda _, z: folds(x + z[0].astype(dtype) * 0, y), start)

    expected = folds(jnp.asarray(x), jnp.asarray(y))  # eager: the evaluator
    for function in (folds, looped):
        for found, right in zip(irax.jit(function)(x, y), expected, strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-5)
