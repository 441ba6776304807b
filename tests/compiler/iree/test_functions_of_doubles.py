"""Functions that IREE's CPU target computes by arithmetic, most of them of float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

import irax
import irax.numpy as jnp

_SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 709.78, 709.79, 1e308, -1e308, 5e-324, -1e-310)


@pytest.mark.sampled(2)
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


def test_expm1_of_singles():
    generator = np.random.default_rng(0)
    small = generator.normal(size=2000) * 10.0 ** generator.uniform(-12, 1, 2000)
    special = (0.0, -0.0, 1e-40, 88.7228, 88.7229, -17.4, 1e38, np.inf, -np.inf, np.nan)
    x = np.concatenate([generator.uniform(-90, 88.7, 10000), small, special]).astype(np.float32)
    result = np.asarray(irax.jit(jnp.expm1)(x))
    with np.errstate(over="ignore"):
        expected = np.expm1(x.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_almost_equal_nulp(result[:12000], expected[:12000], 2)
    np.testing.assert_allclose(result[12000:], expected[12000:], rtol=2e-7)
    np.testing.assert_array_equal(np.signbit(result[12000:-1]), np.signbit(expected[12000:-1]))


def test_atan2_of_doubles():
    generator = np.random.default_rng(0)
    special = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e308, -1.7e308, 1e-300)
    wide = generator.normal(size=(2, 9900)) * 10.0 ** generator.uniform(-9, 9, (2, 9900))
    corners = np.stack([x.ravel() for x in np.meshgrid(special, special)])
    y, x = np.concatenate([wide, generator.normal(size=(2, 10000)), corners], axis=1)
    with irax.enable_x64(True):
        result = np.asarray(irax.jit(irax.lax.atan2)(y, x))
    expected = np.arctan2(y, x)
    np.testing.assert_array_almost_equal_nulp(result[:19900], expected[:19900], 3)
    flushed = np.finfo(np.float64).tiny  # subnormal results may be 0
    np.testing.assert_allclose(result[19900:], expected[19900:], rtol=4e-16, atol=flushed)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(result[numbers]), np.signbit(expected[numbers]))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("function", ["sin", "cos", "tan"])
def test_trigonometric_function_of_doubles(function: str):
    generator = np.random.default_rng(0)
    quarters = (
        np.pi
        / 2
        * np.concatenate(
            [
                np.arange(1, 200),
                generator.integers(1, 2**20, 200),
                2.0 ** generator.uniform(20, 60, 200),
            ]
        )
    )
    # The nearest of all floats to a multiple of pi/2; the least and the largest far argument.
    hardest = [6381956970095103 * 2.0**797, 2.0**20, 2.0**20 - 2.0**-33, 1.7976931348623157e308]
    wide = 2.0 ** generator.uniform(-1021, 1024, 600)
    x = np.concatenate([generator.uniform(0, 60, 600), quarters, quarters * (1 - 2**-53), wide])
    x = np.concatenate([x, -x, hardest])
    special = np.array([0.0, -0.0, 5e-324, -5e-324, np.inf, -np.inf, np.nan])
    with irax.enable_x64(True):
        compute = irax.jit(getattr(jnp, function))
        result, of_special = np.asarray(compute(x)), np.asarray(compute(special))
    expected = getattr(np, function)(x.astype(np.longdouble)).astype(np.float64)
    np.testing.assert_array_almost_equal_nulp(result, expected, 1)
    with np.errstate(invalid="ignore"):
        expected = getattr(np, function)(special)
    np.testing.assert_array_equal(of_special, expected)
    np.testing.assert_array_equal(np.signbit(of_special[:4]), np.signbit(expected[:4]))


@pytest.mark.parametrize(("function", "reference"), [(jnp.log, np.log), (jnp.log1p, np.log1p)])
def test_logarithm_of_doubles(function: Callable[..., Any], reference: Callable[..., Any]):
    generator = np.random.default_rng(0)
    special = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, 1e-310, 1.7e308)
    near = 1 + generator.normal(size=3000) * 10.0 ** generator.uniform(-12, -1, 3000)
    wide = np.exp(generator.uniform(-700, 700, 4000))
    x = np.concatenate([generator.uniform(0.4, 2.5, 10000), wide, near, special])
    with irax.enable_x64(True):
        result = np.asarray(irax.jit(function)(x))
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = reference(x)
    np.testing.assert_array_almost_equal_nulp(result[:17000], expected[:17000], 3)
    np.testing.assert_allclose(result[17000:], expected[17000:], rtol=4e-16)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_powers_of_two_and_rounding(dtype: str):
    generator = np.random.default_rng(1)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 0.5, 1.5, -0.5, 8388607.5, 4503599627370495.5]
    x = np.concatenate([generator.normal(size=2000) * 40, [127.9999, 1023.9999, 2e9], special])
    x = x.astype(dtype)
    with irax.enable_x64(True):
        power, rounded = map(np.asarray, irax.jit(lambda x: (jnp.exp2(x), jnp.rint(x)))(x))
    with np.errstate(over="ignore"):
        info = np.finfo(dtype)
        np.testing.assert_allclose(power, np.exp2(x), rtol=2.5 * info.eps, atol=info.tiny)
    np.testing.assert_array_equal(rounded, np.rint(x))
    np.testing.assert_array_equal(np.signbit(rounded), np.signbit(np.rint(x)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_powers_of_constant_exponents(dtype: str):
    exponents = [0.5, -0.5, 2.0, 3.0, -1.0, 1.0]
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 4.0, 0.3, 1e-9, -2.5], dtype)

    def powers(x: Any) -> list[Any]:
        return [irax.lax.pow(x, np.dtype(dtype).type(y)) for y in exponents]

    with irax.enable_x64(True):
        results = list(map(np.asarray, irax.jit(powers)(x)))
    with np.errstate(all="ignore"):
        # Arrays of exponents: NumPy takes roots for 0.5, of -infinity too.
        expected = [np.float_power(x, np.full(x.shape, y)).astype(dtype) for y in exponents]
    for result, right in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, right, rtol=3 * np.finfo(dtype).eps)
        numbers = ~np.isnan(right)
        np.testing.assert_array_equal(np.signbit(result[numbers]), np.signbit(right[numbers]))
