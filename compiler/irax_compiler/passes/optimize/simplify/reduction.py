"""Patterns for reductions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import elementwise, shape
from irax_compiler.ops.core import full_like
from irax_compiler.ops.reductions.reduce import Reduce, identity
from irax_compiler.ops.reductions.variadic_reduce import VariadicReduce
from irax_compiler.passes.matching import is_full_of, made_by, made_for_one
from irax_compiler.passes.rewriting import rewrites


def starts_neutral(op: Reduce, init: Value) -> bool:
    """True for a reduction whose init value changes nothing, such as 0 for add."""
    return is_full_of(init, identity(op.combiner, dtype_of(init)))


@rewrites(Reduce, VariadicReduce)
def reduce_of_none(op: Reduce | VariadicReduce, *operands: Value) -> Sequence[Value] | None:
    """reduce(x) -> broadcast(init), where x has no elements."""
    xs, inits = operands[: len(operands) // 2], operands[len(operands) // 2 :]
    sizes = shape_of(xs[0])
    kept = [n for d, n in enumerate(sizes) if d not in op.dimensions]
    if 0 not in sizes or any(n < 0 for n in kept):
        return None
    return [shape.broadcast_scalar(init, kept) for init in inits]


@rewrites(Reduce)
def reduce_of_one(op: Reduce, x: Value, init: Value) -> Value | None:
    """reduce(x) -> reshape(x), where there is one element to fold, or no dimension."""
    sizes = shape_of(x)
    if any(sizes[d] != 1 for d in op.dimensions) or not starts_neutral(op, init):
        return None
    return shape.reshape(x, [n for d, n in enumerate(sizes) if d not in op.dimensions])


@rewrites(Reduce)
def reduce_of_reduce(op: Reduce, x: Value, init: Value) -> Value | None:
    """reduce(reduce(x)) -> reduce(x) over both ones' dimensions."""
    inner = made_for_one(x, Reduce)
    if inner is None or inner.op.combiner != op.combiner:
        return None
    if not starts_neutral(op, inner.operands[1]):
        return None
    rank = len(shape_of(inner.operand))
    kept = [d for d in range(rank) if d not in inner.op.dimensions]
    dimensions = sorted([*inner.op.dimensions, *(kept[d] for d in op.dimensions)])
    return Reduce(op.combiner, tuple(dimensions))(inner.operand, init)


@rewrites(Reduce)
def reduce_of_transpose(op: Reduce, x: Value, init: Value) -> Value | None:
    """reduce(transpose(x)) -> reduce(x), where the dimensions that are left stay in order."""
    inner = made_by(x, shape.Transpose)
    if inner is None:
        return None
    order = inner.op.permutation
    left = [p for d, p in enumerate(order) if d not in op.dimensions]
    if left != sorted(left):
        return None
    return Reduce(op.combiner, tuple(sorted(order[d] for d in op.dimensions)))(inner.operand, init)


@rewrites(Reduce)
def sum_of_broadcast(op: Reduce, x: Value, init: Value) -> Value | None:
    """sum(broadcast(x)) -> broadcast(n * x), where the n terms of each sum are equal."""
    inner = made_by(x, shape.BroadcastInDim)
    dtype = dtype_of(x)
    if inner is None or op.combiner != "add" or dtype == np.bool_ or not is_full_of(init, 0):
        return None
    sizes, wide = shape_of(inner.operand), shape_of(x)
    source = {d: sizes[i] for i, d in enumerate(inner.op.broadcast_dimensions)}
    if any(source.get(d, 1) != 1 for d in op.dimensions):
        return None
    count = int(np.prod([wide[d] for d in op.dimensions]))
    if count == 0 or np.array(count).astype(dtype) != count:
        return None
    dropped = [i for i, d in enumerate(inner.op.broadcast_dimensions) if d in op.dimensions]
    narrow = shape.reshape(inner.operand, [n for i, n in enumerate(sizes) if i not in dropped])
    kept = [d for d in range(len(wide)) if d not in op.dimensions]
    dimensions = tuple(kept.index(d) for d in inner.op.broadcast_dimensions if d in kept)
    total = elementwise.multiply(narrow, full_like(narrow, count))
    return shape.BroadcastInDim(tuple(wide[d] for d in kept), dimensions)(total)
