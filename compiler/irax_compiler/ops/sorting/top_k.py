"""CHLO's top_k: the largest elements along the last dimension, and their indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, inexact, shape_of
from irax_compiler.ops import comparison, shape, slicing
from irax_compiler.ops.attributes import I64, attribute
from irax_compiler.ops.core import Axis, Op, Tangent, UnsupportedOp, dtype_of_places, no_calls
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.sharding_rule import Shape, ShardingRule, same_along
from irax_compiler.ops.sorting import sort
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation

INT32 = np.dtype(np.int32)
LONG = 256
"""Elements in a row from which on it pays to look for the k-th before anything is sorted."""


@register_class
@dataclass(frozen=True)
class TopK(Op):
    """The k largest elements along the last dimension, in descending order, and their places.

    Of equal elements the first one goes first. Floats are in IEEE 754's total order, as on XLA and
    in MLIR's expansion of it: nan is largest, 0 larger than -0, and -nan smallest.
    """

    name = "chlo.top_k"
    superlinear = True
    needs_whole = True
    num_results: ClassVar[int] = 2
    k: int = attribute(I64)

    def result_types(self, operands: Sequence[Value]):
        (x,) = operands
        length = shape_of(x)[-1]
        if dtype_of_places(length) != INT32:
            raise UnsupportedOp(
                f"{self.name}: the places of {length} elements do not fit into int32, which it "
                "gives; sort the array with 64-bit places, or select from its parts"
            )
        sizes = (*shape_of(x)[:-1], self.k)
        return [mlir.tensor_type(sizes, d) for d in (dtype_of(x), INT32)]

    def evaluate(self, call: Evaluation, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if x.shape[-1] < LONG or not self.k:
            return self._of_sorted(x)
        rows = x.reshape(-1, x.shape[-1])
        found = [self._of_row(row) for row in rows]
        values, places = (np.array(column) for column in zip(*found, strict=True))
        sizes = (*x.shape[:-1], self.k)
        return values.astype(x.dtype).reshape(sizes), places.astype(INT32).reshape(sizes)

    def _of_row(self, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        keys = comparison.total_order_key(row) if inexact(row.dtype) else row
        least = np.partition(keys, -self.k)[-self.k]
        candidates = np.flatnonzero(~(keys < least))
        values, order = self._of_sorted(row[candidates])
        return values, candidates[order]

    def _of_sorted(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        places = np.broadcast_to(np.arange(x.shape[-1], dtype=INT32), x.shape)
        descending = sort.Sort(-1, True, sort.Order(1, "GT", total=True))
        values, order = descending.evaluate(no_calls, x, places)
        return values[..., : self.k], order[..., : self.k]

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        (t,) = tangents
        return results, [None if t is None else sort.take(t, results[1], -1), None]

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        return same_along(range(len(operands[0]) - 1), operands, results)

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        (x,), (axis,) = operands, axes
        assert axis is not None
        return self.build([shape.move_axis(x, axis, 0)]), [0, 0]


def first_sorted(
    operands: Sequence[Value], dimension: int, count: int, direction: str
) -> Sequence[Value]:
    """Builds a stable sort of one array with the places of its elements, or of the operands by the
    first, cut down to the first `count` along a dimension.
    """
    if len(operands) == 1:
        operands = [*operands, sort.numbers_along(operands[0], dimension)]
    ordered = sort.Sort(dimension, True, sort.Order(1, direction)).build(operands)
    return [slicing.slice_in_dim(v, 0, count, dimension) for v in ordered]
