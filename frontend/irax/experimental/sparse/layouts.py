"""Other layouts of the same sparse array: places in order, each once, dimensions of other kinds."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

import irax.numpy as jnp
from irax.core.array import Array
from irax.core.dtypes.strictness import library
from irax.experimental.sparse.bcoo import BCOO
from irax.experimental.sparse.forms import over_batch, tell_inefficient


@library
def bcoo_sort_indices(mat: BCOO) -> BCOO:
    """Return it with its places in increasing order."""

    def kernel(data: Array, indices: Array) -> tuple[Array, Array]:
        order = _order(indices)
        return data[order], indices[order]

    data, indices = over_batch(kernel, mat.n_batch)(*mat.whole())
    return BCOO(
        (data, indices),
        shape=mat.shape,
        indices_sorted=True,
        unique_indices=mat.unique_indices,
    )


def _order(indices: Array) -> Array:
    """The order of places, from the first to the last."""
    if not indices.shape[1]:
        return jnp.arange(indices.shape[0])
    return jnp.lexsort(tuple(indices[:, d] for d in reversed(range(indices.shape[1]))))


@library
def bcoo_sum_duplicates(mat: BCOO, nse: int | None = None) -> BCOO:
    """Return it with one value at each place, in increasing order.

    Args:
        mat: the sparse array.
        nse: the number of values; by default as many as there are places, which have to be known.
            Places beyond that number are left out.

    Raises:
        ConcretizationTypeError: the places are traced, and `nse` is not given.
    """
    data, indices = mat.whole()
    limits = np.array(mat.sparse_shape, indices.dtype)
    outside = ((indices < 0) | (indices >= limits)).any(axis=-1)
    indices = jnp.where(outside[..., None], limits, indices)

    def groups(indices: Array) -> tuple[Array, Array]:
        order = _order(indices)
        ordered = indices[order]
        differs = (ordered[1:] != ordered[:-1]).any(axis=-1)
        first = jnp.zeros(min(1, len(order)), np.int32)
        return order, jnp.concatenate([first, differs.astype(np.int32)]).cumsum()

    order, group = over_batch(groups, mat.n_batch)(indices)
    if nse is None:
        inside = jnp.where(jnp.take_along_axis(outside, order, axis=-1), -1, group)
        nse = int(inside.max(initial=-1)) + 1

    def kernel(
        data: Array, indices: Array, outside: Array, order: Array, group: Array
    ) -> tuple[Array, Array]:
        ordered = indices[order]
        places = jnp.broadcast_to(limits, (nse, mat.n_sparse))
        places = places.at[group].set(ordered, mode="drop")
        kept = jnp.where(outside.reshape(-1, *[1] * mat.n_dense), 0, data)[order]
        sums = jnp.zeros((nse, *data.shape[1:]), kept.dtype)
        added = sums.at[group].max if kept.dtype == bool else sums.at[group].add
        return added(kept, mode="drop"), places

    arrays = over_batch(kernel, mat.n_batch)(data, indices, outside, order, group)
    return BCOO(arrays, shape=mat.shape, indices_sorted=True, unique_indices=True)


@library
def bcoo_update_layout(
    mat: BCOO,
    *,
    n_batch: int | None = None,
    n_dense: int | None = None,
    on_inefficient: str | None = "error",
) -> BCOO:
    """Return it with other numbers of dimensions of a batch and dense ones.

    Args:
        mat: the sparse array.
        n_batch: the number of dimensions of the batch; by default as it is.
        n_dense: the number of dense dimensions; by default as it is.
        on_inefficient: "error", "warn" or None, where the result is larger by a dimension: sparse
            dimensions become dense or the batch's.

    Raises:
        SparseEfficiencyError: the result would be so.
        ValueError: there are not so many dimensions.
    """
    n_batch = mat.n_batch if n_batch is None else n_batch
    n_dense = mat.n_dense if n_dense is None else n_dense
    if min(n_batch, n_dense) < 0 or n_batch + n_dense > mat.ndim:
        raise ValueError(
            f"bcoo_update_layout: n_batch={n_batch} and n_dense={n_dense} for an array of "
            f"{mat.ndim} dimensions"
        )
    what = f"bcoo_update_layout: {mat!r} with n_batch={n_batch} and n_dense={n_dense}"
    if mat.n_batch > n_batch:
        mat = _batch_to_sparse(mat, mat.n_batch - n_batch)
    if mat.n_dense > n_dense:
        mat = _dense_to_sparse(mat, mat.n_dense - n_dense)
    if mat.n_batch < n_batch:
        tell_inefficient(f"{what} has all values for each element of the batch", on_inefficient)
        mat = _sparse_to_batch(mat, n_batch - mat.n_batch)
    if mat.n_dense < n_dense:
        tell_inefficient(f"{what} has zeros in its dense dimensions", on_inefficient)
        mat = _sparse_to_dense(mat, n_dense - mat.n_dense)
    return mat


def _batch_to_sparse(mat: BCOO, count: int) -> BCOO:
    """The last `count` dimensions of the batch become sparse."""
    data, indices = mat.whole()
    outer, inner = mat.batch_shape[:-count], mat.batch_shape[-count:]
    lanes = _lattice(inner, mat.nse, indices.dtype)
    lanes = jnp.broadcast_to(lanes, (*outer, *lanes.shape))
    joined = jnp.concatenate([lanes, indices], axis=-1)
    nse = prod(inner) * mat.nse
    return BCOO(
        (
            data.reshape(*outer, nse, *mat.dense_shape),
            joined.reshape(*outer, nse, joined.shape[-1]),
        ),
        shape=mat.shape,
        indices_sorted=mat.indices_sorted,
        unique_indices=mat.unique_indices,
    )


def _dense_to_sparse(mat: BCOO, count: int) -> BCOO:
    """The first `count` dense dimensions become sparse."""
    inner, rest = mat.dense_shape[:count], mat.dense_shape[count:]
    places = _lattice(inner, 1, mat.indices.dtype).reshape(-1, count)
    lengths = (*mat.indices.shape[:-2], mat.nse, len(places))
    own = jnp.broadcast_to(mat.indices[..., None, :], (*lengths, mat.n_sparse))
    indices = jnp.concatenate([own, jnp.broadcast_to(places, (*lengths, count))], axis=-1)
    nse = mat.nse * len(places)
    return BCOO(
        (
            mat.data.reshape(*mat.data.shape[: mat.n_batch], nse, *rest),
            indices.reshape(*mat.indices.shape[:-2], nse, indices.shape[-1]),
        ),
        shape=mat.shape,
        indices_sorted=mat.indices_sorted,
        unique_indices=mat.unique_indices,
    )


def _sparse_to_batch(mat: BCOO, count: int) -> BCOO:
    """The first `count` sparse dimensions become the batch's: each element of the batch has all
    values, and those of others lie beyond the array.
    """
    data, indices = mat.whole()
    lengths = mat.sparse_shape[:count]
    limits = np.array(mat.sparse_shape[count:], indices.dtype)

    def kernel(data: Array, indices: Array) -> tuple[Array, Array]:
        lanes = _lattice(lengths, 1, indices.dtype)
        is_own = (indices[:, :count] == lanes).all(axis=-1)
        places = jnp.where(is_own[..., None], indices[:, count:], limits)
        values = jnp.where(is_own.reshape(*is_own.shape, *[1] * mat.n_dense), data, 0)
        return values, places

    arrays = over_batch(kernel, mat.n_batch)(data, indices)
    return BCOO(arrays, shape=mat.shape)


def _sparse_to_dense(mat: BCOO, count: int) -> BCOO:
    """The last `count` sparse dimensions become dense: around each value there are zeros."""
    data, indices = mat.whole()
    kept = mat.n_sparse - count
    lengths = mat.sparse_shape[kept:]

    def kernel(data: Array, indices: Array) -> tuple[Array, Array]:
        rows = jnp.arange(mat.nse)
        blocks = jnp.zeros((mat.nse, *lengths, *mat.dense_shape), data.dtype)
        inner = (indices[:, kept + d] for d in range(count))
        return blocks.at[(rows, *inner)].set(data, mode="drop"), indices[:, :kept]

    arrays = over_batch(kernel, mat.n_batch)(data, indices)
    return BCOO(arrays, shape=mat.shape)


def _lattice(shape: Sequence[int], times: int, dtype: np.dtype[np.generic]) -> Array:
    """All places of a shape, each a number of times: shape `(*shape, times, len(shape))`."""
    places = np.indices((*shape, times), dtype=dtype)[:-1]
    return jnp.asarray(np.moveaxis(places, 0, -1))
