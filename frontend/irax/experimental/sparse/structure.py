"""Sparse arrays whose dimensions are permuted, reversed, reshaped, added or summed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array
from irax.core.dtypes.strictness import library
from irax.experimental.sparse.bcoo import BCOO, coordinates_of
from irax.experimental.sparse.layouts import bcoo_update_layout


@dataclass(frozen=True)
class Kinds:
    """The dimensions of a sparse array by kind: the batch's, sparse ones, dense ones."""

    n_batch: int
    n_sparse: int
    n_dense: int

    @classmethod
    def of(cls, mat: BCOO) -> Kinds:
        """Return those of an array."""
        return cls(mat.n_batch, mat.n_sparse, mat.n_dense)

    def is_batch(self, dimension: int) -> bool:
        """Return True for a dimension of the batch."""
        return dimension < self.n_batch

    def is_sparse(self, dimension: int) -> bool:
        """Return True for a sparse dimension."""
        return self.n_batch <= dimension < self.n_batch + self.n_sparse

    def axis_of_data(self, dimension: int) -> int:
        """Return the axis of `data` for a dimension of the batch or a dense one."""
        return dimension if dimension < self.n_batch else dimension - self.n_sparse + 1


@library
def dimension_of(d: int, mat: BCOO, what: str) -> int:
    """Return the number of a dimension. Raises ValueError if there is no such dimension."""
    if not -mat.ndim <= d < mat.ndim:
        raise ValueError(f"{what}: {d} is no dimension of {mat!r}")
    return d % mat.ndim


@library
def outside_of(indices: Array, mat: BCOO) -> Array:
    """Return for each value if its place lies beyond the array."""
    return (indices >= np.array(mat.sparse_shape, indices.dtype)).any(axis=-1)


@library
def bcoo_transpose(mat: BCOO, *, permutation: Sequence[int]) -> BCOO:
    """Return it with its dimensions in another order.

    Raises:
        ValueError: `permutation` does not name each dimension once.
        NotImplementedError: dimensions of different kinds change places.
    """
    order = [d % mat.ndim if -mat.ndim <= d < mat.ndim else mat.ndim for d in permutation]
    if sorted(order) != list(range(mat.ndim)):
        raise ValueError(
            f"bcoo_transpose: permutation must name each of the {mat.ndim} dimensions once, got "
            f"{tuple(permutation)}"
        )
    n_batch, n_sparse = mat.n_batch, mat.n_sparse
    batch, sparse = order[:n_batch], order[n_batch : n_batch + n_sparse]
    dense = order[n_batch + n_sparse :]
    kinds = Kinds.of(mat)
    if not all(map(kinds.is_batch, batch)) or not all(map(kinds.is_sparse, sparse)):
        raise NotImplementedError(
            f"bcoo_transpose: permutation={tuple(permutation)} moves dimensions of the batch, "
            f"sparse and dense ones into each other's places in {mat!r} with n_batch={n_batch} "
            f"and n_dense={mat.n_dense}; change the layout with update_layout first"
        )
    columns = np.array([d - n_batch for d in sparse], int)
    data = mat.data.transpose(*batch, n_batch, *(kinds.axis_of_data(d) for d in dense))
    indices = mat.indices.transpose(*batch, n_batch, n_batch + 1)[..., columns]
    return BCOO(
        (data, indices),
        shape=[mat.shape[d] for d in order],
        unique_indices=mat.unique_indices,
    )


@library
def bcoo_reduce_sum(mat: BCOO, *, axes: Sequence[int]) -> BCOO:
    """Return sums of its elements over some dimensions."""
    dropped = sorted({dimension_of(d, mat, "bcoo_reduce_sum: axes") for d in axes})
    kinds = Kinds.of(mat)
    of_batch = [d for d in dropped if kinds.is_batch(d)]
    if of_batch:  # their values stay, in a dimension that is then left out
        kept = [d for d in range(mat.n_batch) if d not in of_batch]
        order = [*kept, *of_batch, *range(mat.n_batch, mat.ndim)]
        rest = [order.index(d) for d in dropped]
        moved = bcoo_update_layout(bcoo_transpose(mat, permutation=order), n_batch=len(kept))
        return bcoo_reduce_sum(moved, axes=rest)
    columns = [d for d in range(kinds.n_sparse) if d + kinds.n_batch not in dropped]
    dense = tuple(kinds.axis_of_data(d) for d in dropped if not kinds.is_sparse(d))
    indices = mat.indices
    outside = outside_of(indices, mat)
    if len(columns) < kinds.n_sparse:  # places beyond the array stay beyond what is left of it
        limits = np.array(mat.sparse_shape, indices.dtype)
        indices = jnp.where(outside[..., None], limits, indices)
    data = mat.data
    if not columns and kinds.n_sparse:  # nothing is left that could lie beyond
        own = outside.reshape(*outside.shape, *[1] * kinds.n_dense)
        data = jnp.where(own, 0, data)
    return BCOO(
        (data.sum(axis=dense, dtype=mat.dtype) if dense else data, indices[..., columns]),
        shape=[n for d, n in enumerate(mat.shape) if d not in dropped],
        unique_indices=mat.unique_indices and len(columns) == kinds.n_sparse,
        indices_sorted=mat.indices_sorted and columns == list(range(len(columns))),
    )


@library
def bcoo_broadcast_in_dim(
    mat: BCOO, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], sharding: Any = None
) -> BCOO:
    """Return it with further dimensions, and with dimensions of length 1 repeated.

    New dimensions before the first that is not of the batch are the batch's; those after the first
    dense one are dense; others are sparse.

    Raises:
        ValueError: the shapes do not fit.
    """
    places, shape = tuple(broadcast_dimensions), tuple(shape)
    fits = len(places) == mat.ndim and all(
        0 <= d < len(shape) and n in (1, shape[d]) for n, d in zip(mat.shape, places, strict=False)
    )
    if not fits or list(places) != sorted(set(places)):
        raise ValueError(
            f"bcoo_broadcast_in_dim: {mat!r} does not fit shape={shape} with "
            f"broadcast_dimensions={places}"
        )
    end = mat.n_batch + mat.n_sparse
    n_batch = places[mat.n_batch] if mat.n_batch < mat.ndim else len(shape)
    first_dense = places[end] if mat.n_dense else len(shape)
    data = lax.broadcast_in_dim(
        mat.data,
        [
            *_lengths(mat.data.shape[: mat.n_batch], places, n_batch),
            mat.nse,
            *shape[first_dense:],
        ],
        [*places[: mat.n_batch], n_batch, *(d - first_dense + n_batch + 1 for d in places[end:])],
    )
    indices = lax.broadcast_in_dim(
        mat.indices,
        [*_lengths(mat.indices.shape[: mat.n_batch], places, n_batch), mat.nse, mat.n_sparse],
        [*places[: mat.n_batch], n_batch, n_batch + 1],
    )
    return _with_sparse_dimensions(mat, data, indices, shape, n_batch, first_dense, places)


def _lengths(own: Sequence[int], places: Sequence[int], count: int) -> list[int]:
    """The lengths of dimensions of a batch where own ones have new places: 1 for new ones."""
    found = [1] * count
    for n, d in zip(own, places, strict=False):
        found[d] = n
    return found


def _with_sparse_dimensions(
    mat: BCOO,
    data: Array,
    indices: Array,
    shape: tuple[int, ...],
    n_batch: int,
    first_dense: int,
    places: Sequence[int],
) -> BCOO:
    """The array whose sparse dimensions are those of `shape` from `n_batch` to `first_dense`: each
    value is repeated along those that are new or were of length 1.
    """
    own = {d: i for i, d in enumerate(places[mat.n_batch : mat.n_batch + mat.n_sparse])}
    repeated = [
        d
        for d in range(n_batch, first_dense)
        if d not in own or mat.sparse_shape[own[d]] != shape[d]
    ]
    lengths = [shape[d] for d in repeated]
    times = prod(lengths)
    lattice = np.indices(lengths, dtype=mat.indices.dtype).reshape(len(repeated), times)
    batch = indices.shape[:n_batch]
    columns: list[Array] = []
    outside = outside_of(indices, mat)
    for d in range(n_batch, first_dense):
        if d in repeated:
            column = jnp.broadcast_to(lattice[repeated.index(d)], (*batch, mat.nse, times))
            column = jnp.where(outside[..., None], shape[d], column)
        else:
            column = jnp.broadcast_to(indices[..., own[d], None], (*batch, mat.nse, times))
        columns.append(column.reshape(*batch, mat.nse * times))
    spread = (
        jnp.stack(columns, axis=-1)
        if columns
        else jnp.zeros((*batch, mat.nse, 0), mat.indices.dtype)
    )
    return BCOO(
        (jnp.repeat(data, times, axis=n_batch) if times != 1 else data, spread),
        shape=shape,
        unique_indices=mat.unique_indices,
    )


@library
def bcoo_rev(operand: BCOO, dimensions: Sequence[int]) -> BCOO:
    """Return it with the order of elements reversed along some dimensions."""
    chosen = {dimension_of(d, operand, "bcoo_rev: dimensions") for d in dimensions}
    kinds = Kinds.of(operand)
    data, indices = operand.whole()
    outside = outside_of(indices, operand)
    for d in sorted(chosen):
        if kinds.is_sparse(d):
            column, length = d - kinds.n_batch, operand.shape[d]
            reverse = jnp.where(outside, length, length - 1 - indices[..., column])
            indices = indices.at[..., column].set(reverse)
        else:
            data = jnp.flip(data, kinds.axis_of_data(d))
            if kinds.is_batch(d):
                indices, outside = jnp.flip(indices, d), jnp.flip(outside, d)
    return BCOO((data, indices), shape=operand.shape, unique_indices=operand.unique_indices)


@library
def bcoo_squeeze(arr: BCOO, *, dimensions: Sequence[int]) -> BCOO:
    """Return it without some dimensions, which have length 1.

    Raises:
        ValueError: one of them has another length.
    """
    dropped = {dimension_of(d, arr, "bcoo_squeeze: dimensions") for d in dimensions}
    if any(arr.shape[d] != 1 for d in dropped):
        raise ValueError(
            f"bcoo_squeeze: dimensions {sorted(dropped)} of {arr!r} are not all of length 1"
        )
    return bcoo_reduce_sum(arr, axes=sorted(dropped)) if dropped else arr


@library
def bcoo_reshape(
    mat: BCOO,
    *,
    new_sizes: Sequence[int],
    dimensions: Sequence[int] | None = None,
    sharding: Any = None,
) -> BCOO:
    """Return it in another shape; dimensions of each kind are reshaped by themselves.

    Args:
        mat: the sparse array.
        new_sizes: the new shape.
        dimensions: the order in which its dimensions are read; by default as they are.
        sharding: accepted, without effect.

    Raises:
        ValueError: the sizes differ, or a new dimension would be of two kinds.
    """
    sizes = tuple(new_sizes)
    if prod(sizes) != mat.size:
        raise ValueError(f"bcoo_reshape: {mat!r} does not have the size of new_sizes={sizes}")
    if dimensions is not None:
        mat = bcoo_transpose(mat, permutation=dimensions)
    batch, sparse, dense = _parts_of_shape(mat, sizes)
    data, indices = mat.whole()
    linear = jnp.zeros(indices.shape[:-1], indices.dtype)
    for d, length in enumerate(mat.sparse_shape):
        linear = linear * length + indices[..., d]
    places = coordinates_of(jnp.where(outside_of(indices, mat), prod(sparse), linear), sparse)
    return BCOO(
        (
            data.reshape(*batch, mat.nse, *dense),
            places.astype(indices.dtype).reshape(*batch, mat.nse, len(sparse)),
        ),
        shape=sizes,
        indices_sorted=mat.indices_sorted,
        unique_indices=mat.unique_indices,
    )


def _parts_of_shape(mat: BCOO, sizes: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The lengths of the batch's, sparse and dense dimensions in another shape."""
    cuts = range(len(sizes) + 1)
    firsts = [k for k in cuts if prod(sizes[:k]) == prod(mat.batch_shape)] if mat.n_batch else [0]
    lasts = [k for k in cuts if prod(sizes[k:]) == prod(mat.dense_shape)]
    pairs = [
        (first, last)
        for first in firsts
        for last in (lasts if mat.n_dense else cuts[-1:])
        if first <= last and prod(sizes[first:last]) == prod(mat.sparse_shape)
    ]
    if not pairs:
        raise ValueError(
            f"bcoo_reshape: new_sizes={sizes} mixes dimensions of the batch, sparse and dense ones "
            f"of {mat!r} with n_batch={mat.n_batch} and n_dense={mat.n_dense}; change the layout "
            "with update_layout first"
        )
    # Lengths of 1 between the batch and what follows are sparse, if there are sparse dimensions.
    first, last = min(pairs, key=lambda pair: (pair[0] if mat.n_sparse else -pair[0], pair[1]))
    return sizes[:first], sizes[first:last], sizes[last:]
