"""Acyclic colors of a symmetric matrix, by which its elements follow from few products one by one.

Neighbours in the graph of the pattern differ in color, and the vertices of any two colors form
trees. A product then has, at a leaf, the element of the leaf's only edge; without it, the next
vertex is a leaf. That takes no more colors than a star coloring, which needs no such substitution.

A. H. Gebremedhin, A. Tarafdar, F. Manne, A. Pothen, New acyclic and star coloring algorithms with
application to computing Hessians, SIAM Journal on Scientific Computing 29 (2007), 1042-1072.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

Node = tuple[int, int]
"""A vertex, and a color: its place in the tree of its own color and that one."""


def color_acyclic(pattern: Any, order: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return an acyclic coloring of the graph of a symmetric pattern: a color for each column. Each
    gets the first color that closes no cycle of two colors, in the given order.
    """
    neighbours = _neighbours(pattern)
    colors = [-1] * len(neighbours)
    near: list[set[int]] = [set() for _ in colors]  # the colors of each vertex's neighbours
    trees = _Trees()
    for vertex in np.asarray(order).tolist():
        there = [other for other in neighbours[vertex] if colors[other] >= 0]
        forbidden, seen = set(near[vertex]), set[Node]()
        for other in there:
            for color in near[other]:
                tree = trees.find((other, color))
                if tree in seen:  # another neighbour leads there, too
                    forbidden.add(color)
                seen.add(tree)
        color = 0
        while color in forbidden:
            color += 1
        colors[vertex] = color
        for other in there:
            trees.join((other, color), (vertex, colors[other]))
        for other in neighbours[vertex]:
            near[other].add(color)
    return np.asarray(colors, np.int64)


class Forest(NamedTuple):
    """The unknowns of a symmetric matrix, and where products have them, by an acyclic coloring. The
    elements at two transposed places are one unknown.
    """

    unknowns: np.ndarray
    """The number of the unknown at each element of the pattern, in row-major order."""
    colors: np.ndarray
    """For each unknown, the color of a product that has it."""
    places: np.ndarray
    """The place in the product, where there may be other unknowns to subtract."""
    parents: np.ndarray
    """The unknown that each is to be subtracted from, at its place; -1 if there is none."""
    depths: np.ndarray
    """The number of unknowns from each to the end of its row of parents."""


def forest(pattern: Any, colors: np.ndarray) -> Forest | None:
    """Return how the elements of a symmetric pattern follow from products; None if the coloring is
    not acyclic.
    """
    width = pattern.shape[1]
    rows = np.repeat(np.arange(width), np.diff(pattern.indptr))
    keys = np.minimum(rows, pattern.indices) * width + np.maximum(rows, pattern.indices)
    places, unknowns = np.unique(keys, return_inverse=True)
    ends = np.stack(np.divmod(places, max(width, 1)), 1)
    of_ends = colors[ends]
    if ((of_ends[:, 0] == of_ends[:, 1]) & (ends[:, 0] != ends[:, 1])).any():
        return None
    found = of_ends[:, 1].copy(), ends[:, 0].copy()
    parents, depths = np.full(places.size, -1), np.zeros(places.size, np.int64)
    edges: dict[Node, dict[int, Node]] = {}  # of each node, with the node at their other end
    for i, ((v, w), (c, d)) in enumerate(zip(ends.tolist(), of_ends.tolist(), strict=True)):
        if v != w:
            edges.setdefault((v, d), {})[i] = (w, c)
            edges.setdefault((w, c), {})[i] = (v, d)
    leaves = [node for node, there in edges.items() if len(there) == 1]
    taken: list[tuple[int, Node]] = []  # unknowns, and the nodes that they lead to
    own: dict[Node, int] = {}  # the unknown that is found at a node
    for node in leaves:
        if not edges[node]:
            continue  # the other end of the last edge of its tree
        ((edge, other),) = edges.pop(node).items()
        found[0][edge], found[1][edge] = node[1], node[0]
        own[node] = edge
        taken.append((edge, other))
        del edges[other][edge]
        if len(edges[other]) == 1:
            leaves.append(other)
    if any(edges.values()):
        return None
    for edge, other in reversed(taken):
        parents[edge] = own.get(other, -1)
        if parents[edge] >= 0:
            depths[edge] = depths[parents[edge]] + 1
    return Forest(unknowns, *found, parents, depths)


class _Trees:
    """Sets of nodes that can be joined."""

    def __init__(self) -> None:
        self._above: dict[Node, Node] = {}

    def find(self, node: Node) -> Node:
        """Return the node that stands for the set of a node."""
        root = node
        while (above := self._above.get(root, root)) != root:
            root = above
        while node != root:
            self._above[node], node = root, self._above[node]
        return root

    def join(self, a: Node, b: Node) -> None:
        """Make one set of those of two nodes."""
        self._above[self.find(a)] = self.find(b)


def _neighbours(pattern: Any) -> list[list[int]]:
    """The vertices beside each, without itself."""
    columns, ends = pattern.indices.tolist(), pattern.indptr.tolist()
    rows = (columns[i:j] for i, j in pairwise(ends))
    return [[other for other in row if other != vertex] for vertex, row in enumerate(rows)]
