"""Parts of numbers: mantissas and exponents, divisors, bits, and parts of complex numbers."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from irax import dtypes, lax
from irax.core.array import Array, ConcreteArray
from irax.core.dispatch import elements, shortcut
from irax.core.dtypes.operands import as_arrays, broadcast_shapes, check_dtype, judge_ranks
from irax.core.dtypes.promotion import (
    apply,
    broadcast_to,
    convert,
    elementwise_shortcut,
    promote_dtypes,
)
from irax.core.dtypes.strictness import library
from irax.execution.shardings.jit_shardings import divided_alike
from irax.lax.arguments import canonical_axis
from irax.numpy.aggregates import reductions
from irax.numpy.elementwise.angles import arctan2, rad2deg
from irax.numpy.elementwise.complex_parts import imag, real
from irax.numpy.elementwise.logic import (
    begins_with_sign,
    bitwise_and,
    bitwise_or,
    equal,
    isfinite,
    isinf,
    left_shift,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    not_equal,
    right_shift,
    signbit,
    where,
)
from irax.numpy.elementwise.rounding import trunc
from irax.numpy.shapes.manipulation import moveaxis, ravel
from irax.numpy.tables import elementwise, floats, is_inexact, no_out, real_floats
from irax.numpy.ufuncs import abs, add, copysign, multiply, negative, subtract
from irax.typing import ArrayLike
from irax_compiler.ops.numpy_call import NumpyCall
from irax_compiler.ops.special import chlo_functions

# ---- floats --------------------------------------------------------------------------------------


def _real_floats(name: str, *operands: ArrayLike) -> Any:
    arrays = floats(name, *operands)
    check_dtype(name, (arrays[0] if isinstance(arrays, list) else arrays).dtype, np.floating)
    return arrays


def modf(x: ArrayLike, /, out: None = None) -> tuple[Array, Array]:
    """Return the fractional and the integral part of x, both with the sign of x.

    Args:
        x: an array of real numbers, or a number.
        out: not supported, since arrays are immutable.

    Returns:
        Two arrays of floats, in the same shape.

    Raises:
        TypeError: not an array or a number, or complex numbers.
        NotImplementedError: `out` is given.

    >>> irax.numpy.modf(-1.5)
    (Array(-0.5, dtype=float32, weak_type=True), Array(-1., dtype=float32, weak_type=True))
    """
    no_out("modf", out)
    number = _real_floats("modf", x)
    whole = trunc(number)
    # As -(whole - x) where x is negative, so that a fraction of 0 has its sign, and the slope 1.
    rest = where(signbit(number), negative(subtract(whole, number)), subtract(number, whole))
    return where(isinf(number), copysign(0, number), rest), whole


@library
def frexp(x: ArrayLike, /) -> tuple[Array, Array]:
    """Return m and e for which x = m 2**e, where m is from 0.5 to 1; for 0, infinity and nan x and
    0.

    Args:
        x: an array of real numbers, or a number.

    Returns:
        Floats m, and int32 e, both in the shape of x.

    Raises:
        TypeError: not an array or a number, or complex numbers.

    >>> irax.numpy.frexp(12.0)
    (Array(0.75, dtype=float32), Array(4, dtype=int32))
    """
    number = _real_floats("frexp", x)
    given = number.dtype
    if given.itemsize < 4:
        number = convert(number, np.dtype(np.float32))
    known = elements(number)
    if known is not None:
        half, exponents = map(np.asarray, np.frexp(known))
        return convert(ConcreteArray(half), given), ConcreteArray(exponents)
    limits, whole = np.finfo(number.dtype), np.dtype(f"int{8 * number.dtype.itemsize}")
    fraction, bias = 1 << limits.nmant, 1 - limits.minexp
    bits = lax.bitcast_convert_type(number, whole)
    size = bitwise_and(bits, _int(~_sign_bit(whole), whole))
    is_zero = equal(size, 0)  # not that of floats, where the device takes subnormal numbers as 0
    # A subnormal number's bits, as an integer, are the number times a power of two: a normal one.
    small = less(size, _int(fraction, whole))
    scaled = lax.bitcast_convert_type(convert(size, number.dtype), whole)
    size, scale = where(small, scaled, size), limits.nmant - limits.minexp
    field = right_shift(size, _int(limits.nmant, whole))
    exponent = subtract(field, where(small, _int(bias - 1 + scale, whole), _int(bias - 1, whole)))
    half = bitwise_or(
        bitwise_and(size, _int(fraction - 1, whole)),
        bitwise_and(bits, _int(_sign_bit(whole), whole)),
    )
    half = bitwise_or(half, _int((bias - 1) << limits.nmant, whole))
    mantissa = lax.bitcast_convert_type(half, number.dtype)
    stays = logical_or(is_zero, logical_not(isfinite(number)))
    mantissa = where(stays, number, _with_derivative(mantissa, number, exponent))
    # The exponent is a step function of x: the mantissa's derivative is 2**-e.
    exponent = convert(where(stays, 0, exponent), np.dtype(np.int32))
    return convert(mantissa, given), exponent


def _sign_bit(dtype: np.dtype[Any]) -> int:
    return 1 << (8 * dtype.itemsize - 1)


def _with_derivative(mantissa: Array, number: Array, exponent: Array) -> Array:
    """The mantissa, with the derivative of `number` times 2**-exponent; also of those numbers whose
    bits are not the mantissa's.
    """
    linear = lax.stop_gradient(_power_of_two(-exponent, number.dtype))
    finite = where(isfinite(number), number, 0)
    nothing = subtract(finite, lax.stop_gradient(finite))
    return add(lax.stop_gradient(mantissa), multiply(nothing, linear))


def _int(value: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A Python int with the bits that it has in a dtype."""
    return np.asarray(value & ((1 << 8 * dtype.itemsize) - 1), f"u{dtype.name}").view(dtype)


def _power_of_two(exponent: Array, dtype: np.dtype[Any]) -> Array:
    """2**e, exactly, for the exponent of a normal number; the nearest one for others."""
    limits = np.finfo(dtype)
    whole = np.dtype(f"int{8 * dtype.itemsize}")
    low, high = int(limits.minexp), int(limits.maxexp)
    held = lax.clamp(_int(low, whole), convert(exponent, whole), _int(high - 1, whole))
    bits = left_shift(add(held, _int(1 - low, whole)), _int(limits.nmant, whole))
    return lax.bitcast_convert_type(bits, dtype)


def ldexp(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """x1 2**x2, for integers x2; exact for normal numbers. Compiled, subnormal ones may count as 0.

    Args:
        x1: an array of real numbers, or a number.
        x2: an array of integers, or an integer.

    Raises:
        ValueError: x1 has complex numbers, or x2 other numbers than integers.

    >>> irax.numpy.ldexp(0.75, 4)
    Array(12., dtype=float32)
    """
    factor, power = as_arrays([x1, x2], "ldexp")
    judge_ranks([factor, power], "ldexp")
    if power.dtype.kind not in "iub":
        raise ValueError(f"ldexp: x2 must have integers, got {power.dtype}")
    number = real_floats("ldexp", factor)
    given = number.dtype
    if given.itemsize < 4:
        number = convert(number, np.dtype(np.float32))
    power = convert(power, np.dtype(np.int32))
    shape = broadcast_shapes(number.shape, power.shape, what="ldexp")
    op = NumpyCall("ldexp", shape, number.dtype)
    return convert(shortcut(op, number, power, formula=_ldexp), given)


def _ldexp(number: Array, power: Array) -> Array:
    """In three steps, none of which overflows or underflows before the result does."""
    reach = int(np.finfo(number.dtype).maxexp) - 2
    power = lax.clamp(np.int32(-3 * reach), power, np.int32(3 * reach))
    for _ in range(3):
        step = lax.clamp(np.int32(-reach), power, np.int32(reach))
        power = subtract(power, step)
        number = multiply(number, _power_of_two(step, number.dtype))
    return number


@elementwise
def nextafter(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Return the float after x in the direction of y.

    >>> irax.numpy.nextafter(1.0, 2.0) - 1.0
    Array(1.1920929e-07, dtype=float32, weak_type=True)
    """
    return apply(chlo_functions.next_after, *_real_floats("nextafter", x, y), what="nextafter")


def spacing(x: ArrayLike, /) -> Array:
    """Return the distance from x to the next float away from 0, with the sign of x; in float16, as
    NumPy does, to the next one above.

    Args:
        x: an array of real numbers, or a number.

    Returns:
        Floats, in the same shape.

    Raises:
        TypeError: not an array or a number.
        ValueError: complex numbers.

    >>> irax.numpy.spacing(1.0)
    Array(1.1920929e-07, dtype=float32)
    """
    number = lax.stop_gradient(real_floats("spacing", x))  # a step function
    largest = dtypes.finfo(number.dtype).max
    has_infinity = not np.isnan(np.array(np.inf).astype(number.dtype).astype(float))
    beyond = lax.full_like(number, np.inf if has_infinity else largest)
    if number.dtype != np.float16:
        beyond = copysign(beyond, number)
    following = apply(chlo_functions.next_after, number, beyond, what="spacing")
    distance = subtract(following, number).with_weak_type(False)
    if not has_infinity:
        distance = where(equal(abs(number), largest), np.nan, distance)
    if number.dtype == np.float16 or not begins_with_sign(number.dtype):
        return distance
    return _subnormal_spacing(number, distance)


def _subnormal_spacing(number: Array, others: Array) -> Array:
    """The distances to the next floats that are subnormal numbers, which a difference is not where
    the device takes these as 0; in other places `others`.
    """
    width, whole = dtypes.finfo(number.dtype).nmant, np.dtype(f"int{8 * number.dtype.itemsize}")
    sign = _int(_sign_bit(whole), whole)
    bits = lax.bitcast_convert_type(number, whole)
    field = right_shift(bitwise_and(bits, ~sign), _int(width, whole))
    place = lax.clamp(_int(0, whole), subtract(field, _int(1, whole)), _int(width - 1, whole))
    distance = bitwise_or(left_shift(_int(1, whole), place), bitwise_and(bits, sign))
    # The nan of some floats of 8 bits has the bits of a negative zero.
    is_subnormal = logical_and(less_equal(field, _int(width, whole)), equal(number, number))
    return where(is_subnormal, lax.bitcast_convert_type(distance, number.dtype), others)


# ---- integers ------------------------------------------------------------------------------------


def _integers(name: str, x1: ArrayLike, x2: ArrayLike) -> list[Array]:
    operands = promote_dtypes(x1, x2, what=name)
    if not dtypes.issubdtype(operands[0].dtype, np.integer):
        raise ValueError(f"{name}: expected integers, got {operands[0].dtype}")
    shape = broadcast_shapes(*(x.shape for x in operands), what=name)
    return divided_alike(name, [broadcast_to(x, shape) for x in operands])


def gcd(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Return the greatest common divisor of integers; never negative.

    Args:
        x1: an array of integers, or an integer.
        x2: another one, to which the first broadcasts.

    Raises:
        ValueError: not integers.

    >>> irax.numpy.gcd(irax.numpy.array([12, 7]), 18)
    Array([6, 1], dtype=int32)
    """
    x, y = _integers("gcd", x1, x2)
    return elementwise_shortcut("gcd", x, y, formula=_gcd)


def _gcd(x: Array, y: Array) -> Array:
    x, y = abs(x), abs(y)

    def goes_on(pair: tuple[Array, Array]) -> Array:
        return reductions.any(not_equal(pair[1], 0))

    def step(pair: tuple[Array, Array]) -> tuple[Array, Array]:
        divisor, rest = pair
        done = equal(rest, 0)
        next_rest = lax.rem(divisor, where(done, 1, rest))
        return where(done, divisor, rest), where(done, 0, next_rest)

    # The least integer stays negative, and so do its remainders.
    return abs(lax.while_loop(goes_on, step, (x, y))[0]) if x.size else x


def lcm(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Return the least common multiple of integers; never negative.

    Args:
        x1: an array of integers, or an integer.
        x2: another one, to which the first broadcasts.

    Raises:
        ValueError: not integers.

    >>> irax.numpy.lcm(irax.numpy.array([4, 7]), 6)
    Array([12, 42], dtype=int32)
    """
    x, y = _integers("lcm", x1, x2)
    judge_ranks([x1, x2], "lcm")
    return elementwise_shortcut("lcm", x, y, formula=_lcm)


def _lcm(x: Array, y: Array) -> Array:
    x, y = abs(x), abs(y)
    divisor = _gcd(x, y)
    nothing = equal(divisor, 0)
    return where(nothing, 0, multiply(x, lax.div(y, where(nothing, 1, divisor))))


# ---- bits ----------------------------------------------------------------------------------------


def _shifts(name: str, bitorder: str) -> np.ndarray[Any, Any]:
    if bitorder not in ("big", "little"):
        raise ValueError(f"{name}: bitorder must be 'big' or 'little', got {bitorder!r}")
    shifts = np.arange(8, dtype=np.uint8)
    return shifts if bitorder == "little" else shifts[::-1].copy()


def packbits(a: ArrayLike, axis: int | None = None, bitorder: str = "big") -> Array:
    """Pack eight elements at a time into the bits of a byte: set where they are not 0.

    Args:
        a: booleans or integers.
        axis: the axis; by default the array is flattened. The last byte is filled up with 0.
        bitorder: "big": the first element is the highest bit; "little": the lowest.

    Raises:
        TypeError: floats or complex numbers.

    >>> irax.numpy.packbits(irax.numpy.array([1, 0, 1]))
    Array([160], dtype=uint8)
    """
    (x,) = as_arrays([a], "packbits")
    check_dtype("packbits", x.dtype, (np.bool, np.integer))
    shifts = _shifts("packbits", bitorder)
    x, along = (ravel(x), 0) if axis is None else (x, canonical_axis("packbits", axis, x.ndim))
    bits = moveaxis(x if x.dtype == np.bool else not_equal(x, 0), along, -1)
    n = bits.shape[-1]
    none = [(0, 0, 0)] * (bits.ndim - 1)
    bits = lax.pad(bits, np.False_, [*none, (0, -n % 8, 0)])
    bits = lax.reshape(bits, (*bits.shape[:-1], bits.shape[-1] // 8, 8))
    values = where(bits, np.uint8(1) << shifts, np.uint8(0))
    packed = reductions.sum(values, -1, np.uint8)
    return moveaxis(packed, -1, along)


def unpackbits(
    a: ArrayLike, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Array:
    """Unpack the bits of bytes, one after the other along an axis.

    Args:
        a: an array of uint8.
        axis: the axis; by default the array is flattened.
        count: the number of bits to return, filled up with 0; if negative, the number to leave out.
        bitorder: "big": the highest bit comes first; "little": the lowest.

    Raises:
        TypeError: another dtype.

    >>> irax.numpy.unpackbits(irax.numpy.array([160], dtype="uint8"), count=3)
    Array([1, 0, 1], dtype=uint8)
    """
    (x,) = as_arrays([a], "unpackbits")
    if x.dtype != np.uint8:
        raise TypeError(f"unpackbits: expected uint8, got {x.dtype}")
    shifts = _shifts("unpackbits", bitorder)
    x, along = (ravel(x), 0) if axis is None else (x, canonical_axis("unpackbits", axis, x.ndim))
    x = moveaxis(x, along, -1)
    bits = bitwise_and(right_shift(lax.expand_dims(x, (x.ndim,)), shifts), np.uint8(1))
    n = 8 * x.shape[-1]
    bits = lax.reshape(bits, (*x.shape[:-1], n))
    if count is not None:
        wanted = operator.index(count)
        wanted = wanted if wanted >= 0 else max(n + wanted, 0)
        none = [(0, 0, 0)] * (bits.ndim - 1)
        bits = lax.pad(bits, np.uint8(0), [*none, (0, wanted - n, 0)])
    return moveaxis(bits, -1, along)


# ---- complex numbers -----------------------------------------------------------------------------


def angle(z: ArrayLike, deg: bool = False) -> Array:
    """Return the angle of complex numbers, from -pi to pi.

    Args:
        z: an array.
        deg: True for degrees.

    Raises:
        TypeError: not an array or a number.

    >>> irax.numpy.angle(1j, deg=True)
    Array(90., dtype=float32, weak_type=True)
    """
    (number,) = as_arrays([z], "angle")
    is_real = not dtypes.issubdtype(number.dtype, np.complexfloating)
    if not is_inexact(number) or (is_real and not number.ndim):
        number = convert(number, dtypes.default_float())  # of scalars too, as JAX
    result = arctan2(imag(number), real(number))
    return rad2deg(result) if deg else result


@elementwise
def iscomplex(x: ArrayLike) -> Array:
    """Return True where the imaginary part is not 0.

    >>> jnp.iscomplex(jnp.array([1 + 2j, 3]))
    Array([ True, False], dtype=bool)
    """
    (number,) = as_arrays([x], "iscomplex")
    return not_equal(imag(number), 0)


@elementwise
def isreal(x: ArrayLike) -> Array:
    """Return True where there is no imaginary part, or it is 0.

    >>> jnp.isreal(jnp.array([1 + 2j, 3]))
    Array([False,  True], dtype=bool)
    """
    return logical_not(iscomplex(x))
