"""Plans of narrower types: the operations that may be done in bfloat16 or float16.

A shadow run gives the sensitivity of the results to a relative error of each operation, by one
derivative along a random direction. Operations are narrowed in the order of their sensitivities, as
many as trials show to keep the results within the tolerance.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

from irax_compiler import mlir
from irax_compiler.cost import calls_by_function, cost_by_operation
from irax_compiler.locations import Frame, frames
from irax_compiler.mlir import Module
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.passes.optimize.convert_precision import ConvertPrecision, candidates
from irax_compiler.precision import shadow
from irax_compiler.precision.blame import pulled, unit
from irax_compiler.precision.shadow import Both, Run
from irax_compiler.precision.wide import Doubles

Array = np.ndarray[Any, Any]
_NUMBER = re.compile(r'"#op(\d+)"')
_HIDDEN = 1e-30
"""The least size of a result that errors are relative to."""


@dataclass
class Choice:
    """An operation, and the type that it is done in."""

    number: int
    name: str
    frame: Frame | None
    sensitivity: float = np.inf
    """The relative error of the results for a relative error of 1 in each of its elements, of
    random signs; infinite if it was not run."""
    largest: float = 0
    """The size of the largest number that it computes."""
    operations: float = 0
    """The arithmetic that it takes."""
    dtype: str | None = None
    """The narrower type; None if it stays as it is."""


@dataclass
class Plan:
    """The operations of a function that may be done in narrower types."""

    module: Module
    func: str
    tolerance: float
    choices: list[Choice]
    error: float = 0
    """The relative error of the results that the last trial showed, by norms."""
    trials: int = 0
    types: tuple[str, ...] = field(default=())

    @property
    def passes(self) -> list[ConvertPrecision]:
        """The passes that apply it."""
        chosen = {t: tuple(c.number for c in self.choices if c.dtype == t) for t in self.types}
        return [ConvertPrecision(t, numbers) for t, numbers in chosen.items() if numbers]

    @property
    def pipeline(self) -> str:
        """These as text, for `irax opt --pipeline`."""
        return ",".join(map(str, self.passes))

    def applied(self) -> Module:
        """Return a copy of the module in which it is applied."""
        copy = mlir.clone_module(self.module)
        for step in self.passes:
            step.run(copy)
        return copy

    def __str__(self) -> str:
        total = sum(c.operations for c in self.choices) or 1
        narrow = sum(c.operations for c in self.choices if c.dtype)
        head = (
            f"{sum(c.dtype is not None for c in self.choices)} of {len(self.choices)} operations, "
            f"{100 * narrow / total:.0f}% of the arithmetic: relative error {self.error:.1e}, "
            f"tolerance {self.tolerance:.0e}, {self.trials} trials"
        )
        lines: dict[tuple[str, str], list[str]] = {}
        for c in self.choices:
            place = c.frame.place(short=True) if c.frame else "unknown"
            lines.setdefault((place, c.dtype or "as it is"), []).append(c.name)
        told = (f"  {place}  {dtype:8}  {', '.join(n)}" for (place, dtype), n in lines.items())
        return "\n".join([head, *told])


def precision_plan(
    module: Module,
    func: str,
    arguments: Sequence[Array],
    tolerance: float = 1e-3,
    types: Sequence[str] = ("bf16", "f16"),
) -> Plan:
    """Return which operations of a function may be done in narrower types, so that its results for
    some arguments are within a tolerance, relative to their norms, of those in wider arithmetic.
    """
    numbered = mlir.clone_module(module)
    choices: list[Choice] = []
    for number, operation in enumerate(candidates(numbered)):
        frame = next(iter(frames(operation.location)), None)
        choices.append(Choice(number, operation.name.partition(".")[2], frame))
        operation.location = mlir.named(f"#op{number}", operation.location)
    for name, calls in calls_by_function(numbered, func).items():
        for operation, count, cost in cost_by_operation(numbered, name):
            number = _number(operation.location)
            if number is not None:
                work = (cost.flops + cost.transcendentals) * count * calls
                choices[number].operations += work
    run = shadow.run(numbered, func, arguments, Doubles())
    _sensitivities(run, choices)
    plan = Plan(module, func, tolerance, choices, types=tuple(types))
    wanted = [x.wide if isinstance(x, Both) else x for x in run.results]

    def is_within() -> bool:
        plan.trials += 1
        found = Evaluator(plan.applied())(func, arguments)
        plan.error = max(map(_apart, found, wanted), default=0.0)
        return plan.error <= tolerance

    if not is_within():
        return plan
    for name in types:
        _narrow(plan, name, is_within)
    is_within()
    return plan


def _number(location: Any) -> int | None:
    match = _NUMBER.search(str(location))
    return int(match[1]) if match else None


def _apart(x: Array, wanted: Array) -> float:
    """Return the relative distance of two arrays by their norms."""
    if wanted.dtype.kind not in "fc":
        return 0.0 if np.array_equal(x, wanted) else np.inf
    size = max(float(np.linalg.norm(wanted)), _HIDDEN)
    apart = float(np.linalg.norm(x.astype(wanted.dtype) - wanted)) / size
    return apart if np.isfinite(apart) else np.inf


def _sensitivities(run: Run, choices: Sequence[Choice]) -> None:
    random = np.random.default_rng(0)
    slope = np.zeros(run.size + 1, np.complex128 if run.has_complex else np.float64)
    for x in run.results:
        if isinstance(x, Both):
            size = max(float(np.linalg.norm(x.wide)), _HIDDEN)
            np.add.at(slope, x.places, random.choice([-1.0, 1.0], x.wide.shape) / size)
    squares: dict[int, float] = {}
    with np.errstate(all="ignore"):
        for event in reversed(run.events):
            both = [x for x in event.results if isinstance(x, Both)]
            slopes = [x.of_elements(slope) for x in both]
            number = _number(event.step.location)
            if number is not None:
                moved = sum(
                    float(np.sum(np.abs(s * x.wide) ** 2))
                    for s, x in zip(slopes, both, strict=True)
                )
                squares[number] = squares.get(number, 0.0) + moved
                numbers = [*both, *(x for x in event.operands if isinstance(x, Both))]
                largest = max(float(np.max(np.abs(x.wide), initial=0)) for x in numbers)
                choices[number].largest = max(choices[number].largest, largest)
            if any(s.any() for s in slopes):
                pulled(run, event, slopes, slope)
    for number, square in squares.items():
        choices[number].sensitivity = float(np.sqrt(square)) if np.isfinite(square) else np.inf


def _narrow(plan: Plan, name: str, is_within: Callable[[], bool]) -> None:
    """Narrow as many operations as the tolerance allows, the least sensitive ones first."""
    dtype = mlir.DTYPES[name]
    most = float(ml_dtypes.finfo(dtype).max)
    able = [c for c in plan.choices if c.dtype is None and c.largest < most]
    able = sorted((c for c in able if np.isfinite(c.sensitivity)), key=lambda c: c.sensitivity)
    error = np.sqrt(np.cumsum([c.sensitivity**2 for c in able])) * unit(dtype)
    first = int(np.searchsorted(error, plan.tolerance, side="right"))
    low, high, count = 0, len(able) + 1, max(first, 1)
    while low + 1 < high:  # so many are within the tolerance, so many are not
        count = min(max(count, low + 1), high - 1)
        for i, choice in enumerate(able):
            choice.dtype = name if i < count else None
        low, high = (count, high) if is_within() else (low, count)
        count = min(2 * low, (low + high) // 2) if low >= first else (low + high) // 2
    for i, choice in enumerate(able):
        choice.dtype = name if i < low else None
