"""Sparse arrays to begin with: of zeros, identity matrices, random ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, prod
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import random
from irax.core.array import Array
from irax.core.dtypes.strictness import library
from irax.experimental.sparse.bcoo import BCOO, coordinates_of
from irax.experimental.sparse.bcsr import BCSR
from irax.experimental.sparse.forms import JAXSparse, over_batch
from irax.experimental.sparse.layouts import bcoo_sort_indices, bcoo_update_layout
from irax.experimental.sparse.matrices import COO, CSC, CSR

_FORMATS: dict[str, Callable[[BCOO], Any]] = {
    "bcoo": lambda mat: mat,
    "bcsr": BCSR.from_bcoo,
    "coo": COO.from_bcoo,
    "csr": CSR.from_bcoo,
    "csc": CSC.from_bcoo,
}


def _format(name: str) -> Callable[[BCOO], Any]:
    try:
        return _FORMATS[name]
    except KeyError:
        raise ValueError(
            f"sparse_format: there is no {name!r}; there are {', '.join(_FORMATS)}"
        ) from None


@library
def empty(
    shape: Sequence[int],
    dtype: Any = None,
    index_dtype: Any = "int32",
    sparse_format: str = "bcoo",
    *,
    n_batch: int = 0,
    n_dense: int = 0,
    nse: int = 0,
) -> JAXSparse:
    """Return a sparse array of zeros.

    Args:
        shape: its shape.
        dtype: the dtype of its values.
        index_dtype: the dtype of its indices.
        sparse_format: "bcoo", "bcsr", "coo", "csr" or "csc".
        n_batch: the number of dimensions of the batch.
        n_dense: the number of dense dimensions.
        nse: the number of values it has place for.

    Raises:
        ValueError: there is no such format.
    """
    make = _format(sparse_format)
    shape = tuple(shape)
    end = len(shape) - n_dense
    limits = jnp.array(shape[n_batch:end], index_dtype)
    data = jnp.zeros((*shape[:n_batch], nse, *shape[end:]), dtype)
    indices = jnp.broadcast_to(limits, (*shape[:n_batch], nse, end - n_batch))
    return make(BCOO((data, indices), shape=shape, indices_sorted=True, unique_indices=True))


@library
def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = None,
    index_dtype: Any = "int32",
    sparse_format: str = "bcoo",
    *,
    n_batch: int = 0,
    n_dense: int = 0,
) -> JAXSparse:
    """Return the sparse matrix with ones on a diagonal.

    Args:
        N: the number of rows.
        M: the number of columns; by default that of rows.
        k: the diagonal: 0 for the main one, above it for positive numbers.
        dtype: the dtype of its values.
        index_dtype: the dtype of its indices.
        sparse_format: "bcoo", "bcsr", "coo", "csr" or "csc".
        n_batch: the number of dimensions of the batch.
        n_dense: the number of dense dimensions.

    Raises:
        ValueError: there is no such format.

    >>> from irax.experimental import sparse
    >>> sparse.eye(2, 3, k=1).todense()
    Array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    make = _format(sparse_format)
    columns = N if M is None else M
    rows = np.arange(max(0, min(N + min(k, 0), columns - max(k, 0))), dtype=index_dtype)
    indices = jnp.asarray(np.stack([rows - min(k, 0), rows + max(k, 0)], axis=-1))
    data = jnp.ones(len(rows), dtype)
    mat = BCOO((data, indices), shape=(N, columns), indices_sorted=True, unique_indices=True)
    if n_batch or n_dense:
        mat = bcoo_update_layout(mat, n_batch=n_batch, n_dense=n_dense, on_inefficient=None)
    return make(mat)


@library
def random_bcoo(
    key: Any,
    shape: Sequence[int],
    *,
    dtype: Any = float,
    indices_dtype: Any = None,
    nse: float = 0.2,
    n_batch: int = 0,
    n_dense: int = 0,
    unique_indices: bool = True,
    sorted_indices: bool = False,
    generator: Callable[..., Array] = random.uniform,
    **options: Any,
) -> BCOO:
    """Return a sparse array with random values at random places.

    Args:
        key: a PRNG key.
        shape: the shape of the array.
        dtype: the dtype of its values.
        indices_dtype: the dtype of its indices.
        nse: the number of values, or, from 0 to 1, their part of all sparse places.
        n_batch: the number of dimensions of the batch.
        n_dense: the number of dense dimensions.
        unique_indices: no place occurs twice.
        sorted_indices: places are in increasing order.
        generator: draws values for `(key, shape, dtype)`.
        **options: further arguments of `generator`.

    Raises:
        ValueError: `nse` is negative.
    """
    shape = tuple(shape)
    end = len(shape) - n_dense
    batch, sparse, dense = shape[:n_batch], shape[n_batch:end], shape[end:]
    places = prod(sparse)
    count = ceil(nse * places) if nse < 1 else int(nse)
    if nse < 0:
        raise ValueError(f"random_bcoo: nse must not be negative, got {nse}")
    keys = random.split(key, prod(batch) + 1)

    def draw(key: Array) -> Array:
        chosen = random.choice(key, places, (count,), replace=not unique_indices)
        return coordinates_of(chosen, sparse).astype(indices_dtype or int)

    of_places = keys[1:].reshape((*batch, *keys.shape[1:]))
    indices = over_batch(draw, n_batch)(of_places)
    data = generator(keys[0], shape=(*batch, count, *dense), dtype=dtype, **options)
    mat = BCOO((data, indices), shape=shape, unique_indices=unique_indices)
    return bcoo_sort_indices(mat) if sorted_indices else mat
