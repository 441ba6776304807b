"""What irax.numpy.linalg makes of factorizations: solutions, inverses, determinants, ranks."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from irax.array import Array
from irax.elementwise import convert, inexact_dtype, promote_dtypes
from irax.lax import linalg
from irax.numpy import contraction, creation, logic, manipulation, reductions, searching, ufuncs
from irax.typing import ArrayLike


class EighResult(NamedTuple):
    """Of Hermitian matrices."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """x = Q R."""

    Q: Array
    R: Array


class SVDResult(NamedTuple):
    """x = U diag(S) Vh."""

    U: Array
    S: Array
    Vh: Array


class SlogdetResult(NamedTuple):
    """det = sign * exp(logabsdet)."""

    sign: Array
    logabsdet: Array


def _inexact(what: str, *operands: ArrayLike) -> list[Array]:
    arrays = promote_dtypes(*operands, what=what)
    return [convert(x, inexact_dtype(x.dtype)) for x in arrays]


def _square(what: str, x: Array) -> Array:
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(
            f"linalg.{what}: expected square matrices in the last two dimensions, got shape "
            f"{x.shape}"
        )
    return x


def _adjoint(x: Array) -> Array:
    return ufuncs.conjugate(manipulation.swapaxes(x, -1, -2))


def cholesky(a: ArrayLike, *, upper: bool = False, symmetrize_input: bool = True) -> Array:
    """The lower (or upper) triangular matrices L with L L^H = a (U^H U = a); nan where a is not
    positive definite.

    >>> jnp.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 2.0]]))
    Array([[2., 0.],
           [1., 1.]], dtype=float32)
    """
    (x,) = _inexact("linalg.cholesky", a)
    factor = linalg.cholesky(_square("cholesky", x), symmetrize_input=symmetrize_input)
    return _adjoint(factor) if upper else factor


def qr(a: ArrayLike, mode: str = "reduced") -> Any:
    """The factors Q and R of matrices; with mode "r" just R.

    Raises:
        NotImplementedError: mode "complete" of matrices with more rows than columns, or "raw".
    """
    (x,) = _inexact("linalg.qr", a)
    if mode not in ("reduced", "complete", "r"):
        raise NotImplementedError(
            f"linalg.qr: mode must be 'reduced', 'complete' or 'r', got {mode!r}"
        )
    q, r = linalg.qr(x, full_matrices=mode == "complete")
    return r if mode == "r" else QRResult(q, r)


def eigh(a: ArrayLike, UPLO: str | None = None, symmetrize_input: bool = True) -> EighResult:
    """The eigenvalues, ascending, and eigenvectors, as columns, of Hermitian matrices.

    >>> jnp.linalg.eigh(jnp.array([[2.0, 1.0], [1.0, 2.0]])).eigenvalues.round(5)
    Array([1., 3.], dtype=float32)
    """
    if UPLO not in (None, "L", "U"):
        raise ValueError(f"linalg.eigh: UPLO must be None, 'L' or 'U', got {UPLO!r}")
    (x,) = _inexact("linalg.eigh", a)
    vectors, values = linalg.eigh(
        _square("eigh", x), lower=UPLO != "U", symmetrize_input=symmetrize_input
    )
    return EighResult(values, vectors)


def eigvalsh(a: ArrayLike, UPLO: str | None = "L", *, symmetrize_input: bool = True) -> Array:
    """The eigenvalues of Hermitian matrices, ascending."""
    return eigh(a, UPLO, symmetrize_input).eigenvalues


def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
) -> Any:
    """U, S and Vh of a = U diag(S) Vh, S descending; S alone without `compute_uv`.

    Raises:
        NotImplementedError: `full_matrices` of matrices that are not square.
    """
    (x,) = _inexact("linalg.svd", a)
    del hermitian  # a hint, which changes no result
    found = linalg.svd(x, full_matrices=full_matrices, compute_uv=compute_uv)
    return SVDResult(*found) if compute_uv else found


def svdvals(x: ArrayLike, /) -> Array:
    """The singular values, descending."""
    return svd(x, compute_uv=False)


# ---- solutions -----------------------------------------------------------------------------------


def solve(a: ArrayLike, b: ArrayLike) -> Array:
    """The x with a x = b.

    Args:
        a: square matrices [..., n, n].
        b: matrices [..., n, k], or one vector [n].

    >>> jnp.linalg.solve(jnp.array([[2.0, 0.0], [0.0, 4.0]]), jnp.array([2.0, 2.0]))
    Array([1. , 0.5], dtype=float32)
    """
    matrices, right = _inexact("linalg.solve", a, b)
    _square("solve", matrices)
    vector = right.ndim == 1
    right = right[:, None] if vector else right
    if right.ndim < 2 or right.shape[-2] != matrices.shape[-1]:
        raise ValueError(
            f"linalg.solve: a has shape {matrices.shape} and b {right.shape}; expected as many "
            "rows of b as a has"
        )
    batch = np.broadcast_shapes(matrices.shape[:-2], right.shape[:-2])
    matrices = manipulation.broadcast_to(matrices, (*batch, *matrices.shape[-2:]))
    right = manipulation.broadcast_to(right, (*batch, *right.shape[-2:]))
    factors, _, order = linalg.lu(matrices)
    right = searching.take_along_axis(right, order[..., None], -2)
    x = linalg.triangular_solve(factors, right, left_side=True, lower=True, unit_diagonal=True)
    x = linalg.triangular_solve(factors, x, left_side=True)
    return x[..., 0] if vector else x


def inv(a: ArrayLike) -> Array:
    """The inverse of square matrices.

    >>> jnp.linalg.inv(jnp.array([[2.0, 0.0], [0.0, 4.0]]))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    (x,) = _inexact("linalg.inv", a)
    _square("inv", x)
    identity = creation.eye(x.shape[-1], dtype=x.dtype)
    return solve(x, manipulation.broadcast_to(identity, x.shape))


def lstsq(
    a: ArrayLike, b: ArrayLike, rcond: float | None = None, *, numpy_resid: bool = False
) -> tuple[Array, Array, Array, Array]:
    """The x of the smallest |a x - b|, and of these of the smallest |x|; the squares of what is
    left; the rank of a; its singular values.

    Args:
        a: a matrix [m, n].
        b: a vector [m] or a matrix [m, k].
        rcond: singular values below this part of the largest count as 0.
        numpy_resid: give no residuals where NumPy gives none.
    """
    matrix, right = _inexact("linalg.lstsq", a, b)
    if matrix.ndim != 2 or right.ndim not in (1, 2) or right.shape[0] != matrix.shape[0]:
        raise ValueError(
            f"linalg.lstsq: expected a matrix [m, n] and b [m] or [m, k], got shapes "
            f"{matrix.shape} and {right.shape}"
        )
    m, n = matrix.shape
    columns = right[:, None] if right.ndim == 1 else right
    u, s, vh = svd(matrix, full_matrices=False)
    limit = np.finfo(s.dtype).eps * max(m, n) if rcond is None else rcond
    kept = ufuncs.greater(s, s[0] * limit) if s.size else creation.zeros_like(s, bool)
    inverse = logic.where(kept, 1 / logic.where(kept, s, 1), 0)
    inner = contraction.matmul(_adjoint(u), columns)
    x = contraction.matmul(_adjoint(vh), inverse[:, None].astype(inner.dtype) * inner)
    rank = reductions.sum(kept)
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
    """The pseudo-inverse of matrices: singular values up to `rtol` times the largest count as 0."""
    (x,) = _inexact("linalg.pinv", a)
    u, s, vh = svd(x, full_matrices=False, hermitian=hermitian)
    given = rtol if rtol is not None else rcond
    limit = 10 * max(x.shape[-2:]) * np.finfo(s.dtype).eps if given is None else given
    kept = s > limit * s[..., :1]
    inverse = logic.where(kept, 1 / logic.where(kept, s, 1), 0).astype(x.dtype)
    return contraction.matmul(_adjoint(vh), inverse[..., None] * _adjoint(u))


def tensorsolve(a: ArrayLike, b: ArrayLike, axes: Any = None) -> Array:
    """The x with tensordot(a, x, x.ndim) = b."""
    array, right = _inexact("linalg.tensorsolve", a, b)
    if axes is not None:
        array = manipulation.moveaxis(array, axes, range(array.ndim - len(axes), array.ndim))
    rest = array.shape[right.ndim :]
    square = manipulation.reshape(array, (prod(right.shape), prod(rest)))
    return manipulation.reshape(solve(square, manipulation.ravel(right)), rest)


def tensorinv(a: ArrayLike, ind: int = 2) -> Array:
    """The inverse for tensordot(., ., ind)."""
    (x,) = _inexact("linalg.tensorinv", a)
    if ind <= 0:
        raise ValueError(f"linalg.tensorinv: ind must be positive, got {ind}")
    first, rest = x.shape[:ind], x.shape[ind:]
    return manipulation.reshape(
        inv(manipulation.reshape(x, (prod(first), prod(rest)))), (*rest, *first)
    )


# ---- numbers -------------------------------------------------------------------------------------


def _diagonal(x: Array) -> Array:
    return creation.diagonal(x, 0, -2, -1)


def slogdet(a: ArrayLike) -> SlogdetResult:
    """The sign of the determinant (for complex matrices its phase), and the logarithm of its size.

    >>> jnp.linalg.slogdet(jnp.array([[0.0, 1.0], [1.0, 0.0]]))[0]
    Array(-1., dtype=float32)
    """
    (x,) = _inexact("linalg.slogdet", a)
    factors, pivots, _ = linalg.lu(_square("slogdet", x))
    diagonal = _diagonal(factors)
    numbers = creation.arange(pivots.shape[-1], dtype=pivots.dtype)
    exchanges = reductions.sum(ufuncs.not_equal(pivots, numbers), -1)
    parity = (1 - 2 * (exchanges % 2)).astype(x.dtype)
    sign = parity * reductions.prod(ufuncs.sign(diagonal), -1)
    return SlogdetResult(sign, reductions.sum(ufuncs.log(ufuncs.abs(diagonal)), -1))


def det(a: ArrayLike) -> Array:
    """The determinant of square matrices.

    >>> jnp.linalg.det(jnp.array([[2.0, 0.0], [1.0, 3.0]]))
    Array(6., dtype=float32)
    """
    (x,) = _inexact("linalg.det", a)
    factors, pivots, _ = linalg.lu(_square("det", x))
    numbers = creation.arange(pivots.shape[-1], dtype=pivots.dtype)
    exchanges = reductions.sum(ufuncs.not_equal(pivots, numbers), -1)
    parity = (1 - 2 * (exchanges % 2)).astype(x.dtype)
    return parity * reductions.prod(_diagonal(factors), -1)


def matrix_rank(M: ArrayLike, rtol: ArrayLike | None = None, *, tol: Any = None) -> Array:
    """How many singular values are larger than `rtol` times the largest."""
    (x,) = _inexact("linalg.matrix_rank", M)
    s = svdvals(x)
    given = rtol if rtol is not None else tol
    limit = max(x.shape[-2:]) * np.finfo(s.dtype).eps if given is None else given
    return reductions.sum(s > reductions.max(s, -1, keepdims=True) * limit, -1)


def cond(x: ArrayLike, p: Any = None) -> Array:
    """The condition number: |x| |x^-1| by the norm `p`; by default the ratio of singular values."""
    from irax.numpy.linalg import norm

    (array,) = _inexact("linalg.cond", x)
    if p in (None, 2, -2):
        s = svdvals(array)
        return s[..., 0] / s[..., -1] if p != -2 else s[..., -1] / s[..., 0]
    return norm(array, p, (-2, -1)) * norm(inv(array), p, (-2, -1))
