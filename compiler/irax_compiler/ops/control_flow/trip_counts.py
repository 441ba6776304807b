"""Trip counts of loops: which of them count, from where and how far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from irax_compiler import effects, mlir
from irax_compiler.mlir import Operation, Value, is_inexact
from irax_compiler.ops.control_flow.seen import Seen
from irax_compiler.ops.dimension import Dimension
from irax_compiler.ops.registry import read
from irax_compiler.sizes import is_symbolic, larger


@dataclass(frozen=True)
class Count:
    """A loop's counter: the carried value at `place`, which goes from `start` in increments of
    `step`.
    """

    place: int
    start: int
    step: int
    steps: int


def trip_count(operation: Operation, functions: Mapping[str, Operation]) -> int | None:
    """Return the trip count of a `stablehlo.while`, which may be symbolic, or None if it is not
    known.
    """
    test = _condition(operation, functions)
    found = None if test is None else _counted(operation, test, functions)
    return None if found is None else found.steps


def count(operation: Operation, functions: Mapping[str, Operation]) -> Count | None:
    """Return the counter of a `stablehlo.while`, or None if it has none. A loop counts if its
    condition is `i < n` and its body carries `i + k` for constants n and k, with a constant start.
    `functions` are those of the module, which the loop's regions may call.
    """
    test = _condition(operation, functions)
    found = None if test is None else _counted(operation, test, functions)
    return None if found is None or is_symbolic(found.steps) else found


def most_steps(operation: Operation, functions: Mapping[str, Operation]) -> int | None:
    """Return a number of steps after which a `stablehlo.while` ends at the latest, or None. Such a
    loop counts, and its condition is `i < n and ...`.
    """
    test = _condition(operation, functions)
    found = [_counted(operation, x, functions) for x in (test.conjuncts() if test else ())]
    known = [counter.steps for counter in found if counter and not is_symbolic(counter.steps)]
    return min(known, default=None)


def _condition(loop: Operation, functions: Mapping[str, Operation]) -> Seen | None:
    """Return a loop's condition; None if that has effects."""
    condition = loop.regions[0].blocks[0]
    if any(effects.has_effects(view.operation) for view in condition.operations):
        return None
    return Seen(mlir.terminator(condition).operands[0], functions)


def _counted(operation: Operation, test: Seen, functions: Mapping[str, Operation]) -> Count | None:
    """Return the counter that a loop compares with its limit, if that is what a test does."""
    condition, body = (region.blocks[0] for region in operation.regions)
    carried: list[Value] = list(condition.arguments)
    if test.kind != "stablehlo.compare":
        return None
    left, right = test.operands()
    if left.value not in carried:
        return None
    place = carried.index(left.value)
    following = Seen(mlir.terminator(body).operands[place], functions)
    if following.kind != "stablehlo.add":
        return None
    counter, increment = following.operands()
    if counter.value != body.arguments[place]:
        counter, increment = increment, counter
    if counter.value != body.arguments[place]:
        return None
    direction = str(test.attributes["comparison_direction"])
    limit_value = right.value
    if limit_value in carried:  # a limit that is carried through unchanged
        number = carried.index(limit_value)
        after = Seen(mlir.terminator(body).operands[number], functions)
        if after.value != body.arguments[number]:
            return None
        limit_value = operation.operands[number]
    start, limit = _number(operation.operands[place]), _number(limit_value)
    by = _number(increment.value)
    if start is None or limit is None or by is None or by <= 0:
        return None
    if "LE" in direction:
        limit += 1
    elif "LT" not in direction:
        return None
    return Count(place, start, by, larger(0, -((start - limit) // by)))


def _number(x: Value) -> Any:
    """The integer that a scalar is, or the symbolic size; None for any other."""
    operation = mlir.definition(x)
    op = read(operation) if operation is not None and operation.name == Dimension.name else None
    if isinstance(op, Dimension):
        return op.size
    value = None if mlir.is_argument(x) or is_inexact(x) else mlir.splat(x)
    return None if value is None or value.ndim else int(value)
