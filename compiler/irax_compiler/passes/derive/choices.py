"""Choices: the small sets of values that unknown integers may have.

Such are the places of the largest elements of windows, which the derivative of max pooling reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from irax_compiler.ops.comparison import Select
from irax_compiler.ops.core import Op, evaluated, no_calls

MOST_PICKED = 256
"""The most values of an integer that are tried one by one."""


class Choices(NamedTuple):
    """Values of an array, of which each element has one: an array of such arrays."""

    values: np.ndarray

    @property
    def low(self) -> np.ndarray:
        """The least value that each element may have."""
        return self.values.min(0).astype(np.int64)

    @property
    def high(self) -> np.ndarray:
        """The greatest value that each element may have."""
        return self.values.max(0).astype(np.int64)

    def choices(self, together: int | None) -> Iterator[np.ndarray]:
        """Yield arrays that have all choices of all elements or, with a dimension, of all vectors
        along it: the last one or beyond if the elements are no vectors.
        """
        first, places = self.values[0], self._apart(together)
        for numbers in product(range(len(self.values)), repeat=len(places)):
            found = first.copy()
            for place, number in zip(places, numbers, strict=True):
                found[place] = self.values[number][place]
            yield found

    def num_choices(self, together: int | None) -> int:
        """The number of arrays that `choices` yields."""
        return len(self.values) ** len(self._apart(together))

    def _apart(self, together: int | None) -> list[tuple[slice | int, ...]]:
        """The parts of the array that are chosen by themselves: those that have choices."""
        differs = (self.values != self.values[0]).any(0)
        if together is None:
            return [tuple(map(int, place)) for place in np.argwhere(differs)]
        if together >= differs.ndim:
            return [(slice(None),) * differs.ndim] if differs.any() else []
        others = tuple(d for d in range(differs.ndim) if d != together)
        (numbers,) = np.nonzero(differs.any(others))
        return [(*(slice(None),) * together, int(n)) for n in numbers]


def choices_of_result(
    op: Op,
    values: Sequence[np.ndarray | None],
    bounds: Sequence[Any],
) -> Choices | None:
    """Return the choices of an op's only result, for the values of its operands and what else is
    known of them: one has choices, and the others are known; or it is one of several operands that
    are known or have choices.
    """
    if isinstance(op, Select):
        return _selected(values, bounds)
    there = [i for i, x in enumerate(bounds) if isinstance(x, Choices)]
    if len(there) != 1 or not (op.elementwise or op.moves):
        return None
    (place,) = there
    if any(x is None for i, x in enumerate(values) if i != place):
        return None
    given = list(values)
    found = []
    for value in bounds[place].values:
        given[place] = value
        found.append(evaluated(op, no_calls, [np.asarray(x) for x in given])[0])
    return Choices(np.stack(found))


def _selected(values: Sequence[np.ndarray | None], bounds: Sequence[Any]) -> Choices | None:
    """The choices of what is one of two operands, where it is not known which."""
    first, second = map(_values, values[1:], bounds[1:])
    if first is None or second is None or not 1 < len(first) + len(second) <= MOST_PICKED:
        return None
    # Where it is known, the values of the other are not among the choices.
    is_first, is_second = False, False
    if values[0] is not None:
        is_first, is_second = values[0], ~values[0]
    elif bounds[0] is not None:
        is_first, is_second = bounds[0].low > 0, bounds[0].high < 1
    found = [*np.where(is_second, second[0], first), *np.where(is_first, first[0], second)]
    different = [
        x for i, x in enumerate(found) if not any(map(partial(np.array_equal, x), found[:i]))
    ]
    return Choices(np.stack(different))


def _values(value: np.ndarray | None, bounds: Any) -> np.ndarray | None:
    """The values of an operand, if they are integers."""
    if value is not None:
        return value[None] if value.dtype.kind in "iu" else None
    return bounds.values if isinstance(bounds, Choices) else None
