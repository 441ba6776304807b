"""The functions of float64 that IREE's CPU target computes by arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

import irax
import irax.numpy as jnp

_SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 709.78, 709.79, 1e308, -1e308, 5e-324, -1e-310)


@pytest.mark.parametrize(
    ("function", "reference", "units"),
    [
        (jnp.exp, np.exp, 1),
        (jnp.expm1, np.expm1, 2),
        (jnp.tanh, np.tanh, 3),
        (irax.nn.sigmoid, expit, 3),
    ],
)
def test_function_of_doubles(
    function: Callable[..., Any], reference: Callable[..., Any], units: int
):
    generator = np.random.default_rng(0)
    small = generator.normal(size=1990) * 10.0 ** generator.uniform(-12, 1, 1990)
    x = np.concatenate([generator.uniform(-708, 709, 10000), small, _SPECIAL])
    with irax.enable_x64(True):
        result = np.asarray(irax.jit(function)(x))
    with np.errstate(over="ignore"):
        expected = reference(x)
    np.testing.assert_array_almost_equal_nulp(result[:11990], expected[:11990], units)
    np.testing.assert_allclose(result[11990:], expected[11990:], rtol=4e-16)
    np.testing.assert_array_equal(np.signbit(result[11990:]), np.signbit(expected[11990:]))
