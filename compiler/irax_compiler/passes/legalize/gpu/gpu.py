"""Legalizations for all GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, inexact
from irax_compiler.ops import barrier, conversion, elementwise
from irax_compiler.ops.formula import Number, function, where
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.passes.legalize.iree.fusion import comes_from
from irax_compiler.passes.legalize.legalization import legalizes

F32 = np.dtype(np.float32)


def _is_float8(dtype: np.dtype) -> bool:
    return inexact(dtype) and dtype.itemsize == 1


@dataclass(frozen=True)
class Format:
    """The format of an 8-bit float: a sign bit, an exponent, and `mantissa` bits."""

    mantissa: int
    bias: int
    largest: int
    """The bits of the largest finite number."""
    infinity: int
    """The bits of infinity, or of the value used in its place."""
    nan: int
    has_negative_zero: bool


@cache
def format_of(dtype: np.dtype) -> Format:
    """The format of an 8-bit float."""
    info = ml_dtypes.finfo(dtype)

    def bits(x: Any) -> int:
        return int(np.asarray(x).astype(dtype).view(np.uint8))

    with np.errstate(over="ignore", invalid="ignore"):
        return Format(
            info.nmant,
            1 - info.minexp,
            bits(info.max),
            bits(np.inf),
            bits(np.nan),
            bits(-0.0) == 0x80,
        )


@legalizes("stablehlo.convert", kind="missing", of="IREE")
def float32_of_float8(operation: Operation) -> Sequence[Value] | None:
    """Convert 8-bit floats by operations on their bits: IREE supports no such conversion on
    GPUs.
    """
    (x,) = map(Number, operation.operands)
    if not _is_float8(x.dtype) or dtype_of(operation.results[0]) != F32:
        return None
    kind = format_of(x.dtype)
    bits = x.bits("u1").to("u4")
    size = bits & 0x7F
    # Subnormal numbers by value: of float32's own some GPUs make zeros.
    small = size.to(F32) * 2.0 ** (1 - kind.bias - kind.mantissa)
    normal = (size << (23 - kind.mantissa)) + ((127 - kind.bias) << 23)
    result = where(size < (1 << kind.mantissa), small.bits("u4"), normal)
    if kind.infinity == kind.nan:
        is_nan = size > kind.largest if kind.has_negative_zero else bits.equals(kind.nan)
    else:
        result = where(size.equals(kind.infinity), 0x7F800000, result)
        is_nan = size > kind.infinity
    result = where(is_nan, 0x7FC00000, result)
    return [(result | ((bits & 0x80) << 24)).bits(F32).value]


@legalizes("stablehlo.convert", kind="missing", of="IREE")
def float8_of_float32(operation: Operation) -> Sequence[Value] | None:
    """Convert to 8-bit floats by operations on bits, rounding to nearest, ties to even."""
    (x,) = map(Number, operation.operands)
    dtype = dtype_of(operation.results[0])
    if not _is_float8(dtype) or x.dtype != F32:
        return None
    kind = format_of(dtype)
    bits = x.bits("u4")
    size = bits & 0x7FFFFFFF
    dropped = 23 - kind.mantissa
    to_even = (size >> dropped) & 1
    rounded = ((size + ((1 << (dropped - 1)) - 1)) + to_even) >> dropped
    normal = rounded - ((127 - kind.bias) << kind.mantissa)
    smallest = float(ml_dtypes.finfo(dtype).smallest_normal)
    is_small = size < int(np.float32(smallest).view(np.uint32))
    in_steps = where(is_small, size.bits(F32), 0.0) * 2.0 ** (kind.bias - 1 + kind.mantissa)
    small = function(elementwise.round_nearest_even, in_steps).to("u4")
    result = where(is_small, small, normal)
    result = where(~is_small & (normal > kind.largest), kind.infinity & 0x7F, result)
    result = where(size > 0x7F800000, kind.nan & 0x7F, result)
    sign = (bits >> 24) & 0x80
    if kind.has_negative_zero:
        result = result | sign
    else:
        beyond = ~is_small & (normal > kind.largest)
        result = where(beyond, kind.nan, where(result.equals(0), result, result | sign))
    return [result.to("u1").bits(dtype).value]


@legalizes(
    "stablehlo.sign",
    kind="bug",
    of="IREE",
    fatal="the compiler of IREE 3.13.0 ends the process, for HIP",
    issue="https://github.com/iree-org/iree/issues/24879",
)
def sign_of_doubles(operation: Operation) -> Sequence[Value] | None:
    """Compute the sign of float64 by comparisons: IREE's compiler crashes on some uses of the op,
    for AMD's GPUs.
    """
    (x,) = map(Number, operation.operands)
    if x.dtype != np.float64:
        return None
    return [where(x > 0, 1.0, where(x < 0, -1.0, x)).value]


@legalizes("stablehlo.dot_general", "stablehlo.convolution", kind="missing", of="IREE")
def contraction_of_float8(operation: Operation) -> Sequence[Value] | None:
    """Multiply matrices of 8-bit floats in float32: IREE cannot multiply them on GPUs."""
    if not any(_is_float8(dtype_of(x)) for x in operation.operands):
        return None
    return read(operation).build([conversion.convert(x, F32) for x in operation.operands])


@legalizes(
    "stablehlo.reduce",
    kind="bug",
    of="IREE",
    fatal="the compiler of IREE 3.13.0 ends the process, for CUDA and HIP",
)
def reduction_of_complex(operation: Operation) -> Sequence[Value] | None:
    """Put a barrier behind a sum of complex numbers: IREE's compiler crashes where it fuses users
    with it.
    """
    if dtype_of(operation.results[0]).kind != "c":
        return None
    return barrier.barrier.build(list(operation.clone().operation.results))


@legalizes("stablehlo.scatter", kind="bug", of="IREE")
def scatter_of_computed_updates(operation: Operation) -> Sequence[Value] | None:
    """Put a barrier before a scatter's updates: IREE does not compile some scatters fused with the
    computation of their updates.
    """
    first = len(operation.results) + 1
    if all(map(mlir.is_argument, operation.operands[first:])):
        return None
    return _behind_barrier(operation, first)


def _behind_barrier(operation: Operation, first: int) -> list[Value]:
    """Copy an operation, with a barrier behind its operands from one on."""
    operands = list(operation.operands)
    held = barrier.barrier.build(operands[first:])
    return mlir.clone_on(operation, [*operands[:first], *held, *mlir.captured(operation)])


@legalizes("stablehlo.reduce", "stablehlo.reduce_window", kind="bug", of="IREE")
def reduction_from_computed_init(operation: Operation) -> Sequence[Value] | None:
    """Give a reduction init values of its own, behind a barrier: IREE does not compile one whose
    init value has other users.
    """
    first = len(operation.results)
    if all(mlir.splat(x) is not None for x in operation.operands[first:]):
        return None
    return _behind_barrier(operation, first)


@legalizes("stablehlo.sort", kind="bug", of="IREE")
def sort_by_any_order(operation: Operation) -> Sequence[Value] | None:
    """Put a barrier behind the results of a sort: IREE does not compile a sort if it sees that a
    result is unused.
    """
    if len(operation.results) == 1:
        return None
    return barrier.barrier.build(list(operation.clone().operation.results))


@legalizes("stablehlo.slice", kind="bug", of="IREE")
def slice_of_reduction(operation: Operation) -> Sequence[Value] | None:
    """Put a barrier between a reduction and a slice of its result: IREE does not compile some of
    these fused.
    """
    (x,) = operation.operands
    if not _is_folded(x):
        return None
    return read(operation).build(barrier.barrier.build([x]))


def _is_folded(x: Value) -> bool:
    """True if a value is the result of a reduction, or computed from one alone."""
    made = mlir.definition(x)
    while made is not None and made.name != "stablehlo.reduce":
        if len(made.operands) != 1 or made.name == "stablehlo.optimization_barrier":
            return False
        made = mlir.definition(made.operands[0])
    return made is not None


@legalizes(
    "stablehlo.slice",
    "stablehlo.dynamic_slice",
    kind="bug",
    of="IREE",
    fatal="the compiler of IREE 3.13.0 ends the process, for CUDA and HIP",
)
def slice_with_constant(operation: Operation) -> Sequence[Value] | None:
    """Put a barrier between a slice and what is computed from a constant array: IREE does not
    compile some of these fused, and its compiler crashes where a reduction follows.
    """
    x, *starts = operation.operands
    if not comes_from(x, _is_constant_array):
        return None
    return read(operation).build([*barrier.barrier.build([x]), *starts])


def _is_constant_array(operation: Operation) -> bool:
    return traits_of(operation).is_constant and mlir.splat(operation.results[0]) is None
