"""Legalizations of powers and roots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial, log
from typing import Any

import numpy as np

from irax_compiler import mlir
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
from irax_compiler.passes.legalize.numerics.double_double import Double, sum_of
from irax_compiler.passes.legalize.numerics.exponentials import power_of_two, scaled
from irax_compiler.passes.legalize.numerics.scalar_formulas import by_scalars

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


@legalizes("stablehlo.power", kind="bug", of="IREE")
def power_of_floats(operation: Operation) -> Sequence[Value] | None:
    """Compute powers accurately: IREE's are nan for many zeros and infinities, such as 0 ** 0, and
    lose digits of large and small results.
    """
    x, y = operation.operands
    if dtype_of(x) not in (np.float32, np.float64):
        return None
    if mlir.splat(x) == 2:
        return [by_scalars(power_of_two, y)]
    exponent = mlir.splat(y)
    formulas = _BY_EXPONENT if dtype_of(x) == np.float64 else _OF_FLOAT32
    formula = None if exponent is None else formulas.get(float(exponent))
    return [by_scalars(_power, x, y) if formula is None else by_scalars(formula, x)]


def _root(x: Number) -> Number:
    """Return x**0.5, which is 0 for -0, and infinite for -infinity."""
    return where(x.equals(-np.inf), np.inf, abs(function(elementwise.sqrt, x)))


_BY_EXPONENT: dict[float, Callable[[Number], Number]] = {
    -1.0: lambda x: 1.0 / x,
    -0.5: lambda x: 1.0 / _root(x),
    0.5: _root,
    1.0: lambda x: x,
    2.0: lambda x: x * x,
    3.0: lambda x: x * x * x,
}
"""Formulas for constant exponents, of a root or a few products."""


def _in_double(formula: Callable[[Number], Number]) -> Callable[[Number], Number]:
    return lambda x: formula(x.to(np.float64)).to(np.float32)


def _over_root(x: Number) -> Number:
    """Return x**-0.5 of a float32 as a float64, by a step of Newton's from that in float32, which
    takes a third of the time of a root and a quotient in float64.
    """
    near = 1.0 / _root(x)
    y = near.to(np.float64)
    better = y * (1.5 - 0.5 * (x.to(np.float64) * y * y))
    return where(near.equals(0) | near.equals(np.inf), y, better)


def _cube(x: Number) -> Number:
    return x * x * x


_OF_FLOAT32 = _BY_EXPONENT | {
    -2.0: _in_double(lambda x: 1.0 / (x * x)),
    -1.5: lambda x: _cube(_over_root(x)).to(np.float32),
    -0.5: lambda x: _over_root(x).to(np.float32),
    1.5: _in_double(lambda x: abs(x) * _root(x)),
    2.5: _in_double(lambda x: x * x * _root(x)),
}
"""Formulas for float32, in float64: each step in float32 would add half a unit to the error."""


def _power(x: Number, y: Number) -> Number:
    size = abs(x)
    if x.dtype == np.float32:
        return power(x, y, _exp2(_log2(size) * y.to(np.float64)))
    return power(x, y, _power_of_doubles(size, y))


def power(x: Number, y: Number, magnitude: Number) -> Number:
    """Return x**y for a given |x|**y, which may be exp(y log |x|) even where that is 0 * inf."""
    size = abs(x)
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
    return where(y.equals(0) | x.equals(1), 1.0, result)


def _log2(x: Number) -> Number:
    """Return the logarithm of a nonnegative float32 as a float64."""
    bits = x.bits("i4")
    # The exponent, one higher from sqrt(2) on, and the rest of x, which is then near 1.
    exponent = shift_right(bits - 0x3F3504F3, 23)
    mantissa = (bits - (exponent << 23)).bits("f4").to(np.float64)
    s = (mantissa - 1) / (mantissa + 1)
    logarithm = exponent.to(np.float64) + s * polynomial(s * s, _LOG2)
    infinite = where(x.equals(0), -np.inf, where(x.equals(np.inf), np.inf, logarithm))
    return infinite


def _exp2(x: Number) -> Number:
    """Return 2**x of a float64 as a float32."""
    x = within(x, 200.0)
    whole = function(elementwise.round_nearest_even, x)
    scale = ((whole.to("i4").to("i8") + 1023) << 52).bits(np.float64)
    return (polynomial(x - whole, _EXP2) * scale).to(np.float32)


def within(x: Number, limit: float) -> Number:
    """Clamp x to -limit and limit, nan too."""
    return where(x < limit, where(x > -limit, x, -limit), limit)


# ---- float64: y log(x) has 11 bits before the point, so that log(x) takes more than float64 has --

_LN2 = (0.693147180559890330, 5.497923018708371e-14)
"""log(2) in two parts; the first is short enough that its products with exponents are exact."""
_THIRD = (1 / 3, 1.850371707708594e-17)
_ATANH = tuple(1 / (2 * k + 1) for k in range(2, 15))
"""atanh(s) / s is 1 + s**2 / 3 + s**4 P(s**2)."""
_EXP = tuple(1 / factorial(k) for k in range(2, 15))


def _power_of_doubles(x: Number, y: Number) -> Number:
    """Return x**y for nonnegative x, except 0**0, 1**inf and the like."""
    # What lies beyond overflows or underflows in any case.
    product = _log(x) * Double(within(y, 2.0**66), 0.0)
    magnitude = _exp(product)
    zero = Number(x._like(0.0))
    limit = where((x < 1) ^ (y < 0), zero, np.inf)
    return where(x.equals(0) | x.equals(np.inf), limit, magnitude)


def _log(x: Number) -> Double:
    """Return the logarithm of a positive normal number, with a relative error of 2**-64."""
    bits = x.bits("i8")
    exponent = shift_right(bits - 0x3FE6A09E667F3BCD, 52)
    mantissa = (bits - (exponent << 52)).bits("f8")
    exponent = exponent.to("i4").to("f8")
    s = Double(mantissa - 1.0, 0.0).over(sum_of(mantissa, 1.0))
    z = s * s
    fifth = z.high * polynomial(z.high, _ATANH)
    third = sum_of(fifth * 0 + _THIRD[0], fifth)
    rest = s * (z * Double(third.high, third.low + _THIRD[1]))
    atanh = s + rest
    twice = Double(atanh.high * 2.0, atanh.low * 2.0)
    return Double(exponent * _LN2[0], exponent * _LN2[1]) + twice


def _exp(x: Double) -> Number:
    high = within(x.high, 800.0)
    low = where(high.equals(x.high), x.low, 0.0)
    whole = function(elementwise.round_nearest_even, high * (1 / log(2)))
    part = sum_of(high - whole * _LN2[0], low - whole * _LN2[1])
    r = part.high
    exponential = 1.0 + (r + (part.low + r * r * polynomial(r, _EXP)))
    # In two steps: 2**1024 is not a number, though most of it is.
    count = whole.to("i8")
    return scaled(exponential, count)


def shift_right(x: Number, bits: int) -> Number:
    """Shift right arithmetically."""
    amount = x._like(bits)
    return Number(mlir.emit("stablehlo.shift_right_arithmetic", [x.value, amount]).results[0])


@legalizes("stablehlo.power", kind="bug", of="IREE")
def power_of_integers(operation: Operation) -> Sequence[Value] | None:
    """Compute integer powers by squaring: IREE looks at the lowest bits of the exponent only, and
    takes 1 / x ** n for 0.
    """
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


@legalizes("stablehlo.cbrt", kind="bug", of="IREE")
def cube_root(operation: Operation) -> Sequence[Value] | None:
    """Compute cube roots accurately: IREE's are off by 12 units in the last place in float32, and
    nan for inf; float64 has none.
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
