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
from irax.scipy.special.differences import LARGE, scaled_gammaln_difference
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
    s, q = floats("zeta", x, 1.0 if q is None else q)
    # Of a large exponent only the first term counts, and the sum's other terms overflow.
    limits = jnp.finfo(s.dtype)
    steep = jnp.logical_and(jnp.greater(s, float(limits.maxexp)), jnp.greater(q, 0))
    endless = jnp.logical_and(jnp.equal(q, np.inf), jnp.greater(s, 1))
    known = jnp.logical_or(steep, endless)
    first = jnp.power(jnp.where(known, q, 1.0), jnp.negative(jnp.where(known, s, 2.0)))
    # At integers up to 0 a term is 1/0, and between them one is infinite in the limit.
    below = jnp.less_equal(q, 0)
    at_pole = jnp.logical_or(jnp.equal(jnp.floor(q), q), jnp.equal(s, np.inf))
    is_pole = jnp.logical_and(below, jnp.logical_and(at_pole, jnp.greater_equal(s, 1)))
    known = jnp.logical_or(known, is_pole)
    plain = lax.zeta(jnp.where(known, 2.0, s), jnp.where(known, 1.0, q))
    found = jnp.where(is_pole, np.inf, jnp.where(known, first, plain))
    is_nan = jnp.logical_or(jnp.less(s, 1), jnp.logical_or(jnp.isnan(s), jnp.isnan(q)))
    return jnp.where(is_nan, np.nan, found)


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
    of_pole, to_pole = _is_pole(z), _is_pole(end)
    # The ratio of two poles is that of the mirrored numbers, with the sign of (-1)**m.
    mirrored = jnp.logical_and(of_pole, to_pole)
    start, end = jnp.where(mirrored, jnp.subtract(1, end), z), jnp.where(mirrored, 1 - z, end)
    sign = jnp.multiply(gammasgn(start), gammasgn(end))
    sign = jnp.where(mirrored, _parity(m), sign)
    endless = jnp.equal(z, np.inf)
    found = jnp.multiply(sign, _gamma_ratio(jnp.where(endless, 1.0, start), end, m))
    found = jnp.where(jnp.logical_and(of_pole, jnp.logical_not(to_pole)), 0.0, found)
    found = jnp.where(jnp.logical_and(to_pole, jnp.logical_not(of_pole)), np.inf, found)
    unknown = jnp.logical_or(jnp.isnan(m), jnp.equal(m, -np.inf))
    limit = jnp.where(unknown, np.nan, jnp.where(jnp.greater(m, 0), np.inf, 0.0))
    found = jnp.where(endless, limit, found)
    return jnp.where(jnp.equal(m, 0), 1.0, jnp.where(jnp.isnan(z), np.nan, found))


def _gamma_ratio(start: Array, end: Array, m: Array) -> Array:
    """Return the size of gamma(end) / gamma(start), where end is start + m."""
    large = jnp.greater_equal(jnp.minimum(start, end), LARGE)
    large = jnp.logical_and(large, jnp.less(end, np.inf))
    plain = jnp.subtract(lax.lgamma(end), lax.lgamma(start))
    start, m = jnp.where(large, start, float(LARGE)), jnp.where(large, m, 0.0)
    rest, logarithm = scaled_gammaln_difference(start, m), jnp.multiply(m, jnp.log(start))
    # A power has all its digits, where it is far from overflow.
    moderate = jnp.less(jnp.abs(logarithm), 30)
    power = jnp.power(start, jnp.where(moderate, m, 0.0))
    far = jnp.where(moderate, rest, jnp.add(rest, logarithm))
    return jnp.where(large, jnp.multiply(power, jnp.exp(far)), jnp.exp(plain))


def _is_pole(x: Array) -> Array:
    """Return True where gamma has a pole: 0 and the negative integers."""
    return jnp.logical_and(
        jnp.logical_and(jnp.less_equal(x, 0), jnp.equal(x, jnp.floor(x))),
        jnp.greater(x, -np.inf),
    )


def _parity(n: Array) -> Array:
    """Return (-1)**n of integers."""
    return jnp.where(jnp.equal(jnp.remainder(n, 2), 0), 1.0, -1.0).astype(n.dtype)


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
    endless = jnp.logical_and(jnp.isinf(rest), jnp.greater(k, 0))
    return jnp.where(possible, jnp.where(endless, np.inf, ways), 0.0)


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
    return _betaln(*floats("betaln", a, b))[0]


def _betaln(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the logarithm of the size of the beta function, and its sign."""
    small, large = jnp.minimum(a, b), jnp.maximum(a, b)
    pole = _is_pole(small)
    # By a pole of gamma(a + b), as at (-3, 2), the value is that of mirrored numbers.
    other = jnp.subtract(jnp.subtract(1, small), large)
    whole = jnp.logical_and(jnp.equal(large, jnp.floor(large)), jnp.greater(large, 0))
    mirrored = jnp.logical_and(pole, jnp.logical_and(whole, jnp.greater(other, 0)))
    pole = jnp.logical_and(pole, jnp.logical_not(mirrored))
    endless = jnp.logical_and(jnp.equal(large, np.inf), jnp.greater(small, -np.inf))
    elsewhere = jnp.logical_or(pole, endless)
    small = jnp.where(elsewhere, 1.0, jnp.where(mirrored, other, small))
    found = _betaln_off_poles(small, jnp.where(elsewhere, 1.0, large))
    limit = jnp.where(jnp.greater(jnp.minimum(a, b), 0), -np.inf, np.inf)
    found = jnp.where(pole, np.inf, jnp.where(endless, limit, found))
    sign = jnp.multiply(jnp.multiply(gammasgn(a), gammasgn(b)), gammasgn(jnp.add(a, b)))
    sign = jnp.where(mirrored, _parity(large), jnp.where(jnp.isnan(sign), 1.0, sign))
    return found, sign


def _betaln_off_poles(a: Array, b: Array) -> Array:
    plain = jnp.subtract(jnp.add(lax.lgamma(a), lax.lgamma(b)), lax.lgamma(jnp.add(a, b)))
    small, large = jnp.minimum(a, b), jnp.maximum(a, b)
    apart = jnp.greater_equal(jnp.minimum(large, jnp.add(small, large)), LARGE)
    small, large = jnp.where(apart, small, 1.0), jnp.where(apart, large, float(LARGE))
    growth = jnp.add(scaled_gammaln_difference(large, small), jnp.multiply(small, jnp.log(large)))
    return jnp.where(apart, jnp.subtract(lax.lgamma(small), growth), plain)


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
    logarithm, sign = _betaln(a, b)
    return jnp.multiply(sign, jnp.exp(logarithm))


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
