"""Elementwise comparisons, choices, and logical and bitwise functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from irax import dtypes, lax
from irax.core.array import Array
from irax.core.dtypes.operands import as_arrays, judge_ranks
from irax.core.dtypes.promotion import apply, convert, promote_dtypes
from irax.core.dtypes.promotion import select as choose
from irax.lax.arguments import documented
from irax.numpy.elementwise.beyond import compared
from irax.numpy.signatures import Unary
from irax.numpy.tables import (
    BITS,
    OF_TWO,
    binary,
    elementwise,
    floats,
    integers_of_bools,
    is_inexact,
    is_unsigned,
    no_out,
    real_floats,
    unary,
)
from irax.numpy.ufunc_objects import universal
from irax.typing import ArrayLike
from irax_compiler.ops import bitwise, comparison
from irax_compiler.ops import elementwise as ew
from irax_compiler.ops.core import Op

if TYPE_CHECKING:
    from irax.numpy.ufunc_objects import BinaryUfunc

# ---- comparisons ---------------------------------------------------------------------------------

equal: BinaryUfunc = binary("equal", comparison.equal, "True where x1 == x2.", beyond=compared)
not_equal: BinaryUfunc = binary(
    "not_equal", comparison.not_equal, "True where x1 != x2.", beyond=compared
)


def _order(name: str, symbol: str, op: Op, strict: Op) -> BinaryUfunc:
    def function(x1: ArrayLike, x2: ArrayLike, /) -> Array:
        known = compared(name, x1, x2)
        if known is not None:
            return known
        if not (_is_complex(x1) or _is_complex(x2)):
            return apply(op, x1, x2, what=name)
        x, y = promote_dtypes(x1, x2, what=name)
        a, b = lax.real(x), lax.real(y)
        ahead = apply(strict, a, b, what=name)
        tied = apply(comparison.equal, a, b, what=name)
        last = apply(op, lax.imag(x), lax.imag(y), what=name)
        return apply(bitwise.or_, ahead, apply(bitwise.and_, tied, last, what=name), what=name)

    doc = f"True where x1 {symbol} x2. Complex numbers are ordered by their real parts first."
    return universal(2)(documented(function, name, doc + OF_TWO.format("x1", "x2"), "irax.numpy"))


def _is_complex(x: Any) -> bool:
    return x.dtype.kind == "c" if hasattr(x, "dtype") else isinstance(x, complex)


less: BinaryUfunc = _order("less", "<", comparison.less, comparison.less)
less_equal: BinaryUfunc = _order("less_equal", "<=", comparison.less_equal, comparison.less)
greater: BinaryUfunc = _order("greater", ">", comparison.greater, comparison.greater)
greater_equal: BinaryUfunc = _order(
    "greater_equal", ">=", comparison.greater_equal, comparison.greater
)


@elementwise
def isnan(x: ArrayLike, /) -> Array:
    """Return True where x is nan; no integer is.

    >>> jnp.isnan(jnp.array([1.0, jnp.nan]))
    Array([False,  True], dtype=bool)
    """
    (x,) = as_arrays([x], "isnan")
    return not_equal(x, x)


@elementwise
def isinf(x: ArrayLike, /) -> Array:
    """Return True where x, or its real or imaginary part, is infinity or -infinity.

    >>> jnp.isinf(jnp.array([1.0, -jnp.inf]))
    Array([False,  True], dtype=bool)
    """
    array = floats("isinf", x)
    if np.issubdtype(array.dtype, np.complexfloating):
        return logical_or(isinf(lax.real(array)), isinf(lax.imag(array)))
    return _is_infinity(abs(array), np.inf)


def _is_infinity(x: Array, infinity: float) -> Array:
    """Return True where x is an infinity; a dtype may have its largest number in that place."""
    if np.array(infinity).astype(x.dtype).astype(float) != infinity:
        return lax.full_like(x, False, np.bool)
    return equal(x, infinity)


@elementwise
def isfinite(x: ArrayLike, /) -> Array:
    """Return True where x, or both its parts, are neither nan nor infinite.

    >>> jnp.isfinite(jnp.array([1.0, jnp.inf, jnp.nan]))
    Array([ True, False, False], dtype=bool)
    """
    array = floats("isfinite", x)
    if np.issubdtype(array.dtype, np.complexfloating):
        return logical_and(isfinite(lax.real(array)), isfinite(lax.imag(array)))
    return apply(ew.is_finite, array, what="isfinite")


def isposinf(x: ArrayLike, /, out: None = None) -> Array:
    """Return True where x is infinity. Raises ValueError for complex numbers.

    Args:
        x: an array of real numbers, or a number.
        out: not supported, since arrays are immutable.

    Returns:
        Booleans, in the same shape.

    Raises:
        TypeError: not an array or a number.
        ValueError: complex numbers.
        NotImplementedError: `out` is given.

    >>> jnp.isposinf(jnp.array([jnp.inf, -jnp.inf]))
    Array([ True, False], dtype=bool)
    """
    no_out("isposinf", out)
    return _is_infinity(real_floats("isposinf", x), np.inf)


def isneginf(x: ArrayLike, /, out: None = None) -> Array:
    """Return True where x is -infinity. Raises ValueError for complex numbers.

    Args:
        x: an array of real numbers, or a number.
        out: not supported, since arrays are immutable.

    Returns:
        Booleans, in the same shape.

    Raises:
        TypeError: not an array or a number.
        ValueError: complex numbers.
        NotImplementedError: `out` is given.

    >>> jnp.isneginf(jnp.array([jnp.inf, -jnp.inf]))
    Array([False,  True], dtype=bool)
    """
    no_out("isneginf", out)
    return _is_infinity(real_floats("isneginf", x), -np.inf)


def signbit(x: ArrayLike, /) -> Array:
    """Return True where x is below 0, or -0.0. Raises ValueError for complex numbers.

    Args:
        x: an array of real numbers, or a number.

    Returns:
        Booleans, in the same shape.

    Raises:
        TypeError: not an array or a number.
        ValueError: complex numbers.

    >>> jnp.signbit(jnp.array([-0.0, 1.0]))
    Array([ True, False], dtype=bool)
    """
    (x,) = as_arrays([x], "signbit")
    if np.issubdtype(x.dtype, np.complexfloating):
        raise ValueError(f"signbit: complex numbers have no sign; expected real ones, got {x.aval}")
    if is_inexact(x):
        if not begins_with_sign(x.dtype):
            x = convert(x, np.dtype(np.float32))
        x = lax.bitcast_convert_type(x, f"int{8 * x.dtype.itemsize}")
    return less(x, 0)


def begins_with_sign(dtype: np.dtype[Any]) -> bool:
    """Return True if the first bit of a float's bytes is its sign: floats of 4 bits do not fill a
    byte, and those that are powers of two have no sign.
    """
    info = dtypes.finfo(dtype)
    return bool(info.bits == 8 * dtype.itemsize and info.min < 0)


# ---- logic and bits ------------------------------------------------------------------------------


def _truth(x: ArrayLike, name: str) -> Array:
    (x,) = as_arrays([x], name)
    return x if x.dtype == np.bool else not_equal(x, 0)


def _truths(x1: ArrayLike, x2: ArrayLike, name: str) -> list[Array]:
    """Return both operands as booleans: True where they are not 0. They must promote together."""
    found = [_truth(x, name) for x in (x1, x2)]
    dtypes.judge_dtypes(x1, x2)
    judge_ranks([x1, x2], name)
    return found


@universal(2, True)
@elementwise
def logical_and(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return True where both are not 0.

    >>> jnp.logical_and(jnp.array([0, 1]), True)
    Array([False,  True], dtype=bool)
    """
    x, y = _truths(x1, x2, "logical_and")
    return apply(bitwise.and_, x, y, what="logical_and")


@universal(2, False)
@elementwise
def logical_or(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return True where at least one is not 0.

    >>> jnp.logical_or(jnp.array([0, 1]), False)
    Array([False,  True], dtype=bool)
    """
    x, y = _truths(x1, x2, "logical_or")
    return apply(bitwise.or_, x, y, what="logical_or")


@universal(2, False)
@elementwise
def logical_xor(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return True where exactly one is not 0.

    >>> jnp.logical_xor(jnp.array([0, 1]), True)
    Array([ True, False], dtype=bool)
    """
    return not_equal(*_truths(x1, x2, "logical_xor"))


@elementwise
def logical_not(x: ArrayLike, /) -> Array:
    """Return True where x is 0.

    >>> jnp.logical_not(jnp.array([0, 1]))
    Array([ True, False], dtype=bool)
    """
    return equal(x, 0)


bitwise_and: BinaryUfunc = binary(
    "bitwise_and", bitwise.and_, "The bits set in both.", BITS, identity=-1
)
bitwise_or: BinaryUfunc = binary(
    "bitwise_or", bitwise.or_, "The bits set in either.", BITS, identity=0
)
bitwise_xor: BinaryUfunc = binary(
    "bitwise_xor", bitwise.xor, "The bits set in one but not the other.", BITS, identity=0
)
bitwise_not: Unary = unary("invert", bitwise.not_, "The bits not set.", BITS)
bitwise_invert: Unary = bitwise_not
invert: Unary = bitwise_not


@elementwise
def left_shift(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Shift the bits of x1 left by x2.

    >>> jnp.left_shift(1, jnp.arange(3))
    Array([1, 2, 4], dtype=int32)
    """
    operands = integers_of_bools(*promote_dtypes(x1, x2, what="left_shift"))
    return apply(bitwise.shift_left, *operands, what="left_shift", accepts=np.integer)


def right_shift(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Shift the bits of x1 right by x2; negative numbers stay negative.

    Args:
        x1: an array of integers, or an integer.
        x2: another one, to which the first broadcasts.

    Returns:
        Integers, of the dtype that both promote to.

    Raises:
        TypeError: not integers.

    >>> jnp.right_shift(8, jnp.arange(3))
    Array([8, 4, 2], dtype=int32)
    """
    operands = integers_of_bools(*promote_dtypes(x1, x2, what="right_shift"))
    unsigned = is_unsigned(operands[0])
    op = bitwise.shift_right_logical if unsigned else bitwise.shift_right_arithmetic
    return apply(op, *operands, what="right_shift", accepts=np.integer)


bitwise_left_shift = left_shift
bitwise_right_shift = right_shift


# ---- choosing ------------------------------------------------------------------------------------


def where(condition: ArrayLike, x: ArrayLike, y: ArrayLike) -> Array:
    """Return the elements of `x` where a condition holds, those of `y` elsewhere:
    `irax.numpy.where`, which takes a condition alone, too.
    """
    return choose(_truth(condition, "where"), x, y, "where")
