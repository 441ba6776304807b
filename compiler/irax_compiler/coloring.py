"""Colors of the rows or columns of a sparse matrix, by which few products give all its elements.

Columns of one color have no row in common, so one product with their sum has the elements of all of
them. Colors of a symmetric matrix are a star coloring of the graph of its pattern: neighbours
differ, and each path of four vertices has three colors or more. An element is then found in its own
column or in its transposed place.

A. H. Gebremedhin, F. Manne, A. Pothen, What color is your Jacobian? Graph coloring for computing
derivatives, SIAM Review 47 (2005), 629-705: section 3 on columns, section 4 on symmetric matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

Pattern = Any
"""A sparse matrix of booleans: `scipy.sparse.csr_array`."""
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
    neighbours = _lists((pattern.T.astype(np.int64) @ pattern.astype(np.int64)).tocsr())
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


COLUMN_ORDERS: dict[str, Order] = {
    "natural": natural,
    "largest_first": largest_first,
    "smallest_last": smallest_last,
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


def in_column(pattern: Pattern, colors: np.ndarray) -> np.ndarray:
    """Return, for each element of a pattern in row-major order, True if no other element of its row
    has its color: then it is an element of the product of the matrix and the sum of the columns of
    that color.
    """
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    own = rows * (int(colors.max(initial=0)) + 1) + colors[pattern.indices]
    _, inverse, counts = np.unique(own, return_inverse=True, return_counts=True)
    return counts[inverse] == 1


def _first_free(taken: int) -> int:
    """The place of the lowest bit that is not set."""
    return (~taken & taken + 1).bit_length() - 1


def _lists(pattern: Pattern) -> list[list[int]]:
    """For each row of a pattern, its columns."""
    columns, ends = pattern.indices.tolist(), pattern.indptr.tolist()
    return [columns[i:j] for i, j in pairwise(ends)]
