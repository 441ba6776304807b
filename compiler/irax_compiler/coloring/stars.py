"""Star colorings of symmetric matrices: neighbours in the graph of the pattern differ in color, and
each path of four vertices has three colors or more.

An element is then found in the product of its own column's color, or in its transposed place.

A. H. Gebremedhin, F. Manne, A. Pothen, What color is your Jacobian? Graph coloring for computing
derivatives, SIAM Review 47 (2005), 629-705: section 4.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irax_compiler.coloring.columns import Pattern, first_free, lists


def color_stars(pattern: Pattern, order: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return a star coloring of the graph of a symmetric pattern: a color for each column. Each
    gets the first color that makes no path of four vertices have two colors, in the given order.
    """
    neighbours = lists(pattern)
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
        color = colors[vertex] = first_free(forbidden)
        for near in neighbours[vertex]:
            twice[near] |= once[near] & 1 << color
            once[near] |= 1 << color
    return np.asarray(colors, np.int64)
