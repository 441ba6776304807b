"""The legalization of exponentials of float64."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial, log2

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of
from irax_compiler.ops import elementwise
from irax_compiler.ops.formula import Number, polynomial, where
from irax_compiler.passes.legalization import legalizes
from irax_compiler.passes.legalize.numerics.scalar_formulas import by_scalars

_MAGIC = 1.5 * 2.0**52
"""Added to a small number, leaves the nearest integer in the low bits."""
_LOG2_HIGH = float.fromhex("0x1.62e42feep-1")
"""The logarithm of 2 without its last bits, so that products with exponents are exact."""
_LOG2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
_TERMS = 14
"""The terms of the series for numbers up to log(2) / 2."""


@legalizes(elementwise.exponential.name, kind="slow", of="IREE")
def exponential_of_doubles(operation: Operation) -> Sequence[Value] | None:
    """Compute exp of float64 by arithmetic, which becomes vectors: IREE calls a function for each
    element.
    """
    (x,) = operation.operands
    return [by_scalars(_exponential, x)] if dtype_of(x) == np.float64 else None


def _exponential(x: Number) -> Number:
    """Return 2**k * exp(r), with r = x - k * log(2) of the smallest size."""
    bounded = where(x < -746.0, -746.0, where(x > 710.0, 710.0, x))
    shifted = bounded * log2(np.e) + _MAGIC
    whole = shifted - _MAGIC
    rest = (bounded - whole * _LOG2_HIGH) - whole * _LOG2_LOW
    series = polynomial(rest, [1 / factorial(i) for i in range(2, _TERMS)])
    power = 1 + (rest + rest * rest * series)
    exponent = shifted.bits(np.int64) - int(np.float64(_MAGIC).view(np.int64))
    # In two steps: 2**k alone overflows where the result does not, and underflows.
    half = ((exponent + 4096) >> 1) - 2048
    scaled = power * _two_to(half) * _two_to(exponent - half)
    return where(x.equals(x), scaled, x)


def _two_to(exponent: Number) -> Number:
    return ((exponent + 1023) << 52).bits(np.float64)
