"""Numbers beside their maximum, as in a softmax: x - max(x) is at most 0, and 0 somewhere. So the
sum of its exponentials is at least 1, which intervals alone do not know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from irax_compiler.ops import comparison, elementwise
from irax_compiler.ops.core import Op, evaluated, no_calls
from irax_compiler.ops.reductions.reduce import Reduce
from irax_compiler.precision.intervals import Interval
from irax_compiler.precision.kinds import moves

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class _Maximum:
    """Numbers that are maxima of groups of an array's elements."""

    of: Interval
    groups: Array
    """The group that each number is of."""
    members: Array
    """The group that each element of the array is in."""


@dataclass(frozen=True)
class _Reached:
    """Numbers of which one in each group is known."""

    value: float
    members: Array


class Extremes:
    """The facts about the values of a function that intervals do not say."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Interval, _Maximum | _Reached]] = {}

    def _of(self, x: Interval | Array) -> _Maximum | _Reached | None:
        there = self._known.get(id(x))
        return None if there is None else there[1]

    def narrowed(self, op: Op, operands: Sequence[Interval | Array], found: Interval) -> Interval:
        """Return the result of an op, narrower if more is known of it, and note what is."""
        narrower, fact = self._fact(op, operands, found)
        if fact is not None:
            self._known[id(narrower)] = narrower, fact
        return narrower

    def _fact(
        self, op: Op, operands: Sequence[Interval | Array], found: Interval
    ) -> tuple[Interval, _Maximum | _Reached | None]:
        x, fact = operands[0], self._of(operands[0])
        if isinstance(op, Reduce) and isinstance(x, Interval):
            groups = np.arange(found.low.size).reshape(found.low.shape)
            members = _members(x.low.shape, op.dimensions, groups)
            if op.combiner == "maximum" and prod(x.low.shape):
                return found, _Maximum(x, groups, members)
            if (
                op.combiner == "add"
                and isinstance(fact, _Reached)
                and np.array_equal(members, fact.members)
                and (x.low >= 0).all()
            ):
                return replace(found, low=np.fmax(found.low, fact.value)), None
        elif op is elementwise.subtract:
            largest = self._of(operands[1])
            if (
                isinstance(largest, _Maximum)
                and largest.of is x
                and np.array_equal(largest.groups, largest.members)
            ):
                at_most = replace(found, high=np.fmin(found.high, 0))
                return at_most, _Reached(0.0, largest.members)
        elif op is elementwise.exponential and isinstance(fact, _Reached):
            return found, replace(fact, value=float(np.exp(fact.value)))
        elif isinstance(op, comparison.Select):
            chosen, fact = operands[0], self._of(operands[1])
            if isinstance(chosen, Interval) and (chosen.low > 0).all():
                return found, fact
        elif moves(op) and len(operands) == 1 and isinstance(fact, _Maximum):
            (groups,) = evaluated(op, no_calls, [fact.groups])
            return found, replace(fact, groups=groups)
        return found, None


def _members(shape: Sequence[int], dimensions: Sequence[int], groups: Array) -> Array:
    """Return the group of each element of an array that is reduced along some dimensions."""
    return np.broadcast_to(np.expand_dims(groups, tuple(dimensions)), shape)
