"""Hazards of ops, and a search for arguments that show them: the evaluator tries corners, random
arguments, and those between two signs of a divisor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from irax_compiler.locations import Frame
from irax_compiler.mlir import inexact
from irax_compiler.ops.control_flow.custom_rules import RuledOp
from irax_compiler.ops.control_flow.scan import Scan
from irax_compiler.ops.control_flow.while_loops import RegionOp
from irax_compiler.ops.core import Op
from irax_compiler.ops.evaluation import evaluator as evaluate
from irax_compiler.ops.evaluation.steps import Step
from irax_compiler.ops.structured import Call
from irax_compiler.precision import intervals
from irax_compiler.precision.intervals import Interval
from irax_compiler.precision.report import line_of

Array = np.ndarray[Any, Any]
Range = tuple[float | Array, float | Array]
"""The least and the largest numbers that the elements of an argument may be."""

_SAMPLES = 64
"""The arguments that are tried at random."""
_HALVINGS = 160
"""The steps of a search between two arguments for which a divisor has different signs."""


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
        if self.low < self.high or np.isfinite(self.low):
            told += f", of a number in {self.low:.3g}..{self.high:.3g}"
        if self.example is None:
            return f"{told}; no arguments found that show it"
        given = ", ".join(np.array2string(x, threshold=6, precision=8) for x in self.example)
        return f"{told}; it does for {given}"


DOMAINS: dict[str, tuple[int, str, Callable[..., Any]]] = {
    "divide": (1, "divide by zero", lambda x, *_: x == 0),
    "remainder": (1, "divide by zero", lambda x, *_: x == 0),
    "rsqrt": (0, "be of a number that is not positive", lambda x: x <= 0),
    "log": (0, "be of a number that is not positive", lambda x: x <= 0),
    "log_plus_one": (0, "be of a number of at most -1", lambda x: x <= -1),
    "sqrt": (0, "be of a negative number", lambda x: x < 0),
    "acos": (0, "be of a number beyond 1", lambda x: np.abs(x) > 1),
    "asin": (0, "be of a number beyond 1", lambda x: np.abs(x) > 1),
    "acosh": (0, "be of a number below 1", lambda x: x < 1),
    "atanh": (0, "be of a number beyond 1", lambda x: np.abs(x) >= 1),
    "erf_inv": (0, "be of a number beyond 1", lambda x: np.abs(x) >= 1),
    "power": (
        0,
        "be of a number that has no such power",
        lambda x, y: ((x < 0) & (y != np.trunc(y))) | ((x == 0) & ~(y >= 0)),
    ),
}
"""For functions that some numbers are outside of the domain of: the operand, what is said of it,
and where it is outside, given the others, which are not numbers where they are not known."""


def first(operands: Sequence[Any], number: int) -> list[Any]:
    """Return operands, with that of a number before the others."""
    return [operands[number], *operands[:number], *operands[number + 1 :]]


class Search:
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

    def run(self, is_complete: bool) -> None:
        """Try corners, random arguments, and those between two signs of a divisor. Unless the
        hazards are `complete`, those of other ops may be found on the way.
        """
        for arguments in self._samples():
            is_shown = all(h.example is not None for h in self.hazards.values())
            if self.tried and is_complete and is_shown:
                return
            self._try(arguments)
        for hazard in list(self.hazards.values()):
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
            _, outside, _ = DOMAINS.get(name, (0, "", None))
            is_noted = (id(step), outside) in self.hazards
            for what in (outside,) if is_noted else ("overflow", "give no number", outside):
                hazard = self.hazards.get((id(step), what))
                if what == "divide by zero" and hazard is not None and operands[1].size == 1:
                    is_positive = bool(operands[1].ravel()[0] > 0)
                    self.signs.setdefault(id(step), {})[is_positive] = arguments
                if hazard is None or hazard.example is None:
                    self._show(step, what, operands, results, arguments)

        with evaluate.watching(see):
            self.evaluator(self.func, arguments)

    def _show(
        self,
        step: Step,
        what: str,
        operands: Sequence[Array],
        results: Sequence[Array],
        arguments: Sequence[Array],
    ) -> None:
        """Note arguments for which a step does what a hazard says."""
        found = _shown(step, what, operands, results)
        if found is not None:
            hazard = Hazard(step, what, float(np.min(found)), float(np.max(found)))
            self.hazards.setdefault((id(step), what), hazard).example = arguments

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


def _shown(
    step: Step, what: str, operands: Sequence[Array], results: Sequence[Array]
) -> Array | None:
    """Return the numbers that show a hazard, if there are some: operands outside of a domain, or
    results that are too large.
    """
    op = step.op
    if isinstance(op, RegionOp | Call | Scan) or is_plain_call(op):
        return None
    if not all(x.dtype.kind in _REAL for x in operands):
        return None
    if not what:
        return None
    outside: Array | bool = False
    domain = DOMAINS.get(op.name.partition(".")[2])
    if domain is not None:
        number, _, is_outside = domain
        x, *others = first(operands, number)
        outside = np.asarray(is_outside(x, *others))
        if what == domain[1]:
            return x[outside] if outside.any() else None
    if not operands or not all(np.isfinite(x).all() for x in operands if inexact(x.dtype)):
        return None
    (result, *others) = results
    if others or result.dtype.kind not in _REAL:
        return None
    if inexact(result.dtype):
        is_over = np.isinf(result) if _has_infinity(result.dtype) else np.isnan(result)
        is_of = is_over if what == "overflow" else np.isnan(result) & ~is_over
        found = result[is_of & ~np.asarray(outside)]
        return found if found.size else None
    if what == "give no number":
        return None
    with np.errstate(all="ignore"):
        exact = intervals.computed(op, list(map(Interval.of, operands)), False, True)
    if exact is None:
        return None
    info = np.iinfo(result.dtype)
    found = exact.low[(exact.low < float(info.min)) | (exact.high > float(info.max))]
    return found if found.size else None


def _has_infinity(dtype: np.dtype[Any]) -> bool:
    """True unless numbers that are too large for a dtype become nan."""
    return bool(np.isinf(np.full((), np.inf).astype(dtype)))


def is_plain_call(op: Op) -> bool:
    """True for a call of a function that has rules of its own."""
    return type(op).evaluate is RuledOp.evaluate


_REAL = "fiuV"
