"""Hazards for arguments in given ranges: overflow, division by zero, functions of numbers outside
of their domain; and the largest error to first order.

Intervals bound the numbers of each op. Where they allow a hazard, or there are no bounds, arguments
are searched for that show it: the evaluator runs the function on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Module, inexact
from irax_compiler.ops import bitwise
from irax_compiler.ops.comparison import Compare
from irax_compiler.ops.control_flow.scan import Scan
from irax_compiler.ops.control_flow.while_loops import RegionOp
from irax_compiler.ops.core import evaluated
from irax_compiler.ops.evaluation import evaluator as evaluate
from irax_compiler.ops.evaluation.steps import Step
from irax_compiler.ops.structured import Call
from irax_compiler.ops.transformation import Evaluation
from irax_compiler.precision import affine, blame, extremes, intervals, shadow
from irax_compiler.precision.hazards import DOMAINS, Hazard, Range, Search, first, is_plain_call
from irax_compiler.precision.intervals import Interval, Undecided
from irax_compiler.precision.kinds import moves
from irax_compiler.precision.shadow import Both
from irax_compiler.precision.wide import Doubles

Array = np.ndarray[Any, Any]
Value = Interval | Array

_DERIVED = 6
"""The arguments for which the error is bounded."""


@dataclass
class RangeReport:
    """Bounds and hazards for arguments in ranges. Its text is for reading."""

    name: str
    results: list[Interval]
    """Bounds of the results: infinite, where numbers are too large for a result's dtype."""
    overflows: list[np.dtype | None]
    """The dtypes of results some of whose numbers are too large for it; None for others."""
    hazards: list[Hazard]
    unbounded: dict[str, None]
    """Ops that have no rule for intervals, and conditions that depend on the arguments."""
    error: float
    """The largest bound of the relative error of a result, to first order, for the arguments that
    were tried."""

    def __str__(self) -> str:
        lines = [f"{self.name}: for all arguments in these ranges"]
        for i, x in enumerate(self.results):
            told = f"  result {i}: {np.min(x.low):.6g}..{np.max(x.high):.6g}"
            dtype = self.overflows[i]
            lines.append(told if dtype is None else f"{told}: beyond {dtype}, an overflow")
        if np.isfinite(self.error):
            lines.append(f"  relative error at most {self.error:.1e}, to first order, where tried")
        lines += [f"  {hazard}" for hazard in self.hazards]
        if not self.hazards:
            told = "  no overflow, no division by zero, no function outside of its domain"
            lines.append(told + (" where tried" if self.unbounded else ""))
        if self.unbounded:
            lines.append(f"  without bounds: {', '.join(self.unbounded)}")
        return "\n".join(lines)


def range_report(
    module: Module, func: str, arguments: Sequence[Array], ranges: Sequence[Range | None]
) -> RangeReport:
    """Return bounds and hazards for arguments in ranges. One without a range is as it is given."""
    evaluator = evaluate.Evaluator(module)
    runner = _Intervals()
    given: list[Any] = [
        x if r is None else Interval(*(np.broadcast_to(end, x.shape).astype(float) for end in r))
        for x, r in zip(arguments, ranges, strict=True)
    ]
    with evaluate.run_by(runner):
        found: Any = evaluator(func, affine.of_arguments(given))  # pyright: ignore
    search = Search(evaluator, func, arguments, ranges, runner.hazards)
    search.run(is_complete=not runner.unbounded)
    types = map(mlir.dtype_of_type, mlir.result_types(mlir.functions(module)[func]))
    results, overflows = [], []
    for x, dtype in zip(map(Interval.of, found), types, strict=True):
        y = _stored(x, dtype)
        results.append(y)
        is_same = np.array_equal(x.low, y.low) and np.array_equal(x.high, y.high)
        overflows.append(None if is_same else dtype)
    error = _error(module, func, search.tried[:_DERIVED])
    hazards = list(runner.hazards.values())
    return RangeReport(func, results, overflows, hazards, runner.unbounded, error)


def _most(dtype: np.dtype[Any]) -> float:
    """Return the largest number of a dtype."""
    return float(ml_dtypes.finfo(dtype).max) if inexact(dtype) else np.inf


def _stored(x: Interval, dtype: np.dtype) -> Interval:
    """Return the bounds of numbers once they have a dtype."""
    if not inexact(dtype) or dtype.kind == "c":
        return x
    most = float(ml_dtypes.finfo(dtype).max)
    low, high = (
        np.where(np.abs(end) > most, np.copysign(np.inf, end), end) for end in (x.low, x.high)
    )
    return Interval(low, high)


def _error(module: Module, func: str, tried: Sequence[Sequence[Array]]) -> float:
    """Return the largest sum of |derivative x rounding| of a result's worst element."""
    most = np.nan
    for arguments in tried:
        run = shadow.run(module, func, arguments, Doubles())
        for x in run.results:
            if isinstance(x, Both) and x.wide.size:
                index = np.unravel_index(int(np.argmin(blame.digits(run, x))), x.wide.shape)
                value = float(np.abs(x.wide[index]))
                followed = blame.follow(run, int(x.places[index]), value, value)
                bound = sum(costs.weight for _, costs in followed.by_event)
                if value and np.isfinite(value) and np.isfinite(bound):
                    most = float(np.fmax(most, bound / value))
    return most


class _Intervals:
    """Runs blocks on intervals, in place of the evaluator."""

    def __init__(self) -> None:
        self.hazards: dict[tuple[int, str], Hazard] = {}
        self.unbounded: dict[str, None] = {}
        self.extremes = extremes.Extremes()

    def __call__(
        self, program: evaluate.Program, arguments: Sequence[Any], call: Evaluation
    ) -> list[Any]:
        env: list[Any] = [None] * len(program.types)
        for slot, argument in zip(program.inputs, arguments, strict=True):
            env[slot] = argument
        for step in program.steps:
            operands = [env[i] for i in step.inputs]
            given, types = ([program.types[i] for i in x] for x in (step.inputs, step.outputs))
            results = self.step(step, call, operands, given, types)
            for slot, result in zip(step.outputs, results, strict=True):
                env[slot] = result
        return [env[slot] for slot in program.outputs]

    def step(
        self,
        step: Step,
        call: Evaluation,
        operands: Sequence[Value],
        given: Sequence[Any],
        types: Sequence[Any],
    ) -> Sequence[Value]:
        """Return the results of a step, of some types, for operands of given ones."""
        op = step.op
        if isinstance(op, RegionOp | Call | Scan) or is_plain_call(op):
            return self.inside(step, call, operands, types)
        if not any(isinstance(x, Interval) for x in operands):
            with evaluate.run_by(None):
                return evaluated(op, call, operands)  # pyright: ignore[reportArgumentType]
        if isinstance(op, Compare):
            x, y = map(Interval.of, operands)
            return [intervals.compared(op.comparison_direction, x, y)]
        if op in (bitwise.and_, bitwise.or_) and mlir.dtype_of_type(types[0]) == np.bool_:
            x, y = map(Interval.of, operands)
            return [(intervals.both if op is bitwise.and_ else intervals.either)(x, y)]
        if op is bitwise.not_ and mlir.dtype_of_type(types[0]) == np.bool_:
            return [intervals.negated(*map(Interval.of, operands))]
        dtype = mlir.dtype_of_type(types[0]) if types else None
        if dtype is None or dtype.kind == "c":
            return self.anything("complex numbers" if types else "callback", types)
        self.check_domain(step, operands)
        found = form = None
        indices = [x for x in operands if isinstance(x, Interval)] if moves(op) else []
        if op.is_pure and len(types) == 1:
            same = len(step.inputs) == 2 and step.inputs[0] == step.inputs[1]
            with evaluate.run_by(None), np.errstate(all="ignore"):
                try:
                    found = intervals.computed(op, operands, same, not inexact(dtype))
                    form = affine.form_of(op, operands, same)
                except (IndexError, TypeError):  # an index that is an interval
                    assert indices
        if found is None:
            return self.anything(op.name.partition(".")[2], types)
        if dtype == np.bool_:
            return [found]
        bounded = all(
            (Interval.of(x).size <= _most(mlir.dtype_of_type(t))).all()
            for x, t in zip(operands, given, strict=True)
        )
        if not inexact(dtype):
            return [self.wrapped(step, found, bounded, dtype)]
        if form is not None:
            found = form.within(found)
        found = self.rounded(step, found, bounded, dtype)
        if form is not None:
            form = form if moves(op) else form.rounded(dtype)
            found = affine.Formed(found.low, found.high, form)
        return [self.extremes.narrowed(step.op, operands, found)]

    def anything(self, why: str, types: Sequence[Any]) -> list[Value]:
        self.unbounded[why] = None
        return [Interval.anything(tuple(t.shape)) for t in types]

    def inside(
        self, step: Step, call: Evaluation, operands: Sequence[Any], types: Sequence[Any]
    ) -> Sequence[Value]:
        op = step.op
        if isinstance(op, RegionOp) and op.name != "stablehlo.while":
            chosen = operands[0]
            if isinstance(chosen, Interval) and (chosen.low != chosen.high).any():  # either branch
                found = [p.run(operands[1:], call) for p in op.programs]
                first, *others = ([Interval.of(x) for x in branch] for branch in found)
                for branch in others:
                    first = [x.hull(y) for x, y in zip(first, branch, strict=True)]
                return first
            if isinstance(chosen, Interval):
                dtype = bool if op.name == "stablehlo.if" else np.int32
                operands = [chosen.low.astype(dtype), *operands[1:]]
        try:
            if isinstance(op, Scan):
                return self.scanned(op, call, operands)
            return op.evaluate(call, *operands)  # pyright: ignore[reportArgumentType]
        except Undecided:
            return self.anything(f"a loop's condition in {op.name.partition('.')[2]}", types)

    def scanned(self, op: Scan, call: Evaluation, operands: Sequence[Value]) -> Sequence[Value]:
        consts, carry, xs = op.parts(operands)
        order = list(range(op.length))
        stacks: list[list[Interval]] = []
        for i in reversed(order) if op.reverse else order:
            rows = [Interval(x.low[i], x.high[i]) if isinstance(x, Interval) else x[i] for x in xs]
            carry, found = op.results(call(op.body, [*consts, *carry, *rows]))  # pyright: ignore
            stacks.append([Interval.of(x) for x in found])
        stacks = stacks[::-1] if op.reverse else stacks
        stacked = [
            Interval(np.stack([x.low for x in rows]), np.stack([x.high for x in rows]))
            for rows in zip(*stacks, strict=True)
        ]
        return [*carry, *stacked]

    def wrapped(self, step: Step, found: Interval, bounded: bool, dtype: np.dtype[Any]) -> Interval:
        """Return the bounds of integers: those of their dtype where some are beyond these, which
        is noted.
        """
        info = np.iinfo(dtype)
        over = (found.low < float(info.min)) | (found.high > float(info.max))
        if not over.any():
            return found
        if bounded and not DOMAINS.get(step.op.name.partition(".")[2]):
            self.note(step, "overflow", found.low[over].min(), found.high[over].max())
        ends = (np.full(over.shape, float(end)) for end in (info.min, info.max))
        return found.but(over, Interval(*ends))

    def rounded(self, step: Step, found: Interval, bounded: bool, dtype: np.dtype[Any]) -> Interval:
        """Round outwards, and note an overflow."""
        exact = moves(step.op) or step.op.name.endswith(("negate", "abs"))
        found = found if exact else found.rounded(dtype)
        over = found.size > _most(dtype)
        if bounded and over.any() and not DOMAINS.get(step.op.name.partition(".")[2]):
            self.note(step, "overflow", found.low[over].min(), found.high[over].max())
        return found

    def check_domain(self, step: Step, operands: Sequence[Value]) -> None:
        domain = DOMAINS.get(step.op.name.partition(".")[2])
        if domain is None:
            return
        number, what, is_outside = domain
        x, *others = map(Interval.of, first(operands, number))
        rest = [np.where(y.low == y.high, y.low, np.nan) for y in others]
        outside = is_outside(x.low, *rest) | is_outside(x.high, *rest)
        outside |= x.has_zero if what == "divide by zero" else False
        if outside.any():
            self.note(step, what, x.low[outside].min(), x.high[outside].max())

    def note(self, step: Step, what: str, low: float, high: float) -> None:
        key = id(step), what
        there = self.hazards.setdefault(key, Hazard(step, what, float(low), float(high)))
        there.low, there.high = min(there.low, float(low)), max(there.high, float(high))
