"""Cures for powers and roots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value
from irax_compiler.ops import elementwise
from irax_compiler.passes.legalize.cure import cure
from irax_compiler.passes.legalize.formula import (
    Number,
    copy_sign,
    function,
    is_negative,
    polynomial,
    where,
)

# Minimax fits: log2(m) = s P(s**2) for s = (m - 1) / (m + 1) and m from sqrt(1/2) to sqrt(2), and
# 2**x for x from -1/2 to 1/2. Their errors, 3e-14 and 8e-13, leave float32 results right.
_LOG2 = (
    2.88539008177785,
    0.9617966941133549,
    0.5770779423635212,
    0.4122092517406148,
    0.319905752295117,
    0.28289903567674607,
)
_EXP2 = (
    0.9999999999997626,
    0.6931471805465143,
    0.2402265069887985,
    0.055504109393421895,
    0.009618128542962708,
    0.001333345206173274,
    0.00015403851681426142,
    1.530973754989307e-05,
    1.3175872311415774e-06,
)


@cure("stablehlo.power")
def power_of_floats(operation: Operation) -> Sequence[Value] | None:
    """IREE's power is nan for many zeros and infinities, 0 ** 0 among them, and loses digits where
    the result is large or small.
    """
    x, y = map(Number, operation.operands)
    if x.dtype not in (np.float32, np.float64):
        return None
    size = abs(x)
    if x.dtype == np.float32:
        magnitude = _exp2(_log2(size) * y.to(np.float64))
    else:
        magnitude = function(elementwise.exponential, function(elementwise.log, size) * y)
    # What follows holds for any way to compute exp(y log |x|), where that is 0 * inf, too.
    one = y.equals(0) | size.equals(1) & abs(y).equals(np.inf)
    magnitude = where(one, 1.0, magnitude)
    half = y * 0.5
    floor = function(elementwise.floor, y)
    is_integer = floor.equals(y)
    is_odd = is_integer & ~function(elementwise.floor, half).equals(half)
    is_even_or_zero = is_integer | size.equals(0) | size.equals(np.inf)
    signed = where(is_odd, -magnitude, where(is_even_or_zero, magnitude, np.nan))
    result = where(is_negative(x), signed, magnitude)
    unordered = ~(x.equals(x) & y.equals(y))
    result = where(unordered, np.nan, result)
    return [where(y.equals(0) | x.equals(1), 1.0, result).value]


def _log2(x: Number) -> Number:
    """The logarithm of a float32 that is not negative, as a float64."""
    bits = x.bits("i4")
    # The exponent, one higher from sqrt(2) on, and the rest of x, which is then near 1.
    exponent = _shift_right(bits - 0x3F3504F3, 23)
    mantissa = (bits - (exponent << 23)).bits("f4").to(np.float64)
    s = (mantissa - 1) / (mantissa + 1)
    logarithm = exponent.to(np.float64) + s * polynomial(s * s, _LOG2)
    infinite = where(x.equals(0), -np.inf, where(x.equals(np.inf), np.inf, logarithm))
    return infinite


def _exp2(x: Number) -> Number:
    """2**x of a float64, as a float32."""
    x = where(x < 200.0, where(x > -200.0, x, -200.0), 200.0)  # also in the place of nan
    whole = function(elementwise.round_nearest_even, x)
    scale = ((whole.to("i4").to("i8") + 1023) << 52).bits(np.float64)
    return (polynomial(x - whole, _EXP2) * scale).to(np.float32)


def _shift_right(x: Number, bits: int) -> Number:
    """An arithmetic shift."""
    amount = x._like(bits)
    return Number(mlir.emit("stablehlo.shift_right_arithmetic", [x.value, amount]).results[0])


@cure("stablehlo.power")
def power_of_integers(operation: Operation) -> Sequence[Value] | None:
    """IREE looks at the lowest bits of the exponent only, and takes 1 / x ** n for 0."""
    x, y = map(Number, operation.operands)
    if x.dtype.kind not in "iu":
        return None
    # Repeated squaring.
    result, base = x * 0 + 1, x
    for bit in range(8 * x.dtype.itemsize - (x.dtype.kind == "i")):
        result = where((y & (1 << bit)).equals(0), result, result * base)
        base = base * base
    if x.dtype.kind == "i":
        # x ** -n is 0 but for 1 and -1, where it is x ** n.
        unit = where((y & 1).equals(0), x * x, x)
        inverse = where((x * x).equals(1) & (abs(x).equals(1)), unit, 0)
        result = where(y < 0, inverse, result)
    return [result.value]


@cure("stablehlo.cbrt")
def cube_root(operation: Operation) -> Sequence[Value] | None:
    """IREE's float32 cube root is off by 12 units in the last place, and nan for inf; there is
    none for float64.
    """
    (x,) = map(Number, operation.operands)
    starts: dict[Any, tuple[str, int, int]] = {
        np.float32: ("u4", 0x2A514067, 3),
        np.float64: ("u8", 0x2A9F7893782DA1CE, 5),
    }
    if x.dtype.type not in starts:
        return None
    integer, offset, steps = starts[x.dtype.type]
    size = abs(x)
    # A third of the exponent, to within 4 %; each of Newton's steps doubles the digits.
    root = (size.bits(integer) / 3 + offset).bits(x.dtype)
    for _ in range(steps):
        root = (root + root + size / (root * root)) * (1 / 3)
    exact = size.equals(0) | ~function(elementwise.is_finite, x)
    return [where(exact, x, copy_sign(root, x)).value]
