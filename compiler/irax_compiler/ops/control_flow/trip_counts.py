"""Trip counts of loops: which of them count, from where and how far."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax_compiler import effects, mlir
from irax_compiler.mlir import Operation, Value, is_inexact
from irax_compiler.ops.control_flow.seen import Seen
from irax_compiler.ops.dimension import Dimension
from irax_compiler.ops.registry import read
from irax_compiler.sizes import is_symbolic, larger

_TURNED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE", "EQ": "EQ", "NE": "NE"}
"""The comparisons with the operands exchanged."""


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
    known. Where several conditions must hold, it is the least of theirs.
    """
    test = _condition(operation, functions)
    counters = [_counted(operation, x, functions) for x in (test.conjuncts() if test else ())]
    found = [None if x is None else x.steps for x in counters]
    if len(found) == 1:
        return found[0]
    known = [n for n in found if n is not None and not is_symbolic(n)]
    return min(known) if found and len(known) == len(found) else None


def count(operation: Operation, functions: Mapping[str, Operation]) -> Count | None:
    """Return the counter of a `stablehlo.while` that counts up, or None if it has none. Its
    condition compares `i` with a constant, and its body carries `i + k` for a constant k, with a
    constant start. `functions` are those of the module, which the loop's regions may call.
    """
    test = _condition(operation, functions)
    found = None if test is None else _counted(operation, test, functions)
    if found is None or is_symbolic(found.steps) or found.step < 0:
        return None
    return None if mlir.shape_of(operation.results[found.place]) else found


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
    return _inside(Seen(mlir.terminator(condition).operands[0], functions))


def _counted(operation: Operation, test: Seen, functions: Mapping[str, Operation]) -> Count | None:
    """Return the counter that a loop compares with its limit, if that is what a test does."""
    carried: list[Value] = list(operation.regions[0].blocks[0].arguments)
    test = _inside(test)
    if test.kind != "stablehlo.compare":
        return None
    direction = str(test.attributes["comparison_direction"]).split()[-1].rstrip(">")
    left, right = map(_inside, test.operands())
    for counter, other, how in ((left, right, direction), (right, left, _TURNED[direction])):
        if counter.value in carried:
            place = carried.index(counter.value)
            step = _step(operation, place, functions)
            if step:
                start = _number(operation.operands[place])
                limit = _kept(operation, carried, other.value, functions)
                return _from(operation, place, start, step, how, limit)
    return None


def _step(operation: Operation, place: int, functions: Mapping[str, Operation]) -> Any:
    """Return what the body adds to a carried value in each step; None for any other."""
    body = operation.regions[1].blocks[0]
    old = body.arguments[place]
    following = _inside(Seen(mlir.terminator(body).operands[place], functions))
    if following.kind not in ("stablehlo.add", "stablehlo.subtract"):
        return None
    counter, increment = map(_inside, following.operands())
    if following.kind == "stablehlo.add" and counter.value != old:
        counter, increment = increment, counter
    by = _kept(operation, list(body.arguments), increment.value, functions)
    if counter.value != old or by is None:
        return None
    return by if following.kind == "stablehlo.add" else -by


def _kept(
    operation: Operation, carried: Sequence[Value], x: Value, functions: Mapping[str, Operation]
) -> Any:
    """Return the integer that a value is in all steps; None for any other."""
    if x in carried:  # it is carried through unchanged
        body = operation.regions[1].blocks[0]
        number = carried.index(x)
        after = _inside(Seen(mlir.terminator(body).operands[number], functions))
        if after.value != body.arguments[number]:
            return None
        x = operation.operands[number]
    return _number(x)


def _inside(seen: Seen) -> Seen:
    """Return the value of one element that a value is a reshape of."""
    while seen.kind == "stablehlo.reshape":
        (seen,) = seen.operands()
    return seen


def _from(operation: Operation, place: int, start: Any, step: int, how: str, limit: Any) -> Any:
    """Return the counter that goes on while it compares so with a limit; None if the number of its
    steps is not known, or it overflows before.
    """
    if start is None or limit is None:
        return None
    distance, down = limit - start, step < 0
    if down:
        distance = -distance
    if how == ("GE" if down else "LE"):
        distance += 1
    elif how == "NE":
        if is_symbolic(distance) or distance % step or distance < 0:
            return None
    elif how != ("GT" if down else "LT"):
        return None
    steps = larger(0, -(-distance // abs(step)))
    if not is_symbolic(steps):
        range_ = np.iinfo(mlir.dtype_of(operation.operands[place]))
        if not range_.min <= start + steps * step <= range_.max:
            return None
    return Count(place, start, step, steps)


def _number(x: Value) -> Any:
    """The integer that one element is, or the symbolic size; None for any other."""
    operation = mlir.definition(x)
    if operation is None or is_inexact(x):
        return None
    if operation.name == Dimension.name:
        op = read(operation)
        return op.size if isinstance(op, Dimension) else None
    if operation.name == "stablehlo.reshape":
        return _number(operation.operands[0])
    value = mlir.splat(x)
    return None if value is None or math.prod(mlir.shape_of(x)) != 1 else int(value)
