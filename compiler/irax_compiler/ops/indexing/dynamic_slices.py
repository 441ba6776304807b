"""Slices with computed starts: dynamic_slice and dynamic_update_slice.

Starts are clamped so that the slice lies within the array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import shape, slicing
from irax_compiler.ops.attributes import I64S, attribute
from irax_compiler.ops.core import (
    Axis,
    Bits,
    Linear,
    Memory,
    Op,
    Recomputation,
    Tangent,
    full,
    zeros_like,
)
from irax_compiler.ops.indexing import gather_scatter
from irax_compiler.ops.links import Links, Use
from irax_compiler.ops.reductions import window_shapes
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.sharding_rule import Shape, ShardingRule, same_in_all, whole_dims
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation, Transposition
from irax_compiler.sizes import at_least


@register_class
@dataclass(frozen=True)
class DynamicSlice(Op):
    """The part of the operand of `slice_sizes` that begins at the starts, a scalar a dimension."""

    name = "stablehlo.dynamic_slice"
    memory = Memory.PART
    linear_in = (0,)
    float_bits = Bits.MOVED
    recomputation = Recomputation.CHEAP
    slice_sizes: tuple[int, ...] = attribute(I64S)

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        """Build it; a number has no parts, and StableHLO does not read what it prints of one."""
        return super().build(operands) if self.slice_sizes else [operands[0]]

    def sized_types(self, operands: Sequence[Value]):
        return [mlir.tensor_type(self.slice_sizes, dtype_of(operands[0]))]

    def evaluate(self, call: Evaluation, x: np.ndarray, *starts: np.ndarray) -> np.ndarray:
        return x[_slices(x.shape, self.slice_sizes, starts)]

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        tangent = tangents[0]
        return results, [None if tangent is None else self(tangent, *primals[1:])]

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        """Writes the cotangent into zeros."""
        (ct,) = cotangents
        assert ct is not None
        starts = [start for start in operands[1:] if isinstance(start, Value)]
        ct_x = DynamicUpdateSlice()(zeros_like(operands[0]), ct, *starts)
        return [ct_x, *[None] * len(starts)]

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        return same_in_all(whole_dims(operands[0], results[0]), operands, results)

    def links(self, use: Use) -> Links:
        is_known = all(start is not None for start in use.values[1:])
        return self.moved_links(use) if is_known else super().links(use)

    def on_shards(self, operands: Sequence[Shape], results: Sequence[Shape]) -> DynamicSlice:
        return DynamicSlice(results[0])

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        x, *starts = operands
        axis, *start_axes = axes
        if all(a is None for a in start_axes):
            assert axis is not None
            wider = DynamicSlice(shape.insert(self.slice_sizes, axis, transform.size))
            return wider.build([x, *_with_zero(starts, axis)]), [axis]
        array = _without(shape_of(x), axis)
        dims = _window_dims(array, self.slice_sizes)
        if not dims.index_map:
            return [x], [axis]
        vectors = _vectors(transform.size, starts, start_axes, dims)
        read = gather_scatter.Gather(dims, self.slice_sizes, indices_are_sorted=False)
        return read.batch(transform, [x, vectors], [axis, 0])


@register_class
@dataclass(frozen=True)
class DynamicUpdateSlice(Op):
    """The operand with its part that begins at the starts, a scalar a dimension, replaced."""

    name = "stablehlo.dynamic_update_slice"
    updates = True
    linear_in = (0, 1)
    float_bits = Bits.MOVED

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        """Build it; of a number, the update is all."""
        return super().build(operands) if shape_of(operands[0]) else [operands[1]]

    def sized_types(self, operands: Sequence[Value]):
        return [operands[0].type]

    def evaluate(
        self, call: Evaluation, x: np.ndarray, update: np.ndarray, *starts: np.ndarray
    ) -> np.ndarray:
        out = np.array(x)
        out[_slices(x.shape, update.shape, starts)] = update
        return out

    def links(self, use: Use) -> Links:
        if all(start is not None for start in use.values[2:]):
            return self.moved_links(use)
        return super().links(use) if use.number else []

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        x, update, *starts = primals
        t, t_update, *_ = tangents
        if t is None and t_update is None:
            return results, [None]
        return results, [self(t or zeros_like(x), t_update or zeros_like(update), *starts)]

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        (ct,) = cotangents
        assert ct is not None
        x, update = operands[:2]
        starts = [start for start in operands[2:] if isinstance(start, Value)]
        return [
            self(ct, zeros_like(update), *starts) if isinstance(x, Linear) else None,
            DynamicSlice(shape_of(update))(ct, *starts) if isinstance(update, Linear) else None,
            *[None] * len(starts),
        ]

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        return same_in_all(whole_dims(operands[0], operands[1]), operands, results)

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        x, update, *starts = operands
        axis, update_axis, *start_axes = axes
        if all(a is None for a in start_axes):
            (x, update), axis = shape.align(transform.size, (x, update), (axis, update_axis))
            return self.build([x, update, *_with_zero(starts, axis)]), [axis]
        array, sizes = _without(shape_of(x), axis), _without(shape_of(update), update_axis)
        dims = _window_dims(array, sizes)
        if not dims.index_map:
            return [update], [update_axis]
        vectors = _vectors(transform.size, starts, start_axes, dims)
        # A scatter leaves out what this op moves back into the array.
        vectors = replace(dims, index_vector_dim=1).clamped(vectors, array, sizes)
        write = gather_scatter.Scatter("set", dims, indices_are_sorted=False, unique_indices=True)
        return write.batch(transform, [x, vectors, update], [axis, 0, update_axis])


JOINTS = (slicing.Pad.name, slicing.Concatenate.name, DynamicUpdateSlice.name)
"""The operations that put arrays together."""


def _slices(
    array: Sequence[int], sizes: Sequence[int], starts: Sequence[np.ndarray]
) -> tuple[slice, ...]:
    firsts = (
        min(max(int(start), 0), n - size)
        for start, n, size in zip(starts, array, sizes, strict=True)
    )
    return tuple(slice(first, first + size) for first, size in zip(firsts, sizes, strict=True))


def _with_zero(starts: Sequence[Value], axis: int) -> list[Value]:
    """The starts with a zero for a further dimension `axis`."""
    dtype = dtype_of(starts[0]) if starts else np.dtype(np.int32)
    return [*starts[:axis], full((), 0, dtype), *starts[axis:]]


def _without(dimensions: tuple[int, ...], axis: Axis) -> tuple[int, ...]:
    """A shape without its mapped axis."""
    return dimensions if axis is None else dimensions[:axis] + dimensions[axis + 1 :]


def _window_dims(array: Sequence[int], sizes: Sequence[int]) -> window_shapes.WindowDims:
    """The slice as a window with one index vector; where it spans all, there is but one start."""
    extents = enumerate(zip(array, sizes, strict=True))
    movable = (d for d, (n, size) in extents if not at_least(size, n))
    return window_shapes.WindowDims(window_dims=tuple(range(len(array))), index_map=tuple(movable))


def _vectors(
    size: int, starts: Sequence[Value], axes: Sequence[Axis], dims: window_shapes.WindowDims
) -> Value:
    """The starts as an index vector a lane: [size, number of movable dimensions]."""
    columns = [
        shape.BroadcastInDim((size, 1), () if axes[d] is None else (0,))(starts[d])
        for d in dims.index_map
    ]
    return columns[0] if len(columns) == 1 else slicing.Concatenate(1)(*columns)
