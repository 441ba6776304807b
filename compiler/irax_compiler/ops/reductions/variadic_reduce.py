"""The op reduce with a general computation: of several arrays at once, argmax, sums in another
dtype.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import conversion, shape, slicing
from irax_compiler.ops.attributes import I64S, attribute, from_operation
from irax_compiler.ops.computation import Computation
from irax_compiler.ops.core import Axis
from irax_compiler.ops.loop_builders import fold_rows
from irax_compiler.ops.sharding_rule import Shape, ShardingRule, along
from irax_compiler.ops.structured import DefinedOp
from irax_compiler.ops.transformation import Batching, Evaluation
from irax_compiler.sizes import is_symbolic


@dataclass(frozen=True)
class VariadicReduce(DefinedOp):
    """Reduce `dimensions` of the first half of the operands, starting from the scalars in the
    second half, by a computation of the accumulated and the next elements.

    The computation is associative: neighbours are folded pairwise, which is its definition here.
    """

    name = "stablehlo.reduce"
    reduces = True
    num_results: ClassVar[int] = -1
    computation: Computation = from_operation(lambda o: Computation.of(o.regions[0].blocks[0]))
    dimensions: tuple[int, ...] = attribute(I64S)

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        kept = [n for d, n in enumerate(shape_of(operands[0])) if d not in self.dimensions]
        types = [mlir.tensor_type(tuple(kept), d) for d in self.computation.result_dtypes]
        operation = mlir.emit(self.name, operands, self.attributes(), types, regions=1)
        self.computation.fill(operation.regions[0])
        return tuple(operation.results)

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        xs, inits = operands[: len(operands) // 2], operands[len(operands) // 2 :]
        extents = shape_of(xs[0])
        kept = [d for d in range(len(extents)) if d not in self.dimensions]
        sizes = tuple(extents[d] for d in kept)
        count = prod(extents[d] for d in self.dimensions)
        starts = [shape.broadcast_scalar(init, sizes) for init in inits]
        if count == 0:
            return starts
        if is_symbolic(count):
            return self._in_turn(xs, starts)
        axis = len(kept)
        rows = [
            conversion.convert(
                shape.reshape(shape.transpose(x, [*kept, *self.dimensions]), (*sizes, count)),
                dtype_of(init),
            )
            for x, init in zip(xs, inits, strict=True)
        ]
        while (n := shape_of(rows[0])[axis]) > 1:
            pairs = [
                shape.reshape(slicing.slice_in_dim(x, 0, n // 2 * 2, axis), (*sizes, n // 2, 2))
                for x in rows
            ]
            sides = (
                [
                    shape.reshape(slicing.slice_in_dim(x, i, i + 1, axis + 1), (*sizes, n // 2))
                    for x in pairs
                ]
                for i in range(2)
            )
            folded = self.computation(*(x for side in sides for x in side))
            if n % 2:
                folded = [
                    slicing.Concatenate(axis)(x, slicing.slice_in_dim(last, n - 1, n, axis))
                    for x, last in zip(folded, rows, strict=True)
                ]
            rows = folded
        return self.computation(*starts, *(shape.reshape(x, sizes) for x in rows))

    def _in_turn(self, xs: Sequence[Value], starts: Sequence[Value]) -> Sequence[Value]:
        """The elements folded one after the other: how many there are is not known."""
        rows = [
            conversion.convert(shape.in_rows(x, self.dimensions), dtype_of(start))
            for x, start in zip(xs, starts, strict=True)
        ]
        return fold_rows(self.computation, starts, rows)

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        rank, count = len(operands[0]), len(operands) // 2
        kept = tuple(d for d in range(rank) if d not in self.dimensions)
        given = (along(kept, rank),) * count + ((),) * count
        return ShardingRule(given, (kept,) * len(results))

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Sequence[np.ndarray]:
        arrays = [np.asarray(x) for x in operands]
        xs, inits = arrays[: len(arrays) // 2], arrays[len(arrays) // 2 :]
        kept = [d for d in range(xs[0].ndim) if d not in self.dimensions]
        sizes = tuple(xs[0].shape[d] for d in kept)
        rows = [
            x.transpose(*kept, *self.dimensions).reshape(*sizes, -1).astype(init.dtype, copy=False)
            for x, init in zip(xs, inits, strict=True)
        ]
        results = [np.broadcast_to(init, sizes) for init in inits]
        if prod(xs[0].shape[d] for d in self.dimensions):
            results = self.computation.evaluate(*results, *folded(self.computation, rows))
        return [
            np.array(r, d) for r, d in zip(results, self.computation.result_dtypes, strict=True)
        ]

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        moved = shape.reduced_with_lanes(transform.size, operands, axes)
        if moved is None:
            return super().batch(transform, operands, axes)
        results = replace(self, dimensions=tuple(d + 1 for d in self.dimensions)).build(moved)
        return results, [0] * len(results)


def folded(computation: Computation, rows: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Arrays folded along their last axis, neighbours pairwise."""
    while (n := rows[0].shape[-1]) > 1:
        even = n // 2 * 2
        sides = [x[..., i:even:2] for i in range(2) for x in rows]
        results = computation.evaluate(*sides)
        if n % 2:
            results = [
                np.concatenate([x, last[..., -1:]], -1)
                for x, last in zip(results, rows, strict=True)
            ]
        rows = results
    return [x[..., 0] for x in rows]
