"""Hazards for arguments in given ranges: overflow, division by zero, functions of numbers outside
of their domain; and the largest error to first order.

Intervals bound the numbers of each op. Where they allow a hazard, arguments are searched for that
show it: the evaluator runs the function on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from irax_compiler import mlir
from irax_compiler.locations import Frame
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
from irax_compiler.precision.intervals import Interval, Undecided
from irax_compiler.precision.kinds import moves
from irax_compiler.precision.report import line_of
from irax_compiler.precision.shadow import Both
from irax_compiler.precision.wide import Doubles

Array = np.ndarray[Any, Any]
Value = Interval | Array
Range = tuple[float | Array, float | Array]
"""The least and the largest numbers that the elements of an argument may be."""

_SAMPLES = 64
"""The arguments that are tried at random."""
_HALVINGS = 160
"""The steps of a search between two arguments for which a divisor has different signs."""
_DERIVED = 6
"""The arguments for which the error is bounded."""


@dataclass
class Hazard:
    """Something that an op may do for some arguments."""

    step: Step
    what: str
    low: float
    high: float
    """The range of the operand or result that allows it."""
    example: Sequence[Array] | None = None
    """Arguments for which it happens; None if none were found."""

    @property
    def frame(self) -> Frame | None:
        """The line of the op."""
        return line_of(self.step)

    def __str__(self) -> str:
        frame = self.frame
        place = frame.place(short=True) if frame else "unknown line"
        told = f"{place}: {self.step.op.name.partition('.')[2]} may {self.what}"
        told += f", of a number in {self.low:.3g}..{self.high:.3g}"
        if self.example is None:
            return f"{told}; no arguments found that show it"
        given = ", ".join(np.array2string(x, threshold=6, precision=8) for x in self.example)
        return f"{told}; it does for {given}"


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
            lines.append("  no overflow, no division by zero, no function outside of its domain")
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
    search = _Search(evaluator, func, arguments, ranges, runner.hazards)
    search.run()
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
            types = [program.types[i] for i in step.outputs]
            for slot, result in zip(
                step.outputs, self.step(step, call, operands, types), strict=True
            ):
                env[slot] = result
        return [env[slot] for slot in program.outputs]

    def step(
        self, step: Step, call: Evaluation, operands: Sequence[Value], types: Sequence[Any]
    ) -> Sequence[Value]:
        op = step.op
        if isinstance(op, RegionOp | Call | Scan):
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
        dtype = mlir.dtype_of_type(types[0]) if types else None
        if dtype is None or dtype.kind == "c":
            return self.anything("complex numbers" if types else "callback", types)
        self.check_domain(step, operands)
        found = form = None
        indices = [x for x in operands if isinstance(x, Interval)] if moves(op) else []
        if op.is_pure and op.num_results == 1:
            same = len(step.inputs) == 2 and step.inputs[0] == step.inputs[1]
            with evaluate.run_by(None), np.errstate(all="ignore"):
                try:
                    found = intervals.computed(op, operands, same)
                    form = affine.form_of(op, operands, same)
                except (IndexError, TypeError):  # an index that is an interval
                    assert indices
        if found is None:
            return self.anything(op.name.partition(".")[2], types)
        if not inexact(dtype):
            return [found]
        if form is not None:
            found = form.within(found)
        found = self.rounded(step, found, operands, dtype)
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

    def rounded(
        self, step: Step, found: Interval, operands: Sequence[Value], dtype: np.dtype[Any]
    ) -> Interval:
        """Round outwards, and note an overflow."""
        most = float(ml_dtypes.finfo(dtype).max)
        exact = moves(step.op) or step.op.name.endswith(("negate", "abs"))
        found = found if exact else found.rounded(dtype)
        bounded = all((Interval.of(x).size <= most).all() for x in operands)
        over = found.size > most
        if bounded and over.any() and not _DOMAINS.get(step.op.name.partition(".")[2]):
            self.note(step, "overflow", found.low[over].min(), found.high[over].max())
        return found

    def check_domain(self, step: Step, operands: Sequence[Value]) -> None:
        domain = _DOMAINS.get(step.op.name.partition(".")[2])
        if domain is None:
            return
        number, what, _ = domain
        x = Interval.of(operands[number])
        outside = _outside(step.op.name.partition(".")[2], x.low) | _outside(
            step.op.name.partition(".")[2], x.high
        )
        outside |= x.has_zero if what == "divide by zero" else False
        if outside.any():
            self.note(step, what, x.low[outside].min(), x.high[outside].max())

    def note(self, step: Step, what: str, low: float, high: float) -> None:
        key = id(step), what
        there = self.hazards.setdefault(key, Hazard(step, what, float(low), float(high)))
        there.low, there.high = min(there.low, float(low)), max(there.high, float(high))


_DOMAINS: dict[str, tuple[int, str, Any]] = {
    "divide": (1, "divide by zero", lambda x: x == 0),
    "remainder": (1, "divide by zero", lambda x: x == 0),
    "rsqrt": (0, "be of a number that is not positive", lambda x: x <= 0),
    "log": (0, "be of a number that is not positive", lambda x: x <= 0),
    "log_plus_one": (0, "be of a number of at most -1", lambda x: x <= -1),
    "sqrt": (0, "be of a negative number", lambda x: x < 0),
    "acos": (0, "be of a number beyond 1", lambda x: np.abs(x) > 1),
    "asin": (0, "be of a number beyond 1", lambda x: np.abs(x) > 1),
    "atanh": (0, "be of a number beyond 1", lambda x: np.abs(x) >= 1),
}


def _outside(name: str, x: Array) -> Array:
    return np.asarray(_DOMAINS[name][2](x))


class _Search:
    """Arguments that show hazards."""

    def __init__(
        self,
        evaluator: evaluate.Evaluator,
        func: str,
        arguments: Sequence[Array],
        ranges: Sequence[Range | None],
        hazards: dict[tuple[int, str], Hazard],
    ) -> None:
        self.evaluator, self.func, self.hazards = evaluator, func, hazards
        self.arguments, self.ranges = arguments, ranges
        self.tried: list[Sequence[Array]] = []
        self.signs: dict[int, dict[bool, Sequence[Array]]] = {}
        """For divisors of one element, arguments for which they are negative, and positive."""

    def run(self) -> None:
        """Try corners, random arguments, and those between two signs of a divisor."""
        for arguments in self._samples():
            if self.tried and all(h.example is not None for h in self.hazards.values()):
                return
            self._try(arguments)
        for hazard in self.hazards.values():
            ends = self.signs.get(id(hazard.step), {})
            if hazard.example is None and len(ends) == 2:
                self._between(hazard, ends[False], ends[True])

    def _samples(self) -> Iterator[Sequence[Array]]:
        random = np.random.default_rng(0)
        for share in (0.5, 0.0, 1.0):
            yield self._at(lambda x, share=share: np.full(x.shape, share))
        for turn in range(_SAMPLES):
            if turn % 2:
                yield self._at(lambda x: random.uniform(size=x.shape))
            else:
                yield self._at(lambda x: random.integers(0, 2, x.shape).astype(float))

    def _at(self, shares: Any) -> Sequence[Array]:
        found = []
        for x, r in zip(self.arguments, self.ranges, strict=True):
            given = x
            if r is not None:
                share = shares(x)
                info = ml_dtypes.finfo(x.dtype) if inexact(x.dtype) else np.iinfo(x.dtype)
                low, high = (np.clip(end, float(info.min), float(info.max)) for end in r)
                given = np.asarray(low * (1 - share) + high * share).astype(x.dtype)
            found.append(given)
        return found

    def _try(self, arguments: Sequence[Array]) -> None:
        self.tried.append(arguments)

        def see(step: Step, operands: Sequence[Array], results: Sequence[Array]) -> None:
            name = step.op.name.partition(".")[2]
            for what in {"overflow", _DOMAINS.get(name, (0, ""))[1]}:
                hazard = self.hazards.get((id(step), what))
                if hazard is None:
                    continue
                if what == "divide by zero" and operands[1].size == 1:
                    is_positive = bool(operands[1].ravel()[0] > 0)
                    self.signs.setdefault(id(step), {})[is_positive] = arguments
                if hazard.example is None and _shows(name, what, operands, results):
                    hazard.example = arguments

        with evaluate.watching(see):
            self.evaluator(self.func, arguments)

    def _between(self, hazard: Hazard, low: Sequence[Array], high: Sequence[Array]) -> None:
        for _ in range(_HALVINGS):
            middle = [
                x if r is None else ((x.astype(float) + y.astype(float)) / 2).astype(x.dtype)
                for x, y, r in zip(low, high, self.ranges, strict=True)
            ]
            self._try(middle)
            if hazard.example is not None:
                return
            ends = self.signs[id(hazard.step)]
            if ends.get(True) is middle:
                high = middle
            else:
                low = middle


def _shows(name: str, what: str, operands: Sequence[Array], results: Sequence[Array]) -> bool:
    floats = [x for x in operands if inexact(x.dtype)]
    if what == "overflow":
        finite = all(np.isfinite(x).all() for x in floats)
        return finite and any(np.isinf(x).any() for x in results if inexact(x.dtype))
    return bool(_outside(name, operands[_DOMAINS[name][0]]).any())
