"""Linear systems with sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from irax import lax
from irax.core.array import Array, as_array
from irax.core.avals import ShapeDtypeStruct
from irax.execution.callbacks import pure_callback
from irax.experimental.sparse.matrices import CSR


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
    """
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
    from scipy.sparse import csr_matrix
    from scipy.sparse.linalg import spsolve as solve

    matrix = csr_matrix((data, indices, indptr), shape=(len(b), len(b)))
    return np.asarray(solve((matrix.T if transposed else matrix).tocsc(), b), b.dtype)
