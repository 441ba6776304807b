"""Patterns for ops that only move elements: two of a kind become one, and identities are removed.

Broadcasts absorb transposes, and reshapes that add dimensions, because `broadcast_in_dim` maps
operand dimensions to any result dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import add

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import shape, slicing
from irax_compiler.ops.core import full, no_calls
from irax_compiler.ops.sorting import sort
from irax_compiler.ops.sorting.top_k import TopK
from irax_compiler.passes.matching import is_full_of, made_by
from irax_compiler.passes.rewriting import rewrites

# ---- transpose -----------------------------------------------------------------------------------


@rewrites(shape.Transpose)
def transpose_of_nothing(op: shape.Transpose, x: Value) -> Value | None:
    """transpose(x) -> x, where the order stays."""
    return x if list(op.permutation) == sorted(op.permutation) else None


@rewrites(shape.Transpose)
def transpose_of_transpose(op: shape.Transpose, x: Value) -> Value | None:
    """transpose(transpose(x)) -> transpose(x)."""
    inner = made_by(x, shape.Transpose)
    if inner is None:
        return None
    return shape.transpose(inner.operand, [inner.op.permutation[d] for d in op.permutation])


@rewrites(shape.Transpose)
def transpose_of_broadcast(op: shape.Transpose, x: Value) -> Value | None:
    """transpose(broadcast(x)) -> broadcast(x)."""
    inner = made_by(x, shape.BroadcastInDim)
    if inner is None:
        return None
    wide = tuple(inner.op.shape[d] for d in op.permutation)
    dimensions = tuple(op.permutation.index(d) for d in inner.op.broadcast_dimensions)
    return shape.BroadcastInDim(wide, dimensions)(inner.operand)


# ---- reshape -------------------------------------------------------------------------------------


@rewrites(shape.Reshape)
def reshape_to_same(op: shape.Reshape, x: Value) -> Value | None:
    """reshape(x) -> x, where x has that shape already."""
    return x if shape_of(x) == op.shape else None


@rewrites(shape.Reshape)
def reshape_of_reshape(op: shape.Reshape, x: Value) -> Value | None:
    """reshape(reshape(x)) -> reshape(x)."""
    inner = made_by(x, shape.Reshape)
    return shape.reshape(inner.operand, op.shape) if inner else None


@rewrites(shape.Reshape)
def reshape_of_broadcast(op: shape.Reshape, x: Value) -> Value | None:
    """reshape(broadcast(x)) -> broadcast(x), where the reshape only adds or drops 1s."""
    inner = made_by(x, shape.BroadcastInDim)
    if inner is None:
        return None
    places = places_in(inner.op.shape, op.shape)
    if places is None:
        kept = places_in(op.shape, inner.op.shape)
        if kept is None:
            return None
        places = {old: new for new, old in enumerate(kept)}
        if not all(d in places for d in inner.op.broadcast_dimensions):
            return None
    dimensions = tuple(places[d] for d in inner.op.broadcast_dimensions)
    return shape.BroadcastInDim(op.shape, dimensions)(inner.operand)


def places_in(narrow: Sequence[int], wide: Sequence[int]) -> Sequence[int] | None:
    """The place of each dimension of a shape in another, which has it and further 1s; else None."""
    places = []
    for place, size in enumerate(wide):
        if len(places) < len(narrow) and narrow[len(places)] == size:
            places.append(place)
        elif size != 1:
            return None
    return places if len(places) == len(narrow) else None


# ---- broadcast_in_dim ----------------------------------------------------------------------------


@rewrites(shape.BroadcastInDim)
def broadcast_to_same(op: shape.BroadcastInDim, x: Value) -> Value | None:
    """broadcast(x) -> x, and -> reshape(x) where it only adds 1s."""
    in_order = list(op.broadcast_dimensions) == sorted(op.broadcast_dimensions)
    same_size = np.prod(op.shape) == np.prod(shape_of(x))
    return shape.reshape(x, op.shape) if in_order and same_size else None


@rewrites(shape.BroadcastInDim)
def broadcast_of_broadcast(op: shape.BroadcastInDim, x: Value) -> Value | None:
    """broadcast(broadcast(x)) -> broadcast(x)."""
    inner = made_by(x, shape.BroadcastInDim)
    if inner is None:
        return None
    dimensions = tuple(op.broadcast_dimensions[d] for d in inner.op.broadcast_dimensions)
    return shape.BroadcastInDim(op.shape, dimensions)(inner.operand)


@rewrites(shape.BroadcastInDim)
def broadcast_of_reshape(op: shape.BroadcastInDim, x: Value) -> Value | None:
    """broadcast(reshape(x)) -> broadcast(x), where the reshape only adds 1s."""
    inner = made_by(x, shape.Reshape)
    places = places_in(shape_of(inner.operand), inner.op.shape) if inner else None
    if inner is None or places is None:
        return None
    dimensions = tuple(op.broadcast_dimensions[d] for d in places)
    return shape.BroadcastInDim(op.shape, dimensions)(inner.operand)


@rewrites(shape.BroadcastInDim)
def broadcast_of_transpose(op: shape.BroadcastInDim, x: Value) -> Value | None:
    """broadcast(transpose(x)) -> broadcast(x)."""
    inner = made_by(x, shape.Transpose)
    if inner is None:
        return None
    order = np.argsort(inner.op.permutation)
    dimensions = tuple(op.broadcast_dimensions[d] for d in order)
    return shape.BroadcastInDim(op.shape, dimensions)(inner.operand)


@rewrites(shape.BroadcastInDim)
def broadcast_of_iota(op: shape.BroadcastInDim, x: Value) -> Value | None:
    """broadcast(iota) -> iota."""
    inner = made_by(x, shape.Iota)
    if inner is None:
        return None
    along = inner.op.iota_dimension
    dimension = op.broadcast_dimensions[along]
    if op.shape[dimension] != inner.op.shape[along]:
        return None
    return shape.Iota(op.shape, inner.op.dtype, dimension)()


# ---- slice, pad, reverse, concatenate, iota ------------------------------------------------------


@rewrites(slicing.Slice)
def slice_of_everything(op: slicing.Slice, x: Value) -> Value | None:
    """slice(x) -> x, where it takes all elements."""
    whole = not any(op.start_indices) and op.limit_indices == shape_of(x)
    return x if whole and all(s == 1 for s in op.strides) else None


@rewrites(slicing.Slice)
def slice_of_slice(op: slicing.Slice, x: Value) -> Value | None:
    """slice(slice(x)) -> slice(x)."""
    inner = made_by(x, slicing.Slice)
    if inner is None or 0 in shape_of(x):
        return None
    offsets, steps = np.array(inner.op.start_indices, int), np.array(inner.op.strides, int)
    first = offsets + steps * np.array(op.start_indices, int)
    last = offsets + steps * (np.array(op.limit_indices, int) - 1)
    limits = np.maximum(first, last + 1)  # of a slice of nothing they are one
    strides = steps * np.array(op.strides, int)
    return slicing.slice_(inner.operand, first.tolist(), limits.tolist(), strides.tolist())


@rewrites(slicing.Slice)
def slice_of_broadcast(op: slicing.Slice, x: Value) -> Value | None:
    """slice(broadcast(x)) -> broadcast(slice(x))."""
    inner = made_by(x, shape.BroadcastInDim)
    if inner is None:
        return None
    narrow, wide = shape_of(inner.operand), shape_of(x)
    dimensions = inner.op.broadcast_dimensions
    bounds = list(zip(op.start_indices, op.limit_indices, op.strides, strict=True))
    own = [
        bounds[d] if n == wide[d] else (0, 1, 1) for n, d in zip(narrow, dimensions, strict=True)
    ]
    starts, limits, strides = zip(*own, strict=True) if own else ((), (), ())
    part = slicing.slice_(inner.operand, starts, limits, strides)
    sizes = tuple(-((start - limit) // stride) for start, limit, stride in bounds)
    return shape.BroadcastInDim(sizes, dimensions)(part)


@rewrites(slicing.Pad)
def pad_without_padding(op: slicing.Pad, x: Value, value: Value) -> Value | None:
    """pad(x) -> slice(x), where all padding is negative, and -> x where it is zero."""
    low, high = op.edge_padding_low, op.edge_padding_high
    if any(op.interior_padding) or any(p > 0 for p in (*low, *high)):
        return None
    limits = [n + p for n, p in zip(shape_of(x), high, strict=True)]
    return slicing.slice_(x, [-p for p in low], limits, [1] * len(low))


@rewrites(slicing.Pad)
def pad_within_one(op: slicing.Pad, x: Value, value: Value) -> Value | None:
    """pad(x) -> pad(x) without padding between the elements of dimensions that have just one. IREE
    computes both parts of such complex numbers in one place.
    """
    sizes = zip(op.interior_padding, shape_of(x), strict=True)
    between = tuple(0 if isinstance(n, int) and n <= 1 else inner for inner, n in sizes)
    if between == op.interior_padding:
        return None
    return slicing.Pad(op.edge_padding_low, op.edge_padding_high, between)(x, value)


@rewrites(slicing.Pad)
def pad_of_same(op: slicing.Pad, x: Value, value: Value) -> Value | None:
    """pad(c, c) -> c for constants of the same element."""
    element = mlir.splat(value)
    if element is None or not is_full_of(x, element):
        return None
    padded = op.evaluate(no_calls, np.broadcast_to(element, shape_of(x)), element)
    return full(padded.shape, element, dtype_of(x))


@rewrites(slicing.Reverse)
def reverse_of_nothing(op: slicing.Reverse, x: Value) -> Value | None:
    """reverse(x) -> x, where the reversed dimensions have at most one element."""
    sizes = shape_of(x)
    return x if all(sizes[d] <= 1 for d in op.dimensions) else None


@rewrites(slicing.Reverse)
def reverse_of_reverse(op: slicing.Reverse, x: Value) -> Value | None:
    """reverse(reverse(x)) -> reverse(x), or x where each dimension is reversed twice."""
    inner = made_by(x, slicing.Reverse)
    if inner is None:
        return None
    once = tuple(sorted({*op.dimensions} ^ {*inner.op.dimensions}))
    return slicing.Reverse(once)(inner.operand) if once else inner.operand


@rewrites(slicing.Concatenate)
def concatenate_of_empty(op: slicing.Concatenate, *operands: Value) -> Value | None:
    """concatenate(x, empty) -> concatenate(x) -> x."""
    filled = [x for x in operands if shape_of(x)[op.dimension]] or [operands[0]]
    if len(filled) == 1:
        return filled[0]
    return op(*filled) if len(filled) < len(operands) else None


@rewrites(shape.Iota)
def iota_of_one(op: shape.Iota) -> Value | None:
    """iota -> 0, where it counts a dimension of one element."""
    return full(op.shape, 0, op.dtype) if op.shape[op.iota_dimension] == 1 else None


# ---- sort ----------------------------------------------------------------------------------------


@rewrites(sort.Sort, sort.SortBy)
def sort_of_one(op: sort.Sort | sort.SortBy, *operands: Value) -> Sequence[Value] | None:
    """sort(x, y) -> x, y, where rows have one element."""
    return operands if shape_of(operands[0])[op.dimension] == 1 else None


@rewrites(sort.Sort)
def sort_of_equal(op: sort.Sort, *operands: Value) -> Sequence[Value] | None:
    """sort(x, y) -> x, y, where all of a row of x is one element. IREE's compiler ends on those
    that are broadcast numbers.
    """
    keys = operands[: op.order.num_keys]
    return operands if all(_is_equal_along(x, op.dimension) for x in keys) else None


def _is_equal_along(x: Value, dimension: int) -> bool:
    """True for a constant or broadcast whose elements along a dimension are the same."""
    source = made_by(x, shape.BroadcastInDim)
    if source is None:
        return mlir.splat(x) is not None
    sizes = zip(source.op.broadcast_dimensions, shape_of(source.operand), strict=True)
    return all(d != dimension or n == 1 for d, n in sizes)


@rewrites(TopK)
def top_k_of_one(op: TopK, x: Value) -> Sequence[Value] | None:
    """top_k(x) -> x, 0, where rows have one element, which is kept."""
    if not shape_of(x)[-1] == op.k == 1:
        return None
    return x, full(shape_of(x), 0, np.dtype(np.int32))


# ---- pad -----------------------------------------------------------------------------------------


@rewrites(slicing.Pad)
def pad_of_pad(op: slicing.Pad, x: Value, fill: Value) -> Value | None:
    """pad(pad(x)) -> pad(x), where both add the same constant around it."""
    inner = made_by(x, slicing.Pad)
    if inner is None or any(op.interior_padding):
        return None
    edges = (*op.edge_padding_low, *op.edge_padding_high)
    inner_edges = (*inner.op.edge_padding_low, *inner.op.edge_padding_high)
    ours, theirs = mlir.splat(fill), mlir.splat(inner.operands[1])
    if min((*edges, *inner_edges), default=0) < 0 or ours is None or theirs is None:
        return None
    if ours.tobytes() != theirs.tobytes():
        return None
    low, high = (
        tuple(map(add, outer, own))
        for outer, own in (
            (op.edge_padding_low, inner.op.edge_padding_low),
            (op.edge_padding_high, inner.op.edge_padding_high),
        )
    )
    return slicing.Pad(low, high, inner.op.interior_padding)(inner.operand, fill)
