"""Dimension numbers of windows at computed positions, which gathers read and scatters write.

An array of indices holds an index vector for each window. Gather, scatter and their rules compute
with these dimension numbers here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import clamp, comparison, shape, slicing
from irax_compiler.ops.attributes import numbers
from irax_compiler.ops.core import full
from irax_compiler.ops.reductions import reduce
from irax_compiler.ops.sharding_rule import Factors, Shape
from irax_compiler.sizes import smaller

Dimensions = tuple[int, ...]


@dataclass(frozen=True)
class WindowDims:
    """The correspondence between dimensions of an array, of indices into it, and of the windows.

    "Windows" are the result of a gather, the updates of a scatter. StableHLO has other names for
    a scatter's numbers; one class for both makes the transpose of either the other, unchanged.
    """

    window_dims: Dimensions = ()
    """The dimensions of the windows array along which a window extends, ascending."""
    collapsed_dims: Dimensions = ()
    """The dimensions of the array in which windows have one element and the windows array has no
    dimension."""
    operand_batching_dims: Dimensions = ()
    """The dimensions of the array at which a window's place is that of its index vector in ..."""
    indices_batching_dims: Dimensions = ()
    """... these dimensions of the indices, in the same order."""
    index_map: Dimensions = ()
    """The dimension of the array that each element of an index vector is a place in."""
    index_vector_dim: int = 0
    """The dimension of the indices along which a vector lies; their rank: vectors of one element,
    without a dimension."""

    # -- batching: each form with a further axis, and where the windows array has that axis --

    def with_array_axis(self, axis: int) -> tuple[WindowDims, int]:
        """The array has a further dimension `axis`, which all windows span."""
        before = axis - sum(d < axis for d in self.collapsed_dims + self.operand_batching_dims)
        place = self.window_dims[before - 1] + 1 if before else 0
        moved = self._array_shifted(axis)
        window_dims = shape.insert(_shifted(self.window_dims, place), before, place)
        return replace(moved, window_dims=window_dims), place

    def with_indices_axis(self, axis: int) -> tuple[WindowDims, int]:
        """The indices have a further dimension `axis`: more windows of the same array."""
        place = axis - (axis > self.index_vector_dim)
        for d in self.window_dims:
            place += d <= place
        moved = replace(
            self,
            window_dims=_shifted(self.window_dims, place),
            indices_batching_dims=_shifted(self.indices_batching_dims, axis),
            index_vector_dim=self.index_vector_dim + (self.index_vector_dim >= axis),
        )
        return moved, place

    def with_both_axes(self, array_axis: int, indices_axis: int) -> tuple[WindowDims, int]:
        """Array and indices have a further dimension each, and go together along it."""
        moved, place = self._array_shifted(array_axis).with_indices_axis(indices_axis)
        pairs = zip(moved.operand_batching_dims, moved.indices_batching_dims, strict=True)
        pairs = sorted([*pairs, (array_axis, indices_axis)])
        moved = replace(
            moved,
            operand_batching_dims=tuple(d for d, _ in pairs),
            indices_batching_dims=tuple(d for _, d in pairs),
        )
        return moved, place

    def _array_shifted(self, axis: int) -> WindowDims:
        return replace(
            self,
            collapsed_dims=_shifted(self.collapsed_dims, axis),
            operand_batching_dims=_shifted(self.operand_batching_dims, axis),
            index_map=_shifted(self.index_map, axis),
        )

    # -- sharding --

    def factors(
        self, array: Shape, indices: Shape, sizes: Shape, windows: Shape
    ) -> tuple[Factors, Factors, Factors]:
        """The factors of array, indices and windows (see `sharding_rule`): of dimensions that all
        windows span, and of those in which the windows are arranged.
        """
        of_array: list[int | None] = [None] * len(array)
        of_indices: list[int | None] = [None] * len(indices)
        of_windows: list[int | None] = [None] * len(windows)
        apart = self.collapsed_dims + self.operand_batching_dims
        spanned = [d for d in range(len(array)) if d not in apart]
        for d, place in zip(spanned, self.window_dims, strict=True):
            if sizes[d] == array[d]:
                of_array[d] = of_windows[place] = place
        arranged = [d for d in range(len(windows)) if d not in self.window_dims]
        vectors = [d for d in range(len(indices)) if d != self.index_vector_dim]
        for d, place in zip(vectors, arranged, strict=True):
            of_indices[d] = of_windows[place] = place
        pairs = zip(self.operand_batching_dims, self.indices_batching_dims, strict=True)
        for d, of_index in pairs:
            of_array[d] = of_indices[of_index]
        return tuple(of_array), tuple(of_indices), tuple(of_windows)

    # -- sizes --

    def sizes(self, array: Sequence[int], windows: Sequence[int]) -> Dimensions:
        """The size of a window in each dimension of the array, given the shapes of both."""
        single = self.collapsed_dims + self.operand_batching_dims
        extents = iter(windows[d] for d in self.window_dims)
        return tuple(1 if d in single else next(extents) for d in range(len(array)))

    def count(self, indices: Sequence[int]) -> int:
        """Return the number of windows per batch, given the shape of the indices."""
        apart = (*self.indices_batching_dims, self.index_vector_dim)
        return prod(n for d, n in enumerate(indices) if d not in apart)

    # -- in the IR --

    def clamped(self, indices: Value, array: Sequence[int], sizes: Sequence[int]) -> Value:
        """Clamp indices so that the windows lie within the array, as a gather does by itself."""
        if not self.index_map:
            return indices
        dtype = dtype_of(indices)
        most = np.iinfo(dtype).max
        limits = [smaller(array[d] - sizes[d], most) for d in self.index_map]
        if len(set(limits)) == 1:
            high = full((), limits[0], dtype)
        else:
            spread = shape.BroadcastInDim(shape_of(indices), (self.index_vector_dim,))
            high = spread(slicing.vector(limits, dtype))
        return clamp.clamp(full((), 0, dtype), indices, high)

    def inside(
        self,
        indices: Value,
        array: Sequence[int],
        windows: Sequence[int],
    ) -> Value:
        """For each element of the windows array, whether its whole window lies within the array."""
        batch_dims = tuple(d for d in range(len(windows)) if d not in self.window_dims)
        if not self.index_map:
            return full(windows, True, np.dtype(np.bool_))
        there = comparison.equal(indices, self.clamped(indices, array, self.sizes(array, windows)))
        batch = tuple(windows[d] for d in batch_dims)
        if len(self.index_map) == 1:
            there = shape.reshape(there, batch)
        else:
            true = full((), True, np.dtype(np.bool_))
            there = reduce.Reduce("and", (self.index_vector_dim,))(there, true)
        return shape.BroadcastInDim(tuple(windows), batch_dims)(there)

    # -- in NumPy --

    def starts(self, indices: np.ndarray, rank: int) -> np.ndarray:
        """Return the start of each window in each dimension of the array: [rank, *batch]."""
        if self.index_vector_dim == indices.ndim:
            indices = indices[..., None]
        if indices.dtype == np.uint64:
            indices = np.minimum(indices, np.uint64(np.iinfo(np.int64).max))
        vectors = np.moveaxis(indices, self.index_vector_dim, 0)
        batch = vectors.shape[1:]
        starts = np.zeros((rank, *batch), np.int64)
        for element, d in enumerate(self.index_map):
            starts[d] = vectors[element]
        for d, b in zip(self.operand_batching_dims, self.indices_batching_dims, strict=True):
            b -= b > self.index_vector_dim
            starts[d] = np.arange(batch[b]).reshape(-1, *[1] * (len(batch) - 1 - b))
        return starts


def _shifted(dimensions: Dimensions, axis: int) -> Dimensions:
    """Return the dimensions after a new one was inserted at `axis`."""
    return tuple(d + (d >= axis) for d in dimensions)


GATHER_NUMBERS = numbers(
    "gather",
    WindowDims,
    (
        "offset_dims",
        "collapsed_slice_dims",
        "operand_batching_dims",
        "start_indices_batching_dims",
        "start_index_map",
        "index_vector_dim",
    ),
)
"""The numbers as `stablehlo.gather` spells them."""

SCATTER_NUMBERS = numbers(
    "scatter",
    WindowDims,
    (
        "update_window_dims",
        "inserted_window_dims",
        "input_batching_dims",
        "scatter_indices_batching_dims",
        "scatter_dims_to_operand_dims",
        "index_vector_dim",
    ),
)
"""The numbers as `stablehlo.scatter` spells them."""
