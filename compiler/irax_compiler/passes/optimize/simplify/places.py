"""Patterns for gathers and scatters whose places are constants. Each is a kernel of its own; slices
and selections become parts of others.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, shape_of
from irax_compiler.ops import bitwise, comparison, elementwise, shape, slicing
from irax_compiler.ops.indexing.gather_scatter import Gather, Scatter
from irax_compiler.ops.reductions.window_shapes import WindowDims
from irax_compiler.passes.rewriting import rewrites
from irax_compiler.sizes import at_least, is_symbolic

MOST_PLACES, MOST_RUNS = 64, 4
"""The most places that are looked at, and the most slices that they may be."""
SMALL = 4096
"""The most elements of an array of which all are selected anew, where a scatter writes to a few."""


@rewrites(Gather)
def gather_at_constants(op: Gather, x: Value, indices: Value) -> Value | None:
    """gather(x, constants) -> slices of x, one after the other, for few runs of places."""
    dimension = _dimension(op.dims, shape_of(x), op.slice_sizes)
    places = None if dimension is None else _constants(indices)
    if dimension is None or places is None:
        return None
    length = shape_of(x)[dimension]
    if not is_symbolic(length):
        places = np.clip(places, 0, length - 1)
    elif places.min() < 0 or not at_least(length, int(places.max()) + 1):
        return None
    taken = _taken(x, places.ravel().tolist(), dimension)
    if taken is None:
        return None
    rest = [n for d, n in enumerate(shape_of(x)) if d != dimension]
    batch = _batch(op.dims, shape_of(indices))
    rows = shape.reshape(shape.move_axis(taken, dimension, 0), [*batch, *rest])
    return shape.transpose(rows, np.argsort(_order(op.dims, len(batch) + len(rest))).tolist())


@rewrites(Scatter)
def scatter_at_constants(op: Scatter, x: Value, indices: Value, updates: Value) -> Value | None:
    """scatter(x, constants, y) -> select(there, f(x, y'), x) for a small array and different places
    within it, where y' has the updates at their places.
    """
    outer = shape_of(x)
    sizes = op.dims.sizes(outer, shape_of(updates))
    dimension = _dimension(op.dims, outer, sizes)
    places = None if dimension is None or prod(outer) > SMALL else _constants(indices)
    if dimension is None or places is None or is_symbolic(outer[dimension]):
        return None
    rows = places.ravel().tolist()
    length = outer[dimension]
    if len(set(rows)) < len(rows) or not all(0 <= row < length for row in rows):
        return None
    number = {row: i for i, row in enumerate(rows)}
    batch = _batch(op.dims, shape_of(indices))
    rest = [n for d, n in enumerate(outer) if d != dimension]
    ordered = shape.transpose(updates, _order(op.dims, len(batch) + len(rest)))
    whole = shape.move_axis(shape.reshape(ordered, [len(rows), *rest]), 0, dimension)
    spread = _taken(whole, [number.get(row, 0) for row in range(length)], dimension)
    if spread is None:
        return None
    new = spread if op.combiner == "set" else _COMBINED[op.combiner](x, spread)
    if len(rows) == length:
        return new
    there = np.isin(np.arange(length), rows)
    mask = shape.BroadcastInDim(outer, (dimension,))(shape.Constant(there)())
    return comparison.select(mask, new, x)


_COMBINED = {
    "add": elementwise.add,
    "multiply": elementwise.multiply,
    "maximum": elementwise.maximum,
    "minimum": elementwise.minimum,
    "and": bitwise.and_,
    "or": bitwise.or_,
    "xor": bitwise.xor,
}


def _dimension(dims: WindowDims, outer: Sequence[int], sizes: Sequence[int]) -> int | None:
    """Return the dimension along which windows are places, if they are whole along others."""
    if len(dims.index_map) != 1 or dims.collapsed_dims != dims.index_map:
        return None
    (dimension,) = dims.index_map
    whole = all(n == m for d, (n, m) in enumerate(zip(outer, sizes, strict=True)) if d != dimension)
    has_elements = prod(outer) > 0 and not dims.operand_batching_dims
    return dimension if whole and has_elements else None


def _batch(dims: WindowDims, indices: Sequence[int]) -> list[int]:
    return [n for d, n in enumerate(indices) if d != dims.index_vector_dim]


def _order(dims: WindowDims, rank: int) -> list[int]:
    """The dimensions of the array of windows: those of the index vectors, then those of windows."""
    return [*(d for d in range(rank) if d not in dims.window_dims), *dims.window_dims]


def _constants(indices: Value) -> np.ndarray | None:
    if not 0 < prod(shape_of(indices)) <= MOST_PLACES:
        return None
    element = mlir.splat(indices)
    if element is not None:
        return np.full(shape_of(indices), element)
    made = mlir.definition(indices)
    if made is None or made.name != shape.Constant.name:
        return None
    return mlir.dense_to_numpy(made)


def _taken(x: Value, places: Sequence[int], dimension: int) -> Value | None:
    """The parts of an array at these places along a dimension, or None for many runs of them."""
    if len(set(places)) == 1:
        part = slicing.slice_in_dim(x, places[0], places[0] + 1, dimension)
        sizes = list(shape_of(x))
        sizes[dimension] = len(places)
        if sizes == list(shape_of(part)):
            return part
        return shape.BroadcastInDim(tuple(sizes), tuple(range(len(sizes))))(part)
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    if len(runs) > MOST_RUNS:
        return None
    parts = [slicing.slice_in_dim(x, run[0], run[-1] + 1, dimension) for run in runs]
    return parts[0] if len(parts) == 1 else slicing.Concatenate(dimension)(*parts)
