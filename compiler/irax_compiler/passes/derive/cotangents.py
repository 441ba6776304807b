"""Cotangents of values, whose selections are applied late.

The transpose of `select(p, x, y)` is a cotangent of x that is zero where p is false. A branch often
has an infinite derivative where it is not taken, and zero times that is nan. So the cotangent goes
through the elementwise operations of the branch whole, and zeros are selected behind them: the
selection drops what is nan there, as it does in forward mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import takewhile

from irax_compiler.mlir import Value, shape_of
from irax_compiler.ops import bitwise
from irax_compiler.ops.comparison import select
from irax_compiler.ops.core import add_tangents, zeros_like


@dataclass(frozen=True)
class Choice:
    """A branch of a selection, which is taken where the predicate is equal to `taken`."""

    predicate: Value
    taken: bool

    def between(self, x: Value, y: Value) -> Value:
        """Return `x` where the branch is taken, and `y` elsewhere."""
        return select(self.predicate, x, y) if self.taken else select(self.predicate, y, x)


@dataclass(frozen=True)
class Cotangent:
    """A cotangent, whose elements count where the branches of all choices are taken."""

    value: Value
    choices: Sequence[Choice] = ()

    def within(self, count: int) -> Cotangent:
        """Return the cotangent with all but the first choices applied."""
        value = self.value
        for choice in reversed(self.choices[count:]):
            value = choice.between(value, zeros_like(value))
        return Cotangent(value, self.choices[:count])

    def applied(self) -> Value:
        """Return the cotangent with all choices applied."""
        return self.within(0).value


class Cotangents:
    """The cotangents of values, which are sums of contributions."""

    def __init__(self) -> None:
        self._found: dict[Value, Cotangent] = {}

    def add(self, value: Value, ct: Cotangent) -> None:
        """Add to the cotangent of a value, which is zero at first."""
        before = self._found.get(value)
        self._found[value] = ct if before is None else _sum(before, ct)

    def take(self, value: Value) -> Cotangent | None:
        """Remove and return the cotangent of a value; None if it is zero."""
        return self._found.pop(value, None)


def _sum(x: Cotangent, y: Cotangent) -> Cotangent:
    """Return the sum of two cotangents, to which the choices that they share still apply."""
    pairs = zip(x.choices, y.choices, strict=False)
    shared = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    common = tuple(x.choices[:shared])
    if len(x.choices) > shared and len(y.choices) > shared:
        choice, other = x.choices[shared], y.choices[shared]
        if choice.predicate == other.predicate:  # the branches of one selection
            of_x, of_y = x.within(shared + 1).value, y.within(shared + 1).value
            return Cotangent(choice.between(of_x, of_y), common)
        either = _either(x.choices[shared:], y.choices[shared:])
        common = common if either is None else (*common, either)
    total = add_tangents(x.within(shared).value, y.within(shared).value)
    assert total is not None
    return Cotangent(total, common)


def _either(first: Sequence[Choice], second: Sequence[Choice]) -> Choice | None:
    """Return the choice of where all branches of the first choices are taken, or all of the second;
    None where predicates have different shapes.
    """
    if len({shape_of(choice.predicate) for choice in (*first, *second)}) > 1:
        return None
    return Choice(bitwise.or_(_all(first), _all(second)), taken=True)


def _all(choices: Sequence[Choice]) -> Value:
    holds = [c.predicate if c.taken else bitwise.not_(c.predicate) for c in choices]
    return reduce(bitwise.and_, holds)
