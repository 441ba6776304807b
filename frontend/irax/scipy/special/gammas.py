"""The gamma and beta functions, and functions that follow from them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes, lax
from irax.core.array import Array, as_array
from irax.lax.arguments import canonical_int
from irax.scipy.arguments import floats, unsupported
from irax.typing import ArrayLike


def gammaln(x: ArrayLike) -> Array:
    """The logarithm of the absolute value of the gamma function.

    Args:
        x: an array of real numbers, or a number.

    Raises:
        TypeError: not an array or a number, or complex numbers.

    >>> irax.scipy.special.gammaln(5.0)
    Array(3.1780539, dtype=float32, weak_type=True)
    """
    return lax.lgamma(*floats("gammaln", x))


def loggamma(x: ArrayLike) -> Array:
    """The logarithm of the gamma function: of real numbers nan where gamma is negative, of complex
    ones with a cut along the negative axis.

    Args:
        x: an array, or a number.

    Raises:
        TypeError: not an array or a number.

    >>> irax.scipy.special.loggamma(5.0)
    Array(3.1780539, dtype=float32, weak_type=True)
    """
    if jnp.iscomplexobj(x):
        return _loggamma_of_complex(jnp.asarray(x))
    (x,) = floats("loggamma", x)
    return jnp.where(jnp.less(x, 0), np.nan, lax.lgamma(x))


def gammasgn(x: ArrayLike) -> Array:
    """The sign of the gamma function; nan at the negative integers, where it has none.

    Args:
        x: an array of real numbers, or a number.

    Raises:
        TypeError: not an array or a number.
        ValueError: complex numbers.

    >>> irax.scipy.special.gammasgn(irax.numpy.array([-1.5, -0.5, 2.0]))
    Array([ 1., -1.,  1.], dtype=float32)
    """
    (x,) = floats("gammasgn", x, error=ValueError)
    whole = jnp.floor(x)
    sign = jnp.where(jnp.equal(jnp.remainder(whole, 2), 0), 1.0, -1.0).astype(x.dtype)
    sign = jnp.where(jnp.less(x, 0), jnp.where(jnp.equal(x, whole), np.nan, sign), 1.0)
    negative_zero = jnp.logical_and(jnp.equal(x, 0), jnp.signbit(x))
    return jnp.where(jnp.isnan(x), x, jnp.where(negative_zero, -1.0, sign))


def gamma(x: ArrayLike) -> Array:
    """The gamma function: the factorial of x - 1, for real and complex numbers.

    Args:
        x: an array, or a number.

    Raises:
        TypeError: not an array or a number.

    >>> irax.scipy.special.gamma(5.0).round(3)
    Array(24., dtype=float32)
    """
    if jnp.iscomplexobj(x):
        return jnp.exp(_loggamma_of_complex(jnp.asarray(x))).with_weak_type(False)
    (x,) = floats("gamma", x)
    at_minus_infinity = jnp.equal(x, -np.inf)
    return jnp.where(
        at_minus_infinity, np.nan, jnp.multiply(gammasgn(x), jnp.exp(lax.lgamma(x)))
    ).astype(x.dtype)


_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
"""B(2k) / (2k (2k - 1)): the coefficients of Stirling's series."""


def _loggamma_of_complex(z: Array) -> Array:
    """Return loggamma by Stirling's series at z + 7, by reflection where the real part is small."""
    reflected = jnp.less(jnp.real(z), 0.5)
    right = jnp.where(reflected, jnp.subtract(1, z), z)
    far = jnp.add(right, 7)
    square = jnp.square(jnp.reciprocal(far))
    series = jnp.zeros_like(z)
    for coefficient in reversed(_STIRLING):
        series = jnp.add(jnp.multiply(series, square), coefficient)
    result = jnp.multiply(jnp.subtract(far, 0.5), jnp.log(far))
    result = jnp.add(jnp.subtract(result, far), float(np.log(2 * np.pi) / 2))
    result = jnp.add(result, jnp.divide(series, far))
    for step in range(7):
        result = jnp.subtract(result, jnp.log(jnp.add(right, step)))
    mirrored = jnp.subtract(float(np.log(np.pi)), jnp.add(_log_sine_of_pi(z, reflected), result))
    result = jnp.where(reflected, mirrored, result)
    whole = jnp.equal(z, jnp.floor(jnp.real(z)))
    is_pole = jnp.logical_and(whole, jnp.less_equal(jnp.real(z), 0))
    return jnp.where(is_pole, complex(np.nan, np.nan), result)


def _log_sine_of_pi(z: Array, wanted: Array) -> Array:
    """Return log(sin(pi z)) on the branch that is continuous in each half of the plane."""
    below = jnp.less(jnp.imag(z), 0)
    upper = jnp.where(wanted, jnp.where(below, jnp.conj(z), z), 0.5)
    turned = jnp.multiply(upper, 1j * np.pi)
    result = jnp.subtract(jnp.log1p(jnp.negative(jnp.exp(jnp.multiply(turned, 2)))), turned)
    result = jnp.add(result, complex(-np.log(2), np.pi / 2))
    return jnp.where(below, jnp.conj(result), result)


def digamma(x: ArrayLike) -> Array:
    """The derivative of the logarithm of the gamma function.

    Args:
        x: an array of real numbers, or a number.

    Raises:
        TypeError: not an array or a number, or complex numbers.

    >>> irax.scipy.special.digamma(1.0).round(4)
    Array(-0.5772, dtype=float32, weak_type=True)
    """
    return lax.digamma(*floats("digamma", x))


def polygamma(n: ArrayLike, x: ArrayLike) -> Array:
    """Derivative number n of digamma; n is 0 or a positive integer, of an integer dtype.

    Args:
        n: an array of integers, or an integer.
        x: an array of real numbers, to which `n` broadcasts.

    Raises:
        ValueError: n is of another dtype.

    >>> irax.scipy.special.polygamma(1, 1.0).round(4)
    Array(1.6449, dtype=float32, weak_type=True)
    """
    number = as_array(n, "polygamma: n")
    if not dtypes.issubdtype(number.dtype, np.integer):
        raise ValueError(f"polygamma: n must be of an integer dtype, got {number.dtype}")
    return lax.polygamma(*floats("polygamma", number, x, error=ValueError))


def zeta(x: ArrayLike, q: ArrayLike | None = None) -> Array:
    """The Hurwitz zeta function, the sum of (k + q)**-x over k from 0; Riemann's without q.

    Args:
        x: an array of real numbers, or a number: the exponent.
        q: another one, to which it broadcasts: the shift, 1 by default.

    Raises:
        TypeError: not arrays or numbers, or complex ones.

    >>> irax.scipy.special.zeta(2.0).round(4)
    Array(1.6449, dtype=float32, weak_type=True)
    """
    return lax.zeta(*floats("zeta", x, 1.0 if q is None else q))


def gammainc(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularized lower incomplete gamma function; it has derivatives in a and x.

    Args:
        a: an array of real numbers, or a number.
        x: another one; both broadcast.

    Raises:
        TypeError: not arrays or numbers, or complex ones.

    >>> irax.scipy.special.gammainc(1.0, 1.0).round(4)
    Array(0.6321, dtype=float32, weak_type=True)
    """
    return lax.igamma(*floats("gammainc", a, x))


def gammaincc(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularized upper incomplete gamma function; it has derivatives in a and x.

    Args:
        a: an array of real numbers, or a number.
        x: another one; both broadcast.

    Raises:
        TypeError: not arrays or numbers, or complex ones.

    >>> irax.scipy.special.gammaincc(1.0, 1.0).round(4)
    Array(0.3679, dtype=float32, weak_type=True)
    """
    return lax.igammac(*floats("gammaincc", a, x))


def multigammaln(a: ArrayLike, d: Any) -> Array:
    """The logarithm of the multivariate gamma function of dimension d, a Python int.

    Args:
        a: an array of real numbers, or a number.
        d: the dimension.

    Returns:
        An array of the shape of `a`.

    Raises:
        TypeError: `a` is not an array of real numbers, or `d` is not an int.

    >>> irax.scipy.special.multigammaln(2.5, 2).round(3)
    Array(0.857, dtype=float32)
    """
    (a,) = floats("multigammaln", a)
    d = canonical_int("multigammaln", "d", d)
    total = jnp.multiply(d * (d - 1) / 4, np.log(np.pi).item())
    for i in range(d):
        total = jnp.add(total, lax.lgamma(jnp.subtract(a, i / 2)))
    return jnp.broadcast_to(jnp.asarray(total).astype(a.dtype), a.shape)


def poch(z: ArrayLike, m: ArrayLike) -> Array:
    """The Pochhammer symbol, gamma(z + m) / gamma(z).

    Args:
        z: an array of real numbers, or a number.
        m: another one; both broadcast.

    Raises:
        TypeError: not arrays or numbers.
        ValueError: complex numbers.

    >>> irax.scipy.special.poch(2.0, 3.0).round(3)
    Array(24., dtype=float32)
    """
    z, m = floats("poch", z, m, error=ValueError)
    end = jnp.add(z, m)
    size = jnp.exp(jnp.subtract(lax.lgamma(end), lax.lgamma(z)))
    return jnp.where(jnp.equal(m, 0), 1.0, jnp.multiply(_ratio_sign(end, z), size))


def _ratio_sign(x: Array, y: Array) -> Array:
    return jnp.multiply(gammasgn(x), gammasgn(y))


def factorial(n: ArrayLike, exact: bool = False) -> Array:
    """The factorial of n, gamma(n + 1); 0 where n is negative.

    Args:
        n: an array of real numbers, or a number.
        exact: only False.

    Raises:
        NotImplementedError: `exact=True`, which takes integers without bound.

    >>> irax.scipy.special.factorial(irax.numpy.array([0, 3])).round(3)
    Array([1., 6.], dtype=float32)
    """
    unsupported("factorial", "exact", bool(exact), False)
    (n,) = floats("factorial", n)
    return jnp.where(jnp.less(n, 0), 0.0, jnp.exp(lax.lgamma(jnp.add(n, 1))))


def comb(N: ArrayLike, k: ArrayLike, *, repetition: bool = False) -> Array:
    """Return the number of combinations of k of N things; 0 where k is negative or above N.

    Args:
        N: the number of things.
        k: the number that is taken.
        repetition: True if one may be taken again.

    Raises:
        TypeError: not arrays or numbers, or complex ones.

    >>> irax.scipy.special.comb(5, 2).round(3)
    Array(10., dtype=float32, weak_type=True)
    """
    n, k = floats("comb", N, k)
    if repetition:
        # One way to take nothing of nothing, where n + k - 1 would be negative.
        ways = comb(jnp.subtract(jnp.add(n, k), 1), k)
        return jnp.where(jnp.logical_and(jnp.equal(k, 0), jnp.greater_equal(n, 0)), 1.0, ways)
    rest = jnp.subtract(n, k)
    possible = jnp.logical_and(jnp.greater_equal(k, 0), jnp.greater_equal(rest, 0))
    k, rest = jnp.where(possible, k, 0.0), jnp.where(possible, rest, 0.0)
    root = jnp.exp(jnp.multiply(-0.5, betaln(jnp.add(rest, 1), jnp.add(k, 1))))
    ways = jnp.multiply(jnp.divide(root, jnp.add(jnp.add(rest, k), 1)), root)
    return jnp.where(possible, ways, 0.0)


def betaln(a: ArrayLike, b: ArrayLike) -> Array:
    """The logarithm of the absolute value of the beta function.

    Args:
        a: an array of real numbers, or a number.
        b: another one; both broadcast.

    Raises:
        TypeError: not arrays or numbers, or complex ones.

    >>> irax.scipy.special.betaln(2.0, 3.0).round(4)
    Array(-2.4849, dtype=float32, weak_type=True)
    """
    a, b = floats("betaln", a, b)
    plain = jnp.subtract(jnp.add(lax.lgamma(a), lax.lgamma(b)), lax.lgamma(jnp.add(a, b)))
    small, large = jnp.minimum(a, b), jnp.maximum(a, b)
    apart = jnp.greater_equal(jnp.minimum(large, jnp.add(small, large)), _LARGE)
    small, large = jnp.where(apart, small, 1.0), jnp.where(apart, large, float(_LARGE))
    cancelled = jnp.add(lax.lgamma(small), _difference_of_gammaln(large, small))
    return jnp.where(apart, cancelled, plain)


_LARGE = 10
"""From here on, `_stirling_error` is as precise as float64."""


def _difference_of_gammaln(x: Array, d: Array) -> Array:
    """Return log(gamma(x) / gamma(x + d)) by Stirling's formula, without cancellation."""
    total = jnp.add(x, d)
    ratio = jnp.multiply(jnp.subtract(total, 0.5), jnp.log1p(jnp.divide(d, x)))
    rest = jnp.subtract(jnp.subtract(d, ratio), jnp.multiply(d, jnp.log(x)))
    return jnp.add(rest, jnp.subtract(_stirling_error(x), _stirling_error(total)))


def _stirling_error(x: Array) -> Array:
    """Return the correction to Stirling's formula for log(gamma(x)), by its asymptotic series."""
    inverse = jnp.divide(1.0, x)
    square = jnp.multiply(inverse, inverse)
    series = jnp.zeros_like(x)
    for term in (-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12):
        series = jnp.add(jnp.multiply(series, square), term)
    return jnp.multiply(series, inverse)


def beta(a: ArrayLike, b: ArrayLike) -> Array:
    """The beta function, gamma(a) gamma(b) / gamma(a + b).

    Args:
        a: an array of real numbers, or a number.
        b: another one; both broadcast.

    Raises:
        TypeError: not arrays or numbers.
        ValueError: complex numbers.

    >>> irax.scipy.special.beta(2.0, 3.0).round(4)
    Array(0.0833, dtype=float32)
    """
    a, b = floats("beta", a, b, error=ValueError)
    sign = jnp.multiply(jnp.multiply(gammasgn(a), gammasgn(b)), gammasgn(jnp.add(a, b)))
    return jnp.multiply(sign, jnp.exp(betaln(a, b)))


def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """The regularized incomplete beta function; it has a derivative in x.

    Args:
        a: an array of real numbers, or a number.
        b: another one; they broadcast.
        x: another one; they broadcast.

    Raises:
        TypeError: not arrays or numbers.
        ValueError: complex numbers.

    >>> irax.scipy.special.betainc(1.0, 1.0, 0.25)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return lax.betainc(*floats("betainc", a, b, x, error=ValueError))


def bernoulli(n: int) -> Array:
    """The Bernoulli numbers 0 to n, of which number 1 is -1/2; shape (n + 1,).

    Args:
        n: the last number.

    Raises:
        TypeError: n is not an int.
        ValueError: n is negative.

    >>> irax.scipy.special.bernoulli(4).round(3)
    Array([ 1.   , -0.5  ,  0.167,  0.   , -0.033], dtype=float32)
    """
    last = canonical_int("bernoulli", "n", n)
    if last < 0:
        raise ValueError(f"bernoulli: n must not be negative, got {last}")
    row: list[Fraction] = []
    numbers: list[float] = []
    for m in range(last + 1):  # Akiyama and Tanigawa's triangle, exactly
        row.append(Fraction(1, m + 1))
        for j in range(m, 0, -1):
            row[j - 1] = j * (row[j - 1] - row[j])
        numbers.append(float(row[0]))
    if last >= 1:
        numbers[1] = -0.5
    with np.errstate(over="ignore"):
        return as_array(np.array(numbers, dtypes.default_float()))
