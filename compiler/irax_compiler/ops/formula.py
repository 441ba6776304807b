"""`Number`, an array with operators, so that code that builds a formula reads like the formula.

    x = Number(value)
    y = where(x < 0, -x, x * x + 1)

Plain numbers take the dtype and shape of the array they meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import bitcast, bitwise, comparison, conversion, elementwise
from irax_compiler.ops.core import full_like


@dataclass(frozen=True, eq=False)
class Number:
    """An array of numbers, of which a formula is made."""

    value: Value

    @property
    def dtype(self) -> np.dtype:
        return dtype_of(self.value)

    def __add__(self, other: Any) -> Number:
        return Number(elementwise.add(self.value, self._like(other)))

    def __radd__(self, other: Any) -> Number:
        return Number(elementwise.add(self._like(other), self.value))

    def __sub__(self, other: Any) -> Number:
        return Number(elementwise.subtract(self.value, self._like(other)))

    def __rsub__(self, other: Any) -> Number:
        return Number(elementwise.subtract(self._like(other), self.value))

    def __mul__(self, other: Any) -> Number:
        return Number(elementwise.multiply(self.value, self._like(other)))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Number:
        return Number(elementwise.divide(self.value, self._like(other)))

    def __rtruediv__(self, other: Any) -> Number:
        return Number(elementwise.divide(self._like(other), self.value))

    def __neg__(self) -> Number:
        return Number(elementwise.negate(self.value))

    def __abs__(self) -> Number:
        return Number(elementwise.abs(self.value))

    def __and__(self, other: Any) -> Number:
        return Number(bitwise.and_(self.value, self._like(other)))

    def __or__(self, other: Any) -> Number:
        return Number(bitwise.or_(self.value, self._like(other)))

    def __xor__(self, other: Any) -> Number:
        return Number(bitwise.xor(self.value, self._like(other)))

    def __invert__(self) -> Number:
        return Number(bitwise.not_(self.value))

    def __lshift__(self, other: Any) -> Number:
        return Number(bitwise.shift_left(self.value, self._like(other)))

    def __rshift__(self, other: Any) -> Number:
        """Shifts zeros in, also for signed integers."""
        return Number(bitwise.shift_right_logical(self.value, self._like(other)))

    def __lt__(self, other: Any) -> Number:
        return Number(comparison.less(self.value, self._like(other)))

    def __le__(self, other: Any) -> Number:
        return Number(comparison.less_equal(self.value, self._like(other)))

    def __gt__(self, other: Any) -> Number:
        return Number(comparison.greater(self.value, self._like(other)))

    def __ge__(self, other: Any) -> Number:
        return Number(comparison.greater_equal(self.value, self._like(other)))

    def equals(self, other: Any) -> Number:
        """Elementwise equality: `==` is left to Python."""
        return Number(comparison.equal(self.value, self._like(other)))

    def to(self, dtype: Any) -> Number:
        """Converted by value."""
        return Number(conversion.convert(self.value, np.dtype(dtype)))

    def bits(self, dtype: Any) -> Number:
        """Reinterpret the bits as another dtype of the same width."""
        return Number(bitcast.BitcastConvert(shape_of(self.value), np.dtype(dtype))(self.value))

    def _like(self, other: Any) -> Value:
        return other.value if isinstance(other, Number) else full_like(self.value, other)


def where(condition: Number, on_true: Any, on_false: Any) -> Number:
    """One or the other, either of which may be a plain number, not both."""
    model = on_true if isinstance(on_true, Number) else on_false
    return Number(comparison.select(condition.value, model._like(on_true), model._like(on_false)))


def function(op: Any, x: Number) -> Number:
    """An op of one operand."""
    return Number(op(x.value))


def polynomial(x: Number, coefficients: Sequence[float]) -> Number:
    """The sum of `coefficients[i] * x**i`."""
    *rest, last = coefficients
    total: Any = last
    for coefficient in reversed(rest):
        total = x * total + coefficient
    return total


def copy_sign(magnitude: Number, sign: Number) -> Number:
    """A number with the sign of another, that of zeros and nans included."""
    size = abs(magnitude)
    # Not put together from bits: Mesa gets those wrong that a choice by abs(sign) follows.
    return where(is_negative(sign), -size, size)


def is_negative(x: Number) -> Number:
    """True where the sign bit is set, also of zeros and nans."""
    return x.bits(f"i{x.dtype.itemsize}") < 0
