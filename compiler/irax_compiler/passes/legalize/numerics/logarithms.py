"""The legalization of logarithms of float64."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of
from irax_compiler.ops import elementwise
from irax_compiler.ops.formula import Number, polynomial, where
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.legalize.numerics.exponentials import LOG2_HIGH, LOG2_LOW
from irax_compiler.passes.legalize.numerics.scalar_formulas import by_scalars

# Bits of floats, as integers.
_ROOT_HALF = int(np.sqrt(np.float64(0.5)).view(np.int64))
_ONE = 1023 << 52
_FRACTION = (1 << 52) - 1
_SMALLEST_NORMAL = 1 << 52
_SERIES = (
    0.6666666666666734,
    0.3999999999941653,
    0.2857142874198925,
    0.22222198611946206,
    0.18183562436232295,
    0.15314095655131754,
    0.14795530002860943,
)
"""log((1 + s) / (1 - s)) / s is 2 + s**2 P(s**2), by a minimax fit of relative error."""


@legalizes(elementwise.log.name, kind="slow", of="IREE")
def log_of_doubles(operation: Operation) -> Sequence[Value] | None:
    """Compute log of float64 by arithmetic, which becomes vectors: IREE calls a function for each
    element.
    """
    (x,) = operation.operands
    return [by_scalars(_log, x)] if dtype_of(x) == np.float64 else None


def _log(x: Number) -> Number:
    """Return k log(2) + log(m), with x = 2**k m and m from sqrt(1/2) to sqrt(2)."""
    bits = x.bits(np.int64)
    # The bits of a subnormal number are its multiple of 2**-1074.
    subnormal = bits < _SMALLEST_NORMAL
    normal = where(subnormal, bits.to(np.float64).bits(np.int64), bits)
    above = normal + (_ONE - _ROOT_HALF)
    exponent = (above >> 52).to(np.float64) - 1023
    exponent = where(subnormal, exponent - 1074, exponent)
    fraction = ((above & _FRACTION) + _ROOT_HALF).bits(np.float64) - 1
    s = fraction / (fraction + 2)
    square = s * s
    half = fraction * fraction * 0.5
    rest = s * (half + square * polynomial(square, _SERIES))
    result = exponent * LOG2_HIGH - ((half - (rest + exponent * LOG2_LOW)) - fraction)
    finite = where(x < np.inf, result, x)
    nonpositive = where(x.equals(0), -np.inf, x * np.nan)
    return where(bits > 0, finite, nonpositive)
