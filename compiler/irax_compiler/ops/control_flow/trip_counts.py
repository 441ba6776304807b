"""Trip counts of loops: which of them count, from where and how far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from irax_compiler import effects, mlir
from irax_compiler.mlir import Operation, Value, is_inexact
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


def _condition(loop: Operation, functions: Mapping[str, Operation]) -> _Seen | None:
    """Return a loop's condition; None if that has effects."""
    condition = loop.regions[0].blocks[0]
    if any(effects.has_effects(view.operation) for view in condition.operations):
        return None
    return _Seen(mlir.terminator(condition).operands[0], functions)


def _counted(operation: Operation, test: _Seen, functions: Mapping[str, Operation]) -> Count | None:
    """Return the counter that a loop compares with its limit, if that is what a test does."""
    condition, body = (region.blocks[0] for region in operation.regions)
    carried: list[Value] = list(condition.arguments)
    if test.kind != "stablehlo.compare":
        return None
    left, right = test.operands()
    if left.value not in carried:
        return None
    place = carried.index(left.value)
    following = _Seen(mlir.terminator(body).operands[place], functions)
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
        after = _Seen(mlir.terminator(body).operands[number], functions)
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


class _Seen:
    """A value traced through the calls that return it."""

    def __init__(
        self,
        value: Value,
        functions: Mapping[str, Operation],
        outside: Mapping[Value, _Seen] | None = None,
    ) -> None:
        self._functions, self._outside = functions, outside or {}
        self.value = value
        while True:
            if self.value in self._outside:  # an argument of a function that is called
                origin = self._outside[self.value]
                self.value, self._outside = origin.value, origin._outside
                return
            operation = mlir.definition(self.value)
            if operation is None or operation.name != "func.call":
                return
            callee = functions[mlir.callee(operation)]
            given = [_Seen(x, functions, self._outside) for x in operation.operands]
            results: list[Value] = list(operation.results)
            number = results.index(self.value)
            self._outside = dict(zip(mlir.arguments(callee), given, strict=True))
            self.value = mlir.terminator(mlir.body(callee)).operands[number]

    @property
    def kind(self) -> str:
        """The name of the operation that it is a result of."""
        operation = mlir.definition(self.value)
        return "" if operation is None else operation.name

    @property
    def attributes(self) -> Any:
        operation = mlir.definition(self.value)
        assert operation is not None
        return operation.attributes

    def operands(self) -> list[_Seen]:
        """The operands of that operation."""
        operation = mlir.definition(self.value)
        assert operation is not None
        return [_Seen(x, self._functions, self._outside) for x in operation.operands]

    def conjuncts(self) -> list[_Seen]:
        """The values that must all hold for it to hold."""
        if self.kind != "stablehlo.and":
            return [self]
        return [x for operand in self.operands() for x in operand.conjuncts()]


def _number(x: Value) -> Any:
    """The integer that a scalar is, or the symbolic size; None for any other."""
    operation = mlir.definition(x)
    op = read(operation) if operation is not None and operation.name == Dimension.name else None
    if isinstance(op, Dimension):
        return op.size
    value = None if mlir.is_argument(x) or is_inexact(x) else mlir.splat(x)
    return None if value is None or value.ndim else int(value)
