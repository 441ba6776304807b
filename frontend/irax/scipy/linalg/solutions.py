"""Solutions of linear equations, by factors or at once."""

from __future__ import annotations

from typing import Any

import irax.numpy as jnp
from irax import lax
from irax.core import source
from irax.core.array import Array
from irax.core.dtypes.operands import judge_ranks
from irax.core.dtypes.promotion import promote_dtypes
from irax.lax.linalg.matrices import adjoint, one_batch
from irax.numpy.linalg.factored import inexact, square
from irax.scipy.arguments import from_lists
from irax.scipy.linalg.factorizations import cho_factor, schur
from irax.typing import ArrayLike


def det(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """Return the determinant of square matrices.

    Args:
        a: square matrices [..., n, n].
        overwrite_a: of no meaning.
        check_finite: of no meaning.

    Raises:
        TypeError: not an array.
        ValueError: the last two dimensions differ.

    >>> irax.scipy.linalg.det(irax.numpy.array([[1.0, 2.0], [3.0, 4.0]])).round(4)
    Array(-2., dtype=float32)
    """
    del overwrite_a, check_finite
    return jnp.linalg.det(a)


def inv(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """Return the inverse of square matrices.

    Args:
        a: square matrices [..., n, n].
        overwrite_a: of no meaning.
        check_finite: of no meaning.

    Raises:
        TypeError: not an array.
        ValueError: the last two dimensions differ.

    >>> irax.scipy.linalg.inv(irax.numpy.array([[2.0, 0.0], [0.0, 4.0]]))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    del overwrite_a, check_finite
    return jnp.linalg.inv(a)


def _prepared(what: str, a: Array, b: Array) -> tuple[Array, Array, bool]:
    """Return square matrices and right hand sides of one batch, and True if these were vectors."""
    square(what, a)
    vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape[-1] == a.shape[-1])
    if vector and b.ndim > 1:
        source.warn(
            f"{what}: b of shape {b.shape} is taken for vectors, and will be taken for a matrix, "
            "as in NumPy: give b[..., None], and take [..., 0] of the result",
            FutureWarning,
        )
    judge_ranks([a, b], what, core=[2, 1 if vector else 2])
    right = b[..., None] if vector else b
    if right.ndim < 2 or right.shape[-2] != a.shape[-1]:
        raise ValueError(
            f"{what}: the matrices have shape {a.shape}, and b {b.shape}; expected as many rows of "
            "b as these have"
        )
    a, right = one_batch([a, right], [2, 2])
    return a, right, vector


def solve_triangular(
    a: ArrayLike,
    b: ArrayLike,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: Any = None,
    check_finite: bool = True,
) -> Array:
    """Solve op(a) x = b for triangular matrices a.

    Args:
        a: square matrices [..., n, n].
        b: matrices [..., n, k], or vectors.
        trans: op is the identity (0 or "N"), the transpose (1, "T") or the adjoint (2, "C").
        lower: which triangle.
        unit_diagonal: take the diagonal to be ones.
        overwrite_b: of no meaning.
        debug: of no meaning.
        check_finite: of no meaning.

    Raises:
        ValueError: another `trans`, or shapes that do not fit.

    >>> a = jnp.array([[2.0, 0.0], [1.0, 1.0]])
    >>> irax.scipy.linalg.solve_triangular(a, jnp.array([2.0, 3.0]), lower=True)
    Array([1., 2.], dtype=float32)
    """
    del overwrite_b, debug, check_finite
    forms = {0: 0, "N": 0, 1: 1, "T": 1, 2: 2, "C": 2}
    if trans not in forms:
        raise ValueError(f"solve_triangular: trans must be 0, 1, 2, 'N', 'T' or 'C', got {trans!r}")
    operands = inexact("solve_triangular", from_lists(a), from_lists(b))
    matrices, right, vector = _prepared("solve_triangular", *operands)
    x = lax.linalg.triangular_solve(
        matrices,
        right,
        left_side=True,
        lower=bool(lower),
        transpose_a=forms[trans] > 0,
        conjugate_a=forms[trans] == 2,
        unit_diagonal=bool(unit_diagonal),
    )
    return x[..., 0] if vector else x


def cho_solve(
    c_and_lower: tuple[ArrayLike, bool],
    b: ArrayLike,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """Solve a x = b, given the factor of a from `cho_factor`.

    Args:
        c_and_lower: the factor [..., n, n], and True if it is a lower triangle.
        b: matrices [..., n, k], or one vector [n].
        overwrite_b: of no meaning.
        check_finite: of no meaning.

    Raises:
        TypeError: `b` is not an array, or `c_and_lower` not a pair.
        ValueError: the shapes do not fit.

    >>> c = irax.scipy.linalg.cho_factor(2 * jnp.eye(2))
    >>> irax.scipy.linalg.cho_solve(c, jnp.array([2.0, 4.0])).round(5)
    Array([1., 2.], dtype=float32)
    """
    del overwrite_b, check_finite
    c, lower = c_and_lower
    first, second = (0, 2) if lower else (2, 0)
    return solve_triangular(
        c, solve_triangular(c, b, trans=first, lower=lower), trans=second, lower=lower
    )


def lu_solve(
    lu_and_piv: tuple[ArrayLike, ArrayLike],
    b: ArrayLike,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """Solve op(a) x = b, given the factors of a from `lu_factor`.

    Args:
        lu_and_piv: the factors [..., n, n], and the pivots [..., n].
        b: matrices [..., n, k], or vectors.
        trans: op is the identity (0), the transpose (1) or the adjoint (2).
        overwrite_b: of no meaning.
        check_finite: of no meaning.

    Raises:
        ValueError: another `trans`, or shapes that do not fit.

    >>> factors = irax.scipy.linalg.lu_factor(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> irax.scipy.linalg.lu_solve(factors, jnp.array([2.0, 3.0]))
    Array([3., 1.], dtype=float32)
    """
    del overwrite_b, check_finite
    if trans not in (0, 1, 2):
        raise ValueError(f"lu_solve: trans must be 0, 1 or 2, got {trans!r}")
    given, pivots = lu_and_piv
    (factors,) = inexact("lu_solve", given)
    square("lu_solve", factors)
    order = lax.linalg.lu_pivots_to_permutation(jnp.asarray(pivots), factors.shape[-1])
    return solved_in_order(given, order, from_lists(b), trans)


def solved_in_order(lu: ArrayLike, order: Array, b: ArrayLike, trans: int) -> Array:
    """Return the solution of op(a) x = b by the factors of matrices a whose rows are in an order.
    The arguments are those of `lu_solve`, but for the order.
    """
    factors, right, vector = _prepared("lu_solve", *inexact("lu_solve", lu, b))
    order = jnp.broadcast_to(order, factors.shape[:-1])
    if trans == 0:
        x = jnp.take_along_axis(right, order[..., None], -2)
        x = solve_triangular(factors, x, lower=True, unit_diagonal=True)
        x = solve_triangular(factors, x)
    else:
        x = solve_triangular(factors, right, trans=trans)
        x = solve_triangular(factors, x, trans=trans, lower=True, unit_diagonal=True)
        x = jnp.take_along_axis(x, jnp.argsort(order, -1)[..., None], -2)
    return x[..., 0] if vector else x


def solve(
    a: ArrayLike,
    b: ArrayLike,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    debug: bool = False,
    check_finite: bool = True,
    assume_a: str = "gen",
) -> Array:
    """Solve a x = b.

    Args:
        a: square matrices [..., n, n].
        b: matrices [..., n, k], or one vector [n].
        lower: which triangle of a positive definite matrix counts.
        overwrite_a: of no meaning.
        overwrite_b: of no meaning.
        debug: of no meaning.
        check_finite: of no meaning.
        assume_a: "pos" for positive definite matrices; "gen", "sym" or "her".

    Raises:
        ValueError: another `assume_a`, or shapes that do not fit.

    >>> irax.scipy.linalg.solve(2 * jnp.eye(2), jnp.array([2.0, 4.0]), assume_a="pos").round(5)
    Array([1., 2.], dtype=float32)
    """
    del overwrite_a, overwrite_b, debug, check_finite
    if assume_a not in ("gen", "sym", "her", "pos"):
        raise ValueError(f"solve: assume_a must be 'gen', 'sym', 'her' or 'pos', got {assume_a!r}")
    if assume_a != "pos":
        return jnp.linalg.solve(a, b)
    matrix, right = promote_dtypes(from_lists(a), from_lists(b), what="solve")
    return cho_solve(cho_factor(matrix, lower), right)


# ---- Sylvester's equation ------------------------------------------------------------------------


def solve_sylvester(
    A: ArrayLike, B: ArrayLike, C: ArrayLike, *, method: str = "schur", tol: float = 1e-8
) -> Array:
    """Solve A X + X B = C for X (R. Bartels and G. Stewart, 1972). It runs on the CPU alone.

    Args:
        A: matrices [..., m, m].
        B: matrices [..., n, n].
        C: matrices [..., m, n].
        method: "schur" or "eigen": a hint.
        tol: the solution is nan where an eigenvalue of A and one of -B are no farther apart.

    Raises:
        ValueError: another method, or shapes that do not fit.

    >>> one = jnp.eye(1)
    >>> irax.scipy.linalg.solve_sylvester(one, 3 * one, 8 * one)
    Array([[2.]], dtype=float32)
    """
    if method not in ("schur", "eigen"):
        raise ValueError(f"solve_sylvester: method must be 'schur' or 'eigen', got {method!r}")
    a, b, c = inexact("solve_sylvester", *map(from_lists, (A, B, C)))
    sizes = tuple((n, n) for n in c.shape[-2:])
    if c.ndim < 2 or (a.shape[-2:], b.shape[-2:]) != sizes:
        raise ValueError(
            "solve_sylvester: expected A [..., m, m], B [..., n, n] and C [..., m, n], got shapes "
            f"{a.shape}, {b.shape} and {c.shape}"
        )

    def solve_one(a: Array, b: Array, c: Array) -> Array:
        return lax.custom_linear_solve(
            lambda x: jnp.matmul(a, x) + jnp.matmul(x, b),
            c,
            lambda _, right: _sylvester(a, b, right, tol),
            lambda _, right: _sylvester(a.T, b.T, right, tol),
        )

    return jnp.vectorize(solve_one, signature="(m,m),(n,n),(m,n)->(m,n)")(a, b, c)


def _sylvester(a: Array, b: Array, c: Array, tol: float) -> Array:
    t, u = schur(a, "complex")
    s, v = schur(b, "complex")
    right = jnp.matmul(adjoint(u), jnp.matmul(c.astype(u.dtype), v))

    def column(j: Any, y: Array) -> tuple[Array, Array]:
        return t + s[j, j] * jnp.eye(len(t), dtype=t.dtype), right[:, j] - jnp.matmul(y, s[:, j])

    x = jnp.matmul(u, jnp.matmul(by_columns(column, right), adjoint(v)))
    gaps = jnp.diagonal(t)[:, None] + jnp.diagonal(s)
    x = jnp.where(jnp.min(jnp.abs(gaps)) <= tol, jnp.nan, x)
    return x if c.dtype.kind == "c" else jnp.real(x)


def by_columns(column: Any, start: Array) -> Array:
    """Solve for a matrix, column after column: for column j, `column(j, those before it)` returns
    the matrix of its equations, an upper triangle, and the right hand side. Zeros on the diagonal
    count as ones.
    """
    places = jnp.arange(start.shape[-1])

    def advance(j: Any, y: Array) -> Array:
        triangle, right = column(j, y)
        diagonal = jnp.diagonal(triangle)
        triangle = triangle + jnp.diag(jnp.where(diagonal == 0, 1, 0).astype(triangle.dtype))
        x = lax.linalg.triangular_solve(triangle, right[:, None], left_side=True)
        return jnp.where(places == j, x, y)

    return lax.fori_loop(0, start.shape[-1], advance, jnp.zeros_like(start))
