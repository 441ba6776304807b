"""Legalizations of sine, cosine and tangent of float32, and of atan2.

The coefficients of all polynomials are minimax fits of relative error.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of
from irax_compiler.ops import elementwise
from irax_compiler.ops.formula import (
    Number,
    copy_sign,
    function,
    is_negative,
    polynomial,
    where,
)
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.legalize.numerics.scalar_formulas import by_scalars

FLOAT32 = np.dtype(np.float32)

_SINE = (1.0, -0.16666666630446136, 0.008333328690146245, -1.9839178354155588e-4, 2.7171528e-6)
_COSINE = (1.0, -0.5, 0.04166661323347727, -0.0013886529147223233, 2.4372679183209405e-5)

_HALF_PI = (1.5703125, 4.837512969970703e-4, 7.549533620476723e-8, 2.5633440682570896e-12)
"""pi/2 in parts, of which the first three have 11 bits each: their products with integers below
2**13 are exact."""

_LARGE = 8192.0
_TWO_OVER_PI = 0xA2F9836E_4E441529_FC2757D1_F534DDC0_DB629599_3C439041_FE5163AB
"""The first 224 bits of 2/pi after the point."""


@legalizes("stablehlo.sine", "stablehlo.cosine", "stablehlo.tan", kind="bug", of="IREE")
def trigonometric_function(operation: Operation) -> Sequence[Value] | None:
    """Compute trigonometric functions accurately: IREE's float32 sine has a relative error of 1e-3
    at 1e-4 and at pi, an error of 0.2 at 1e6, and is infinite at 1e30.
    """
    (x,) = operation.operands
    if dtype_of(x) != FLOAT32:
        return None
    return [by_scalars(partial(_function, operation.name), x)]


def _function(name: str, x: Number) -> Number:
    r, quadrant = _reduced(abs(x))
    z = r * r
    sine, cosine = r * polynomial(z, _SINE), polynomial(z, _COSINE)
    odd = (quadrant & 1).equals(1)
    if name == "stablehlo.cosine":
        result = where(odd, sine, cosine)
        negative = ((quadrant + 1) & 2).equals(2)
    elif name == "stablehlo.sine":
        result = where(odd, cosine, sine)
        negative = (quadrant & 2).equals(2)
    else:
        result = where(odd, cosine, sine) / where(odd, sine, cosine)
        negative = odd
    result = where(negative, -result, result)
    if name != "stablehlo.cosine":
        result = _with_flipped_sign(result, x)
    return where(function(elementwise.is_finite, x), result, np.nan)


def _with_flipped_sign(result: Number, x: Number) -> Number:
    """Negate the result where x is negative, -0 included."""
    return (result.bits("u4") ^ (x.bits("u4") & 0x80000000)).bits(FLOAT32)


def _reduced(x: Number) -> tuple[Number, Number]:
    """Return x - n pi/2 between -pi/4 and pi/4, and n modulo 4 or more, for x >= 0."""
    is_large = x >= _LARGE
    near = where(is_large, 0.0, x)
    n = function(elementwise.round_nearest_even, near * (2 / np.pi))
    r = near
    for part in _HALF_PI:
        r = r - n * part
    far, far_n = _reduced_from_bits(x)
    return where(is_large, far, r), where(is_large, far_n, n.to("i4"))


def _reduced_from_bits(x: Number) -> tuple[Number, Number]:
    """Reduce x from 16 to the largest float by Payne and Hanek's method: multiply the mantissa, as
    an integer, by just the bits of 2/pi that matter for its exponent.
    """
    bits = x.bits("u4")
    mantissa = (bits & 0x7FFFFF) | 0x800000
    # x = mantissa * 2**(exponent - 150). Multiples of 4 quadrants come from the bits of 2/pi before
    # bit exponent - 152, counted from 0; 32 zeros in front let the count begin anywhere.
    start = (bits >> 23) - 120
    words = _words(start >> 5, 4)
    shift = start & 31
    window = [(a << shift) | ((b >> 1) >> (31 - shift)) for a, b in pairwise(words)]
    high, middle, low = (w.to("u8") for w in window)
    m = mantissa.to("u8")
    # The product modulo 2**96, without its last word.
    product = ((m * high) << 32) + m * middle + ((m * low) >> 32)
    quadrant = ((product >> 62) + ((product >> 61) & 1)).to("i4")
    fraction = product << 2  # as a signed number of 2**64 per quadrant
    r = (fraction >> 32).to("u4").bits("i4").to(FLOAT32) * (np.pi / 2 * 2.0**-32)
    rest = (fraction & 0xFFFFFFFF) >> 1
    return r + rest.to("i4").to(FLOAT32) * (np.pi / 2 * 2.0**-63), quadrant


def _words(index: Number, count: int) -> list[Number]:
    """Return `count` words of 2/pi from number `index` (0 to 4) on; the first word is zero."""
    table = [0, *(_TWO_OVER_PI >> (32 * i) & 0xFFFFFFFF for i in range(6, -1, -1))]
    words = []
    for offset in range(count):
        word: Number | int = table[4 + offset]
        for i in range(3, -1, -1):
            word = where(index.equals(i), Number(index._like(table[i + offset])), word)
        assert isinstance(word, Number)
        words.append(word)
    return words


_ARC_TANGENT = (
    1.0,
    -0.3333328366279602,
    0.1999826580286026,
    -0.142619326710701,
    0.1094203069806099,
    -0.0837731584906578,
    0.05755210295319557,
    -0.030804596841335297,
    0.010726943612098694,
    -0.0017539301188662648,
)


@legalizes("stablehlo.atan2", kind="bug", of="IREE")
def atan2_of_floats(operation: Operation) -> Sequence[Value] | None:
    """Compute atan2 accurately: IREE's in float32 is nan at (0, 0) and (inf, inf), treats -0 as 0,
    and is off by 5e-6.
    """
    y, x = map(Number, operation.operands)
    if x.dtype != FLOAT32:
        return None
    across, along = abs(y), abs(x)
    steep = across > along
    small, large = where(steep, along, across), where(steep, across, along)
    both = small.equals(large)  # also where both are zero or infinite
    ratio = where(both, where(large.equals(0), large, 1.0), small / large)
    angle = ratio * polynomial(ratio * ratio, _ARC_TANGENT)
    angle = where(steep, np.pi / 2 - angle, angle)
    angle = where(is_negative(x), np.pi - angle, angle)
    return [copy_sign(angle, y).value]


_QUARTER_PI = (np.pi / 4, float.fromhex("0x1.1a62633145c07p-55"))
"""pi/4 in two parts, of which the first ends in zeros: its product with 3 is exact."""
_ARC_TANGENT_OF_DOUBLES = (
    -0.333333333333332,
    0.19999999999953205,
    -0.14285714280162023,
    0.11111110781919917,
    -0.09090897718265985,
    0.07692059589388509,
    -0.0666309770799881,
    0.05847848114210706,
    -0.05039138976315885,
    0.03806080469737425,
    -0.017903548272640027,
)
"""atan(t) / t is 1 + t**2 P(t**2), for t up to tan(pi/8)."""


@legalizes("stablehlo.atan2", kind="slow", of="IREE")
def atan2_of_doubles(operation: Operation) -> Sequence[Value] | None:
    """Compute atan2 of float64 by arithmetic, which becomes vectors: IREE calls a function for each
    element.
    """
    y, x = operation.operands
    return [by_scalars(_angle_of_doubles, y, x)] if dtype_of(x) == np.float64 else None


_TINY = 2.0**-900


def _angle_of_doubles(y: Number, x: Number) -> Number:
    """Return n pi/4 plus or minus the angle of a tangent t up to tan(pi/8)."""
    across, along = abs(y), abs(x)
    steep = across > along
    small, large = where(steep, along, across), where(steep, across, along)
    # Of halves and differences of the smallest numbers nothing is left.
    tiny = large < _TINY
    small, large = where(tiny, small * (1 / _TINY), small), where(tiny, large * (1 / _TINY), large)
    both = small.equals(large)  # also where both are zero or infinite
    diagonal = (small > large * (np.sqrt(2) - 1)) | small.equals(np.inf)
    # Halves, whose sum does not overflow.
    above = where(diagonal, where(both, 0.0, (small - large) * 0.5), small)
    below = where(diagonal, small * 0.5 + large * 0.5, where(large.equals(0), 1.0, large))
    tangent = above / below
    square = tangent * tangent
    rest = tangent + tangent * square * polynomial(square, _ARC_TANGENT_OF_DOUBLES)
    eighths = diagonal.to(np.float64)
    eighths, rest = where(steep, 2 - eighths, eighths), where(steep, -rest, rest)
    behind = is_negative(x)
    eighths, rest = where(behind, 4 - eighths, eighths), where(behind, -rest, rest)
    high, low = _QUARTER_PI
    return copy_sign(eighths * high + (eighths * low + rest), y)
