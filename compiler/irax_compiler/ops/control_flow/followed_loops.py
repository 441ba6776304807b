"""Loops whose conditions follow from constants alone, whatever the arithmetic: counters that are
floats, that are halved, or of which two approach each other. What the condition depends on is run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from irax_compiler import effects, mlir
from irax_compiler.mlir import Operation, Value
from irax_compiler.ops import shape
from irax_compiler.ops.control_flow.seen import Seen
from irax_compiler.ops.core import Op, UnsupportedOp, evaluated, no_calls
from irax_compiler.ops.registry import read

_STEPS = 4096
"""The most steps of a loop that are run."""
_OPERATIONS = 64
"""The most operations of a step."""
_ELEMENTS = 64
"""The most elements of an array."""


@dataclass(frozen=True)
class Followed:
    """A loop that was run: its number of steps, and carried values at its end by their places."""

    steps: int
    last: Mapping[int, np.ndarray]
    exact: bool
    """False if floats are computed, which another device may round otherwise."""


def follow(
    loop: Operation, functions: Mapping[str, Operation], places: Sequence[int] = ()
) -> Followed | None:
    """Run what the condition of a `stablehlo.while` depends on, and what the carried values at some
    places do. None if these depend on more than constants, or on much, or the loop takes long.
    `functions` are those of the module.
    """
    condition, body = (region.blocks[0] for region in loop.regions)
    if any(effects.has_effects(view.operation) for view in condition.operations):
        return None
    test, advance = _Part(loop, 0, functions), _Part(loop, 1, functions)
    try:
        verdict = test.slot(mlir.terminator(condition).operands[0])
        following: dict[int, int] = {}
        while more := {*test.arguments, *advance.arguments, *places} - following.keys():
            for place in more:
                following[place] = advance.slot(mlir.terminator(body).operands[place])
        carried = {n: _constant(loop.operands[n], functions) for n in following}
    except _Unknown:
        return None
    exact = not any(map(mlir.is_inexact, (loop.operands[n] for n in following)))
    with np.errstate(all="ignore"):
        for steps in range(_STEPS + 1):
            if not test.run(carried)[verdict]:
                return Followed(steps, carried, exact)
            values = advance.run(carried)
            carried = {n: values[slot] for n, slot in following.items()}
    return None


def result(x: Value, functions: Mapping[str, Operation]) -> np.ndarray | None:
    """Return the result of a loop, where it follows from constants; None for any other value."""
    loop = mlir.definition(x)
    if loop is None or loop.name != "stablehlo.while":
        return None
    results: list[Value] = list(loop.results)
    place = results.index(x)
    found = follow(loop, functions, [place])
    return found.last[place] if found is not None and found.exact else None


class _Unknown(Exception):
    """A value depends on more than constants, or on too much."""


class _Part:
    """The operations of a loop's region, and of functions that it calls, by which some values are
    computed, in order. Each value has a slot.
    """

    def __init__(self, loop: Operation, region: int, functions: Mapping[str, Operation]) -> None:
        self.arguments: dict[int, int] = {}
        """The slots of the block's arguments that are used."""
        self._loop, self._functions = loop, functions
        self._carried: list[Value] = list(loop.regions[region].blocks[0].arguments)
        self._known: list[np.ndarray | None] = []
        self._steps: list[tuple[Op, list[int], int]] = []
        self._slots: dict[Value, int] = {}  # of values of the block itself

    def slot(self, x: Value) -> int:
        """Return a value's slot, for which operations are added."""
        return self._add(Seen(x, self._functions))

    def run(self, arguments: Mapping[int, np.ndarray]) -> list[np.ndarray]:
        """Return the values of all slots."""
        values: list = list(self._known)
        for place, slot in self.arguments.items():
            values[slot] = arguments[place]
        for op, inputs, slot in self._steps:
            (values[slot],) = evaluated(op, no_calls, [values[i] for i in inputs])
        return values

    def _add(self, seen: Seen) -> int:
        if seen.value in self._slots:
            return self._slots[seen.value]
        slot = self._new(seen)
        if not seen.is_of_call:
            self._slots[seen.value] = slot
        return slot

    def _new(self, seen: Seen) -> int:
        if seen.value in self._carried:
            slot = self._reserve(None)
            self.arguments[self._carried.index(seen.value)] = slot
            return slot
        operation = mlir.definition(seen.value)
        if operation is None:
            raise _Unknown
        if not seen.is_of_call and operation.parent != self._loop:  # it is from outside
            return self._reserve(_constant(seen.value, self._functions))
        op = _simple(operation)
        inputs = [self._add(x) for x in seen.operands()]
        if len(self._steps) == _OPERATIONS:
            raise _Unknown
        slot = self._reserve(None)
        self._steps.append((op, inputs, slot))
        return slot

    def _reserve(self, known: np.ndarray | None) -> int:
        self._known.append(known)
        return len(self._known) - 1


def _constant(x: Value, functions: Mapping[str, Operation]) -> np.ndarray:
    """Return the array that a value follows to be from constants, in few operations, or a loop."""
    budget = iter(range(_OPERATIONS))

    def known(seen: Seen) -> np.ndarray:
        operation = mlir.definition(seen.value)
        if operation is None or next(budget, None) is None:
            raise _Unknown
        found = result(seen.value, functions)
        if found is not None:
            return found
        given = map(known, seen.operands())
        return np.asarray(evaluated(_simple(operation), no_calls, list(given))[0])

    return known(Seen(x, functions))


def _simple(operation: Operation) -> Op:
    """Return the op of an operation of few elements, which is elementwise, moves or is a constant;
    raise for any other.
    """
    try:
        op = read(operation) if len(operation.results) == 1 else None
    except UnsupportedOp:
        op = None
    is_simple = op is not None and (op.elementwise or op.moves or isinstance(op, shape.Constant))
    if op is None or not is_simple or math.prod(mlir.shape_of(operation.results[0])) > _ELEMENTS:
        raise _Unknown
    return op
