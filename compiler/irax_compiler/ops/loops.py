"""Loops and branches: while, case and if, whose regions may use values from outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from irax_compiler import evaluate, mlir
from irax_compiler.mlir import InsertionPoint, Operation, Value
from irax_compiler.ops.core import Op, from_operation, register_class


def _programs(operation: Operation) -> tuple[evaluate.Program, ...]:
    captured = mlir.captured(operation)
    return tuple(evaluate.Program.of(r.blocks[0], captured) for r in operation.regions)


@dataclass(frozen=True)
class _RegionOp(Op):
    num_results: ClassVar[int] = -1
    captures: ClassVar[bool] = True
    programs: tuple[evaluate.Program, ...] = from_operation(_programs)
    """Its regions, each a function of its block's arguments and all that the op captures."""
    num_operands: int = from_operation(lambda operation: len(operation.operands))


@register_class
@dataclass(frozen=True)
class While(_RegionOp):
    """Carries values from step to step for as long as a condition on them holds."""

    name = "stablehlo.while"

    def evaluate_through(self, call: evaluate.Call, operands: Any) -> Sequence[np.ndarray]:
        condition, body = self.programs
        carry, captured = operands[: self.num_operands], operands[self.num_operands :]
        while condition.run([*carry, *captured], call)[0]:
            carry = body.run([*carry, *captured], call)
        return carry


@register_class
@dataclass(frozen=True)
class Case(_RegionOp):
    """The branch that an index names; the last one where there is no such branch."""

    name = "stablehlo.case"

    def evaluate_through(self, call: evaluate.Call, operands: Any) -> Sequence[np.ndarray]:
        index, *captured = operands
        last = len(self.programs) - 1
        chosen = int(index) if 0 <= index <= last else last
        return self.programs[chosen].run(captured, call)


@register_class
@dataclass(frozen=True)
class If(_RegionOp):
    """The first branch if a condition holds, the second if not."""

    name = "stablehlo.if"

    def evaluate_through(self, call: evaluate.Call, operands: Any) -> Sequence[np.ndarray]:
        condition, *captured = operands
        return self.programs[0 if condition else 1].run(captured, call)


def while_loop(
    condition: Callable[..., Value],
    body: Callable[..., Sequence[Value]],
    carry: Sequence[Value],
) -> tuple[Value, ...]:
    """Builds a `stablehlo.while`; both functions get the carried values, and may use others."""
    types = [x.type for x in carry]
    operation = mlir.emit("stablehlo.while", carry, {}, types, regions=2)
    for region, build in zip(operation.regions, (condition, body), strict=True):
        block = mlir.Block.create_at_start(region, types)
        with InsertionPoint(block):
            results = build(*block.arguments)
            results = [results] if isinstance(results, Value) else list(results)
            mlir.emit("stablehlo.return", results, {}, [])
    return tuple(operation.results)
