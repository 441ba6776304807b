"""Patterns for dynamic slices whose starts are known, for clamped indices of gathers, and for
selections between an array and its update.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import clamp, comparison, elementwise, shape, slicing
from irax_compiler.ops.core import full, full_like
from irax_compiler.ops.indexing.dynamic_slices import DynamicSlice, DynamicUpdateSlice
from irax_compiler.ops.indexing.gather_scatter import Gather, Scatter
from irax_compiler.passes.matching import made_by, made_for_one
from irax_compiler.passes.rewriting import rewrites


@rewrites(DynamicSlice)
def dynamic_slice_at_constant(op: DynamicSlice, x: Value, *starts: Value) -> Value | None:
    """dynamic_slice(x, constants) -> slice(x); x itself where it takes all elements."""
    first = known_starts(shape_of(x), op.slice_sizes, starts)
    if first is None:
        return None
    last = [start + size for start, size in zip(first, op.slice_sizes, strict=True)]
    return slicing.slice_(x, first, last, [1] * len(first))


@rewrites(DynamicSlice)
def dynamic_slice_of_one_element(op: DynamicSlice, x: Value, *starts: Value) -> Value | None:
    """dynamic_slice(c) -> c, smaller, for a constant c of one element."""
    element = mlir.splat(x)
    return None if element is None else full(op.slice_sizes, element, dtype_of(x))


@rewrites(DynamicUpdateSlice)
def update_of_everything(
    op: DynamicUpdateSlice, x: Value, update: Value, *starts: Value
) -> Value | None:
    """dynamic_update_slice(x, y) -> y, where y replaces all elements."""
    return update if shape_of(x) == shape_of(update) else None


@rewrites(DynamicUpdateSlice)
def update_of_constant(
    op: DynamicUpdateSlice, x: Value, update: Value, *starts: Value
) -> Value | None:
    """dynamic_update_slice(c, x, constants) -> pad(x, c) for a constant c of one element."""
    element = mlir.splat(x)
    inner, outer = shape_of(update), shape_of(x)
    low = known_starts(outer, inner, starts)
    if element is None or low is None:
        return None
    high = tuple(n - size - at for n, size, at in zip(outer, inner, low, strict=True))
    return slicing.Pad(low, high, (0,) * len(low))(update, full((), element, dtype_of(x)))


@rewrites(Gather)
def gather_at_clamped(op: Gather, x: Value, indices: Value) -> Value | None:
    """gather(x, clamp(0, i, n)) -> gather(x, i), for n no less than the largest index of a window,
    since a gather clamps indices by itself. Likewise for max(i, 0) and min(i, n).
    """
    limit = max((shape_of(x)[d] - op.slice_sizes[d] for d in op.dims.index_map), default=0)
    for clamping, operand, low, high in (
        (clamp.Clamp, 1, 0, 2),
        (elementwise.maximum, 0, 1, None),
        (elementwise.minimum, 0, None, 1),
    ):
        found = made_by(indices, clamping)
        if found is None:
            continue
        least = 0 if low is None else mlir.splat(found.operands[low])
        most = limit if high is None else mlir.splat(found.operands[high])
        if least is not None and most is not None and least <= 0 and most >= limit:
            return op(x, found.operands[operand])
    return None


@rewrites(comparison.Select)
def select_of_update(op: comparison.Select, condition: Value, x: Value, y: Value) -> Value | None:
    """select(c, update(x, y, i), x) -> update(x, select(c, y, x[i]), i), for one condition c for
    all elements, which reads the part alone. Likewise for the other choice.
    """
    of_all = _of_all(condition)
    if of_all is None:
        return None
    for made, other, is_first in ((x, y, True), (y, x, False)):
        found = made_for_one(made, DynamicUpdateSlice)
        if found is not None and found.operand == other:
            array, new, *starts = found.operands
            old = DynamicSlice(shape_of(new))(array, *starts)
            chosen = _chosen(of_all, new, old, is_first)
            return found.rebuild([array, chosen, *starts])
    return None


@rewrites(comparison.Select)
def select_of_scatter(op: comparison.Select, condition: Value, x: Value, y: Value) -> Value | None:
    """select(c, scatter(x, i, y), x) -> scatter(x, select(c, i, -1), y), for one condition c for
    all elements: windows out of bounds are skipped. Likewise for the other choice.
    """
    of_all = _of_all(condition)
    if of_all is None:
        return None
    for made, other, is_first in ((x, y, True), (y, x, False)):
        found = made_for_one(made, Scatter)
        if found is not None and found.operand == other:
            array, indices, new = found.operands
            if dtype_of(indices).kind != "i" or 0 in shape_of(indices):
                return None
            places = _chosen(of_all, indices, full_like(indices, -1), is_first)
            return replace(found.op, unique_indices=False)(array, places, new)
    return None


def _of_all(condition: Value) -> Value | None:
    """Return the one condition that selects all elements of an array, if there is one."""
    found = made_by(condition, shape.BroadcastInDim)
    of_all = condition if found is None else found.operand
    return of_all if shape_of(of_all) == () else None


def _chosen(condition: Value, x: Value, y: Value, is_first: bool) -> Value:
    spread = shape.broadcast_scalar(condition, shape_of(x))
    return comparison.select(spread, *((x, y) if is_first else (y, x)))


def known_starts(
    outer: Sequence[int], inner: Sequence[int], starts: Sequence[Value]
) -> tuple[int, ...] | None:
    """Return the starts of a slice, clamped as StableHLO defines, if they are known."""
    found = []
    for size, part, start in zip(outer, inner, starts, strict=True):
        element = mlir.splat(start)
        if size == part:
            found.append(0)
        elif element is None:
            return None
        else:
            found.append(min(max(int(element), 0), size - part))
    return tuple(found)
