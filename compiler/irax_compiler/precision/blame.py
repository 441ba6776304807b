"""The lines that cost a result its digits, from a shadow run.

The element with the fewest digits is followed back through the events of the run, by derivatives.
So each op gets what its own rounding adds to the error of that element, and the share of the error
that passes through it. An op loses digits where the element is more sensitive to relative errors of
the op's operands than to those of its result: a subtraction of nearly equal numbers.
"""

from __future__ import annotations

import cmath
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from irax_compiler.ops import elementwise
from irax_compiler.ops.core import ArrayType
from irax_compiler.precision.pullbacks import pullback
from irax_compiler.precision.shadow import Both, Event, Run
from irax_compiler.precision.wide import widened

Array = np.ndarray[Any, Any]


@cache
def _tiny(dtype: np.dtype[Any]) -> Any:
    """The smallest normal number of a dtype, of the dtype of its real part."""
    info = ml_dtypes.finfo(dtype)
    return info.dtype.type(info.tiny)


@cache
def unit(dtype: np.dtype[Any]) -> float:
    """Return the largest relative error of rounding to a dtype: half of its epsilon."""
    return float(ml_dtypes.finfo(dtype).eps) / 2


def digits_of(dtype: np.dtype[Any]) -> float:
    """Return the decimal digits that a dtype has: 7.2 for float32."""
    return -float(np.log10(unit(dtype)))


def errors(run: Run, x: Both) -> Array:
    """Return the narrow numbers less the wide ones; nan where only one of the two is finite. It is
    asked in the context of the arithmetic, without errors of NumPy's.
    """
    if x.errors is None:
        arithmetic = run.arithmetic
        lifted = arithmetic.lifted(x.narrow)
        x.errors = arithmetic.difference(lifted, x.wide)
        if not _is_finite(x.errors):
            narrow, wide = arithmetic.lowered(lifted), arithmetic.lowered(x.wide)
            bounded = arithmetic.finite(x.wide)  # it may be finite, and beyond float64
            agree = (narrow == wide) | (np.isnan(narrow) & np.isnan(wide))
            same = np.where(agree & ~bounded, 0, np.nan)
            x.errors = np.where(np.isfinite(narrow) & bounded, x.errors, same)
    return x.errors


def _is_finite(x: Array) -> bool:
    if x.ndim:
        return bool(np.isfinite(x).all())
    return cmath.isfinite(x[()])


def digits(run: Run, x: Both) -> Array:
    """Return the digits that hold, for each element: of its size, or of the root mean square of
    all, if that is larger. Of the elements of a product of matrices, some are near zero by chance.
    """
    most = digits_of(x.narrow.dtype)
    with run.arithmetic.context(), np.errstate(all="ignore"):
        wide = np.abs(run.arithmetic.lowered(x.wide))
        size = np.where(np.isfinite(wide), wide, 0)
        scale = np.linalg.norm(size.ravel()) / np.sqrt(max(1, np.count_nonzero(size)))
        least = float(ml_dtypes.finfo(x.narrow.dtype).smallest_subnormal)
        relative = np.abs(errors(run, x)) / np.maximum(np.maximum(size, scale), least)
        found = -np.log10(np.where(relative == 0, unit(x.narrow.dtype), relative))
    return np.clip(np.where(np.isnan(relative), 0, found), 0, most) + 0.0  # no -0.0


_EXPLAINED = 0.1
"""The least share of an error that ops make; of one below, overflows may be the reason."""


@dataclass
class Costs:
    """The costs of an op, or of all those of a line, to the element that is followed back."""

    own: float = 0
    """The share of its error that their own roundings make."""
    through: float = 0
    """The largest share of its error that passes through one of them."""
    amplified: float = 0
    """The digits by which they amplify errors of their operands."""
    steepest: float = 0
    """The most digits by which one of them does."""
    added: float = 0
    """The error that they add to it."""
    weight: float = 0
    """The error that a relative error of one correct rounding of one of them would add."""
    absorbed: int = 0
    """Elements to which an addition added nothing."""
    overflows: int = 0
    underflows: int = 0
    names: Counter[str] = field(default_factory=Counter)
    """The digits that they cost, by the name of the op."""
    by_turn: dict[int, float] = field(default_factory=dict)
    """The relative error after each iteration, of ops in a loop."""

    @property
    def digits(self) -> float:
        """The digits that they cost: all, where numbers overflow."""
        if self.overflows:
            return np.inf
        return max(0.0, self.amplified) + self.rounded

    @property
    def rounded(self) -> float:
        """The digits that the number of their own roundings costs."""
        digits = np.log10(max(1.0, self.added / self.weight)) if self.weight else 0.0
        return float(digits) * min(1.0, self.own)

    def include(self, other: Costs) -> None:
        """Add the costs of another op of the same line."""
        self.own += other.own
        self.through = max(self.through, other.through)
        self.amplified += other.amplified
        self.steepest = max(self.steepest, other.steepest)
        self.added += other.added
        self.weight = max(self.weight, other.weight)
        self.absorbed += other.absorbed
        self.overflows += other.overflows
        self.underflows += other.underflows
        self.names.update(other.names)
        for turn, error in other.by_turn.items():
            self.by_turn[turn] = max(self.by_turn.get(turn, 0.0), error)


@dataclass
class Blame:
    """The costs by event, and what could not be followed."""

    by_event: list[tuple[Event, Costs]]
    condition: float
    """The relative error of the element for relative errors of 1 in all arguments."""
    vanished: bool
    """True if a number lost all digits on the way: then the wider run may have none, either; or if
    one was too large for that."""
    roundings: float
    """The error of the element, to first order, for relative errors of 1 in the results of all ops:
    times the unit of an arithmetic, that of its own roundings."""


def follow(run: Run, place: int, error: float, value: float) -> Blame:
    """Follow an element back. It is given by its place, its error and its wide value."""
    is_lost = not np.isfinite(error)
    if is_lost:
        error = value
    slope = np.zeros(run.size + 1, np.complex128 if run.has_complex else np.float64)
    slope[place] = 1
    found: list[tuple[Event, Costs]] = []
    vanished, roundings = False, 0.0
    with run.arithmetic.context(), np.errstate(all="ignore"):
        for event in reversed(run.events):
            both = [x for x in event.results if isinstance(x, Both)]
            slopes = [x.of_elements(slope) for x in both]
            if any(s.any() for s in slopes):
                costs = _costs(run, event, both, slopes, slope, abs(error) or np.inf)
                found.append((event, costs))
                roundings += costs.weight / unit(both[0].narrow.dtype)
            vanished = vanished or any(_has_vanished(run, x) for x in both)
            vanished = vanished or _is_too_large(run, event, both)
        total = 0.0
        for x in run.arguments:
            if isinstance(x, Both):
                total += _size(x.of_elements(slope), run.arithmetic.lowered(x.wide))
        condition = total / abs(value) if value else np.inf
        explained = sum(costs.own for _, costs in found)
        is_lost = is_lost or (abs(error) > 0.5 * abs(value) and explained < _EXPLAINED)
        if is_lost and not any(costs.overflows for _, costs in found):
            found += _overflows(run)
    return Blame(found[::-1], condition, vanished, roundings)


def name_of(event: Event) -> str:
    """Return the name of an event's op, without its dialect."""
    return event.step.op.name.partition(".")[2]


def _overflows(run: Run) -> list[tuple[Event, Costs]]:
    """Return the events that overflow, of finite numbers, the last one first. They may have no part
    in a derivative: that of g / (1 + g) is 0 for large numbers.
    """
    found = []
    for event in reversed(run.events):
        both = [x for x in event.results if isinstance(x, Both)]
        if all(np.isfinite(x.narrow).all() for x in both):
            continue
        pairs = zip(both, _local_errors(run, event), strict=True)
        count = sum(int(np.count_nonzero(~np.isfinite(x.narrow) & np.isnan(e))) for x, e in pairs)
        if count:
            found.append((event, Costs(overflows=count, names=Counter({name_of(event): 99}))))
    return found


def _has_vanished(run: Run, x: Both) -> bool:
    apart, wide = errors(run, x), run.arithmetic.lowered(x.wide)
    if apart.size == 1:
        return bool(abs(apart.item()) > 0.5 * abs(wide.item()))
    apart, wide = np.abs(apart), np.abs(wide)
    return bool(
        np.fmax.reduce(apart, None, initial=0) > 0.5 * np.fmax.reduce(wide, None, initial=0)
    )


def _is_too_large(run: Run, event: Event, results: Sequence[Both]) -> bool:
    """True if the wider run overflows, too."""
    if not any(np.isinf(run.arithmetic.lowered(x.wide)).any() for x in results):
        return False
    return all(_is_finite(x.narrow) for x in event.operands if isinstance(x, Both))


def _size(*arrays: Array) -> float:
    """Return the sum of the sizes of elements, or of the products of two arrays; without nans."""
    each = arrays[0] if len(arrays) == 1 else arrays[0] * arrays[1]
    if each.size == 1:
        total = abs(each.item())
        return total if total == total else 0.0
    each = np.abs(each)
    total = float(each.sum())
    return total if total == total else float(np.nansum(each))


def _costs(
    run: Run,
    event: Event,
    results: Sequence[Both],
    slopes: Sequence[Array],
    slope: Array,
    error: float,
) -> Costs:
    """Return the costs of an event, and add to the slopes of its operands."""
    arithmetic = run.arithmetic
    costs = Costs()
    local = _local_errors(run, event)
    values = [arithmetic.lowered(x.wide) for x in results]
    weight = sum(_size(s, v) for s, v in zip(slopes, values, strict=True))
    added = sum(_size(s, e) for s, e in zip(slopes, local, strict=True))
    costs.own = added / error
    costs.through = (
        sum(_size(s, errors(run, x)) for s, x in zip(slopes, results, strict=True)) / error
    )
    costs.added, costs.weight = added, weight * unit(results[0].narrow.dtype)
    incoming = pulled(run, event, slopes, slope)
    if weight and incoming:
        incoming = _joined(incoming)
        heaviest = max(_size(s, arithmetic.lowered(x.wide)) for s, x in incoming)
        passing = max(_size(s, errors(run, x)) for s, x in incoming)
        costs.through = max(costs.through, passing / error)
        if heaviest:
            costs.amplified = costs.steepest = float(np.log10(heaviest / weight)) * min(
                1.0, passing / error
            )
    _exceptions(run, event, results, slopes, local, costs)
    if event.turn is not None and (size := max(map(_size, values))):
        costs.by_turn[event.turn] = max(_size(errors(run, x)) for x in results) / size
    costs.names[name_of(event)] = min(costs.digits, 99)  # pyright: ignore
    return costs


def _joined(incoming: Sequence[tuple[Array, Both]]) -> list[tuple[Array, Both]]:
    """Return the slopes of operands by their elements: of one that is there several times, such as
    in the difference of an element and itself, the first time has the sum and the others nothing.
    """
    exact = [pair for pair in incoming if pair[1].is_exact]
    if exact:
        return [*exact, *_joined([pair for pair in incoming if not pair[1].is_exact])]
    sizes = {s.size for s, _ in incoming}
    if len(sizes) <= 1 and all(isinstance(x.where, int) for _, x in incoming):
        by_start: dict[Any, tuple[Array, Both]] = {}
        for s, x in incoming:
            there = by_start.get(x.where)
            by_start[x.where] = (s if there is None else there[0] + s, x)
        return list(by_start.values())
    places = np.concatenate([x.places.ravel() for _, x in incoming])
    every = np.concatenate([s.ravel() for s, _ in incoming])
    _, first, number = np.unique(places, return_index=True, return_inverse=True)
    if first.size == places.size:
        return list(incoming)
    totals = np.zeros(first.size, every.dtype)
    np.add.at(totals, number, every)
    joined = np.zeros_like(every)
    joined[first] = totals
    parts = np.split(joined, np.cumsum([s.size for s, _ in incoming])[:-1])
    return [(p.reshape(s.shape), x) for p, (s, x) in zip(parts, incoming, strict=True)]


def _local_errors(run: Run, event: Event) -> list[Array]:
    """Return what an op adds to the error: its result, less that of the wide op on the same
    operands.
    """
    arithmetic = run.arithmetic
    given = [arithmetic.lifted(x.narrow) if isinstance(x, Both) else x for x in event.operands]
    exact = arithmetic.evaluated(event.step.op, _no_calls, given)
    return [
        errors(run, Both(x.narrow, e, x.where))
        for x, e in zip(event.results, exact, strict=True)
        if isinstance(x, Both)
    ]


def _no_calls(name: str, arguments: Sequence[Array]) -> Sequence[Array]:
    raise TypeError(name)


def pulled(
    run: Run, event: Event, slopes: Sequence[Array], slope: Array
) -> list[tuple[Array, Both]]:
    """Add an op's part to the slopes of its operands; return it, with the operands. `slopes` are
    those of its results, and `slope` has those of all places.
    """
    operands = [
        run.arithmetic.lowered(x.wide) if isinstance(x, Both) else x for x in event.operands
    ]
    types = tuple(ArrayType(x.shape, x.dtype) for x in operands)
    pull = pullback(widened(event.step.op), types)
    if pull is None:
        run.unknown[event.step.op.name] += 1
        return []
    results = [x for x in event.results if isinstance(x, Both)]
    given = [
        s if x.narrow.dtype.kind == "c" else s.real for s, x in zip(slopes, results, strict=True)
    ]
    found = pull(operands, given)
    floats = [x for x in event.operands if isinstance(x, Both)]
    parts = [
        (s if _is_finite(s) else np.nan_to_num(s, posinf=np.inf, neginf=-np.inf), x)
        for s, x in zip(found, floats, strict=True)
    ]
    for part, x in parts:
        if isinstance(x.where, int):
            slope[x.where : x.where + part.size] += part.reshape(-1)
        elif not x.is_exact:
            np.add.at(slope, x.where.ravel(), part.ravel())
    slope[-1] = 0
    return parts


def _exceptions(
    run: Run,
    event: Event,
    results: Sequence[Both],
    slopes: Sequence[Array],
    local: Sequence[Array],
    costs: Costs,
) -> None:
    """Count additions that add nothing, overflows and underflows, where the element depends on
    them.
    """
    operands = [x for x in event.operands if isinstance(x, Both)]
    for x, s, e in zip(results, slopes, local, strict=True):
        rounded = (s != 0) & (e != 0)  # nan is not 0
        if not rounded.any():
            continue
        size = np.abs(x.narrow)
        costs.overflows += int(np.count_nonzero(rounded & ~np.isfinite(size)))
        costs.underflows += int(np.count_nonzero(rounded & (size < _tiny(x.narrow.dtype))))
        if event.step.op in _SUMS and len(operands) == 2:
            larger, smaller = operands
            for a, b in ((larger, smaller), (smaller, larger)):
                nothing = (x.narrow == a.narrow) & (b.narrow != 0) & rounded
                costs.absorbed += int(np.count_nonzero(nothing))


_SUMS = (elementwise.add, elementwise.subtract)
