"""Patterns: of each element of a value, the columns that it depends on, as sparse matrices."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce

import numpy as np

from irax_compiler.coloring.columns import Pattern
from irax_compiler.ops.links import Links, Pairs


def seed(place: int, sizes: Sequence[int]) -> Pattern:
    """Return the pattern of one of several arguments: each element depends on its own tangent."""
    size, before = sizes[place], sum(sizes[:place])
    return _matrix(np.arange(size), before + np.arange(size), (size, sum(sizes)))


def _matrix(rows: np.ndarray, columns: np.ndarray, extents: tuple[int, int]) -> Pattern:
    from scipy.sparse import csr_array  # which takes a while to import

    return csr_array((np.ones(rows.size, bool), (rows, columns)), shape=extents)


def empty(size: int, width: int) -> Pattern:
    """Return the pattern of elements that depend on nothing."""
    nothing = np.zeros(0, np.int64)
    return _matrix(nothing, nothing, (size, width))


def stacked(rows: Sequence[Pattern], width: int) -> Pattern:
    """Return the pattern of several values, one after the other."""
    from scipy.sparse import vstack

    return vstack(rows, format="csr") if rows else empty(0, width)


def joined(patterns: Sequence[Pattern | None]) -> Pattern | None:
    """Return the pattern of what depends on all that some values of one shape depend on."""
    there = [pattern for pattern in patterns if pattern is not None]
    return reduce(operator.add, there) if there else None


def any_of(links: Sequence[Links]) -> Sequence[Links]:
    """Return links of which one or the other holds, those that are pairs as one."""
    if len(links) == 1 or any(len(x) != 1 for x in links):
        return links
    pairs = [x for (x,) in links]
    results, operands = (
        np.concatenate(x) for x in ([y.results for y in pairs], [y.operands for y in pairs])
    )
    return [[Pairs(results, operands, pairs[0].num_results)]]


def followed(pattern: Pattern, links: Links) -> Pattern:
    """Return the pattern of a value that is computed from one with a pattern."""
    for pairs in links:
        if np.bincount(pairs.results).max(initial=0) <= 1:
            pattern = _picked(pattern, pairs)
        else:
            extents = (pairs.num_results, pattern.shape[0])
            pattern = _matrix(pairs.results, pairs.operands, extents) @ pattern
    return pattern


def _picked(pattern: Pattern, pairs: Pairs) -> Pattern:
    """The pattern of elements that are linked to one or none: rows, as they are."""
    from scipy.sparse import csr_array

    height, width = pattern.shape
    with_none = (pattern.data, pattern.indices, np.append(pattern.indptr, pattern.indptr[-1]))
    chosen = np.full(pairs.num_results, height)
    chosen[pairs.results] = pairs.operands
    return csr_array(with_none, shape=(height + 1, width))[chosen]
