"""Blocks as lists of steps over numbered slots: how NumPy runs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from irax_compiler import mlir
from irax_compiler.mlir import Block, Operation, Type, Value
from irax_compiler.ops.core import Op
from irax_compiler.ops.registry import read


@dataclass
class Step:
    """An operation with the slots that it reads, writes and frees."""

    op: Op
    location: mlir.Location
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    dead: tuple[int, ...]


@dataclass
class Steps:
    """A block as a list of steps over numbered slots.

    Values that the block uses but are not its own are `captured`: further inputs, after its
    arguments.
    """

    types: list[Type]
    """The type of each slot."""
    inputs: tuple[int, ...]
    steps: list[Step]
    outputs: tuple[int, ...]

    @classmethod
    def of(cls, block: Block, captured: Sequence[Value] = ()) -> Self:
        slots: dict[Value, int] = {}

        def slot(value: Value) -> int:
            return slots.setdefault(value, len(slots))

        arguments = (*map(slot, block.arguments), *map(slot, captured))
        operations = [o.operation for o in block.operations]
        outputs = tuple(map(slot, operations.pop().operands))
        steps = []
        alive = set(outputs)
        for operation in reversed(operations):
            op = read(operation)
            reads = tuple(map(slot, inputs(op, operation)))
            writes = tuple(map(slot, operation.results))
            dead = tuple({*reads, *writes} - alive)
            alive.update(reads)
            steps.append(Step(op, operation.location, reads, writes, dead))
        return cls([value.type for value in slots], arguments, steps[::-1], outputs)


def inputs(op: Op, operation: Operation) -> list[Value]:
    """Return the values that an operation is evaluated on."""
    captured = mlir.captured(operation) if op.captures else []
    return [*operation.operands, *captured]
