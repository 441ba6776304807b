"""Trip counts of loops: which of them count, from where and how far."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax_compiler import effects, mlir
from irax_compiler.mlir import Operation, Value, is_inexact
from irax_compiler.ops.control_flow.followed_loops import follow, result
from irax_compiler.ops.control_flow.seen import Seen, Test
from irax_compiler.ops.dimension import Dimension
from irax_compiler.ops.registry import read
from irax_compiler.sizes import is_symbolic, larger

_TURNED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE", "EQ": "EQ", "NE": "NE"}
"""The comparisons with the operands exchanged."""
_OPPOSITE = {"LT": "GE", "LE": "GT", "GT": "LE", "GE": "LT", "EQ": "NE", "NE": "EQ"}
"""The comparisons of integers that hold where others do not."""

MOST_STEPS = "irax.most_steps"
"""The attribute of a loop that has a number of steps after which it ends at the latest: for where
the loop stands alone, and the values around it that tell so do not."""

Bounds = tuple[Any, Any]
"""The least and the greatest that an integer can be."""
BoundsOf = Callable[[Value], Bounds | None]
"""Returns the bounds of an integer; None if they are not known."""


@dataclass(frozen=True)
class Count:
    """A loop's counter: the carried value at `place`, which goes from `start` in increments of
    `step`. Where its start and its limit have bounds alone, `start` is the one that is farthest
    from the limit, and `steps` the most that there can be.
    """

    place: int
    start: int
    step: int
    steps: int


def trip_count(operation: Operation, functions: Mapping[str, Operation]) -> int | None:
    """Return the trip count of a `stablehlo.while`, which may be symbolic, or None if it is not
    known. Where several conditions must hold, it is the least of theirs.
    """
    counters = [_counted(operation, x, functions) for x in _tests(operation, functions)]
    found = [None if x is None else x.steps for x in counters]
    if len(found) == 1 and found[0] is not None:
        return found[0]
    known = [n for n in found if n is not None and not is_symbolic(n)]
    if found and len(known) == len(found):
        return min(known)
    followed = follow(operation, functions) if found else None
    return followed.steps if followed is not None and followed.exact else None


def count(operation: Operation, functions: Mapping[str, Operation]) -> Count | None:
    """Return the counter of a `stablehlo.while` that counts up, or None if it has none. Its
    condition compares `i` with a constant, and its body carries `i + k` for a constant k, with a
    constant start. `functions` are those of the module, which the loop's regions may call.
    """
    tests = _tests(operation, functions)
    found = _counted(operation, tests[0], functions) if len(tests) == 1 else None
    if found is None or is_symbolic(found.steps) or found.step < 0:
        return None
    return None if mlir.shape_of(operation.results[found.place]) else found


def most_steps(
    operation: Operation,
    functions: Mapping[str, Operation],
    bounds_of: BoundsOf | None = None,
) -> int | None:
    """Return a number of steps after which a `stablehlo.while` ends at the latest, or None. Such a
    loop counts, and its condition is `i < n and ...`; `bounds_of` tells bounds of where it starts
    and of n. Or it runs until a flag is set, which its body does.
    """
    if MOST_STEPS in operation.attributes:
        noted: Any = operation.attributes[MOST_STEPS]
        return noted.value
    tests = _tests(operation, functions)
    if any(_is_dropped(operation, x, functions) for x in tests):
        return 1
    found = [_counted(operation, x, functions, bounds_of) for x in tests]
    known = [counter.steps for counter in found if counter and not is_symbolic(counter.steps)]
    if not known and tests:
        followed = follow(operation, functions)
        return None if followed is None else followed.steps + (not followed.exact)
    return min(known, default=None)


def bounds_after(
    operation: Operation,
    place: int,
    functions: Mapping[str, Operation],
    bounds_of: BoundsOf,
) -> Bounds | None:
    """Return the bounds of a result of a loop: of what it carries unchanged, or adds to in each
    step.
    """
    carried: list[Value] = list(operation.regions[1].blocks[0].arguments)
    same = _kept(operation, carried, carried[place], functions, bounds_of)
    if same is not None:
        return same
    start, step = bounds_of(operation.operands[place]), _step(operation, place, functions)
    most = most_steps(operation, functions, bounds_of) if step else None
    if start is None or most is None:
        return None
    return start[0] + min(0, most * step), start[1] + max(0, most * step)


def bounds_in_body(
    operation: Operation,
    place: int,
    functions: Mapping[str, Operation],
    bounds_of: BoundsOf,
) -> Bounds | None:
    """Return the bounds, in the body of a loop, of what it carries at a place: unchanged, or with
    something added in each step.
    """
    carried: list[Value] = list(operation.regions[1].blocks[0].arguments)
    same = _kept(operation, carried, carried[place], functions, bounds_of)
    if same is not None:
        return same
    tests, step = _tests(operation, functions), _step(operation, place, functions)
    if not tests or not step:
        return None
    for x in tests:
        found = _counted(operation, x, functions, bounds_of)
        if found is None or (found.place, found.step) != (place, 1) or is_symbolic(found.steps):
            continue
        if found.steps:
            return found.start, found.start + found.steps - 1
    start, most = bounds_of(operation.operands[place]), most_steps(operation, functions, bounds_of)
    if start is None or not most:
        return None
    farthest = (most - 1) * step
    return start[0] + min(0, farthest), start[1] + max(0, farthest)


def _tests(loop: Operation, functions: Mapping[str, Operation]) -> list[Test]:
    """Return the tests that a loop goes on while all succeed; none if its condition has effects."""
    condition = loop.regions[0].blocks[0]
    if any(effects.has_effects(view.operation) for view in condition.operations):
        return []
    return _inside(Seen(mlir.terminator(condition).operands[0], functions)).tests()


def _is_dropped(operation: Operation, test: Test, functions: Mapping[str, Operation]) -> bool:
    """True if a test is of a flag that the body sets, or of one that it clears."""
    carried: list[Value] = list(operation.regions[0].blocks[0].arguments)
    if test.seen.value not in carried:
        return False
    body = operation.regions[1].blocks[0]
    place = carried.index(test.seen.value)
    after = Seen(mlir.terminator(body).operands[place], functions).number()
    return after == (0 if test.holds else 1)


def _counted(
    operation: Operation,
    test: Test,
    functions: Mapping[str, Operation],
    bounds_of: BoundsOf | None = None,
) -> Count | None:
    """Return the counter that a loop compares with its limit, if that is what a test does."""
    bounds_of = bounds_of or _exactly_in(functions)
    carried: list[Value] = list(operation.regions[0].blocks[0].arguments)
    value = _inside(test.seen)
    if value.kind != "stablehlo.compare":
        return None
    direction = value.direction if test.holds else _OPPOSITE[value.direction]
    left, right = map(_inside, value.operands())
    for counter, other, how in ((left, right, direction), (right, left, _TURNED[direction])):
        if counter.value in carried:
            place = carried.index(counter.value)
            step = _step(operation, place, functions)
            if step:
                start = bounds_of(operation.operands[place])
                limit = _kept(operation, carried, other.value, functions, bounds_of)
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
    by = _kept(operation, list(body.arguments), increment.value, functions, _exactly_in(functions))
    if counter.value != old or by is None:
        return None
    return by[0] if following.kind == "stablehlo.add" else -by[0]


def _kept(
    operation: Operation,
    carried: Sequence[Value],
    x: Value,
    functions: Mapping[str, Operation],
    bounds_of: BoundsOf,
) -> Bounds | None:
    """Return the bounds that an integer has in all steps; None for a carried one that changes."""
    if x in carried:  # it is carried through unchanged
        body = operation.regions[1].blocks[0]
        number = carried.index(x)
        after = _inside(Seen(mlir.terminator(body).operands[number], functions))
        if after.value != body.arguments[number]:
            return None
        x = operation.operands[number]
    return bounds_of(x)


def _exactly_in(functions: Mapping[str, Operation]) -> BoundsOf:
    """Return what tells the integer that a value is known to be, as both of its bounds."""

    def exactly(x: Value) -> Bounds | None:
        number = _number(x, functions)
        return None if number is None else (number, number)

    return exactly


def _inside(seen: Seen) -> Seen:
    """Return the value of one element that a value is a reshape of."""
    while seen.kind == "stablehlo.reshape":
        (seen,) = seen.operands()
    return seen


def _from(
    operation: Operation,
    place: int,
    starts: Bounds | None,
    step: int,
    how: str,
    limits: Bounds | None,
) -> Count | None:
    """Return the counter that goes on while it compares so with a limit; None if the number of its
    steps is not known, or it overflows before.
    """
    if starts is None or limits is None:
        return None
    down = step < 0
    start, limit = (starts[1], limits[0]) if down else (starts[0], limits[1])
    distance = start - limit if down else limit - start
    is_exact = starts[0] == starts[1] and limits[0] == limits[1]
    if how == ("GE" if down else "LE"):
        distance += 1
    elif how == "NE":
        if is_symbolic(distance) or not is_exact or distance % step or distance < 0:
            return None
    elif how != ("GT" if down else "LT"):
        return None
    steps = larger(0, -(-distance // abs(step)))
    if not is_symbolic(steps):
        range_ = np.iinfo(mlir.dtype_of(operation.operands[place]))
        if not range_.min <= start + steps * step <= range_.max:
            return None
    return Count(place, start, step, steps)


def _number(x: Value, functions: Mapping[str, Operation]) -> Any:
    """The integer that one element is, or the symbolic size; None for any other."""
    operation = mlir.definition(x)
    if operation is None or is_inexact(x) or math.prod(mlir.shape_of(x)) != 1:
        return None
    if operation.name == Dimension.name:
        op = read(operation)
        return op.size if isinstance(op, Dimension) else None
    if operation.name == "stablehlo.reshape":
        return _number(operation.operands[0], functions)
    value = mlir.splat(x)
    if value is None:
        value = result(x, functions)
    return None if value is None else int(np.asarray(value).item())
