"""The exponential of float64 that IREE's CPU target computes by arithmetic."""

from __future__ import annotations

import numpy as np

import irax
import irax.numpy as jnp


def test_exponential_of_doubles():
    generator = np.random.default_rng(0)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 709.78, 709.79, 1e308, -1e308, 5e-324]
    x = np.concatenate([generator.uniform(-708, 709, 10000), generator.normal(size=990), special])
    with irax.enable_x64(True):
        result = np.asarray(irax.jit(jnp.exp)(x))
    with np.errstate(over="ignore"):
        expected = np.exp(x)
    np.testing.assert_array_almost_equal_nulp(result[:10990], expected[:10990], 1)
    np.testing.assert_allclose(result[10990:], expected[10990:], rtol=4e-16)
