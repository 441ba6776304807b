"""Patterns in shadow runs: what made the operands of an op, whatever moved them since."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from irax_compiler.precision.blame import Costs, errors, name_of
from irax_compiler.precision.shadow import NOWHERE, Both, Event, Operand, Run


class Made:
    """The events of a run by the places of what they made, and what its operations cost."""

    def __init__(self, run: Run, costs: Iterable[tuple[Event, Costs]]) -> None:
        self._events: list[Event] = []
        self._starts: list[int] = []
        for event in run.events:
            for x in event.results:
                if isinstance(x, Both) and isinstance(x.where, int):
                    self._starts.append(x.where)
                    self._events.append(event)
        self._run = run
        self._costs: dict[int, Costs] = {}
        for event, cost in costs:
            self._costs.setdefault(id(event.step), Costs()).include(cost)
        self._first = self._starts[0] if self._starts else 0

    def by(self, x: Operand, *names: str) -> Event | None:
        """Return the event that made the first element of an array, before conversions, if its op
        has one of some names.
        """
        place = place_of(x)
        if place < self._first:
            return None
        event = self._events[bisect_right(self._starts, place) - 1]
        if name_of(event) == "convert":
            return self.by(event.operands[0], *names)
        return event if name_of(event) in names else None

    def is_exact(self, x: Operand) -> bool:
        """True if the numbers of an array have no error."""
        return not isinstance(x, Both) or not errors(self._run, x).any()

    def costs(self, event: Event) -> Costs:
        """Return the costs of an event's operation, in all its iterations."""
        return self._costs.get(id(event.step), Costs())


def place_of(x: Operand) -> int:
    """Return the place of the first element of an array."""
    if not isinstance(x, Both) or not x.narrow.size:
        return NOWHERE
    return x.where if isinstance(x.where, int) else int(x.where.flat[0])


def is_number(x: Operand, number: float) -> bool:
    """True if all elements of an array of floats are a number."""
    return isinstance(x, Both) and bool((x.narrow == number).all())


def other_operand(event: Event, number: float) -> Operand | None:
    """Return the operand of a sum or product that is not a number, if the other one is."""
    x, y = event.operands
    return y if is_number(x, number) else x if is_number(y, number) else None


def square(x: Operand, made: Made) -> Event | None:
    """Return the event that made an array as a square."""
    event = made.by(x, "multiply", "square")
    if event is None or len({place_of(y) for y in event.operands}) > 1:
        return None
    return event


def sum_of_squares(x: Operand, made: Made) -> Event | None:
    """Return the event that made an array as a sum of squares along a dimension."""
    total = made.by(x, "reduce", "dot_general")
    if total is None:
        return None
    if name_of(total) == "reduce":
        return total if square(total.operands[0], made) else None
    return total if len({place_of(y) for y in total.operands}) == 1 else None


def terms(event: Event, made: Made, depth: int = 2) -> list[Operand]:
    """Return the terms of a sum, whatever their signs."""
    found: list[Operand] = []
    for x in event.operands:
        inner = made.by(x, "add", "subtract") if depth else None
        found += [x] if inner is None else terms(inner, made, depth - 1)
    return found
