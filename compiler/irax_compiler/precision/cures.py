"""Cures: forms of expressions that lose digits, and others that keep them.

A rule looks at an event of a shadow run, and at the events that made its operands, whatever moved
them since.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from irax_compiler.precision.shadow import NOWHERE, Both, Event, Operand, Run


@dataclass(frozen=True)
class Cure:
    """A change of an expression."""

    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.before}  ->  {self.after}"


class Made:
    """The events of a run by the places of what they made."""

    def __init__(self, run: Run) -> None:
        self._events: list[Event] = []
        self._starts: list[int] = []
        for event in run.events:
            for x in event.results:
                if isinstance(x, Both) and isinstance(x.where, int):
                    self._starts.append(x.where)
                    self._events.append(event)
        self._first = self._starts[0] if self._starts else 0

    def by(self, x: Operand, *names: str) -> Event | None:
        """Return the event that made the first element of an array, before conversions, if its op
        has one of some names.
        """
        place = _place(x)
        if place < self._first:
            return None
        event = self._events[bisect_right(self._starts, place) - 1]
        if name_of(event) == "convert":
            return self.by(event.operands[0], *names)
        return event if name_of(event) in names else None


def name_of(event: Event) -> str:
    """Return the name of an event's op, without its dialect."""
    return event.step.op.name.partition(".")[2]


def _place(x: Operand) -> int:
    if not isinstance(x, Both) or not x.narrow.size:
        return NOWHERE
    return x.where if isinstance(x.where, int) else int(x.where.flat[0])


def _is(x: Operand, number: float) -> bool:
    return isinstance(x, Both) and bool((x.narrow == number).all())


def _other(event: Event, number: float) -> Operand | None:
    """Return the operand of a sum or product that is not a number, if the other one is."""
    x, y = event.operands
    return y if _is(x, number) else x if _is(y, number) else None


Rule = Callable[[Event, Made], "tuple[Cure, tuple[Event, ...]] | None"]
_RULES: dict[str, list[Rule]] = {}


def _rule(*names: str) -> Callable[[Rule], Rule]:
    """Decorator: the rule looks at events of ops of these names."""

    def register(rule: Rule) -> Rule:
        for name in names:
            _RULES.setdefault(name, []).append(rule)
        return rule

    return register


def found(run: Run, events: Iterable[Event]) -> list[tuple[Cure, tuple[Event, ...]]]:
    """Return the cures for some events, with the events that they replace."""
    made = Made(run)
    every = (rule(e, made) for e in events for rule in _RULES.get(name_of(e), ()))
    return [cure for cure in every if cure is not None]


@_rule("log")
def _logarithm(event: Event, made: Made):
    (x,) = event.operands
    if (total := made.by(x, "add")) and _other(total, 1) is not None:
        return Cure("log(1 + x)", "log1p(x)"), (event, total)
    if (total := made.by(x, "reduce")) and (grown := made.by(total.operands[0], "exponential")):
        return Cure("log(sum(exp(x)))", "logsumexp(x)"), (event, total, grown)
    if (share := made.by(x, "divide")) and made.by(share.operands[0], "exponential"):
        return Cure("log(exp(x) / sum(exp(x)))", "log_softmax(x)"), (event, share)
    if grown := made.by(x, "cosh"):
        return Cure("log(cosh(x))", "logaddexp(x, -x) - log(2)"), (event, grown)
    return None


@_rule("subtract")
def _difference_from_one(event: Event, made: Made):
    x, y = event.operands
    if _is(y, 1) and (grown := made.by(x, "exponential")):
        return Cure("exp(x) - 1", "expm1(x)"), (event, grown)
    if not _is(x, 1):
        return None
    for name, before, after in (
        ("cosine", "1 - cos(x)", "2 * sin(x / 2)**2"),
        ("erf", "1 - erf(x)", "erfc(x)"),
        ("logistic", "1 - sigmoid(x)", "sigmoid(-x)"),
        ("tanh", "1 - tanh(x)", "2 * sigmoid(-2 * x)"),
    ):
        if inner := made.by(y, name):
            return Cure(before, after), (event, inner)
    return None


def _square(x: Operand, made: Made) -> Event | None:
    event = made.by(x, "multiply", "square")
    if event is None or len({_place(y) for y in event.operands}) > 1:
        return None
    return event


def _mean_of_squares(x: Operand, made: Made) -> Event | None:
    """Return the sum of squares that was divided."""
    mean = made.by(x, "divide", "multiply")
    total = mean and made.by(mean.operands[0], "reduce")
    return total if total and _square(total.operands[0], made) else None


@_rule("subtract")
def _difference(event: Event, made: Made):
    x, y = event.operands
    up, down = made.by(x, "exponential"), made.by(y, "exponential")
    if up and down and made.by(down.operands[0], "negate"):
        return Cure("(exp(x) - exp(-x)) / 2", "sinh(x)"), (event, up, down)
    if (up := made.by(x, "sqrt")) and (down := made.by(y, "sqrt")):
        return Cure("sqrt(x) - sqrt(y)", "(x - y) / (sqrt(x) + sqrt(y))"), (event, up, down)
    if (squares := _mean_of_squares(x, made)) and _square(y, made):
        return Cure("mean(x * x) - mean(x)**2", "mean((x - mean(x))**2)"), (event, squares)
    if (first := _square(x, made)) and (second := _square(y, made)):
        return Cure("x * x - y * y", "(x - y) * (x + y)"), (event, first, second)
    return None


def _terms(event: Event, made: Made, depth: int = 2) -> list[Operand]:
    """Return the terms of a sum, whatever their signs."""
    found: list[Operand] = []
    for x in event.operands:
        inner = made.by(x, "add", "subtract") if depth else None
        found += [x] if inner is None else _terms(inner, made, depth - 1)
    return found


def _is_sum_of_squares(x: Operand, made: Made) -> bool:
    total = made.by(x, "reduce", "dot_general")
    if total is None:
        return False
    if name_of(total) == "reduce":
        return _square(total.operands[0], made) is not None
    return len({_place(y) for y in total.operands}) == 1


def _is_product(x: Operand, made: Made) -> bool:
    twice = made.by(x, "multiply")
    parts = [x] if twice is None else twice.operands
    return any(made.by(y, "dot_general") is not None for y in parts)


@_rule("add", "subtract")
def _squared_distance(event: Event, made: Made):
    terms = _terms(event, made)
    squares = [_is_sum_of_squares(x, made) for x in terms]
    if len(terms) != 3 or sum(squares) != 2 or not _is_product(terms[squares.index(False)], made):
        return None
    return Cure("sum(x * x) - 2 * dot(x, y) + sum(y * y)", "sum((x - y)**2)"), (event,)


@_rule("subtract")
def _difference_of_products(event: Event, made: Made):
    x, y = (made.by(z, "multiply") for z in event.operands)
    if x is None or y is None or _square(event.operands[0], made):
        return None
    factors = [_place(z) for product in (x, y) for z in product.operands]
    if NOWHERE in factors or len(set(factors)) < 4:
        return None
    after = "the same in float64, or with the rounding errors of both products added (by an fma)"
    return Cure("a * d - b * c", after), (event, x, y)


@_rule("dot_general")
def _inverse(event: Event, made: Made):
    for x in event.operands:
        if (found := made.by(x, "solve")) and _is_identity(found.operands[1]):
            return Cure("inv(a) @ b", "solve(a, b)"), (event, found)
    return None


def _is_identity(x: Operand) -> bool:
    numbers = x.narrow if isinstance(x, Both) else x
    return numbers.ndim > 1 and bool((numbers == np.eye(*numbers.shape[-2:])).all())


@_rule("sqrt")
def _length(event: Event, made: Made):
    (x,) = event.operands
    if total := made.by(x, "add"):
        first, second = (_square(y, made) for y in total.operands)
        if first and second:
            return Cure("sqrt(x * x + y * y)", "hypot(x, y)"), (event, total, first, second)
    if (total := made.by(x, "reduce")) and (squares := _square(total.operands[0], made)):
        after = "s * sqrt(sum((x / s)**2)), with s = max(abs(x))"
        return Cure("sqrt(sum(x * x))", after), (event, total, squares)
    return None


@_rule("acos")
def _angle(event: Event, made: Made):
    return Cure("arccos(dot(x, y) / (|x| |y|))", "arctan2(|cross(x, y)|, dot(x, y))"), (event,)


@_rule("add")
def _sum_in_a_loop(event: Event, made: Made):
    results = [x for x in event.results if isinstance(x, Both)]
    narrow = results[0].narrow.dtype
    if event.turn is None or ml_dtypes.finfo(narrow).bits > 16:
        return None
    before = f"total + x in a loop of {np.dtype(narrow).name}"
    return Cure(before, "sum(x), or a total in float32"), (event,)
