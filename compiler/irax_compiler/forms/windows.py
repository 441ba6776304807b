"""Rewrites of scatters, reductions and sorts that irax's ops do not have as they stand.

- Of windows partly outside of the array, StableHLO writes the elements inside; irax's scatters, and
  XLA's, skip such windows.
- A reduction may be in a wider type than that of its operands.
- A sort may count its dimension from the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import conversion, elementwise, shape
from irax_compiler.ops.core import constant, full_like
from irax_compiler.ops.indexing import gather_scatter
from irax_compiler.ops.reductions.window_shapes import WindowDims
from irax_compiler.ops.registry import read
from irax_compiler.passes.optimize.integer_bounds import stay_within

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)


def _elements_inside(operation: Operation, number: int) -> Sequence[Value] | None:
    """Return a scatter of which each window has one element along the dimensions that it has a
    place in, so that it lies within the array or outside; None if all windows lie within.
    """
    _promoted(operation, number)
    if any(mlir.type_problem(x.type) is not None for x in operation.operands):
        return None
    count = len(operation.results)
    indices, updates = operation.operands[count], operation.operands[count + 1]
    op = read(operation)
    assert isinstance(op, gather_scatter.Scatter | gather_scatter.ScatterBy)
    array = shape_of(operation.results[0])
    sizes = op.dims.sizes(array, shape_of(updates))
    long = [d for d in op.dims.index_map if sizes[d] > 1]
    if not long or stay_within(op.dims, indices, array, sizes):
        return None
    dims, places = _by_elements(op.dims, long, indices, shape_of(updates), len(array))
    parted: Any = replace(op, dims=dims, indices_are_sorted=False)
    arrays, new = operation.operands[:count], operation.operands[count + 1 :]
    return parted.build([*arrays, places, *new])


def _by_elements(
    dims: WindowDims, long: Sequence[int], indices: Value, updates: Sequence[int], rank: int
) -> tuple[WindowDims, Value]:
    """The dimension numbers and indices of windows of one element along the dimensions `long`."""
    single = {*dims.collapsed_dims, *dims.operand_batching_dims}
    spanned = [d for d in range(rank) if d not in single]
    places = {d: dims.window_dims[spanned.index(d)] for d in long}
    batch = [k for k in range(len(updates)) if k not in dims.window_dims]
    arranged = sorted([*batch, *places.values()])
    extents = (*(updates[k] for k in arranged), len(dims.index_map))
    last = len(extents) - 1
    vectors = _widened(indices)
    if dims.index_vector_dim == len(shape_of(indices)):
        vectors = shape.reshape(vectors, (*shape_of(indices), 1))
    else:
        vectors = shape.move_axis(vectors, dims.index_vector_dim, len(shape_of(indices)) - 1)
    where = [arranged.index(k) for k in batch]
    vectors = shape.BroadcastInDim(extents, (*where, last))(vectors)
    dtype = dtype_of(vectors)
    for element, d in enumerate(dims.index_map):
        if d in places:
            chosen = constant((np.arange(len(dims.index_map)) == element).astype(dtype))
            chosen = shape.BroadcastInDim(extents, (last,))(chosen)
            steps = shape.Iota(extents, dtype, arranged.index(places[d]))()
            vectors = elementwise.add(vectors, elementwise.multiply(steps, chosen))
    before = [k for k in range(len(batch) + 1) if k != dims.index_vector_dim]
    return (
        replace(
            dims,
            window_dims=tuple(k for k in dims.window_dims if k not in places.values()),
            collapsed_dims=tuple(sorted([*dims.collapsed_dims, *long])),
            indices_batching_dims=tuple(where[before.index(k)] for k in dims.indices_batching_dims),
            index_vector_dim=last,
        ),
        vectors,
    )


def _widened(indices: Value) -> Value:
    """Return indices as signed ones of 32 or 64 bits: what is added to the largest is negative, and
    so outside as well.
    """
    dtype = dtype_of(indices)
    if dtype == np.uint64:
        indices = elementwise.minimum(indices, full_like(indices, np.iinfo(INT64).max))
    is_short = dtype.itemsize < INT32.itemsize or dtype == INT32
    return conversion.convert(indices, INT32 if is_short else INT64)


def _promoted(operation: Operation, number: int) -> None:
    """Convert the operands of a reduction to the types of its function's arguments."""
    count = len(operation.results)
    arguments = list(operation.regions[0].blocks[0].arguments)
    # The operands of a scatter have indices between arrays and updates.
    others = len(operation.operands) - count
    for start, first in ((0, 0), (others, count)):
        for i in range(count):
            x, to = operation.operands[start + i], arguments[first + i]
            known = all(mlir.type_problem(y.type) is None for y in (x, to))
            if known and dtype_of(x) != dtype_of(to):
                operation.operands[start + i] = conversion.convert(x, dtype_of(to))


def _counted_from_first(operation: Operation, number: int) -> None:
    along: Any = operation.attributes["dimension"]
    if along.value < 0:
        rank = len(operation.operands[0].type.shape)
        operation.attributes["dimension"] = mlir.parse_attribute(f"{along.value + rank} : i64")


FORMS = {
    "stablehlo.scatter": _elements_inside,
    "stablehlo.reduce": _promoted,
    "stablehlo.reduce_window": _promoted,
    "stablehlo.sort": _counted_from_first,
}
