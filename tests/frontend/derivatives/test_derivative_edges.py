"""Derivatives at special places: nan, ties, zeros, and numbers whose squares overflow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax, nn
from irax.scipy import special

NAN, INF = np.nan, np.inf


@pytest.fixture(params=[False, True], ids=["eager", "jit"])
def compiled(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return irax.jit if request.param else lambda f: f


LARGEST: dict[str, Callable[..., Any]] = {
    "max": jnp.max,
    "min": jnp.min,
    "ptp": jnp.ptp,
    "max of some": lambda x: jnp.max(x, initial=-9.0, where=np.array([True] * 3)),
    "reduce": lambda x: lax.reduce(x, -jnp.inf, lax.max, (0,)),
    "norm": lambda x: jnp.linalg.norm(x, np.inf),
    "segment_max": lambda x: irax.ops.segment_max(x, np.array([0, 0, 0]), 1).sum(),
}


def test_a_nan_among_numbers_is_a_nan_in_the_gradient(compiled):
    gradients = compiled(lambda x: {name: irax.grad(f)(x) for name, f in LARGEST.items()})
    for name, gradient in gradients(np.array([1, NAN, 2], np.float32)).items():
        assert np.isnan(gradient).all(), name
    for name, gradient in gradients(np.array([1, 3, 2], np.float32)).items():
        assert not np.isnan(gradient).any(), name


def test_a_row_with_a_nan_leaves_the_others_alone(compiled):
    x = np.array([[1, NAN, 2], [3, 1, 3]], np.float32)
    gradient = compiled(irax.grad(lambda x: jnp.max(x, 1).sum()))(x)
    np.testing.assert_array_equal(gradient, [[NAN] * 3, [0.5, 0, 0.5]])


def test_two_that_are_equal_share_the_gradient(compiled):
    names = ["fmax", "fmin", "maximum", "minimum"]
    gradients = compiled(lambda x, y: {n: irax.grad(getattr(jnp, n), (0, 1))(x, y) for n in names})
    for x, y in ((1.0, 1.0), (0.0, -0.0), (INF, INF)):
        assert gradients(x, y) == dict.fromkeys(names, (0.5, 0.5))


def test_modf_has_slope_one(compiled):
    x = np.array([-2, -1.5, -1, -0.0, 0, 0.5, 1, 3], np.float32)
    fraction, whole = compiled(jnp.modf)(x)
    for found, expected in zip((fraction, whole), np.modf(x), strict=True):
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))
    slopes = compiled(irax.vmap(irax.grad(lambda x: jnp.modf(x)[0])))(x)
    np.testing.assert_array_equal(slopes, np.ones_like(x))


def test_nextafter_moves_with_its_first_operand(compiled):
    assert compiled(irax.grad(jnp.nextafter, (0, 1)))(1.0, 2.0) == (1, 0)
    assert compiled(irax.grad(lambda x: jnp.nextafter(x * x, INF)))(3.0) == 6


def test_powers_of_zero(compiled):
    gradient = compiled(irax.grad(jnp.power, (0, 1)))
    assert gradient(0.0, 0.0) == (0, -INF)
    assert gradient(0.0, 1.0) == (1, 0)
    assert gradient(0.0, 2.0) == (0, 0)
    hessian = compiled(irax.hessian(jnp.power, (0, 1)))
    for y in (0.0, 1.0, 2.0, 3.0):
        (_, a), (b, _) = hessian(0.0, y)
        np.testing.assert_array_equal(a, b)
    (_, mixed), _ = hessian(0.0, 1.0)
    assert mixed == -INF  # x**(y - 1) (1 + y log(x))


def test_zeta_in_its_exponent(compiled):
    slope = irax.grad(special.zeta)
    # By mpmath: zeta(2.5, 1, 1), zeta(2.5, 1, 2) and zeta(9, 0.3, 1).
    np.testing.assert_allclose(compiled(slope)(2.5, 1.0), -0.38734195032621, 1e-6)
    np.testing.assert_allclose(compiled(irax.grad(slope))(2.5, 1.0), 0.581968927042, 1e-5)
    np.testing.assert_allclose(compiled(slope)(9.0, 0.3), 61168.13025, 1e-5)


SINGLE: dict[str, tuple[Any, float, float, float]] = {
    # a function, a place, and its derivatives there: of tanh(10), 4 exp(-20), and so on
    "arcsinh": (jnp.arcsinh, 2e30, 5e-31, 0),
    "arctan": (jnp.arctan, 1e11, 1e-22, -2e-33),
    "tanh": (jnp.tanh, 10, 8.244614512e-9, -1.648922896e-8),
    "sigmoid": (nn.sigmoid, 20, 2.0611536e-9, -2.0611536e-9),
    "sigmoid near 0": (nn.sigmoid, 1e-10, 0.25, -1.25e-11),
    "expm1": (jnp.expm1, -50, 1.9287498e-22, 1.9287498e-22),
    "exp2": (jnp.exp2, 127.5, 1.6678228e38, 1.1560467e38),
    "soft_sign": (nn.soft_sign, 1e11, 1e-22, -2e-33),
    "squareplus": (nn.squareplus, 1e10, 1, 2e-30),
    "gelu": (nn.gelu, -6, -7.7099739e-10, -6.8242473e-9),
    "x**-3": (lambda x: x**-3, 1e20, 0, 0),
    "x**1e-36": (lambda x: x ** np.float32(1e-36), 1e-30, 1e-6, -1e24),
    "sinc": (jnp.sinc, 2e38, 5e-39, 0),
}


def test_derivatives_of_float32_far_from_one(compiled):
    def derivatives(places):
        slopes = {name: irax.grad(single[0]) for name, single in SINGLE.items()}
        return {name: (f(places[name]), irax.grad(f)(places[name])) for name, f in slopes.items()}

    found = compiled(derivatives)({name: np.float32(x) for name, (_, x, *_) in SINGLE.items()})
    for name, (_, _, *expected) in SINGLE.items():
        np.testing.assert_allclose(found[name], expected, 1e-4, 1e-38, err_msg=name)


@pytest.mark.parametrize("name", ["arcsin", "arccos", "arctanh"])
def test_slopes_next_to_one(name, compiled):
    x = np.linspace(0.999, 0.9999, 9, dtype=np.float32)
    inside = (1 - np.float64(x)) * (1 + np.float64(x))
    expected = {"arcsin": inside**-0.5, "arccos": -(inside**-0.5), "arctanh": 1 / inside}
    found = compiled(irax.vmap(irax.grad(getattr(jnp, name))))(x)
    np.testing.assert_allclose(found, expected[name], rtol=3e-7)


@pytest.mark.parametrize("size", [1e-30, 1e-20, 1, 2e19, 1e30])
def test_angles_of_points_of_all_sizes(size, compiled):
    y, x = np.float32(3 * size), np.float32(4 * size)
    by_y, by_x = compiled(irax.grad(jnp.arctan2, (0, 1)))(y, x)
    np.testing.assert_allclose([by_y * size, by_x * size], [4 / 25, -3 / 25], 1e-6)


@pytest.mark.parametrize("size", [1e-30, 1, 1e30])
def test_second_derivatives_of_hypot(size, compiled):
    hessian = compiled(irax.hessian(jnp.hypot, (0, 1)))
    found = np.array(hessian(np.float32(3 * size), np.float32(4 * size)))
    np.testing.assert_allclose(found * size, [[16 / 125, -12 / 125], [-12 / 125, 9 / 125]], 1e-5)


@pytest.mark.parametrize("gap", [1.0, 17.0, 30.0, 80.0])
def test_softmax_near_one(gap, compiled):
    other = np.exp(-np.float64(gap))
    expected = other / (1 + other) ** 2 * np.array([[1, -1], [-1, 1]])
    found = compiled(irax.jacobian(nn.softmax))(jnp.array([0.0, gap]))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    expected = np.array([[1, -1], [-other, other]]) / (1 + other)
    found = compiled(irax.jacobian(nn.log_softmax))(jnp.array([0.0, gap]))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("short", [1e-15, 1e-25, 1e-35])
def test_lengths_along_an_axis(short, compiled):
    found = compiled(irax.hessian(jnp.hypot, (0, 1)))(1.0, short)
    np.testing.assert_allclose(found[0][1], -short, rtol=1e-6)
    np.testing.assert_allclose(found[1][1], 1.0, rtol=1e-6)


@pytest.mark.slow
def test_zeros_and_poles_of_gamma_functions(compiled):
    x = np.array([1.0, 2.0, 1.01, 1.99, 2.004], np.float32)
    expected = [0, 0, -0.00569030259705, -0.00419552511851, 0.00169627060223]
    np.testing.assert_allclose(compiled(lax.lgamma)(x), expected, rtol=3e-6, atol=0)
    poles = np.array([0.0, -0.0, -1.0, -3e38, -np.inf, np.inf], np.float32)
    assert np.isposinf(compiled(lax.lgamma)(poles)).all()
    places = np.array([0.0, -0.0, -1.0, -np.inf, np.nan], np.float32)
    assert np.isnan(compiled(lax.digamma)(places)).all()
    at = np.array([-1.5, 0.25, 7.5], np.float32)
    expected = [9.3792466, 17.1973292, 0.1426159]  # polygamma(1, x), reflected below 0
    found = irax.vmap(irax.grad(lax.digamma))
    np.testing.assert_allclose(compiled(found)(at), expected, rtol=1e-5)
