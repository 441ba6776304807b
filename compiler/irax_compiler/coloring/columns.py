"""Colors of the columns of a sparse matrix, such that those of one color have no row in common.

One product with the sum of such columns has the elements of all of them.

A. H. Gebremedhin, F. Manne, A. Pothen, What color is your Jacobian? Graph coloring for computing
derivatives, SIAM Review 47 (2005), 629-705: section 3.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

Pattern = Any
"""A sparse matrix of booleans: `scipy.sparse.csr_array`."""
_AT_A_TIME = 1 << 16
"""The rows whose elements are looked at together: those of all would take much memory."""
Order = Callable[[Pattern], np.ndarray]


def natural(pattern: Pattern) -> np.ndarray:
    """Return the columns of a pattern as they are."""
    return np.arange(pattern.shape[1])


def largest_first(pattern: Pattern) -> np.ndarray:
    """Return the columns of a pattern, those that share rows with many others first."""
    in_rows = np.diff(pattern.indptr)
    shared = pattern.T.astype(np.int64) @ in_rows
    return np.argsort(-shared, kind="stable")


def smallest_last(pattern: Pattern) -> np.ndarray:
    """Return the columns of a pattern, each the one that shares rows with the fewest of those
    before it.
    """
    neighbours = _sharing(pattern)
    left = [len(found) for found in neighbours]
    buckets: list[set[int]] = [set() for _ in range(max(left, default=0) + 1)]
    for column, count in enumerate(left):
        buckets[count].add(column)
    order, place, least = np.zeros(len(left), np.int64), len(left), 0
    taken = [False] * len(left)
    while place:
        while not buckets[least]:
            least += 1
        column = buckets[least].pop()
        place -= 1
        order[place], taken[column] = column, True
        for other in neighbours[column]:
            if not taken[other]:
                buckets[left[other]].discard(other)
                left[other] -= 1
                buckets[left[other]].add(other)
        least = max(least - 1, 0)
    return order


def dynamic_largest_first(pattern: Pattern) -> np.ndarray:
    """Return the columns of a pattern, each the one that shares rows with the most of those after
    it.
    """
    neighbours = _sharing(pattern)
    left = [len(found) for found in neighbours]
    heap = [(-count, column) for column, count in enumerate(left)]
    heapq.heapify(heap)
    order: list[int] = []
    while heap:
        count, column = heapq.heappop(heap)
        if left[column] != -count:
            continue  # taken, or its place in the heap is an older one
        order.append(column)
        left[column] = -1
        for other in neighbours[column]:
            if left[other] > 0:
                left[other] -= 1
                heapq.heappush(heap, (-left[other], other))
    return np.asarray(order, np.int64)


COLUMN_ORDERS: dict[str, Order] = {
    "natural": natural,
    "largest_first": largest_first,
    "smallest_last": smallest_last,
    "dynamic_largest_first": dynamic_largest_first,
}
"""The orders in which columns get the first color that is free."""


def color_columns(pattern: Pattern, order: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return a color for each column of a pattern, such that columns of one color have no row in
    common. Each column gets the first color that is free, in the given order.
    """
    columns = lists(pattern.T.tocsr())
    colors = np.zeros(len(columns), np.int64)
    taken = [0] * pattern.shape[0]  # for each row, a bit for each color of its columns
    for column in np.asarray(order).tolist():
        rows = columns[column]
        forbidden = 0
        for row in rows:
            forbidden |= taken[row]
        color = first_free(forbidden)
        colors[column] = color
        for row in rows:
            taken[row] |= 1 << color
    return colors


def count(colors: np.ndarray) -> int:
    """Return the number of colors, which are counted from 0."""
    return int(colors.max(initial=-1)) + 1


def in_column(pattern: Pattern, colors: np.ndarray) -> np.ndarray:
    """Return, for each element of a pattern in row-major order, True if its column has a color (-1
    is none), and no other element of its row has it: then it is an element of the product of the
    matrix and the sum of the columns of that color.
    """
    found, number = np.zeros(pattern.nnz, bool), count(colors) + 1
    for first in range(0, pattern.shape[0], _AT_A_TIME):
        ends = pattern.indptr[first : first + _AT_A_TIME + 1]
        rows = np.repeat(np.arange(ends.size - 1), np.diff(ends))
        there = slice(ends[0], ends[-1])
        of_elements = colors[pattern.indices[there]]
        own = rows * number + of_elements + 1
        if (ends.size - 1) * number > 4 * own.size:
            _, own, counts = np.unique(own, return_inverse=True, return_counts=True)
        else:
            counts = np.bincount(own)
        found[there] = (counts[own] == 1) & (of_elements >= 0)
    return found


def first_free(taken: int) -> int:
    """Return the place of the lowest bit that is not set."""
    return (~taken & taken + 1).bit_length() - 1


def lists(pattern: Pattern) -> list[list[int]]:
    """Return, for each row of a pattern, its columns."""
    columns, ends = pattern.indices.tolist(), pattern.indptr.tolist()
    return [columns[i:j] for i, j in pairwise(ends)]


def _sharing(pattern: Pattern) -> list[list[int]]:
    """For each column of a pattern, those that have elements in its rows; itself among them."""
    return lists((pattern.T.astype(np.int64) @ pattern.astype(np.int64)).tocsr())
