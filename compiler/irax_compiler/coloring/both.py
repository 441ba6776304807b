"""Colors of rows and columns both, for matrices with a few long rows or long columns.

The long rows get colors of rows, and the columns colors for the other rows only: an arrow takes
three. So do long columns.

A. H. Gebremedhin, F. Manne, A. Pothen, What color is your Jacobian? Graph coloring for computing
derivatives, SIAM Review 47 (2005), 629-705: section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from irax_compiler.coloring.columns import (
    Pattern,
    color_columns,
    count,
    first_free,
    in_column,
    largest_first,
    lists,
    natural,
)
from irax_compiler.coloring.grids import color_grid

_TRIED = 8
"""The most numbers of long rows for which columns are colored."""


def color_both(pattern: Pattern, most: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return colors for the columns of a pattern, and for its rows, counted from 0 each, which tell
    all elements apart: each is alone with its color in its row, or in its column. Those in no
    product have -1. None unless fewer than `most` are found.
    """
    turned = pattern.T.tocsr()
    found = _by_long_rows(pattern, most)
    if found is not None:
        most = count(found[0]) + count(found[1])
    other = _by_long_rows(turned, most)
    return found if other is None else (other[1], other[0])


def _by_long_rows(pattern: Pattern, most: int) -> tuple[np.ndarray, np.ndarray] | None:
    """The colors of columns and of rows, where some of the longest rows get colors."""
    lengths = np.diff(pattern.indptr)
    order = np.argsort(-lengths, kind="stable")
    lengths = lengths[order]
    # Columns take as many colors as the longest of the other rows has elements, or more.
    ends = np.flatnonzero(lengths[1:] < lengths[:-1]) + 1
    if not (1 + lengths[ends] < most).any():
        return None
    least = _shared(pattern, order)[ends - 1] + lengths[ends]
    rows, best = lists(pattern), None
    for i in np.argsort(least, kind="stable")[:_TRIED].tolist():
        if least[i] >= most:
            break
        chosen = order[: ends[i]]
        columns = _for_other_rows(pattern, chosen)
        alone = in_column(pattern, columns)
        needed = [
            [not x for x in alone[i:j].tolist()] for i, j in pairwise(pattern.indptr.tolist())
        ]
        found = columns, _color_rows(rows, needed, chosen.tolist())
        if (number := count(found[0]) + count(found[1])) < most:
            best, most = found, number
    return best


def _shared(pattern: Pattern, order: np.ndarray) -> np.ndarray:
    """For each number of the first rows in an order, the most of them that share a column."""
    turned = pattern[order].tocsc()
    before = np.arange(turned.nnz) - np.repeat(turned.indptr[:-1], np.diff(turned.indptr))
    found = np.zeros(order.size, np.int64)
    np.maximum.at(found, turned.indices, before + 1)
    return np.maximum.accumulate(found)


def _for_other_rows(pattern: Pattern, rows: np.ndarray) -> np.ndarray:
    """The colors of columns that tell the elements apart that are in none of some rows."""
    from scipy.sparse import csr_array  # which takes a while to import

    kept = np.ones(pattern.shape[0], bool)
    kept[rows] = False
    of_elements = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    places = of_elements[kept[of_elements]], pattern.indices[kept[of_elements]]
    rest = csr_array((np.ones(places[0].size, bool), places), shape=pattern.shape)
    orders = natural(rest), largest_first(rest)
    found = [color_grid(rest), *(color_columns(rest, order) for order in orders)]
    colors = min((x for x in found if x is not None), key=count)
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
        color = colors[row] = first_free(forbidden)
        for column, is_needed in zip(rows[row], needed[row], strict=True):
            taken[column] |= 1 << color
            wanted[column] |= is_needed << color
    return colors
