"""jax.experimental.sparse.linalg: irax's, and helpers of LOBPCG, which libraries' variants use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from irax import Array, lax
from irax import numpy as jnp
from irax.compat.layers import names_of
from irax.experimental.sparse import linalg

globals().update(names_of(linalg))


def _mm(a: Any, b: Any, precision: Any = lax.Precision.HIGHEST) -> Array:
    """Return the product of two matrices, by default of the highest precision."""
    return lax.dot(a, b, precision=(precision, precision))


def _eigh_ascending(A: Array) -> tuple[Array, Array]:
    """Return eigenvalues from the largest on, and their vectors; JAX's name says the opposite."""
    values, vectors = jnp.linalg.eigh(A)
    return values[::-1], vectors[:, ::-1]


def _check_inputs(A: Callable[[Array], Array], X: Array) -> None:
    """Raise an error unless there are directions, few enough, and `A` keeps dtype and size."""
    n, k = X.shape
    if not 0 < 5 * k < n:
        raise ValueError(f"lobpcg: X: expected shape (n, k) with 0 < 5 k < n, got {X.shape}")
    product = A(jnp.zeros((n, 1), X.dtype))
    if (product.shape, product.dtype) != ((n, 1), X.dtype):
        raise ValueError(
            f"lobpcg: A: expected a product of shape {(n, 1)} and dtype {X.dtype}, got "
            f"{product.shape} and {product.dtype}"
        )
