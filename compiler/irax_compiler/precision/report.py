"""Reports of the digits that hold in the results of a function, and of the lines that cost them."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from irax_compiler import locations
from irax_compiler.locations import Frame
from irax_compiler.mlir import Module
from irax_compiler.ops.evaluation.steps import Step
from irax_compiler.precision import blame, cures, shadow
from irax_compiler.precision.blame import Costs
from irax_compiler.precision.cures import Cure
from irax_compiler.precision.pairs import Pairs
from irax_compiler.precision.shadow import Both, Operand, Run
from irax_compiler.precision.wide import Decimals, Doubles

Array = np.ndarray[Any, Any]

MANY = 10
"""The lines that a report shows."""
_EXACTLY = 1 << 18
"""The places up to which a run that may be wrong itself is done again, by more digits."""
_NEAR = 1e-3
"""The relative error of a number in float64 that it still has digits with."""
_ALLOWED = 0.4
"""The share of the digits of a dtype that a result may lose, and hold all the same."""


@dataclass(frozen=True)
class Result:
    """The element of a result that has the fewest digits."""

    number: int
    """The number of the result."""
    index: tuple[int, ...]
    dtype: np.dtype[Any]
    narrow: Any
    """Its value as the program computes it."""
    wide: Any
    """Its value as the wider run does, rounded to float64."""
    digits: float
    """The decimal digits that hold: of its size, or of the root mean square of all elements, if
    that is larger."""
    not_finite: int
    """The number of elements that are infinite or not a number."""
    possible: float
    """The digits that would hold if only the arguments were rounded to this dtype."""
    compiled: float | None = None
    """The digits of the compiled program's result, where that was compared."""

    @property
    def of(self) -> float:
        """The digits that its dtype has."""
        return blame.digits_of(self.dtype)

    @property
    def lost(self) -> float:
        """The share of its digits that is lost."""
        return 1 - self.digits / self.of

    def told(self) -> str:
        """Return how many digits hold, in words."""
        where = f"result {self.number}"
        if self.index:
            where += f"[{', '.join(map(str, self.index))}]"
        beside = f"{self.narrow!s} for {self.wide!s}"
        compiled = "" if self.compiled is None else f", compiled {self.compiled:.1f}"
        if self.not_finite:
            beside += f"; {self.not_finite} of its elements are not finite"
        held = f"{max(0.0, self.digits):.1f} of {self.of:.1f}"
        return f"{where}: {held}{compiled}  {self.dtype} {beside}"

    @property
    def holds(self) -> bool:
        """True unless more digits are lost than some, which rounding always costs."""
        return self.of - self.digits <= max(1.0, _ALLOWED * self.of)


@dataclass(frozen=True)
class Line:
    """A line of the user's program, and what it costs."""

    frame: Frame | None
    costs: Costs
    cures: tuple[Cure, ...] = ()
    """Changes of expressions that end there, which may keep its digits."""
    decisions: int = 0
    """Comparisons, sorts and roundings to integers that are otherwise in the wider run."""

    @property
    def digits(self) -> float:
        """The digits that it costs the result."""
        return self.costs.digits

    @property
    def text(self) -> str:
        """The text of the line."""
        return linecache.getline(self.frame.file, self.frame.line).strip() if self.frame else ""

    @property
    def place(self) -> str:
        """The name of its file, and its number."""
        return self.frame.place(short=True) if self.frame else "unknown line"

    def notes(self) -> list[str]:
        """Return what happens there, in words."""
        costs, found = self.costs, list[str]()
        name = max(costs.names, key=lambda name: costs.names[name], default="")
        if costs.steepest > _TOLD and costs.names[name] > _TOLD:
            bits = f"{costs.steepest * np.log2(10):.0f} bits"
            in_loop = " in an iteration" if len(costs.by_turn) > 1 else ""
            does = f"cancels {bits}" if name in _SUMS else f"amplifies errors by {bits}"
            found.append(f"{name} {does}{in_loop}")
        for count, one, many in (
            (costs.absorbed, "addition that adds nothing", "additions that add nothing"),
            (costs.overflows, "overflow", "overflows"),
            (costs.underflows, "underflow", "underflows"),
            (self.decisions, f"decision that {_OTHERWISE}", f"decisions that {_OTHERWISE}"),
        ):
            if count:
                found.append(f"{count} {one if count == 1 else many}")
        if len(costs.by_turn) > 1 and (told := _growth(costs.by_turn)):
            found.append(told)
        return [*found, *map(str, self.cures)]


_TOLD = 0.3
"""The digits that an op loses, from which on it is told."""
_SUMS = ("add", "subtract", "reduce", "dot_general")
_OTHERWISE = "the wider run takes otherwise"


def _growth(by_turn: dict[int, float]) -> str:
    """Return where an error begins to grow in a loop, and how much."""
    turns = sorted(by_turn)
    values = [by_turn[t] for t in turns]
    peak = int(np.argmax(values))
    low = next((i for i in range(peak, -1, -1) if values[i] <= 1e-3 * values[peak]), 0)
    if not values[peak] or peak <= low or values[peak] < 2 * values[low]:
        return ""
    start = f"{values[low]:.0e} in iteration {turns[low]}"
    return f"error grows from {start} to {values[peak]:.0e} in {turns[peak]}"


class PrecisionReport:
    """The digits that hold in the results of a function, and the lines that cost the others.

    Its text is for reading.
    """

    def __init__(
        self, name: str, results: Sequence[Result], lines: Sequence[Line], run: Run
    ) -> None:
        self.name = name
        self.results = tuple(results)
        """For each result of floats, the element that has the fewest digits."""
        self.lines = tuple(lines)
        """The lines that the worst of these depends on, the one that costs most first."""
        self.wider = run.arithmetic.name
        """The wider arithmetic that the program was run in, too."""
        self.unknown = tuple(dict.fromkeys(name.rpartition(".")[2] for name in run.unknown))
        """Ops that have no wider form, or no derivative: their results count as exact."""

    @property
    def holds(self) -> bool:
        """True unless a result has lost more digits than rounding always costs."""
        return all(r.holds for r in self.results)

    @property
    def worst(self) -> Result | None:
        """The result that has lost the most digits."""
        return max(self.results, key=lambda r: r.lost, default=None)

    @property
    def digits(self) -> float:
        """The digits that hold in that result; infinity if there are no floats."""
        return np.inf if self.worst is None else self.worst.digits

    def cost_of(self, line: Line) -> float:
        """The digits that a line costs the worst result: at most those that it lost. What one line
        costs may come back in another, as in an iteration that converges.
        """
        worst = self.worst
        return 0.0 if worst is None else min(line.digits, worst.of - worst.digits)

    def __str__(self) -> str:
        return "\n".join(self._text())

    __repr__ = __str__

    def _text(self) -> Iterable[str]:
        yield f"{self.name}: digits that hold, beside a run in {self.wider}"
        for r in self.results:
            yield f"  {r.told()}"
        worst = self.worst
        if worst is None:
            return
        if not worst.holds:
            yield f"  rounding of the arguments alone would leave {worst.possible:.1f}"
        shown = [x for x in self.lines if x.digits >= 0.05 or x.notes() or x.costs.own > 0.1][:MANY]
        if shown:
            yield ""
            yield "  digits lost  error made here  line"
        for line in shown:
            own = f"{100 * min(1.0, line.costs.own):.0f}%"
            yield f"  {self.cost_of(line):11.1f}  {own:>15}  {line.place}: {line.text}"
            for note in line.notes():
                yield f"{'':32}{note}"
        if self.unknown:
            yield f"  not judged, counted as exact: {', '.join(self.unknown)}"


def precision_report(
    module: Module,
    func: str,
    arguments: Sequence[Array],
    compiled: Sequence[Array] | None = None,
) -> PrecisionReport:
    """Run a function of a module for arrays in two precisions, and say where digits are lost.

    Args:
        module: the module.
        func: the name of the function.
        arguments: its arguments.
        compiled: its results as a compiled program computes them, to be judged, too.
    """
    run = shadow.run(module, func, arguments)
    judged = _judged(run, compiled)
    if _may_be_wrong(run, judged):
        doubles, run = run, shadow.run(module, func, arguments, _more_digits(run))
        judged = _judged(run, compiled)
        if isinstance(run.arithmetic, Pairs) and not _is_confirmed(doubles, run, judged):
            run = shadow.run(module, func, arguments, Decimals())
            judged = _judged(run, compiled)
    return _of_run(func, run, judged)


def _more_digits(run: Run) -> Doubles:
    """Return the arithmetic of a better run: double-double numbers after float64, which take far
    less time than decimal numbers.
    """
    is_first = type(run.arithmetic) is Doubles and not run.has_complex
    return Pairs() if is_first else Decimals()


_Judged = Sequence[tuple[Result, blame.Blame]]
"""The results of a run, each with what cost its worst element digits."""


def _floats(run: Run) -> list[tuple[int, Both]]:
    """Return the results that are judged, with their numbers."""
    found = enumerate(run.results)
    return [(number, x) for number, x in found if isinstance(x, Both) and x.wide.size]


def _judged(run: Run, compiled: Sequence[Array] | None) -> _Judged:
    """Judge the results of a run, and those that a compiled program computes."""
    return [
        _result(run, number, x, None if compiled is None else compiled[number])
        for number, x in _floats(run)
    ]


def _worst(judged: _Judged) -> tuple[Result, blame.Blame]:
    """Return the result that loses the most digits."""
    return max(judged, key=lambda each: each[0].lost)


def _may_be_wrong(run: Run, judged: _Judged) -> bool:
    """True if the wider run may be wrong, too, and a better one is possible."""
    if isinstance(run.arithmetic, Decimals) or run.size > _EXACTLY or not judged:
        return False
    return _worst(judged)[1].vanished or _is_doubtful(run, judged)


def _is_confirmed(doubles: Run, run: Run, judged: _Judged) -> bool:
    """True if a run by more digits is right, though numbers of the narrow one have none: the
    numbers in float64 were the same but for rounding errors, and the run's own are small.
    """
    if len(doubles.events) != len(run.events) or run.arithmetic.lacking:
        return False
    events = zip(doubles.events, run.events, strict=True)
    pairs = (pair for a, b in events for pair in zip(a.results, b.results, strict=True))
    return all(_are_near(doubles, x, run, y) for x, y in pairs) and not _is_doubtful(run, judged)


def _are_near(run: Run, x: Operand, other: Run, y: Operand) -> bool:
    """True if the wider numbers of two runs are finite and differ by at most `_NEAR` of the largest
    of them.
    """
    if not (isinstance(x, Both) and isinstance(y, Both)):
        return np.array_equal(np.asarray(x), np.asarray(y))
    with other.arithmetic.context(), np.errstate(all="ignore"):
        found, right = run.arithmetic.lowered(x.wide), other.arithmetic.lowered(y.wide)
        apart = np.max(np.abs(found - right), initial=0)
        return bool(apart <= _NEAR * np.max(np.abs(right), initial=0) < np.inf)


def _of_run(name: str, run: Run, judged: _Judged) -> PrecisionReport:
    """Return the report of a run."""
    results = [found for found, _ in judged]
    if not results:
        return PrecisionReport(name, results, [], run)
    worst, of_events = _worst(judged)
    lines: dict[Frame | None, Costs] = {}
    for event, costs in of_events.by_event:
        frame = line_of(event.step)
        lines.setdefault(frame, Costs()).include(costs)
    decisions: dict[Frame | None, int] = {}
    for step, count in run.decisions:
        decisions[line_of(step)] = decisions.get(line_of(step), 0) + count
    changes = {} if worst.holds else _cures(run, lines, of_events)
    listed = [Line(f, c, tuple(changes.get(f, ())), decisions.get(f, 0)) for f, c in lines.items()]
    listed += [Line(f, Costs(), (), n) for f, n in decisions.items() if f not in lines]
    listed.sort(key=lambda line: (-(line.costs.overflows > 0), -line.digits, -line.costs.own))
    return PrecisionReport(name, results, listed, run)


def _is_doubtful(run: Run, judged: _Judged) -> bool:
    """True if the wider run's own roundings may be as large as one of a narrow result."""
    for (_, x), (_, of_events) in zip(_floats(run), judged, strict=True):
        with run.arithmetic.context():
            size = np.abs(run.arithmetic.lowered(x.wide))
        finite = size[np.isfinite(size)]
        scale = np.linalg.norm(finite) / np.sqrt(max(1, np.count_nonzero(finite)))
        own = of_events.roundings * run.arithmetic.unit
        if own > blame.unit(x.narrow.dtype) * scale:
            return True
    return False


def _cures(
    run: Run, lines: dict[Frame | None, Costs], of_events: blame.Blame
) -> dict[Frame | None, dict[Cure, None]]:
    """Return the cures of lines that cost digits, each at the line where its expression ends."""
    found: dict[Frame | None, dict[Cure, None]] = {}
    for cure, events in cures.found(run, of_events.by_event):
        costs = [lines[f] for e in events if (f := line_of(e.step)) in lines]
        if any(c.digits > _TOLD or c.underflows for c in costs):
            found.setdefault(line_of(events[0].step), {})[cure] = None
    return found


def line_of(step: Step) -> Frame | None:
    """Return the user's line that a step is of."""
    found = next(iter(locations.frames(step.location)), None)
    return None if found is None else Frame(found.file, found.line)


def _result(run: Run, number: int, x: Both, compiled: Array | None) -> tuple[Result, blame.Blame]:
    each = blame.digits(run, x)
    index = tuple(int(i) for i in np.unravel_index(int(np.argmin(each)), each.shape))
    with run.arithmetic.context():
        wide = run.arithmetic.lowered(x.wide)[index]
    other = None
    if compiled is not None:
        other = float(blame.digits(run, replace(x, narrow=compiled, errors=None)).min())
    dtype = x.narrow.dtype
    error = float(np.abs(blame.errors(run, x)[index]))
    of_events = blame.follow(run, int(x.places[index]), error, wide)
    with np.errstate(invalid="ignore"):
        possible = blame.digits_of(dtype) - np.log10(max(1.0, of_events.condition))
    possible = float(np.nan_to_num(max(0.0, possible)))
    digits = float(each[index])
    not_finite = int(np.count_nonzero(~np.isfinite(x.narrow)))
    told = (number, index, dtype, x.narrow[index], wide, digits, not_finite, possible, other)
    return Result(*told), of_events
