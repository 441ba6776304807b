"""Legalizations of conversions to and from narrow floats, of which IREE supports few and with
errors.
"""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, inexact
from irax_compiler.ops import conversion
from irax_compiler.ops.comparison import Compare
from irax_compiler.ops.formula import Number, copy_sign, where
from irax_compiler.ops.registry import read
from irax_compiler.passes.legalize.float_codes import rounded_to_odd
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.legalize.numerics.scalar_formulas import by_scalars
from irax_compiler.passes.rewriting import read_as

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
BF16 = np.dtype(ml_dtypes.bfloat16)
E4M3FN = np.dtype(ml_dtypes.float8_e4m3fn)


@legalizes("stablehlo.convert", kind="missing", of="IREE")
def convert_of_float8(operation: Operation) -> Sequence[Value] | None:
    """Convert 8-bit floats by way of float32, which represents all of them: IREE converts them to
    few dtypes.
    """
    (x,) = map(Number, operation.operands)
    target = dtype_of(operation.results[0])
    if not _is_float8(x.dtype) or target in (F32, x.dtype):
        return None
    return [x.to(F32).to(target).value]


@legalizes("stablehlo.convert", kind="bug", of="IREE")
def convert_of_double_to_narrow(operation: Operation) -> Sequence[Value] | None:
    """Round float64 to odd in float32, then to the narrower dtype, which rounds correctly: IREE
    rounds twice or not at all, and loses subnormal numbers.
    """
    (x,) = map(Number, operation.operands)
    target = dtype_of(operation.results[0])
    if x.dtype != F64 or not inexact(target) or target.itemsize > 2:
        return None
    return [rounded_to_odd(x, target).to(target).value]


@legalizes("stablehlo.convert", kind="missing", of="IREE")
def bfloat16_of_integers(operation: Operation) -> Sequence[Value] | None:
    """Convert integers to float32 and round that by operations on bits: for processors without
    instructions for it IREE calls a function that programs do not contain, also where the
    conversion goes by way of float32.
    """
    (x,) = map(Number, operation.operands)
    if inexact(x.dtype) or dtype_of(operation.results[0]) != BF16:
        return None
    return [conversion.convert(by_scalars(_as_bfloat16, x.to(F32).value), BF16)]


@legalizes(
    "stablehlo.add",
    "stablehlo.divide",
    "stablehlo.exponential",
    "stablehlo.exponential_minus_one",
    "stablehlo.log",
    "stablehlo.log_plus_one",
    "stablehlo.logistic",
    "stablehlo.multiply",
    "stablehlo.remainder",
    "stablehlo.rsqrt",
    "stablehlo.sqrt",
    "stablehlo.subtract",
    "stablehlo.tanh",
    kind="bug",
    of="IREE",
)
def function_of_bfloat16(operation: Operation) -> Sequence[Value] | None:
    """Compute in float32 and round: IREE rounds just what a kernel stores."""
    if dtype_of(operation.results[0]) != BF16:
        return None
    wide = read(operation).build([conversion.convert(x, F32) for x in operation.operands])
    return [conversion.convert(wide[0], BF16)]


@legalizes("stablehlo.convert", kind="bug", of="IREE")
def float32_rounded_to_bfloat16(operation: Operation) -> Sequence[Value] | None:
    """Round by integer operations on bits: IREE drops all but the last of consecutive roundings."""
    (x,), (rounded,) = operation.operands, operation.results
    if dtype_of(x) != F32 or dtype_of(rounded) != BF16:
        return None
    if all(use.owner == mlir.terminator(operation.block) for use in rounded.uses):
        return None
    return [conversion.convert(by_scalars(_as_bfloat16, x), BF16)]


def _as_bfloat16(x: Number) -> Number:
    """Round to 16 bits, to nearest, ties to even."""
    bits = x.bits(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    is_nan = (bits & 0x7FFFFFFF) > 0x7F800000
    return where(is_nan, x, rounded.bits(F32))


@legalizes("stablehlo.convert", kind="missing", of="IREE")
def convert_to_float8(operation: Operation) -> Sequence[Value] | None:
    """Convert float16 to 8-bit floats by way of float32: IREE does not round it."""
    (x,) = map(Number, operation.operands)
    target = dtype_of(operation.results[0])
    if not _is_float8(target) or not inexact(x.dtype) or x.dtype in (F32, target):
        return None
    return [x.to(F32).to(target).value]


@legalizes("stablehlo.convert", kind="bug", of="IREE")
def smallest_normal_of_float8(operation: Operation) -> Sequence[Value] | None:
    """Convert explicitly the numbers that round up to the smallest normal 8-bit float, which IREE
    flushes to zero.
    """
    (x,) = map(Number, operation.operands)
    target = dtype_of(operation.results[0])
    if not _is_float8(target) or x.dtype != F32:
        return None
    info = ml_dtypes.finfo(target)
    normal, step = float(info.smallest_normal), float(info.smallest_subnormal)
    size = abs(x)
    is_rounded_up = (size >= normal - step / 2) & (size < normal)
    return [where(is_rounded_up, copy_sign(size * 0 + normal, x), x).to(target).value]


@legalizes("stablehlo.convert", "stablehlo.compare", kind="bug", of="IREE")
def nan_of_float8(operation: Operation) -> Sequence[Value] | None:
    """Write nans of float8_e4m3fn by bits, and compare so: IREE makes one of the two -480."""
    operands = list(map(Number, operation.operands))
    if operands[0].dtype != E4M3FN:
        return None
    if (comparison := read_as(Compare, operation)) is not None:
        return comparison.build([_with_nans(x).value for x in operands])
    is_wide = dtype_of(operation.results[0]) == F32
    return [_with_nans(*operands).value] if is_wide else None


def _with_nans(x: Number) -> Number:
    """Return numbers of float8_e4m3fn as float32."""
    is_nan = (x.bits(np.uint8) & 0x7F).equals(0x7F)
    return where(is_nan, np.nan, x.to(F32))


def _is_float8(dtype: np.dtype) -> bool:
    return inexact(dtype) and dtype.itemsize == 1
