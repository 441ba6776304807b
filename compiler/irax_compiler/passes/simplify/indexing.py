"""Patterns for dynamic slices whose starts are known."""

from __future__ import annotations

from collections.abc import Sequence

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import slicing
from irax_compiler.ops.core import full
from irax_compiler.ops.indexing.dynamic_slices import DynamicSlice, DynamicUpdateSlice
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
