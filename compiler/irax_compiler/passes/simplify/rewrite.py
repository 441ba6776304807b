"""What a simplification is: a function from an op and its operands to a value for its result.

    @rewrite(shape.Transpose)
    def transpose_of_transpose(op: shape.Transpose, x: Value) -> Value | None:
        '''transpose(transpose(x)) -> transpose(x)'''
        inner = made_by(x, shape.Transpose)
        ...

It returns None, and has built nothing, where it does not apply. What it returns has the same type
and the same elements for all operands, nan and inf included. Of floats there are two exceptions,
which XLA makes too: the terms of a sum may be added in another order, and a zero that adding or
subtracting gives may have the other sign. A rule must lead downhill (fewer operations, or smaller
ones): rules are applied until none applies.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from irax_compiler import mlir
from irax_compiler.mlir import Location, Operation, Value
from irax_compiler.ops.core import Op, read

Rule = Callable[..., Value | None]
"""(op, *operands) -> the value that takes the place of the op's only result, or None."""

RULES: dict[str, list[Rule]] = {}
"""The rules for operations of each name, in the order they are tried."""

F = TypeVar("F", bound=Rule)
K = TypeVar("K", bound=Op)


def rewrite(*ops: Op | type[Op]) -> Callable[[F], F]:
    """Decorator: the function is a rule for operations that are one of `ops`."""

    def register(rule: F) -> F:
        for op in ops:
            kind = op if isinstance(op, type) else type(op)
            RULES.setdefault(op.name, []).append(_for_kind(kind, rule))
        return rule

    return register


def _for_kind(kind: type[Op], rule: Rule) -> Rule:
    """The rule, for ops of one class alone: operations of one name may be read as several."""

    @functools.wraps(rule)
    def checked(op: Op, *operands: Value) -> Value | None:
        return rule(op, *operands) if isinstance(op, kind) else None

    return checked


@dataclass(frozen=True)
class Made(Generic[K]):
    """How a value came about: an op and its operands."""

    op: K
    operands: Sequence[Value]
    location: Location

    @property
    def operand(self) -> Value:
        """The first operand."""
        return self.operands[0]

    def rebuild(self, operands: Sequence[Value]) -> Value:
        """The same op on other operands, at its old location."""
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
    """The same, if the value has one use: the op goes when that use goes."""
    return made_by(value, op) if mlir.num_uses(value) == 1 else None


def made(operation: Operation) -> Made[Any]:
    """The op and operands of an operation."""
    return Made(read(operation), list(operation.operands), operation.location)


def is_full_of(value: Value, element: Any) -> bool:
    """True for a constant all of whose elements equal `element` (0.0 and -0.0 are equal)."""
    found = mlir.splat(value)
    return found is not None and bool(found == element)
