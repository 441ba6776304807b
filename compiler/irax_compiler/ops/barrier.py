"""The op optimization_barrier, an identity that nothing is moved across or fused through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Any, ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value
from irax_compiler.ops.core import Axis, Linear, Memory, Op, Tangent
from irax_compiler.ops.registry import register
from irax_compiler.ops.sharding_rule import Shape, ShardingRule
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation, Transposition


@dataclass(frozen=True)
class Barrier(Op):
    """As many results as operands."""

    name = "stablehlo.optimization_barrier"
    memory = Memory.ANY
    linear_in = None
    is_pure = False
    num_results: ClassVar[int] = -1

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        types = [x.type for x in operands]
        return tuple(mlir.emit(self.name, operands, results=types).results)

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Any:
        return operands

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        return results, self._through(tangents)

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        found = self._through(cotangents)
        return [
            ct if isinstance(x, Linear) else None for x, ct in zip(operands, found, strict=True)
        ]

    def _through(self, values: Sequence[Tangent]) -> list[Tangent]:
        """Put the tangents that are not None behind a barrier of their own."""
        there = iter(self.build([v for v in values if v is not None]))
        return [None if v is None else next(there) for v in values]

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        numbers = count()
        factors = tuple(tuple(islice(numbers, len(shape))) for shape in operands)
        return ShardingRule(factors, factors)

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        return self.build(operands), axes


barrier = register(Barrier())
