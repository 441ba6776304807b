"""Functions that are made of other elementwise ones: logarithms to base 2, and polynomials."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from irax.core.array import Array, as_array
from irax.core.dtypes.operands import as_arrays, broadcast_shapes, check_dtype
from irax.core.dtypes.promotion import broadcast_to, convert
from irax.lax.accuracy import AccuracyMode, Tolerance
from irax.lax.arguments import canonical_int
from irax.lax.complex_numbers import complex, imag, real
from irax.lax.control import select
from irax.lax.control_flow.scans import scan
from irax.lax.elementwise import INEXACT, NUMBER, abs, add, div, lt, mul, sub
from irax.lax.elementwise import log as natural
from irax.lax.joining import concatenate
from irax.lax.structure import full_like, reshape
from irax.typing import ArrayLike

UNROLLED = 8
"""Polynomials of more coefficients are computed by a loop, unless they say otherwise."""


def log2(x: ArrayLike, *, accuracy: Tolerance | AccuracyMode | None = None) -> Array:
    """The logarithm to base 2.

    Args:
        x: an array of floats or complex numbers, or a number.
        accuracy: of no effect: results always have the highest accuracy.

    Returns:
        An array of the same shape.

    Raises:
        TypeError: `x` has another dtype.

    >>> irax.lax.log2(jnp.array([1.0, 8.0]))
    Array([0., 3.], dtype=float32)
    """
    (x,) = as_arrays([x], "lax.log2")
    check_dtype("lax.log2", x.dtype, INEXACT)
    found = natural(x)
    if _is_complex(x):
        return complex(_in_bits(real(found)), _in_bits(imag(found)))
    return _in_bits(found)


def _in_bits(x: Array) -> Array:
    return div(x, full_like(x, math.log(2)))


def one_minus_square(x: ArrayLike) -> Array:
    """1 - x**2, which keeps its digits where x is near 1 or -1.

    Args:
        x: an array of numbers, or a number.

    Returns:
        An array of the same shape.

    Raises:
        TypeError: `x` has another dtype.

    >>> irax.lax.one_minus_square(jnp.array([0.5, 3.0]))
    Array([ 0.75, -8.  ], dtype=float32)
    """
    (x,) = as_arrays([x], "lax.one_minus_square")
    check_dtype("lax.one_minus_square", x.dtype, NUMBER)
    one = full_like(x, 1)
    plain = sub(one, mul(x, x))
    if not np.issubdtype(x.dtype, np.inexact):
        return plain
    size = abs(x)
    # the derivative of the product loses the digits of a small x, and the difference those of 1
    return select(lt(size, full_like(size, 0.5)), plain, mul(add(one, x), sub(one, x)))


def polynomial(
    x: ArrayLike, coeffs: Sequence[ArrayLike] | Array, *, unroll: int | None = None
) -> Array:
    """The polynomial of given coefficients at x, by Horner's rule.

    Args:
        x: an array of numbers, or a number.
        coeffs: the coefficients, that of the lowest power first: numbers, or arrays of as many
            dimensions as `x`, which are broadcast with it. They are converted to its dtype.
        unroll: the largest number of coefficients that are computed without a loop; 8 by default.

    Returns:
        An array of the dtype of `x`; zeros for no coefficients.

    Raises:
        TypeError: other dtypes, complex coefficients for real `x`, or arrays of another number of
            dimensions.
        ValueError: shapes that do not broadcast.

    >>> irax.lax.polynomial(3.0, [1.0, 5.0, 2.0])
    Array(34., dtype=float32, weak_type=True)
    """
    what = "lax.polynomial"
    x, *given = as_arrays([x, *coeffs], what)
    limit = UNROLLED if unroll is None else canonical_int(what, "unroll", unroll)
    check_dtype(what, x.dtype, NUMBER)
    for each in given:
        check_dtype(what, each.dtype, NUMBER)
        if each.ndim not in (0, x.ndim):
            raise TypeError(
                f"{what}: coefficients are numbers or have as many dimensions as x, got shapes "
                f"{each.shape} and {x.shape}"
            )
        if _is_complex(each) and not _is_complex(x):
            raise TypeError(f"{what}: x must be complex, as the coefficients are, got {x.dtype}")
    weak = x.weak_type
    shape = broadcast_shapes(x.shape, *(each.shape for each in given), what=what)
    at = broadcast_to(x, shape)
    terms = [broadcast_to(convert(each, x.dtype), shape) for each in given]
    result = broadcast_to(convert(as_array(0), x.dtype), shape)
    if len(terms) > limit:
        stacked = concatenate([reshape(each, (1, *shape)) for each in terms], 0)
        result, _ = scan(
            lambda sum, term: (add(mul(sum, at), term), None), result, stacked, reverse=True
        )
    elif terms:
        result = terms[-1]
        for term in reversed(terms[:-1]):
            result = add(mul(result, at), term)
    return convert(result, x.dtype, weak)


def _is_complex(x: Array) -> bool:
    return np.issubdtype(x.dtype, np.complexfloating)
