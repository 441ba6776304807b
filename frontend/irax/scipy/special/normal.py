"""The error function and its relatives, and the normal distribution."""

from __future__ import annotations

import numpy as np

import irax.numpy as jnp
from irax import dtypes, lax
from irax.core.array import Array
from irax.core.dtypes.promotion import apply, convert
from irax.scipy.arguments import floats, from_lists, inexact
from irax.typing import ArrayLike
from irax_compiler.ops.special import normal

_ROOT_2 = float(np.sqrt(2))


def erf(x: ArrayLike) -> Array:
    """The error function, the integral of 2 exp(-t**2) / sqrt(pi) from 0 to x.

    Args:
        x: an array of real numbers, or a number.

    Raises:
        TypeError: not an array or a number, or complex numbers.

    >>> irax.scipy.special.erf(1.0).round(4)
    Array(0.8427, dtype=float32, weak_type=True)
    """
    return lax.erf(*floats("erf", x))


def erfc(x: ArrayLike) -> Array:
    """1 - erf(x), precise where that is small.

    Args:
        x: an array of real numbers, or a number.

    Raises:
        TypeError: not an array or a number, or complex numbers.

    >>> irax.scipy.special.erfc(1.0).round(4)
    Array(0.1573, dtype=float32, weak_type=True)
    """
    return lax.erfc(*floats("erfc", x))


def erfinv(x: ArrayLike) -> Array:
    """The inverse of erf.

    Args:
        x: an array of real numbers, or a number.

    Raises:
        TypeError: not an array or a number, or complex numbers.

    >>> irax.scipy.special.erfinv(0.5).round(4)
    Array(0.4769, dtype=float32, weak_type=True)
    """
    return lax.erf_inv(*floats("erfinv", x))


def erfcinv(y: ArrayLike) -> Array:
    """The inverse of erfc, precise where `y` is small.

    Args:
        y: an array of real numbers, or a number.

    Raises:
        TypeError: not an array or a number.
        ValueError: complex numbers.

    >>> irax.scipy.special.erfcinv(0.5).round(4)
    Array(0.4769, dtype=float32)
    """
    (y,) = floats("erfcinv", y, error=ValueError)
    return jnp.subtract(0.0, jnp.divide(ndtri(jnp.divide(y, 2)), _ROOT_2))


# ---- without the factor exp(-x**2) --------------------------------------------------------------


def erfcx(x: ArrayLike) -> Array:
    """exp(x**2) erfc(x).

    Args:
        x: an array, or a number.

    Raises:
        TypeError: not an array or a number.

    >>> irax.scipy.special.erfcx(1.0).round(4)
    Array(0.4276, dtype=float32)
    """
    if jnp.iscomplexobj(x):
        return wofz(jnp.multiply(1j, x))
    return apply(normal.Erfcx(), *floats("erfcx", x), what="erfcx").with_weak_type(False)


def wofz(z: ArrayLike) -> Array:
    """The Faddeeva function, exp(-z**2) erfc(-i z); the result is complex.

    Args:
        z: an array, or a number.

    Raises:
        TypeError: not an array or a number.

    >>> irax.scipy.special.wofz(1j).round(4)
    Array(0.4276+0.j, dtype=complex64)
    """
    (z,) = inexact("wofz", z)
    kind = dtypes.result_type(z.dtype, np.complex64)
    return apply(normal.Wofz(), convert(z, kind), what="wofz")


def dawsn(x: ArrayLike) -> Array:
    """Dawson's integral, exp(-x**2) times the integral of exp(t**2) from 0 to x.

    Args:
        x: an array of real numbers, or a number.

    Raises:
        TypeError: not an array or a number.
        ValueError: complex numbers.

    >>> irax.scipy.special.dawsn(1.0).round(4)
    Array(0.5381, dtype=float32)
    """
    (x,) = floats("dawsn", x, error=ValueError)
    return apply(normal.Dawsn(), x.astype(x.dtype), what="dawsn")


# ---- the normal distribution ---------------------------------------------------------------------


def ndtr(x: ArrayLike) -> Array:
    """The distribution function of the standard normal distribution.

    Args:
        x: an array of real numbers, or a number.

    Raises:
        TypeError: not an array or a number, or complex numbers.

    >>> irax.scipy.special.ndtr(0.0)
    Array(0.5, dtype=float32)
    """
    (x,) = floats("ndtr", from_lists(x))
    return apply(normal.Ndtr(), x, what="ndtr").with_weak_type(False)


def log_ndtr(x: ArrayLike, series_order: int = 3) -> Array:
    """log(ndtr(x)), precise for any x.

    `series_order` is of no effect: no asymptotic series is used.

    Args:
        x: an array of real numbers, or a number.
        series_order: of no effect.

    Returns:
        Floats, in the same shape.

    Raises:
        TypeError: not an array or a number, or complex numbers.

    >>> irax.scipy.special.log_ndtr(-100.0)
    Array(-5005.5244, dtype=float32)
    """
    return apply(
        normal.LogNdtr(), *floats("log_ndtr", from_lists(x)), what="log_ndtr"
    ).with_weak_type(False)


def ndtri(p: ArrayLike) -> Array:
    """The inverse of ndtr: -inf at 0, inf at 1, nan outside.

    Args:
        p: an array of real numbers, or a number.

    Raises:
        TypeError: not an array or a number, or complex numbers.

    >>> irax.scipy.special.ndtri(0.975).round(3)
    Array(1.96, dtype=float32)
    """
    return apply(normal.Ndtri(), *floats("ndtri", p), what="ndtri").with_weak_type(False)


def owens_t(h: ArrayLike, a: ArrayLike) -> Array:
    """Owen's function: the chance of X > h and 0 < Y < a X, for independent standard normal X, Y.

    Args:
        h: an array of real numbers, or a number.
        a: another one; both broadcast.

    Raises:
        TypeError: not arrays or numbers, or complex ones.

    >>> irax.scipy.special.owens_t(0.0, 1.0)
    Array(0.12500001, dtype=float32, weak_type=True)
    """
    return apply(normal.OwensT(), *floats("owens_t", h, a), what="owens_t")
