"""irax.numpy.linalg: norms, products, and functions by factorizations."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from irax import lax
from irax.core.array import Array
from irax.core.dtypes.operands import as_arrays, inexact_dtype
from irax.core.dtypes.promotion import convert
from irax.lax.arguments import canonical_axes, canonical_int
from irax.numpy import matrices
from irax.numpy.aggregates import reductions
from irax.numpy.elementwise.exponentials import sqrt
from irax.numpy.elementwise.logic import equal, isnan, not_equal, where
from irax.numpy.linalg.determinants import det as det
from irax.numpy.linalg.determinants import matrix_rank as matrix_rank
from irax.numpy.linalg.determinants import slogdet as slogdet
from irax.numpy.linalg.factored import cholesky as cholesky
from irax.numpy.linalg.factored import eig as eig
from irax.numpy.linalg.factored import eigh as eigh
from irax.numpy.linalg.factored import eigvals as eigvals
from irax.numpy.linalg.factored import eigvalsh as eigvalsh
from irax.numpy.linalg.factored import inexact as _inexact
from irax.numpy.linalg.factored import qr as qr
from irax.numpy.linalg.factored import square as _square_matrices
from irax.numpy.linalg.factored import svd as svd
from irax.numpy.linalg.factored import svdvals as svdvals
from irax.numpy.linalg.solutions import inv as inv
from irax.numpy.linalg.solutions import lstsq as lstsq
from irax.numpy.linalg.solutions import pinv as pinv
from irax.numpy.linalg.solutions import solve as solve
from irax.numpy.linalg.solutions import tensorinv as tensorinv
from irax.numpy.linalg.solutions import tensorsolve as tensorsolve
from irax.numpy.matrices import eye
from irax.numpy.products import contraction
from irax.numpy.products.contraction import matmul as matmul
from irax.numpy.products.contraction import tensordot as tensordot
from irax.numpy.products.contraction import vecdot as vecdot
from irax.numpy.products.labelled import einsum
from irax.numpy.shapes.manipulation import expand_dims, moveaxis
from irax.numpy.shapes.manipulation import matrix_transpose as matrix_transpose
from irax.numpy.ufuncs import abs, power, square
from irax.typing import ArrayLike, Axis


def norm(
    x: ArrayLike, ord: int | float | str | None = None, axis: Axis = None, keepdims: bool = False
) -> Array:
    """Return the norm of vectors or matrices.

    Where a Euclidean norm is 0, its derivative is taken to be 0.

    Args:
        x: an array.
        ord: for vectors a number p: the p-norm (2 by default; inf and -inf: the largest and the
            smallest element; 0: the number of elements that are not 0). For matrices "fro" (the
            default), 1 and -1 (of column sums the largest, smallest), inf and -inf (likewise of row
            sums), 2 and -2 (of singular values), "nuc" (their sum).
        axis: one axis for vectors, two for matrices; by default the whole array: of any shape
            without `ord`, otherwise a vector or a matrix.
        keepdims: True if the result keeps those axes, with size 1.

    Raises:
        ValueError: an `ord` that vectors or matrices do not have, or more than two axes.

    >>> irax.numpy.linalg.norm(irax.numpy.array([3.0, 4.0]))
    Array(5., dtype=float32)
    """
    (x,) = as_arrays([x], "norm")
    x = convert(x, inexact_dtype(x.dtype))
    axes = canonical_axes("norm", axis, x.ndim)
    if ord is None and (axis is None or len(axes) in (1, 2)):
        return _euclidean(x, axes, keepdims)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes, keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes, keepdims)
    raise ValueError(f"norm: ord={ord!r} is for one or two axes, got {len(axes)}")


def _euclidean(x: Array, axes: Sequence[int], keepdims: bool) -> Array:
    squares = reductions.sum(square(abs(x)), tuple(axes), keepdims=keepdims)
    zero = equal(squares, 0)
    return where(zero, 0, sqrt(where(zero, 1, squares)))


_max_of_sizes = functools.partial(reductions.max, initial=0)
"""The largest of numbers that are not negative; 0 for none."""


def _vector_norm(x: Array, ord: Any, axes: Sequence[int], keepdims: bool) -> Array:
    axis = tuple(axes)
    if isinstance(ord, str):
        raise ValueError(f"norm: ord={ord!r} is for matrices; vectors take a number")
    if ord == 2:
        return _euclidean(x, axes, keepdims)
    sizes = abs(x)
    if ord == np.inf:
        return _max_of_sizes(sizes, axis, keepdims=keepdims)
    if ord == -np.inf:
        return reductions.min(sizes, axis, keepdims=keepdims)
    if ord == 0:
        return reductions.sum(not_equal(sizes, 0), axis, sizes.dtype, keepdims=keepdims)
    if ord == 1:
        return reductions.sum(sizes, axis, keepdims=keepdims)
    nothing = equal(sizes, 0) if ord > 0 else False  # has no slope, or an infinite one
    powers = where(nothing, 0, power(where(nothing, 1, sizes), float(ord)))
    total = reductions.sum(powers, axis, keepdims=keepdims)
    zero = equal(total, 0)
    return where(zero, 0, power(where(zero, 1, total), 1 / float(ord)))


def _matrix_norm(x: Array, ord: Any, axes: Sequence[int], keepdims: bool) -> Array:
    rows, columns = axes
    if ord == "fro":
        return _euclidean(x, axes, keepdims)
    if ord in (2, -2, "nuc"):
        values = svdvals(moveaxis(x, (rows, columns), (-2, -1)))
        folds = {2: _max_of_sizes, -2: reductions.min, "nuc": reductions.sum}
        fold = folds[ord]
        return fold(values, -1) if not keepdims else expand_dims(fold(values, -1), tuple(axes))
    if ord not in (1, -1, np.inf, -np.inf):
        raise ValueError(
            f"norm: ord must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf for matrices, got {ord!r}"
        )
    summed, chosen = (rows, columns) if ord in (1, -1) else (columns, rows)
    sums = reductions.sum(abs(x), summed, keepdims=True)
    extreme = _max_of_sizes if ord > 0 else reductions.min
    result = extreme(sums, chosen, keepdims=True)
    return result if keepdims else lax.squeeze(result, tuple(axes))


def cond(x: ArrayLike, p: Any = None) -> Array:
    """Return the condition number: |x| |x^-1| by the norm `p`; by default the ratio of singular
    values.

    Args:
        x: matrices [..., m, n]; square ones, if `p` is neither None nor 2.
        p: None, "fro", "nuc", 1, -1, 2, -2, inf or -inf.

    Returns:
        Floats [...].

    Raises:
        TypeError: not an array of at least two dimensions.
        ValueError: there is no such norm.

    >>> jnp.linalg.cond(jnp.array([[1.0, 0.0], [0.0, 4.0]]))
    Array(4., dtype=float32)
    """
    (array,) = _inexact("linalg.cond", x)
    if p in (None, 2, -2):
        s = svdvals(array)
        found = s[..., 0] / s[..., -1] if p != -2 else s[..., -1] / s[..., 0]
    else:
        _square_matrices("linalg.cond", array)
        found = norm(array, p, (-2, -1)) * norm(inv(array), p, (-2, -1))
    # As of zeros, whose condition is 0 / 0.
    undefined = isnan(found) & ~reductions.any(isnan(array), (-2, -1))
    return where(undefined, np.inf, found)


def vector_norm(
    x: ArrayLike, /, *, axis: Axis = None, keepdims: bool = False, ord: int | float | None = 2
) -> Array:
    """The norm of vectors, along an axis or (with several, or None) of all their elements. The
    order None is 2.

    Args:
        x: an array.
        axis: the axis or axes of the vectors; all by default.
        keepdims: True to keep these axes, with size 1.
        ord: the order of the norm, such as 1, 2 or inf.

    Raises:
        TypeError: `x` is not an array, or `axis` is not an int.
        ValueError: there is no such axis, or `ord` is not a number.

    >>> jnp.linalg.vector_norm(jnp.array([3.0, 4.0]))
    Array(5., dtype=float32)
    """
    (x,) = as_arrays([x], "vector_norm")
    x = convert(x, inexact_dtype(x.dtype))
    ord = 2 if ord is None else ord
    return _vector_norm(x, ord, canonical_axes("vector_norm", axis, x.ndim), keepdims)


def matrix_norm(
    x: ArrayLike, /, *, keepdims: bool = False, ord: int | float | str = "fro"
) -> Array:
    """The norm of the matrices in the last two axes.

    Args:
        x: matrices, of shape (..., m, n).
        keepdims: True to keep the last two axes, with size 1.
        ord: the norm: "fro", "nuc", 1, -1, 2, -2, inf or -inf.

    Raises:
        TypeError: not an array.
        ValueError: fewer than two dimensions, or there is no such norm.

    >>> jnp.linalg.matrix_norm(jnp.array([[3.0, 0.0], [0.0, 4.0]]))
    Array(5., dtype=float32)
    """
    return norm(x, ord, (-2, -1), keepdims)


def trace(x: ArrayLike, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """The sums of the diagonals of the matrices in the last two axes.

    Args:
        x: matrices [..., m, n].
        offset: the number of the diagonal; positive ones are above the main diagonal.
        dtype: the dtype of the sums.

    Returns:
        Sums [...].

    Raises:
        TypeError: `x` is not an array, or `dtype` not a dtype.
        ValueError: fewer than two dimensions.

    >>> irax.numpy.linalg.trace(irax.numpy.ones((3, 2, 2)))
    Array([2., 2., 2.], dtype=float32)
    """
    return contraction.trace(x, offset, -2, -1, dtype)


def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Array:
    """The diagonals of the matrices in the last two axes.

    Args:
        x: matrices [..., m, n].
        offset: the number of the diagonal; positive ones are above the main diagonal.

    Returns:
        Vectors, along the last axis.

    Raises:
        TypeError: `x` is not an array.
        ValueError: fewer than two dimensions.

    >>> jnp.linalg.diagonal(jnp.array([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    return matrices.diagonal(x, offset, -2, -1)


def outer(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The products of all elements of two vectors.

    Args:
        x1: a vector.
        x2: a vector.

    Raises:
        ValueError: they are not vectors.

    >>> jnp.linalg.outer(jnp.array([1, 2]), jnp.array([3, 4]))
    Array([[3, 4],
           [6, 8]], dtype=int32)
    """
    first, second = as_arrays([x1, x2], "linalg.outer")
    if first.ndim != 1 or second.ndim != 1:
        raise ValueError(
            f"linalg.outer: expected vectors, got shapes {first.shape} and {second.shape}; "
            "irax.numpy.outer takes any"
        )
    return contraction.outer(first, second)


def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """The cross products of vectors of three elements along an axis.

    Args:
        x1: an array of 3 elements along the axis.
        x2: another one; the other axes broadcast.
        axis: the axis.

    Raises:
        ValueError: vectors of another length.

    >>> jnp.linalg.cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    first, second = as_arrays([x1, x2], "linalg.cross")
    if first.shape[axis] != 3 or second.shape[axis] != 3:
        raise ValueError(
            f"linalg.cross: expected 3 elements along axis {axis}, got shapes {first.shape} and "
            f"{second.shape}; irax.numpy.cross takes 2, too"
        )
    return contraction.cross(first, second, axis=axis)


def matrix_power(a: ArrayLike, n: int) -> Array:
    """Square matrices to the power n, by repeated squaring; of the inverse if n is negative.

    Args:
        a: matrices, of shape (..., n, n).
        n: the exponent.

    Raises:
        TypeError: `a` is not an array of square matrices, or `n` is not an int.

    >>> jnp.linalg.matrix_power(jnp.array([[1, 1], [0, 1]]), 3)
    Array([[1, 3],
           [0, 1]], dtype=int32)
    """
    (x,) = as_arrays([a], "matrix_power")
    n = canonical_int("matrix_power", "n", n)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise TypeError(f"matrix_power: expected square matrices, got shape {x.shape}")
    if n < 0:
        return matrix_power(inv(x), -n)
    if n == 0:
        identity = eye(x.shape[-1], dtype=x.dtype)
        return lax.broadcast(identity, x.shape[:-2])
    result = x
    for bit in bin(n)[3:]:
        result = matmul(result, result)
        if bit == "1":
            result = matmul(result, x)
    return result


def multi_dot(arrays: Sequence[ArrayLike], *, precision: Any = None) -> Array:
    """The product of several matrices (first and last may be vectors), in the cheapest order.

    Args:
        arrays: a sequence of matrices, each with as many rows as the one before has columns.
        precision: of the products: see `irax.lax.Precision`.

    Raises:
        TypeError: `arrays` is not a sequence of arrays.
        ValueError: the shapes do not fit, or there is no such precision.

    >>> jnp.linalg.multi_dot([jnp.ones((2, 3)), jnp.ones((3, 4)), jnp.ones(4)])
    Array([12., 12.], dtype=float32)
    """
    operands = as_arrays(list(arrays), "multi_dot")
    if len(operands) < 2:
        raise ValueError(f"multi_dot: expected at least 2 arrays, got {len(operands)}")
    lists: list[Any] = []
    last = len(operands) - 1
    for i, x in enumerate(operands):
        lists += [x, [i + 1] if i == 0 and x.ndim == 1 else [i] if x.ndim == 1 else [i, i + 1]]
    ends = [0] if operands[0].ndim == 2 else []
    ends += [last + 1] if operands[last].ndim == 2 else []
    return einsum(*lists, ends, precision=precision)


from irax.execution.replay import replay_functions as _replay_functions  # noqa: E402

_replay_functions(
    __name__,
    also=(
        "irax.numpy.linalg.determinants",
        "irax.numpy.linalg.factored",
        "irax.numpy.linalg.solutions",
    ),
)
