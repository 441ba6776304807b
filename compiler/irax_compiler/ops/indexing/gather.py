"""The op gather, which reads windows of an array at computed positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from irax_compiler.mlir import Value, shape_of
from irax_compiler.ops import shape
from irax_compiler.ops.attributes import FLAG, I64S, attribute
from irax_compiler.ops.core import ArrayType, Axis, Linear, Memory, Op, Tangent, zeros_like
from irax_compiler.ops.indexing import scatter
from irax_compiler.ops.reductions import window_shapes
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation, Transposition


@register_class
@dataclass(frozen=True)
class Gather(Op):
    """Windows of the operand that start at the index vectors, moved so as to lie within it."""

    name = "stablehlo.gather"
    memory = Memory.PART
    linear_in = (0,)
    dims: window_shapes.WindowDims = attribute(window_shapes.GATHER_NUMBERS, "dimension_numbers")
    slice_sizes: tuple[int, ...] = attribute(I64S)
    """The size of a window in each dimension of the operand."""
    indices_are_sorted: bool = attribute(FLAG, default=False)

    def evaluate(self, call: Evaluation, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
        starts = self.dims.starts(indices, x.ndim)
        limits = np.subtract(x.shape, self.slice_sizes).reshape(-1, *[1] * (starts.ndim - 1))
        starts = np.minimum(np.maximum(starts, 0), limits)
        found = sliding_window_view(x, self.slice_sizes)[tuple(starts)]
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
        add = scatter.Scatter(
            "add",
            self.dims,
            # Clamping two elements of a vector may change the order of two vectors.
            indices_are_sorted=self.indices_are_sorted and len(self.dims.index_map) == 1,
            unique_indices=False,
        )
        return [add(zeros_like(x), indices, ct), None]

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
