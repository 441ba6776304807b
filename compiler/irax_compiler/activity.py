"""Find which values of a function have derivatives, also while it is being written."""

from __future__ import annotations

from collections.abc import Callable

from irax_compiler import mlir
from irax_compiler.mlir import Value, is_inexact
from irax_compiler.ops.registry import read


def has_derivative(value: Value, of_argument: Callable[[Value], bool]) -> bool:
    """Return True if a value may have a derivative other than zero with respect to what its
    function's arguments depend on.

    Args:
        value: a value of the function.
        of_argument: returns True for an argument that has such a derivative.
    """
    seen: set[Value] = set()
    pending = [value]
    while pending:
        found = pending.pop()
        if found in seen or not is_inexact(found):
            continue
        seen.add(found)
        operation = mlir.definition(found)
        if operation is None:
            if of_argument(found):
                return True
        elif not read(operation).is_flat(operation.operands):
            pending += [*operation.operands, *mlir.captured(operation)]
    return False
