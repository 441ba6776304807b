"""The sizes of arrays of IREE's dialect flow that are not known, as values of the program."""

from __future__ import annotations

from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value
from irax_compiler.mlir.types import UNKNOWN_SIZE
from irax_compiler.passes.core import enclosing

_AT_END = frozenset(
    ("flow.dispatch", "flow.tensor.reshape", "flow.tensor.slice", "flow.tensor.splat")
)
"""Operations whose last operands are the sizes of their results."""


def count_unknown(x: Value) -> int:
    """Return the number of an array's sizes that are not known; 0 for other values."""
    if not isinstance(x.type, mlir.RankedTensorType):
        return 0
    sizes: Any = x.type.shape
    return list(sizes).count(UNKNOWN_SIZE)


def extents(x: Value, loop: Operation, first: Value) -> list[Value] | None:
    """Return the sizes that are not known of an array that a loop carries and begins with `first`,
    as values from outside of the loop. None if no operation states them so.
    """
    count = count_unknown(x)
    if not count:
        return []
    outside = list(enclosing(loop))
    for use in x.uses:
        found = _sizes_of_operand(use.owner.operation, use.operand_number, count)
        if len(found) == count and all(_outer(n) in outside for n in found):
            return found
    found = sizes_of_result(first)
    return found if len(found) == count else None


def operand_of_update(update: Operation) -> int:
    """Return the number of the operand of a `flow.tensor.update` that is written."""
    return sum(mlir.segments(update)[:3])


def _sizes_of_operand(user: Operation, number: int, count: int) -> list[Value]:
    operands = list(user.operands)
    if user.name == "flow.dispatch":
        workload, arguments, *_ = mlir.segments(user)
        place = workload + arguments + sum(map(count_unknown, operands[workload:number]))
        return operands[place : place + count]
    if user.name in ("flow.tensor.reshape", "flow.tensor.slice", "flow.tensor.update"):
        return operands[number + 1 : number + 1 + count]
    return []


def sizes_of_result(x: Value) -> list[Value]:
    """Return the sizes that are not known of what an operation makes; none if it states none."""
    source, count = mlir.definition(x), count_unknown(x)
    if source is None:
        return []
    operands = list(source.operands)
    results: list[Value] = list(source.results)
    if source.name in _AT_END:
        end = len(operands) - sum(map(count_unknown, results[results.index(x) + 1 :]))
        return operands[end - count : end]
    is_after = source.name in ("hal.tensor.import", "flow.tensor.update", "flow.tensor.barrier")
    return operands[1 : 1 + count] if is_after else []


def _outer(x: Value) -> Operation:
    """Return the operation around the block that defines a value."""
    owner: Any = x.owner
    return owner.owner.operation if mlir.is_argument(x) else next(iter(enclosing(owner.operation)))
