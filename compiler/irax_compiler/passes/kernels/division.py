"""The division of a kernel's arrays among the items that its workgroups compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Attribute, Operation

ATTRIBUTE = "parts"
"""The attribute of a kernel's function that has its division."""


@dataclass(frozen=True)
class Division:
    """The division of arrays among items.

    A function that has one ends with a loop over items, in which all of its effects on arrays are;
    before it, it writes memory of the workgroup's own at most. Workgroups of the first dimension
    share the items; those of the second, if there are several, share each.
    """

    items: int
    parts: tuple[int, ...]
    """The number of equal parts of each array: as many items, one after another, read or write
    elements of each part, and of no other."""

    @property
    def attribute(self) -> Attribute:
        return mlir.integers((self.items, *self.parts))

    @classmethod
    def of(cls, function: Operation) -> Division | None:
        """Return the division that a kernel's function states; None if it states none."""
        if ATTRIBUTE not in function.attributes:
            return None
        numbers: Any = function.attributes[ATTRIBUTE]
        items, *parts = numbers
        return cls(items, tuple(parts))


def equal_parts(size: int, counts: Sequence[int], strides: Sequence[int], span: int) -> int:
    """Return the largest number of equal parts of an array that are apart in the sense of
    `Division`.

    Args:
        size: the number of elements of the array.
        counts: the extents of the loops over items, outermost first.
        strides: for each of these, the distance of neighbours in the array.
        span: the number of elements from an item's first to its last.

    >>> equal_parts(24, [2, 3], [12, 4], 4), equal_parts(24, [2, 3], [12, 1], 10)
    (6, 2)
    >>> equal_parts(24, [2, 3], [0, 0], 24)
    1
    """
    for depth in range(len(counts), 0, -1):
        part, rest = divmod(size, prod(counts[:depth]))
        inner = zip(counts[depth:], strides[depth:], strict=True)
        is_within = span + sum((count - 1) * stride for count, stride in inner) <= part
        wanted = (part * prod(counts[i + 1 : depth]) for i in range(depth))
        outer = zip(counts[:depth], strides[:depth], wanted, strict=True)
        if not rest and is_within and all(c == 1 or s == w for c, s, w in outer):
            return prod(counts[:depth])
    return 1
