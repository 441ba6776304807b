"""Arithmetic of elements: functions that promote and broadcast their operands.

A function that is one op is one line: its name, the op, what it computes, what it takes. The others
are written out of those.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from irax import dtypes, lax
from irax.core import source
from irax.core.array import Array
from irax.core.dispatch import elements
from irax.core.dtypes.operands import as_arrays, check_dtype, judge_ranks
from irax.core.dtypes.promotion import apply, convert, promote
from irax.core.shardings.sharded import apart_from
from irax.numpy.elementwise.beyond import bounded
from irax.numpy.elementwise.complex_parts import by_parts
from irax.numpy.elementwise.logic import (
    equal,
    greater,
    isnan,
    isneginf,
    isposinf,
    signbit,
    where,
)
from irax.numpy.signatures import Unary
from irax.numpy.tables import (
    NUMBER,
    binary,
    elementwise,
    floats,
    floats_of_own_shapes,
    integers_of_bools,
    is_inexact,
    is_unsigned,
    unary,
)
from irax.numpy.ufunc_objects import universal
from irax.typing import ArrayLike
from irax_compiler.ops import bitwise
from irax_compiler.ops import elementwise as ew

if TYPE_CHECKING:
    from irax.numpy.ufunc_objects import BinaryUfunc, UnaryUfunc

add: BinaryUfunc = binary("add", ew.add, "x1 + x2; for booleans, their logical or.", identity=0)
subtract: BinaryUfunc = binary("subtract", ew.subtract, "x1 - x2.", NUMBER)
multiply: BinaryUfunc = binary(
    "multiply", ew.multiply, "x1 x2; for booleans, their logical and.", identity=1
)
divide: BinaryUfunc = binary("divide", ew.divide, "x1 / x2, a float.", kind=np.inexact)
true_divide: BinaryUfunc = divide
maximum: BinaryUfunc = binary(
    "maximum", ew.maximum, "The larger one; nan where either is nan.", beyond=bounded
)
minimum: BinaryUfunc = binary(
    "minimum", ew.minimum, "The smaller one; nan where either is nan.", beyond=bounded
)
negative: UnaryUfunc = universal(1)(unary("negative", ew.negate, "-x.", NUMBER))
_abs: Unary = unary("abs", ew.abs, "The absolute value.")
_sign: Unary = unary("sign", ew.sign, "-1, 0 or 1; nan for nan.", NUMBER)


@elementwise
def positive(x: ArrayLike, /) -> Array:
    """Return x itself.

    >>> jnp.positive(jnp.array([1, -2]))
    Array([ 1, -2], dtype=int32)
    """
    return as_arrays([x], "positive")[0]


@elementwise
def abs(x: ArrayLike, /) -> Array:
    """Return the absolute value; unsigned integers and booleans stay as they are.

    >>> jnp.abs(jnp.array([-2, 0, 3]))
    Array([2, 0, 3], dtype=int32)
    """
    (x,) = as_arrays([x], "abs")
    return x if is_unsigned(x) else _abs(x).with_weak_type(x.weak_type)


absolute = abs


def fabs(x: ArrayLike, /) -> Array:
    """Return the absolute value, as a float. Raises TypeError for complex numbers.

    Args:
        x: an array of real numbers, or a number.

    Returns:
        Floats, in the same shape.

    Raises:
        TypeError: not an array or a number, or complex numbers.

    >>> jnp.fabs(-2)
    Array(2., dtype=float32, weak_type=True)
    """
    number = floats("fabs", x)
    check_dtype("fabs", number.dtype, np.floating)
    return abs(number)


@elementwise
def sign(x: ArrayLike, /) -> Array:
    """Return -1, 0 or 1 by the sign of x; nan for nan.

    >>> jnp.sign(jnp.array([-2.0, 0.0, 3.0]))
    Array([-1.,  0.,  1.], dtype=float32)
    """
    (x,) = as_arrays([x], "sign")
    return lax.sign(x) if dtypes.issubdtype(x.dtype, np.unsignedinteger) else _sign(x)


@elementwise
def reciprocal(x: ArrayLike, /) -> Array:
    """Return 1 / x, a float.

    >>> jnp.reciprocal(jnp.array([2.0, 4.0]))
    Array([0.5 , 0.25], dtype=float32)
    """
    return lax.reciprocal(floats("reciprocal", x))


@elementwise
def square(x: ArrayLike, /) -> Array:
    """Return x x.

    >>> jnp.square(jnp.array([2, -3]))
    Array([4, 9], dtype=int32)
    """
    (x,) = integers_of_bools(*as_arrays([x], "square"))
    return apply(ew.multiply, x, x, what="square")


def power(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return x1 to the power x2. An integer x2 that is known gives multiplications, exact and
    differentiable at 0, in the dtype of x1.

    Args:
        x1: an array of numbers, or a number.
        x2: another one, to which the first broadcasts.

    Raises:
        TypeError: an integer to the power of a negative one that is known.

    >>> irax.numpy.power(irax.numpy.arange(4), 2)
    Array([0, 1, 4, 9], dtype=int32)
    """
    known = _known_integer(x2)
    if known is not None:
        (x,) = integers_of_bools(*as_arrays([x1], "power"))
        return lax.integer_pow(x, known)
    return apply(ew.power, *integers_of_bools(*promote(x1, x2, what="power")), what="power")


pow = power


def _known_integer(x: Any) -> int | None:
    """Return a scalar as an int, if it is an integer, no boolean, and known."""
    if isinstance(x, Array | np.ndarray):
        if x.ndim or not dtypes.issubdtype(x.dtype, np.integer):
            return None
        x = elements(x) if isinstance(x, Array) else x
    if x is None or isinstance(x, bool):
        return None
    try:
        return operator.index(x)
    except TypeError:
        return None


@elementwise
def float_power(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return x1 to the power x2, a float.

    >>> jnp.float_power(2, -1)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return apply(ew.power, x1, x2, what="float_power", dtype_kind=np.inexact)


@elementwise
def fmax(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Return the larger one; of nan and a number, the number.

    >>> jnp.fmax(jnp.array([1.0, jnp.nan]), 0.5)
    Array([1. , 0.5], dtype=float32)
    """
    x, y = promote(x1, x2, what="fmax")
    return where(isnan(x), y, where(isnan(y), x, maximum(x, y)))


@elementwise
def fmin(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Return the smaller one; of nan and a number, the number.

    >>> jnp.fmin(jnp.array([1.0, jnp.nan]), 0.5)
    Array([0.5, 0.5], dtype=float32)
    """
    x, y = promote(x1, x2, what="fmin")
    return where(isnan(x), y, where(isnan(y), x, minimum(x, y)))


def clip(
    arr: ArrayLike | None = None,
    /,
    min: ArrayLike | None = None,
    max: ArrayLike | None = None,
    *,
    a_min: ArrayLike | None = None,
    a_max: ArrayLike | None = None,
) -> Array:
    """Clip the elements to two bounds; `a_min` and `a_max` are NumPy's older names.

    Args:
        arr: an array, or a number.
        min: the lower bound, if there is one; it broadcasts with `arr`.
        max: the upper bound, if there is one.
        a_min: NumPy's older name of `min`.
        a_max: NumPy's older name of `max`.

    Raises:
        ValueError: complex numbers, which have no order; nothing to clip.

    >>> irax.numpy.clip(irax.numpy.arange(4), 1, 2)
    Array([1, 1, 2, 2], dtype=int32)
    """
    if arr is None:
        raise ValueError("clip: expected an array, got None")
    (x,) = as_arrays([arr], "clip")
    if a_min is not None or a_max is not None:
        source.warn("clip: a_min= and a_max= are now min= and max=", DeprecationWarning)
    low, high = a_min if min is None else min, a_max if max is None else max
    bounds = as_arrays([v for v in (low, high) if v is not None], "clip")
    if any(v.dtype.kind == "c" for v in (x, *bounds)):
        raise ValueError("clip: complex numbers have no order; clip their parts instead")
    dtypes.judge_dtypes(x, *bounds)
    judge_ranks([x, *bounds], "clip")
    if type(arr) is int and low is not None:
        x = maximum(arr, low)
    elif low is not None:
        x = maximum(x, low)
    return x if high is None else minimum(x, high)


@elementwise
def copysign(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return x1 with the sign of x2, a float.

    >>> jnp.copysign(3.0, jnp.array([-0.0, 1.0]))
    Array([-3.,  3.], dtype=float32)
    """
    x, y = floats("copysign", x1, x2)
    return where(equal(signbit(x), signbit(y)), x, negative(x))


@elementwise
def heaviside(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return the Heaviside step function of x1: 0 below 0, 1 above, x2 at 0.

    >>> jnp.heaviside(jnp.array([-1.0, 0.0, 1.0]), 0.5)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    x, at_zero = floats_of_own_shapes("heaviside", x1, x2)
    check_dtype("heaviside", x.dtype, np.floating)
    step = where(isnan(x), x, convert(greater(x, 0), x.dtype, x.weak_type))
    return where(equal(x, 0), at_zero, step)


def nan_to_num(
    x: ArrayLike,
    copy: bool = True,
    nan: ArrayLike = 0.0,
    posinf: ArrayLike | None = None,
    neginf: ArrayLike | None = None,
) -> Array:
    """Replace nan and infinities by numbers: by default 0 and the largest of the dtype.

    Args:
        x: an array, or a number.
        copy: True for memory of its own: the result stays when `x` is donated.
        nan: the number for nan.
        posinf: the number for infinity; by default the largest of the dtype.
        neginf: the number for -infinity; by default the smallest of the dtype.

    Raises:
        TypeError: an argument is not an array or a number.
        ValueError: a replacement does not broadcast to `x`.

    >>> jnp.nan_to_num(jnp.array([1.0, jnp.nan]))
    Array([1., 0.], dtype=float32)
    """
    (result,) = as_arrays([x], "nan_to_num")
    if not is_inexact(result):
        return apart_from(x, result) if copy else result
    if result.dtype.kind == "c":
        parts = by_parts(lambda part: nan_to_num(part, copy, nan, posinf, neginf), result)
        return parts.with_weak_type(False)
    limits = dtypes.finfo(result.dtype)
    high = float(limits.max) if posinf is None else posinf
    low = float(limits.min) if neginf is None else neginf
    for condition, number in ((isnan(x), nan), (isposinf(x), high), (isneginf(x), low)):
        (number,) = as_arrays([number], "nan_to_num")
        result = where(condition, convert(number, result.dtype), result)
    return result


@elementwise
def bitwise_count(x: ArrayLike, /) -> Array:
    """Count the bits that are set in the absolute value, as uint8.

    >>> jnp.bitwise_count(jnp.array([1, 7, -8]))
    Array([1, 3, 1], dtype=uint8)
    """
    (x,) = integers_of_bools(*as_arrays([x], "bitwise_count"))
    counts = apply(bitwise.popcnt, abs(x), what="bitwise_count", accepts=np.integer)
    return convert(counts, np.dtype(np.uint8))
