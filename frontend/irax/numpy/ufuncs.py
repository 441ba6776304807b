"""Elementwise functions: operands of any dtypes and shapes are promoted and broadcast.

A function that is one op is one line: its name, the op, what it computes, what it takes. The others
are written out of those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from irax import dtypes, lax
from irax.array import Array
from irax.elementwise import (
    Kinds,
    apply,
    as_arrays,
    check_dtype,
    convert,
    inexact_dtype,
    promote,
    select,
)
from irax.lax.arguments import documented
from irax.typing import ArrayLike
from irax_compiler.ops import bitwise, comparison, special
from irax_compiler.ops import elementwise as ew
from irax_compiler.ops.core import Op

NUMBER: Kinds = np.number
ORDERED: Kinds = (np.bool, np.integer, np.floating)
REAL: Kinds = (np.integer, np.floating)
BITS: Kinds = (np.bool, np.integer)

Unary = Callable[[ArrayLike], Array]
Binary = Callable[[ArrayLike, ArrayLike], Array]


def _unary(name: str, op: Op, doc: str, accepts: Kinds | None = None, kind: Any = None) -> Unary:
    def function(x: ArrayLike, /) -> Array:
        return apply(op, x, what=name, dtype_kind=kind, accepts=accepts)

    return documented(function, name, doc + _ONE, "irax.numpy")


def _binary(name: str, op: Op, doc: str, accepts: Kinds | None = None, kind: Any = None) -> Binary:
    def function(x1: ArrayLike, x2: ArrayLike, /) -> Array:
        return apply(op, x1, x2, what=name, dtype_kind=kind, accepts=accepts)

    return documented(function, name, doc + _TWO, "irax.numpy")


_ONE = """

    Elementwise, for an array or a number; TypeError for anything else.
"""
_TWO = """

    Elementwise, for arrays or numbers, promoted to one dtype and broadcast to one shape; TypeError
    for anything else, ValueError if the shapes do not fit.
"""


def _float(name: str, op: Op, doc: str) -> Unary:
    """A function of floats; integers and booleans become floats first."""
    return _unary(name, op, doc, kind=np.inexact)


# ---- arithmetic ----------------------------------------------------------------------------------

add = _binary("add", ew.add, "x1 + x2; for booleans, whether either holds.")
subtract = _binary("subtract", ew.subtract, "x1 - x2.", NUMBER)
multiply = _binary("multiply", ew.multiply, "x1 x2; for booleans, whether both hold.")
divide = true_divide = _binary("divide", ew.divide, "x1 / x2, a float.", kind=np.inexact)
maximum = _binary("maximum", ew.maximum, "The larger one; nan where either is nan.")
minimum = _binary("minimum", ew.minimum, "The smaller one; nan where either is nan.")
negative = _unary("negative", ew.negate, "-x.", NUMBER)
_abs = _unary("abs", ew.abs, "The absolute value.")
_sign = _unary("sign", ew.sign, "-1, 0 or 1; nan for nan.", NUMBER)


def positive(x: ArrayLike, /) -> Array:
    """+x: x itself."""
    return as_arrays([x], "positive")[0]


def abs(x: ArrayLike, /) -> Array:
    """The absolute value; what has no sign stays as it is."""
    (x,) = as_arrays([x], "abs")
    return x if _is_unsigned(x) else _abs(x)


absolute = abs


def fabs(x: ArrayLike, /) -> Array:
    """The absolute value, as a float."""
    return abs(_inexact("fabs", x))


def sign(x: ArrayLike, /) -> Array:
    """-1, 0 or 1 by the sign of x; nan for nan."""
    (x,) = as_arrays([x], "sign")
    return lax.sign(x) if dtypes.issubdtype(x.dtype, np.unsignedinteger) else _sign(x)


def _is_unsigned(x: Array) -> bool:
    return x.dtype == np.bool or dtypes.issubdtype(x.dtype, np.unsignedinteger)


def _inexact(name: str, *operands: ArrayLike) -> Any:
    """The operands promoted and broadcast to floats; one array for one operand."""
    arrays = promote(*operands, what=name)
    dtype = inexact_dtype(arrays[0].dtype)
    arrays = [convert(x, dtype, x.weak_type) for x in arrays]
    return arrays if len(arrays) > 1 else arrays[0]


def _is_inexact(x: Array) -> bool:
    return dtypes.issubdtype(x.dtype, np.inexact)


def _integers_of_bools(*operands: Array) -> list[Array]:
    """The operands, all of one dtype, as integers if they are booleans."""
    return [convert(x, np.dtype(np.int32)) if x.dtype == np.bool else x for x in operands]


def fmod(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The remainder of x1 / x2 rounded to zero: it has the sign of x1."""
    operands = _integers_of_bools(*promote(x1, x2, what="fmod"))
    return apply(ew.remainder, *operands, what="fmod", accepts=REAL)


def floor_divide(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The largest integer that is at most x1 / x2, in the operands' dtype.

    >>> irax.numpy.floor_divide(-7, 2)
    Array(-4, dtype=int32, weak_type=True)
    """
    x, y = _integers_of_bools(*promote(x1, x2, what="floor_divide"))
    check_dtype("floor_divide", x.dtype, REAL)
    if _is_inexact(x):
        return divmod(x, y)[0]
    quotient = apply(ew.divide, x, y, what="floor_divide")
    if _is_unsigned(x):
        return quotient
    # The op rounds to zero: one too much where the signs differ and something is left.
    inexact = not_equal(multiply(quotient, y), x)
    rounded_up = logical_and(inexact, not_equal(less(x, 0), less(y, 0)))
    return where(rounded_up, subtract(quotient, 1), quotient)


def remainder(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """What x1 is more than floor_divide(x1, x2) x2: it has the sign of x2.

    >>> irax.numpy.remainder(-7, 3)
    Array(2, dtype=int32, weak_type=True)
    """
    x, y = _integers_of_bools(*promote(x1, x2, what="remainder"))
    check_dtype("remainder", x.dtype, REAL)
    rest = fmod(x, y)
    if _is_unsigned(x):
        return rest
    other_side = logical_and(not_equal(rest, 0), not_equal(less(rest, 0), less(y, 0)))
    return where(other_side, add(rest, y), rest)


mod = remainder


def divmod(x1: ArrayLike, x2: ArrayLike, /) -> tuple[Array, Array]:
    """floor_divide(x1, x2) and remainder(x1, x2).

    >>> irax.numpy.divmod(7.5, 2)
    (Array(3., dtype=float32, weak_type=True), Array(1.5, dtype=float32, weak_type=True))
    """
    x, y = _integers_of_bools(*promote(x1, x2, what="divmod"))
    rest = remainder(x, y)
    if not _is_inexact(x):
        return floor_divide(x, y), rest
    return round(divide(subtract(x, rest), y)), rest


def reciprocal(x: ArrayLike, /) -> Array:
    """1 / x, a float."""
    return lax.reciprocal(_inexact("reciprocal", x))


def square(x: ArrayLike, /) -> Array:
    """x x."""
    (x,) = _integers_of_bools(*as_arrays([x], "square"))
    return apply(ew.multiply, x, x, what="square")


def power(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """x1 to the power x2. A Python int x2 gives multiplications, exact and differentiable at 0.

    Raises:
        TypeError: an integer to the power of a negative Python int.

    >>> irax.numpy.power(irax.numpy.arange(4), 2)
    Array([0, 1, 4, 9], dtype=int32)
    """
    if isinstance(x2, int) and not isinstance(x2, bool):
        (x,) = _integers_of_bools(*as_arrays([x1], "power"))
        return lax.integer_pow(x, x2)
    return apply(ew.power, *_integers_of_bools(*promote(x1, x2, what="power")), what="power")


pow = power


def float_power(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """x1 to the power x2, a float."""
    return apply(ew.power, x1, x2, what="float_power", dtype_kind=np.inexact)


def fmax(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The larger one; of nan and a number, the number."""
    x, y = promote(x1, x2, what="fmax")
    return where(isnan(x), y, where(isnan(y), x, maximum(x, y)))


def fmin(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The smaller one; of nan and a number, the number."""
    x, y = promote(x1, x2, what="fmin")
    return where(isnan(x), y, where(isnan(y), x, minimum(x, y)))


def clip(
    arr: ArrayLike,
    /,
    min: ArrayLike | None = None,
    max: ArrayLike | None = None,
    *,
    a_min: ArrayLike | None = None,
    a_max: ArrayLike | None = None,
) -> Array:
    """The elements, kept between two bounds; `a_min` and `a_max` are NumPy's older names.

    >>> irax.numpy.clip(irax.numpy.arange(4), 1, 2)
    Array([1, 1, 2, 2], dtype=int32)
    """
    (x,) = as_arrays([arr], "clip")
    low, high = a_min if min is None else min, a_max if max is None else max
    if low is not None:
        x = maximum(x, low)
    return x if high is None else minimum(x, high)


# ---- exponentials and roots ----------------------------------------------------------------------

exp = _float("exp", ew.exponential, "e to the power x.")
expm1 = _float("expm1", ew.exponential_minus_one, "exp(x) - 1, accurate near 0.")
log = _float("log", ew.log, "The natural logarithm; -inf at 0, nan below.")
log1p = _float("log1p", ew.log_plus_one, "log(1 + x), accurate near 0.")
sqrt = _float("sqrt", ew.sqrt, "The square root; nan for negative numbers.")
cbrt = _float("cbrt", ew.cbrt, "The cube root.")


def exp2(x: ArrayLike, /) -> Array:
    """2 to the power x."""
    return lax.exp2(_inexact("exp2", x))


def log2(x: ArrayLike, /) -> Array:
    """The logarithm to base 2."""
    logarithm = log(x)
    return divide(logarithm, np.asarray(np.log(2)).astype(logarithm.dtype))


def log10(x: ArrayLike, /) -> Array:
    """The logarithm to base 10."""
    logarithm = log(x)
    return divide(logarithm, np.asarray(np.log(10)).astype(logarithm.dtype))


def logaddexp(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """log(exp(x1) + exp(x2)), without overflow; its derivatives are the shares of the two.

    >>> irax.numpy.logaddexp(1000.0, 1000.0)
    Array(1000.6932, dtype=float32, weak_type=True)
    """
    x, y = _inexact("logaddexp", x1, x2)
    gap = where(equal(x, y), 0, subtract(x, y))  # also where both are the same infinity
    return add(maximum(x, y), log1p(exp(negative(abs(gap)))))


def logaddexp2(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """log2(2**x1 + 2**x2), without overflow."""
    x, y = _inexact("logaddexp2", x1, x2)
    scale = float(np.log(2))
    return divide(logaddexp(multiply(x, scale), multiply(y, scale)), scale)


def hypot(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """sqrt(x1**2 + x2**2), without overflow; its derivative at (0, 0) is that of the larger one.

    >>> irax.numpy.hypot(3.0, 4.0)
    Array(5., dtype=float32, weak_type=True)
    """
    x, y = map(abs, _inexact("hypot", x1, x2))
    infinite = logical_or(equal(x, np.inf), equal(y, np.inf))  # even if the other one is nan
    longer = where(infinite, np.inf, maximum(x, y))
    extreme = logical_or(equal(longer, 0), infinite)
    ratio = divide(minimum(x, y), where(extreme, 1, longer))
    length = multiply(longer, sqrt(add(square(ratio), 1)))
    return where(extreme, longer, length)


# ---- trigonometry --------------------------------------------------------------------------------

sin = _float("sin", ew.sine, "The sine of an angle in radians.")
cos = _float("cos", ew.cosine, "The cosine of an angle in radians.")
tan = _float("tan", ew.tan, "The tangent of an angle in radians.")
sinh = _float("sinh", special.sinh, "The hyperbolic sine.")
cosh = _float("cosh", special.cosh, "The hyperbolic cosine.")
tanh = _float("tanh", ew.tanh, "The hyperbolic tangent.")
arcsin = asin = _float("arcsin", special.asin, "The angle whose sine is x; nan beyond -1 and 1.")
arccos = acos = _float("arccos", special.acos, "The angle whose cosine is x; nan beyond -1 and 1.")
arctan = atan = _float("arctan", special.atan, "The angle whose tangent is x.")
arcsinh = asinh = _float("arcsinh", special.asinh, "The number whose hyperbolic sine is x.")
arccosh = acosh = _float("arccosh", special.acosh, "The number whose hyperbolic cosine is x.")
arctanh = atanh = _float("arctanh", special.atanh, "The number whose hyperbolic tangent is x.")
arctan2 = atan2 = _binary(
    "arctan2", ew.atan2, "The angle, in radians, of the point (x2, x1).", kind=np.inexact
)


def deg2rad(x: ArrayLike, /) -> Array:
    """Degrees as radians."""
    return multiply(_inexact("deg2rad", x), float(np.pi / 180))


def rad2deg(x: ArrayLike, /) -> Array:
    """Radians as degrees."""
    return multiply(_inexact("rad2deg", x), float(180 / np.pi))


radians, degrees = deg2rad, rad2deg


def sinc(x: ArrayLike, /) -> Array:
    """sin(pi x) / (pi x), 1 at 0."""
    angle = multiply(_inexact("sinc", x), float(np.pi))
    near = less(abs(angle), 0.03)
    safe = where(near, 1, angle)
    squared = square(angle)
    series = add(multiply(squared, subtract(divide(squared, 120), 1 / 6)), 1)
    return where(near, series, divide(sin(safe), safe))


# ---- comparisons ---------------------------------------------------------------------------------

equal = _binary("equal", comparison.equal, "Whether x1 == x2.")
not_equal = _binary("not_equal", comparison.not_equal, "Whether x1 != x2.")
less = _binary("less", comparison.less, "Whether x1 < x2.", ORDERED)
less_equal = _binary("less_equal", comparison.less_equal, "Whether x1 <= x2.", ORDERED)
greater = _binary("greater", comparison.greater, "Whether x1 > x2.", ORDERED)
greater_equal = _binary("greater_equal", comparison.greater_equal, "Whether x1 >= x2.", ORDERED)


def isnan(x: ArrayLike, /) -> Array:
    """Whether x is nan; no integer is."""
    (x,) = as_arrays([x], "isnan")
    return not_equal(x, x)


def isinf(x: ArrayLike, /) -> Array:
    """Whether x is infinite, either way."""
    return equal(abs(_inexact("isinf", x)), np.inf)


def isfinite(x: ArrayLike, /) -> Array:
    """Whether x is neither nan nor infinite."""
    return apply(ew.is_finite, _inexact("isfinite", x), what="isfinite")


def isposinf(x: ArrayLike, /) -> Array:
    """Whether x is infinity."""
    return equal(_inexact("isposinf", x), np.inf)


def isneginf(x: ArrayLike, /) -> Array:
    """Whether x is -infinity."""
    return equal(_inexact("isneginf", x), -np.inf)


def signbit(x: ArrayLike, /) -> Array:
    """Whether x is below 0, or -0.0."""
    (x,) = as_arrays([x], "signbit")
    if _is_inexact(x):
        x = lax.bitcast_convert_type(x, f"int{8 * x.dtype.itemsize}")
    return less(x, 0)


def copysign(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """x1 with the sign of x2, a float."""
    x, y = _inexact("copysign", x1, x2)
    return where(equal(signbit(x), signbit(y)), x, negative(x))


def heaviside(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """0 below 0, 1 above; x2 at 0."""
    x, at_zero = _inexact("heaviside", x1, x2)
    step = where(isnan(x), x, convert(greater(x, 0), x.dtype, x.weak_type))
    return where(equal(x, 0), at_zero, step)


def nan_to_num(
    x: ArrayLike,
    copy: bool = True,
    nan: ArrayLike = 0.0,
    posinf: ArrayLike | None = None,
    neginf: ArrayLike | None = None,
) -> Array:
    """x with numbers in place of nan and infinities: by default 0 and the largest there are."""
    (result,) = as_arrays([x], "nan_to_num")
    if not _is_inexact(result):
        return result
    limits = dtypes.finfo(result.dtype)
    high = float(limits.max) if posinf is None else posinf
    low = float(limits.min) if neginf is None else neginf
    dtype, weak = result.dtype, result.weak_type
    for condition, number in ((isnan(x), nan), (isposinf(x), high), (isneginf(x), low)):
        (number,) = as_arrays([number], "nan_to_num")
        result = where(condition, convert(number, dtype, weak), result)
    return result


# ---- logic and bits ------------------------------------------------------------------------------


def _truth(x: ArrayLike, name: str) -> Array:
    (x,) = as_arrays([x], name)
    return x if x.dtype == np.bool else not_equal(x, 0)


def logical_and(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether both are not 0."""
    x, y = _truth(x1, "logical_and"), _truth(x2, "logical_and")
    return apply(bitwise.and_, x, y, what="logical_and")


def logical_or(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether either is not 0."""
    x, y = _truth(x1, "logical_or"), _truth(x2, "logical_or")
    return apply(bitwise.or_, x, y, what="logical_or")


def logical_xor(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether just one is not 0."""
    return not_equal(_truth(x1, "logical_xor"), _truth(x2, "logical_xor"))


def logical_not(x: ArrayLike, /) -> Array:
    """Whether x is 0."""
    return equal(x, 0)


bitwise_and = _binary("bitwise_and", bitwise.and_, "The bits set in both.", BITS)
bitwise_or = _binary("bitwise_or", bitwise.or_, "The bits set in either.", BITS)
bitwise_xor = _binary("bitwise_xor", bitwise.xor, "The bits set in one but not the other.", BITS)
bitwise_not = bitwise_invert = invert = _unary("invert", bitwise.not_, "The bits not set.", BITS)


def left_shift(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """x1 with its bits moved up by x2."""
    operands = _integers_of_bools(*promote(x1, x2, what="left_shift"))
    return apply(bitwise.shift_left, *operands, what="left_shift", accepts=np.integer)


def right_shift(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """x1 with its bits moved down by x2; negative numbers stay negative."""
    operands = _integers_of_bools(*promote(x1, x2, what="right_shift"))
    unsigned = _is_unsigned(operands[0])
    op = bitwise.shift_right_logical if unsigned else bitwise.shift_right_arithmetic
    return apply(op, *operands, what="right_shift", accepts=np.integer)


bitwise_left_shift, bitwise_right_shift = left_shift, right_shift


def bitwise_count(x: ArrayLike, /) -> Array:
    """How many bits are set in the absolute value, as uint8."""
    counts = apply(bitwise.popcnt, abs(x), what="bitwise_count", accepts=np.integer)
    return convert(counts, np.dtype(np.uint8))


# ---- rounding ------------------------------------------------------------------------------------


def _rounding(name: str, op: Op, doc: str) -> Unary:
    def function(x: ArrayLike, /) -> Array:
        (x,) = as_arrays([x], name)
        return apply(op, x, what=name) if _is_inexact(x) else x

    return documented(function, name, doc + _ONE, "irax.numpy")


floor = _rounding("floor", ew.floor, "The largest integer that is at most x, in x's dtype.")
ceil = _rounding("ceil", ew.ceil, "The smallest integer that is at least x, in x's dtype.")
rint = _float("rint", ew.round_nearest_even, "The nearest integer, the even one of two; a float.")


def trunc(x: ArrayLike, /) -> Array:
    """x without what is behind the point, in x's dtype."""
    (x,) = as_arrays([x], "trunc")
    return where(less(x, 0), ceil(x), floor(x)) if _is_inexact(x) else x


fix = trunc


def round(a: ArrayLike, decimals: int = 0, out: None = None) -> Array:
    """The nearest number with so many decimals, the even one of two; integers stay as they are.

    Raises:
        NotImplementedError: negative decimals of integers.

    >>> irax.numpy.round(irax.numpy.array([0.5, 1.5, 2.26]), 1)
    Array([0.5, 1.5, 2.3], dtype=float32)
    """
    no_out("round", out)
    (x,) = as_arrays([a], "round")
    if not _is_inexact(x):
        if decimals < 0:
            raise NotImplementedError("round: negative decimals of integers are not supported")
        return x
    if not decimals:
        return apply(ew.round_nearest_even, x, what="round")
    factor = 10.0**decimals
    return divide(apply(ew.round_nearest_even, multiply(x, factor), what="round"), factor)


around = round


def no_out(name: str, out: Any) -> None:
    """Raises NotImplementedError for an `out` argument: arrays are immutable."""
    if out is not None:
        raise NotImplementedError(
            f"{name}: the argument 'out' is not supported: arrays are immutable, use the result"
        )


# ---- complex numbers -----------------------------------------------------------------------------


def real(x: ArrayLike, /) -> Array:
    """The real part."""
    return _real_only("real", x)


def imag(x: ArrayLike, /) -> Array:
    """The imaginary part."""
    return lax.full_like(_real_only("imag", x), 0)


def conjugate(x: ArrayLike, /) -> Array:
    """The complex conjugate."""
    return _real_only("conjugate", x)


conj = conjugate


def _real_only(name: str, x: ArrayLike) -> Array:
    (x,) = as_arrays([x], name)
    if x.dtype.kind == "c":
        raise NotImplementedError(f"{name}: complex arrays are not supported yet")
    return x


# ---- choosing ------------------------------------------------------------------------------------


def where(
    condition: ArrayLike,
    x: ArrayLike | None = None,
    y: ArrayLike | None = None,
    /,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The elements of `x` where a condition holds, those of `y` elsewhere.

    With the condition alone it is `nonzero(condition)`, whose `size` and `fill_value` it takes.

    Args:
        condition: an array; what is not 0 holds.
        x: an array or a number.
        y: likewise; all three are broadcast to one shape.
        size: with the condition alone, how many places there are to be.
        fill_value: with the condition alone, what fills up to `size`.

    Raises:
        ValueError: shapes that do not fit, or only one of `x` and `y`.
        ConcretizationTypeError: a traced condition alone, without `size`.

    >>> irax.numpy.where(irax.numpy.arange(3) > 0, 1.0, -1.0)
    Array([-1.,  1.,  1.], dtype=float32, weak_type=True)
    """
    if x is None and y is None:
        from irax.numpy.searching import nonzero

        return nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        raise ValueError("where: expected both x and y, or neither")
    return select(_truth(condition, "where"), x, y, "where")
