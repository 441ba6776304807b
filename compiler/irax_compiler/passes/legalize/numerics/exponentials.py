"""Legalizations of functions of float64 that are made of exponentials.

IREE calls a function of C's for each element. The formulas here are arithmetic, which becomes
vectors: the argument is reduced to r = x - k log(2), the series of exp(r) - 1 summed, and the
result scaled by 2**k, which is put together from bits (W. J. Cody and W. Waite, Software Manual for
the Elementary Functions, 1980). They err by less than 2 units in the last place, tanh by less than
2.5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial, log, log2

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of
from irax_compiler.ops import elementwise
from irax_compiler.ops.formula import Number, copy_sign, polynomial, where
from irax_compiler.passes.legalization import legalizes
from irax_compiler.passes.legalize.numerics.scalar_formulas import by_scalars

MAGIC = 1.5 * 2.0**52
"""Added to a small number, leaves the nearest integer in the low bits."""
LOG2_HIGH = float.fromhex("0x1.62e42feep-1")
"""The logarithm of 2 without its last bits, so that products with exponents are exact."""
LOG2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
_TERMS = 14
"""The terms of the series for numbers up to log(2) / 2."""
_TINY = 2.0**-60
"""Numbers up to this are their own expm1 and tanh."""


@legalizes(elementwise.exponential.name, kind="slow", of="IREE")
def exponential_of_doubles(operation: Operation) -> Sequence[Value] | None:
    """Compute exp of float64 by arithmetic, which becomes vectors: IREE calls a function for each
    element.
    """
    return _of_doubles(_exponential, operation)


@legalizes(elementwise.exponential_minus_one.name, kind="slow", of="IREE")
def exponential_minus_one_by_vectors(operation: Operation) -> Sequence[Value] | None:
    """Compute expm1 of float64 by arithmetic, which becomes vectors: IREE calls functions for each
    element, in the accurate formula that stands for its own.
    """
    return _of_doubles(_exponential_minus_one, operation)


@legalizes(elementwise.tanh.name, kind="slow", of="IREE")
def tanh_of_doubles(operation: Operation) -> Sequence[Value] | None:
    """Compute tanh of float64 by arithmetic, which becomes vectors: IREE calls a function for each
    element.
    """
    return _of_doubles(_tanh, operation)


@legalizes(elementwise.logistic.name, kind="slow", of="IREE")
def logistic_of_doubles(operation: Operation) -> Sequence[Value] | None:
    """Compute the logistic function of float64 by arithmetic, which becomes vectors: IREE calls a
    function for each element.
    """
    return _of_doubles(_logistic, operation)


def _of_doubles(formula: Callable[[Number], Number], operation: Operation) -> list[Value] | None:
    (x,) = operation.operands
    return [by_scalars(formula, x)] if dtype_of(x) == np.float64 else None


def _exponential(x: Number) -> Number:
    less, exponent = _reduced(x, -746.0, 710.0)
    # In two steps: 2**k alone overflows where the result does not, and underflows.
    half = ((exponent + 4096) >> 1) - 2048
    scaled = (1 + less) * _two_to(half) * _two_to(exponent - half)
    return where(x.equals(x), scaled, x)


def _exponential_minus_one(x: Number) -> Number:
    """Return 2 (2**(k - 1) (exp(r) - 1) + (2**(k - 1) - 1/2)): 2**k may overflow."""
    less, exponent = _reduced(x, -40.0, 710.0)
    half = _two_to(exponent - 1)
    result = (half * less + (half - 0.5)) * 2
    return where(abs(x) > _TINY, result, x)


def _tanh(x: Number) -> Number:
    """Return (1 - e) / (1 + e) for e = exp(-2 |x|), and where that is beyond 1/2 its complement
    2 e / (1 + e), which rounding 1 + e changes less.
    """
    size = abs(x)
    less, exponent = _reduced(size * -2, -40.0, 0.0)
    scale = _two_to(exponent)
    fall = scale * less + (scale - 1)
    large = size > log(3) / 2
    part = where(large, (scale * less + scale) * 2, -fall) / (fall + 2)
    result = where(large, 1 - part, part)
    return where(size > _TINY, copy_sign(result, x), x)


def _logistic(x: Number) -> Number:
    """Return 1 / (1 + exp(-x)), and exp(x) / (1 + exp(x)) of negative numbers."""
    power = _exponential(-abs(x))
    return where(x < 0, power, 1.0) / (1 + power)


def _reduced(x: Number, low: float, high: float) -> tuple[Number, Number]:
    """Return exp(r) - 1 and the integer k, with r = x - k log(2) of the smallest size, for x
    clamped to bounds.
    """
    bounded = where(x < low, low, where(x > high, high, x))
    shifted = bounded * log2(np.e) + MAGIC
    whole = shifted - MAGIC
    rest = (bounded - whole * LOG2_HIGH) - whole * LOG2_LOW
    series = polynomial(rest, [1 / factorial(i) for i in range(2, _TERMS)])
    exponent = shifted.bits(np.int64) - int(np.float64(MAGIC).view(np.int64))
    return rest + rest * rest * series, exponent


def _two_to(exponent: Number) -> Number:
    return ((exponent + 1023) << 52).bits(np.float64)
