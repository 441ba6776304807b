"""Legalizations of sine, cosine and tangent of float64.

IREE calls a function of C's for each element. The formulas here are arithmetic, which becomes
vectors. The argument is reduced to x - n pi/2 between -pi/4 and pi/4, as a sum of two floats: near
arguments by subtracting multiples of pi/2 in parts (W. J. Cody and W. Waite, Software Manual for
the Elementary Functions, 1980), far ones by the bits of 2/pi (M. H. Payne and R. N. Hanek, 1983).
The polynomials are minimax fits of relative error. Results err by less than 1.2 units in the last
place.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from math import prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops.elementwise_map import Map
from irax_compiler.ops.formula import Number, polynomial, where
from irax_compiler.passes.core import enclosing
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.legalize.numerics.double_double import Double, product_of, sum_of
from irax_compiler.passes.legalize.numerics.exponentials import MAGIC
from irax_compiler.passes.legalize.numerics.scalar_formulas import by_scalars

_SINE = (
    -0.1666666666666663,
    0.008333333333322113,
    -0.00019841269829584855,
    2.7557313619702316e-06,
    -2.5050747490622132e-08,
    1.5896213900738014e-10,
)
"""(sin(r) / r - 1) / r**2 as a polynomial in r**2."""
_COSINE = (
    0.041666666666666595,
    -0.001388888888887305,
    2.4801587288846537e-05,
    -2.755731417776405e-07,
    2.087570062846384e-09,
    -1.1358525208067716e-11,
)
"""(cos(r) - 1 + r**2 / 2) / r**4 as a polynomial in r**2."""

_FEW = 4
"""The number of elements from which arithmetic is faster than the functions of C."""
_TINY = 2.0**-30
"""Numbers up to this are their own sine and tangent."""
_FAR = 2.0**20
_HALF_PI = (
    float.fromhex("0x1.921fb544p+0"),
    float.fromhex("0x1.0b4611a6p-34"),
    float.fromhex("0x1.3198a2ep-69"),
    float.fromhex("0x1.b839a252049c1p-104"),
)
"""pi/2 in parts, of which the first three have 33 bits each: their products with integers below
2**20 are exact."""
_HALF_PI_HIGH, _HALF_PI_LOW = float.fromhex("0x1.921fb54442d18p+0"), 6.123233995736766e-17

_TWO_OVER_PI = int(
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea09d1921c"
    "fe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980f"
    "ef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d08"
    "56033046fc7b6bab",
    16,
)
"""The first 1216 bits of 2/pi after the point."""
_WORDS = (0, *(_TWO_OVER_PI >> (64 * i) & (2**64 - 1) for i in range(18, -1, -1)))


@legalizes("stablehlo.sine", "stablehlo.cosine", "stablehlo.tan", kind="slow", of="IREE")
def trigonometric_function_of_doubles(operation: Operation) -> Sequence[Value] | None:
    """Compute trigonometric functions of float64 by arithmetic, which becomes vectors: IREE calls a
    function for each element. That is faster for fewer elements than vectors have.
    """
    (x,) = operation.operands
    if dtype_of(x) != np.float64 or _is_of_few(operation):
        return None
    return [by_scalars(partial(_function, operation.name), x)]


def _is_of_few(operation: Operation) -> bool:
    """True for an operation on few elements, in a public function and outside of maps: a private
    function, or a map, may be applied to many.
    """
    if prod(shape_of(operation.results[0])) >= _FEW:
        return False
    *inner, function, _ = enclosing(operation)
    return mlir.is_public(function) and all(o.name != Map.name for o in inner)


def _function(name: str, x: Number) -> Number:
    size = abs(x)
    far = size >= _FAR
    near_rest, near_quadrant = _reduced(where(far, 0.0, size))
    far_rest, far_quadrant = _reduced_from_bits(size)
    quadrant = where(far, far_quadrant, near_quadrant)
    rest = _choice(far, far_rest, near_rest)
    sine, cosine = _sine(rest.high, rest.low), _cosine(rest.high, rest.low)
    odd = (quadrant & 1).equals(1)
    if name == "stablehlo.cosine":
        result, sign = where(odd, sine.high, cosine.high), (quadrant + 1) << 62
    elif name == "stablehlo.sine":
        result, sign = where(odd, cosine.high, sine.high), (quadrant << 62) ^ x.bits(np.uint64)
    else:
        ratio = _choice(odd, cosine, sine).over(_choice(odd, sine, cosine))
        result, sign = ratio.high + ratio.low, (quadrant << 63) ^ x.bits(np.uint64)
    result = (result.bits(np.uint64) ^ (sign & (1 << 63))).bits(np.float64)
    if name != "stablehlo.cosine":
        result = where(size > _TINY, result, x)  # Sums of subnormal numbers are 0.
    return where(size < np.inf, result, np.nan)


def _choice(condition: Number, on_true: Double, on_false: Double) -> Double:
    high = where(condition, on_true.high, on_false.high)
    return Double(high, where(condition, on_true.low, on_false.low))


def _sine(high: Number, low: Number) -> Double:
    square = high * high
    return _sorted(high, square * (high * polynomial(square, _SINE) - low * 0.5) + low)


def _cosine(high: Number, low: Number) -> Double:
    square = high * high
    half = square * 0.5
    rounded = 1 - half
    rest = square * square * polynomial(square, _COSINE) - high * low
    return _sorted(rounded, ((1 - rounded) - half) + rest)


def _reduced(x: Number) -> tuple[Double, Number]:
    """Return x - n pi/2, and n modulo 4 or more, for x from 0 to 2**20."""
    shifted = x * (2 / np.pi) + MAGIC
    n = shifted - MAGIC
    first, second, third, last = _HALF_PI
    difference = sum_of(x - n * first, n * -second)
    total = sum_of(difference.high, n * -third)
    low = total.low + (difference.low - n * last)
    return _sorted(total.high, low), shifted.bits(np.uint64)


def _sorted(high: Number, low: Number) -> Double:
    """The sum of a number and a smaller one."""
    total = high + low
    return Double(total, low - (total - high))


def _reduced_from_bits(x: Number) -> tuple[Double, Number]:
    """Multiply the mantissa of x, from 2**20 to the largest float, as an integer by just the bits
    of 2/pi that matter for its exponent.
    """
    bits = x.bits(np.uint64)
    mantissa = (bits & ((1 << 52) - 1)) | (1 << 52)
    # x = mantissa * 2**(exponent - 1075). Multiples of 4 quadrants come from the bits of 2/pi
    # before bit exponent - 1077, counted from 0; 64 zeros precede them.
    start = (bits >> 52) - 1013
    shift = start & 63
    pairs = pairwise(_words(start >> 6))
    high, middle, low = ((a << shift) | ((b >> 1) >> (63 - shift)) for a, b in pairs)
    return _radians(*_product(mantissa, high, middle, low))


def _words(index: Number) -> list[Number]:
    """Return four words of 2/pi from number `index` (0 to 16) on; the first word is zero."""
    words = [Number(index._like(word)) for word in _WORDS]
    for step in (16, 8, 4, 2, 1):
        beyond = (index & step).equals(step)
        # Bit 16 is set where no other is.
        count = 4 if step == 16 else step + 3
        words[:count] = [where(beyond, words[i + step], words[i]) for i in range(count)]
    return words[:4]


def _product(mantissa: Number, high: Number, middle: Number, low: Number) -> tuple[Number, Number]:
    """The product of 53 bits and three words, modulo 2**192, without its last word. The second word
    of the result may be less by 4.
    """
    carried = _high_word(mantissa, low, exact=False)
    second = mantissa * middle + carried
    overflow = (second < carried).to(np.uint64)
    return mantissa * high + _high_word(mantissa, middle, exact=True) + overflow, second


def _high_word(x: Number, y: Number, *, exact: bool) -> Number:
    """The upper 64 bits of a product of 64 bits; if not exact, they may be less by 3."""
    half, ones = 32, (1 << 32) - 1
    across, along = (x & ones) * (y >> half), (x >> half) * (y & ones)
    result = (x >> half) * (y >> half) + (across >> half) + (along >> half)
    if not exact:
        return result
    lowest = ((x & ones) * (y & ones)) >> half
    return result + ((lowest + (across & ones) + (along & ones)) >> half)


def _radians(high: Number, low: Number) -> tuple[Double, Number]:
    """From quadrants, as two words of which two bits are before the point: the angle beyond the
    nearest multiple of a quadrant, and that multiple.
    """
    quadrant = (high >> 62) + ((high >> 61) & 1)
    # As a signed number of 2**128 per quadrant, of which the sign is applied last.
    first, second = (high << 2) | (low >> 62), low << 2
    negative = (first >> 63).equals(1)
    first, second = where(negative, ~first, first), where(negative, ~second, second)
    upper = _float(first >> 32) * 2.0**-32
    lower = _float(first & ((1 << 32) - 1)) * 2.0**-64
    total = upper + lower
    rest = (lower - (total - upper)) + _float(second >> 12) * 2.0**-116
    turned = _sorted(total, rest)
    angle = product_of(turned.high, Number(turned.high._like(_HALF_PI_HIGH)))
    rest = angle.low + (turned.high * _HALF_PI_LOW + turned.low * _HALF_PI_HIGH)
    sign = where(negative, Number(turned.high._like(-1.0)), 1.0)
    return Double(angle.high * sign, rest * sign), quadrant


def _float(integer: Number) -> Number:
    """A number of up to 52 bits as a float."""
    return (integer | (1075 << 52)).bits(np.float64) - 2.0**52
