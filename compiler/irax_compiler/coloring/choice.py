"""Colors by mode: which products give all elements of a matrix, and where they stand in these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from irax_compiler.coloring.acyclic import color_acyclic
from irax_compiler.coloring.both import color_both
from irax_compiler.coloring.columns import COLUMN_ORDERS, Pattern, color_columns, count, in_column
from irax_compiler.coloring.grids import color_grid
from irax_compiler.coloring.stars import color_stars

Mode = Literal["fwd", "rev", "bidirectional", "symmetric", "acyclic"]
"""fwd: colors of columns; rev: of rows; bidirectional: of columns, then of rows, with greater
numbers; symmetric and acyclic: of the columns of a symmetric matrix."""
_SYMMETRIC = ("symmetric", "acyclic")
_FEW = 50_000
"""The most elements for which all orders are tried; of more, the first two."""


Assign = Callable[[Pattern, np.ndarray], np.ndarray]
"""A function of a pattern and an order of its columns to their colors."""


class Algorithms(NamedTuple):
    """The functions that assign colors in an order: those here, or faster ones."""

    columns: Assign = color_columns
    stars: Assign = color_stars


PLAIN = Algorithms()


def choose_colors(
    pattern: Pattern, mode: str, order: str = "auto", algorithms: Algorithms = PLAIN
) -> tuple[Mode, np.ndarray]:
    """Return colors of a pattern, and their mode.

    Args:
        pattern: the pattern; a symmetric one for the modes of such.
        mode: a mode; one that is given may give way to another with fewer colors: "bidirectional"
            to "auto", "acyclic" to "symmetric". "auto" is what takes fewer of columns and rows, or
            both ways, if that takes half as many: it is two programs instead of one.
        order: the order in which columns or rows get the first color that is free, by its name in
            `COLUMN_ORDERS`; "auto" for the best of them, and of linear functions for grids.
        algorithms: the functions that assign the colors.
    """
    match mode:
        case "auto":
            one_way = _one_way(pattern, order, algorithms)
            found = _both_ways(pattern, count(one_way[1]) // 2 + 1)
            return found or one_way
        case "bidirectional":
            one_way = _one_way(pattern, order, algorithms)
            return _both_ways(pattern, count(one_way[1])) or one_way
        case "acyclic":
            stars = _least(pattern, "symmetric", order, algorithms)
            found = _least(pattern, "acyclic", order, algorithms)
            return found if count(found[1]) < count(stars[1]) else stars
        case "rev":
            return "rev", _least(pattern.T.tocsr(), "fwd", order, algorithms)[1]
    return _least(pattern, mode, order, algorithms)


def _one_way(pattern: Pattern, order: str, algorithms: Algorithms) -> tuple[Mode, np.ndarray]:
    """The colors of columns or of rows, whichever are fewer."""
    columns = choose_colors(pattern, "fwd", order, algorithms)
    if count(columns[1]) <= np.bincount(pattern.indices).max(initial=0):
        return columns  # rows cannot have fewer: those of a column's elements differ
    rows = choose_colors(pattern, "rev", order, algorithms)
    return min(columns, rows, key=lambda found: count(found[1]))


def _both_ways(pattern: Pattern, most: int) -> tuple[Mode, np.ndarray] | None:
    both = color_both(pattern, most)
    if both is None:
        return None
    columns, rows = both
    return "bidirectional", np.concatenate([columns, np.where(rows < 0, -1, rows + count(columns))])


def _least(
    pattern: Pattern, mode: str, order: str, algorithms: Algorithms
) -> tuple[Mode, np.ndarray]:
    """The fewest colors of columns that a grid or one of the orders gives."""
    of_symmetric = {"symmetric": algorithms.stars, "acyclic": color_acyclic}
    assign = of_symmetric.get(mode, algorithms.columns)
    names = [order]
    if order == "auto":
        names = list(COLUMN_ORDERS)[: None if pattern.nnz <= _FEW else 2]
    least = 0 if mode in _SYMMETRIC else np.diff(pattern.indptr).max(initial=0)
    best = None
    if order == "auto" and mode not in _SYMMETRIC:
        best = color_grid(pattern)
        if best is not None and count(best) <= least:  # columns of one row differ
            return mode, best  # pyright: ignore[reportReturnType]
    for name in names:
        found = assign(pattern, COLUMN_ORDERS[name](pattern))
        if best is None or count(found) < count(best):
            best = found
        if count(best) <= least:
            break
    assert best is not None
    return mode, best  # pyright: ignore[reportReturnType]


def num_of_columns(pattern: Pattern, mode: str, colors: np.ndarray) -> int:
    """Return the number of colors of columns, which come before those of rows."""
    match mode:
        case "rev":
            return 0
        case "bidirectional":
            return count(colors[: pattern.shape[1]])
    return count(colors)


def places_of_elements(
    pattern: Pattern, mode: str, colors: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, for each element of a pattern in row-major order, the color of a product that has it,
    the place there, and True if no other element is added to it. Of all modes but "acyclic".
    """
    dtype = pattern.indices.dtype  # int32, unless there are very many elements
    rows = np.repeat(np.arange(pattern.shape[0], dtype=dtype), np.diff(pattern.indptr))
    across = down = colors.astype(dtype)
    if mode == "bidirectional":
        across, down = np.split(across, [pattern.shape[1]])
    alone = np.zeros(pattern.nnz, bool)
    color, place = np.zeros((2, 1), dtype)
    if mode != "rev":
        alone = in_column(pattern, across)
        color, place = across[pattern.indices], rows
    if mode != "fwd":  # the others are in the transposed place, or in products of rows
        color = np.where(alone, color, down[rows])
        place = np.where(alone, place, pattern.indices)
        turned = pattern.T.tocsr()
        back = np.empty(pattern.nnz, bool)
        back[np.argsort(pattern.indices, kind="stable")] = in_column(turned, down)
        alone |= back
    return color, place, alone


def flat_places(
    pattern: Pattern, mode: str, colors: np.ndarray, places: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Return where elements stand, by color and place, in an array of all products, one after the
    other: those of columns have as many elements as the matrix has rows, and come first.
    """
    height, width = pattern.shape
    of_columns = num_of_columns(pattern, mode, colors)
    color, place = places
    sizes = np.where(np.arange(count(colors)) < of_columns, height, width)
    found = (np.cumsum(sizes) - sizes)[color]
    found += place
    return found
