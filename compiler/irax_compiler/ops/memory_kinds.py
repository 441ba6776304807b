"""The memories that values are in.

They follow from the operations: a result is in the memory of the operands. Scalars, and arrays of
copies of one, give way to others. Constant arrays may be in any, and so may what is computed of
them alone. The mark `irax.memory` says where its result is.
"""

from __future__ import annotations

from collections.abc import Sequence

from irax_compiler.mlir import Operation, Value, shape_of
from irax_compiler.ops.dataflow import Dataflow
from irax_compiler.ops.marks import InMemory
from irax_compiler.ops.registry import read

DEVICE = "device"
HOST = "pinned_host"
ANY = ""
COPIES = "copies"
"""Copies of a scalar in the memory of the host, which give way to arrays elsewhere."""


class MemoryKinds(Dataflow[str]):
    """The memories of results of a module's functions and operations."""

    nothing = ANY

    def joined(self, facts: Sequence[str], values: Sequence[Value]) -> str:
        kinds = deciding(facts, values)
        if len(kinds) < 2:
            return next(iter(kinds), ANY)
        return HOST if any(map(shape_of, values)) else DEVICE

    def own(self, operation: Operation, together: str) -> str | None:
        if operation.name == "stablehlo.composite":
            op = read(operation)
            return op.kind if isinstance(op, InMemory) else None
        are_scalars = not any(map(shape_of, operation.results))
        if are_scalars and not together:
            return DEVICE
        if operation.name in _STRETCHING and not any(map(shape_of, operation.operands)):
            return together if are_scalars else COPIES if together == HOST else ANY
        return None


_STRETCHING = {"stablehlo.broadcast_in_dim", "stablehlo.reshape"}
"""Operations that make an array of a scalar."""


def kind_of(fact: str) -> str:
    """Return the memory that a value is in."""
    return HOST if fact == COPIES else fact or DEVICE


def deciding(facts: Sequence[str], values: Sequence[Value]) -> set[str]:
    """Return what decides where the result of an operation is: the facts about arrays, or else
    about copies of scalars, or else about scalars.
    """
    pairs = [(fact, bool(shape_of(x))) for fact, x in zip(facts, values, strict=True) if fact]
    arrays = {fact for fact, is_array in pairs if is_array}
    return arrays - {COPIES} or arrays or {fact for fact, _ in pairs}
