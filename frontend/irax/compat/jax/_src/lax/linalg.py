"""jax._src.lax.linalg: jax.lax.linalg, and solves by a factorization that is there."""

from typing import Any

import irax.numpy as jnp
from irax.compat.jax._src.numpy.util import promote_dtypes_inexact
from irax.compat.jax.lax import linalg
from irax.compat.layers import GetAttr, in_front_of
from irax.lax.linalg import triangular_solve

__getattr__: GetAttr = in_front_of(__name__, linalg)


def lu_solve(lu: Any, permutation: Any, b: Any, trans: int = 0) -> Any:
    """Return the solution of A x = b by the LU factorization of A, whose rows a permutation moved.

    Args:
        lu: the factors in one matrix, or matrices.
        permutation: the row of A that each row of the factors is.
        b: a vector, or the columns of a matrix, for each matrix.
        trans: 1 to solve with the transpose of A, 2 with its adjoint.
    """
    is_vector = jnp.ndim(b) < 2 or jnp.ndim(b) == jnp.ndim(lu) - 1

    def solve(lu: Any, permutation: Any, b: Any) -> Any:
        if not trans:
            y = triangular_solve(lu, b[permutation], left_side=True, lower=True, unit_diagonal=True)
            return triangular_solve(lu, y, left_side=True, lower=False)
        options: dict[str, Any] = {"transpose_a": True, "conjugate_a": trans == 2}
        y = triangular_solve(lu, b, left_side=True, lower=False, **options)
        y = triangular_solve(lu, y, left_side=True, lower=True, unit_diagonal=True, **options)
        return y[jnp.argsort(permutation)]

    lu, columns = promote_dtypes_inexact(lu, b[..., None] if is_vector else b)
    x = jnp.vectorize(solve, signature="(n,n),(n),(n,k)->(n,k)")(lu, permutation, columns)
    return x[..., 0] if is_vector else x
