"""Sparse arrays in coordinate form: values, and where they stand.

x = BCOO.fromdense(jnp.eye(3))
x @ v, x.T, x.sum(), x.todense()
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Self

import numpy as np

import irax.numpy as jnp
from irax import tree_util
from irax.core.array import Array, as_array
from irax.core.avals import ShapedArray


@tree_util.register_pytree_node_class
class BCOO:
    """A sparse array: `data` are its values, and a row of `indices` is the place of one.

    Leading dimensions may be of a batch: `data` has shape `(*batch, n)` and `indices` has shape
    `(*batch, n, d)`, for the other d dimensions. Values at one place are added. It is a pytree, so
    programs take and return it, and derivatives are with respect to `data`.
    """

    __array_ufunc__ = None  # NumPy's operators leave `ndarray @ BCOO` to this class

    def __init__(
        self,
        args: tuple[Any, Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        data, indices = args
        self.data: Any = _placed(data)
        self.indices: Any = _placed(indices)
        self.shape: tuple[int, ...] = tuple(shape)
        self.indices_sorted: bool = indices_sorted
        self.unique_indices: bool = unique_indices

    def tree_flatten(self) -> tuple[tuple[Any, Any], Any]:
        """Return the arrays, and the rest."""
        return (self.data, self.indices), (self.shape, self.indices_sorted, self.unique_indices)

    @classmethod
    def tree_unflatten(cls, rest: Any, arrays: Any) -> Self:
        """Return the sparse array of what `tree_flatten` returned."""
        shape, is_sorted, unique = rest
        return cls(arrays, shape=shape, indices_sorted=is_sorted, unique_indices=unique)

    @classmethod
    def fromdense(
        cls, mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32, **_: Any
    ) -> Self:
        """Return the sparse form of an array.

        Args:
            mat: the array.
            nse: the number of values; by default as many as are not zero, which has to be known.
            index_dtype: the dtype of `indices`.

        Raises:
            ConcretizationTypeError: `mat` is traced, and `nse` is not given.
        """
        mat = as_array(mat, "BCOO.fromdense: mat")
        nse = int(jnp.count_nonzero(mat)) if nse is None else nse
        places = jnp.nonzero(mat, size=nse, fill_value=mat.shape)
        indices = jnp.stack(places, axis=-1).astype(index_dtype)
        data = mat.at[places].get(mode="fill", fill_value=0)
        return cls((data, indices), shape=mat.shape, indices_sorted=True, unique_indices=True)

    # -- its form --

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements, zeros included."""
        return prod(self.shape)

    @property
    def nse(self) -> int:
        """The number of values."""
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
    def aval(self) -> ShapedArray:
        """The type of the dense array."""
        return ShapedArray(self.shape, self.dtype)

    def __repr__(self) -> str:
        return f"BCOO({self.dtype}{list(self.shape)}, nse={self.nse})"

    def __len__(self) -> int:
        return self.shape[0]

    # -- operations --

    def _flat(self) -> tuple[Array, tuple[Array, ...]]:
        """The values in one dimension, and their places in each dimension of the array."""
        batch = self.indices.shape[: self.n_batch]
        lanes = jnp.meshgrid(*map(jnp.arange, (*batch, self.nse)), indexing="ij")[:-1]
        own = [self.indices[..., d] for d in range(self.n_sparse)]
        return self.data.reshape(-1), tuple(x.reshape(-1) for x in (*lanes, *own))

    def todense(self) -> Array:
        """Return the array with its zeros."""
        values, places = self._flat()
        return jnp.zeros(self.shape, self.dtype).at[places].add(values, mode="drop")

    def transpose(self, axes: Sequence[int] | None = None) -> BCOO:
        """Return it with its dimensions in another order.

        Raises:
            ValueError: `axes` does not name each dimension once.
            NotImplementedError: it has dimensions of a batch.
        """
        order = tuple(range(self.ndim))[::-1] if axes is None else tuple(axes)
        if sorted(d % self.ndim for d in order) != list(range(self.ndim)):
            raise ValueError(
                f"BCOO.transpose: axes must name each of the {self.ndim} dimensions once, got "
                f"{order}"
            )
        if self.n_batch:
            raise NotImplementedError(
                "BCOO.transpose: an array with dimensions of a batch; transpose the array that "
                "todense() returns"
            )
        indices = self.indices[..., np.array(order)]
        return BCOO((self.data, indices), shape=[self.shape[d] for d in order])

    @property
    def T(self) -> BCOO:
        """The array with its dimensions in reverse order."""
        return self.transpose()

    def sum(self, axis: int | Sequence[int] | None = None) -> Array:
        """Return sums of elements, as a dense array."""
        return self.data.sum() if axis is None else self.todense().sum(axis)

    def __matmul__(self, other: Any) -> Array:
        other = todense(other)
        if self.n_batch or self.ndim != 2 or other.ndim > 2:
            return self.todense() @ other
        return self._product(other, "BCOO @ other")

    def _product(self, other: Array, what: str) -> Array:
        """The product of a matrix with an array, over the first dimension of the array."""
        if not other.ndim or other.shape[0] != self.shape[1]:
            raise TypeError(
                f"{what}: the product is over a dimension of size {self.shape[1]} of the BCOO, but "
                f"the other array has size {other.shape[0] if other.ndim else 1} there"
            )
        rows, columns = self.indices[:, 0], self.indices[:, 1]
        taken = other.at[columns].get(mode="fill", fill_value=0)
        values = self.data.reshape(-1, *[1] * (other.ndim - 1)) * taken
        shape = (self.shape[0], *other.shape[1:])
        return jnp.zeros(shape, values.dtype).at[rows].add(values, mode="drop")

    def __rmatmul__(self, other: Any) -> Array:
        other = as_array(other, "other @ BCOO")
        if self.n_batch or self.ndim != 2:
            return other @ self.todense()
        columns = jnp.moveaxis(other, -1, 0) if other.ndim else other
        return jnp.moveaxis(self.T._product(columns, "other @ BCOO"), 0, -1)

    def __mul__(self, other: Any) -> BCOO:
        """Multiply by a number, or by a dense array of the same shape."""
        if np.ndim(other) == 0:
            return self._with_data(self.data * other)
        values, places = self._flat()
        dense = jnp.broadcast_to(as_array(other), self.shape)
        factors = dense.at[places].get(mode="fill", fill_value=0)
        return self._with_data((values * factors).reshape(self.data.shape))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> BCOO:
        return self * (1 / other)

    def __neg__(self) -> BCOO:
        return self._with_data(-self.data)

    def _with_data(self, data: Any) -> BCOO:
        return BCOO((data, self.indices), shape=self.shape)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, BCOO):
            return self.todense() + other
        return self._with_others(other, other.data)

    def __sub__(self, other: Any) -> Any:
        if not isinstance(other, BCOO):
            return self.todense() - other
        return self._with_others(other, -other.data)

    def _with_others(self, other: BCOO, data: Any) -> BCOO:
        if self.shape != other.shape or self.n_batch != other.n_batch:
            raise ValueError(
                f"BCOO: sums are of sparse arrays of one form, got {self!r} and {other!r}"
            )
        values = jnp.concatenate([self.data, data], axis=-1)
        indices = jnp.concatenate([self.indices, other.indices], axis=-2)
        return BCOO((values, indices), shape=self.shape)

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCOO:
        """Return it with one value at each place."""
        return BCOO.fromdense(self.todense(), nse=nse)


def _placed(x: Any) -> Any:
    """An array; in pytrees any object stands for one."""
    return as_array(x) if isinstance(x, np.ndarray | list) else x


def todense(mat: Any) -> Array:
    """Return a sparse or dense array as a dense one."""
    return mat.todense() if isinstance(mat, BCOO) else as_array(mat)


def bcoo_fromdense(mat: Any, *, nse: int | None = None, **options: Any) -> BCOO:
    """Return the sparse form of an array, as `BCOO.fromdense` does."""
    return BCOO.fromdense(mat, nse=nse, **options)


def bcoo_todense(mat: BCOO) -> Array:
    """Return the dense form of a sparse array."""
    return mat.todense()


def eye(n: int, m: int | None = None, dtype: Any = None, **_: Any) -> BCOO:
    """Return the sparse matrix with ones on its diagonal."""
    m = n if m is None else m
    place = jnp.arange(min(n, m))
    data = jnp.ones(min(n, m), dtype)
    return BCOO((data, jnp.stack([place, place], axis=-1)), shape=(n, m))
