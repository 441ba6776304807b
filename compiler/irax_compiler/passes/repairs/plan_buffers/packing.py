"""Places for arrays that live at different times, in a few ranges of memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ALIGNMENT = 64
"""IREE's alignment of arrays in a block of memory."""
MANY = 512
"""The number of arrays from which just one order is tried."""


@dataclass(frozen=True)
class Item:
    """An array: its bytes, and the first and the last step in which it is used."""

    size: int
    first: int
    last: int

    @property
    def steps(self) -> int:
        return 1 + self.last - self.first


@dataclass(frozen=True)
class Used:
    """A part of a result's memory, which is the result's own from a step on."""

    offset: int
    size: int
    first: int


@dataclass(frozen=True)
class Free:
    """A result's memory, up to the steps in which its parts are first used."""

    size: int
    used: Sequence[Used]


@dataclass(frozen=True)
class Home:
    """The place of an array: the number of a result, or None for memory of the arrays' own."""

    result: int | None
    offset: int


def pack(items: Sequence[Item], results: Sequence[Free]) -> tuple[list[Home], int]:
    """Return the place of each item, and the bytes that are needed beside the results' memory: the
    fewest that are found by placing items in several orders.
    """
    numbers = range(len(items))
    orders = [sorted(numbers, key=lambda i: (-items[i].size, items[i].first))]
    if len(items) <= MANY:
        orders.append(sorted(numbers, key=lambda i: -items[i].size * items[i].steps))
        orders.append(sorted(numbers, key=lambda i: (items[i].first, -items[i].size)))
    found = [_packed(order, items, results) for order in orders]
    return min(found, key=lambda x: x[1])


def _packed(
    order: Sequence[int], items: Sequence[Item], results: Sequence[Free]
) -> tuple[list[Home], int]:
    """Place items one after the other, each in the smallest gap that it fits in."""
    places: list[Home | None] = [None] * len(items)
    inside: list[list[int]] = [[] for _ in (*results, None)]
    """The items in each result, and in the memory of their own."""
    most = 0
    for i in order:
        item, best = items[i], None
        for number, result in enumerate(results):
            if result.size < item.size:
                continue
            if best is not None and best[0] == item.size:
                break  # no gap is smaller
            taken = [(x.offset, x.size) for x in result.used if x.first <= item.last]
            taken += _beside(item, inside[number], items, places)
            gap = _smallest_gap(item.size, taken, result.size)
            if gap is not None and (best is None or gap[0] < best[0]):
                best = gap[0], Home(number, gap[1])
        if best is None:
            taken = _beside(item, inside[-1], items, places)
            gap = _smallest_gap(item.size, taken, most)
            behind = max((aligned(offset + size) for offset, size in taken), default=0)
            offset = behind if gap is None else gap[1]
            best = 0, Home(None, offset)
            most = max(most, aligned(offset + item.size))
        places[i] = best[1]
        inside[-1 if best[1].result is None else best[1].result].append(i)
    return [x for x in places if x is not None], most


def _beside(
    item: Item, others: Sequence[int], items: Sequence[Item], places: Sequence[Home | None]
) -> list[tuple[int, int]]:
    """Return the offsets and sizes of others that are used in some of an item's steps."""
    found = []
    for j in others:
        other, place = items[j], places[j]
        if place is not None and other.first <= item.last and item.first <= other.last:
            found.append((place.offset, other.size))
    return found


def _smallest_gap(size: int, taken: list[tuple[int, int]], end: int) -> tuple[int, int] | None:
    """Return the size and the offset of the smallest gap before `end` that has room for so many
    bytes.
    """
    best, at = None, 0
    for offset, length in sorted([*taken, (end, 0)]):
        gap = offset - at
        if gap >= size and (best is None or gap < best[0]):
            best = gap, at
        at = max(at, aligned(offset + length))
    return best


def aligned(size: int) -> int:
    """Return the next multiple of the alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT
