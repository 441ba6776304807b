"""jax._src.lax.linalg: jax.lax.linalg, and solves by a factorization that is there."""

from typing import Any

from irax.compat.jax.lax import linalg
from irax.compat.layers import GetAttr, in_front_of
from irax.scipy.linalg.solutions import solved_in_order

__getattr__: GetAttr = in_front_of(__name__, linalg)


def lu_solve(lu: Any, permutation: Any, b: Any, trans: int = 0) -> Any:
    """Return the solution of A x = b by the LU factorization of A, whose rows a permutation moved.

    Args:
        lu: the factors in one matrix, or matrices.
        permutation: the row of A that each row of the factors is.
        b: a vector, or the columns of a matrix, for each matrix.
        trans: 1 to solve with the transpose of A, 2 with its adjoint.
    """
    return solved_in_order(lu, permutation, b, trans)
