"""Elementwise functions that are strict: all operands of one dtype, and of one shape or scalars.

Each is a line: its name, the op it applies, the dtypes it takes and what it computes.
"""

from __future__ import annotations

import enum
import operator
from typing import Any

import numpy as np

from irax import dtypes
from irax.core.array import Array, as_array
from irax.core.dispatch import bind
from irax.core.dtypes.operands import Kinds, as_arrays, broadcast_shapes, check_dtype, kinds_text
from irax.core.dtypes.promotion import apply, broadcast_to, convert
from irax.lax.accuracy import AccuracyMode, Tolerance
from irax.lax.arguments import canonical_int, documented, strict
from irax.lax.signatures import Binary, Unary, UnaryInexact
from irax.typing import ArrayLike, DTypeLike
from irax_compiler.ops import bitwise, comparison, conversion, shape
from irax_compiler.ops import elementwise as ew
from irax_compiler.ops.core import Op
from irax_compiler.ops.special import bessel, chlo_functions
from irax_compiler.ops.special import zeta as zeta_function

NUMBER: Kinds = np.number
REAL: Kinds = (np.integer, np.floating)
ORDERED: Kinds = (np.bool, np.integer, np.floating)
INEXACT: Kinds = np.inexact
FLOAT: Kinds = np.floating
INTEGER: Kinds = np.integer
BITS: Kinds = (np.bool, np.integer)
ANY: Kinds = (np.bool, np.number)


def _of_one_doc(doc: str, accepts: Kinds, accuracy: str = "") -> str:
    return f"""{doc}

Args:
    x: an array of {kinds_text(accepts)}, or a number.{accuracy}

Returns:
    An array of the same shape.

Raises:
    TypeError: `x` has another dtype."""


def _of_two_doc(doc: str, accepts: Kinds) -> str:
    return f"""{doc}

Args:
    x: an array of {kinds_text(accepts)}, or a number.
    y: one of the same dtype, and of the same shape unless one of them is a scalar.

Returns:
    An array of that shape.

Raises:
    TypeError: another dtype, two dtypes, or shapes that differ."""


def unary(name: str, op: Op, accepts: Kinds, doc: str) -> Unary:
    """A function of one operand that applies `op`."""

    def function(x: ArrayLike) -> Array:
        return apply(op, x, what=f"lax.{name}", accepts=accepts)

    return documented(function, name, _of_one_doc(doc, accepts))


def unary_inexact(name: str, op: Op, accepts: Kinds, doc: str) -> UnaryInexact:
    """A function of one operand that hardware may approximate."""

    def function(x: ArrayLike, *, accuracy: Tolerance | AccuracyMode | None = None) -> Array:
        return apply(op, x, what=f"lax.{name}", accepts=accepts)

    accuracy = "\n    accuracy: of no effect: results always have the highest accuracy."
    return documented(function, name, _of_one_doc(doc, accepts, accuracy))


def binary(name: str, op: Op, accepts: Kinds, doc: str) -> Binary:
    """A function of two operands that applies `op`."""

    def function(x: ArrayLike, y: ArrayLike) -> Array:
        what = f"lax.{name}"
        return apply(op, *strict(what, x, y), what=what, accepts=accepts)

    return documented(function, name, _of_two_doc(doc, accepts))


# ---- arithmetic ----------------------------------------------------------------------------------

add: Binary = binary("add", ew.add, NUMBER, "x + y.")
sub: Binary = binary("sub", ew.subtract, NUMBER, "x - y.")
_mul: Binary = binary("mul", ew.multiply, NUMBER, "x y.")


def mul(x: ArrayLike, y: ArrayLike, *, out_dtype: DTypeLike | None = None) -> Array:
    """x y.

    Operands: one dtype; one shape, or scalars.

    Args:
        x: numbers.
        y: numbers.
        out_dtype: the dtype in which they are multiplied, and of the result.

    Raises:
        TypeError: another dtype, two dtypes, or shapes that differ.

    >>> irax.lax.mul(np.int8([100]), np.int8([100]), out_dtype="int32")
    Array([10000], dtype=int32)
    """
    if out_dtype is None:
        return _mul(x, y)
    what = "lax.mul"
    wanted = dtypes.requested_dtype(out_dtype, what)
    return _mul(*(convert(array, wanted) for array in strict(what, x, y)))


div: Binary = binary("div", ew.divide, NUMBER, "x / y; integers are rounded to zero.")
rem: Binary = binary("rem", ew.remainder, REAL, "The remainder of x / y, with the sign of x.")
max: Binary = binary("max", ew.maximum, ANY, "The larger one; nan where either is nan.")
min: Binary = binary("min", ew.minimum, ANY, "The smaller one; nan where either is nan.")
atan2: Binary = binary("atan2", ew.atan2, INEXACT, "The angle, in radians, of the point (y, x).")
neg: Unary = unary("neg", ew.negate, NUMBER, "-x.")
floor: Unary = unary("floor", ew.floor, FLOAT, "The largest integer that is at most x.")
ceil: Unary = unary("ceil", ew.ceil, FLOAT, "The smallest integer that is at least x.")
is_finite: Unary = unary(
    "is_finite", ew.is_finite, FLOAT, "True where x is neither nan nor infinite."
)

_abs: Unary = unary("abs", ew.abs, (np.signedinteger, np.inexact), "The absolute value.")
_sign: Unary = unary("sign", ew.sign, (np.signedinteger, np.inexact), "-1, 0 or 1; nan for nan.")


def abs(x: ArrayLike) -> Array:
    """The absolute value of signed numbers.

    Args:
        x: an array of signed integers, floats or complex numbers, or a number.

    Returns:
        An array of the same shape; of floats for complex numbers.

    Raises:
        TypeError: `x` has another dtype.

    >>> irax.lax.abs(jnp.array([-2, 3]))
    Array([2, 3], dtype=int32)
    """
    (x,) = as_arrays([x], "lax.abs")
    return _abs(x).with_weak_type(x.weak_type)


def sign(x: ArrayLike) -> Array:
    """-1, 0 or 1 by the sign of x; nan for nan.

    Args:
        x: an array of numbers, or a number.

    Returns:
        An array of the same shape.

    Raises:
        TypeError: `x` has another dtype.

    >>> irax.lax.sign(jnp.array([-2.0, 0.0, 3.0]))
    Array([-1.,  0.,  1.], dtype=float32)
    """
    (x,) = as_arrays([x], "lax.sign")
    if dtypes.issubdtype(x.dtype, np.unsignedinteger):
        return convert(apply(comparison.not_equal, x, 0, what="lax.sign"), x.dtype, x.weak_type)
    return _sign(x)


class RoundingMethod(enum.IntEnum):
    """The rule by which `round` rounds numbers halfway between two integers."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


def round(x: ArrayLike, rounding_method: RoundingMethod = RoundingMethod.AWAY_FROM_ZERO) -> Array:
    """Round floats to integers of the same dtype; halves away from zero, or to the even one.

    Args:
        x: an array of floats, or a number.
        rounding_method: a `RoundingMethod`.

    Returns:
        An array of the same shape.

    Raises:
        TypeError: `x` has another dtype.
        ValueError: there is no such method.

    >>> irax.lax.round(jnp.array([0.5, 1.2, -2.5]))
    Array([ 1.,  1., -3.], dtype=float32)
    """
    to_even = RoundingMethod(rounding_method) is RoundingMethod.TO_NEAREST_EVEN
    op = ew.round_nearest_even if to_even else ew.round_nearest_afz
    return apply(op, x, what="lax.round", accepts=FLOAT)


def pow(x: ArrayLike, y: ArrayLike) -> Array:
    """Return x to the power y; a Python int y is `integer_pow`, and an integer array takes x's
    dtype.

    Args:
        x: an array of numbers, or a number.
        y: one of the same dtype and shape, an array of integers, or an int.

    Raises:
        TypeError: another dtype, or shapes that differ.

    >>> irax.lax.pow(jnp.array([2.0, 3.0]), 2)
    Array([4., 9.], dtype=float32)
    """
    if isinstance(y, int) and not isinstance(y, bool):
        return integer_pow(x, y)
    base, exponent = as_arrays([x, y], "lax.pow")
    check_dtype("lax.pow", base.dtype, INEXACT)
    if dtypes.issubdtype(exponent.dtype, np.integer):
        exponent = convert(exponent, base.dtype)
    return apply(ew.power, *strict("lax.pow", base, exponent), what="lax.pow")


def integer_pow(x: ArrayLike, y: int) -> Array:
    """Return x to the power of an int, by multiplications: exact for integers, differentiable at 0.

    Args:
        x: an array of numbers, or a number.
        y: an int.

    Raises:
        TypeError: a negative power of an integer.

    >>> irax.lax.integer_pow(3, 4)
    Array(81, dtype=int32, weak_type=True)
    """
    what = "lax.integer_pow"
    (base,) = as_arrays([x], what)
    check_dtype(what, base.dtype, NUMBER)
    y = canonical_int(what, "y", y)
    if y < 0:
        if not dtypes.issubdtype(base.dtype, np.inexact):
            raise TypeError(
                f"{what}: integers cannot be raised to negative powers, got {base.aval} to the "
                f"power {y}; make the base a float"
            )
        # The reciprocal first: no power overflows where the result, or its derivative, does not.
        return integer_pow(reciprocal(base), -y)
    if y == 0:
        return bind(shape.Constant(np.ones(base.shape, base.dtype)), weak_type=base.weak_type)
    # Square and multiply, from the highest bit of y down.
    result = base
    for bit in bin(y)[3:]:
        result = apply(ew.multiply, result, result, what=what)
        if bit == "1":
            result = apply(ew.multiply, result, base, what=what)
    return result


def square(x: ArrayLike) -> Array:
    """x x.

    Args:
        x: an array of numbers, or a number.

    Returns:
        An array of the same shape.

    Raises:
        TypeError: `x` has another dtype.

    >>> irax.lax.square(jnp.array([2, -3]))
    Array([4, 9], dtype=int32)
    """
    return integer_pow(x, 2)


def reciprocal(x: ArrayLike) -> Array:
    """1 / x.

    Args:
        x: an array of floats or complex numbers, or a number.

    Returns:
        An array of the same shape.

    Raises:
        TypeError: `x` has another dtype.

    >>> irax.lax.reciprocal(jnp.array([2.0, 4.0]))
    Array([0.5 , 0.25], dtype=float32)
    """
    (x,) = as_arrays([x], "lax.reciprocal")
    check_dtype("lax.reciprocal", x.dtype, INEXACT)
    return apply(ew.divide, convert(as_array(1.0), x.dtype, x.weak_type), x, what="lax.reciprocal")


# ---- exponentials, roots, trigonometry, special functions ----------------------------------------

exp: UnaryInexact = unary_inexact("exp", ew.exponential, INEXACT, "e to the power x.")
expm1: UnaryInexact = unary_inexact(
    "expm1", ew.exponential_minus_one, INEXACT, "exp(x) - 1, accurate near 0."
)
log: UnaryInexact = unary_inexact("log", ew.log, INEXACT, "The natural logarithm.")
log1p: UnaryInexact = unary_inexact(
    "log1p", ew.log_plus_one, INEXACT, "log(1 + x), accurate near 0."
)
sqrt: UnaryInexact = unary_inexact("sqrt", ew.sqrt, INEXACT, "The square root.")
rsqrt: UnaryInexact = unary_inexact("rsqrt", ew.rsqrt, INEXACT, "1 / sqrt(x).")
cbrt: UnaryInexact = unary_inexact("cbrt", ew.cbrt, FLOAT, "The cube root.")
logistic: UnaryInexact = unary_inexact("logistic", ew.logistic, INEXACT, "1 / (1 + exp(-x)).")
sin: UnaryInexact = unary_inexact("sin", ew.sine, INEXACT, "The sine of an angle in radians.")
cos: UnaryInexact = unary_inexact("cos", ew.cosine, INEXACT, "The cosine of an angle in radians.")
tan: UnaryInexact = unary_inexact("tan", ew.tan, INEXACT, "The tangent of an angle in radians.")
tanh: UnaryInexact = unary_inexact("tanh", ew.tanh, INEXACT, "The hyperbolic tangent.")
sinh: Unary = unary("sinh", chlo_functions.sinh, INEXACT, "The hyperbolic sine.")
cosh: Unary = unary("cosh", chlo_functions.cosh, INEXACT, "The hyperbolic cosine.")
asin: Unary = unary("asin", chlo_functions.asin, INEXACT, "The angle whose sine is x.")
acos: Unary = unary("acos", chlo_functions.acos, INEXACT, "The angle whose cosine is x.")
atan: Unary = unary("atan", chlo_functions.atan, INEXACT, "The angle whose tangent is x.")
asinh: Unary = unary(
    "asinh", chlo_functions.asinh, INEXACT, "The number whose hyperbolic sine is x."
)
acosh: Unary = unary(
    "acosh", chlo_functions.acosh, INEXACT, "The number whose hyperbolic cosine is x."
)
atanh: Unary = unary(
    "atanh", chlo_functions.atanh, INEXACT, "The number whose hyperbolic tangent is x."
)
erf: Unary = unary("erf", chlo_functions.erf, FLOAT, "The error function.")
erfc: UnaryInexact = unary_inexact(
    "erfc", chlo_functions.erfc, FLOAT, "1 - erf(x), accurate for large x."
)
erf_inv: Unary = unary("erf_inv", chlo_functions.erf_inv, FLOAT, "The number whose erf is x.")
lgamma: Unary = unary(
    "lgamma", chlo_functions.lgamma, FLOAT, "The logarithm of the absolute gamma function."
)
digamma: Unary = unary("digamma", chlo_functions.digamma, FLOAT, "The derivative of lgamma.")


def nextafter(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Return the float next to x1 towards x2. Operands: floats of one dtype; one shape,
    or scalars.

    Args:
        x1: an array of floats, or a number.
        x2: one of the same dtype and shape.

    Raises:
        TypeError: another dtype, two dtypes, or shapes that differ.

    >>> irax.lax.nextafter(jnp.float32(1.0), jnp.float32(2.0)) > 1
    Array(True, dtype=bool)
    """
    return _of_two("lax.nextafter", chlo_functions.next_after, x1, x2)


def polygamma(m: ArrayLike, x: ArrayLike) -> Array:
    """Derivative number m of digamma, at x; of one dtype; one shape, or scalars.

    Args:
        m: the number of the derivative, an array of floats, or a number.
        x: one of the same dtype and shape.

    Raises:
        TypeError: another dtype, two dtypes, or shapes that differ.

    >>> irax.lax.polygamma(1.0, 1.0).round(3)
    Array(1.645, dtype=float32, weak_type=True)
    """
    return _of_two("lax.polygamma", chlo_functions.polygamma, m, x)


def zeta(x: ArrayLike, q: ArrayLike) -> Array:
    """The Hurwitz zeta function of exponent x and shift q; of one dtype; one shape, or scalars.

    Args:
        x: an array of floats, or a number.
        q: one of the same dtype and shape.

    Raises:
        TypeError: another dtype, two dtypes, or shapes that differ.

    >>> irax.lax.zeta(2.0, 1.0).round(3)
    Array(1.645, dtype=float32, weak_type=True)
    """
    return _of_two("lax.zeta", zeta_function.zeta, x, q)


def _of_two(what: str, op: Any, x: ArrayLike, y: ArrayLike) -> Array:
    return apply(op, *strict(what, x, y), what=what, accepts=FLOAT)


def exp2(x: ArrayLike, *, accuracy: Tolerance | AccuracyMode | None = None) -> Array:
    """2 to the power x.

    Args:
        x: an array of floats or complex numbers, or a number.
        accuracy: of no effect: results always have the highest accuracy.

    Returns:
        An array of the same shape.

    Raises:
        TypeError: `x` has another dtype.

    >>> irax.lax.exp2(jnp.array([0.0, 3.0]))
    Array([1., 8.], dtype=float32)
    """
    (x,) = as_arrays([x], "lax.exp2")
    check_dtype("lax.exp2", x.dtype, INEXACT)
    return apply(ew.power, convert(as_array(2.0), x.dtype, x.weak_type), x, what="lax.exp2")


bessel_i0e: Unary = unary("bessel_i0e", bessel.BesselI0e(), FLOAT, "exp(-|x|) I0(x).")
bessel_i1e: Unary = unary("bessel_i1e", bessel.bessel_i1e, FLOAT, "exp(-|x|) I1(x).")  # pyright: ignore


# ---- comparisons ---------------------------------------------------------------------------------

eq: Binary = binary("eq", comparison.equal, ANY, "x == y.")
ne: Binary = binary("ne", comparison.not_equal, ANY, "x != y.")
lt: Binary = binary("lt", comparison.less, ORDERED, "x < y.")
le: Binary = binary("le", comparison.less_equal, ORDERED, "x <= y.")
gt: Binary = binary("gt", comparison.greater, ORDERED, "x > y.")
ge: Binary = binary("ge", comparison.greater_equal, ORDERED, "x >= y.")

# ---- bits ----------------------------------------------------------------------------------------

bitwise_and: Binary = binary("bitwise_and", bitwise.and_, BITS, "The bits set in both.")
bitwise_or: Binary = binary("bitwise_or", bitwise.or_, BITS, "The bits set in either.")
bitwise_xor: Binary = binary(
    "bitwise_xor", bitwise.xor, BITS, "The bits set in one but not the other."
)
bitwise_not: Unary = unary("bitwise_not", bitwise.not_, BITS, "The bits that are not set.")
population_count: Unary = unary(
    "population_count", bitwise.popcnt, INTEGER, "The number of bits that are set."
)
clz: Unary = unary(
    "clz",
    bitwise.count_leading_zeros,
    INTEGER,
    "The number of zero bits before the highest bit that is set.",
)
shift_left: Binary = binary(
    "shift_left", bitwise.shift_left, INTEGER, "Shift the bits of x left by y."
)
shift_right_arithmetic: Binary = binary(
    "shift_right_arithmetic",
    bitwise.shift_right_arithmetic,
    INTEGER,
    "Shift the bits of x right by y, filling with copies of the sign bit.",
)
shift_right_logical: Binary = binary(
    "shift_right_logical",
    bitwise.shift_right_logical,
    INTEGER,
    "Shift the bits of x right by y, filling with zeros.",
)


def mulhi(x: ArrayLike, y: ArrayLike) -> Array:
    """Return the upper half of the bits of the product x y of integers.

    Args:
        x: an array of integers, or an integer.
        y: one of the same dtype and shape.

    Raises:
        TypeError: another dtype, two dtypes, or shapes that differ.

    >>> irax.lax.mulhi(irax.numpy.int32(2**30), irax.numpy.int32(100))
    Array(25, dtype=int32)
    """
    what = "lax.mulhi"
    a, b = strict(what, x, y)
    check_dtype(what, a.dtype, INTEGER)
    return _mulhi(a, b).with_weak_type(a.weak_type and b.weak_type)


def _mulhi(a: Array, b: Array) -> Array:
    wide = np.dtype(f"{a.dtype.kind}8")
    if a.dtype != wide:
        a, b = (broadcast_to(v, broadcast_shapes(a.shape, b.shape)) for v in (a, b))
        product = bind(ew.multiply, convert(a, wide), convert(b, wide))
        return convert(_shifted(product, 8 * a.dtype.itemsize), a.dtype)
    # By halves: the carry of the lower ones adds to the upper ones.
    mask = convert(as_array(np.uint32(0xFFFFFFFF)), wide)
    (a1, a0), (b1, b0) = ((_shifted(v, 32), bitwise_and(v, mask)) for v in (a, b))
    low = shift_right_logical(mul(a0, b0), convert(as_array(32), wide))
    middle = add(mul(a1, b0), low)
    other = add(mul(a0, b1), bitwise_and(middle, mask))
    return add(mul(a1, b1), add(_shifted(middle, 32), _shifted(other, 32)))


def _shifted(x: Array, bits: int) -> Array:
    """Shift integers right."""
    amount = broadcast_to(convert(as_array(bits), x.dtype), x.shape)
    is_signed = x.dtype.kind == "i"
    return bind(
        bitwise.shift_right_arithmetic if is_signed else bitwise.shift_right_logical, x, amount
    )


def reduce_precision(operand: ArrayLike, exponent_bits: int, mantissa_bits: int) -> Array:
    """Round floats to fewer bits of exponent and mantissa, in their own dtype.

    Args:
        operand: an array of floats.
        exponent_bits: the number of bits of the exponent, at least 1.
        mantissa_bits: the number of bits of the mantissa, at least 0.

    Raises:
        TypeError: other dtypes, or numbers of bits that are not ints.
        ValueError: too few bits.

    >>> irax.lax.reduce_precision(1.2, 5, 2)
    Array(1.25, dtype=float32, weak_type=True)
    """
    what = "lax.reduce_precision"
    (x,) = as_arrays([operand], what)
    check_dtype(what, x.dtype, FLOAT)
    exponent, mantissa = operator.index(exponent_bits), operator.index(mantissa_bits)
    if exponent < 1 or mantissa < 0:
        raise ValueError(
            f"{what}: exponent_bits must be at least 1 and mantissa_bits at least 0, got "
            f"{exponent_bits} and {mantissa_bits}"
        )
    return bind(conversion.ReducePrecision(exponent, mantissa), x, weak_type=x.weak_type)
