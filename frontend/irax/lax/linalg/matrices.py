"""Checks of matrices and parts of them, for linear algebra here and in irax.numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from irax import dtypes
from irax.core.array import Array, as_array
from irax.core.dispatch import bind
from irax.core.dtypes.operands import broadcast_shapes, inexact_dtype
from irax.core.dtypes.promotion import apply, broadcast_to, convert, select
from irax.lax import complex_numbers, slicing, structure
from irax.lax.arguments import array_of
from irax.typing import ArrayLike
from irax_compiler.ops import comparison, shape
from irax_compiler.ops.core import Op, evaluated, no_calls
from irax_compiler.sizes import larger, smaller

_KINDS = ("float32", "float64", "complex64", "complex128")


class MatrixShapeError(ValueError, TypeError):
    """An array has no matrices, or no square ones, in its last two dimensions. JAX raises the one
    or the other, by the function.
    """


def matrices(what: str, x: ArrayLike, square: bool = False) -> Array:
    """Return the array if its last two dimensions are matrices that LAPACK would take.

    Raises:
        TypeError: another dtype.
        MatrixShapeError: no matrices, or not square ones.
    """
    array = array_of(f"lax.linalg.{what}", x)
    if array.dtype.name not in _KINDS:
        raise TypeError(
            f"lax.linalg.{what}: expected an array of {', '.join(_KINDS)}, got {array.dtype}; "
            "convert with .astype(...)"
        )
    kind = "square matrices" if square else "matrices"
    expected = f"lax.linalg.{what}: expected {kind} in the last two dimensions, got {array.shape}"
    if array.ndim < 2 or (square and array.shape[-1] != array.shape[-2]):
        raise MatrixShapeError(expected)
    return array


def inexact(what: str, x: ArrayLike) -> Array:
    """Return an array of booleans or integers as floats, any other as it is."""
    array = array_of(f"lax.linalg.{what}", x)
    return convert(array, inexact_dtype(array.dtype))


def factors(op: Op, x: Array) -> list[Array]:
    """The op's results; those of empty matrices are constants."""
    if not x.size:
        empty = np.zeros(x.shape, x.dtype)
        return [as_array(part) for part in evaluated(op, no_calls, [empty])]
    return list(bind(op, x))


def transposed(x: Array) -> Array:
    """Return matrices with the last two dimensions exchanged."""
    order = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    return bind(shape.Transpose(order), x)


def conjugated(x: Array) -> Array:
    """Return the complex conjugate; real numbers as they are."""
    return complex_numbers.conj(x) if x.dtype.kind == "c" else x


def real_part(x: Array) -> Array:
    """Return the real part; real numbers as they are."""
    return complex_numbers.real(x) if x.dtype.kind == "c" else x


def adjoint(x: Array) -> Array:
    """Return the conjugate of the transpose."""
    return conjugated(transposed(x))


def symmetrized(x: Array) -> Array:
    """Return the mean of matrices and their adjoints."""
    return (x + adjoint(x)) / 2


def is_lower(shape: tuple[int, ...], k: Any = 0) -> Array:
    """Return True for elements of a matrix on the diagonal number k, which may be an array, or
    below it.
    """
    # The number of a diagonal beyond the corners may not fit an int.
    within = k if isinstance(k, Array) else larger(-shape[-2], smaller(k, shape[-1]))
    rows, columns = (structure.broadcasted_iota(dtypes.default_int(), shape, d) for d in (0, 1))
    return apply(comparison.greater_equal, rows + within, columns, what="tri")


def lower(x: Array, k: int = 0) -> Array:
    """Return matrices with zeros above a diagonal."""
    return select(is_lower(x.shape[-2:], k), x, structure.full_like(x, 0), "tril")


def upper(x: Array, k: int = 0) -> Array:
    """Return matrices with zeros below a diagonal."""
    return select(is_lower(x.shape[-2:], k - 1), structure.full_like(x, 0), x, "triu")


def identity(size: int, dtype: np.dtype[Any]) -> Array:
    """The matrix of ones on the diagonal."""
    return as_array(np.eye(size, dtype=dtype))


def diagonal(x: Array, offset: int = 0, axis: int = -2) -> Array:
    """The elements of matrices on a diagonal, `offset` to the right of the main one, in place of
    the two axes of the matrices, of which `axis` is the first.
    """
    axis %= x.ndim
    before, (rows, columns), after = x.shape[:axis], x.shape[axis : axis + 2], x.shape[axis + 2 :]
    low = (max(-offset, 0), max(offset, 0))
    size = max(min(rows - low[0], columns - low[1]), 0)
    if not size:
        return structure.full((*before, 0, *after), 0, x.dtype)
    # In memory, each follows the last by one row and one column.
    start, step = low[0] * columns + low[1], columns + 1
    line = structure.reshape(x, (*before, rows * columns, *after))
    return slicing.slice_in_dim(line, start, start + (size - 1) * step + 1, step, axis=axis)


def one_batch(arrays: Sequence[Array], ranks: Sequence[int]) -> list[Array]:
    """The arrays, the dimensions before their last few (`ranks`) broadcast to one shape."""
    shapes = [x.shape[: x.ndim - rank] for x, rank in zip(arrays, ranks, strict=True)]
    batch = broadcast_shapes(*shapes)
    return [
        broadcast_to(x, (*batch, *x.shape[x.ndim - rank :]))
        for x, rank in zip(arrays, ranks, strict=True)
    ]
