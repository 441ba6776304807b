"""Legalizations: rewrites of operations that a target gets wrong to some that it gets right.

    @legalizes("stablehlo.add")
    def add_of_booleans(operation):
        '''What goes wrong without it.'''
        if <it doesn't apply>:
            return None
        return [<the values that take the place of the operation's results>]

A legalization builds its operations with irax's own op builders. It may apply to what it builds: it
is not asked again about that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Operation, Value
from irax_compiler.ops.core import Op, UnsupportedOp, read

T = TypeVar("T", bound=Op)
Rewrite = Callable[[Operation], Sequence[Value] | None]


@dataclass(frozen=True)
class Legalization:
    """A named rewrite of the operations called one of `operations`."""

    name: str
    operations: tuple[str, ...]
    rewrite: Rewrite

    def apply(self, operation: Operation) -> bool:
        """Replaces the operation if it applies to it; tells whether it did."""
        with InsertionPoint(operation), mlir.named(self.name, operation.location):
            replacements = self.rewrite(operation)
        if replacements is None:
            return False
        for result, value in zip(operation.results, replacements, strict=True):
            result.replace_all_uses_with(value)
        operation.erase()
        return True


def legalizes(*operations: str) -> Callable[[Rewrite], Legalization]:
    """Decorator: the function is a legalization of operations of these names."""
    return lambda rewrite: Legalization(rewrite.__name__, operations, rewrite)


def read_as(kind: type[T], operation: Operation) -> T | None:
    """The op, if it is one of `kind` and has a form that irax knows."""
    try:
        op = read(operation)
    except UnsupportedOp:
        return None
    return op if isinstance(op, kind) else None
