"""Groups of values in a row: what a scan's operands are, and its results.

From JAX 0.11 on, the parameters `ft_in` and `ft_out` of its `scan_p` say which operands are
constants, which are carried and which have a row for each step, and likewise for the results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Groups:
    """Values in a row, of which some are groups themselves."""

    elts: tuple[Any, ...]

    @property
    def vals(self) -> tuple[Any, ...]:
        """The values of all groups."""
        return tuple(self)

    def __iter__(self) -> Iterator[Any]:
        for element in self.elts:
            if isinstance(element, Groups):
                yield from element
            else:
                yield element

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return repr(self.elts)

    def update(self, vals: Iterable[Any]) -> Groups:
        """Return the same groups of other values.

        Raises:
            ValueError: there are more or fewer of them than there were.
        """
        given = list(vals)
        if len(given) != len(self):
            raise ValueError(
                f"expected {len(self)} values, one for each there is, got {len(given)}"
            )
        return self._of(iter(given))

    def _of(self, vals: Iterator[Any]) -> Groups:
        return Groups(
            tuple(x._of(vals) if isinstance(x, Groups) else next(vals) for x in self.elts)
        )

    def unpack(self) -> tuple[Any, ...]:
        """Return the groups."""
        return self.elts


def nones(count: int) -> Groups:
    """Return a group of places for values.

    >>> pack((nones(1), nones(2)))
    ((None,), (None, None))
    """
    return Groups((None,) * count)


def pack(groups: Iterable[Any]) -> Groups:
    """Return groups one after the other.

    >>> [group.vals for group in pack((nones(1), nones(2))).update("abc").unpack()]
    [('a',), ('b', 'c')]
    """
    return Groups(tuple(groups))


def sizes(groups: Groups) -> list[int]:
    """Return the number of values of each group."""
    return [len(group) for group in groups.unpack()]
