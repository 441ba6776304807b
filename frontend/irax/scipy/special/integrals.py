"""Integrals without a closed form: exponential, sine, cosine, Fresnel's, and the dilogarithm.

Each is a power series near 0 and a continued fraction, or the Faddeeva function, far from it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes, lax
from irax.core.array import Array
from irax.scipy.arguments import floats, polynomial, with_slopes
from irax.scipy.special.normal import wofz
from irax.typing import ArrayLike

_EULER = float(np.euler_gamma)


def _steps(x: Array, single: int, double: int) -> int:
    return single if dtypes.finfo(x.dtype).bits <= 32 else double


# ---- exponential ---------------------------------------------------------------------------------


def _fraction(n: Any, x: Array, steps: int) -> Array:
    """exp(x) E_n(x), for x far from 0."""
    start = jnp.add(x, n)
    bottom = jnp.add(start, 2 * steps)
    for k in range(steps, 0, -1):
        part = jnp.divide(jnp.multiply(k, jnp.add(n, k - 1)), bottom)
        bottom = jnp.subtract(jnp.add(start, 2 * (k - 1)), part)
    return jnp.divide(1, bottom)


def _near(n: Array, x: Array) -> Array:
    """E_n(x) for n of at least 1 and x up to 2, by its power series."""
    power = jnp.subtract(n, 1)
    logarithm = jnp.subtract(lax.digamma(n), jnp.log(x))
    sign = jnp.where(jnp.equal(jnp.remainder(power, 2), 0), 1.0, -1.0).astype(x.dtype)
    size = jnp.divide(jnp.power(x, power), jnp.exp(lax.lgamma(n)))
    total = jnp.multiply(jnp.multiply(sign, size), logarithm)
    for k in range(_steps(x, 14, 26)):
        bottom = jnp.subtract(k, power)
        term = jnp.divide(jnp.multiply((-1) ** k / math.factorial(k), jnp.power(x, k)), bottom)
        total = jnp.subtract(total, jnp.where(jnp.equal(bottom, 0), 0.0, term))
    return total


def _slope_x(_: Array, n: Array, x: Array) -> Array:
    return jnp.negative(_expn(jnp.subtract(n, 1), x))


@with_slopes(None, _slope_x)
def _expn(n: Array, x: Array) -> Array:
    safe_n = jnp.maximum(n, 1)
    close = jnp.logical_and(jnp.greater(x, 0), jnp.less_equal(x, 2))
    near = _near(safe_n, jnp.where(close, x, 1.0))
    large = jnp.where(jnp.greater(x, 2), x, 3.0)
    far = jnp.multiply(jnp.exp(jnp.negative(large)), _fraction(safe_n, large, _steps(x, 16, 46)))
    at_zero = jnp.where(jnp.greater(n, 1), jnp.divide(1, jnp.subtract(n, 1)), np.inf)
    value = jnp.where(close, near, jnp.where(jnp.equal(x, np.inf), 0.0, far))
    # E_0 is exp(-x) / x, and E_-1, the derivative of E_0 turned, that times 1 + 1 / x.
    zeroth = jnp.divide(jnp.exp(jnp.negative(x)), x)
    value = jnp.where(jnp.equal(n, 0), zeroth, value)
    value = jnp.where(jnp.equal(n, -1), jnp.multiply(zeroth, jnp.add(1, jnp.divide(1, x))), value)
    value = jnp.where(jnp.equal(x, 0), at_zero, value)
    outside = jnp.logical_or(jnp.logical_not(jnp.greater_equal(x, 0)), jnp.less(n, -1))
    return jnp.where(outside, np.nan, value).astype(x.dtype)


def expn(n: ArrayLike, x: ArrayLike) -> Array:
    """The exponential integral E_n: the integral of exp(-x t) / t**n from 1 on.

    Args:
        n: integers of at least 0. There is no derivative in them: it is nan.
        x: numbers of at least 0; below, the result is nan.

    >>> irax.scipy.special.expn(2, 1.0).round(4)
    Array(0.1485, dtype=float32)
    """
    n, x = floats("expn", n, x, error=ValueError)
    return _expn(jnp.where(jnp.less(n, 0), np.nan, n), x)


def exp1(x: ArrayLike) -> Array:
    """The exponential integral E_1; nan where x is negative.

    >>> irax.scipy.special.exp1(1.0).round(4)
    Array(0.2194, dtype=float32)
    """
    (x,) = floats("exp1", x, error=ValueError)
    return _expn(jnp.ones_like(x), x)


@with_slopes(lambda _, x: jnp.divide(jnp.exp(x), x))
def _expi(x: Array) -> Array:
    edge = _steps(x, 20, 40)
    positive = jnp.greater(x, 0)
    series = [0.0] + [1 / (k * math.factorial(k)) for k in range(1, _steps(x, 64, 130))]
    small = jnp.where(jnp.logical_and(positive, jnp.less_equal(x, edge)), x, 1.0)
    near = jnp.add(jnp.add(_EULER, jnp.log(small)), polynomial(series, small))
    large = jnp.where(jnp.greater(x, edge), x, float(edge))
    tail = polynomial([float(math.factorial(k)) for k in range(edge)], jnp.divide(1, large))
    far = jnp.multiply(jnp.divide(jnp.exp(large), large), tail)
    far = jnp.where(jnp.equal(x, np.inf), np.inf, far)
    above = jnp.where(jnp.less_equal(x, edge), near, far)
    below = jnp.negative(_expn(jnp.ones_like(x), jnp.negative(jnp.minimum(x, 0))))
    return jnp.where(jnp.isnan(x), np.nan, jnp.where(positive, above, below)).astype(x.dtype)


def expi(x: ArrayLike) -> Array:
    """The exponential integral Ei: the integral of exp(t) / t up to x.

    >>> irax.scipy.special.expi(1.0).round(4)
    Array(1.8951, dtype=float32)
    """
    return _expi(*floats("expi", x, error=ValueError))


# ---- sine and cosine -----------------------------------------------------------------------------


def _si_slope(_: Array, x: Array) -> Array:
    return jnp.sinc(jnp.divide(x, np.pi))


def _ci_slope(_: Array, x: Array) -> Array:
    return jnp.divide(jnp.cos(x), x)


def _sine_cosine(x: Array) -> tuple[Array, Array]:
    size = jnp.abs(x)
    close = jnp.less_equal(size, 4)
    small = jnp.where(close, size, 1.0)
    square = jnp.square(small)
    odd = [(-1) ** k / ((2 * k + 1) * math.factorial(2 * k + 1)) for k in range(18)]
    even = [0.0] + [(-1) ** k / (2 * k * math.factorial(2 * k)) for k in range(1, 18)]
    near_s = jnp.multiply(small, polynomial(odd, square))
    near_c = jnp.add(jnp.add(_EULER, jnp.log(small)), polynomial(even, square))
    large = jnp.where(jnp.logical_or(close, jnp.isinf(size)), 5.0, size)
    turned = lax.complex(jnp.zeros_like(large), large)
    scaled = _fraction(1, turned, _steps(x, 30, 90))
    e1 = jnp.multiply(lax.complex(jnp.cos(large), jnp.negative(jnp.sin(large))), scaled)
    far_s, far_c = jnp.add(e1.imag, np.pi / 2), jnp.negative(e1.real)
    endless = jnp.isinf(size)
    si = jnp.where(close, near_s, jnp.where(endless, np.pi / 2, far_s))
    ci = jnp.where(close, near_c, jnp.where(endless, 0.0, far_c))
    ci = jnp.where(jnp.equal(x, 0), -np.inf, ci)
    si = jnp.where(jnp.less(x, 0), jnp.negative(si), si)
    return tuple(jnp.where(jnp.isnan(x), np.nan, v).astype(x.dtype) for v in (si, ci))  # pyright: ignore[reportReturnType]


_si = with_slopes(_si_slope)(lambda x: _sine_cosine(x)[0])
_ci = with_slopes(_ci_slope)(lambda x: _sine_cosine(x)[1])


def sici(x: ArrayLike) -> tuple[Array, Array]:
    """The sine integral, of sin(t) / t from 0 to x, and the cosine integral, of cos(t) / t up to
    x, of which SciPy takes the real part where x is negative.

    >>> [v.round(4) for v in irax.scipy.special.sici(1.0)]
    [Array(0.9461, dtype=float32), Array(0.3374, dtype=float32)]
    """
    (x,) = floats("sici", x, error=ValueError)
    return _si(x), _ci(x)


# ---- Fresnel's -----------------------------------------------------------------------------------


def _phase(x: Array) -> Array:
    # The sine repeats where x**2 grows by 4.
    return jnp.multiply(np.pi / 2, jnp.remainder(jnp.square(x), 4))


def _fresnel_parts(x: Array) -> tuple[Array, Array]:
    size = jnp.abs(x)
    close = jnp.less_equal(size, 1.5)
    small = jnp.where(close, size, 0.0)
    fourth = jnp.square(jnp.square(small))
    half = np.pi / 2
    terms = range(20)
    odd = [(-1) ** k * half ** (2 * k + 1) / math.factorial(2 * k + 1) for k in terms]
    even = [(-1) ** k * half ** (2 * k) / math.factorial(2 * k) for k in terms]
    cube = jnp.multiply(small, jnp.square(small))
    near_s = jnp.multiply(cube, polynomial([c / (4 * k + 3) for k, c in enumerate(odd)], fourth))
    near_c = jnp.multiply(small, polynomial([c / (4 * k + 1) for k, c in enumerate(even)], fourth))
    large = jnp.where(jnp.logical_or(close, jnp.isinf(size)), 2.0, size)
    along = jnp.multiply(float(np.sqrt(np.pi) / 2), large)
    phase = _phase(large)
    rest = jnp.multiply(
        lax.complex(jnp.cos(phase), jnp.sin(phase)), wofz(lax.complex(along, along))
    )
    far = jnp.multiply(0.5 + 0.5j, jnp.subtract(1, rest))
    endless = jnp.isinf(size)
    found: list[Array] = []
    for near, value in ((near_s, far.imag), (near_c, far.real)):
        part = jnp.where(close, near, jnp.where(endless, 0.5, value))
        part = jnp.where(jnp.less(x, 0), jnp.negative(part), part)
        found.append(jnp.where(jnp.isnan(x), np.nan, part).astype(x.dtype))
    return found[0], found[1]


_fresnel_s = with_slopes(lambda _, x: jnp.sin(_phase(x)))(lambda x: _fresnel_parts(x)[0])
_fresnel_c = with_slopes(lambda _, x: jnp.cos(_phase(x)))(lambda x: _fresnel_parts(x)[1])


def fresnel(x: ArrayLike) -> tuple[Array, Array]:
    """Fresnel's integrals, of sin(pi t**2 / 2) and of cos(pi t**2 / 2) from 0 to x.

    >>> [v.round(4) for v in irax.scipy.special.fresnel(1.0)]
    [Array(0.4383, dtype=float32), Array(0.7799, dtype=float32)]
    """
    (x,) = floats("fresnel", x)
    return _fresnel_s(x), _fresnel_c(x)


# ---- the dilogarithm -----------------------------------------------------------------------------

_EVEN_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def _spence_slope(_: Array, x: Array) -> Array:
    other = jnp.where(jnp.equal(x, 1), 2.0, x)
    slope = jnp.divide(jnp.log(other), jnp.subtract(1, other))
    return jnp.where(jnp.equal(x, 1), -1.0, slope).astype(x.dtype)


@with_slopes(_spence_slope)
def _spence(x: Array) -> Array:
    above = jnp.greater(x, 1)
    y = jnp.where(above, jnp.divide(1, jnp.where(above, x, 1.0)), x)
    low = jnp.less(y, 0.5)
    safe = jnp.where(jnp.logical_and(low, jnp.greater(y, 0)), y, 0.25)
    u = jnp.negative(jnp.log(jnp.where(low, jnp.subtract(1, y), y)))
    # Li2(1 - exp(-u)) is the sum of B_k u**(k + 1) / (k + 1)! over the Bernoulli numbers B_k.
    series = [1.0] + [b / math.factorial(2 * k + 3) for k, b in enumerate(_EVEN_BERNOULLI)]
    value = jnp.multiply(u, polynomial(series, jnp.square(u)))
    value = jnp.subtract(value, jnp.multiply(0.25, jnp.square(u)))
    logs = jnp.multiply(jnp.log(safe), jnp.log1p(jnp.negative(safe)))
    mirrored = jnp.subtract(np.pi**2 / 6, jnp.add(logs, value))
    mirrored = jnp.where(jnp.equal(y, 0), np.pi**2 / 6, mirrored)
    value = jnp.where(low, mirrored, value)
    square = jnp.square(jnp.log(jnp.where(above, x, 1.0)))
    value = jnp.where(above, jnp.negative(jnp.add(jnp.multiply(0.5, square), value)), value)
    return jnp.where(jnp.greater_equal(x, 0), value, np.nan).astype(x.dtype)


def spence(x: ArrayLike) -> Array:
    """Spence's function, the integral of log(t) / (1 - t) from 1 to x: the dilogarithm of 1 - x.

    It is nan where x is negative.

    >>> irax.scipy.special.spence(0.0).round(4)
    Array(1.6449, dtype=float32)
    """
    return _spence(*floats("spence", x))
