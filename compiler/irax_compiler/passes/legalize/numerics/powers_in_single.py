"""Powers of float32 on devices without float64.

The logarithm is needed to more precision than float32 has. It is a sum of two floats, the first of
which has half of a float's bits, so that products of two such are exact, even where a device fuses
operations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of
from irax_compiler.ops import elementwise
from irax_compiler.ops.formula import Number, function, polynomial, where
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.legalize.numerics.powers import power, shift_right, within
from irax_compiler.passes.legalize.numerics.scalar_formulas import by_scalars

_PER_ATANH = (2.884765625, 0.000624456777926774)
"""2 / log(2), the first part in 12 bits."""
_ATANH = tuple(1 / k for k in (3, 5, 7, 9, 11, 13))
"""atanh(s) / s is 1 + s**2 P(s**2); s is less than 0.172."""
_EXP2 = (
    1.0,
    0.6931471805599453,
    0.24022650695910072,
    0.05550410866482158,
    0.009618129107628477,
    0.0013333558146428443,
    0.00015403530393381608,
    1.5252733804059841e-05,
)


@legalizes("stablehlo.power", kind="bug", of="IREE", reproduction="power_of_floats")
def power_of_singles(operation: Operation) -> Sequence[Value] | None:
    """Compute powers as `power_of_floats` does, without float64."""
    x, y = operation.operands
    if dtype_of(x) != np.float32:
        return None
    return [by_scalars(lambda x, y: power(x, y, _magnitude(abs(x), y)), x, y)]


def _magnitude(x: Number, y: Number) -> Number:
    """Return x**y for nonnegative x, except 0**0, 1**inf and the like."""
    high, low = _log2(x)
    # What lies beyond overflows or underflows in any case.
    y = within(y, 2.0**40)
    y_high = _half(y)
    first = y_high * high
    second = y * low + (y - y_high) * high
    zero = Number(x._like(0.0))
    limit = where((x < 1) ^ (y < 0), zero, np.inf)
    return where(x.equals(0) | x.equals(np.inf), limit, _exp2(first, second))


def _log2(x: Number) -> tuple[Number, Number]:
    """Return the logarithm of a positive number as two parts, the first of which has 12 bits."""
    is_tiny = x < 2.0**-126
    bits = where(is_tiny, x * 2.0**24, x).bits("i4")
    # The exponent, one higher from sqrt(2) on, and the rest of x, which is then near 1.
    shift = shift_right(bits - 0x3F3504F3, 23)
    mantissa = (bits - (shift << 23)).bits("f4")
    exponent = where(is_tiny, shift - 24, shift).to("f4")
    over, under = mantissa - 1.0, mantissa + 1.0
    s = over / under
    s_high, under_high = _half(s), _half(under)
    s_low = ((over - s_high * under_high) - s_high * (mantissa - (under_high - 1.0))) / under
    z = s * s
    rest = s_low + s * z * polynomial(z, _ATANH)
    high = s_high * _PER_ATANH[0]
    low = s_high * _PER_ATANH[1] + rest * sum(_PER_ATANH)
    first = _half(exponent + (high + low))
    return first, (high - (first - exponent)) + low


def _half(x: Number) -> Number:
    """Truncate a float32 to 12 bits."""
    return (x.bits("i4") & -4096).bits("f4")


def _exp2(high: Number, low: Number) -> Number:
    """2**(high + low)."""
    total = high + low
    is_inside = abs(total) < 250.0
    high = where(is_inside, high, where(total < 0, Number(total._like(-250.0)), 250.0))
    whole = function(elementwise.round_nearest_even, where(is_inside, total, high))
    rest = (high - whole) + where(is_inside, low, 0.0)
    # In two steps: 2**128 is not a number, though most of it is.
    count = whole.to("i4")
    half = shift_right(count, 1)
    return polynomial(rest, _EXP2) * _power_of_two(half) * _power_of_two(count - half)


def _power_of_two(x: Number) -> Number:
    return ((x + 127) << 23).bits("f4")
