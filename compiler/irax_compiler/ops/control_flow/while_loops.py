"""While loops. Values that their regions capture count as operands, after the loop's own.

For rules, both regions become functions of the captured values, then the loop-carried ones. A loop
with a known trip count is also a scan (see `scan`), by which it has reverse mode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from irax_compiler import effects, evaluate, mlir
from irax_compiler.mlir import InsertionPoint, Operation, Value, is_inexact
from irax_compiler.ops import comparison, shape
from irax_compiler.ops.attributes import from_operation
from irax_compiler.ops.control_flow import lanes, scan
from irax_compiler.ops.core import Axis, Linear, Memory, Tangent, UnsupportedOp, full
from irax_compiler.ops.reductions import reduce
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.structured import (
    StructuredOp,
    batched_where,
    call_function,
    fixed_point,
    instantiated,
    scatter,
)
from irax_compiler.ops.transformation import (
    Batching,
    Differentiation,
    Evaluation,
    Linearization,
    Transformation,
    Transposition,
)


@dataclass(frozen=True, eq=False)
class RegionOp(StructuredOp):
    """An op whose regions use values from outside."""

    num_results: ClassVar[int] = -1
    captures = True
    memory = Memory.ANY
    operation: Operation = from_operation(lambda operation: operation)

    @cached_property
    def programs(self) -> tuple[evaluate.Program, ...]:
        """Its regions, each a function of its block's arguments and all that the op captures."""
        captured = mlir.captured(self.operation)
        return tuple(evaluate.Program.of(r.blocks[0], captured) for r in self.operation.regions)

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        """Builds it anew, for other operands and captured values."""
        there = evaluate.inputs(self, self.operation)
        return mlir.clone(self.operation, dict(zip(there, operands, strict=True)))

    @property
    def num_operands(self) -> int:
        return len(self.operation.operands)


@register_class
class While(RegionOp):
    """Carries values from step to step for as long as a condition on them holds."""

    name = "stablehlo.while"

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Sequence[np.ndarray]:
        condition, body = self.programs
        carry, captured = operands[: self.num_operands], operands[self.num_operands :]
        while condition.run([*carry, *captured], call)[0]:
            carry = body.run([*carry, *captured], call)
        return carry

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        condition, body = transform.outline(self.operation)
        carry, captured = primals[: self.num_operands], primals[self.num_operands :]
        t_carry, t_captured = tangents[: self.num_operands], tangents[self.num_operands :]
        constant = tuple(t is not None for t in t_captured)

        def step(flags: tuple[bool, ...]):
            derived = transform.function(body, (*constant, *flags))
            return derived, derived.results

        derived, flags = fixed_point(step, tuple(t is not None for t in t_carry))
        start = instantiated(carry, t_carry, flags)
        active = [t for t in t_captured if t is not None]
        functions = transform.functions

        def go_on(*state: Value) -> Sequence[Value]:
            return call_function(functions, condition, [*captured, *state[: len(carry)]])

        def advance(*state: Value) -> Sequence[Value]:
            values, moving = state[: len(carry)], state[len(carry) :]
            found = call_function(functions, derived.name, [*captured, *values, *active, *moving])
            results, moved = found[: len(carry)], found[len(carry) :]
            moved = scatter(moved, derived.results)
            return [*results, *instantiated(results, moved, flags)]

        results = while_loop(go_on, advance, [*carry, *start])
        return results[: len(carry)], scatter(results[len(carry) :], flags)

    def linearize(
        self, transform: Linearization, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        counts = trip_count(self.operation, transform.functions) is not None
        if not counts and not effects.has_effects(self.operation):
            return transform.in_forward_mode(self.operation, primals, tangents)
        as_scan, operands = self._as_scan(transform, primals)
        _, t_operands = self._as_scan(transform, tangents)
        return as_scan.linearize(transform, operands, t_operands)

    def is_mixed(self, transform: Transposition, operands: Sequence[Value | Linear]) -> bool:
        return True  # it counts

    def check_linear(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> None:
        as_scan, in_order = self._as_scan(transform, operands)
        as_scan.check_linear(transform, cotangents, in_order)

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        as_scan, in_order = self._as_scan(transform, operands)
        found = as_scan.transpose(transform, cotangents, in_order)
        num_captured = len(operands) - self.num_operands
        return [*found[num_captured:], *found[:num_captured]]

    def _as_scan(
        self, transform: Transformation, operands: Sequence[Any]
    ) -> tuple[scan.Scan, list]:
        """Return the loop as a scan, and the scan's operands. Raises UnsupportedOp if the trip
        count is not known.
        """
        length = trip_count(self.operation, transform.functions)
        if length is None:
            raise UnsupportedOp(
                f"stablehlo.while at {self.operation.location} has no reverse mode: how many steps "
                "it takes is known only when it runs; give the loop a bound (max_steps), or a "
                "fixed number of steps"
            )
        _, body = transform.outline(self.operation)
        carry, captured = operands[: self.num_operands], operands[self.num_operands :]
        as_scan = scan.Scan(body, length, False, len(captured), len(carry))
        return as_scan, [*captured, *carry]

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        condition, body = transform.outline(self.operation)
        carry, captured = operands[: self.num_operands], operands[self.num_operands :]
        carry_axes, constant = axes[: self.num_operands], tuple(axes[self.num_operands :])

        def step(flags: tuple[bool, ...]):
            places = tuple(0 if flag else None for flag in flags)
            test = transform.function(condition, (*constant, *places))
            derived = transform.function(body, (*constant, *places))
            if test.results[0] is not None:  # each lane has its own number of steps
                return (test, derived), (True,) * len(flags)
            return (test, derived), tuple(axis is not None for axis in derived.results)

        (test, derived), flags = fixed_point(step, tuple(a is not None for a in carry_axes))
        by_lane = test.results[0] is not None
        if by_lane and effects.has_effects(self.operation):  # those of the steps that a lane takes
            return lanes.one_by_one(transform, "while", self.build, operands, axes)
        size, functions = transform.size, transform.functions
        start = batched_where(carry, carry_axes, size, flags)

        def lanes_on(state: Sequence[Value]) -> Value:
            return call_function(functions, test.name, [*captured, *state])[0]

        def go_on(*state: Value) -> Sequence[Value]:
            running = lanes_on(state)
            if by_lane:
                false = full((), False, np.dtype(np.bool_))
                running = reduce.Reduce("or", (0,))(running, false)
            return [running]

        def advance(*state: Value) -> Sequence[Value]:
            found = call_function(functions, derived.name, [*captured, *state])
            found = batched_where(found, derived.results, size, flags)
            if not by_lane:
                return found
            running = lanes_on(state)  # a lane that has ended keeps what it has
            return [
                comparison.select(shape.BroadcastInDim(mlir.shape_of(new), (0,))(running), new, old)
                for new, old in zip(found, state, strict=True)
            ]

        results = while_loop(go_on, advance, start)
        return results, [0 if flag else None for flag in flags]


def while_loop(
    condition: Callable[..., Value | Sequence[Value]],
    body: Callable[..., Sequence[Value]],
    carry: Sequence[Value],
) -> tuple[Value, ...]:
    """Builds a `stablehlo.while`; both functions get the carried values, and may use others."""
    types = [x.type for x in carry]
    operation = mlir.emit("stablehlo.while", carry, {}, types, regions=2)
    for region, build in zip(operation.regions, (condition, body), strict=True):
        block = mlir.Block.create_at_start(region, types)
        with InsertionPoint(block):
            results = build(*block.arguments)
            results = [results] if isinstance(results, Value) else list(results)
            mlir.emit("stablehlo.return", results, {}, [])
    return tuple(operation.results)


# ---- loops that count ----------------------------------------------------------------------------


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
    """Return the trip count of a `stablehlo.while`, or None if `count` cannot tell."""
    found = count(operation, functions)
    return None if found is None else found.steps


def count(operation: Operation, functions: Mapping[str, Operation]) -> Count | None:
    """Return the counter of a `stablehlo.while`, or None if it has none. A loop counts if its
    condition is `i < n` and its body carries `i + k` for constants n and k, with a constant start.
    `functions` are those of the module, which the loop's regions may call.
    """
    condition, body = (region.blocks[0] for region in operation.regions)
    if any(effects.has_effects(view.operation) for view in condition.operations):
        return None
    carried: list[Value] = list(operation.regions[0].blocks[0].arguments)
    test = _Seen(mlir.terminator(condition).operands[0], functions)
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
    return Count(place, start, by, max(0, -((start - limit) // by)))


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


def _number(x: Value) -> int | None:
    value = None if mlir.is_argument(x) or is_inexact(x) else mlir.splat(x)
    return None if value is None or value.ndim else int(value)
