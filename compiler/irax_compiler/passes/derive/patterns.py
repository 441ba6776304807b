"""Patterns: of each element of a value, the columns that it depends on, as sparse matrices.

Elements often share their columns: the features of a place, what is broadcast. A pattern is a
matrix of different rows, and the number of the row that each element has. What only moves elements,
moves these numbers.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from irax_compiler.coloring.columns import Pattern
from irax_compiler.ops.links import Links, Pairs


@dataclass(frozen=True, eq=False)
class Rows:
    """The columns that each element of a value depends on."""

    different: Pattern
    """A matrix with the rows that there are."""
    numbers: np.ndarray | None = None
    """The row of each element; None if each has its own, in their order."""

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.different.shape[0] if self.numbers is None else self.numbers.size

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.different.shape[1]

    @property
    def nnz(self) -> int:
        """The number of pairs of an element and a column that it depends on."""
        if self.numbers is None:
            return self.different.nnz
        return int(np.diff(self.different.indptr)[self.numbers].sum(dtype=np.int64))

    @cached_property
    def matrix(self) -> Pattern:
        """A matrix with a row for each element."""
        return self.different if self.numbers is None else self.different[self.numbers]

    def picked(self, elements: np.ndarray | slice) -> Rows:
        """Return the rows of some elements."""
        numbers = np.arange(self.size) if self.numbers is None else self.numbers
        return Rows(self.different, numbers[elements])


def seed(place: int, sizes: Sequence[int]) -> Rows:
    """Return the pattern of one of several arguments: each element depends on its own tangent."""
    size, before = sizes[place], sum(sizes[:place])
    return Rows(_matrix(np.arange(size), before + np.arange(size), (size, sum(sizes))))


def _matrix(rows: np.ndarray, columns: np.ndarray, extents: tuple[int, int]) -> Pattern:
    from scipy.sparse import csr_array  # which takes a while to import

    return csr_array((np.ones(rows.size, bool), (rows, columns)), shape=extents)


def empty(size: int, width: int) -> Rows:
    """Return the pattern of elements that depend on nothing."""
    nothing = np.zeros(0, np.int64)
    return Rows(_matrix(nothing, nothing, (1, width)), np.zeros(size, np.int64))


def stacked(rows: Sequence[Rows], width: int) -> Rows:
    """Return the pattern of several values, one after the other."""
    from scipy.sparse import vstack

    if len(rows) == 1:
        return rows[0]
    return Rows(vstack([x.matrix for x in rows], format="csr")) if rows else empty(0, width)


def joined(patterns: Sequence[Rows | None]) -> Rows | None:
    """Return the pattern of what depends on all that some values of one shape depend on."""
    there = [pattern for pattern in patterns if pattern is not None]
    if len(there) < 2:
        return there[0] if there else None
    numbers = there[0].numbers
    if numbers is not None and all(
        x.numbers is not None and np.array_equal(x.numbers, numbers) for x in there
    ):
        height = max(x.different.shape[0] for x in there)
        return Rows(reduce(operator.add, [_as_high(x.different, height) for x in there]), numbers)
    return Rows(reduce(operator.add, [x.matrix for x in there]))


def any_of(links: Sequence[Links]) -> Sequence[Links]:
    """Return the union of links, which is one where all are single pairs."""
    if len(links) == 1 or any(len(x) != 1 for x in links):
        return links
    pairs = [x for (x,) in links]
    results, operands = (
        np.concatenate(x) for x in ([y.results for y in pairs], [y.operands for y in pairs])
    )
    return [[Pairs(results, operands, pairs[0].num_results)]]


def followed(pattern: Rows, links: Links) -> Rows:
    """Return the pattern of a value that is computed from one with a pattern."""
    for pairs in links:
        if np.bincount(pairs.results).max(initial=0) <= 1:
            pattern = _picked(pattern, pairs)
        else:
            numbers = pairs.operands if pattern.numbers is None else pattern.numbers[pairs.operands]
            extents = (pairs.num_results, pattern.different.shape[0])
            pattern = Rows(_matrix(pairs.results, numbers, extents) @ pattern.different)
    return pattern


def _picked(pattern: Rows, pairs: Pairs) -> Rows:
    """The pattern of elements that are linked to one or none."""
    if pairs.results.size == pairs.num_results:
        chosen = np.empty(pairs.num_results, np.int64)
        chosen[pairs.results] = pairs.operands
        return pattern.picked(chosen)
    different = pattern.different
    none = different.shape[0] - 1
    if none < 0 or different.indptr[none] < different.indptr[-1]:  # no row without columns there
        none += 1
        different = _as_high(different, none + 1)
    chosen = np.full(pairs.num_results, none)
    numbers = pairs.operands if pattern.numbers is None else pattern.numbers[pairs.operands]
    chosen[pairs.results] = numbers
    return Rows(different, chosen)


def _as_high(matrix: Pattern, height: int) -> Pattern:
    """A matrix with rows of nothing after its own, up to a number of rows."""
    from scipy.sparse import csr_array

    before, width = matrix.shape
    if before == height:
        return matrix
    ends = np.append(matrix.indptr, np.full(height - before, matrix.indptr[-1]))
    return csr_array((matrix.data, matrix.indices, ends), shape=(height, width))
