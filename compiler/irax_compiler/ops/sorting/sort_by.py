"""Sorting by a comparator of any form, as foreign modules may hold: slow, and without keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from typing import ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import shape
from irax_compiler.ops.computation import Computation
from irax_compiler.ops.core import FLAG, I64, Axis, Op, Tangent, attribute, from_operation
from irax_compiler.ops.sorting import sort
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation


@dataclass(frozen=True)
class SortBy(Op):
    """The operands, all of one shape, in the order that `before` puts them in."""

    name = "stablehlo.sort"
    num_results: ClassVar[int] = -1  # as many as operands
    dimension: int = attribute(I64, default=-1)
    is_stable: bool = attribute(FLAG, default=False)
    before: Computation = from_operation(lambda o: Computation.of(o.regions[0].blocks[0]))
    """Whether one element goes before another; arguments 2i and 2i + 1 are theirs of operand i."""

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        types = [x.type for x in operands]
        operation = mlir.emit(self.name, operands, self.attributes(), types, regions=1)
        scalars = [mlir.tensor_type((), dtype_of(x)) for x in operands for _ in range(2)]
        self.before.fill(operation.regions[0], scalars[self.before.num_arguments :])
        return tuple(operation.results)

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Sequence[np.ndarray]:
        rows = [np.moveaxis(x, self.dimension, -1) for x in operands]
        order = np.empty(rows[0].shape, np.intp)
        for place in np.ndindex(*order.shape[:-1]):
            order[place] = self._order([row[place] for row in rows])
        order = np.moveaxis(order, -1, self.dimension)
        return tuple(np.take_along_axis(x, order, self.dimension) for x in operands)

    def _order(self, columns: Sequence[np.ndarray]) -> list[int]:
        def goes_before(i: int, j: int) -> bool:
            pairs = [column[k] for column in columns for k in (i, j)]
            return bool(self.before.evaluate(*pairs)[0])

        def compare(i: int, j: int) -> int:
            return -1 if goes_before(i, j) else int(goes_before(j, i))

        return sorted(range(len(columns[0])), key=cmp_to_key(compare))

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        if 0 in shape_of(primals[0]):
            return self.build(primals), tangents
        numbers = sort.numbers_along(primals[0], self.dimension)
        *results, order = self.build([*primals, numbers])
        taken = (None if t is None else sort.take(t, order, self.dimension) for t in tangents)
        return results, list(taken)

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        operands, axis = shape.align(transform.size, operands, axes)
        dimension = self.dimension % (len(shape_of(operands[0])) - 1)
        moved = SortBy(dimension + (dimension >= axis), self.is_stable, self.before)
        return moved.build(operands), [axis] * len(operands)
