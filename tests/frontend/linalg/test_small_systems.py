"""Many systems of few equations under jit, compared with NumPy's solutions in float64."""

from __future__ import annotations

import numpy as np
import pytest

import irax
import irax.numpy as jnp

COUNT = 600


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 3), (3, 1), (4, 2)])
def test_solutions(rows: int, columns: int) -> None:
    a, b = drawn(COUNT, rows, rows), drawn(2, COUNT // 2, rows, columns)
    a[0] = np.eye(rows)[::-1]  # zeros where the first pivots are sought
    a = a.reshape(2, COUNT // 2, rows, rows)
    found = irax.jit(jnp.linalg.solve)(a, b)
    expected = np.linalg.solve(a.astype(np.float64), b.astype(np.float64))
    residual = np.abs(a @ np.asarray(found, np.float64) - b).max((-1, -2))
    size = np.abs(expected).max((-1, -2)) * np.abs(a).max((-1, -2)) + 1
    assert (residual <= 1e-5 * size).all()


def test_singular_and_nan_systems_do_not_touch_others() -> None:
    a, b = drawn(COUNT, 3, 3), drawn(COUNT, 3, 1)
    a[0], a[1, 0], b[2, 0] = 0, a[1, 1], np.nan
    found = np.asarray(irax.jit(jnp.linalg.solve)(a, b))
    assert not np.isfinite(found[:2]).any()
    assert np.isnan(found[2]).any()
    np.testing.assert_allclose(found[3:10], np.linalg.solve(a[3:10], b[3:10]), 2e-3, 1e-4)
    assert np.isfinite(found[3:]).all()
