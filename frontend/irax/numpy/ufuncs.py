"""Elementwise functions, which promote and broadcast their operands.

A function that is one op is one line: its name, the op, what it computes, what it takes. The others
are written out of those.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from irax import dtypes, lax
from irax.core.array import Array
from irax.core.dispatch import bind, elements
from irax.core.operands import as_arrays, check_dtype, judge_ranks
from irax.core.promotion import apply, convert, elementwise_shortcut, promote
from irax.lax.arguments import canonical_int, documented
from irax.numpy.logic import (
    equal,
    greater,
    isnan,
    isneginf,
    isposinf,
    less,
    logical_or,
    signbit,
    where,
)
from irax.numpy.signatures import Unary
from irax.numpy.tables import (
    NUMBER,
    OF_ONE,
    binary,
    elementwise,
    float_unary,
    floats,
    floats_of_own_shapes,
    integers_of_bools,
    is_inexact,
    is_unsigned,
    no_out,
    unary,
)
from irax.numpy.ufunc_objects import universal
from irax.typing import ArrayLike
from irax_compiler.ops import bitwise
from irax_compiler.ops import elementwise as ew
from irax_compiler.ops.core import Op
from irax_compiler.ops.special import chlo_functions

if TYPE_CHECKING:
    from irax.numpy.ufunc_objects import BinaryUfunc, UnaryUfunc

# ---- arithmetic ----------------------------------------------------------------------------------

add: BinaryUfunc = binary("add", ew.add, "x1 + x2; for booleans, their logical or.", identity=0)
subtract: BinaryUfunc = binary("subtract", ew.subtract, "x1 - x2.", NUMBER)
multiply: BinaryUfunc = binary(
    "multiply", ew.multiply, "x1 x2; for booleans, their logical and.", identity=1
)
divide: BinaryUfunc = binary("divide", ew.divide, "x1 / x2, a float.", kind=np.inexact)
true_divide: BinaryUfunc = divide
maximum: BinaryUfunc = binary("maximum", ew.maximum, "The larger one; nan where either is nan.")
minimum: BinaryUfunc = binary("minimum", ew.minimum, "The smaller one; nan where either is nan.")
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
    low, high = a_min if min is None else min, a_max if max is None else max
    bounds = as_arrays([v for v in (low, high) if v is not None], "clip")
    if any(v.dtype.kind == "c" for v in (x, *bounds)):
        raise ValueError("clip: complex numbers have no order; clip their parts instead")
    dtypes.judge_dtypes(x, *bounds)
    judge_ranks([x, *bounds], "clip")
    if low is not None:
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
        copy: of no effect, since arrays are immutable.
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
        return result
    if result.dtype.kind == "c":
        parts = _by_parts(lambda part: nan_to_num(part, copy, nan, posinf, neginf), result)
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


# ---- exponentials and roots ----------------------------------------------------------------------

exp: Unary = float_unary("exp", ew.exponential, "e to the power x.")
expm1: Unary = float_unary("expm1", ew.exponential_minus_one, "exp(x) - 1, accurate near 0.")
log: Unary = float_unary("log", ew.log, "The natural logarithm; -inf at 0, nan below.")
log1p: Unary = float_unary("log1p", ew.log_plus_one, "log(1 + x), accurate near 0.")
sqrt: Unary = float_unary("sqrt", ew.sqrt, "The square root; nan for negative numbers.")
cbrt: Unary = float_unary("cbrt", ew.cbrt, "The cube root.", np.floating)


@elementwise
def exp2(x: ArrayLike, /) -> Array:
    """Return 2 to the power x.

    >>> jnp.exp2(jnp.array([0.0, 3.0]))
    Array([1., 8.], dtype=float32)
    """
    return lax.exp2(floats("exp2", x))


@elementwise
def log2(x: ArrayLike, /) -> Array:
    """Return the logarithm to base 2.

    >>> jnp.log2(jnp.array([1.0, 8.0]))
    Array([0., 3.], dtype=float32)
    """
    return _in_units(log(x), math.log(2))


@elementwise
def log10(x: ArrayLike, /) -> Array:
    """Return the logarithm to base 10.

    >>> jnp.log10(jnp.array([1.0, 100.0]))
    Array([0., 2.], dtype=float32)
    """
    return _in_units(log(x), math.log(10))


def _in_units(x: Array, unit: float) -> Array:
    if x.dtype.kind == "c":
        return _by_parts(lambda part: divide(part, unit), x)
    return divide(x, np.asarray(unit).astype(x.dtype))


@universal(2, -np.inf)
@elementwise
def logaddexp(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return log(exp(x1) + exp(x2)), without overflow; its derivatives are the shares of the two.

    >>> irax.numpy.logaddexp(1000.0, 1000.0)
    Array(1000.6932, dtype=float32, weak_type=True)
    """
    x, y = floats("logaddexp", x1, x2)
    if x.dtype.kind == "c":
        return _logaddexp_complex(x, y)
    return elementwise_shortcut("logaddexp", x, y, formula=_logaddexp_real)


def _logaddexp_real(x: Array, y: Array) -> Array:
    gap = where(equal(x, y), 0, subtract(x, y))  # also where both are the same infinity
    return add(maximum(x, y), log1p(exp(negative(abs(gap)))))


def _logaddexp_complex(x: Array, y: Array) -> Array:
    """Compute it from the operand with the larger real part; the imaginary part is in [-pi, pi]."""
    ahead = greater(real(x), real(y))
    large, small = where(ahead, x, y), where(ahead, y, x)
    gap = where(equal(large, small), 0, subtract(small, large))
    total = add(large, log1p(exp(gap)))
    turns = floor(divide(add(imag(total), np.pi), 2 * np.pi))
    angle = subtract(imag(total), multiply(turns, 2 * np.pi))
    return bind(ew.complex_, real(total), angle, weak_type=total.weak_type)


@universal(2, -np.inf)
@elementwise
def logaddexp2(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return log2(2**x1 + 2**x2), without overflow.

    >>> jnp.logaddexp2(10.0, 10.0)
    Array(11., dtype=float32, weak_type=True)
    """
    x, y = floats("logaddexp2", x1, x2)
    return elementwise_shortcut("logaddexp2", x, y, formula=_logaddexp2)


def _logaddexp2(x: Array, y: Array) -> Array:
    scale = float(np.log(2))
    return divide(logaddexp(multiply(x, scale), multiply(y, scale)), scale)


@elementwise
def hypot(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return sqrt(x1**2 + x2**2), without overflow; its derivative at (0, 0) is that of the larger
    one.

    >>> irax.numpy.hypot(3.0, 4.0)
    Array(5., dtype=float32, weak_type=True)
    """
    x, y = floats("hypot", x1, x2)
    if x.dtype.kind == "c":
        raise ValueError("hypot: expected real numbers, got complex ones; take abs of them first")
    return elementwise_shortcut("hypot", x, y, formula=_hypot)


def _hypot(x: Array, y: Array) -> Array:
    x, y = abs(x), abs(y)
    infinite = logical_or(equal(x, np.inf), equal(y, np.inf))  # even if the other one is nan
    longer = where(infinite, np.inf, maximum(x, y))
    extreme = logical_or(equal(longer, 0), infinite)
    ratio = divide(minimum(x, y), where(extreme, 1, longer))
    length = multiply(longer, sqrt(add(square(ratio), 1)))
    return where(extreme, longer, length)


# ---- trigonometry --------------------------------------------------------------------------------

sin: Unary = float_unary("sin", ew.sine, "The sine of an angle in radians.")
cos: Unary = float_unary("cos", ew.cosine, "The cosine of an angle in radians.")
tan: Unary = float_unary("tan", ew.tan, "The tangent of an angle in radians.")
sinh: Unary = float_unary("sinh", chlo_functions.sinh, "The hyperbolic sine.")
cosh: Unary = float_unary("cosh", chlo_functions.cosh, "The hyperbolic cosine.")
tanh: Unary = float_unary("tanh", ew.tanh, "The hyperbolic tangent.")
arcsin: Unary = float_unary(
    "arcsin", chlo_functions.asin, "The angle whose sine is x; nan beyond +-1."
)
asin: Unary = arcsin
arccos: Unary = float_unary(
    "arccos", chlo_functions.acos, "The angle whose cosine is x; nan beyond +-1."
)
acos: Unary = arccos
arctan: Unary = float_unary("arctan", chlo_functions.atan, "The angle whose tangent is x.")
atan: Unary = arctan
arcsinh: Unary = float_unary(
    "arcsinh", chlo_functions.asinh, "The number whose hyperbolic sine is x."
)
asinh: Unary = arcsinh
arccosh: Unary = float_unary(
    "arccosh", chlo_functions.acosh, "The number whose hyperbolic cosine is x."
)
acosh: Unary = arccosh
arctanh: Unary = float_unary(
    "arctanh", chlo_functions.atanh, "The number whose hyperbolic tangent is x."
)
atanh: Unary = arctanh
arctan2: BinaryUfunc = binary(
    "arctan2", ew.atan2, "The angle, in radians, of the point (x2, x1).", kind=np.inexact
)
atan2: BinaryUfunc = arctan2


@elementwise
def deg2rad(x: ArrayLike, /) -> Array:
    """Convert degrees to radians.

    >>> jnp.deg2rad(180.0).round(3)
    Array(3.142, dtype=float32, weak_type=True)
    """
    return multiply(floats("deg2rad", x), float(np.pi / 180))


@elementwise
def rad2deg(x: ArrayLike, /) -> Array:
    """Convert radians to degrees.

    >>> jnp.rad2deg(jnp.pi)
    Array(180., dtype=float32, weak_type=True)
    """
    return multiply(floats("rad2deg", x), float(180 / np.pi))


radians = deg2rad
degrees = rad2deg


@elementwise
def sinc(x: ArrayLike, /) -> Array:
    """Return sin(pi x) / (pi x), 1 at 0.

    >>> jnp.sinc(jnp.array([0.0, 0.5])).round(3)
    Array([1.   , 0.637], dtype=float32)
    """
    angle = multiply(floats("sinc", x), float(np.pi))
    near = less(abs(angle), 0.03)
    safe = where(near, 1, angle)
    squared = square(angle)
    series = add(multiply(squared, subtract(divide(squared, 120), 1 / 6)), 1)
    return where(near, series, divide(sin(safe), safe))


# ---- rounding ------------------------------------------------------------------------------------


def _rounding(name: str, op: Op, doc: str) -> Unary:
    def function(x: ArrayLike, /) -> Array:
        x = _real(name, x)
        return apply(op, x, what=name) if is_inexact(x) else x

    return documented(function, name, doc + OF_ONE.format("x"), "irax.numpy")


def _real(name: str, x: ArrayLike) -> Array:
    """Return x as an array. Raises TypeError for complex numbers."""
    (array,) = as_arrays([x], name)
    if array.dtype.kind == "c":
        raise TypeError(
            f"{name}: expected real numbers, got {array.dtype}; round the real and imag of x apart"
        )
    return array


floor: Unary = _rounding("floor", ew.floor, "The largest integer that is at most x, in x's dtype.")
ceil: Unary = _rounding("ceil", ew.ceil, "The smallest integer that is at least x, in x's dtype.")


@elementwise
def rint(x: ArrayLike, /) -> Array:
    """Round to the nearest integer, of two the even one, as a float; complex numbers by parts.

    >>> jnp.rint(jnp.array([0.5, 1.5, 1.7]))
    Array([0., 2., 2.], dtype=float32)
    """
    (number,) = as_arrays([x], "rint")
    if not is_inexact(number):
        return convert(number, dtypes.default_float())
    if number.dtype.kind == "c":
        return _by_parts(rint, number)
    return apply(ew.round_nearest_even, number, what="rint")


@elementwise
def trunc(x: ArrayLike) -> Array:
    """Truncate x to its integral part, in x's dtype.

    >>> jnp.trunc(jnp.array([-1.5, 1.5]))
    Array([-1.,  1.], dtype=float32)
    """
    x = _real("trunc", x)
    return where(less(x, 0), ceil(x), floor(x)) if is_inexact(x) else x


fix = trunc


def round(a: ArrayLike, decimals: int = 0, out: None = None) -> Array:
    """Round to a number of decimals, of two nearest numbers to the even one; integers stay as they
    are.

    Args:
        a: an array, or a number.
        decimals: the number of decimals; of the places before the point, if negative.
        out: not supported.

    Raises:
        NotImplementedError: negative decimals of integers.

    >>> irax.numpy.round(irax.numpy.array([0.5, 1.5, 2.26]), 1)
    Array([0.5, 1.5, 2.3], dtype=float32)
    """
    no_out("round", out)
    decimals = canonical_int("round", "decimals", decimals)
    (x,) = as_arrays([a], "round")
    if not is_inexact(x):
        if decimals < 0:
            raise NotImplementedError("round: negative decimals of integers are not supported")
        return x
    if x.dtype.kind == "c":
        return _by_parts(lambda part: round(part, decimals), x)
    if not decimals:
        return apply(ew.round_nearest_even, x, what="round")
    factor = 10.0**decimals
    return divide(apply(ew.round_nearest_even, multiply(x, factor), what="round"), factor)


around = round


# ---- complex numbers -----------------------------------------------------------------------------


@elementwise
def real(x: ArrayLike, /) -> Array:
    """Return the real part.

    >>> jnp.real(jnp.array([1 + 2j, 3]))
    Array([1., 3.], dtype=float32)
    """
    (x,) = as_arrays([x], "real")
    return bind(ew.real, x, weak_type=x.weak_type) if x.dtype.kind == "c" else x


@elementwise
def imag(x: ArrayLike, /) -> Array:
    """Return the imaginary part.

    >>> jnp.imag(jnp.array([1 + 2j, 3]))
    Array([2., 0.], dtype=float32)
    """
    (x,) = as_arrays([x], "imag")
    if x.dtype.kind != "c":
        return lax.full_like(x, 0)
    return bind(ew.imag, x, weak_type=x.weak_type)


def _by_parts(function: Unary, x: Array) -> Array:
    """Apply a function of real numbers to both parts of complex ones."""
    parts = function(bind(ew.real, x)), function(bind(ew.imag, x))
    return bind(ew.complex_, *parts, weak_type=x.weak_type)


@elementwise
def conjugate(x: ArrayLike, /) -> Array:
    """Return the complex conjugate.

    >>> irax.numpy.conjugate(1 + 2j)
    Array(1.-2.j, dtype=complex64, weak_type=True)
    """
    (x,) = as_arrays([x], "conjugate")
    if x.dtype.kind != "c":
        return x
    parts = bind(ew.real, x), bind(ew.negate, bind(ew.imag, x))
    return bind(ew.complex_, *parts, weak_type=x.weak_type)


conj = conjugate


def iscomplexobj(x: Any) -> bool:
    """Return True if the dtype is complex. A list is taken as an array of its elements.

    Args:
        x: an array, a number, or nested lists of numbers.

    Raises:
        TypeError: elements of another kind, such as texts.

    >>> jnp.iscomplexobj(jnp.array([3 + 0j]))
    True
    """
    if x is None:
        return False
    if not hasattr(x, "dtype"):
        (x,) = as_arrays([np.asarray(x)], "iscomplexobj")
    return dtypes.issubdtype(x.dtype, np.complexfloating)


def isrealobj(x: Any) -> bool:
    """Return True if the dtype is not complex.

    Args:
        x: an array, a number, or nested lists of numbers.

    Raises:
        TypeError: elements of another kind, such as texts.

    >>> jnp.isrealobj(jnp.arange(3))
    True
    """
    return not iscomplexobj(x)
