"""Colors of large patterns, by the algorithms of `irax_compiler.coloring` as compiled programs.

A program visits one column after the other, and knows colors by their bits: 32 of them. What takes
more is colored by Python, as small patterns are, which are done before a program is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from irax import lax
from irax import numpy as jnp
from irax.core.array import Array
from irax.execution.jit import jit
from irax_compiler import api

_LARGE = 200_000
"""The least number of elements for which a program is compiled."""
_LONGEST = np.iinfo(np.int32).max
_NONE = np.uint32(0)


def color_columns(pattern: Any, order: np.ndarray) -> np.ndarray:
    """Return the colors that `api.color_columns` gives."""
    if not _LARGE <= pattern.nnz <= _LONGEST:
        return api.color_columns(pattern, order)
    found = _run(partial(_columns, pattern.shape[0]), pattern.T.tocsr(), order)
    return api.color_columns(pattern, order) if found is None else found


def color_stars(pattern: Any, order: np.ndarray) -> np.ndarray:
    """Return the colors that `api.color_stars` gives."""
    if not _LARGE <= pattern.nnz <= _LONGEST:
        return api.color_stars(pattern, order)
    found = _run(_stars, pattern, order)
    return api.color_stars(pattern, order) if found is None else found


ALGORITHMS = api.Algorithms(color_columns, color_stars)


def _run(program: Callable[..., Array], pattern: Any, order: np.ndarray) -> np.ndarray | None:
    """The colors of the rows of a pattern; None if they are too many."""
    given = [np.asarray(x, np.int32) for x in (pattern.indices, pattern.indptr, order)]
    compiled = jit(program, backend="cpu", compile="at_once").lower(*given).compile()
    bits = np.asarray(compiled(*given))
    if not bits.all():
        return None
    return np.log2(bits).astype(np.int64)


def _columns(num_rows: int, rows: Array, ends: Array, order: Array) -> Array:
    """The bit of each column's color, from the rows of columns."""

    def visit(i: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        taken, bits = state  # of each row, the colors of its columns
        column = order[i]

        def seen(k: Array, forbidden: Array) -> Array:
            return forbidden | taken[rows[k]]

        def take(k: Array, taken: Array) -> Array:
            return taken.at[rows[k]].set(taken[rows[k]] | bit)

        start, end = ends[column], ends[column + 1]
        bit = _first_free(lax.fori_loop(start, end, seen, _NONE))
        return lax.fori_loop(start, end, take, taken), bits.at[column].set(bit)

    start = jnp.zeros(num_rows, np.uint32), jnp.zeros(order.size, np.uint32)
    return lax.fori_loop(0, order.size, visit, start)[1]


def _stars(neighbours: Array, ends: Array, order: Array) -> Array:
    """The bit of each vertex's color, from the neighbours of vertices."""

    def visit(i: Array, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        once, twice, bits = state  # of each vertex, the colors of one neighbour, and of several
        vertex = order[i]
        start, end = ends[vertex], ends[vertex + 1]

        def seen(k: Array, forbidden: Array) -> Array:
            near = neighbours[k]
            color = jnp.where(near == vertex, _NONE, bits[near])

            def beyond(j: Array, forbidden: Array) -> Array:
                far = neighbours[j]
                is_path = (twice[far] & color != 0) & (far != near)
                return forbidden | jnp.where(is_path, bits[far], _NONE)

            forbidden |= jnp.where(twice[vertex] & color != 0, once[near], _NONE)
            return lax.fori_loop(ends[near], ends[near + 1], beyond, forbidden)

        def take(k: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
            once, twice = state
            near = neighbours[k]
            own = jnp.where(near == vertex, _NONE, bit)
            twice = twice.at[near].set(twice[near] | once[near] & own)
            return once.at[near].set(once[near] | own), twice

        bit = _first_free(lax.fori_loop(start, end, seen, once[vertex]))
        once, twice = lax.fori_loop(start, end, take, (once, twice))
        return once, twice, bits.at[vertex].set(bit)

    nothing = jnp.zeros(order.size, np.uint32)
    return lax.fori_loop(0, order.size, visit, (nothing, nothing, nothing))[2]


def _first_free(taken: Array) -> Array:
    """The lowest bit that is not set; 0 if there is none."""
    return ~taken & taken + np.uint32(1)
