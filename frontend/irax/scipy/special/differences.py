"""Differences of large logarithms that nearly cancel, computed without the cancellation.

Log-densities are differences of logarithms of gamma functions, each of which may be millions where
the result is 1. Stirling's formula divides such a logarithm into x log(x) - x and a small rest; the
large parts of a difference are put together first, as a deviance (C. Loader, "Fast and accurate
computation of binomial probabilities", 2000).
"""

from __future__ import annotations

import numpy as np

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array
from irax.scipy.arguments import polynomial
from irax.transforms.custom_jvp import custom_jvp

LARGE = 10
"""From here on, `stirling_error` is as precise as float64."""
_HALF_LOG_2_PI = float(np.log(2 * np.pi) / 2)
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
_DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760)
_ATANH = {4: 8, 8: 16}
"""The number of terms of the series of atanh up to 1/3, by the bytes of a float."""


def stirling_error(x: Array) -> Array:
    """Return log(gamma(x)) minus Stirling's formula, for x of at least `LARGE`."""
    inverse = jnp.divide(1.0, x)
    return jnp.multiply(inverse, polynomial(_STIRLING, jnp.multiply(inverse, inverse)))


def scaled_gammaln_difference(x: Array, d: Array) -> Array:
    """Return log(gamma(x + d) / gamma(x)) - d log(x), where x and x + d are positive."""
    end = jnp.add(x, d)
    small = jnp.less(jnp.minimum(x, end), LARGE)
    from_, to = jnp.where(small, float(LARGE), x), jnp.where(small, float(LARGE), end)
    step = jnp.where(small, 0.0, d)
    # Where x + d is small next to x, 1 + d / x has lost it.
    ratio = jnp.divide(step, from_)
    back = jnp.less(ratio, -0.5)
    growth = jnp.where(
        back,
        jnp.log(jnp.divide(to, from_)),
        jnp.log1p(jnp.where(back, 0.0, ratio)),
    )
    far = jnp.subtract(jnp.multiply(jnp.subtract(to, 0.5), growth), step)
    # Next to large numbers, the ratio of small ones is subnormal.
    far = jnp.where(jnp.less(jnp.abs(ratio), 1e-30), 0.0, far)
    far = jnp.add(far, jnp.subtract(stirling_error(to), stirling_error(from_)))
    begin, to = jnp.where(small, x, 1.0), jnp.where(small, end, 1.0)
    near = jnp.subtract(lax.lgamma(to), lax.lgamma(begin))
    near = jnp.subtract(near, jnp.multiply(jnp.where(small, d, 0.0), jnp.log(begin)))
    return jnp.where(small, near, far)


def log_ratio(x: Array, y: Array) -> Array:
    """Return log(x / y) for numbers that are not negative, also where they are nearly equal."""
    near = jnp.logical_and(
        jnp.less(jnp.abs(jnp.subtract(x, y)), jnp.multiply(y, 0.5)), jnp.less(y, np.inf)
    )
    top, bottom = jnp.where(near, x, 1.0), jnp.where(near, y, 1.0)
    close = jnp.log1p(jnp.divide(jnp.subtract(top, bottom), bottom))
    return jnp.where(near, close, _log_quotient(jnp.where(near, 1.0, x), jnp.where(near, 1.0, y)))


def _log_quotient(x: Array, y: Array) -> Array:
    """Return log(x / y), also where x / y overflows or underflows."""
    quotient = jnp.divide(x, y)
    limits = jnp.finfo(x.dtype)
    half = float(limits.maxexp // 2)
    above = jnp.logical_and(jnp.equal(quotient, np.inf), jnp.greater(y, 0))
    below = jnp.logical_and(jnp.less(quotient, float(limits.tiny)), jnp.greater(x, 0))
    step = jnp.where(above, -half, jnp.where(below, half, 0.0))
    scaled = jnp.divide(_times_power(x, step), _times_power(y, jnp.negative(step)))
    return jnp.subtract(jnp.log(scaled), jnp.multiply(step, float(2 * np.log(2))))


def _times_power(x: Array, exponent: Array) -> Array:
    return jnp.multiply(x, lax.stop_gradient(jnp.exp2(exponent)))


def log1p_of_square(x: Array) -> Array:
    """Return log(1 + x**2), also where x**2 overflows."""
    size = jnp.abs(x)
    large = jnp.greater(size, 1e4)
    square = jnp.square(jnp.where(large, 1.0, x))
    far = jnp.where(large, size, 1.0)
    outside = jnp.add(jnp.multiply(2, jnp.log(far)), jnp.square(jnp.divide(1.0, far)))
    return jnp.where(large, outside, jnp.log1p(square))


def _atanh_rest(v: Array) -> Array:
    """Return atanh(v) - v, for v up to 1/3."""
    square = jnp.multiply(v, v)
    terms = [1 / (2 * k + 3) for k in range(_ATANH.get(v.dtype.itemsize, 8))]
    return jnp.multiply(jnp.multiply(v, square), polynomial(terms, square))


def log1p_minus(x: Array) -> Array:
    """Return log(1 + x) - x, for x above -1."""
    v = jnp.divide(x, jnp.add(x, 2))
    near = jnp.less(jnp.abs(v), 1 / 3)
    v, small = jnp.where(near, v, 0.0), jnp.where(near, x, 0.0)
    # log(1 + x) is 2 atanh(v), and 2 v - x is -x v.
    close = jnp.subtract(jnp.multiply(2, _atanh_rest(v)), jnp.multiply(small, v))
    far = jnp.where(near, 0.0, x)
    return jnp.where(near, close, jnp.subtract(jnp.log1p(far), far))


def deviance(x: Array, mean: Array) -> Array:
    """Return x log(x / mean) - x + mean, which is 0 where they are equal, for numbers that are not
    negative.
    """
    return _deviance(x, mean)


@custom_jvp
def _deviance(x: Array, mean: Array) -> Array:
    # Half of each: their sum may overflow.
    half, half_mean = jnp.multiply(x, 0.5), jnp.multiply(mean, 0.5)
    total = jnp.add(half, half_mean)
    v = jnp.divide(jnp.subtract(half, half_mean), jnp.where(jnp.equal(total, 0), 1.0, total))
    near = jnp.less(jnp.abs(v), 1 / 3)
    v = jnp.where(near, v, 0.0)
    # log(x / mean) is 2 atanh(v).
    close = jnp.add(
        jnp.multiply(jnp.subtract(x, mean), v), jnp.multiply(jnp.multiply(2, x), _atanh_rest(v))
    )
    logarithm = _log_quotient(jnp.where(near, 1.0, x), jnp.where(near, 1.0, mean))
    far = jnp.add(jnp.multiply(x, jnp.subtract(logarithm, 1)), mean)
    far = jnp.where(jnp.equal(x, 0), mean, far)
    endless = jnp.not_equal(jnp.isinf(x), jnp.isinf(mean))
    return jnp.where(endless, np.inf, jnp.where(near, close, far))


_deviance.defjvps(
    lambda dx, _, x, mean: jnp.multiply(dx, log_ratio(x, mean)),
    lambda dmean, _, x, mean: jnp.multiply(dmean, _slope_in_mean(x, mean)),
)


def _slope_in_mean(x: Array, mean: Array) -> Array:
    none = jnp.equal(x, 0)
    ratio = jnp.divide(jnp.subtract(mean, x), jnp.where(none, 1.0, mean))
    return jnp.where(none, 1.0, ratio)


def poisson_loss_of_many(k: Array, mean: Array) -> Array:
    """Return `poisson_loss(k, mean)`, for k of at least `LARGE`."""
    excess = jnp.multiply(0.5, jnp.log(k)) + _HALF_LOG_2_PI + stirling_error(k)
    return jnp.add(deviance(k, mean), excess)


def poisson_loss(k: Array, mean: Array) -> Array:
    """Return log(gamma(k + 1)) - k log(mean) + mean, for k above -1: minus the logarithm of the
    probability of k by Poisson's distribution.

    `poisson_loss(n, n)` is the logarithm of n! next to (n / e)**n.
    """
    return _poisson_loss(k, mean)


@custom_jvp
def _poisson_loss(k: Array, mean: Array) -> Array:
    large = jnp.greater_equal(k, LARGE)
    many, far_mean = jnp.where(large, k, float(LARGE)), jnp.where(large, mean, float(LARGE))
    none = jnp.logical_and(jnp.equal(k, 0), jnp.logical_not(jnp.isnan(mean)))
    logarithm = jnp.log(jnp.where(large, many, jnp.where(none, 1.0, mean)))
    excess = jnp.multiply(0.5, logarithm) + _HALF_LOG_2_PI + stirling_error(many)
    few = jnp.where(large, 1.0, k)
    plain = jnp.subtract(lax.lgamma(jnp.add(few, 1)), jnp.multiply(few, logarithm))
    return jnp.where(large, jnp.add(deviance(many, far_mean), excess), jnp.add(plain, mean))


def _slope_in_k(k: Array, mean: Array) -> Array:
    """Return digamma(k + 1) - log(mean)."""
    large = jnp.greater_equal(k, LARGE)
    many, far_mean = jnp.where(large, k, float(LARGE)), jnp.where(large, mean, float(LARGE))
    inverse = jnp.divide(1.0, many)
    square = jnp.multiply(inverse, inverse)
    rest = jnp.subtract(
        jnp.multiply(0.5, inverse), jnp.multiply(square, polynomial(_DIGAMMA, square))
    )
    few, near_mean = jnp.where(large, 1.0, k), jnp.where(large, 1.0, mean)
    # Where the mean is 0, only its own slope counts.
    near_mean = jnp.where(jnp.equal(near_mean, 0), 1.0, near_mean)
    plain = jnp.subtract(lax.digamma(jnp.add(few, 1)), jnp.log(near_mean))
    return jnp.where(large, jnp.add(log_ratio(many, far_mean), rest), plain)


_poisson_loss.defjvps(
    lambda dk, _, k, mean: jnp.multiply(dk, _slope_in_k(k, mean)),
    lambda dmean, _, k, mean: jnp.multiply(dmean, _slope_in_mean(k, mean)),
)


def log_choices(n: Array, k: Array, p: Array, rest: Array, q: Array) -> Array:
    """Return the logarithm of n! / (k! rest!) p**k q**rest, where k + rest = n and p + q = 1."""
    both = jnp.add(poisson_loss(k, jnp.multiply(n, p)), poisson_loss(rest, jnp.multiply(n, q)))
    return jnp.subtract(poisson_loss(n, n), both)
