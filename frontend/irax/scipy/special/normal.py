"""The error function and its relatives, and the normal distribution.

Far from 0, erfc and the distribution underflow; erfcx is erfc without the factor exp(-x**2), and
the logarithm of the distribution is made of it. It and wofz are Weideman's sum: a polynomial in
(L - x) / (L + x), whose coefficients are a Fourier series.
"""

from __future__ import annotations

import functools

import numpy as np

import irax.numpy as jnp
from irax import dtypes, lax
from irax.core.array import Array
from irax.core.promotion import convert
from irax.scipy.arguments import floats, inexact, polynomial, with_slopes
from irax.typing import ArrayLike

_ROOT_PI = float(np.sqrt(np.pi))
_ROOT_2 = float(np.sqrt(2))
_ROOT_2_PI = float(np.sqrt(2 * np.pi))


def erf(x: ArrayLike) -> Array:
    """The error function, the integral of 2 exp(-t**2) / sqrt(pi) from 0 to x.

    >>> irax.scipy.special.erf(1.0).round(4)
    Array(0.8427, dtype=float32, weak_type=True)
    """
    return lax.erf(*floats("erf", x))


def erfc(x: ArrayLike) -> Array:
    """1 - erf(x), precise where that is small.

    >>> irax.scipy.special.erfc(1.0).round(4)
    Array(0.1573, dtype=float32, weak_type=True)
    """
    return lax.erfc(*floats("erfc", x))


def erfinv(x: ArrayLike) -> Array:
    """The inverse of erf.

    >>> irax.scipy.special.erfinv(0.5).round(4)
    Array(0.4769, dtype=float32, weak_type=True)
    """
    return lax.erf_inv(*floats("erfinv", x))


# ---- without the factor exp(-x**2) --------------------------------------------------------------


@functools.cache
def _weideman(terms: int) -> tuple[float, list[float]]:
    """Return L, and the coefficients of Weideman's polynomial, the constant one first."""
    length = float(np.sqrt(terms / np.sqrt(2)))
    count = 4 * terms
    t = length * np.tan(np.arange(-count + 1, count) * np.pi / (2 * count))
    values = np.concatenate([[0.0], np.exp(-(t**2)) * (length**2 + t**2)])
    series = np.fft.fft(np.fft.fftshift(values)).real / (2 * count)
    return length, series[1 : terms + 1].tolist()


def _scaled(minus_iz: Array) -> Array:
    """w(z) for z in the upper half of the plane, by -i z."""
    single = dtypes.finfo(minus_iz.dtype).bits <= 32
    length, coefficients = _weideman(24 if single else 64)
    bottom = jnp.add(length, minus_iz)
    sum_ = polynomial(coefficients, jnp.divide(jnp.subtract(length, minus_iz), bottom))
    first = jnp.divide(1 / _ROOT_PI, bottom)
    return jnp.add(jnp.divide(jnp.divide(jnp.multiply(2, sum_), bottom), bottom), first)


@with_slopes(lambda y, x: jnp.subtract(jnp.multiply(jnp.multiply(2, x), y), 2 / _ROOT_PI))
def _erfcx(x: Array) -> Array:
    size = jnp.abs(x)
    above = jnp.where(jnp.equal(size, np.inf), 0.0, _scaled(jnp.where(jnp.isinf(x), 0.0, size)))
    below = jnp.subtract(jnp.multiply(2, jnp.exp(jnp.square(x))), above)
    return jnp.where(jnp.less(x, 0), below, above)


def erfcx(x: ArrayLike) -> Array:
    """exp(x**2) erfc(x).

    >>> irax.scipy.special.erfcx(1.0).round(4)
    Array(0.4276, dtype=float32, weak_type=True)
    """
    if jnp.iscomplexobj(x):
        return wofz(jnp.multiply(1j, x))
    return _erfcx(*floats("erfcx", x))


@with_slopes(lambda y, z: jnp.subtract(2j / _ROOT_PI, jnp.multiply(jnp.multiply(2, z), y)))
def _wofz(z: Array) -> Array:
    upper = jnp.greater_equal(z.imag, 0)
    raised = jnp.where(upper, z, jnp.negative(z))
    w = _scaled(lax.complex(raised.imag, jnp.negative(raised.real)))
    return jnp.where(
        upper, w, jnp.subtract(jnp.multiply(2, jnp.exp(jnp.negative(jnp.square(z)))), w)
    )


def wofz(z: ArrayLike) -> Array:
    """The Faddeeva function, exp(-z**2) erfc(-i z); the result is complex.

    >>> irax.scipy.special.wofz(1j).round(4)
    Array(0.4276+0.j, dtype=complex64)
    """
    (z,) = inexact("wofz", z)
    kind = dtypes.result_type(z.dtype, np.complex64)
    return _wofz(convert(z, kind, z.weak_type))


@with_slopes(lambda y, x: jnp.subtract(1, jnp.multiply(jnp.multiply(2, x), y)))
def _dawsn(x: Array) -> Array:
    near = jnp.less(jnp.abs(x), 1)
    # x times the sum of (-2 x**2)**k / (1 * 3 * ... * (2 k + 1)); elsewhere w(x), imaginary part.
    series = np.cumprod([1.0] + [-2.0 / (2 * k + 1) for k in range(1, 24)]).tolist()
    inner = jnp.where(near, x, 0.0)
    small = jnp.multiply(inner, polynomial(series, jnp.square(inner)))
    outer = jnp.where(jnp.logical_or(near, jnp.isinf(x)), 1.0, x)
    w = _scaled(lax.complex(jnp.zeros_like(outer), jnp.negative(outer)))
    far = jnp.where(jnp.isinf(x), 0.0, jnp.multiply(_ROOT_PI / 2, w.imag))
    return jnp.where(near, small, far)


def dawsn(x: ArrayLike) -> Array:
    """Dawson's integral, exp(-x**2) times the integral of exp(t**2) from 0 to x.

    >>> irax.scipy.special.dawsn(1.0).round(4)
    Array(0.5381, dtype=float32)
    """
    return _dawsn(*floats("dawsn", x, error=ValueError))


# ---- the normal distribution ---------------------------------------------------------------------


def ndtr(x: ArrayLike) -> Array:
    """The distribution function of the standard normal distribution.

    >>> irax.scipy.special.ndtr(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    (x,) = floats("ndtr", x)
    return jnp.multiply(0.5, lax.erfc(jnp.multiply(x, -1 / _ROOT_2)))


def _hazard(log_probability: Array, x: Array) -> Array:
    """The density over the distribution function: the derivative of its logarithm."""
    exponent = jnp.subtract(jnp.multiply(-0.5, jnp.square(x)), log_probability)
    # Far below, both terms are large and cancel.
    scaled = _erfcx(jnp.multiply(jnp.minimum(x, 0), -1 / _ROOT_2))
    below = jnp.divide(float(np.sqrt(2 / np.pi)), scaled)
    return jnp.where(jnp.less(x, -1), below, jnp.divide(jnp.exp(exponent), _ROOT_2_PI))


@with_slopes(_hazard)
def _log_ndtr(x: Array) -> Array:
    low = jnp.minimum(x, -1)
    below = jnp.log(jnp.multiply(0.5, _erfcx(jnp.multiply(low, -1 / _ROOT_2))))
    below = jnp.subtract(below, jnp.multiply(0.5, jnp.square(low)))
    above = jnp.log1p(jnp.negative(ndtr(jnp.negative(jnp.maximum(x, -1)))))
    return jnp.where(jnp.isnan(x), x, jnp.where(jnp.less(x, -1), below, above))


def log_ndtr(x: ArrayLike, series_order: int = 3) -> Array:
    """log(ndtr(x)), precise for any x.

    `series_order` is of no effect: no asymptotic series is used.

    >>> irax.scipy.special.log_ndtr(-100.0)
    Array(-5005.5244, dtype=float32, weak_type=True)
    """
    return _log_ndtr(*floats("log_ndtr", x))


@with_slopes(
    lambda x, p: jnp.multiply(_ROOT_2_PI, jnp.exp(jnp.multiply(0.5, jnp.square(x)))),
)
def _ndtri(p: Array) -> Array:
    upper = jnp.greater(p, 0.5)
    tail = jnp.where(upper, jnp.subtract(1, p), p)
    middle = jnp.multiply(-_ROOT_2, lax.erf_inv(jnp.subtract(1, jnp.multiply(2, tail))))
    # In the tail erf is too near 1: Newton's method on the logarithm, which is concave.
    rare = jnp.logical_and(jnp.less(tail, 0.05), jnp.greater(tail, 0))
    target = jnp.log(jnp.where(rare, tail, 0.01))
    x = jnp.negative(jnp.sqrt(jnp.multiply(-2, target)))
    for _ in range(6):
        value = _log_ndtr(x)
        x = jnp.subtract(x, jnp.divide(jnp.subtract(value, target), _hazard(value, x)))
    x = jnp.where(rare, x, middle)
    return jnp.where(upper, jnp.negative(x), x)


def ndtri(p: ArrayLike) -> Array:
    """The inverse of ndtr: -inf at 0, inf at 1, nan outside.

    >>> irax.scipy.special.ndtri(0.975).round(3)
    Array(1.96, dtype=float32, weak_type=True)
    """
    return _ndtri(*floats("ndtri", p))


# ---- Owen's function ----------------------------------------------------------------------------


def _owens_density(h: Array, a: Array) -> Array:
    bottom = jnp.add(1, jnp.square(a))
    exponent = jnp.multiply(-0.5, jnp.multiply(jnp.square(h), bottom))
    return jnp.divide(jnp.exp(exponent), jnp.multiply(2 * np.pi, bottom))


def _owens_slope_h(_: Array, h: Array, a: Array) -> Array:
    density = jnp.exp(jnp.multiply(-0.5, jnp.square(h)))
    inner = lax.erf(jnp.divide(jnp.multiply(a, h), _ROOT_2))
    return jnp.multiply(-0.5 / _ROOT_2_PI, jnp.multiply(density, inner))


@with_slopes(_owens_slope_h, lambda _, h, a: _owens_density(h, a))
def _owens_t(h: Array, a: Array) -> Array:
    distance, slope = jnp.abs(h), jnp.abs(a)
    steep = jnp.greater(slope, 1)
    inner_h = jnp.where(steep, jnp.multiply(distance, slope), distance)
    inner_a = jnp.where(steep, jnp.divide(1, jnp.where(steep, slope, 1.0)), slope)
    inner_h = jnp.where(jnp.isnan(inner_h), 0.0, inner_h)  # 0 times infinity
    # Gauss's rule, where the integrand is above rounding.
    reach = jnp.minimum(inner_a, jnp.divide(10, jnp.maximum(inner_h, 1)))
    total = jnp.zeros_like(reach)
    for place, weight in zip(*np.polynomial.legendre.leggauss(24), strict=True):
        x = jnp.multiply(float(place + 1) / 2, reach)
        total = jnp.add(total, jnp.multiply(float(weight) / 2, _owens_density(inner_h, x)))
    area = jnp.multiply(total, reach)
    p, q = (jnp.multiply(0.5, lax.erfc(jnp.divide(v, _ROOT_2))) for v in (distance, inner_h))
    both = jnp.subtract(jnp.multiply(0.5, jnp.add(p, q)), jnp.multiply(p, q))
    area = jnp.where(steep, jnp.subtract(both, area), area)
    return jnp.where(jnp.less(a, 0), jnp.negative(area), area)


def owens_t(h: ArrayLike, a: ArrayLike) -> Array:
    """Owen's function: the chance of X > h and 0 < Y < a X, for independent standard normal X, Y.

    >>> irax.scipy.special.owens_t(0.0, 1.0)
    Array(0.12500001, dtype=float32, weak_type=True)
    """
    return _owens_t(*floats("owens_t", h, a))
