"""Legalizations of operations that IREE does not compile inside the regions of scatters and
sorts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes

from irax_compiler.mlir import Operation, Value, dtype_of
from irax_compiler.ops import elementwise
from irax_compiler.ops.conversion import ReducePrecision
from irax_compiler.ops.formula import Number, copy_sign, function, where
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.rewriting import read_as

_COMPUTED = ("stablehlo.scatter", "stablehlo.sort")


@legalizes("stablehlo.round_nearest_even", "stablehlo.round_nearest_afz", kind="missing", of="IREE")
def rounding_in_computation(operation: Operation) -> Sequence[Value] | None:
    """Round to nearest even by floor inside scalar computations, where IREE does not lower the
    op.
    """
    if not _is_computed(operation):
        return None
    x = Number(operation.operands[0])
    size = abs(x)
    below = function(elementwise.floor, size)
    half = below * 0.5
    rest = size - below
    is_up = rest > 0.5
    if operation.name == "stablehlo.round_nearest_even":
        is_odd = half > function(elementwise.floor, half)
        is_up = is_up | (rest.equals(0.5) & is_odd)
    else:
        is_up = is_up | rest.equals(0.5)
    return [copy_sign(where(is_up, below + 1, below), x).value]


@legalizes("stablehlo.popcnt", "stablehlo.count_leading_zeros", kind="missing", of="IREE")
def bits_in_computation(operation: Operation) -> Sequence[Value] | None:
    """Count bits by halves inside scalar computations, where IREE does not lower the op."""
    if not _is_computed(operation):
        return None
    x = Number(operation.operands[0])
    dtype = dtype_of(operation.operands[0])
    bits = x.bits(f"u{dtype.itemsize}")
    if operation.name == "stablehlo.count_leading_zeros":
        for shift in _powers_of_two(8 * dtype.itemsize):
            bits = bits | (bits >> shift)
        bits = ~bits
    for shift in _powers_of_two(8 * dtype.itemsize):
        mask = (1 << 8 * dtype.itemsize) // ((1 << shift) + 1)
        bits = (bits & mask) + ((bits >> shift) & mask)
    return [bits.bits(dtype).value]


@legalizes("stablehlo.reduce_precision", kind="missing", of="IREE")
def precision_in_computation(operation: Operation) -> Sequence[Value] | None:
    """Reduce precision by integer operations inside scalar computations, where IREE does not lower
    the op.
    """
    op = read_as(ReducePrecision, operation)
    if op is None or not _is_computed(operation):
        return None
    x = Number(operation.operands[0])
    info = ml_dtypes.finfo(x.dtype)
    bits = x.bits(f"u{x.dtype.itemsize}")
    sign = bits & (1 << (info.bits - 1))
    size = bits ^ sign
    infinity = ((1 << info.nexp) - 1) << info.nmant
    dropped = info.nmant - op.mantissa_bits
    if dropped > 0:  # to the nearest, of two the even one
        size = size + ((size >> dropped) & 1) + ((1 << (dropped - 1)) - 1)
        size = (size >> dropped) << dropped
    if op.exponent_bits < info.nexp:
        bias, own = (1 << (info.nexp - 1)) - 1, (1 << (op.exponent_bits - 1)) - 1
        exponent = size & infinity
        is_small = exponent <= (bias - own) << info.nmant
        is_large = ~(exponent <= (bias + own) << info.nmant)
        size = where(is_large, infinity, where(is_small, 0, size))
    return [where(x.equals(x), (size | sign).bits(x.dtype), x).value]


def _powers_of_two(end: int) -> list[int]:
    return [1 << i for i in range(end.bit_length() - 1)]


def _is_computed(operation: Operation) -> bool:
    around: Any = operation.parent
    return around.name in _COMPUTED
