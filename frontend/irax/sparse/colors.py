"""Colors of a pattern's rows or columns, by which few products give all elements of a matrix."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from irax.core.tracebacks import api_boundary
from irax.sparse.patterns import SparsityPattern
from irax.sparse.pictures import Picture, svg
from irax_compiler import api

Mode = Literal["auto", "fwd", "rev", "bidirectional", "symmetric", "acyclic"]
MODES = ("auto", "fwd", "rev", "bidirectional", "symmetric", "acyclic")
_ORDERS = ("auto", "natural", "largest_first", "smallest_last", "dynamic_largest_first")


@dataclass(frozen=True, eq=False)
class Coloring:
    """Colors of the columns or rows of a pattern."""

    pattern: SparsityPattern
    mode: Literal["fwd", "rev", "bidirectional", "symmetric", "acyclic"]
    """fwd: of columns, for products with the matrix; rev: of rows, for products with its transpose;
    bidirectional: of columns, then of rows; symmetric: of columns, of which those of a color may
    share rows that others have elements of; acyclic: of such columns, too, whose elements follow
    from those that are found before.
    """
    colors: np.ndarray
    """The color of each column or row: a number, counted from 0. If the mode is bidirectional,
    those of the rows follow those of the columns, and have greater numbers; -1 is none.
    """
    num_colors: int = field(init=False)

    def __post_init__(self) -> None:
        if self.mode not in MODES[1:]:
            modes = ", ".join(map(repr, MODES[1:]))
            raise ValueError(f"Coloring: mode={self.mode!r}; expected {modes}")
        height, width = self.pattern.shape
        size = {"rev": height, "bidirectional": width + height}.get(self.mode, width)
        colors = np.asarray(self.colors)
        if colors.shape != (size,) or (size and colors.dtype.kind not in "iu"):
            raise ValueError(
                f"Coloring: colors is {colors.dtype}{list(colors.shape)}; expected {size} integers "
                f"for mode={self.mode!r} and a pattern of shape {self.pattern.shape}"
            )
        object.__setattr__(self, "colors", colors)
        object.__setattr__(self, "num_colors", int(colors.max(initial=-1)) + 1)

    def seeds(self, dtype: Any = np.float32) -> np.ndarray:
        """Return the directions of the products: a row for each color, which has ones at its rows
        or columns.
        """
        found = np.zeros((self.num_colors, self.colors.size), dtype)
        (places,) = np.nonzero(self.colors >= 0)
        found[self.colors[places], places] = 1
        return found

    @property
    def of_columns(self) -> int:
        """The number of colors of columns, which come before those of rows."""
        return api.num_of_columns(self.pattern.toscipy(), self.mode, self.colors)

    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """Return where the elements of the pattern are among the products: the color, and the place
        in the product, for each. If the mode is acyclic, other elements may be added to one there.

        Raises:
            ValueError: the colors do not tell all elements apart.
        """
        pattern = self.pattern
        if self.mode == "acyclic":
            forest = self.forest()
            return forest.colors[forest.unknowns], forest.places[forest.unknowns]
        *found, alone = api.places_of_elements(pattern.toscipy(), self.mode, self.colors)
        if not alone.all():
            i = int(np.argmin(alone))
            raise ValueError(
                f"places: the colors do not tell element ({pattern.rows[i]}, {pattern.cols[i]}) "
                "from others of its row; expected those that `color` gives for the pattern"
            )
        return found[0], found[1]

    def forest(self) -> api.Forest:
        """Return how the elements follow from what is at their places, if the mode is acyclic.

        Raises:
            ValueError: the colors are not acyclic.
        """
        found = api.forest(self.pattern.toscipy(), self.colors)
        if found is None:
            raise ValueError(
                "forest: columns that share an element have one color, or those of two colors form "
                "a cycle; expected colors that `color` gives for the pattern with mode='acyclic'"
            )
        return found

    def spy(self, picture: Picture = "dots") -> str:
        """Return a picture of the pattern, as its own `spy` does. In SVG, the elements that one
        product gives have one color.

        Raises:
            ValueError: an unknown picture, or the colors do not tell all elements apart.
        """
        pattern = self.pattern
        if picture == "svg":
            return svg(pattern.rows, pattern.cols, pattern.shape, self.places()[0])
        return pattern.spy(picture)

    def _repr_svg_(self) -> str:
        return self.spy("svg")

    def __repr__(self) -> str:
        return f"Coloring(num_colors={self.num_colors}, mode={self.mode!r})"


@api_boundary
def color(pattern: SparsityPattern, mode: Mode = "auto", order: str = "auto") -> Coloring:
    """Return colors of a pattern's columns or rows, by which few products give all elements.

    Args:
        pattern: the pattern.
        mode: "fwd" for columns, "rev" for rows, "bidirectional" for rows and columns both, if that
            takes fewer colors than either; "auto" for what takes fewer of columns and rows, or for
            both, if that takes half as many; "symmetric" for a symmetric matrix: a star coloring,
            which takes fewer still; "acyclic" for a symmetric matrix whose elements may be
            differences of products, if that takes fewer than "symmetric".
        order: the order in which the first free color is given: "natural", "largest_first",
            "smallest_last", "dynamic_largest_first"; "auto" for the best of these, of the first two
            for large patterns, and of linear functions for stencils on grids.

    Raises:
        ValueError: an unknown mode or order, or a pattern that is not symmetric for "symmetric" or
            "acyclic".

    >>> color(SparsityPattern.fromdense(np.eye(5))).num_colors
    1
    """
    if not isinstance(pattern, SparsityPattern):
        raise TypeError(
            f"color: pattern is a {type(pattern).__name__}; expected a SparsityPattern, such as "
            "SparsityPattern.fromdense and fromscipy make"
        )
    if mode not in MODES:
        raise ValueError(f"color: mode={mode!r}; expected {', '.join(map(repr, MODES))}")
    if order not in _ORDERS:
        raise ValueError(f"color: order={order!r}; expected {', '.join(map(repr, _ORDERS))}")
    matrix = pattern.toscipy()
    is_square = pattern.shape[0] == pattern.shape[1]
    if mode in ("symmetric", "acyclic") and not (is_square and (matrix != matrix.T).nnz == 0):
        raise ValueError(
            f"color: the pattern of shape {pattern.shape} is not symmetric, as mode={mode!r} "
            "expects; use mode='auto'"
        )
    from irax.sparse.compiled_colors import ALGORITHMS  # which few programs need

    return Coloring(pattern, *api.choose_colors(matrix, mode, order, ALGORITHMS))
