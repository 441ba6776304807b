"""Legalizations of gather and scatter: indices beyond the array, and forms IREE does not take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import comparison, conversion, elementwise, shape, slicing
from irax_compiler.ops.core import Op, constant, dtype_of_places, full, full_like
from irax_compiler.ops.indexing import dynamic_slices, gather_scatter
from irax_compiler.ops.reductions import reduce, window_shapes
from irax_compiler.ops.registry import read
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.optimize.integer_bounds import stay_within
from irax_compiler.passes.rewriting import read_as

INT32 = np.dtype(np.int32)


@legalizes(
    "stablehlo.gather",
    kind="bug",
    of="IREE",
    fatal="programs of IREE 3.13.0 read outside of the array",
    issue="https://github.com/iree-org/iree/issues/24881",
)
def gather_beyond_the_array(operation: Operation) -> Sequence[Value] | None:
    """Clamp the indices of a gather: IREE reads outside of the array where they are out of bounds.
    It also takes the highest bit of unsigned ones as their sign, so narrow ones become int32.
    """
    op = read(operation)
    x, given = operation.operands
    assert isinstance(op, gather_scatter.Gather)
    dtype = dtype_of(given)
    is_narrow = dtype.kind == "u" and dtype.itemsize < INT32.itemsize
    indices = conversion.convert(given, INT32) if is_narrow else given
    if not stay_within(op.dims, given, shape_of(x), op.slice_sizes):
        indices = op.dims.clamped(indices, shape_of(x), op.slice_sizes)
    return None if indices is given else op.build([x, indices])


@legalizes("stablehlo.dynamic_slice", "stablehlo.dynamic_update_slice", kind="bug", of="IREE")
def starts_in_narrow_integers(operation: Operation) -> Sequence[Value] | None:
    """Widen the starts of dynamic slices to int32: IREE takes negative ones of fewer bits as large
    positive ones, and uint64 from 2**63 on, which become int64, as negative ones.
    """
    op = read(operation)
    count = 1 if isinstance(op, dynamic_slices.DynamicSlice) else 2
    arrays, starts = operation.operands[:count], operation.operands[count:]
    if not starts:
        return None
    dtype = dtype_of(starts[0])
    if dtype == np.uint64:
        most = np.iinfo(np.int64).max
        bounded = (elementwise.minimum(start, full((), most, dtype)) for start in starts)
        return op.build(
            [*arrays, *(conversion.convert(start, np.dtype("i8")) for start in bounded)]
        )
    if dtype.itemsize >= INT32.itemsize:
        return None
    return op.build([*arrays, *(conversion.convert(start, INT32) for start in starts)])


@legalizes(
    "stablehlo.gather", kind="bug", of="IREE", fatal="the compiler of IREE 3.13.0 ends the process"
)
def index_vectors_last(operation: Operation) -> Sequence[Value] | None:
    """Move the dimension of index vectors last: IREE crashes where a batch dimension follows it."""
    op = read_as(gather_scatter.Gather, operation)
    x, indices = operation.operands
    last = len(shape_of(indices)) - 1
    if op is None or op.dims.index_vector_dim >= last or not op.dims.indices_batching_dims:
        return None
    vectors = op.dims.index_vector_dim
    moved = tuple(d - (d > vectors) for d in op.dims.indices_batching_dims)
    dims = replace(op.dims, index_vector_dim=last, indices_batching_dims=moved)
    return [replace(op, dims=dims)(x, shape.move_axis(indices, vectors, last))]


@legalizes(
    "stablehlo.scatter", kind="bug", of="IREE", fatal="the compiler of IREE 3.13.0 divides by zero"
)
def empty_scatter(operation: Operation) -> Sequence[Value] | None:
    """Return the array of a scatter without updates, where IREE's compiler divides by zero."""
    x, _, updates = operation.operands
    return [x] if 0 in shape_of(updates) else None


@legalizes("stablehlo.scatter", kind="missing", of="IREE")
def scatter_of_one_window(operation: Operation) -> Sequence[Value] | None:
    """Write a scatter of one window as a dynamic_update_slice. IREE refuses windows of several
    elements along an indexed dimension.
    """
    op = read_as(gather_scatter.Scatter, operation)
    if op is None:
        return None
    x, indices, updates = operation.operands
    sizes = op.dims.sizes(shape_of(x), shape_of(updates))
    is_row = all(n in (1, whole) for n, whole in zip(sizes, shape_of(x), strict=True)) and all(
        sizes[d] == 1 for d in op.dims.index_map
    )
    if is_row or prod(shape_of(updates)) != prod(sizes):
        return None
    vector = shape.reshape(indices, (len(op.dims.index_map),))
    starts = [full((), 0, dtype_of(indices)) for _ in sizes]
    for element, d in enumerate(op.dims.index_map):
        starts[d] = shape.reshape(slicing.slice_in_dim(vector, element, element + 1, 0), ())
    there = dynamic_slices.DynamicSlice(sizes)(x, *starts)
    # Windows extend along their dimensions in the array's order: only single elements lie between.
    window = shape.reshape(updates, sizes)
    if op.combiner != "set":
        window = mlir.emit(f"stablehlo.{op.combiner}", [there, window]).results[0]
    if not stay_within(op.dims, indices, shape_of(x), sizes):
        inside = op.dims.inside(indices, shape_of(x), shape_of(updates))
        window = comparison.select(shape.reshape(inside, sizes), window, there)
    return [dynamic_slices.DynamicUpdateSlice()(x, window, *starts)]


@legalizes(
    "stablehlo.scatter",
    kind="bug",
    of="IREE",
    fatal="programs of IREE 3.13.0 write outside of the array",
    issue="https://github.com/iree-org/iree/issues/13580",
)
def scatter_by_rows(operation: Operation) -> Sequence[Value] | None:
    """Scatter rows with all indices in bounds. IREE writes outside of the array otherwise, and
    takes only windows with one element along leading dimensions and all elements along the others.
    """
    op = scatter_of_one(operation)
    if op is None:
        return None
    x, indices, updates = operation.operands
    sizes = op.dims.sizes(shape_of(x), shape_of(updates))
    rows = Rows.of(op.dims, shape_of(x), shape_of(indices), shape_of(updates))
    all_inside = stay_within(op.dims, indices, shape_of(x), sizes)
    clamped = indices if all_inside else op.dims.clamped(indices, shape_of(x), sizes)
    array, places, written = rows.array(x), rows.places(clamped), rows.updates(updates)
    inside = op.dims.inside(indices, shape_of(x), shape_of(updates))
    if isinstance(op, gather_scatter.ScatterBy):
        result = _with_spare_row(
            op, rows.dims, array, places, written, _flags(rows.updates(inside))
        )
        return [rows.restored(result, shape_of(x))]
    if not all_inside:
        if op.combiner == "set":
            flags = _flags(rows.updates(inside))
            places, written = _repeat_one_inside(array, places, written, flags)
        else:
            neutral = full_like(updates, reduce.identity(op.combiner, dtype_of(updates)))
            written = rows.updates(comparison.select(inside, updates, neutral))
    # A neutral update may have been moved to where another one is: those are not unique.
    unique = op.unique_indices and (all_inside or op.combiner == "set")
    result = gather_scatter.Scatter(op.combiner, rows.dims, False, unique)(array, places, written)
    return [rows.restored(result, shape_of(x))]


def _flags(inside: Value) -> Value:
    """Return a mask of rows within the array, for each of their elements."""
    extents = shape_of(inside)
    limits = (extents[0], *(1,) * (len(extents) - 1))
    first = slicing.slice_(inside, (0,) * len(extents), limits, (1,) * len(extents))
    return shape.reshape(first, extents[:1])


def scatter_of_one(
    operation: Operation,
) -> gather_scatter.Scatter | gather_scatter.ScatterBy | None:
    """Return a scatter of one array, by a combiner or a computation; None for any other."""
    op = read_as(Op, operation) if len(operation.results) == 1 else None
    return op if isinstance(op, gather_scatter.Scatter | gather_scatter.ScatterBy) else None


def _with_spare_row(
    op: gather_scatter.ScatterBy,
    dims: window_shapes.WindowDims,
    array: Value,
    places: Value,
    written: Value,
    inside: Value,
) -> Value:
    """Scatter rows by a general computation; those out of bounds go to an additional row."""
    extents, depth = shape_of(array), shape_of(places)[1]
    zeros = (0,) * len(extents)
    padding = slicing.Pad(zeros, (1, *zeros[1:]), zeros)
    longer = padding(array, full((), 0, dtype_of(array)))
    spare = constant(np.array([[extents[0]] + [0] * (depth - 1)], dtype_of(places)))
    places = _where(inside, places, spare)
    (found,) = replace(op, dims=dims, unique_indices=False).build([longer, places, written])
    return slicing.slice_(found, zeros, extents, (1,) * len(extents))


def _repeat_one_inside(
    array: Value, places: Value, written: Value, inside: Value
) -> tuple[Value, Value]:
    """Replace updates out of bounds by repetitions of one that is not.

    If all are left out, the last place is written what it has.
    """
    count = shape_of(places)[0]
    dtype = dtype_of_places(count)
    last = full((), count - 1, dtype)
    numbers = comparison.select(
        inside, shape.Iota((count,), dtype, 0)(), full((count,), count - 1, dtype)
    )
    # The first that is inside; the last if none is.
    first = reduce.Reduce("minimum", (0,))(numbers, last)
    first = shape.reshape(first, (1, 1))
    place, update = _rows_at(places, first), _rows_at(written, first)
    is_inside = shape.reshape(_rows_at(inside, first), (1,))
    update = _where(is_inside, update, _rows_at(array, place))
    return _where(inside, places, place), _where(inside, written, update)


def _rows_at(x: Value, places: Value) -> Value:
    """Gather the parts of an array at index vectors [n, depth]."""
    depth, extents = shape_of(places)[1], shape_of(x)
    dims = window_shapes.WindowDims(
        window_dims=tuple(range(1, len(extents) - depth + 1)),
        collapsed_dims=tuple(range(depth)),
        index_map=tuple(range(depth)),
        index_vector_dim=1,
    )
    sizes = (1,) * depth + extents[depth:]
    return gather_scatter.Gather(dims, sizes, indices_are_sorted=False)(x, places)


def _where(rows: Value, x: Value, row: Value) -> Value:
    """Select the rows of `x` where `rows` holds, and the single row elsewhere: [n, ...], [1,
    ...].
    """
    extents = shape_of(x)
    mask = shape.BroadcastInDim(extents, (0,))(rows)
    return comparison.select(
        mask, x, shape.BroadcastInDim(extents, tuple(range(len(extents))))(row)
    )


@dataclass(frozen=True)
class Rows:
    """A scatter seen as one of rows: [n, ...] updates of an array at [n, depth] positions.

    The dimensions of the array in which a window has a place come first. Windows that extend along
    one of them are taken apart, into as many rows as they have elements there.
    """

    given: window_shapes.WindowDims
    placed: tuple[int, ...]
    """The dimensions of the array in which a window has a place."""
    sizes: tuple[int, ...]
    """The size of a window in each dimension of the array."""
    batch: tuple[int, ...]
    """The shape of the array of windows."""
    order: tuple[int, ...]
    """The dimensions of the updates: those of the array of windows, those of windows along placed
    dimensions of the array, the others."""
    row: tuple[int, ...]
    """The shape of a row."""
    count: int
    dtype: np.dtype
    """The dtype of positions."""

    @classmethod
    def of(
        cls,
        dims: window_shapes.WindowDims,
        array: tuple[int, ...],
        indices: tuple[int, ...],
        updates: tuple[int, ...],
    ) -> Rows:
        sizes = dims.sizes(array, updates)
        partial = {d for d, n in enumerate(array) if sizes[d] != n}
        apart = dims.collapsed_dims + dims.operand_batching_dims
        placed = tuple(sorted({*dims.index_map, *apart, *partial}))
        windowed = [d for d in range(len(array)) if d not in apart]
        place_of = dict(zip(windowed, dims.window_dims, strict=True))
        batch = [d for d in range(len(updates)) if d not in dims.window_dims]
        inner = [place_of[d] for d in placed if d in place_of]
        rest = [place_of[d] for d in windowed if d not in placed]
        row = tuple(updates[d] for d in rest)
        return cls(
            dims,
            placed,
            sizes,
            tuple(updates[d] for d in batch),
            (*batch, *inner, *rest),
            row,
            prod(updates[d] for d in [*batch, *inner]),
            dtype_of_places(*array),
        )

    @property
    def dims(self) -> window_shapes.WindowDims:
        depth = max(len(self.placed), 1)
        return window_shapes.WindowDims(
            window_dims=tuple(range(1, len(self.row) + 1)),
            collapsed_dims=tuple(range(depth)),
            index_map=tuple(range(depth)),
            index_vector_dim=1,
        )

    def array(self, x: Value) -> Value:
        """The array with its placed dimensions first, of which there is at least one."""
        rest = [d for d in range(len(shape_of(x))) if d not in self.placed]
        x = shape.transpose(x, [*self.placed, *rest])
        return x if self.placed else shape.reshape(x, (1, *shape_of(x)))

    def restored(self, x: Value, original: Sequence[int]) -> Value:
        """Undo `array`."""
        if not self.placed:
            return shape.reshape(x, original)
        rest = [d for d in range(len(original)) if d not in self.placed]
        return shape.transpose(x, np.argsort([*self.placed, *rest]).tolist())

    def updates(self, updates: Value) -> Value:
        """Return the updates, or another array of their shape, as rows."""
        return shape.reshape(shape.transpose(updates, self.order), (self.count, *self.row))

    def places(self, indices: Value) -> Value:
        """Return the index vectors of all rows: [count, depth]."""
        if not self.placed:
            return full((self.count, 1), 0, self.dtype)
        vectors = conversion.convert(indices, self.dtype)
        if self.given.index_vector_dim == len(shape_of(vectors)):
            vectors = shape.reshape(vectors, (*shape_of(vectors), 1))
        vectors = shape.move_axis(vectors, self.given.index_vector_dim, len(self.batch))
        single = self.given.collapsed_dims + self.given.operand_batching_dims
        inner = [d for d in self.placed if d not in single]
        extents = (*self.batch, *(self.sizes[d] for d in inner))
        columns = []
        for d in self.placed:
            column = self._starts(vectors, d)
            if inner:
                column = shape.BroadcastInDim(extents, tuple(range(len(self.batch))))(column)
            if self.sizes[d] != 1:
                within = shape.Iota(extents, self.dtype, len(self.batch) + inner.index(d))()
                column = elementwise.add(column, within)
            columns.append(shape.reshape(column, (self.count, 1)))
        return columns[0] if len(columns) == 1 else slicing.Concatenate(1)(*columns)

    def _starts(self, vectors: Value, d: int) -> Value:
        """Return the starts of windows in dimension `d` of the array, in the shape of `batch`."""
        if d in self.given.index_map:
            element = self.given.index_map.index(d)
            column = slicing.slice_in_dim(vectors, element, element + 1, len(self.batch))
            return shape.reshape(column, self.batch)
        if d in self.given.operand_batching_dims:
            along = self.given.indices_batching_dims[self.given.operand_batching_dims.index(d)]
            along -= along > self.given.index_vector_dim
            return shape.Iota(self.batch, self.dtype, along)()
        return full(self.batch, 0, self.dtype)
