"""Cures for sums over dimensions: dot_general and reduce."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, inexact, shape_of
from irax_compiler.ops import comparison, conversion, dot, reduction, shape
from irax_compiler.ops.core import Op, full, full_like
from irax_compiler.ops.fold import Fold
from irax_compiler.passes.legalize.cure import cure, read_as

FLOAT32 = np.dtype(np.float32)


def _is_narrow(dtype: np.dtype) -> bool:
    return inexact(dtype) and dtype.itemsize < 4


@cure("stablehlo.dot_general", "stablehlo.dot")
def empty_contraction(operation: Operation) -> Sequence[Value] | None:
    """IREE's compiler divides by zero where a dimension, or the result, has no elements."""
    if not any(0 in shape_of(x) for x in operation.operands):
        return None
    return [full_like(operation.results[0], 0)]


@cure("stablehlo.dot_general")
def contraction_by_algorithm(operation: Operation) -> Sequence[Value] | None:
    """IREE has no choice of algorithms: its own is at least as precise as those that name a faster
    one.
    """
    op = read_as(dot.DotGeneral, operation)
    if op is None or op.algorithm is None:
        return None
    return replace(op, algorithm=None).build(operation.operands)


@cure("stablehlo.dot_general", "stablehlo.dot")
def narrow_contraction(operation: Operation) -> Sequence[Value] | None:
    """IREE sums in the dtype of the result: in float16 and bfloat16 errors grow to percents."""
    dtype = dtype_of(operation.results[0])
    op = read_as(dot.DotGeneral, operation)
    if op is None or not _is_narrow(dtype):
        return None
    wide = replace(op, dtype=FLOAT32)(*operation.operands)
    return [conversion.convert(wide, dtype)]


@cure("stablehlo.dot_general", "stablehlo.dot")
def contraction_of_booleans(operation: Operation) -> Sequence[Value] | None:
    """IREE adds booleans modulo 2, and refuses to sum them over several dimensions: whether any
    product holds is asked of a sum of integers.
    """
    op = read_as(dot.DotGeneral, operation)
    if op is None or op.dtype != np.bool_:
        return None
    # IREE would take a convert back into the sum.
    int32 = np.dtype(np.int32)
    operands = [
        comparison.select(x, full(shape_of(x), 1, int32), full(shape_of(x), 0, int32))
        for x in operation.operands
    ]
    count = replace(op, dtype=int32)(*operands)
    return [conversion.convert(count, op.dtype)]


@cure("stablehlo.reduce")
def reduction_of_one(operation: Operation) -> Sequence[Value] | None:
    """IREE forgets the init value where no dimension is folded, XLA also where those that are have
    one element.
    """
    op = read_as(Op, operation)
    if not isinstance(op, reduction.Reduce | Fold):
        return None
    operands = list(operation.operands)
    x, init = operands[0], operands[-1]
    sizes = shape_of(x)
    if any(sizes[d] != 1 for d in op.dimensions):
        return None
    if isinstance(op, Fold):
        return op.define(operands)
    element = shape.reshape(x, [n for d, n in enumerate(sizes) if d not in op.dimensions])
    spread = shape.broadcast_scalar(init, shape_of(element))
    return list(mlir.emit(f"stablehlo.{op.combiner}", [spread, element]).results)


@cure("stablehlo.reduce")
def narrow_reduction(operation: Operation) -> Sequence[Value] | None:
    """IREE sums and multiplies float16 and bfloat16 without a wider accumulator."""
    dtype = dtype_of(operation.results[0])
    op = read_as(reduction.Reduce, operation)
    if op is None or op.combiner not in ("add", "multiply") or not _is_narrow(dtype):
        return None
    wide = op.build([conversion.convert(x, FLOAT32) for x in operation.operands])
    return [conversion.convert(wide[0], dtype)]
