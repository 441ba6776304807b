"""Double-double arithmetic: numbers as unevaluated sums of two floats, for formulas that need more
precision than float64 has.

The error terms of sums are D. E. Knuth's, those of products T. J. Dekker's (1971). All operations
stay exact where a compiler fuses a product and a sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from irax_compiler.ops.formula import Number


@dataclass(frozen=True)
class Double:
    """A float64 number `high + low`, where low is at most a rounding error of high."""

    high: Number
    low: Any
    """A number, or a plain one."""

    def __add__(self, other: Double) -> Double:
        total = sum_of(self.high, other.high)
        return Double(total.high, total.low + (self.low + other.low))

    def __mul__(self, other: Double) -> Double:
        product = product_of(self.high, other.high)
        return Double(product.high, product.low + (self.high * other.low + other.high * self.low))

    def over(self, other: Double) -> Double:
        """Divide."""
        high = self.high / other.high
        back = product_of(high, other.high)
        rest = (self.high - back.high) - back.low + self.low - high * other.low
        return Double(high, rest / other.high)


def sum_of(x: Number, y: Any) -> Double:
    """x + y, exactly."""
    total = x + y
    rounded = total - x
    return Double(total, (x - (total - rounded)) + (y - rounded))


def product_of(x: Number, y: Number) -> Double:
    """x y, exactly, but for under- and overflow."""
    (x1, x2), (y1, y2) = _halves(x), _halves(y)
    product = x * y
    return Double(product, ((x1 * y1 - product) + x1 * y2 + x2 * y1) + x2 * y2)


def _halves(x: Number) -> tuple[Number, Number]:
    """Split a number into two parts of at most 27 bits each, whose products are exact."""
    high = (x.bits("i8") & -(1 << 27)).bits("f8")
    return high, x - high
