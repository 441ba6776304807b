"""Sparse arrays in coordinate form, with dimensions of a batch and dense ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

import irax.numpy as jnp
from irax import tree_util
from irax.core.array import Array, as_array
from irax.core.dtypes.strictness import library
from irax.experimental.sparse.forms import JAXSparse, over_batch, placed


@tree_util.register_pytree_node_class
class BCOO(JAXSparse):
    """A sparse array in coordinate form.

    Its dimensions are of three kinds, in this order: those of a batch, sparse ones, and dense ones.
    `data` has shape `(*batch, nse, *dense)`: `nse` values for each element of the batch.
    `indices` has shape `(*batch, nse, n_sparse)`: the place of each value in the sparse
    dimensions. Both may have length 1 where the batch has more. Values at one place are added;
    a value whose place lies beyond the array counts for nothing.

    Args:
        args: `data` and `indices`.
        shape: that of the dense array.
        indices_sorted: places are in increasing order.
        unique_indices: no place occurs twice.

    >>> from irax.experimental.sparse import BCOO
    >>> x = BCOO.fromdense(irax.numpy.array([[0.0, 2.0], [0.0, 0.0]]))
    >>> x, x @ irax.numpy.ones(2)
    (BCOO(float32[2, 2], nse=1), Array([2., 0.], dtype=float32))
    """

    def __init__(
        self,
        args: tuple[Any, Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        data, indices = args
        self.data: Any = placed(data)
        self.indices: Any = placed(indices)
        self.shape: tuple[int, ...] = tuple(shape)
        self.indices_sorted: bool = indices_sorted
        self.unique_indices: bool = unique_indices

    def tree_flatten(self) -> tuple[tuple[Any, Any], Any]:
        """Return the arrays, and the rest."""
        rest = (self.shape, self.indices_sorted, self.unique_indices, np.ndim(self.indices))
        return (self.data, self.indices), rest

    @classmethod
    def tree_unflatten(cls, rest: Any, arrays: Any) -> Self:
        """Return the sparse array of what `tree_flatten` returned. Where `vmap` has taken leading
        dimensions from the arrays, or added some, they are of the batch.
        """
        shape, is_sorted, unique, ndim = rest
        data, indices = arrays
        added = np.ndim(indices) - ndim if isinstance(indices, Array | np.ndarray) else 0
        if added:
            n_batch = max(ndim - 2 + added, 0)
            batch = np.broadcast_shapes(data.shape[:n_batch], indices.shape[:n_batch])
            shape = (*batch, *shape[ndim - 2 :])
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
    ) -> BCOO:
        """Return the sparse form of an array.

        Args:
            mat: the array.
            nse: the number of values; by default as many as are not zero, which has to be known.
            index_dtype: the dtype of `indices`.
            n_dense: the number of dense dimensions.
            n_batch: the number of dimensions of the batch.

        Raises:
            ConcretizationTypeError: `mat` is traced, and `nse` is not given.
            ValueError: it has fewer dimensions than `n_dense` and `n_batch` say.
        """
        return bcoo_fromdense(
            mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch
        )

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: Any = None, n_dense: int = 0, n_batch: int = 0
    ) -> BCOO:
        """Return a matrix of `scipy.sparse` in coordinate form."""
        if n_dense or n_batch:
            raise NotImplementedError(
                "BCOO.from_scipy_sparse: SciPy's matrices have no n_dense and no n_batch: change "
                "the result with update_layout"
            )
        mat = mat.tocoo()
        indices = np.column_stack((mat.row, mat.col)).astype(index_dtype or np.int32)
        return cls((mat.data, indices), shape=mat.shape)

    # -- its form --

    @property
    def nse(self) -> int:
        return self.indices.shape[-2]

    @property
    def n_batch(self) -> int:
        """The number of dimensions of the batch."""
        return self.indices.ndim - 2

    @property
    def n_sparse(self) -> int:
        """The number of dimensions that `indices` have."""
        return self.indices.shape[-1]

    @property
    def n_dense(self) -> int:
        """The number of dense dimensions."""
        return self.data.ndim - 1 - self.n_batch

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions of the batch."""
        return self.shape[: self.n_batch]

    @property
    def sparse_shape(self) -> tuple[int, ...]:
        """The lengths of the sparse dimensions."""
        return self.shape[self.n_batch : self.n_batch + self.n_sparse]

    @property
    def dense_shape(self) -> tuple[int, ...]:
        """The lengths of the dense dimensions."""
        return self.shape[self.n_batch + self.n_sparse :]

    def whole(self) -> tuple[Array, Array]:
        """Return `data` and `indices` with all the lengths of the batch."""
        return (
            jnp.broadcast_to(self.data, (*self.batch_shape, *self.data.shape[self.n_batch :])),
            jnp.broadcast_to(
                self.indices, (*self.batch_shape, *self.indices.shape[self.n_batch :])
            ),
        )

    def places(self) -> tuple[Array, list[Array]]:
        """Return the values in one list, shape `(n, *dense)`, and for each dimension but the dense
        ones where they stand.
        """
        data, indices = self.whole()
        lanes = np.indices((*self.batch_shape, self.nse), dtype=np.int32)[:-1]
        own = [indices[..., d] for d in range(self.n_sparse)]
        values = data.reshape(-1, *self.dense_shape)
        return values, [as_array(x).reshape(-1) for x in (*lanes, *own)]

    def with_data(self, data: Any) -> BCOO:
        """Return it with other values at the same places."""
        return BCOO(
            (data, self.indices),
            shape=self.shape,
            indices_sorted=self.indices_sorted,
            unique_indices=self.unique_indices,
        )

    # -- operations; more in other files --

    def todense(self) -> Array:
        return bcoo_todense(self)

    def astype(self, dtype: Any) -> BCOO:
        """Return it with values of another dtype."""
        return self.with_data(self.data.astype(dtype))

    if TYPE_CHECKING:
        # Attached by methods.py.
        def __getattr__(self, name: str) -> Any: ...
        def __matmul__(self, other: Any) -> Any: ...
        def __rmatmul__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __getitem__(self, index: Any) -> Any: ...
        def transpose(self, axes: Sequence[int] | None = None) -> BCOO: ...


@library
def bcoo_fromdense(
    mat: Any,
    *,
    nse: int | None = None,
    n_batch: int = 0,
    n_dense: int = 0,
    index_dtype: Any = np.int32,
) -> BCOO:
    """Return the sparse form of an array, as `BCOO.fromdense` does."""
    mat = as_array(mat, "BCOO.fromdense: mat")
    n_sparse = mat.ndim - n_batch - n_dense
    if min(n_batch, n_dense, n_sparse) < 0:
        raise ValueError(
            f"BCOO.fromdense: n_batch={n_batch} and n_dense={n_dense} for an array of "
            f"{mat.ndim} dimensions"
        )
    sparse_shape = mat.shape[n_batch : n_batch + n_sparse]
    is_stored = (mat != 0).any(axis=tuple(range(n_batch + n_sparse, mat.ndim)))
    if nse is None:
        counts = is_stored.sum(axis=tuple(range(n_batch, n_batch + n_sparse)))
        nse = int(counts.max(initial=0))

    def kernel(mat: Array, is_stored: Array) -> tuple[Array, Array]:
        (found,) = jnp.nonzero(is_stored.reshape(-1), size=nse, fill_value=is_stored.size)
        indices = coordinates_of(found, sparse_shape)
        rows = mat.reshape(is_stored.size, *mat.shape[n_sparse:])
        return rows.at[found].get(mode="fill", fill_value=0), indices.astype(index_dtype)

    data, indices = over_batch(kernel, n_batch)(mat, is_stored)
    return BCOO((data, indices), shape=mat.shape, indices_sorted=True, unique_indices=True)


@library
def coordinates_of(linear: Array, shape: Sequence[int]) -> Array:
    """Return the coordinates of places that are counted through a shape, last dimension first;
    beyond all dimensions for places beyond its size.
    """
    found: list[Array] = []
    rest: Any = linear
    outside = linear >= int(np.prod(shape, dtype=np.int64))
    for length in reversed(shape):
        found.append(jnp.where(outside, length, rest % max(length, 1)))
        rest = rest // max(length, 1)
    if not found:
        return jnp.zeros((*linear.shape, 0), linear.dtype)
    return jnp.stack(found[::-1], axis=-1)


@library
def bcoo_todense(mat: BCOO) -> Array:
    """Return the dense form of a sparse array."""
    values, places = mat.places()
    if not places:
        return values.sum(axis=0, dtype=mat.dtype)
    zeros = jnp.zeros(mat.shape, mat.dtype)
    if mat.dtype == bool:
        return zeros.at[tuple(places)].max(values, mode="drop")
    return zeros.at[tuple(places)].add(values, mode="drop")


@library
def bcoo_extract(sparr: BCOO, arr: Any, *, assume_unique: bool | None = None) -> BCOO:
    """Return the elements of a dense array at the places of a sparse one.

    Args:
        sparr: the places.
        arr: the dense array, of the same shape.
        assume_unique: no place occurs twice in `sparr`. Otherwise the first of equal places gets
            the element, and the others zero. By default as `sparr` says.

    Raises:
        ValueError: the shapes differ.
    """
    arr = as_array(arr, "bcoo_extract: arr")
    if arr.shape != sparr.shape:
        raise ValueError(
            f"bcoo_extract: expected a dense array of shape {sparr.shape}, got {arr.shape}"
        )

    def kernel(arr: Array, indices: Array) -> Array:
        places = tuple(indices[:, d] for d in range(sparr.n_sparse))
        if places:
            found = arr.at[places].get(mode="fill", fill_value=0)
        else:
            found = jnp.broadcast_to(arr, (sparr.nse, *arr.shape))
        unique = sparr.unique_indices if assume_unique is None else assume_unique
        if unique and places:
            return found
        equal = (indices[:, None] == indices[None]).all(axis=-1)
        is_first = equal.argmax(axis=1) == jnp.arange(sparr.nse)
        return jnp.where(is_first.reshape(-1, *[1] * (found.ndim - 1)), found, 0)

    _, indices = sparr.whole()
    data = over_batch(kernel, sparr.n_batch)(arr, indices)
    return sparr.with_data(data)
