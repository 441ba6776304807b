"""Legalizations of products and reductions: dot_general and reduce."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, inexact, shape_of
from irax_compiler.ops import comparison, conversion, dot, elementwise, shape, slicing
from irax_compiler.ops.core import Op, full, full_like
from irax_compiler.ops.reductions import reduce
from irax_compiler.ops.reductions.variadic_reduce import VariadicReduce
from irax_compiler.passes.legalization import legalizes
from irax_compiler.passes.rewriting import read_as

FLOAT32 = np.dtype(np.float32)


def _is_narrow(dtype: np.dtype) -> bool:
    return inexact(dtype) and dtype.itemsize < 4


@legalizes("stablehlo.dot_general", "stablehlo.dot", kind="bug", of="IREE")
def empty_contraction(operation: Operation) -> Sequence[Value] | None:
    """IREE's compiler divides by zero where a dimension, or the result, has no elements."""
    if not any(0 in shape_of(x) for x in operation.operands):
        return None
    return [full_like(operation.results[0], 0)]


@legalizes("stablehlo.dot_general", kind="missing", of=("IREE", "XLA"))
def contraction_by_algorithm(operation: Operation) -> Sequence[Value] | None:
    """Drop the precision algorithm of a product: IREE has no choice, and its own is at least as
    precise as any that is faster.
    """
    op = read_as(dot.DotGeneral, operation)
    if op is None or op.algorithm is None:
        return None
    return replace(op, algorithm=None).build(operation.operands)


@legalizes("stablehlo.dot_general", "stablehlo.dot", kind="bug", of="IREE")
def narrow_contraction(operation: Operation) -> Sequence[Value] | None:
    """Sum in float32: IREE sums in the dtype of the result, so that errors in float16 and bfloat16
    grow to percents.
    """
    dtype = dtype_of(operation.results[0])
    op = read_as(dot.DotGeneral, operation)
    if op is None or not _is_narrow(dtype):
        return None
    wide = replace(op, dtype=FLOAT32)(*operation.operands)
    return [conversion.convert(wide, dtype)]


@legalizes("stablehlo.dot_general", "stablehlo.dot", kind="bug", of="IREE")
def contraction_of_booleans(operation: Operation) -> Sequence[Value] | None:
    """Multiply booleans as integers, and compare the sum with zero: IREE adds booleans modulo 2,
    and refuses sums over several dimensions.
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


@legalizes("stablehlo.reduce", kind="bug", of=("IREE", "XLA"))
def reduction_of_one(operation: Operation) -> Sequence[Value] | None:
    """Combine the init value with the operand where nothing is reduced: IREE ignores the init value
    if there are no dimensions, XLA also if all have size 1.
    """
    op = read_as(Op, operation)
    if not isinstance(op, reduce.Reduce | VariadicReduce):
        return None
    operands = list(operation.operands)
    x, init = operands[0], operands[-1]
    sizes = shape_of(x)
    if any(sizes[d] != 1 for d in op.dimensions):
        return None
    if isinstance(op, VariadicReduce):
        return op.define(operands)
    element = shape.reshape(x, [n for d, n in enumerate(sizes) if d not in op.dimensions])
    spread = shape.broadcast_scalar(init, shape_of(element))
    return list(mlir.emit(f"stablehlo.{op.combiner}", [spread, element]).results)


@legalizes("stablehlo.reduce", kind="bug", of=("IREE", "XLA"))
def narrow_reduction(operation: Operation) -> Sequence[Value] | None:
    """Reduce float16 and bfloat16 in float32, for IREE uses no wider accumulator."""
    dtype = dtype_of(operation.results[0])
    op = read_as(reduce.Reduce, operation)
    if op is None or op.combiner not in ("add", "multiply") or not _is_narrow(dtype):
        return None
    wide = op.build([conversion.convert(x, FLOAT32) for x in operation.operands])
    return [conversion.convert(wide[0], dtype)]


VECTOR = 16
"""A multiple of the CPU's vector length for all dtypes but narrow ones: IREE vectorizes reductions
of rows of such lengths."""
FEW = 128
"""The most elements that a loop may have in registers, where reductions of any length are
vectorized."""


@legalizes("stablehlo.reduce", kind="slow", of="IREE")
def reduction_of_uneven_rows(operation: Operation) -> Sequence[Value] | None:
    """Reduce the remainder of rows whose length is not a multiple of a vector's separately: IREE
    reduces such rows element by element. A sum takes a quarter of the time; a softmax, of which
    IREE would reduce the whole row again for each element, a fiftieth.
    """
    op = read_as(reduce.Reduce, operation)
    if op is None:
        return None
    x, init = operation.operands
    extents = shape_of(x)
    kept = [d for d in range(len(extents)) if d not in op.dimensions]
    # Of the dimensions, those that make the rows: the last ones.
    first = kept[-1] + 1 if kept else 0
    length = prod(extents[first:])
    whole = length // VECTOR * VECTOR
    if whole in (0, length) or prod(extents) <= FEW or not _is_vectorised(dtype_of(x)):
        return None
    if len(extents) - first > 1:
        x = shape.reshape(x, (*extents[:first], length))
    folds = replace(op, dimensions=tuple(d for d in op.dimensions if d <= first))
    neutral = full((), reduce.identity(op.combiner, dtype_of(x)), dtype_of(x))
    begin, rest = _parts(x, whole, operation, {})
    return [_combined(op.combiner, folds(begin, init), folds(rest, neutral))]


def _is_vectorised(dtype: np.dtype) -> bool:
    return dtype.kind in "iuf" and dtype.itemsize >= 4


def _combined(combiner: str, x: Value, y: Value) -> Value:
    return mlir.emit(f"stablehlo.{combiner}", [x, y]).results[0]


_Parts = tuple[Value, Value]


def _parts(x: Value, at: int, user: Operation, known: dict[Value, _Parts]) -> _Parts:
    """Split rows in two. If they are computed elementwise for this user alone, the computation is
    split too, so that IREE fuses it with the reduction.
    """
    if x not in known:
        known[x] = _computed_parts(x, at, user, known) or _slices(x, at)
    return known[x]


def _slices(x: Value, at: int) -> _Parts:
    if not shape_of(x):
        return x, x
    last = len(shape_of(x)) - 1
    end = shape_of(x)[last]
    return slicing.slice_in_dim(x, 0, at, last), slicing.slice_in_dim(x, at, end, last)


def _computed_parts(
    x: Value, at: int, user: Operation, known: dict[Value, _Parts]
) -> _Parts | None:
    extents, fill, source = shape_of(x), mlir.splat(x), mlir.definition(x)
    if fill is not None and extents:
        sizes = at, extents[-1] - at
        begin, rest = (full((*extents[:-1], n), fill[()], dtype_of(x)) for n in sizes)
        return begin, rest
    if source is None or any(use.owner != user for use in x.uses):
        return None
    op = read_as(Op, source)
    if isinstance(op, shape.BroadcastInDim):
        (y,) = source.operands
        sizes = at, extents[-1] - at
        last = len(extents) - 1
        is_along = last in op.broadcast_dimensions and shape_of(y)[-1] > 1
        if is_along and op.broadcast_dimensions[-1] != last:
            return None
        begin, rest = _slices(y, at) if is_along else (y, y)
        begin, rest = (
            replace(op, shape=(*extents[:-1], n))(part)
            for part, n in zip((begin, rest), sizes, strict=True)
        )
        return begin, rest
    if not isinstance(op, _ELEMENTWISE):
        return None
    parts = [_parts(y, at, source, known) for y in source.operands]
    begin, rest = (op(*some) for some in zip(*parts, strict=True))
    return begin, rest


_ELEMENTWISE = elementwise.Elementwise | comparison.Compare | comparison.Select | conversion.Convert
