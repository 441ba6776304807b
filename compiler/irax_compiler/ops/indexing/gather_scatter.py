"""Windows of an array at computed positions: gather, which reads them, and scatter, which writes
them. The transpose of each is made of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from irax_compiler import mlir
from irax_compiler.dtypes import is_of_numpy
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import comparison, conversion, elementwise, shape
from irax_compiler.ops.attributes import FLAG, I64S, attribute, from_operation
from irax_compiler.ops.computation import Computation
from irax_compiler.ops.core import (
    ArrayType,
    Axis,
    Bits,
    Linear,
    Memory,
    Op,
    Tangent,
    Typed,
    UnsupportedOp,
    dtype_of_places,
    full,
    working_dtype,
    zeros_like,
)
from irax_compiler.ops.links import Links, Pairs, Use, places
from irax_compiler.ops.reduction_builders import combiner_region
from irax_compiler.ops.reductions import reduce, window_shapes
from irax_compiler.ops.registry import computed, register_class
from irax_compiler.ops.sharding_rule import Shape, ShardingRule, with_own_factors
from irax_compiler.ops.structured import DefinedOp
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation, Transposition
from irax_compiler.sizes import at_least


@register_class
@dataclass(frozen=True)
class Gather(Op):
    """Windows of the operand that start at the index vectors, moved so as to lie within it."""

    name = "stablehlo.gather"
    needs_whole = True
    memory = Memory.PART
    linear_in = (0,)
    float_bits = Bits.MOVED
    dims: window_shapes.WindowDims = attribute(window_shapes.GATHER_NUMBERS, "dimension_numbers")
    slice_sizes: tuple[int, ...] = attribute(I64S)
    """The size of a window in each dimension of the operand."""
    indices_are_sorted: bool = attribute(FLAG, default=False)

    @property
    def index_dim(self) -> int:
        return self.dims.index_vector_dim

    def sized_types(self, operands: Sequence[Value]):
        x, indices = operands
        apart = self.dims.collapsed_dims + self.dims.operand_batching_dims
        window = [n for d, n in enumerate(self.slice_sizes) if d not in apart]
        extents = [n for d, n in enumerate(shape_of(indices)) if d != self.dims.index_vector_dim]
        for place, n in zip(self.dims.window_dims, window, strict=True):
            extents.insert(place, n)
        return [mlir.tensor_type(tuple(extents), dtype_of(x))]

    def evaluate(self, call: Evaluation, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
        starts = self.dims.starts(indices, x.ndim)
        limits = np.subtract(x.shape, self.slice_sizes).reshape(-1, *[1] * (starts.ndim - 1))
        starts = np.minimum(np.maximum(starts, 0), limits)
        # NumPy has such views of its own numbers only: others go as their bits.
        bits = x if is_of_numpy(x.dtype) else x.view(f"u{x.dtype.itemsize}")
        found = sliding_window_view(bits, self.slice_sizes)[tuple(starts)].view(x.dtype)
        batch = starts.shape[1:]
        apart = self.dims.collapsed_dims + self.dims.operand_batching_dims
        sizes = (n for d, n in enumerate(self.slice_sizes) if d not in apart)
        # A scalar has no start, and so would be found once for all index vectors.
        found = np.broadcast_to(found, batch + self.slice_sizes).reshape((*batch, *sizes))
        return np.moveaxis(found, range(len(batch), found.ndim), self.dims.window_dims)

    def prepared(self, *operands: ArrayType) -> Callable[..., Any]:
        """Return a function that uses NumPy's indexing, where a window has either all of a
        dimension or one element of it.
        """
        array, indices = operands
        dims, rank, vector_dim = self.dims, len(array.shape), self.dims.index_vector_dim
        single = [d for d in range(rank) if d in dims.index_map + dims.operand_batching_dims]
        whole = [d for d in range(rank) if d not in single]
        sizes = self.slice_sizes
        simple = all(sizes[d] == 1 for d in single) and all(
            sizes[d] == array.shape[d] for d in whole
        )
        if not (simple and single and indices.dtype.kind in "iu"):
            return super().prepared(*operands)
        batch = [n for d, n in enumerate(indices.shape) if d != vector_dim]
        along = {}  # the places in dimensions of the array that windows go along with
        for d, b in zip(dims.operand_batching_dims, dims.indices_batching_dims, strict=True):
            b -= b > vector_dim
            along[d] = np.arange(batch[b]).reshape(-1, *[1] * (len(batch) - 1 - b))
        elements = {d: _element(indices, vector_dim, e) for e, d in enumerate(dims.index_map)}
        most = np.iinfo(indices.dtype).max
        limits = {d: min(array.shape[d] - 1, most) for d in dims.index_map}
        order = (*single, *whole)
        in_order = order == tuple(range(rank))
        apart = dims.collapsed_dims + dims.operand_batching_dims
        kept = [n for d, n in enumerate(self.slice_sizes) if d not in apart]
        shape = (*batch, *kept)
        places = [d for d in range(len(shape)) if d not in dims.window_dims]
        moved = np.argsort([*places, *dims.window_dims])
        unmoved = moved.tolist() == list(range(len(shape)))

        def gathers(x: np.ndarray, indices: np.ndarray) -> np.ndarray:
            chosen = tuple(
                along[d]
                if d in along
                else np.minimum(np.maximum(indices[elements[d]], 0), limits[d])
                for d in single
            )
            x = x if in_order else x.transpose(order)
            found = x[chosen].reshape(shape)
            return found if unmoved else found.transpose(moved)

        return gathers

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        tangent = tangents[0]
        return results, [None if tangent is None else self(tangent, primals[1])]

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        """Adds the cotangents up at the places they were read from."""
        (ct,) = cotangents
        x, indices = operands
        assert isinstance(indices, Value)
        assert ct is not None
        indices = self.dims.clamped(indices, shape_of(x), self.slice_sizes)
        add = Scatter(
            "add",
            self.dims,
            # Clamping two elements of a vector may change the order of two vectors.
            indices_are_sorted=self.indices_are_sorted and len(self.dims.index_map) == 1,
            unique_indices=False,
        )
        return [add(zeros_like(x), indices, ct), None]

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        array, indices, windows = self.dims.factors(
            operands[0], operands[1], self.slice_sizes, results[0]
        )
        arranged = frozenset(f for f in indices if f is not None and f not in array)
        return ShardingRule((array, indices), (windows,), stated=arranged)

    def links(self, use: Use) -> Links:
        is_known = use.values[1] is not None
        return self.moved_links(use) if is_known else super().links(use)

    def on_shards(self, operands: Sequence[Shape], results: Sequence[Shape]) -> Gather:
        window = iter(self.dims.window_dims)
        apart = self.dims.collapsed_dims + self.dims.operand_batching_dims
        sizes = (
            n if d in apart else results[0][next(window)] for d, n in enumerate(self.slice_sizes)
        )
        return replace(self, slice_sizes=tuple(sizes))

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        axis, indices_axis = axes
        if indices_axis is None:
            assert axis is not None
            dims, place = self.dims.with_array_axis(axis)
            sizes = shape.insert(self.slice_sizes, axis, transform.size)
            return Gather(dims, sizes, self.indices_are_sorted).build(operands), [place]
        if axis is None:
            dims, place = self.dims.with_indices_axis(indices_axis)
            sizes = self.slice_sizes
        else:
            dims, place = self.dims.with_both_axes(axis, indices_axis)
            sizes = shape.insert(self.slice_sizes, axis, 1)
        return Gather(dims, sizes, indices_are_sorted=False).build(operands), [place]


def _element(indices: ArrayType, vector_dim: int, element: int) -> tuple[Any, ...]:
    """The index that takes one element of each index vector."""
    if vector_dim == len(indices.shape):
        return (...,)
    return (*[slice(None)] * vector_dim, element)


# ---- scatter -------------------------------------------------------------------------------------


def _find_combiner(operation: Operation) -> str | None:
    block = operation.regions[0].blocks[0]
    if list(mlir.terminator(block).operands) == [block.arguments[1]]:
        return "set"
    return reduce.find_combiner(operation)


def flat_updates(
    dims: window_shapes.WindowDims,
    array: Sequence[int],
    indices: np.ndarray,
    updates: Sequence[np.ndarray],
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the row-major positions of all elements of the windows that lie within an array of the
    given shape, and the elements of each array of updates.
    """
    sizes = dims.sizes(array, updates[0].shape)
    starts = dims.starts(indices, len(array))
    batch_rank = starts.ndim - 1
    window_axes = range(batch_rank, updates[0].ndim)
    rows = [
        np.moveaxis(u, dims.window_dims, window_axes).reshape(starts.shape[1:] + sizes)
        for u in updates
    ]
    limits = np.subtract(array, sizes).reshape(-1, *[1] * batch_rank)
    inside = ((starts >= 0) & (starts <= limits)).all(axis=0)
    if not inside.all():
        starts, rows = starts[:, inside], [r[inside] for r in rows]
    # The place of each element: that of its window and that within it.
    steps = np.cumprod((1, *array[:0:-1]))[: len(array)][::-1]
    within = np.tensordot(steps, np.indices(sizes), 1)
    places = np.add.outer(np.tensordot(steps, starts, 1), within)
    return places.ravel(), [r.ravel() for r in rows]


@register_class
@dataclass(frozen=True)
class Scatter(Op):
    """Write windows of updates to the operand, or combine them with its elements, at positions
    given by index vectors. Windows out of bounds are skipped.

    Where windows overlap, all of them are combined; of those that "set", some one wins.
    """

    name = "stablehlo.scatter"
    needs_whole = True
    updates = True
    memory = Memory.FRESH
    combiner: str = from_operation(_find_combiner)
    """"set", or one of `reduce.COMBINERS`."""
    dims: window_shapes.WindowDims = attribute(
        window_shapes.SCATTER_NUMBERS, "scatter_dimension_numbers"
    )
    indices_are_sorted: bool = attribute(FLAG, default=False)
    unique_indices: bool = attribute(FLAG, default=False)
    """The caller's word that no two windows overlap."""

    @property
    def index_dim(self) -> int:
        return self.dims.index_vector_dim

    @classmethod
    def flops(cls, operation: Operation) -> float:
        return prod(shape_of(operation.operands[-1])) * computed(operation)

    @classmethod
    def read(cls, operation: Operation) -> Op:
        operands = list(operation.operands)
        single = len(operands) == 3 and dtype_of(operands[0]) == dtype_of(operands[2])
        if single and _find_combiner(operation) is not None:
            return super().read(operation)
        return ScatterBy.read(operation)

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        x = operands[0]
        operation = mlir.emit(self.name, operands, self.attributes(), [x.type], regions=1)
        region = operation.regions[0]
        if self.combiner == "set":
            scalar = mlir.tensor_type((), dtype_of(x))
            block = mlir.Block.create_at_start(region, [scalar, scalar])
            with mlir.InsertionPoint(block):
                mlir.emit("stablehlo.return", [block.arguments[1]], results=[])
        else:
            combiner_region(region, self.combiner, dtype_of(x))
        return tuple(operation.results)

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        """Windows that are combined may be divided among devices, each of which begins with
        neutral elements. The result is divided as the array is, which is written to as a whole.
        """
        x, indices, windows = operands
        sizes = self.dims.sizes(x, windows)
        array, vectors, updates = self.dims.factors(x, indices, sizes, windows)
        combined = frozenset(f for f in vectors if f is not None and f not in array)
        reduced = {}
        if self.combiner in ("add", "maximum", "minimum"):
            reduced = dict.fromkeys(sorted(combined), self.combiner)
        else:
            vectors = tuple(None if f in combined else f for f in vectors)
            updates = tuple(None if f in combined else f for f in updates)
        array, written = with_own_factors(array, (*array, *vectors, *updates))
        return ShardingRule(
            (array, vectors, updates),
            (array,),
            reduced,
            init=0 if reduced else None,
            gathered=written,
            stated=written | frozenset(reduced),
        )

    def evaluate(
        self, call: Evaluation, x: np.ndarray, indices: np.ndarray, updates: np.ndarray
    ) -> np.ndarray:
        places, (rows,) = flat_updates(self.dims, x.shape, indices, [updates])
        if self.combiner == "set":
            out = np.array(x, order="C")
            out.reshape(-1)[places] = rows
            return out
        wide = working_dtype(x.dtype) if self.rounds(x.dtype, indices.shape) else x.dtype
        out = np.array(x, wide, order="C")
        fold = reduce.COMBINERS[self.combiner]
        fold.at(out.reshape(-1), places, rows.astype(wide, copy=False))
        return out.astype(x.dtype, copy=False)

    def links(self, use: Use) -> Links:
        array, _, windows = use.operands
        indices, count = use.values[1], prod(array)
        if indices is None:
            return super().links(use) if use.number else []
        written, (elements,) = flat_updates(self.dims, array, indices, [places(windows)])
        if use.number:
            return [Pairs(written, elements, count)]
        kept = np.ones(count, bool)
        kept[written] = self.combiner != "set"
        (there,) = np.nonzero(kept)
        return [Pairs(there, there, count)]

    def rounds(self, dtype: np.dtype, indices: Sequence[int]) -> bool:
        """True if partial results are rounded in a dtype: a sum of bfloat16 stops at 256. They are
        kept in float32 then.
        """
        return (
            self.combiner in ("add", "multiply")
            and mlir.inexact(dtype)
            and working_dtype(dtype) != dtype
            and not (self.unique_indices or at_least(1, self.dims.count(indices)))
        )

    # -- derivatives --

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        x, indices, updates = primals
        t, _, t_updates = tangents
        if t is None and t_updates is None:
            return results, [None]
        match self.combiner:
            case "add":
                return results, [self._added(t, x, indices, t_updates)]
            case "set":
                return results, [self._set_tangent(x, indices, updates, t, t_updates)]
            case "multiply":
                return results, [self._multiply_tangent(x, indices, updates, t, t_updates)]
            case "maximum" | "minimum":
                return results, [
                    self._extremum_tangent(x, indices, updates, t, t_updates, results[0])
                ]
        return super().jvp(transform, primals, tangents)

    def _set_tangent(
        self, x: Value, indices: Value, updates: Value, t: Tangent, t_updates: Tangent
    ) -> Tangent:
        if t_updates is None or self._unique(indices):
            return self(t or zeros_like(x), indices, t_updates or zeros_like(updates))
        # Which of several windows wins must not be left to chance a second time.
        won = comparison.select(self._won(x, indices, updates), t_updates, zeros_like(updates))
        rest = None if t is None else self(t, indices, zeros_like(updates))
        return self._added(rest, x, indices, won)

    def _multiply_tangent(
        self, x: Value, indices: Value, updates: Value, t: Tangent, t_updates: Tangent
    ) -> Tangent:
        scaled = None if t is None else self(t, indices, updates)
        if t_updates is None:
            return scaled
        if not self._unique(indices):
            raise UnsupportedOp(
                f"{self.name}: no jvp rule for multiply with respect to updates whose windows may "
                "overlap; pass unique_indices=True if they do not"
            )
        there = self._gathered(x, indices, updates)
        return self._added(scaled, x, indices, elementwise.multiply(there, t_updates))

    def _extremum_tangent(
        self,
        x: Value,
        indices: Value,
        updates: Value,
        t: Tangent,
        t_updates: Tangent,
        extremum: Value,
    ) -> Tangent:
        """The mean of the tangents of all that attain the extremum of their place; nan where that
        is nan.
        """
        dtype = dtype_of(x)
        ours = reduce.attains(x, extremum)
        theirs = reduce.attains(updates, self._gathered(extremum, indices, updates))
        count = self._added(
            conversion.convert(ours, dtype), x, indices, conversion.convert(theirs, dtype)
        )
        total = None if t is None else comparison.select(ours, t, zeros_like(t))
        if t_updates is not None:
            t_updates = comparison.select(theirs, t_updates, zeros_like(t_updates))
        total = self._added(total, x, indices, t_updates)
        assert count is not None
        assert total is not None
        return elementwise.divide(total, reduce.nan_where(extremum, count))

    def is_linear_in(self, operands: Sequence[int]) -> bool:
        linear = {"add": (0, 2), "set": (0, 2), "multiply": (0,)}.get(self.combiner, ())
        return all(i in linear for i in operands)

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        (ct,) = cotangents
        x, indices, updates = operands
        assert isinstance(indices, Value)
        assert ct is not None
        ct_x = ct_updates = None
        if self.combiner == "multiply":
            assert isinstance(updates, Value)
            return [self(ct, indices, updates), None, None]
        if isinstance(x, Linear):
            ct_x = ct if self.combiner == "add" else self(ct, indices, zeros_like(updates))
        if isinstance(updates, Linear):
            ct_updates = self._updates_cotangent(ct, x, indices, updates)
        return [ct_x, None, ct_updates]

    def _updates_cotangent(self, ct: Value, x: Typed, indices: Value, updates: Linear) -> Value:
        if self.combiner == "set" and not self._unique(indices):
            written = self._won(x, indices, updates)
        else:
            written = self.dims.inside(indices, shape_of(x), shape_of(updates))
        there = self._gathered(ct, indices, updates)
        return comparison.select(written, there, zeros_like(there))

    def _added(self, base: Tangent, x: Value, indices: Value, updates: Tangent) -> Tangent:
        """Updates added to `base` (None: zeros like x) at the places this op writes to."""
        if updates is None:
            return base
        add = Scatter("add", self.dims, self.indices_are_sorted, self.unique_indices)
        return add(zeros_like(x) if base is None else base, indices, updates)

    def _gathered(self, array: Value, indices: Value, updates: Typed) -> Value:
        """Return the elements of `array` at the positions of the updates; those of windows out of
        bounds are arbitrary.
        """
        sizes = self.dims.sizes(shape_of(array), shape_of(updates))
        return Gather(self.dims, sizes, self.indices_are_sorted)(array, indices)

    def _unique(self, indices: Value) -> bool:
        return self.unique_indices or at_least(1, self.dims.count(shape_of(indices)))

    def _won(self, x: Typed, indices: Value, updates: Typed) -> Value:
        """For each update, whether it is the one that its place was set to in the end.

        The updates' numbers are scattered in their stead, to see which arrive.
        """
        count = prod(shape_of(updates))
        dtype = dtype_of_places(count)
        ids = shape.reshape(shape.Iota((count,), dtype, 0)(), shape_of(updates))
        arrived = self(full(shape_of(x), -1, dtype), indices, ids)
        return comparison.equal(self._gathered(arrived, indices, updates), ids)

    # -- batching --

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        x, indices, updates = operands
        axis, indices_axis, updates_axis = axes
        if axis is None:
            x, axis = shape.batched_at(x, None, transform.size, 0), 0
        if indices_axis is None:
            dims, place = self.dims.with_array_axis(axis)
        else:
            dims, place = self.dims.with_both_axes(axis, indices_axis)
        updates = shape.batched_at(updates, updates_axis, transform.size, place)
        wider = Scatter(
            self.combiner,
            dims,
            self.indices_are_sorted and indices_axis is None,
            self.unique_indices,
        )
        return wider.build([x, indices, updates]), [axis]


# ---- by any computation, and of several arrays ---------------------------------------------------


@dataclass(frozen=True)
class ScatterBy(DefinedOp):
    """Combine windows of the last operands with elements of the first ones by a computation, at
    positions given by index vectors, the operand between. Windows out of bounds are skipped.
    """

    name = "stablehlo.scatter"
    num_results: ClassVar[int] = -1
    computation: Computation = from_operation(lambda o: Computation.of(o.regions[0].blocks[0]))
    """Combines one element of each array with one of each array of updates, in this order."""
    dims: window_shapes.WindowDims = attribute(
        window_shapes.SCATTER_NUMBERS, "scatter_dimension_numbers"
    )
    indices_are_sorted: bool = attribute(FLAG, default=False)
    unique_indices: bool = attribute(FLAG, default=False)

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        count = len(operands) // 2
        types = [x.type for x in operands[:count]]
        operation = mlir.emit(self.name, operands, self.attributes(), types, regions=1)
        self.computation.fill(operation.regions[0])
        return tuple(operation.results)

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Sequence[np.ndarray]:
        count = len(operands) // 2
        arrays, indices, updates = operands[:count], operands[count], operands[count + 1 :]
        places, rows = flat_updates(self.dims, arrays[0].shape, indices, updates)
        results = [np.array(x, order="C") for x in arrays]
        flat = [x.reshape(-1) for x in results]
        with np.errstate(all="ignore"):
            for place, *new in zip(places, *rows, strict=True):
                old = [x[place] for x in flat]
                found = self.computation.evaluate(*map(np.asarray, [*old, *new]))
                for x, value in zip(flat, found, strict=True):
                    x[place] = value
        return results

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        count = len(operands) // 2
        dims, place = self.dims.with_both_axes(0, 0)
        destinations = [0] * (count + 1) + [place] * count
        moved = [
            shape.batched_at(x, axis, transform.size, destination)
            for x, axis, destination in zip(operands, axes, destinations, strict=True)
        ]
        return replace(self, dims=dims).build(moved), [0] * count

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        """Define it as one scatter per array, if none depends on another; or, if no windows
        overlap, as a gather, the computation, and a scatter that sets.
        """
        count = len(operands) // 2
        arrays, indices, updates = operands[:count], operands[count], operands[count + 1 :]
        settings = (self.dims, self.indices_are_sorted, self.unique_indices)
        combiners = [self.computation.operation(i, (i, count + i)) for i in range(count)]
        if None in combiners:
            return self._read_and_set(arrays, indices, updates)
        results = []
        for combiner, x, u in zip(combiners, arrays, updates, strict=True):
            assert combiner is not None
            update = conversion.convert(u, dtype_of(x))
            if combiner == "subtract":
                combiner, update = "add", elementwise.negate(update)
            results.append(Scatter(combiner, *settings)(x, indices, update))
        return results

    def _read_and_set(
        self, arrays: Sequence[Value], indices: Value, updates: Sequence[Value]
    ) -> Sequence[Value]:
        if not self.unique_indices and self.dims.count(shape_of(indices)) > 1:
            raise UnsupportedOp(
                f"{self.name}: combines with a computation other than set, subtract and "
                f"{', '.join(reduce.COMBINERS)}, of an array and its own updates, in windows "
                "that may overlap: it can be evaluated, but not differentiated, batched or split; "
                "pass unique_indices=True if they do not"
            )
        sizes = self.dims.sizes(shape_of(arrays[0]), shape_of(updates[0]))
        read = Gather(self.dims, sizes, self.indices_are_sorted)
        put = Scatter("set", self.dims, self.indices_are_sorted, unique_indices=True)
        there = [read(x, indices) for x in arrays]
        found = self.computation(*there, *updates)
        return [put(x, indices, new) for x, new in zip(arrays, found, strict=True)]
