"""Linear systems with sparse matrices, and their largest eigenvalues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array, as_array
from irax.core.avals import ShapeDtypeStruct
from irax.core.dtypes.strictness import library
from irax.execution.callbacks import pure_callback
from irax.experimental.sparse.matrices import CSR
from irax_compiler.ops.scipy_modules import needed, scipy_module


@library
def spsolve(
    data: Any, indices: Any, indptr: Any, b: Any, tol: float = 1e-6, reorder: int = 1
) -> Array:
    """Return the solution of a linear system, by SciPy's direct solver on the host.

    Args:
        data: the values of a square matrix by compressed rows, float32 or float64.
        indices: their columns.
        indptr: the first value of each row, and the number of values.
        b: the right-hand side, a vector.
        tol: accepted, without effect: the solver is exact but for rounding.
        reorder: accepted, without effect.

    Raises:
        ValueError: `b` is not a vector of the matrix's size.
        ImportError: SciPy is not installed.
    """
    needed("sparse", "spsolve")
    values, b = as_array(data, "spsolve: data"), as_array(b, "spsolve: b")
    columns, rows = as_array(indices, "spsolve: indices"), as_array(indptr, "spsolve: indptr")
    size = rows.shape[0] - 1
    if b.shape != (size,):
        raise ValueError(f"spsolve: b: expected a vector of {size} elements, got shape {b.shape}")
    mat = CSR((values, columns, rows), shape=(size, size))

    def solve(transposed: bool, b: Array) -> Array:
        def solution(*arrays: Any) -> np.ndarray[Any, Any]:
            data, indices, indptr, b = map(np.asarray, arrays)
            return _solution(data, indices, indptr, b, transposed)

        result = ShapeDtypeStruct(b.shape, b.dtype)
        return pure_callback(solution, result, values, columns, rows, b, vmap_method="sequential")

    return lax.custom_linear_solve(
        lambda x: mat @ x,
        b,
        solve=lambda _, b: solve(False, b),
        transpose_solve=lambda _, b: solve(True, b),
    )


def _solution(
    data: np.ndarray[Any, Any],
    indices: np.ndarray[Any, Any],
    indptr: np.ndarray[Any, Any],
    b: np.ndarray[Any, Any],
    transposed: bool,
) -> np.ndarray[Any, Any]:
    sparse, linalg = scipy_module("sparse"), scipy_module("sparse.linalg")
    matrix = sparse.csr_matrix((data, indices, indptr), shape=(len(b), len(b)))
    return np.asarray(linalg.spsolve((matrix.T if transposed else matrix).tocsc(), b), b.dtype)


# ---- eigenvalues ---------------------------------------------------------------------------------


class _Search(NamedTuple):
    """A step of `lobpcg_standard`."""

    x: Array
    """The vectors, orthonormal."""
    before: Array
    """The directions of the last step."""
    theta: Array
    """The Ritz values, the largest first."""
    residual: Array
    number: Array
    converged: Array
    """The number of vectors that are exact but for rounding."""


@library
def lobpcg_standard(
    A: Array | Callable[[Array], Array], X: Array, m: int = 100, tol: float | None = None
) -> tuple[Array, Array, Array]:
    """Return the largest eigenvalues of a symmetric matrix and their vectors, by the method LOBPCG.

    Args:
        A: the matrix, of shape (n, n), or a function that multiplies it by one of shape (n, k).
        X: the search directions to begin with, of shape (n, k), independent, with 5 k < n.
        m: the most steps.
        tol: the relative tolerance of residuals; by default the dtype's rounding error.

    Returns:
        The k largest eigenvalues, from the largest on; the vectors, of shape (n, k); the number of
        steps.

    Raises:
        ValueError: `X` is no matrix or has too many columns; `A` has another size.

    >>> matrix = irax.numpy.diag(irax.numpy.arange(12.0))
    >>> values, _, _ = lobpcg_standard(matrix, irax.numpy.ones((12, 1)))
    >>> values.round(3)
    Array([11.], dtype=float32)
    """
    x = as_array(X, "lobpcg_standard: X")
    if x.ndim != 2 or not 0 < 5 * x.shape[1] < x.shape[0]:
        raise ValueError(
            f"lobpcg_standard: X: expected shape (n, k) with 0 < 5 k < n, got {x.aval}"
        )
    n, k = x.shape
    multiply = A if callable(A) else (lambda v: A @ v)
    product = multiply(x)
    if product.shape != x.shape:
        raise ValueError(
            f"lobpcg_standard: A: expected a product of shape {x.shape} with X, got {product.aval}"
        )
    limit = float(jnp.finfo(x.dtype).eps) if tol is None else tol

    def step(basis: Array, before: _Search | None) -> _Search:
        """The best vectors in the span of some orthonormal ones; columns of zeros are none."""
        products = multiply(basis)
        found = basis.T @ products
        is_there = (basis * basis).sum(0) > 0.5
        low = -2 * jnp.abs(found).sum() - 1  # below all others
        found = (found + found.T) / 2 + jnp.diag(jnp.where(is_there, 0, low))
        theta, vectors = jnp.linalg.eigh(found)
        theta, vectors = theta[::-1][:k], vectors[:, ::-1][:, :k]
        x, images = basis @ vectors, products @ vectors
        residual = images - x * theta
        scale = jnp.linalg.norm(images, axis=0) + jnp.abs(theta)
        exact = jnp.linalg.norm(residual, axis=0) < limit * 10 * n * scale
        directions, number = jnp.zeros_like(x), jnp.int32(0)
        if before is not None:
            directions, number = x - before.x @ (before.x.T @ x), before.number + 1
        return _Search(x, directions, theta, residual, number, exact.sum())

    def goes_on(search: _Search) -> Array:
        return (search.number < m) & (search.converged < k)

    def next_(search: _Search) -> _Search:
        others = jnp.concatenate([search.residual, search.before], axis=1)
        for _ in range(2):  # once more, for what rounding left
            others = _orthonormal(others - search.x @ (search.x.T @ others))
        return step(jnp.concatenate([search.x, others], axis=1), search)

    end = lax.while_loop(goes_on, next_, step(_orthonormal(_orthonormal(x)), None))
    return end.theta, end.x, end.number


def _orthonormal(vectors: Array) -> Array:
    """Orthonormal columns of the same span; those of no direction of their own are zeros."""
    lengths = jnp.linalg.norm(vectors, axis=0)
    unit = vectors / jnp.where(lengths > 0, lengths, 1)
    sizes, basis = jnp.linalg.eigh(unit.T @ unit)
    is_there = sizes > 100 * len(sizes) * jnp.finfo(vectors.dtype).eps
    return (unit @ basis) * jnp.where(is_there, 1 / jnp.sqrt(jnp.where(is_there, sizes, 1)), 0)
