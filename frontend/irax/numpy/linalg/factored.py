"""Factorizations of irax.numpy.linalg: Cholesky, QR, eigenvalues and singular values."""

from __future__ import annotations

from typing import Any, NamedTuple

from irax.core.array import Array
from irax.core.dtypes.operands import inexact_dtype
from irax.core.dtypes.promotion import convert, promote_dtypes
from irax.lax import linalg
from irax.lax.linalg import factorizations
from irax.lax.linalg.matrices import MatrixShapeError, adjoint, factors
from irax.numpy.shapes import manipulation
from irax.typing import ArrayLike
from irax_compiler.ops.linalg.householder import HouseholderQr


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


def inexact(what: str, *operands: ArrayLike) -> list[Array]:
    """Return the operands in one dtype, of floats or complex numbers."""
    arrays = promote_dtypes(*operands, what=what)
    return [convert(x, inexact_dtype(x.dtype)) for x in arrays]


def square(what: str, x: Array) -> Array:
    """Return `x`; raise `MatrixShapeError` if its last two dimensions are not square matrices."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise MatrixShapeError(
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
        TypeError: not an array, or the last two dimensions differ.

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
        TypeError: not an array, or the last two dimensions differ.
        ValueError: `UPLO` is neither "L" nor "U".

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
        TypeError: not an array, or the last two dimensions differ.
        ValueError: `UPLO` is neither "L" nor "U".

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
