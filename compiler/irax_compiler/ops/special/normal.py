"""Relatives of the error function, and the normal distribution.

erfcx is erfc without the factor exp(-x**2), by which erfc underflows; w, the Faddeeva function, is
erfcx of complex numbers. Both are Weideman's sum (1994): a polynomial in (L - x) / (L + x), whose
coefficients are a Fourier series.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from irax_compiler.mlir import Value
from irax_compiler.ops import elementwise
from irax_compiler.ops.composite import register_composed
from irax_compiler.ops.formula import Number, function, polynomial, where
from irax_compiler.ops.special import chlo_functions
from irax_compiler.ops.special.bells import Bell, bell, bounded, growth
from irax_compiler.ops.special.chebyshev import DAWSN, DAWSN_SINGLE, ERFCX, chebyshev, derivative
from irax_compiler.ops.special.series import Smooth, State, is_single, repeat

_ROOT_PI = float(np.sqrt(np.pi))
_ROOT_2 = float(np.sqrt(2))
_ROOT_2_PI = float(np.sqrt(2 * np.pi))
_NEWTON_STEPS = 6

exp = functools.partial(function, elementwise.exponential)
log = functools.partial(function, elementwise.log)


def complex_number(re: Number, im: Number) -> Number:
    """A complex number of its parts."""
    return Number(elementwise.complex_(re.value, im.value))


# ---- the sum -------------------------------------------------------------------------------------


@functools.cache
def _weideman(terms: int) -> tuple[float, list[float]]:
    """L, and the coefficients of the polynomial, the constant one first."""
    length = float(np.sqrt(terms / np.sqrt(2)))
    count = 4 * terms
    t = length * np.tan(np.arange(-count + 1, count) * np.pi / (2 * count))
    values = np.concatenate([[0.0], np.exp(-(t**2)) * (length**2 + t**2)])
    series = np.fft.fft(np.fft.fftshift(values)).real / (2 * count)
    return length, series[1 : terms + 1].tolist()


def scaled(minus_iz: Number) -> Number:
    """w(z) for z in the upper half of the plane, by -i z, which may be real."""
    length, coefficients = _weideman(24 if is_single(minus_iz) else 64)
    inverse = 1.0 / (minus_iz + length)
    total = polynomial((length - minus_iz) * inverse, coefficients)
    return (total * inverse * 2.0 + 1 / _ROOT_PI) * inverse


def _of_erfcx(x: Number) -> tuple[Number, list[float]]:
    """The place of x in the Chebyshev series of (1 + 2 x) erfcx(x), and its coefficients."""
    return (x - 3.0) / (x + 3.0), list(ERFCX[: 13 if is_single(x) else None])


def _above(x: Number) -> Number:
    """erfcx, for x of at least 0."""
    return chebyshev(*_of_erfcx(x)) / (x * 2.0 + 1.0)


def _above_slope(y: Number, x: Number) -> Number:
    """The derivative of erfcx at y = erfcx(x), for x of at least 0: far from 0, the terms of
    2 x y - 2 / sqrt(pi) cancel.
    """
    place, coefficients = _of_erfcx(x)
    inverse = 1.0 / (x + 3.0)
    change = chebyshev(place, derivative(coefficients)) * (inverse * inverse * 6.0)
    return (change - y * 2.0) / (x * 2.0 + 1.0)


_DAWSN_NEAR, _DAWSN_FAR = 1.2, 10.0
"""Between them, dawsn is computed by a polynomial; before by its power series, and beyond by that
of 1 / x**2."""


def _dawsn_between(x: Number) -> Number:
    square = x * x
    place = (square - 14.0) / (square + 14.0)
    return x * polynomial(place, DAWSN_SINGLE if is_single(x) else DAWSN) / (square * 2.0 + 1.0)


def _dawsn_between_slope(y: Number, x: Number) -> Number:
    """Its derivative: 1 - 2 x y cancels."""
    coefficients = DAWSN_SINGLE if is_single(x) else DAWSN
    square = x * x
    inverse = 1.0 / (square + 14.0)
    change = polynomial((square - 14.0) * inverse, [k * c for k, c in enumerate(coefficients)][1:])
    bottom = 1.0 / (square * 2.0 + 1.0)
    change = change * square * inverse * inverse * (56.0 * bottom)
    return change + (1.0 - square * 2.0) * bottom * (y / x)


def _far_series(x: Number) -> list[float]:
    """2 x dawsn(x) far from 0, in 1 / x**2."""
    return np.cumprod(
        [1.0] + [(2 * k - 1) / 2 for k in range(1, 6 if is_single(x) else 15)]
    ).tolist()


def _dawsn_far(x: Number) -> Number:
    inverse = 1.0 / x
    return inverse * 0.5 * polynomial(inverse * inverse, _far_series(x))


def _dawsn_far_slope(x: Number) -> Number:
    inverse = 1.0 / x
    square = inverse * inverse
    terms = [-(2 * k + 1) * c for k, c in enumerate(_far_series(x))]
    return square * 0.5 * polynomial(square, terms)


# ---- without the factor exp(-x**2) ---------------------------------------------------------------


def _erfcx(x: Number) -> Number:
    size = abs(x)
    endless = size.equals(np.inf)
    above = where(endless, 0.0, _above(where(endless, 0.0, size)))
    # Beyond -30, the power of the square is infinite.
    return where(x < 0, growth(where(size < 30, size, 30.0)) * 2.0 - above, above)


@register_composed
class Erfcx(Smooth):
    """exp(x**2) erfc(x)."""

    name = "irax.erfcx"

    def formula(self, x: Number) -> Number:
        return _erfcx(x)

    def slopes(self, y: Number, x: Number) -> list[Number | None]:
        far = (x > 0.5) & (x < np.inf)
        near = where(far, 0.0, x) * y * 2.0 - 2 / _ROOT_PI
        return [where(far, _above_slope(where(far, y, 1.0), where(far, x, 1.0)), near)]


@register_composed
class Wofz(Smooth):
    """The Faddeeva function w(z) = exp(-z**2) erfc(-i z), of complex numbers."""

    name = "irax.wofz"

    def formula(self, z: Number) -> Number:
        upper = function(elementwise.imag, z) >= 0
        raised = where(upper, z, -z)
        re, im = function(elementwise.real, raised), function(elementwise.imag, raised)
        above = scaled(complex_number(im, -re))
        # Of real numbers, the real part may be far smaller than the other.
        on_axis = complex_number(exp(-(re * re)), function(elementwise.imag, above))
        above = where(im.equals(0), on_axis, above)
        return where(upper, above, exp(-(z * z)) * 2.0 - above)

    def slopes(self, y: Number, z: Number) -> list[Number | None]:
        return [2j / _ROOT_PI - z * y * 2.0]


@register_composed
class Dawsn(Smooth):
    """Dawson's integral, exp(-x**2) times the integral of exp(t**2) from 0 to x."""

    name = "irax.dawsn"

    def formula(self, x: Number) -> Number:
        near, far = abs(x) < _DAWSN_NEAR, abs(x) > _DAWSN_FAR
        # x times the sum of (-2 x**2)**k / (1 * 3 * ... * (2 k + 1))
        series = np.cumprod([1.0] + [-2.0 / (2 * k + 1) for k in range(1, 28)]).tolist()
        inner = where(near, x, 0.0)
        small = inner * polynomial(inner * inner, series)
        between = _dawsn_between(where(near | far, 2.0, x))
        large = _dawsn_far(where(far, x, _DAWSN_FAR))
        return where(near, small, where(far, large, between))

    def slopes(self, y: Number, x: Number) -> list[Number | None]:
        near, far = abs(x) < _DAWSN_NEAR, abs(x) > _DAWSN_FAR
        small = 1.0 - where(near, x, 0.0) * y * 2.0
        between = _dawsn_between_slope(where(near | far, 1.0, y), where(near | far, 2.0, x))
        large = _dawsn_far_slope(where(far, x, _DAWSN_FAR))
        return [where(near, small, where(far, large, between))]


def erfc(x: Number) -> Number:
    """The complementary error function, by exp(-x**2) with the error of the square, and erfcx."""
    inner = bounded(x)
    tail = bell(inner) * _above(inner)
    return where(x.equals(x), where(x < 0, 2.0 - tail, tail), x)


# ---- the normal distribution ---------------------------------------------------------------------


def _normal(x: Number) -> Number:
    inner = bounded(x)
    tail = bell(inner, 0.5) * _above(inner * (1 / _ROOT_2)) * 0.5
    return where(x.equals(x), where(x > 0, 1.0 - tail, tail), x)


@register_composed
class Ndtr(Smooth):
    """The distribution function of the standard normal distribution. erfc of x / sqrt(2) would
    amplify the rounding of the quotient.
    """

    name = "irax.ndtr"

    def formula(self, x: Number) -> Number:
        return _normal(x)

    def slopes(self, y: Number, x: Number) -> list[Number | None]:
        return [function(Bell(), x) / _ROOT_2_PI]


_MIDDLE = 0.7
"""Up to here, the chance is computed as its distance from a half, which has few errors."""


def _log_normal(x: Number) -> Number:
    low = where(x < -_MIDDLE, x, -_MIDDLE)
    below = log(_erfcx(low * (-1 / _ROOT_2)) * 0.5) - low * low * 0.5
    near = where(abs(x) < _MIDDLE, x, 0.0)
    distance = function(chlo_functions.erf, near * (1 / _ROOT_2))
    middle = function(elementwise.log_plus_one, distance) - float(np.log(2))
    above = function(elementwise.log_plus_one, -_normal(-where(x < _MIDDLE, _MIDDLE, x)))
    return where(x < -_MIDDLE, below, where(x < _MIDDLE, middle, above))


def _hazard(log_probability: Number, x: Number, erfcx: Callable[[Number], Number]) -> Number:
    """The density over the distribution function: the derivative of its logarithm."""
    # Far below, both terms of the exponent are large and cancel.
    below = float(np.sqrt(2 / np.pi)) / erfcx(where(x < 0, x, 0.0) * (-1 / _ROOT_2))
    above = function(Bell(), x) / exp(where(x < 0, 0.0, log_probability))
    return where(x < 0, below, above / _ROOT_2_PI)


@register_composed
class LogNdtr(Smooth):
    """The logarithm of the distribution function of the standard normal distribution."""

    name = "irax.log_ndtr"

    def formula(self, x: Number) -> Number:
        return _log_normal(x)

    def slopes(self, y: Number, x: Number) -> list[Number | None]:
        return [_hazard(y, x, lambda v: function(Erfcx(), v))]


@register_composed
class Ndtri(Smooth):
    """The inverse of the distribution function of the standard normal distribution."""

    name = "irax.ndtri"

    def formula(self, p: Number) -> Number:
        upper = p > 0.5
        tail = where(upper, 1.0 - p, p)
        middle = function(chlo_functions.erf_inv, 1.0 - tail * 2.0) * -_ROOT_2
        # In the tail erf is too near 1: Newton's method on the logarithm, which is concave.
        rare = (tail < 0.05) & (tail > 0)
        target = log(where(rare, tail, 0.01))

        def step(n: Number, state: State) -> tuple[State, Number]:
            (x,) = state
            value = _log_normal(x)
            return (x - (value - target) / _hazard(value, x, _erfcx),), n < _NEWTON_STEPS

        (x,) = repeat((-function(elementwise.sqrt, target * -2.0),), rare, step)
        x = where(rare, x, middle)
        return where(upper, -x, x)

    def slopes(self, y: Number, p: Number) -> list[Number | None]:
        return [exp(y * y * 0.5) * _ROOT_2_PI]


# ---- Owen's function ----------------------------------------------------------------------------


def _owens_density(h: Number, a: Number) -> Number:
    bottom = a * a + 1.0
    return exp(h * h * bottom * -0.5) / (bottom * (2 * np.pi))


@register_composed
class OwensT(Smooth):
    """The chance of X > h and 0 < Y < a X, for independent standard normal X and Y."""

    name = "irax.owens_t"

    def formula(self, h: Number, a: Number) -> Number:
        distance, slope = abs(h), abs(a)
        steep = slope > 1
        inner_h = where(steep, distance * slope, distance)
        inner_a = where(steep, 1.0 / where(steep, slope, 1.0), slope)
        inner_h = where(inner_h.equals(inner_h), inner_h, 0.0)  # 0 times infinity
        # Gauss's rule, where the integrand is above rounding.
        reach = 10.0 / where(inner_h > 1, inner_h, 1.0)
        reach = where(inner_a < reach, inner_a, reach)
        total = reach * 0.0
        for place, weight in zip(*np.polynomial.legendre.leggauss(24), strict=True):
            density = _owens_density(inner_h, reach * (float(place + 1) / 2))
            total = total + density * (float(weight) / 2)
        area = total * reach
        p, q = _normal(-distance), _normal(-inner_h)
        area = where(steep, (p + q) * 0.5 - p * q - area, area)
        area = where(a < 0, -area, area)
        return where(h.equals(h), where(a.equals(a), area, a), h)

    def slopes(self, y: Number, h: Number, a: Number) -> list[Number | None]:
        inner = function(chlo_functions.erf, a * h / _ROOT_2)
        return [exp(h * h * -0.5) * inner * (-0.5 / _ROOT_2_PI), _owens_density(h, a)]


erfcx: Callable[[Value], Value] = Erfcx()
