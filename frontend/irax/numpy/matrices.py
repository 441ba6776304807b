"""Matrices with given diagonals or triangles, and the diagonals of matrices."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from irax import dtypes, lax
from irax.core.array import Array, as_array
from irax.core.dtypes.operands import as_arrays
from irax.core.dtypes.promotion import convert
from irax.core.shardings.explicit_axes import check_whole
from irax.lax.arguments import canonical_axis, canonical_int, canonical_shape
from irax.lax.linalg import matrices
from irax.numpy.creation import astype
from irax.numpy.elementwise.logic import equal, where
from irax.numpy.shapes.manipulation import moveaxis, ravel
from irax.numpy.tables import placed
from irax.numpy.ufuncs import add
from irax.typing import ArrayLike, DTypeLike


def eye(
    N: int,
    M: int | None = None,
    k: int | ArrayLike = 0,
    dtype: DTypeLike | None = None,
    *,
    device: Any = None,
) -> Array:
    """Return a matrix of N rows and M columns (N by default) with ones on the diagonal number k.

    Args:
        N: the number of rows.
        M: the number of columns; N by default.
        k: the number of the diagonal; positive ones are above the main diagonal.
        dtype: the dtype, float32 by default.
        device: the device to put it on.

    Raises:
        TypeError: `N` or `M` is not an int, or `dtype` not a dtype.
        ValueError: `N` or `M` is negative, or `k` not an int.

    >>> irax.numpy.eye(2)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    if any(isinstance(size, int | np.integer) and size < 0 for size in (N, M)):
        raise ValueError(f"eye: expected sizes of at least 0, got N={N}, M={M}")
    shape = canonical_shape("eye", (N, N if M is None else M))
    k = _diagonal(k, shape)
    rows = lax.broadcasted_iota(dtypes.default_int(), shape, 0)
    columns = lax.broadcasted_iota(dtypes.default_int(), shape, 1)
    mask = equal(add(rows, k), columns)
    wanted = dtypes.requested_dtype(float if dtype is None else dtype, "eye")
    return placed("eye", convert(mask, wanted), device)


def identity(n: int, dtype: DTypeLike | None = None) -> Array:
    """Return the n by n identity matrix.

    Args:
        n: the number of rows and columns.
        dtype: the dtype, float32 by default.

    Raises:
        TypeError: `n` is not an int, or `dtype` not a dtype.
        ValueError: `n` is negative.

    >>> jnp.identity(2)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    if isinstance(n, int | np.integer) and n < 0:
        raise ValueError(f"identity: n must be at least 0, got {n}")
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None) -> Array:
    """Return a matrix of N rows and M columns with ones on the diagonal number k and below.

    Args:
        N: the number of rows.
        M: the number of columns; N by default.
        k: the number of the diagonal; positive ones are above the main diagonal.
        dtype: the dtype, by default that of Python's floats.

    Raises:
        TypeError: `N`, `M` or `k` is not an int, or `dtype` not a dtype.

    >>> irax.numpy.tri(2, 3)
    Array([[1., 0., 0.],
           [1., 1., 0.]], dtype=float32)
    """
    shape = canonical_shape("tri", (N, N if M is None else M))
    mask = matrices.is_lower(shape, k if isinstance(k, Array) else canonical_int("tri", "k", k))
    return astype(mask, float if dtype is None else dtype)


def _diagonal(k: Any, shape: tuple[int, ...]) -> Any:
    """Clamp the number of a diagonal to those of a matrix, and one beyond each corner."""
    if not np.issubdtype(dtypes.dtype_of(k)[0], np.integer):
        raise ValueError(f"eye: k must be an integer, got {k!r}")
    return max(-shape[-2], min(k, shape[-1])) if isinstance(k, int) else k


def tril(m: ArrayLike, k: int = 0) -> Array:
    """Return the matrices in the last two dimensions with zeros above the diagonal number k.

    Args:
        m: an array of at least two dimensions.
        k: the number of the diagonal; positive ones are above the main diagonal.

    Raises:
        TypeError: `m` is not an array, or `k` is not an int.
        ValueError: fewer than two dimensions.

    >>> jnp.tril(jnp.ones((2, 3)))
    Array([[1., 0., 0.],
           [1., 1., 0.]], dtype=float32)
    """
    (x,) = as_arrays([m], "tril")
    _check_matrices("tril", x)
    return matrices.lower(x, canonical_int("tril", "k", k))


def triu(m: ArrayLike, k: int = 0) -> Array:
    """Return the matrices in the last two dimensions with zeros below the diagonal number k.

    Args:
        m: an array of at least two dimensions.
        k: the number of the diagonal; positive ones are above the main diagonal.

    Raises:
        TypeError: `m` is not an array, or `k` is not an int.
        ValueError: fewer than two dimensions.

    >>> jnp.triu(jnp.ones((2, 3)))
    Array([[1., 1., 1.],
           [0., 1., 1.]], dtype=float32)
    """
    (x,) = as_arrays([m], "triu")
    _check_matrices("triu", x)
    return matrices.upper(x, canonical_int("triu", "k", k))


def _check_matrices(name: str, x: Array) -> None:
    if x.ndim < 2:
        raise ValueError(f"{name}: expected an array of at least 2 dimensions, got shape {x.shape}")


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """Return the indices of an n by m matrix on the diagonal number k and below.

    Args:
        n: the number of rows.
        k: the number of the diagonal; positive ones are above the main diagonal.
        m: the number of columns; n by default.

    Returns:
        Two vectors of integers.

    Raises:
        TypeError: `n`, `k` or `m` is not an int.

    >>> jnp.tril_indices(2)
    (Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32))
    """
    rows, columns = np.tril_indices(*map(operator.index, (n, k, n if m is None else m)))
    return as_array(rows), as_array(columns)


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """Return the indices of an n by m matrix on the diagonal number k and above.

    Args:
        n: the number of rows.
        k: the number of the diagonal; positive ones are above the main diagonal.
        m: the number of columns; n by default.

    Returns:
        Two vectors of integers.

    Raises:
        TypeError: `n`, `k` or `m` is not an int.

    >>> jnp.triu_indices(2)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    rows, columns = np.triu_indices(*map(operator.index, (n, k, n if m is None else m)))
    return as_array(rows), as_array(columns)


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """Return the indices of the main diagonal of an array with `ndim` dimensions of size n.

    Args:
        n: the size of each dimension.
        ndim: the number of dimensions.

    Returns:
        A tuple of `ndim` vectors of n integers.

    Raises:
        TypeError: `n` or `ndim` is not an int.

    >>> jnp.arange(4).reshape(2, 2)[jnp.diag_indices(2)]
    Array([0, 3], dtype=int32)
    """
    count = canonical_int("diag_indices", "ndim", ndim)
    return (lax.iota(dtypes.default_int(), n),) * count


def diag(v: ArrayLike, k: int = 0) -> Array:
    """Return the matrix with a vector on the diagonal number k; for a matrix, that diagonal.

    Args:
        v: a vector, or a matrix.
        k: the number of the diagonal; positive ones are above the main diagonal.

    Returns:
        A matrix for a vector, and a vector for a matrix.

    Raises:
        TypeError: `v` is not an array, or `k` is not an int.
        ValueError: `v` has no dimension, or more than two.

    >>> irax.numpy.diag(irax.numpy.array([1, 2]))
    Array([[1, 0],
           [0, 2]], dtype=int32)
    """
    (x,) = as_arrays([v], "diag")
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise ValueError(f"diag: expected 1 or 2 dimensions, got shape {x.shape}")
    k = canonical_int("diag", "k", k)
    size = x.shape[0] + abs(k)
    low = max(-k, 0)
    column = lax.pad(x, np.zeros((), x.dtype), [(low, size - low - x.shape[0], 0)])[:, None]
    return where(eye(size, k=k, dtype=bool), column, lax.full_like(column, 0))


def diagflat(v: ArrayLike, k: int = 0) -> Array:
    """Return the matrix with all elements of an array on the diagonal number k.

    Args:
        v: an array, which is flattened.
        k: the number of the diagonal; positive ones are above the main diagonal.

    Returns:
        A square matrix.

    Raises:
        TypeError: `v` is not an array, or `k` is not an int.

    >>> irax.numpy.diagflat(irax.numpy.array([[1], [2]]))
    Array([[1, 0],
           [0, 2]], dtype=int32)
    """
    return diag(ravel(v), k).with_weak_type(False)


def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """Return diagonals: the elements whose indices along two axes differ by `offset`, along a new
    last axis.

    Args:
        a: an array of two or more dimensions.
        offset: the number of the diagonal; positive ones are above the main diagonal.
        axis1: the axis of the rows.
        axis2: the axis of the columns.

    Raises:
        TypeError: `a` is not an array, or an axis is not an int.
        ValueError: `a` has fewer than two dimensions, or there is no such axis.

    >>> irax.numpy.diagonal(irax.numpy.arange(9).reshape(3, 3), 1)
    Array([1, 5], dtype=int32)
    """
    (x,) = as_arrays([a], "diagonal")
    _check_matrices("diagonal", x)
    first, second = (canonical_axis("diagonal", axis, x.ndim) for axis in (axis1, axis2))
    if first == second:
        raise ValueError("diagonal: axis1 and axis2 are the same axis")
    check_whole(x, (first, second), "diagonal")
    if second != first + 1:
        x, first = moveaxis(x, (first, second), (0, 1)), 0
    return moveaxis(matrices.diagonal(x, offset, first), first, -1)
