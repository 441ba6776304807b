"""Arithmetic of sparse arrays: `+`, `-`, `*`, `/`, `@`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax.core.array import Array, as_array
from irax.core.dtypes.strictness import library
from irax.experimental.sparse.bcoo import BCOO
from irax.experimental.sparse.bcsr import BCSR
from irax.experimental.sparse.forms import JAXSparse
from irax.experimental.sparse.layouts import bcoo_update_layout
from irax.experimental.sparse.matrices import COO, CSC, CSR
from irax.experimental.sparse.products import (
    bcoo_dot_general,
    bcoo_multiply_dense,
    bcoo_multiply_sparse,
    elementwise,
)
from irax.experimental.sparse.structure import bcoo_broadcast_in_dim, bcoo_transpose


@library
def in_coordinates(x: Any) -> Any:
    """Return a sparse array in coordinate form; anything else as it is."""
    return x.to_bcoo() if isinstance(x, BCSR | COO | CSR | CSC) else x


@library
def todense(arr: Any) -> Array:
    """Return a sparse or dense array as a dense one."""
    return arr.todense() if isinstance(arr, JAXSparse) else as_array(arr)


@library
def multiply(x: Any, y: Any) -> BCOO:
    """Return the elementwise product of two arrays, at least one of which is sparse."""
    x, y = in_coordinates(x), in_coordinates(y)
    if x is y:
        return elementwise(x, lambda data: data * data, is_linear=False)
    if isinstance(x, BCOO) and isinstance(y, BCOO):
        ndim = max(x.ndim, y.ndim)
        return bcoo_multiply_sparse(_with_dimensions(x, ndim), _with_dimensions(y, ndim))
    mat, other = (x, as_array(y)) if isinstance(x, BCOO) else (y, as_array(x))
    if other.ndim == 0:
        return mat.with_data(mat.data * other)
    shape = jnp.broadcast_shapes(mat.shape, other.shape)
    mat = _with_dimensions(mat, len(shape))
    if shape != mat.shape:
        mat = bcoo_broadcast_in_dim(mat, shape=shape, broadcast_dimensions=range(mat.ndim))
    return mat.with_data(bcoo_multiply_dense(mat, other))


def _with_dimensions(mat: BCOO, ndim: int) -> BCOO:
    """The array with dimensions of length 1 before its own, as broadcasting adds them."""
    added = ndim - mat.ndim
    if not added:
        return mat
    return bcoo_broadcast_in_dim(
        mat, shape=(1,) * added + mat.shape, broadcast_dimensions=range(added, ndim)
    )


@library
def add(x: Any, y: Any) -> Any:
    """Return the elementwise sum of two arrays: a sparse one if both are.

    Raises:
        ValueError: two sparse arrays have different shapes.
    """
    x, y = in_coordinates(x), in_coordinates(y)
    if not (isinstance(x, BCOO) and isinstance(y, BCOO)):
        return todense(x) + todense(y)
    if x.shape != y.shape:
        raise ValueError(f"sparse: sums are of sparse arrays of one shape, got {x!r} and {y!r}")
    n_batch, n_dense = min(x.n_batch, y.n_batch), min(x.n_dense, y.n_dense)
    x, y = (bcoo_update_layout(m, n_batch=n_batch, n_dense=n_dense) for m in (x, y))
    (left, i), (right, j) = x.whole(), y.whole()
    values = jnp.concatenate([left, right], axis=n_batch)
    return BCOO((values, jnp.concatenate([i, j], axis=n_batch)), shape=x.shape)


@library
def subtract(x: Any, y: Any) -> Any:
    """Return the elementwise difference of two arrays: a sparse one if both are."""
    return add(x, negative(y) if isinstance(y, JAXSparse) else -as_array(y))


@library
def negative(x: Any) -> Any:
    """Return the array with its values negated."""
    return _mapped(x, operator.neg, is_linear=True)


@library
def absolute(x: Any) -> Any:
    """Return the array with the absolute values of its elements."""
    return _mapped(x, abs, is_linear=False)


@library
def power(x: Any, exponent: Any) -> Any:
    """Return the powers of the elements, with a positive number as the exponent.

    Raises:
        NotImplementedError: another exponent, with which the powers of zeros are no zeros.
    """
    if np.ndim(exponent) or isinstance(exponent, JAXSparse) or not exponent > 0:
        raise NotImplementedError(
            f"sparse: expected a positive number as the exponent, got {exponent!r}: powers of "
            "zeros would be no zeros; use todense()"
        )
    return _mapped(x, lambda values: values**exponent, is_linear=False)


@library
def divide(x: Any, y: Any) -> Any:
    """Return a sparse array divided by a number or a dense array.

    Raises:
        NotImplementedError: the divisor is sparse: its zeros have no quotient.
    """
    if isinstance(y, JAXSparse):
        raise NotImplementedError(
            "sparse: the divisor is a sparse array, whose zeros have no quotient; use todense()"
        )
    return multiply(x, 1 / as_array(y))


def _mapped(x: Any, function: Callable[[Array], Array], is_linear: bool) -> Any:
    found = elementwise(in_coordinates(x), function, is_linear)
    return found if isinstance(x, BCOO) else type(x).from_bcoo(found)


@library
def matmul(x: Any, y: Any) -> Any:
    """Return the product of two arrays as `numpy.matmul` does; a sparse one if both are."""
    x, y = in_coordinates(x), in_coordinates(y)
    x, y = (a if isinstance(a, BCOO) else as_array(a, "sparse: an operand of @") for a in (x, y))
    if not x.ndim or not y.ndim:
        raise ValueError("sparse: an operand of @ has no dimensions")
    contracted = max(y.ndim - 2, 0)
    if x.shape[-1] != y.shape[contracted]:
        raise TypeError(
            f"sparse: the product is over dimensions of sizes {x.shape[-1]} and "
            f"{y.shape[contracted]}, of arrays of shapes {x.shape} and {y.shape}"
        )
    if x.ndim > 2 and y.ndim > 2:
        lanes = min(x.ndim, y.ndim) - 2
        if x.ndim != y.ndim or x.shape[:lanes] != y.shape[:lanes]:
            raise NotImplementedError(
                f"sparse: @ of arrays of shapes {x.shape} and {y.shape}, whose leading dimensions "
                "have to be broadcast: use bcoo_broadcast_in_dim first"
            )
        batch = tuple(range(lanes))
        numbers: Any = (((x.ndim - 1,), (contracted,)), (batch, batch))
        return bcoo_dot_general(x, y, dimension_numbers=numbers)
    numbers = (((x.ndim - 1,), (contracted,)), ((), ()))
    found = bcoo_dot_general(x, y, dimension_numbers=numbers)
    if x.ndim != 2 or y.ndim <= 2:
        return found
    order = (*range(1, found.ndim - 1), 0, found.ndim - 1)  # the lanes of y come first
    if isinstance(found, BCOO):
        return bcoo_transpose(found, permutation=order)
    return found.transpose(order)
