"""Sparse arrays by compressed rows, with dimensions of a batch and dense ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

import irax.numpy as jnp
from irax import tree_util
from irax.core.array import Array, as_array
from irax.core.dtypes.strictness import library
from irax.experimental.sparse.bcoo import BCOO, bcoo_extract, bcoo_fromdense
from irax.experimental.sparse.forms import JAXSparse, over_batch, placed
from irax.experimental.sparse.layouts import bcoo_sort_indices, bcoo_sum_duplicates
from irax.experimental.sparse.parts import bcoo_concatenate
from irax.experimental.sparse.products import DimensionNumbers, bcoo_dot_general
from irax.experimental.sparse.structure import bcoo_broadcast_in_dim


@tree_util.register_pytree_node_class
class BCSR(JAXSparse):
    """A sparse array by compressed rows, with dimensions of a batch and dense ones.

    The values of row `i` are `data[indptr[i]:indptr[i + 1]]`, in the columns that `indices` say.
    `data` has shape `(*batch, nse, *dense)`, `indices` has shape `(*batch, nse)`, and `indptr` has
    shape `(*batch, rows + 1)`. Two dimensions are sparse. Operations are those of the array in
    coordinate form, which `to_bcoo` returns.

    Args:
        args: `data`, `indices` and `indptr`.
        shape: that of the dense array.
        indices_sorted: the columns of each row are in increasing order.
        unique_indices: no place occurs twice.
    """

    def __init__(
        self,
        args: tuple[Any, Any, Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        data, indices, indptr = args
        self.data: Any = placed(data)
        self.indices: Any = placed(indices)
        self.indptr: Any = placed(indptr)
        self.shape: tuple[int, ...] = tuple(shape)
        self.indices_sorted: bool = indices_sorted
        self.unique_indices: bool = unique_indices

    def tree_flatten(self) -> tuple[tuple[Any, Any, Any], Any]:
        """Return the arrays, and the rest."""
        rest = (self.shape, self.indices_sorted, self.unique_indices, np.ndim(self.indices))
        return (self.data, self.indices, self.indptr), rest

    @classmethod
    def tree_unflatten(cls, rest: Any, arrays: Any) -> Self:
        """Return the sparse array of what `tree_flatten` returned. Where `vmap` has taken leading
        dimensions from the arrays, or added some, they are of the batch.
        """
        shape, is_sorted, unique, ndim = rest
        _, indices, _ = arrays
        added = np.ndim(indices) - ndim if isinstance(indices, Array | np.ndarray) else 0
        if added:
            batch = indices.shape[: max(ndim - 1 + added, 0)]
            shape = (*batch, *shape[ndim - 1 :])
        return cls(arrays, shape=shape, indices_sorted=is_sorted, unique_indices=unique)

    @classmethod
    def fromdense(
        cls,
        mat: Any,
        *,
        nse: int | None = None,
        index_dtype: Any = np.int32,
        n_dense: int = 0,
        n_batch: int = 0,
    ) -> BCSR:
        """Return the sparse form of an array; parameters are those of `BCOO.fromdense`.

        Raises:
            ValueError: the array has not two sparse dimensions.
        """
        return bcsr_fromdense(
            mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch
        )

    @classmethod
    def from_bcoo(cls, arr: BCOO) -> BCSR:
        """Return an array in coordinate form by compressed rows.

        Raises:
            NotImplementedError: it has not two sparse dimensions.
        """
        if arr.n_sparse != 2:
            raise NotImplementedError(
                f"BCSR.from_bcoo: expected an array with 2 sparse dimensions, got {arr.n_sparse}"
            )
        if not arr.indices_sorted:
            arr = bcoo_sort_indices(arr)
        rows = arr.sparse_shape[0]
        bounds = jnp.arange(rows + 1, dtype=arr.indices.dtype)

        def kernel(indices: Array) -> Array:
            return jnp.searchsorted(indices[:, 0], bounds).astype(indices.dtype)

        indptr = over_batch(kernel, arr.n_batch)(arr.indices)
        return cls(
            (arr.data, arr.indices[..., 1], indptr),
            shape=arr.shape,
            indices_sorted=True,
            unique_indices=arr.unique_indices,
        )

    def to_bcoo(self) -> BCOO:
        """Return it in coordinate form."""
        return BCOO(
            (self.data, _places(self.indices, self.indptr, self.shape[self.n_batch + 1])),
            shape=self.shape,
            indices_sorted=self.indices_sorted,
            unique_indices=self.unique_indices,
        )

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: Any = None, n_dense: int = 0, n_batch: int = 0
    ) -> BCSR:
        """Return a matrix of `scipy.sparse` by compressed rows."""
        if n_dense or n_batch:
            raise NotImplementedError(
                "BCSR.from_scipy_sparse: SciPy's matrices have no n_dense and no n_batch"
            )
        mat = mat.tocsr()
        kind = index_dtype or np.int32
        return cls((mat.data, mat.indices.astype(kind), mat.indptr.astype(kind)), shape=mat.shape)

    @property
    def nse(self) -> int:
        return self.indices.shape[-1]

    @property
    def n_batch(self) -> int:
        """The number of dimensions of the batch."""
        return self.indices.ndim - 1

    @property
    def n_sparse(self) -> int:
        """The number of sparse dimensions, 2."""
        return 2

    @property
    def n_dense(self) -> int:
        """The number of dense dimensions."""
        return self.data.ndim - self.indices.ndim

    def todense(self) -> Array:
        return self.to_bcoo().todense()

    def transpose(self, axes: Sequence[int] | None = None) -> BCSR:
        order = tuple(range(self.ndim))[::-1] if axes is None else tuple(axes)
        return BCSR.from_bcoo(self.to_bcoo().transpose(order))

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCSR:
        """Return it with one value at each place; parameters are those of `bcsr_sum_duplicates`."""
        return bcsr_sum_duplicates(self, nse)


def _places(columns: Array, indptr: Array, width: int) -> Array:
    """Rows and columns of the values of matrices of `width` columns by compressed rows. Values
    after those of the last row are beyond the matrix in both.
    """

    def kernel(columns: Array, indptr: Array) -> Array:
        begun = jnp.zeros(columns.shape, np.int32).at[indptr].add(1, mode="drop")
        rows = jnp.cumsum(begun, dtype=np.int32) - 1
        inside = rows < indptr.shape[0] - 1
        known = jnp.where(inside, columns, np.array(width, columns.dtype))
        return jnp.stack([rows.astype(columns.dtype), known], axis=-1)

    return over_batch(kernel, columns.ndim - 1)(columns, indptr)


@library
def bcsr_fromdense(
    mat: Any,
    *,
    nse: int | None = None,
    n_batch: int = 0,
    n_dense: int = 0,
    index_dtype: Any = np.int32,
) -> BCSR:
    """Return the sparse form of an array, as `BCSR.fromdense` does."""
    mat = as_array(mat, "BCSR.fromdense: mat")
    if mat.ndim - n_batch - n_dense != 2:
        raise ValueError(
            f"BCSR.fromdense: an array of {mat.ndim} dimensions with n_batch={n_batch} and "
            f"n_dense={n_dense}: expected two sparse dimensions"
        )
    found = bcoo_fromdense(mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)
    return BCSR.from_bcoo(found)


@library
def bcsr_todense(mat: BCSR) -> Array:
    """Return the dense form of a sparse array."""
    return mat.todense()


@library
def bcsr_extract(indices: Any, indptr: Any, mat: Any) -> Array:
    """Return the elements of a dense array at the places of a sparse one, given by its `indices`
    and `indptr`.
    """
    columns, bounds, dense = as_array(indices), as_array(indptr), as_array(mat)
    places = _places(columns, bounds, dense.shape[columns.ndim])
    empty = jnp.zeros((*columns.shape, *dense.shape[columns.ndim + 1 :]), dense.dtype)
    return bcoo_extract(BCOO((empty, places), shape=dense.shape), dense, assume_unique=True).data


@library
def bcsr_sum_duplicates(mat: BCSR, nse: int | None = None) -> BCSR:
    """Return it with one value at each place; parameters are those of `bcoo_sum_duplicates`."""
    return BCSR.from_bcoo(bcoo_sum_duplicates(mat.to_bcoo(), nse))


@library
def bcsr_broadcast_in_dim(
    mat: BCSR, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], sharding: Any = None
) -> BCSR:
    """Return it with further dimensions, as `bcoo_broadcast_in_dim` does."""
    found = bcoo_broadcast_in_dim(
        mat.to_bcoo(), shape=shape, broadcast_dimensions=broadcast_dimensions
    )
    return BCSR.from_bcoo(found)


@library
def bcsr_concatenate(operands: Sequence[BCSR], *, dimension: int) -> BCSR:
    """Join arrays along a dimension, as `bcoo_concatenate` does."""
    return BCSR.from_bcoo(bcoo_concatenate([m.to_bcoo() for m in operands], dimension=dimension))


@library
def bcsr_dot_general(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: DimensionNumbers,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Return the product of two arrays, of which one is sparse, as `bcoo_dot_general` does."""
    left, right = (x.to_bcoo() if isinstance(x, BCSR) else x for x in (lhs, rhs))
    return bcoo_dot_general(
        left,
        right,
        dimension_numbers=dimension_numbers,
        preferred_element_type=preferred_element_type,
    )
