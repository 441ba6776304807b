"""Functions of irax.numpy.linalg that solve equations, and inverses."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from irax.core.array import Array
from irax.core.dispatch import bind
from irax.core.dtypes.operands import judge_ranks
from irax.core.dtypes.strictness import library
from irax.lax.arguments import canonical_int
from irax.lax.linalg.matrices import adjoint, one_batch
from irax.lax.linalg.matrices import matrices as lapack_matrices
from irax.numpy import creation, matrices, ufuncs
from irax.numpy.aggregates import reductions
from irax.numpy.elementwise import logic
from irax.numpy.linalg.factored import inexact, square, svd, svdvals
from irax.numpy.products import contraction
from irax.numpy.shapes import manipulation
from irax.transforms.custom_jvp import custom_jvp
from irax.typing import ArrayLike
from irax_compiler.ops.linalg import lu as lu_ops


def solve(a: ArrayLike, b: ArrayLike) -> Array:
    """Solve a x = b for square matrices a.

    Args:
        a: square matrices [..., n, n].
        b: matrices [..., n, k], or one vector [n].

    Raises:
        ValueError: shapes that do not fit.

    >>> jnp.linalg.solve(jnp.array([[2.0, 0.0], [0.0, 4.0]]), jnp.array([2.0, 2.0]))
    Array([1. , 0.5], dtype=float32)
    """
    matrices, right = inexact("linalg.solve", a, b)
    lapack_matrices("solve", matrices, square=True)
    vector = right.ndim == 1
    judge_ranks([matrices, right], "linalg.solve", core=[2, 1 if vector else 2])
    right = right[:, None] if vector else right
    if right.ndim < 2 or right.shape[-2] != matrices.shape[-1]:
        raise ValueError(
            f"linalg.solve: a has shape {matrices.shape} and b "
            f"{right.shape[:1] if vector else right.shape}; expected as many rows of b as a has"
        )
    matrices, right = one_batch([matrices, right], [2, 2])
    x = bind(lu_ops.Solve(), matrices, right) if right.size else right
    return x[..., 0] if vector else x


def inv(a: ArrayLike) -> Array:
    """Return the inverse of square matrices.

    Args:
        a: matrices, of shape (..., n, n).

    Returns:
        An array of the same shape.

    Raises:
        TypeError: not an array.
        ValueError: the last two dimensions differ.

    >>> jnp.linalg.inv(jnp.array([[2.0, 0.0], [0.0, 4.0]]))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    (x,) = inexact("linalg.inv", a)
    square("linalg.inv", x)
    return solve(x, matrices.eye(x.shape[-1], dtype=x.dtype))


def lstsq(
    a: ArrayLike, b: ArrayLike, rcond: float | None = None, *, numpy_resid: bool = False
) -> tuple[Array, Array, Array, Array]:
    """Solve a x = b by least squares: return x, of smallest norm; the sums of squared residuals;
    the rank of a; its singular values.

    Args:
        a: a matrix [m, n].
        b: a vector [m] or a matrix [m, k].
        rcond: singular values below this part of the largest count as 0.
        numpy_resid: give no residuals where NumPy gives none.

    Raises:
        TypeError: `a` or `b` is not an array.
        ValueError: the shapes do not fit.

    >>> jnp.linalg.lstsq(jnp.array([[1.0], [1.0]]), jnp.array([1.0, 3.0]))[0].round(3)
    Array([2.], dtype=float32)
    """
    matrix, right = inexact("linalg.lstsq", a, b)
    if matrix.ndim != 2 or right.ndim not in (1, 2) or right.shape[0] != matrix.shape[0]:
        raise ValueError(
            f"linalg.lstsq: expected a matrix [m, n] and b [m] or [m, k], got shapes "
            f"{matrix.shape} and {right.shape}"
        )
    m, n = matrix.shape
    columns = right[:, None] if right.ndim == 1 else right
    limit = float(np.finfo(matrix.dtype).eps) * max(m, n) if rcond is None else rcond
    s = svdvals(matrix)
    rank = reductions.sum(s > reductions.max(s, initial=0) * limit)
    x = contraction.matmul(_pinv(matrix, _limit(matrix, limit)), columns)
    left = columns - contraction.matmul(matrix, x)
    residuals = reductions.sum(ufuncs.square(ufuncs.abs(left)), 0)
    if numpy_resid and (m <= n or int(rank) < n):
        residuals = creation.zeros((0,), s.dtype)
    return (x[:, 0] if right.ndim == 1 else x), residuals, rank, s


def pinv(
    a: ArrayLike,
    rtol: ArrayLike | None = None,
    hermitian: bool = False,
    *,
    rcond: ArrayLike | None = None,
) -> Array:
    """Return the pseudo-inverse of matrices: singular values up to `rtol` times the largest count
    as 0.

    Its derivative is that of matrices of the same rank (G. Golub and V. Pereyra, 1973).

    Args:
        a: matrices [..., m, n].
        rtol: a number, or one for each matrix.
        hermitian: a hint, which changes no result.
        rcond: another name of `rtol`.

    Raises:
        TypeError: `a` is not an array of at least two dimensions.

    >>> jnp.linalg.pinv(jnp.array([[2.0, 0.0], [0.0, 0.0]]))
    Array([[0.5, 0. ],
           [0. , 0. ]], dtype=float32)
    """
    (x,) = inexact("linalg.pinv", a)
    del hermitian
    if rtol is not None and rcond is not None:
        raise ValueError("linalg.pinv: rtol and rcond are one argument: give one of them")
    given = rtol if rtol is not None else rcond
    lapack_matrices("pinv", x)
    if given is None:
        given = 10 * max(x.shape[-2:]) * float(np.finfo(x.dtype).eps)
    return _pinv(x, _limit(x, given))


def _limit(x: Array, limit: ArrayLike) -> Array:
    return creation.asarray(limit, dtype=np.finfo(x.dtype).dtype)


@custom_jvp
def _pinv(x: Array, limit: Array) -> Array:
    u, s, vh = svd(x, full_matrices=False)
    kept = s > limit[..., None] * s[..., :1]
    inverse = logic.where(kept, 1 / logic.where(kept, s, 1), 0).astype(x.dtype)
    return contraction.matmul(adjoint(vh), inverse[..., None] * adjoint(u))


@_pinv.defjvp
@library
def _pinv_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    (x, limit), (t, _) = primals, tangents
    p = _pinv(x, limit)
    if x.shape[-2] <= x.shape[-1]:
        return p, _wide_pinv_tangent(x, p, t)
    return p, adjoint(_wide_pinv_tangent(adjoint(x), adjoint(p), adjoint(t)))


def _wide_pinv_tangent(x: Array, p: Array, t: Array) -> Array:
    """For matrices of m rows and more columns: no product on the way is larger than these."""
    mul, ct, cp = contraction.matmul, adjoint(t), adjoint(p)
    rows = mul(p, mul(cp, ct))
    columns = mul(ct, mul(cp, p))
    across = rows - mul(rows, mul(x, p)) + columns - mul(p, mul(x, columns))
    return across - mul(p, mul(t, p))


def tensorsolve(a: ArrayLike, b: ArrayLike, axes: Any = None) -> Array:
    """Solve tensordot(a, x, x.ndim) = b.

    Args:
        a: an array of shape `b.shape + x.shape`, with as many elements in both parts.
        b: an array.
        axes: axes of `a` to move to its end first.

    Raises:
        TypeError: `a` or `b` is not an array.
        ValueError: the shapes do not fit.

    >>> jnp.linalg.tensorsolve(2 * jnp.eye(2), jnp.array([2.0, 4.0]))
    Array([1., 2.], dtype=float32)
    """
    array, right = inexact("linalg.tensorsolve", a, b)
    if axes is not None:
        array = manipulation.moveaxis(array, axes, tuple(range(-len(axes), 0)))
    rest = array.shape[right.ndim :]
    square = manipulation.reshape(array, (prod(right.shape), prod(rest)))
    return manipulation.reshape(solve(square, manipulation.ravel(right)), rest)


def tensorinv(a: ArrayLike, ind: int = 2) -> Array:
    """Return the inverse of `a` for tensordot(., ., ind).

    Args:
        a: an array whose first `ind` axes have as many elements as the others.
        ind: the number of these axes.

    Returns:
        An array whose first axes are the last ones of `a`.

    Raises:
        TypeError: `a` is not an array, or `ind` is not an int.
        ValueError: `ind` is not positive, or the numbers of elements differ.

    >>> jnp.linalg.tensorinv(2 * jnp.eye(4).reshape(2, 2, 4)).shape
    (4, 2, 2)
    """
    (x,) = inexact("linalg.tensorinv", a)
    ind = canonical_int("linalg.tensorinv", "ind", ind)
    if ind <= 0:
        raise ValueError(f"linalg.tensorinv: ind must be positive, got {ind}")
    first, rest = x.shape[:ind], x.shape[ind:]
    return manipulation.reshape(
        inv(manipulation.reshape(x, (prod(first), prod(rest)))), (*rest, *first)
    )
