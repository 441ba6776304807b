"""Division with a remainder."""

from __future__ import annotations

import numpy as np

from irax import lax
from irax.core.array import Array, ConcreteArray
from irax.core.dtypes.operands import check_dtype, judge_ranks
from irax.core.dtypes.promotion import apply, elementwise_shortcut, promote, promote_dtypes
from irax.numpy.elementwise.logic import equal, greater, less, logical_and, not_equal, where
from irax.numpy.elementwise.rounding import floor
from irax.numpy.tables import REAL, elementwise, integers_of_bools, is_inexact, is_unsigned
from irax.numpy.ufuncs import add, divide, multiply, subtract
from irax.typing import ArrayLike
from irax_compiler.ops import elementwise as ew


@elementwise
def fmod(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return the remainder of x1 / x2 truncated: it has the sign of x1. Of a division of an integer
    by 0 it is 0.

    >>> jnp.fmod(jnp.array([-5, 5]), 3)
    Array([-2,  2], dtype=int32)
    """
    x, y = integers_of_bools(*promote_dtypes(x1, x2, what="fmod"))
    if is_inexact(x):
        return apply(ew.remainder, x, y, what="fmod", accepts=REAL)
    y, zero = _without_zeros(y)
    rest = apply(ew.remainder, x, y, what="fmod", accepts=REAL)
    return rest if zero is None else where(zero, 0, rest)


# Outside of traces NumPy divides, in one step. As its zeros, those of traced programs have the sign
# that the quotient would have, and that of y for a remainder.
def _without_zeros(y: Array) -> tuple[Array, Array | None]:
    """Return integers with 1 in place of 0, and a mask of the zeros, or None if there are none."""
    if isinstance(y, ConcreteArray) and bool(np.all(y.value != 0)):
        return y, None
    zero = equal(y, 0)
    return where(zero, 1, y), zero


@elementwise
def floor_divide(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return the largest integer that is at most x1 / x2, in the operands' dtype.

    An integer divided by 0 is 0.

    >>> irax.numpy.floor_divide(-7, 2)
    Array(-4, dtype=int32, weak_type=True)
    """
    x, y = integers_of_bools(*promote_dtypes(x1, x2, what="floor_divide"))
    judge_ranks([x1, x2], "floor_divide")
    check_dtype("floor_divide", x.dtype, REAL)
    formula = _quotient_of_floats if is_inexact(x) else _quotient_of_integers
    return elementwise_shortcut("floor_divide", x, y, formula=formula)


def _quotient_of_floats(x: Array, y: Array) -> Array:
    """Divide floats: the remainder is exact, and the quotient follows from it. It has no
    derivative, not where y is 0 either.
    """
    x, y = lax.stop_gradient((x, y))
    rest = fmod(x, y)
    quotient = divide(subtract(x, rest), y)
    quotient = where(_is_across(rest, y), subtract(quotient, 1), quotient)
    below = floor(quotient)
    whole = where(greater(subtract(quotient, below), 0.5), add(below, 1), below)
    ratio = divide(x, y)
    whole = where(equal(whole, 0), multiply(ratio, 0), whole)
    return where(equal(y, 0), ratio, whole)


def _quotient_of_integers(x: Array, y: Array) -> Array:
    y, zero = _without_zeros(y)
    x, y = promote(x, y, what="floor_divide")
    quotient = apply(ew.divide, x, y, what="floor_divide")
    if not is_unsigned(x):
        # The op truncates: one too much where the signs differ and there is a remainder.
        inexact = not_equal(multiply(quotient, y), x)
        rounded_up = logical_and(inexact, not_equal(less(x, 0), less(y, 0)))
        quotient = where(rounded_up, subtract(quotient, 1), quotient)
    return quotient if zero is None else where(zero, 0, quotient)


@elementwise
def remainder(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return x1 - floor_divide(x1, x2) x2, which has the sign of x2.

    The remainder of an integer divided by 0 is 0.

    >>> irax.numpy.remainder(-7, 3)
    Array(2, dtype=int32, weak_type=True)
    """
    x, y = integers_of_bools(*promote_dtypes(x1, x2, what="remainder"))
    judge_ranks([x1, x2], "remainder")
    check_dtype("remainder", x.dtype, REAL)
    return elementwise_shortcut("remainder", x, y, formula=_remainder)


def _remainder(x: Array, y: Array) -> Array:
    if not is_inexact(x):
        y, _ = _without_zeros(y)
    x, y = promote(x, y, what="remainder")
    rest = fmod(x, y)
    if is_unsigned(x):
        return rest
    moved = where(_is_across(rest, y), add(rest, y), rest)
    if not is_inexact(x):
        return moved
    zero = where(less(y, 0), -0.0, 0.0)
    with_slope = subtract(zero, subtract(lax.stop_gradient(rest), rest))
    return where(equal(rest, 0), with_slope, moved)


def _is_across(rest: Array, y: Array) -> Array:
    """Return True where a remainder and the divisor have opposite signs."""
    return logical_and(not_equal(rest, 0), not_equal(less(rest, 0), less(y, 0)))


mod = remainder


def divmod(x1: ArrayLike, x2: ArrayLike, /) -> tuple[Array, Array]:
    """Return floor_divide(x1, x2) and remainder(x1, x2).

    Args:
        x1: an array of real numbers, or a number.
        x2: another one, to which the first broadcasts.

    Returns:
        Two arrays, of the dtype that both promote to.

    Raises:
        TypeError: not arrays or numbers, or complex ones.

    >>> irax.numpy.divmod(7.5, 2)
    (Array(3., dtype=float32, weak_type=True), Array(1.5, dtype=float32, weak_type=True))
    """
    x, y = integers_of_bools(*promote(x1, x2, what="divmod"))
    check_dtype("divmod", x.dtype, REAL)
    return floor_divide(x, y), remainder(x, y)
