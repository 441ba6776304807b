"""While loops. Values that their regions capture count as operands, after the loop's own.

For rules, both regions become functions of the captured values, then the loop-carried ones. A loop
with a known trip count is also a scan (`scan.py`), by which it has reverse mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any, ClassVar

import numpy as np

from irax_compiler import effects, locations, mlir
from irax_compiler.mlir import Operation, Value
from irax_compiler.ops import comparison, shape
from irax_compiler.ops.attributes import from_operation
from irax_compiler.ops.control_flow import bounded_loops, lanes, long_loops, scan
from irax_compiler.ops.control_flow.seen import unchanged
from irax_compiler.ops.control_flow.trip_counts import most_steps, trip_count
from irax_compiler.ops.core import Axis, Linear, Memory, Tangent, UnsupportedOp, full
from irax_compiler.ops.evaluation import evaluator as evaluate
from irax_compiler.ops.loop_builders import while_loop
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
    Dependence,
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
        return mlir.clone_on(self.operation, operands)

    @property
    def num_operands(self) -> int:
        return len(self.operation.operands)


class UnknownLength(UnsupportedOp, ValueError):
    """Reverse mode was asked of a loop whose number of steps only a run tells."""


@register_class
class While(RegionOp):
    """Carries values from step to step for as long as a condition on them holds."""

    name = "stablehlo.while"

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Sequence[np.ndarray]:
        condition, body = self.programs
        carry, captured = operands[: self.num_operands], operands[self.num_operands :]
        return long_loops.repeat(
            lambda carry: condition.run([*carry, *captured], call)[0],
            lambda carry: body.run([*carry, *captured], call),
            carry,
            long_loops.Work(len(condition.steps) + len(body.steps)),
            lambda carry: long_loops.rest(self, call, [*carry, *captured]),
        )

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
            most = most_steps(self.operation, transform.functions)
            if most is not None and most <= bounded_loops.MOST:
                return self._linearize_bounded(transform, primals, tangents, most)
            return transform.in_forward_mode(self.operation, primals, tangents)
        as_scan, operands = self._as_scan(transform, primals)
        _, t_operands = self._as_scan(transform, tangents)
        return as_scan.linearize(transform, operands, t_operands)

    def _linearize_bounded(
        self,
        transform: Linearization,
        primals: Sequence[Value],
        tangents: Sequence[Tangent],
        most: int,
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        condition, body = transform.outline(self.operation)
        count = self.num_operands
        carry, captured = primals[:count], primals[count:]
        as_scan = bounded_loops.as_scan(transform, condition, body, captured, carry, most)
        # The first carried values stand for later ones where these do not matter.
        moving = [*tangents[count:], *[None] * count, *tangents[:count]]
        return as_scan.linearize(transform, [*captured, *carry, *carry], moving)

    def dependent_results(self, dependence: Dependence, flags: Sequence[bool]) -> Sequence[bool]:
        condition, body = (region.blocks[0] for region in self.operation.regions)
        captured = list(compress(mlir.captured(self.operation), flags[self.num_operands :]))

        def step(carry: tuple[bool, ...]) -> tuple[None, tuple[bool, ...]]:
            marked = [*captured, *compress(body.arguments, carry)]
            return None, dependence.of_block(body, marked)

        _, carry = fixed_point(step, tuple(flags[: self.num_operands]))
        tested = [*captured, *compress(condition.arguments, carry)]
        if any(dependence.of_block(condition, tested)):
            return (True,) * len(carry)
        return carry

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        raise self._unknown_length()  # of others, the count is known, and the linear part a scan

    def _unknown_length(self) -> UnknownLength:
        lines = locations.frames(self.operation.location)
        where = lines[0].place() if lines else "an unknown line"
        return UnknownLength(
            f"the loop at {where} has no reverse mode: how many steps it takes is known only when "
            "it runs; give it a bound, lax.while_loop(..., max_steps=n), or a fixed number of steps"
        )

    def _as_scan(
        self, transform: Transformation, operands: Sequence[Any]
    ) -> tuple[scan.Scan, list]:
        """Return the loop as a scan, and the scan's operands. Raises UnknownLength if the trip
        count is not known.
        """
        length = trip_count(self.operation, transform.functions)
        if length is None:
            raise self._unknown_length()
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
        same = unchanged(self.operation, transform.functions)

        def step(flags: tuple[bool, ...]):
            places = tuple(0 if flag else None for flag in flags)
            test = transform.function(condition, (*constant, *places))
            derived = transform.function(body, (*constant, *places))
            if test.results[0] is not None:  # each lane has its own number of steps
                moved = zip(flags, same, strict=True)
                return (test, derived), tuple(flag or not is_same for flag, is_same in moved)
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
                if not is_same
                else old
                for new, old, is_same in zip(found, state, same, strict=True)
            ]

        results = while_loop(go_on, advance, start)
        return results, [0 if flag else None for flag in flags]
