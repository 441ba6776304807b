"""Linear equations of triangular and tridiagonal matrices, and updates of their factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from irax import dtypes
from irax.core.array import Array
from irax.core.dispatch import bind
from irax.core.dtypes.promotion import broadcast_to, convert, select
from irax.core.dtypes.strictness import library
from irax.lax import elementwise, structure
from irax.lax.arguments import array_of, canonical_int
from irax.lax.control_flow.scans import scan
from irax.lax.linalg import matrices as m
from irax.lax.linalg.factorizations import qr
from irax.typing import ArrayLike
from irax_compiler.ops.linalg import triangular


def where(condition: Array, x: Any, y: Any) -> Array:
    """Return `x` where the condition holds, else `y`: promoted, and all broadcast."""
    return select(condition, x, y, "lax.linalg")


def triangular_solve(
    a: ArrayLike,
    b: ArrayLike,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Array:
    """Solve op(a) x = b (with `left_side`), or x op(a) = b, for triangular matrices a.

    Args:
        a: matrices [..., n, n], of which one triangle counts.
        b: matrices [..., n, k] (or [..., k, n]) of the same batch and dtype, or vectors.
        left_side: on which side of x the triangle is.
        lower: which triangle of a counts.
        transpose_a: op transposes.
        conjugate_a: op conjugates.
        unit_diagonal: take the diagonal to be ones.

    Raises:
        TypeError, ValueError: shapes or dtypes that do not fit.

    >>> a = jnp.array([[2.0, 0.0], [1.0, 1.0]])
    >>> irax.lax.linalg.triangular_solve(a, jnp.array([[2.0], [3.0]]), left_side=True, lower=True)
    Array([[1.],
           [2.]], dtype=float32)
    """
    first = m.matrices("triangular_solve", a, square=True)
    second = array_of("lax.linalg.triangular_solve", b)
    vector = second.ndim == first.ndim - 1
    if vector:
        second = structure.expand_dims(second, [-1 if left_side else -2])
    along = second.shape[-2 if left_side else -1] if second.ndim >= 2 else None
    fits = second.shape[:-2] == first.shape[:-2] and along == first.shape[-1]
    if second.dtype != first.dtype or not fits:
        same_kind = second.dtype == first.dtype and second.ndim == first.ndim
        raise (ValueError if same_kind else TypeError)(
            f"lax.linalg.triangular_solve: a has type {first.aval} and b {second.aval}; expected "
            "one dtype, the same batch dimensions, and as many rows of b (columns, without "
            "left_side) as a has"
        )
    if conjugate_a and not transpose_a:
        first = m.conjugated(first)
    kind = "NO_TRANSPOSE"
    if transpose_a:
        kind = "ADJOINT" if conjugate_a and first.dtype.kind == "c" else "TRANSPOSE"
    op = triangular.TriangularSolve(left_side, lower, unit_diagonal, kind)
    result = bind(op, first, second)
    return structure.squeeze(result, [-1 if left_side else -2]) if vector else result


@library
def tridiagonal_solve(
    dl: ArrayLike, d: ArrayLike, du: ArrayLike, b: ArrayLike, *, perturb_singular: bool = False
) -> Array:
    """Solve T x = b for tridiagonal matrices T, by elimination with pivots.

    Args:
        dl: the subdiagonal, [..., n], from its second element on.
        d: the diagonal, [..., n].
        du: the superdiagonal, [..., n], up to the last element but one.
        b: the right hand sides, [..., n, k].
        perturb_singular: keep pivots away from zero, so that the solution is finite.

    Raises:
        TypeError: shapes or dtypes that do not fit.

    >>> one = jnp.ones(2)
    >>> irax.lax.linalg.tridiagonal_solve(one, 2 * one, one, jnp.array([[3.0], [3.0]]))
    Array([[1.],
           [1.]], dtype=float32)
    """
    right = m.matrices("tridiagonal_solve", b)
    bands = [array_of("lax.linalg.tridiagonal_solve", x) for x in (dl, d, du)]
    if any(x.dtype != right.dtype or x.shape != right.shape[:-1] for x in bands):
        listed = ", ".join(f"{x.dtype}{list(x.shape)}" for x in (*bands, right))
        raise TypeError(
            "lax.linalg.tridiagonal_solve: expected dl, d and du [..., n] and b [..., n, k] of one "
            f"dtype, got {listed}"
        )
    if not right.size:
        return right
    low, mid, high = (_rows_first(x[..., None]) for x in bands)
    rows = _rows_first(right)
    high = structure.concatenate([high[:-1], structure.full_like(high[:1], 0)], 0)

    def eliminate(row: tuple[Array, ...], below: tuple[Array, ...]):
        """Eliminate one row: emit the pivot's row [pivot, first, second, right], carry
        the other.
        """
        p, u, r = row
        lower, q, v, s = below
        swap = abs(lower) > abs(p)
        top = where(swap, lower, p)
        ratio = where(swap, p, lower) / where(top == 0, 1, top)
        pivot = (top, where(swap, q, u), where(swap, v, 0), where(swap, s, r))
        rest = where(swap, u - ratio * q, q - ratio * u)
        rest_right = where(swap, r - ratio * s, s - ratio * r)
        return (rest, where(swap, -ratio * v, v), rest_right), pivot

    first = (mid[0], high[0], rows[0])
    (p, u, r), pivots = scan(eliminate, first, (low[1:], mid[1:], high[1:], rows[1:]))
    last = (p, u, structure.full_like(u, 0), r)
    pivots = tuple(
        structure.concatenate([x, y[None]], 0) for x, y in zip(pivots, last, strict=True)
    )
    if perturb_singular:
        pivots = (_away_from_zero(*pivots[:3]), *pivots[1:])

    def substitute(after: tuple[Array, Array], pivot: tuple[Array, ...]):
        p, u, v, r = pivot
        x = (r - u * after[0] - v * after[1]) / p
        return (x, after[0]), x

    nothing = structure.full_like(rows[0], 0)
    _, x = scan(substitute, (nothing, nothing), pivots, reverse=True)
    return structure.transpose(x, (*range(1, x.ndim - 1), 0, x.ndim - 1))


def _rows_first(x: Array) -> Array:
    """Return an array with its last dimension but one before all others."""
    return structure.transpose(x, (x.ndim - 2, *range(x.ndim - 2), x.ndim - 1))


def _away_from_zero(pivots: Array, *beside: Array) -> Array:
    sizes = [abs(structure.stop_gradient(x)) for x in (pivots, *beside)]
    largest = elementwise.max(elementwise.max(*(x.max(0) for x in sizes[:2])), sizes[2].max(0))
    found = dtypes.finfo(pivots.dtype)
    least = elementwise.max(largest * float(found.eps), float(found.tiny))
    small = sizes[0] < least
    return where(small, where(m.real_part(pivots) < 0, -least, least), pivots)


def cholesky_update(r_matrix: ArrayLike, w_vector: ArrayLike) -> Array:
    """Update a Cholesky factor: return the upper triangle S with S^T S = R^T R + w w^T.

    Args:
        r_matrix: R, real upper triangles [..., n, n] with a positive diagonal.
        w_vector: w, [..., n].

    Raises:
        TypeError: not arrays of one dtype of floats, or `r_matrix` has no two dimensions.
        ValueError: `r_matrix` is not square, or `w_vector` has another shape.

    >>> irax.lax.linalg.cholesky_update(jnp.array([[3.0]]), jnp.array([4.0]))
    Array([[5.]], dtype=float32)
    """
    factor = m.matrices("cholesky_update", r_matrix, square=True)
    vector = array_of("lax.linalg.cholesky_update", w_vector)
    if vector.dtype != factor.dtype or vector.shape != factor.shape[:-1]:
        raise ValueError(
            f"lax.linalg.cholesky_update: expected w_vector {factor.dtype}"
            f"{list(factor.shape[:-1])}, got {vector.dtype}{list(vector.shape)}"
        )
    stacked = structure.concatenate([m.upper(factor), vector[..., None, :]], factor.ndim - 2)
    r = qr(stacked, full_matrices=False)[1]
    return convert(where(m.diagonal(r) < 0, -1, 1), r.dtype)[..., None] * r


@library
def symmetric_product(
    a_matrix: ArrayLike,
    c_matrix: ArrayLike,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    symmetrize_output: bool = False,
) -> Array:
    """Return alpha A A^T + beta C.

    Args:
        a_matrix: A, matrices [..., m, n].
        c_matrix: C, symmetric matrices [..., m, m].
        alpha: a number.
        beta: a number.
        symmetrize_output: copy the lower triangle of the result to the upper one.

    Raises:
        TypeError: not arrays of floats, or fewer than two dimensions.
        ValueError: the shapes do not fit.

    >>> a = jnp.array([[1.0, 2.0]])
    >>> irax.lax.linalg.symmetric_product(a, jnp.ones((1, 1)), beta=2.0)
    Array([[7.]], dtype=float32)
    """
    a = m.matrices("symmetric_product", a_matrix)
    c = m.matrices("symmetric_product", c_matrix, square=True)
    if c.shape != (*a.shape[:-1], a.shape[-2]) or c.dtype != a.dtype:
        raise ValueError(
            f"lax.linalg.symmetric_product: expected c_matrix {a.dtype}"
            f"{[*a.shape[:-1], a.shape[-2]]}, got {c.dtype}{list(c.shape)}"
        )
    result = alpha * (a @ m.transposed(a)) + beta * c
    if not symmetrize_output:
        return result
    return m.lower(result) + m.transposed(m.lower(result, -1))


def lu_pivots_to_permutation(pivots: ArrayLike, permutation_size: int) -> Array:
    """Return the permutation of rows that exchanges, int32[..., k], amount to.

    Args:
        pivots: for each step the row that was exchanged with it, int32[..., k].
        permutation_size: the number of rows.

    Raises:
        TypeError, ValueError: pivots that are not int32, or more of them than rows.

    >>> irax.lax.linalg.lu_pivots_to_permutation(jnp.array([1, 1]), 3)
    Array([1, 0, 2], dtype=int32)
    """
    what = "lax.linalg.lu_pivots_to_permutation"
    array = array_of(what, pivots)
    permutation_size = canonical_int(what, "permutation_size", permutation_size)
    if array.dtype != np.int32:
        raise TypeError(f"{what}: expected int32 pivots, got {array.dtype}")
    if array.ndim < 1 or array.shape[-1] > permutation_size:
        raise ValueError(
            f"{what}: expected at most {permutation_size} pivots in the last dimension, got shape "
            f"{array.shape}"
        )
    rows = structure.iota(np.int32, permutation_size)
    order = broadcast_to(rows, (*array.shape[:-1], permutation_size))

    def exchange(order: Array, step: tuple[Array, Array]):
        k, pivot = step
        at_k, at_pivot = rows == k, rows == pivot[..., None]
        mine = where(at_k, order, 0).sum(-1, keepdims=True, dtype=np.int32)
        other = where(at_pivot, order, 0).sum(-1, keepdims=True, dtype=np.int32)
        return where(at_k, other, where(at_pivot, mine, order)), None

    steps = (rows[: array.shape[-1]], _rows_first(array[..., None])[..., 0])
    return scan(exchange, order, steps)[0]
