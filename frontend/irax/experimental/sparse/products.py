"""Products of sparse arrays with dense and sparse ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np

import irax.numpy as jnp
from irax.core.array import Array, as_array
from irax.core.dtypes.strictness import library
from irax.experimental.sparse.bcoo import BCOO
from irax.experimental.sparse.forms import over_batch
from irax.experimental.sparse.layouts import bcoo_sum_duplicates, bcoo_update_layout

DimensionNumbers: TypeAlias = tuple[
    tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]
]
"""The contracting dimensions of both operands, and their batch dimensions, as of
`lax.dot_general`."""


@library
def bcoo_dot_general(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: DimensionNumbers,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Return the product of two arrays, of which one or both are sparse, as `lax.dot_general` does.

    Args:
        lhs: an array, sparse or dense.
        rhs: an array, sparse or dense.
        dimension_numbers: the contracting dimensions of both, and their batch dimensions.
        precision: accepted, without effect.
        preferred_element_type: the dtype of the result.
        out_sharding: accepted, without effect.

    Returns:
        A dense array; a sparse one where both are sparse.

    Raises:
        TypeError: lengths of contracting or batch dimensions differ.
        NotImplementedError: both are sparse, and one has dense dimensions, or batch dimensions that
            are not of its batch.
    """
    (lc, rc), (lb, rb) = dimension_numbers
    lc, rc, lb, rb = (tuple(int(d) for d in group) for group in (lc, rc, lb, rb))
    for what, left, right in (("contracting", lc, rc), ("batch", lb, rb)):
        sizes = [lhs.shape[d] for d in left], [rhs.shape[d] for d in right]
        if sizes[0] != sizes[1]:
            raise TypeError(
                f"bcoo_dot_general: {what} dimensions {left} of the left operand have lengths "
                f"{tuple(sizes[0])}, and {right} of the right one {tuple(sizes[1])}"
            )
    if isinstance(lhs, BCOO) and isinstance(rhs, BCOO):
        found = _of_sparse(lhs, rhs, lc, rc, lb, rb)
        kind = preferred_element_type or found.dtype
        return found.with_data(found.data.astype(kind))
    if isinstance(lhs, BCOO):
        return _with_dense(lhs, as_array(rhs), lc, rc, lb, rb, preferred_element_type)
    found = _with_dense(rhs, as_array(lhs), rc, lc, rb, lb, preferred_element_type)
    free = rhs.ndim - len(rc) - len(rb)
    return jnp.moveaxis(found, range(len(lb), len(lb) + free), range(found.ndim - free, found.ndim))


def _with_dense(
    mat: BCOO,
    dense: Array,
    mc: Sequence[int],
    dc: Sequence[int],
    mb: Sequence[int],
    db: Sequence[int],
    dtype: Any,
) -> Array:
    """The product of a sparse array with a dense one: for each value a slice of the dense array,
    times the value, is added at its place.
    """
    kind = dtype or jnp.result_type(mat.dtype, dense.dtype)
    values, places = bcoo_update_layout(mat, n_dense=0).places()
    others = [d for d in range(dense.ndim) if d not in (*dc, *db)]
    rows = dense.transpose(*db, *dc, *others)
    known = tuple(places[d] for d in (*mb, *mc))
    if known:
        rows = rows.at[known].get(mode="fill", fill_value=0)
    scaled = values.astype(kind).reshape(-1, *[1] * len(others)) * rows.astype(kind)
    free = [d for d in range(mat.ndim) if d not in (*mc, *mb)]
    shape = [mat.shape[d] for d in (*mb, *free)]
    kept = tuple(places[d] for d in (*mb, *free))
    if not kept:
        return scaled.sum(axis=0, dtype=kind)
    zeros = jnp.zeros((*shape, *(dense.shape[d] for d in others)), kind)
    return zeros.at[kept].add(scaled, mode="drop")


def _of_sparse(
    lhs: BCOO,
    rhs: BCOO,
    lc: Sequence[int],
    rc: Sequence[int],
    lb: Sequence[int],
    rb: Sequence[int],
) -> BCOO:
    """The product of two sparse arrays: each value of one meets each of the other."""
    if lhs.n_dense or rhs.n_dense:
        raise NotImplementedError(
            "bcoo_dot_general: a product of two sparse arrays with dense dimensions: make them "
            "sparse with update_layout(n_dense=0)"
        )
    if sorted(lb) != list(range(lhs.n_batch)) or sorted(rb) != list(range(rhs.n_batch)):
        raise NotImplementedError(
            f"bcoo_dot_general: batch dimensions {tuple(lb)} and {tuple(rb)} of two sparse arrays "
            f"with n_batch={lhs.n_batch} and {rhs.n_batch}: expected all dimensions of the batch, "
            "and no others; change the layouts with update_layout"
        )
    n_batch = len(lb)
    left_free = [d - n_batch for d in range(n_batch, lhs.ndim) if d not in lc]
    right_free = [d - n_batch for d in range(n_batch, rhs.ndim) if d not in rc]
    sparse_shape = (
        *(lhs.sparse_shape[d] for d in left_free),
        *(rhs.sparse_shape[d] for d in right_free),
    )
    left_columns, right_columns = [d - n_batch for d in lc], [d - n_batch for d in rc]

    def kernel(ld: Array, li: Array, rd: Array, ri: Array) -> tuple[Array, Array]:
        meet = _inside(li, lhs)[:, None] & _inside(ri, rhs)
        for a, b in zip(left_columns, right_columns, strict=True):
            meet &= li[:, a, None] == ri[:, b]
        pairs = (len(ld), len(rd))
        columns = [
            *(jnp.broadcast_to(li[:, d, None], pairs) for d in left_free),
            *(jnp.broadcast_to(ri[:, d], pairs) for d in right_free),
        ]
        return _pairs(meet, ld[:, None] * rd, columns, sparse_shape)

    left, right = lhs.whole(), rhs.whole()
    moved = [x.transpose(*lb, *range(n_batch, x.ndim)) for x in left]
    moved += [x.transpose(*rb, *range(n_batch, x.ndim)) for x in right]
    arrays = over_batch(kernel, n_batch)(*moved)
    shape = (*(lhs.shape[d] for d in lb), *sparse_shape)
    return bcoo_sum_duplicates(BCOO(arrays, shape=shape), _most(lhs, rhs, sparse_shape))


def _inside(indices: Array, mat: BCOO) -> Array:
    return (indices < np.array(mat.sparse_shape, indices.dtype)).all(axis=-1)


def _pairs(
    meet: Array, products: Array, columns: Sequence[Array], shape: Sequence[int]
) -> tuple[Array, Array]:
    """Values and places of all pairs, in one list; those that do not meet lie beyond the array."""
    limits = [jnp.where(meet, c, n).reshape(-1) for c, n in zip(columns, shape, strict=True)]
    indices = jnp.stack(limits, axis=-1) if limits else jnp.zeros((meet.size, 0), np.int32)
    rest = products.shape[meet.ndim :]
    kept = meet.reshape(*meet.shape, *[1] * len(rest))
    return jnp.where(kept, products, 0).reshape(-1, *rest), indices


def _most(lhs: BCOO, rhs: BCOO, shape: Sequence[int]) -> int:
    return min(lhs.nse * rhs.nse, prod(shape))


@library
def bcoo_dot_general_sampled(
    A: Any, B: Any, indices: Any, *, dimension_numbers: DimensionNumbers
) -> Array:
    """Return elements of the product of two dense arrays, without computing the others.

    Args:
        A: the left operand.
        B: the right operand.
        indices: places in the product, as `BCOO.indices`; dimensions of the product before those
            of places are of the batch, those after them are whole.
        dimension_numbers: as of `lax.dot_general`.
    """
    a, b, places = as_array(A), as_array(B), as_array(indices)
    (ac, bc), (ab, bb) = dimension_numbers
    a_free = [d for d in range(a.ndim) if d not in (*ac, *ab)]
    b_free = [d for d in range(b.ndim) if d not in (*bc, *bb)]
    # Both operands as (batch, free dimensions, contracted ones in a single dimension).
    a = a.transpose(*ab, *a_free, *ac).reshape(*(a.shape[d] for d in (*ab, *a_free)), -1)
    b = b.transpose(*bb, *b_free, *bc).reshape(*(b.shape[d] for d in (*bb, *b_free)), -1)
    n_batch, n_sparse = places.ndim - 2, places.shape[-1]
    columns = _columns(places, n_batch)
    n_common, n_left = len(ab), len(ab) + len(a_free)
    total = n_left + len(b_free)
    dense = total - n_batch - n_sparse
    of_a = tuple(columns[d] for d in range(min(n_left, total - dense)))
    chosen = [*range(n_common), *range(n_left, total - dense)]
    of_b = tuple(columns[d] for d in chosen)
    left = a.at[of_a].get(mode="fill", fill_value=0)
    right = b.at[of_b].get(mode="fill", fill_value=0)
    rest_a = n_left - len(of_a)
    rest_b = dense - rest_a
    lead = places.ndim - 1
    left = left.reshape(*left.shape[:lead], *left.shape[lead:-1], *[1] * rest_b, left.shape[-1])
    right = right.reshape(*right.shape[:lead], *[1] * rest_a, *right.shape[lead:])
    return (left * right).sum(axis=-1)


def _columns(places: Array, n_batch: int) -> list[Array]:
    """The coordinates of places in each dimension, those of the batch among them."""
    shape = places.shape[:-1]
    lanes = np.indices(shape, dtype=np.int32)[:n_batch]
    return [*map(jnp.asarray, lanes), *(places[..., d] for d in range(places.shape[-1]))]


@library
def bcoo_multiply_dense(sp_mat: BCOO, v: Any) -> Array:
    """Return the values of the elementwise product of a sparse array with a dense one.

    Args:
        sp_mat: the sparse array.
        v: an array whose shape broadcasts to that of `sp_mat`.

    Raises:
        ValueError: it does not.
    """
    v = as_array(v, "bcoo_multiply_dense: v")
    fits = v.ndim <= sp_mat.ndim and all(
        n in (1, m) for n, m in zip(v.shape[::-1], sp_mat.shape[::-1], strict=False)
    )
    if not fits:
        raise ValueError(
            f"bcoo_multiply_dense: v with shape {v.shape} does not broadcast to {sp_mat.shape}"
        )
    if v.ndim <= sp_mat.n_dense:
        return sp_mat.data * v
    v = v.reshape(*[1] * (sp_mat.ndim - v.ndim), *v.shape)
    values, places = sp_mat.places()
    chosen = tuple(
        p if n != 1 else jnp.zeros_like(p) for p, n in zip(places, v.shape, strict=False)
    )
    factors = v.at[chosen].get(mode="fill", fill_value=0)
    return (values * factors).reshape(*sp_mat.batch_shape, sp_mat.nse, *sp_mat.dense_shape)


@library
def bcoo_multiply_sparse(lhs: BCOO, rhs: BCOO) -> BCOO:
    """Return the elementwise product of two sparse arrays, whose shapes broadcast.

    Raises:
        ValueError: they do not.
        NotImplementedError: the numbers of their dimensions of each kind differ.
    """
    kinds = [(m.n_batch, m.n_sparse, m.n_dense) for m in (lhs, rhs)]
    if kinds[0] != kinds[1]:
        raise NotImplementedError(
            f"bcoo_multiply_sparse: arrays with dimensions of the batch, sparse and dense ones "
            f"{kinds[0]} and {kinds[1]}: change the layouts with update_layout"
        )
    shape = np.broadcast_shapes(lhs.shape, rhs.shape)
    n_batch, n_sparse, _ = kinds[0]
    sparse_shape = shape[n_batch : n_batch + n_sparse]

    def kernel(ld: Array, li: Array, rd: Array, ri: Array) -> tuple[Array, Array]:
        meet = _inside(li, lhs)[:, None] & _inside(ri, rhs)
        columns = []
        for d, (n, m) in enumerate(zip(lhs.sparse_shape, rhs.sparse_shape, strict=True)):
            left, right = jnp.broadcast_arrays(li[:, d, None], ri[:, d])
            if n == m:
                meet &= left == right
            columns.append(right if n == 1 else left)
        return _pairs(meet, ld[:, None] * rd, columns, sparse_shape)

    arrays = [_spread(x, shape[:n_batch]) for m in (lhs, rhs) for x in m.whole()]
    found = BCOO(over_batch(kernel, n_batch)(*arrays), shape=shape)
    return bcoo_sum_duplicates(found, _most(lhs, rhs, sparse_shape))


def _spread(x: Array, batch: Sequence[int]) -> Array:
    return jnp.broadcast_to(x, (*batch, *x.shape[len(batch) :]))


@library
def elementwise(mat: BCOO, function: Callable[[Array], Array], is_linear: bool) -> BCOO:
    """Return a function of each element, one that is zero at zero."""
    if not is_linear and not mat.unique_indices:
        mat = bcoo_sum_duplicates(mat, mat.nse)
    return mat.with_data(function(mat.data))
