"""Sparse matrices without a batch: by coordinates, by compressed rows, and by compressed columns.

They are older than `BCOO` and `BCSR`, and do less: conversions, transposition and products.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

import irax.numpy as jnp
from irax import tree_util
from irax.core.array import Array
from irax.core.dtypes.strictness import library
from irax.experimental.sparse.bcoo import BCOO, bcoo_fromdense
from irax.experimental.sparse.bcsr import BCSR
from irax.experimental.sparse.forms import JAXSparse, placed


class _Matrix(JAXSparse):
    """A sparse matrix: three arrays, which its class names."""

    _arrays: tuple[str, str, str]

    def __init__(
        self, args: tuple[Any, Any, Any], *, shape: Sequence[int], **options: bool
    ) -> None:
        for name, value in zip(self._arrays, args, strict=True):
            setattr(self, name, placed(value))
        self.shape: tuple[int, ...] = tuple(shape)
        self._options: dict[str, bool] = options

    def tree_flatten(self) -> tuple[tuple[Any, ...], Any]:
        """Return the arrays, and the rest."""
        arrays = tuple(getattr(self, name) for name in self._arrays)
        return arrays, (self.shape, tuple(self._options.items()))

    @classmethod
    def tree_unflatten(cls, rest: Any, arrays: Any) -> Self:
        """Return the matrix of what `tree_flatten` returned."""
        shape, options = rest
        return cls(arrays, shape=shape, **dict(options))

    @classmethod
    def fromdense(cls, mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> Self:
        """Return the sparse form of a dense matrix; parameters are those of `BCOO.fromdense`."""
        return cls.from_bcoo(bcoo_fromdense(mat, nse=nse, index_dtype=index_dtype))

    @classmethod
    def from_bcoo(cls, mat: BCOO) -> Self:
        """Return a matrix in coordinate form in this form."""
        raise NotImplementedError

    def to_bcoo(self) -> BCOO:
        """Return it in coordinate form."""
        raise NotImplementedError

    @property
    def nse(self) -> int:
        return self.data.shape[0]

    def todense(self) -> Array:
        return self.to_bcoo().todense()

    def _check_axes(self, axes: Sequence[int] | None) -> None:
        if axes is not None and tuple(axes) != (1, 0):
            raise NotImplementedError(
                f"{type(self).__name__}.transpose: expected axes (1, 0), got {tuple(axes)}"
            )


@tree_util.register_pytree_node_class
class COO(_Matrix):
    """A sparse matrix by coordinates: `data`, `row` and `col`, each of shape `(nse,)`."""

    _arrays = ("data", "row", "col")
    data: Any
    row: Any
    """The rows of the values."""
    col: Any
    """The columns of the values."""

    @classmethod
    def from_bcoo(cls, mat: BCOO) -> Self:
        return cls((mat.data, mat.indices[:, 0], mat.indices[:, 1]), shape=mat.shape)

    def to_bcoo(self) -> BCOO:
        return BCOO((self.data, jnp.stack([self.row, self.col], axis=-1)), shape=self.shape)

    def transpose(self, axes: Sequence[int] | None = None) -> COO:
        self._check_axes(axes)
        return COO((self.data, self.col, self.row), shape=self.shape[::-1])


@tree_util.register_pytree_node_class
class CSR(_Matrix):
    """A sparse matrix by compressed rows: the values of row `i` are `data[indptr[i]:indptr[i +
    1]]`, in the columns `indices[indptr[i]:indptr[i + 1]]`.
    """

    _arrays = ("data", "indices", "indptr")
    data: Any
    indices: Any
    """The columns of the values."""
    indptr: Any
    """The first value of each row, and the number of values."""

    @classmethod
    def from_bcoo(cls, mat: BCOO) -> Self:
        found = BCSR.from_bcoo(mat)
        return cls((found.data, found.indices, found.indptr), shape=mat.shape)

    def to_bcoo(self) -> BCOO:
        return BCSR((self.data, self.indices, self.indptr), shape=self.shape).to_bcoo()

    def transpose(self, axes: Sequence[int] | None = None) -> CSC:
        self._check_axes(axes)
        return CSC((self.data, self.indices, self.indptr), shape=self.shape[::-1])


@tree_util.register_pytree_node_class
class CSC(_Matrix):
    """A sparse matrix by compressed columns: the transpose of one by compressed rows."""

    _arrays = ("data", "indices", "indptr")
    data: Any
    indices: Any
    """The rows of the values."""
    indptr: Any
    """The first value of each column, and the number of values."""

    @classmethod
    def from_bcoo(cls, mat: BCOO) -> Self:
        found = BCSR.from_bcoo(mat.transpose((1, 0)))
        return cls((found.data, found.indices, found.indptr), shape=mat.shape)

    def to_bcoo(self) -> BCOO:
        return self.transpose().to_bcoo().transpose((1, 0))

    def transpose(self, axes: Sequence[int] | None = None) -> CSR:
        self._check_axes(axes)
        return CSR((self.data, self.indices, self.indptr), shape=self.shape[::-1])


@library
def coo_fromdense(mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> COO:
    """Return a dense matrix by coordinates."""
    return COO.fromdense(mat, nse=nse, index_dtype=index_dtype)


@library
def coo_todense(mat: COO) -> Array:
    """Return the dense form of a matrix by coordinates."""
    return mat.todense()


@library
def coo_matvec(mat: COO, v: Any, transpose: bool = False) -> Array:
    """Return the product of a matrix, or of its transpose, with a vector."""
    return _product(mat, v, transpose)


@library
def coo_matmat(mat: COO, B: Any, *, transpose: bool = False) -> Array:
    """Return the product of a matrix, or of its transpose, with a matrix."""
    return _product(mat, B, transpose)


@library
def csr_fromdense(mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> CSR:
    """Return a dense matrix by compressed rows."""
    return CSR.fromdense(mat, nse=nse, index_dtype=index_dtype)


@library
def csr_todense(mat: CSR) -> Array:
    """Return the dense form of a matrix by compressed rows."""
    return mat.todense()


@library
def csr_matvec(mat: CSR, v: Any, transpose: bool = False) -> Array:
    """Return the product of a matrix, or of its transpose, with a vector."""
    return _product(mat, v, transpose)


@library
def csr_matmat(mat: CSR, B: Any, *, transpose: bool = False) -> Array:
    """Return the product of a matrix, or of its transpose, with a matrix."""
    return _product(mat, B, transpose)


def _product(mat: _Matrix, other: Any, transpose: bool) -> Array:
    found = mat.to_bcoo()
    return (found.transpose() if transpose else found) @ other
