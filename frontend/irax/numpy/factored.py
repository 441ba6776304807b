"""Functions of irax.numpy.linalg by factorizations: solutions, inverses, determinants, ranks."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from irax import lax
from irax.core.array import Array
from irax.core.dispatch import bind
from irax.core.operands import inexact_dtype, judge_ranks
from irax.core.promotion import convert, promote_dtypes
from irax.lax import factorizations, linalg
from irax.lax.arguments import canonical_int
from irax.lax.matrices import adjoint, factors, one_batch
from irax.lax.matrices import matrices as lapack_matrices
from irax.numpy import (
    contraction,
    creation,
    logic,
    manipulation,
    matrices,
    reductions,
    searching,
    ufuncs,
)
from irax.transforms.custom_jvp import custom_jvp
from irax.typing import ArrayLike
from irax_compiler.ops.linalg import lu as lu_ops
from irax_compiler.ops.linalg.householder import HouseholderQr
from irax_compiler.sizes import is_symbolic


class EigResult(NamedTuple):
    """x V = V diag(w)."""

    eigenvalues: Array
    eigenvectors: Array


class EighResult(NamedTuple):
    """Eigenvalues and eigenvectors of Hermitian matrices."""

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


def inexact(what: str, *operands: ArrayLike) -> list[Array]:
    """Return the operands in one dtype, of floats or complex numbers."""
    arrays = promote_dtypes(*operands, what=what)
    return [convert(x, inexact_dtype(x.dtype)) for x in arrays]


def square(what: str, x: Array) -> Array:
    """Return `x`; raise ValueError if its last two dimensions are not square matrices."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(
            f"{what}: expected square matrices in the last two dimensions, got shape {x.shape}"
        )
    return x


def cholesky(a: ArrayLike, *, upper: bool = False, symmetrize_input: bool = True) -> Array:
    """Return the lower (or upper) triangular matrices L with L L^H = a (U^H U = a); nan where a is
    not positive definite.

    Args:
        a: Hermitian matrices, of shape (..., n, n).
        upper: True for the upper triangles.
        symmetrize_input: True to take the mean of `a` and its conjugate transpose first.

    Raises:
        TypeError: not an array.
        ValueError: the last two dimensions differ.

    >>> jnp.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 2.0]]))
    Array([[2., 0.],
           [1., 1.]], dtype=float32)
    """
    (x,) = inexact("linalg.cholesky", a)
    square("linalg.cholesky", x)
    if upper and not symmetrize_input:  # the upper triangle counts
        x = adjoint(x)
    factor = linalg.cholesky(x, symmetrize_input=symmetrize_input)
    return adjoint(factor) if upper else factor


def qr(a: ArrayLike, mode: str = "reduced") -> Any:
    """Return the factors of matrices a = Q R.

    Args:
        a: matrices [..., m, n].
        mode: "reduced", or "full": Q has min(m, n) columns. "complete": m columns, of which those
            after the n-th have no derivative. "r": R alone. "raw": the transpose of R with the
            reflections that Q is made of (see `lax.linalg.householder_product`), and their factors.

    Raises:
        ValueError: another mode.

    >>> jnp.linalg.qr(jnp.ones((3, 2)), mode="complete").Q.shape
    (3, 3)
    """
    (x,) = inexact("linalg.qr", a)
    if mode == "raw":
        packed, taus = factors(HouseholderQr(), x)
        return QRResult(manipulation.swapaxes(packed, -1, -2), taus)
    if mode not in ("reduced", "full", "complete", "r"):
        raise ValueError(
            f"linalg.qr: mode must be 'reduced', 'full', 'complete', 'r' or 'raw', got {mode!r}"
        )
    q, r = linalg.qr(x, full_matrices=mode == "complete")
    return r if mode == "r" else QRResult(q, r)


def eig(a: ArrayLike) -> EigResult:
    """Return the eigenvalues and eigenvectors, as columns of norm 1, of square matrices; complex.
    It runs on the CPU alone.

    Args:
        a: square matrices [..., n, n].

    Returns:
        A named tuple of `eigenvalues` [..., n] and `eigenvectors` [..., n, n].

    Raises:
        TypeError: not an array.
        ValueError: the last two dimensions differ.

    >>> jnp.linalg.eig(jnp.array([[2.0, 0.0], [0.0, 3.0]])).eigenvalues
    Array([2.+0.j, 3.+0.j], dtype=complex64)
    """
    (x,) = inexact("linalg.eig", a)
    square("linalg.eig", x)
    return EigResult(*linalg.eig(x, compute_left_eigenvectors=False))


def eigvals(a: ArrayLike) -> Array:
    """Return the eigenvalues of square matrices, complex and in no order. It runs on the
    CPU alone.

    Args:
        a: square matrices [..., n, n].

    Returns:
        Complex numbers [..., n].

    Raises:
        TypeError: not an array.
        ValueError: the last two dimensions differ.

    >>> jnp.linalg.eigvals(jnp.array([[2.0, 0.0], [0.0, 3.0]]))
    Array([2.+0.j, 3.+0.j], dtype=complex64)
    """
    (x,) = inexact("linalg.eigvals", a)
    square("linalg.eigvals", x)
    (values,) = linalg.eig(x, compute_left_eigenvectors=False, compute_right_eigenvectors=False)
    return values


def eigh(a: ArrayLike, UPLO: str | None = None, symmetrize_input: bool = True) -> EighResult:
    """Return the eigenvalues, ascending, and eigenvectors, as columns, of Hermitian matrices.

    Args:
        a: Hermitian matrices, of shape (..., n, n).
        UPLO: the triangle that is read, "L" or "U".
        symmetrize_input: True to take the mean of `a` and its conjugate transpose first.

    Raises:
        TypeError: not an array.
        ValueError: the last two dimensions differ, or `UPLO` is neither "L" nor "U".

    >>> jnp.linalg.eigh(jnp.array([[2.0, 1.0], [1.0, 2.0]])).eigenvalues.round(5)
    Array([1., 3.], dtype=float32)
    """
    x, lower = _hermitian("linalg.eigh", a, UPLO)
    vectors, values = linalg.eigh(x, lower=lower, symmetrize_input=symmetrize_input)
    return EighResult(values, vectors)


def eigvalsh(a: ArrayLike, UPLO: str | None = "L", *, symmetrize_input: bool = True) -> Array:
    """Return the eigenvalues of Hermitian matrices, ascending.

    Args:
        a: Hermitian matrices [..., n, n].
        UPLO: the triangle that counts, "L" or "U", without `symmetrize_input`.
        symmetrize_input: True to take the mean of both triangles.

    Returns:
        Floats [..., n].

    Raises:
        TypeError: not an array.
        ValueError: the last two dimensions differ, or `UPLO` is neither "L" nor "U".

    >>> jnp.linalg.eigvalsh(jnp.array([[2.0, 0.0], [0.0, 3.0]]))
    Array([2., 3.], dtype=float32)
    """
    x, lower = _hermitian("linalg.eigvalsh", a, UPLO)
    return factorizations.eigvalsh(x, lower=lower, symmetrize_input=symmetrize_input)


def _hermitian(what: str, a: ArrayLike, triangle: str | None) -> tuple[Array, bool]:
    if triangle not in (None, "L", "U"):
        raise ValueError(f"{what}: UPLO must be None, 'L' or 'U', got {triangle!r}")
    (x,) = inexact(what, a)
    return square(what, x), triangle != "U"


def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> Any:
    """Return U, S and Vh of a = U diag(S) Vh, S descending; S alone without `compute_uv`.

    Args:
        a: matrices [..., m, n].
        full_matrices: U and Vh are square; the vectors that complete them have no derivative.
        compute_uv: compute U and Vh.
        hermitian: a hint, which changes no result.
        subset_by_index: the first and the last but one of the singular values wanted, by number.

    Raises:
        TypeError: `a` is not an array of at least two dimensions.
        ValueError: `subset_by_index` without `full_matrices=False`.

    >>> jnp.linalg.svd(jnp.ones((3, 2))).U.shape
    (3, 3)
    """
    (x,) = inexact("linalg.svd", a)
    del hermitian
    found = linalg.svd(
        x, full_matrices=full_matrices, compute_uv=compute_uv, subset_by_index=subset_by_index
    )
    return SVDResult(*found) if compute_uv else found


def svdvals(x: ArrayLike, /) -> Array:
    """Return the singular values, descending.

    Args:
        x: matrices [..., m, n].

    Returns:
        Floats [..., min(m, n)].

    Raises:
        TypeError: not an array of at least two dimensions.

    >>> jnp.linalg.svdvals(jnp.array([[3.0, 0.0], [0.0, 4.0]]))
    Array([4., 3.], dtype=float32)
    """
    return svd(x, compute_uv=False)


# ---- solutions -----------------------------------------------------------------------------------


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
            f"linalg.solve: a has shape {matrices.shape} and b {right.shape}; expected as many "
            "rows of b as a has"
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


# ---- numbers -------------------------------------------------------------------------------------


class _Pivoted(NamedTuple):
    """The factors of square matrices, and the sign of the permutation."""

    factors: Array
    order: Array
    parity: Array

    @property
    def diagonal(self) -> Array:
        return matrices.diagonal(self.factors, 0, -2, -1)


def _pivoted(x: Array) -> _Pivoted:
    found, pivots, order = linalg.lu(x)
    numbers = lax.iota(np.int32, pivots.shape[-1])
    exchanges = reductions.sum(logic.not_equal(pivots, numbers), -1)
    return _Pivoted(found, order, (1 - 2 * (exchanges % 2)).astype(x.dtype))


def slogdet(a: ArrayLike, *, method: str | None = None) -> SlogdetResult:
    """Return the sign of the determinant (its phase, if complex), and the logarithm of its absolute
    value.

    Args:
        a: square matrices [..., n, n].
        method: the factorization: "lu" (the default) or "qr".

    Raises:
        ValueError: another method, or no square matrices.

    >>> jnp.linalg.slogdet(jnp.array([[0.0, 1.0], [1.0, 0.0]]))[0]
    Array(-1., dtype=float32)
    """
    (x,) = inexact("linalg.slogdet", a)
    square("linalg.slogdet", x)
    if method in (None, "lu"):
        found = _pivoted(x)
        diagonal, sign = found.diagonal, found.parity
    elif method == "qr":
        q, r = linalg.qr(x)
        diagonal, sign = matrices.diagonal(r, 0, -2, -1), det(q)
    else:
        raise ValueError(f"linalg.slogdet: method must be 'lu' or 'qr', got {method!r}")
    sign = sign * reductions.prod(ufuncs.sign(diagonal), -1)
    return SlogdetResult(sign, reductions.sum(ufuncs.log(ufuncs.abs(diagonal)), -1))


def det(a: ArrayLike) -> Array:
    """Return the determinant of square matrices. It has a derivative at singular matrices, too.

    Args:
        a: matrices, of shape (..., n, n).

    Returns:
        An array of shape (...).

    Raises:
        TypeError: not an array.
        ValueError: the last two dimensions differ.

    >>> jnp.linalg.det(jnp.array([[2.0, 0.0], [1.0, 3.0]]))
    Array(6., dtype=float32)
    """
    (x,) = inexact("linalg.det", a)
    n = square("linalg.det", x).shape[-1]
    if n == 0:
        return creation.ones(x.shape[:-2], x.dtype)
    if is_symbolic(n) or n > 3:
        return _det(x)
    rows = [[x[..., i, j] for j in range(n)] for i in range(n)]
    return _by_first_row(rows)


def _by_first_row(rows: list[list[Array]]) -> Array:
    """Return determinants by their polynomial in the elements, which has all derivatives."""
    if len(rows) == 1:
        return rows[0][0]
    minors = [[row[:j] + row[j + 1 :] for row in rows[1:]] for j in range(len(rows))]
    terms = [x * _by_first_row(minor) for x, minor in zip(rows[0], minors, strict=True)]
    result = terms[0] - terms[1]
    return result if len(terms) == 2 else result + terms[2]


@custom_jvp
def _det(x: Array) -> Array:
    found = _pivoted(x)
    return found.parity * reductions.prod(found.diagonal, -1)


@_det.defjvp
def _det_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    """The trace of the adjugate, det A A^-1, times dA. A pivot that is zero is a very small one,
    which both factors have, and which cancels.
    """
    (x,), (t,) = primals, tangents
    found = _pivoted(x)
    pivots = found.diagonal
    largest = reductions.max(ufuncs.abs(x), (-2, -1), keepdims=True)[..., 0]
    small = logic.where(largest == 0, 1, largest) * float(np.finfo(x.dtype).eps) ** 2
    safe = logic.where(ufuncs.equal(pivots, 0), small, pivots)
    n = x.shape[-1]
    lift = (safe - pivots)[..., None] * matrices.eye(n, dtype=x.dtype)
    factors_ = found.factors + lift
    right = searching.take_along_axis(t, found.order[..., None], -2)
    right = linalg.triangular_solve(factors_, right, left_side=True, lower=True, unit_diagonal=True)
    right = linalg.triangular_solve(factors_, right, left_side=True)
    slope = found.parity * reductions.prod(safe, -1) * contraction.trace(right, 0, -2, -1)
    return found.parity * reductions.prod(pivots, -1), slope


def matrix_rank(
    M: ArrayLike,
    rtol: ArrayLike | None = None,
    *,
    hermitian: bool = False,
    tol: ArrayLike | None = None,
) -> Array:
    """Return the rank of matrices: the number of singular values larger than `rtol` times the
    largest.

    Args:
        M: matrices [..., m, n].
        rtol: a number, or one for each matrix.
        hermitian: a hint, which changes no result.
        tol: an absolute limit for singular values, in place of `rtol`.

    Raises:
        TypeError: `M` is not an array.

    >>> jnp.linalg.matrix_rank(jnp.ones((2, 2)))
    Array(1, dtype=int32)
    """
    (x,) = inexact("linalg.matrix_rank", M)
    del hermitian
    if tol is not None and rtol is not None:
        raise ValueError("linalg.matrix_rank: give tol or rtol, not both")
    if x.ndim < 2:
        return reductions.any(logic.not_equal(x, 0)).astype(np.int32)
    s = svdvals(x)
    if tol is not None:
        return reductions.sum(s > creation.asarray(tol)[..., None], -1)
    given = max(x.shape[-2:]) * float(np.finfo(s.dtype).eps) if rtol is None else rtol
    limit = reductions.max(s, -1, keepdims=True, initial=0) * creation.asarray(given)[..., None]
    return reductions.sum(s > limit, -1)
