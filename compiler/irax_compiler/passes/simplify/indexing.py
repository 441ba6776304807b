"""Patterns for dynamic slices whose starts are known, and for clamped indices of gathers."""

from __future__ import annotations

from collections.abc import Sequence

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import clamp, elementwise, slicing
from irax_compiler.ops.core import full
from irax_compiler.ops.indexing.dynamic_slices import DynamicSlice, DynamicUpdateSlice
from irax_compiler.ops.indexing.gather_scatter import Gather
from irax_compiler.passes.rewriting import rewrites
from irax_compiler.passes.simplify.matching import made_by


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
