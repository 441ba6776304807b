"""Colors of the columns of stencils on grids: linear functions of a column's indices in the grid.

The first free color in some order is seldom the best for a grid: neighbours of a point in two
dimensions need five colors, `(i + 2 * j) % 5`, and get seven. The grid is not given. Its strides
are distances between columns that share a row; a linear function is one whose value is another
for all such columns. Few rows tell what distances there are; those that a function gets wrong tell
what they missed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

import numpy as np

from irax_compiler.coloring.columns import Pattern, count, in_column

_ROWS = 96
"""The rows that are looked at first, and the most that are added at a time."""
_LONG = 4
"""The times by which a column is longer than all rows, from which on it is no part of a grid."""
_DISTANCES = 150
"""The most different distances of a grid."""
_STRIDES = 6
"""The most distances that are tried as strides."""
_COLORS = 128
"""The most colors."""
_FUNCTIONS = 100_000
"""The most functions that are looked at for a number of colors."""
_ROUNDS = 12
"""The most functions that are tried on all rows."""


def color_grid(pattern: Pattern) -> np.ndarray | None:
    """Return a color for each column of a pattern, such that those of one color have no row in
    common, by a linear function of the column's indices in a grid; None where there is no such grid
    or function. Long columns beside the grid, those of parameters, get colors of their own.
    """
    longest = int(np.diff(pattern.indptr).max(initial=0))
    if not 1 < longest <= _COLORS:
        return None
    lengths = np.bincount(pattern.indices, minlength=pattern.shape[1])
    (long,) = np.nonzero(lengths > _LONG * longest)
    if not 0 < long.size <= _COLORS:
        return _of_grid(pattern)
    rest = lengths <= _LONG * longest
    found = _of_grid(pattern[:, rest])
    if found is None:
        return None
    colors = np.zeros(lengths.size, np.int64)
    colors[rest] = found
    colors[long] = count(found) + np.arange(long.size)
    return colors


def _of_grid(pattern: Pattern) -> np.ndarray | None:
    height, width = pattern.shape
    pairs = _pairs(pattern, np.unique(np.linspace(0, height - 1, _ROWS).astype(np.int64)))
    rounds, least = 0, int(np.diff(pattern.indptr).max(initial=0))
    for number in range(least, min(2 * least + 2, _COLORS + 1)):
        functions = 0
        for strides in _grids(pairs, width):
            functions += number ** len(strides)
            if functions > _FUNCTIONS:
                break
            while (factors := _function(pairs, strides, number)) is not None:
                colors = _indices(np.arange(width), strides) @ factors % number
                wrong = _rows_with_equal_colors(pattern, colors)
                if not wrong.size:
                    return np.unique(colors, return_inverse=True)[1]
                rounds += 1
                if rounds == _ROUNDS:
                    return None
                pairs = np.concatenate([pairs, _pairs(pattern, wrong)])
                pairs = np.unique(pairs, axis=0)
    return None


def _pairs(pattern: Pattern, rows: np.ndarray) -> np.ndarray:
    """The pairs of columns that share one of some rows, those with the lower number first."""
    found = [np.zeros((0, 2), np.int64)]
    for row in rows.tolist():
        columns = pattern.indices[pattern.indptr[row] : pattern.indptr[row + 1]].astype(np.int64)
        first, second = np.triu_indices(columns.size, 1)
        both = np.sort(columns)
        found.append(np.stack([both[first], both[second]], 1))
    return np.concatenate(found)


def _grids(pairs: np.ndarray, width: int) -> Iterator[tuple[int, ...]]:
    """The strides of grids that have `width` points, those of few dimensions first: distances of
    columns, the most frequent ones.
    """
    distances, counts = np.unique(pairs[:, 1] - pairs[:, 0], return_counts=True)
    if distances.size > _DISTANCES:
        return
    order = np.argsort(-counts, kind="stable")
    there = [d for d in distances[order].tolist() if d > 1 and width % d == 0][:_STRIDES]
    for dims in range(4):
        for strides in combinations(sorted(there), dims):
            if all(b % a == 0 for a, b in pairwise(strides)):
                yield 1, *strides


def _indices(columns: np.ndarray, strides: tuple[int, ...]) -> np.ndarray:
    """The index of each column in a grid: a row for each."""
    found = []
    for stride, above in zip(strides, (*strides[1:], None), strict=True):
        found.append((columns if above is None else columns % above) // stride)
    return np.stack(found, -1)


def _function(pairs: np.ndarray, strides: tuple[int, ...], number: int) -> np.ndarray | None:
    """The factors of a linear function, modulo the number of colors, that has different values for
    both columns of all pairs.
    """
    first, second = (_indices(x, strides) for x in pairs.T)
    apart = np.unique((second - first) % number, axis=0)
    factors = np.indices((number,) * len(strides)).reshape(len(strides), -1)
    serves = (apart @ factors % number != 0).all(0)
    return factors[:, np.argmax(serves)] if serves.any() else None


def _rows_with_equal_colors(pattern: Pattern, colors: np.ndarray) -> np.ndarray:
    """Some rows with two columns of one color."""
    (alike,) = np.nonzero(~in_column(pattern, colors))
    return np.unique(np.searchsorted(pattern.indptr, alike, side="right") - 1)[:_ROWS]
