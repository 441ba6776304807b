"""Remainders of floats for devices without them, by long division of integers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of, inexact
from irax_compiler.ops import conversion, elementwise
from irax_compiler.ops.formula import Number, where
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.legalize.numerics.scalar_formulas import by_scalars

FLOAT32, UINT32 = np.dtype(np.float32), np.dtype(np.uint32)

_INFINITY, _HIDDEN, _BIAS, _FRACTION = 0x7F800000, 1 << 23, 127, 23
_AT_ONCE = 8
"""The bits of the quotient that one step computes: as many as fit in 32 bits."""


@legalizes("stablehlo.remainder", kind="bug", of="IREE")
def remainder_of_singles(operation: Operation) -> Sequence[Value] | None:
    """Compute remainders by long division: SPIR-V subtracts the rounded quotient times y from x,
    which is meaningless for large quotients.
    """
    dtype = dtype_of(operation.results[0])
    if not inexact(dtype):
        return None
    x, y = (conversion.convert(v, FLOAT32) for v in operation.operands)
    return [conversion.convert(by_scalars(_remainder, x, y), dtype)]


def _remainder(x: Number, y: Number) -> Number:
    bits, divisor = x.bits(UINT32), y.bits(UINT32) & 0x7FFFFFFF
    size = bits & 0x7FFFFFFF
    exponent, lowest = _exponent(size), _exponent(divisor)
    by = _mantissa(divisor)
    by = where(by.equals(0), 1, by)
    left = _rest(_mantissa(size), by)
    steps = where(size < divisor, 0, exponent - lowest)
    for _ in range(-(-(2 * _BIAS) // _AT_ONCE)):
        shift = where(steps > _AT_ONCE, _AT_ONCE, steps)
        left = _rest(left << shift, by)
        steps = steps - shift
    result = where(size < divisor, size, _scaled(left, lowest))
    is_nan = (size >= _INFINITY) | (divisor > _INFINITY) | divisor.equals(0)
    return where(is_nan, 0x7FC00000, result | (bits & 0x80000000)).bits(FLOAT32)


def _exponent(bits: Number) -> Number:
    """Return the exponent; subnormal numbers have that of the smallest normal one."""
    exponent = bits >> _FRACTION
    return where(exponent.equals(0), 1, exponent)


def _mantissa(bits: Number) -> Number:
    fraction = bits & (_HIDDEN - 1)
    return where(bits < _HIDDEN, fraction, fraction | _HIDDEN)


def _rest(x: Number, y: Number) -> Number:
    return Number(elementwise.remainder(x.value, y.value))


def _scaled(mantissa: Number, exponent: Number) -> Number:
    """Return the bits of a float with the given mantissa and exponent; the 24 bits of the mantissa
    may begin with zeros.
    """
    as_float = mantissa.to(FLOAT32).bits(UINT32)
    raised = (as_float >> _FRACTION) + exponent
    offset = _BIAS + _FRACTION
    normal = ((raised - offset) << _FRACTION) | (as_float & (_HIDDEN - 1))
    subnormal = mantissa << where(exponent > _FRACTION, _FRACTION, exponent - 1)
    result = where(raised > offset, normal, subnormal)
    return where(mantissa.equals(0), mantissa, result)
