"""Integrals without a closed form: exponential, sine, cosine, Fresnel's, and the dilogarithm."""

from __future__ import annotations

import irax.numpy as jnp
from irax.core.array import Array
from irax.core.dtypes.promotion import apply
from irax.scipy.arguments import floats, from_lists
from irax.typing import ArrayLike
from irax_compiler.ops.special import integrals


def expn(n: ArrayLike, x: ArrayLike) -> Array:
    """The exponential integral E_n: the integral of exp(-x t) / t**n from 1 on.

    Args:
        n: integers of at least 0; for others the result is nan. There is no derivative in them: it
            is nan.
        x: numbers of at least 0; below, the result is nan.

    Raises:
        TypeError: not arrays or numbers.
        ValueError: complex numbers.

    >>> irax.scipy.special.expn(2, 1.0).round(4)
    Array(0.1485, dtype=float32)
    """
    n, x = floats("expn", n, x, error=ValueError)
    result = apply(integrals.Expn(), n.astype(n.dtype), x.astype(x.dtype), what="expn")
    return jnp.where(n == jnp.floor(n), result, jnp.nan)


def exp1(x: ArrayLike) -> Array:
    """The exponential integral E_1; nan where x is negative.

    Args:
        x: an array of real numbers, or a number.

    Raises:
        TypeError: not an array or a number.
        ValueError: complex numbers.

    >>> irax.scipy.special.exp1(1.0).round(4)
    Array(0.2194, dtype=float32)
    """
    (x,) = floats("exp1", x, error=ValueError)
    x = x.astype(x.dtype)
    return apply(integrals.Expn(), jnp.ones_like(x), x, what="exp1")


def expi(x: ArrayLike) -> Array:
    """The exponential integral Ei: the integral of exp(t) / t up to x.

    Args:
        x: an array of real numbers, or a number.

    Raises:
        TypeError: not an array or a number.
        ValueError: complex numbers.

    >>> irax.scipy.special.expi(1.0).round(4)
    Array(1.8951, dtype=float32)
    """
    (x,) = floats("expi", x, error=ValueError)
    return apply(integrals.Expi(), x.astype(x.dtype), what="expi")


def sici(x: ArrayLike) -> tuple[Array, Array]:
    """The sine integral, of sin(t) / t from 0 to x, and the cosine integral, of cos(t) / t up to
    x, of which SciPy takes the real part where x is negative.

    Args:
        x: an array of real numbers, or a number.

    Raises:
        TypeError: not an array or a number.
        ValueError: complex numbers.

    >>> [v.round(4) for v in irax.scipy.special.sici(1.0)]
    [Array(0.9461, dtype=float32), Array(0.3374, dtype=float32)]
    """
    (x,) = floats("sici", x, error=ValueError)
    x = x.astype(x.dtype)
    ops = (integrals.SineIntegral(), integrals.CosineIntegral())
    return apply(ops[0], x, what="sici"), apply(ops[1], x, what="sici")


def fresnel(x: ArrayLike) -> tuple[Array, Array]:
    """Fresnel's integrals, of sin(pi t**2 / 2) and of cos(pi t**2 / 2) from 0 to x.

    Args:
        x: an array of real numbers, or a number.

    Raises:
        TypeError: not an array or a number.
        NotImplementedError: complex numbers.

    >>> [v.round(4) for v in irax.scipy.special.fresnel(1.0)]
    [Array(0.4383, dtype=float32), Array(0.7799, dtype=float32)]
    """
    (y,) = floats("fresnel", x, error=NotImplementedError)
    y = y.astype(y.dtype)
    if y.dtype.itemsize > 2:  # from there on both are 1/2, and the square overflows at last
        y = jnp.clip(y, -1e18, 1e18)
    ops = (integrals.FresnelSine(), integrals.FresnelCosine())
    return apply(ops[0], y, what="fresnel"), apply(ops[1], y, what="fresnel")


def spence(x: ArrayLike) -> Array:
    """Spence's function, the integral of log(t) / (1 - t) from 1 to x: the dilogarithm of 1 - x.

    It is nan where x is negative.

    Args:
        x: an array of real numbers, or a number.

    Raises:
        TypeError: not an array or a number, or complex numbers.

    >>> irax.scipy.special.spence(0.0).round(4)
    Array(1.6449, dtype=float32)
    """
    (x,) = floats("spence", from_lists(x))
    return apply(integrals.Spence(), x.astype(x.dtype), what="spence")
