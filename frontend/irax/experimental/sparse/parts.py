"""Parts of sparse arrays, and arrays made of parts: slices and concatenation."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array, as_array
from irax.core.dtypes.strictness import library
from irax.experimental.sparse.bcoo import BCOO
from irax.experimental.sparse.layouts import bcoo_sum_duplicates
from irax.experimental.sparse.structure import Kinds, dimension_of, outside_of


@library
def bcoo_concatenate(operands: Sequence[BCOO], *, dimension: int) -> BCOO:
    """Join arrays along a dimension.

    Raises:
        ValueError: their layouts or shapes differ, or `dimension` is none of theirs.
    """
    if not operands:
        raise ValueError("bcoo_concatenate: expected at least one array")
    first = operands[0]
    dimension = dimension_of(dimension, first, "bcoo_concatenate: dimension")
    others = {(*m.shape[:dimension], *m.shape[dimension + 1 :], m.ndim) for m in operands}
    if len(others) > 1 or len({(m.n_batch, m.n_dense) for m in operands}) > 1:
        raise ValueError(
            "bcoo_concatenate: expected arrays of one layout and, but for dimension "
            f"{dimension}, one shape, got {list(operands)}"
        )
    kinds = Kinds.of(first)
    shape = list(first.shape)
    starts = np.cumsum([0, *(m.shape[dimension] for m in operands)]).tolist()
    shape[dimension] = starts[-1]
    if kinds.is_batch(dimension):
        nse = max(m.nse for m in operands)
        parts = [_padded(m, nse) for m in operands]
        data = jnp.concatenate([d for d, _ in parts], axis=dimension)
        indices = jnp.concatenate([i for _, i in parts], axis=dimension)
        return BCOO((data, indices), shape=shape)
    dtype = jnp.result_type(*(m.dtype for m in operands))
    pairs = [m.whole() for m in operands]
    values = [data.astype(dtype) for data, _ in pairs]
    indices = [i for _, i in pairs]
    if kinds.is_sparse(dimension):
        column = dimension - kinds.n_batch
        indices = [
            i.at[..., column].set(
                jnp.where(outside_of(i, m), shape[dimension], i[..., column] + at)
            )
            for i, m, at in zip(indices, operands, starts, strict=False)
        ]
    else:
        axis = kinds.axis_of_data(dimension)
        values = [
            jnp.pad(
                v,
                [
                    (at, shape[dimension] - at - v.shape[axis]) if k == axis else (0, 0)
                    for k in range(v.ndim)
                ],
            )
            for v, at in zip(values, starts, strict=False)
        ]
    data = jnp.concatenate(values, axis=kinds.n_batch)
    return BCOO((data, jnp.concatenate(indices, axis=kinds.n_batch)), shape=shape)


def _padded(mat: BCOO, nse: int) -> tuple[Array, Array]:
    """`data` and `indices` with more values, beyond the array."""
    data, indices = mat.whole()
    before, more = [(0, 0)] * mat.n_batch, (0, nse - mat.nse)
    limits = jnp.asarray(np.array(mat.sparse_shape, indices.dtype))
    added = jnp.broadcast_to(limits, (*mat.batch_shape, more[1], mat.n_sparse))
    return (
        jnp.pad(data, [*before, more, *[(0, 0)] * mat.n_dense]),
        jnp.concatenate([indices, added], axis=mat.n_batch),
    )


@library
def bcoo_slice(
    mat: BCOO,
    *,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> BCOO:
    """Return a part of it, as `lax.slice` does.

    Raises:
        ValueError: the part is not within the array.
    """
    steps = tuple(strides) if strides is not None else (1,) * mat.ndim
    starts, limits = tuple(start_indices), tuple(limit_indices)
    fits = len(starts) == len(limits) == len(steps) == mat.ndim and all(
        0 <= a <= b <= n and s > 0
        for a, b, s, n in zip(starts, limits, steps, mat.shape, strict=False)
    )
    if not fits:
        raise ValueError(
            f"bcoo_slice: start_indices={starts}, limit_indices={limits} and strides={steps} do "
            f"not fit {mat!r}"
        )
    sizes = [-(-(b - a) // s) for a, b, s in zip(starts, limits, steps, strict=True)]
    return _part(mat, starts, sizes, steps)


@library
def bcoo_dynamic_slice(mat: BCOO, start_indices: Sequence[Any], slice_sizes: Sequence[int]) -> BCOO:
    """Return a part of it that begins where arrays say, as `lax.dynamic_slice` does.

    Raises:
        ValueError: the part is larger than the array.
    """
    sizes = tuple(slice_sizes)
    starts = list(start_indices)
    if (
        len(sizes) != mat.ndim
        or len(starts) != mat.ndim
        or any(not 0 <= k <= n for k, n in zip(sizes, mat.shape, strict=False))
    ):
        raise ValueError(
            f"bcoo_dynamic_slice: {len(starts)} start_indices and slice_sizes={sizes} do not fit "
            f"{mat!r}"
        )
    clamped = [
        jnp.clip(as_array(a, "bcoo_dynamic_slice: start_indices"), 0, n - k)
        for a, k, n in zip(starts, sizes, mat.shape, strict=True)
    ]
    return _part(mat, clamped, sizes, (1,) * mat.ndim)


def _part(mat: BCOO, starts: Sequence[Any], sizes: Sequence[int], steps: Sequence[int]) -> BCOO:
    """The part of given sizes that begins at `starts`, with steps between elements."""
    kinds = Kinds.of(mat)
    data, indices = mat.whole()
    for d, (start, size, step) in enumerate(zip(starts, sizes, steps, strict=True)):
        whole = isinstance(start, int) and (start, size, step) == (0, mat.shape[d], 1)
        if whole or kinds.is_sparse(d):
            continue
        axis = kinds.axis_of_data(d)
        data = _along(data, start, size, step, axis)
        if kinds.is_batch(d):
            indices = _along(indices, start, size, step, axis)
    sparse = slice(kinds.n_batch, kinds.n_batch + kinds.n_sparse)
    lengths = np.array(sizes[sparse], indices.dtype)
    offsets = [jnp.asarray(a, indices.dtype) for a in starts[sparse]]
    if offsets:
        moved = indices - jnp.stack(offsets)
        stride = np.array(steps[sparse], indices.dtype)
        places = moved // stride
        kept = ((moved >= 0) & (moved % stride == 0) & (places < lengths)).all(axis=-1)
        kept &= ~outside_of(indices, mat)
        indices = jnp.where(kept[..., None], places, lengths)
        data = jnp.where(kept.reshape(*kept.shape, *[1] * kinds.n_dense), data, 0)
    found = BCOO((data, indices), shape=sizes, unique_indices=mat.unique_indices)
    places_there = prod(found.sparse_shape)
    return found if found.nse <= places_there else bcoo_sum_duplicates(found, nse=places_there)


def _along(x: Array, start: Any, size: int, step: int, axis: int) -> Array:
    if isinstance(start, int):
        return lax.slice_in_dim(
            x, start, start + (size - 1) * step + 1 if size else start, step, axis
        )
    return lax.dynamic_slice_in_dim(x, start, size, axis)
