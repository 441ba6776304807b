"""Scatters that combine with any computation, or of several arrays at the same places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import conversion, elementwise, shape
from irax_compiler.ops.computation import Computation
from irax_compiler.ops.core import (
    FLAG,
    Axis,
    UnsupportedOp,
    attribute,
    from_operation,
)
from irax_compiler.ops.indexing import gather, scatter
from irax_compiler.ops.reductions import reduce, window_shapes
from irax_compiler.ops.structured import DefinedOp
from irax_compiler.ops.transformation import Batching, Evaluation


@dataclass(frozen=True)
class ScatterBy(DefinedOp):
    """The first operands, with windows of the last ones combined with what is at the places that
    start at the index vectors (the operand between); a window that does not lie within is left out.
    """

    name = "stablehlo.scatter"
    num_results: ClassVar[int] = -1
    computation: Computation = from_operation(lambda o: Computation.of(o.regions[0].blocks[0]))
    """Of an element of each array, then of each array of updates."""
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
        places, rows = scatter.flat_updates(self.dims, arrays[0].shape, indices, updates)
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
        """A scatter of its own for each array, where none depends on another; where no windows
        overlap, what is read there, computed with, and set.
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
            results.append(scatter.Scatter(combiner, *settings)(x, indices, update))
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
        read = gather.Gather(self.dims, sizes, self.indices_are_sorted)
        put = scatter.Scatter("set", self.dims, self.indices_are_sorted, unique_indices=True)
        there = [read(x, indices) for x in arrays]
        found = self.computation(*there, *updates)
        return [put(x, indices, new) for x, new in zip(arrays, found, strict=True)]
