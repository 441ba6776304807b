"""Colors of the rows or columns of a sparse matrix, by which few products give all its elements.

Columns of one color have no row in common, so one product with their sum has the elements of all of
them. Colors of a symmetric matrix are a star coloring of the graph of its pattern: neighbours
differ, and each path of four vertices has three colors or more. An element is then found in its own
column or in its transposed place.

Where a few rows are long, these get colors of rows, and the columns colors for the other rows only:
an arrow takes three. So do long columns.

A. H. Gebremedhin, F. Manne, A. Pothen, What color is your Jacobian? Graph coloring for computing
derivatives, SIAM Review 47 (2005), 629-705: section 3 on columns, section 4 on symmetric matrices,
section 5 on both rows and columns.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

Pattern = Any
"""A sparse matrix of booleans: `scipy.sparse.csr_array`."""
Order = Callable[[Pattern], np.ndarray]
_TRIED = 8
"""The most numbers of long rows for which columns are colored."""


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
    columns = _lists(pattern.T.tocsr())
    colors = np.zeros(len(columns), np.int64)
    taken = [0] * pattern.shape[0]  # for each row, a bit for each color of its columns
    for column in np.asarray(order).tolist():
        rows = columns[column]
        forbidden = 0
        for row in rows:
            forbidden |= taken[row]
        color = _first_free(forbidden)
        colors[column] = color
        for row in rows:
            taken[row] |= 1 << color
    return colors


def color_stars(pattern: Pattern, order: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return a star coloring of the graph of a symmetric pattern: a color for each column. Each
    gets the first color that makes no path of four vertices have two colors, in the given order.
    """
    neighbours = _lists(pattern)
    for vertex, near in enumerate(neighbours):
        neighbours[vertex] = [other for other in near if other != vertex]
    colors = [-1] * len(neighbours)
    once, twice = [0] * len(colors), [0] * len(colors)  # bits: colors of one neighbour, of several
    for vertex in np.asarray(order).tolist():
        forbidden = once[vertex]
        for near in neighbours[vertex]:
            color = colors[near]
            if color < 0:
                continue
            if twice[vertex] >> color & 1:  # other - vertex - near - far, other and near alike
                forbidden |= once[near]
            for far in neighbours[near]:
                if twice[far] >> color & 1 and colors[far] >= 0:  # vertex - near - far - end
                    forbidden |= 1 << colors[far]
        color = colors[vertex] = _first_free(forbidden)
        for near in neighbours[vertex]:
            twice[near] |= once[near] & 1 << color
            once[near] |= 1 << color
    return np.asarray(colors, np.int64)


def color_both(pattern: Pattern, most: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return colors for the columns of a pattern, and for its rows, counted from 0 each, which tell
    all elements apart: each is alone with its color in its row, or in its column. Those in no
    product have -1. None unless fewer than `most` are found.
    """
    turned = pattern.T.tocsr()
    found = _by_long_rows(pattern, most)
    if found is not None:
        most = _count(found[0]) + _count(found[1])
    other = _by_long_rows(turned, most)
    return found if other is None else (other[1], other[0])


def _by_long_rows(pattern: Pattern, most: int) -> tuple[np.ndarray, np.ndarray] | None:
    """The colors of columns and of rows, where some of the longest rows get colors."""
    lengths = np.diff(pattern.indptr)
    order = np.argsort(-lengths, kind="stable")
    lengths = lengths[order]
    rows = _lists(pattern)
    every = [[True] * len(row) for row in rows]
    of_rows = _color_rows(rows, every, order.tolist())[order]
    used = np.maximum.accumulate(of_rows) + 1
    # Columns take as many colors as the longest of the other rows has elements, or more.
    ends = np.flatnonzero(lengths[1:] < lengths[:-1]) + 1
    least = used[ends - 1] + lengths[ends]
    best = None
    for end in ends[np.argsort(least, kind="stable")][:_TRIED].tolist():
        if used[end - 1] + lengths[end] >= most:
            break
        columns = _for_other_rows(pattern, order[:end])
        alone = in_column(pattern, columns)
        needed = [
            [not x for x in alone[i:j].tolist()] for i, j in pairwise(pattern.indptr.tolist())
        ]
        found = columns, _color_rows(rows, needed, order[:end].tolist())
        if (count := _count(found[0]) + _count(found[1])) < most:
            best, most = found, count
    return best


def _for_other_rows(pattern: Pattern, rows: np.ndarray) -> np.ndarray:
    """The colors of columns that tell the elements apart that are in none of some rows."""
    from scipy.sparse import csr_array  # which takes a while to import

    kept = np.ones(pattern.shape[0], bool)
    kept[rows] = False
    of_elements = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    places = of_elements[kept[of_elements]], pattern.indices[kept[of_elements]]
    rest = csr_array((np.ones(places[0].size, bool), places), shape=pattern.shape)
    orders = natural(rest), largest_first(rest)
    colors = min((color_columns(rest, order) for order in orders), key=_count)
    return np.where(np.bincount(places[1], minlength=colors.size) > 0, colors, -1)


def _color_rows(rows: Sequence[Sequence[int]], needed: Any, order: Sequence[int]) -> np.ndarray:
    """Colors of the rows in `order` by which the elements that are `needed` are alone with their
    color in their column; -1 for the other rows, and those of which nothing is needed.
    """
    colors = np.full(len(rows), -1, np.int64)
    width = max((row[-1] for row in rows if row), default=-1) + 1
    taken, wanted = [0] * width, [0] * width  # bits: colors in a column, and those needed there
    for row in order:
        if not any(needed[row]):
            continue
        forbidden = 0
        for column, is_needed in zip(rows[row], needed[row], strict=True):
            forbidden |= taken[column] if is_needed else wanted[column]
        color = colors[row] = _first_free(forbidden)
        for column, is_needed in zip(rows[row], needed[row], strict=True):
            taken[column] |= 1 << color
            wanted[column] |= is_needed << color
    return colors


def in_column(pattern: Pattern, colors: np.ndarray) -> np.ndarray:
    """Return, for each element of a pattern in row-major order, True if its column has a color (-1
    is none), and no other element of its row has it: then it is an element of the product of the
    matrix and the sum of the columns of that color.
    """
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    of_elements = colors[pattern.indices]
    own = rows * (_count(colors) + 1) + of_elements + 1
    _, inverse, counts = np.unique(own, return_inverse=True, return_counts=True)
    return (counts[inverse] == 1) & (of_elements >= 0)


def _count(colors: np.ndarray) -> int:
    """The number of colors, which are counted from 0."""
    return int(colors.max(initial=-1)) + 1


def _first_free(taken: int) -> int:
    """The place of the lowest bit that is not set."""
    return (~taken & taken + 1).bit_length() - 1


def _sharing(pattern: Pattern) -> list[list[int]]:
    """For each column of a pattern, those that have elements in its rows; itself among them."""
    return _lists((pattern.T.astype(np.int64) @ pattern.astype(np.int64)).tocsr())


def _lists(pattern: Pattern) -> list[list[int]]:
    """For each row of a pattern, its columns."""
    columns, ends = pattern.indices.tolist(), pattern.indptr.tolist()
    return [columns[i:j] for i, j in pairwise(ends)]
