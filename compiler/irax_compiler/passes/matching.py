"""Matchers for the producers of operands, for rewrite patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from irax_compiler import mlir
from irax_compiler.mlir import Location, Operation, Value
from irax_compiler.ops.core import Op
from irax_compiler.ops.registry import read

K = TypeVar("K", bound=Op)


@dataclass(frozen=True)
class Made(Generic[K]):
    """The producer of a value: an op and its operands."""

    op: K
    operands: Sequence[Value]
    location: Location

    @property
    def operand(self) -> Value:
        """The first operand."""
        return self.operands[0]

    def rebuild(self, operands: Sequence[Value]) -> Value:
        """Build the op on other operands, at its old location."""
        with self.location:
            return self.op(*operands)


def made_by(value: Value, op: K | type[K]) -> Made[K] | None:
    """The op and operands that make `value`, if they are of the kind `op`; else None."""
    operation = mlir.definition(value)
    if operation is None or operation.name != op.name:
        return None
    found = made(operation)
    return found if isinstance(found.op, op if isinstance(op, type) else type(op)) else None


def made_for_one(value: Value, op: K | type[K]) -> Made[K] | None:
    """Return the producer of a value with a single use: the producer is dead once that use is
    gone.
    """
    return made_by(value, op) if mlir.num_uses(value) == 1 else None


def made(operation: Operation) -> Made[Any]:
    """The op and operands of an operation."""
    return Made(read(operation), list(operation.operands), operation.location)


def halves(operation: Operation) -> tuple[list[Value], list[Value]]:
    """Return the arrays that an operation folds, and what it begins with for each."""
    operands, count = list(operation.operands), len(operation.operands) // 2
    return operands[:count], operands[count:]


def only_user(value: Value) -> Operation | None:
    """Return the operation that alone uses a value, once; None if there is none, or several."""
    if mlir.num_uses(value) != 1:
        return None
    (user,) = mlir.users(value)
    return user


def is_full_of(value: Value, element: Any) -> bool:
    """True for a constant all of whose elements equal `element` (0.0 and -0.0 are equal)."""
    found = mlir.splat(value)
    return found is not None and bool(found == element)
