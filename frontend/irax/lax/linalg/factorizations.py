"""Factorizations of matrices, which are the last two dimensions of an array."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np

from irax import dtypes
from irax.core.array import Array, as_array
from irax.core.dispatch import bind
from irax.core.dtypes.promotion import broadcast_to, select
from irax.core.dtypes.strictness import library
from irax.lax import elementwise, structure
from irax.lax.arguments import canonical_int
from irax.lax.gathering import take_along
from irax.lax.linalg import matrices as m
from irax.typing import ArrayLike
from irax_compiler.ops.linalg import eigen, householder, spectral, triangular
from irax_compiler.ops.linalg import lu as lu_ops


class EigImplementation(enum.Enum):
    """The algorithms of eig that JAX has on GPUs; a hint without effect here."""

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


class EighImplementation(enum.Enum):
    """The algorithms of eigh that JAX has on GPUs; a hint without effect here."""

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


class SvdAlgorithm(enum.Enum):
    """The algorithms of svd that JAX has on GPUs; a hint without effect here."""

    DEFAULT = "default"
    QR = "QR"
    JACOBI = "Jacobi"
    POLAR = "polar"
    DIVIDE_AND_CONQUER = "divide_and_conquer"


def cholesky(x: ArrayLike, *, symmetrize_input: bool = True) -> Array:
    """The lower triangular matrices L with L L^H = x; nan where x is not positive definite.

    Args:
        x: Hermitian matrices [..., n, n], floats or complex.
        symmetrize_input: take the mean of x and its adjoint first; otherwise the lower triangle
            alone counts.

    Raises:
        TypeError: not an array of floats or complex numbers.
        ValueError: not square matrices.

    >>> irax.lax.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 2.0]]))
    Array([[2., 0.],
           [1., 1.]], dtype=float32)
    """
    array = m.matrices("cholesky", m.inexact("cholesky", x), square=True)
    return bind(triangular.Cholesky(True), m.symmetrized(array) if symmetrize_input else array)


def lu(x: ArrayLike) -> list[Array]:
    """P x = L U: L (without its ones) and U in one matrix [..., m, n]; for each column the row that
    was exchanged with it, int32[..., k]; and the permutation of rows, int32[..., m].

    Args:
        x: matrices [..., m, n] of floats or complex numbers; k is the smaller of m and n.

    Returns:
        The factors, the exchanges, and the permutation, int32[..., m].

    Raises:
        TypeError: not an array of floats or complex numbers, or fewer than two dimensions.

    >>> irax.lax.linalg.lu(jnp.array([[1.0, 2.0], [2.0, 2.0]]))[1]
    Array([1, 1], dtype=int32)
    """
    return m.factors(lu_ops.Lu(), m.matrices("lu", x))


def qr(
    x: ArrayLike,
    *,
    pivoting: bool = False,
    full_matrices: bool = True,
    use_magma: bool | None = None,
) -> Any:
    """Q with orthonormal columns and the upper triangle R of x = Q R.

    Args:
        x: matrices [..., m, n].
        pivoting: choose the order p of columns, so that x[:, p] = Q R and the diagonal of R does
            not grow; p, int32[..., n], is the third result.
        full_matrices: Q of m columns, R of m rows; otherwise of min(m, n). For m > n the further
            columns of Q have no derivative.
        use_magma: a hint, which changes nothing.

    Raises:
        TypeError: not an array of floats or complex numbers, or fewer than two dimensions.

    >>> q, r = irax.lax.linalg.qr(jnp.array([[3.0], [4.0]]), full_matrices=False)
    >>> abs(r)
    Array([[5.]], dtype=float32)
    """
    del use_magma
    array = m.matrices("qr", x)
    rows, columns = array.shape[-2:]
    order: list[Array] = []
    if pivoting:
        order = m.factors(householder.QrOrder(), array)
        array = take_along(array, order[0][..., None, :], array.ndim - 1)
    if rows >= columns:
        q, r = m.factors(householder.Qr(full=full_matrices and rows > columns), array)
    else:
        q, r = m.factors(householder.Qr(full=False), array[..., :rows])
        r = structure.concatenate([r, m.adjoint(q) @ array[..., rows:]], r.ndim - 1)
    return (q, r, *order)


def eigh(
    x: ArrayLike,
    *,
    lower: bool = True,
    symmetrize_input: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    implementation: EighImplementation | None = None,
) -> tuple[Array, Array]:
    """Orthonormal eigenvectors, as columns, and the eigenvalues of Hermitian matrices, ascending.

    Eigenvectors of equal eigenvalues have no derivative: it is nan.

    Args:
        x: matrices [..., n, n].
        lower: without `symmetrize_input`, which triangle counts.
        symmetrize_input: take the mean of x and its adjoint first.
        sort_eigenvalues: a hint: they are sorted in any case.
        subset_by_index: the first and the last but one of the eigenvalues wanted, by number.
        implementation: a hint, which changes nothing.

    Raises:
        TypeError: not an array of floats or complex numbers.
        ValueError: not square matrices, or `subset_by_index` is no range of the eigenvalues.

    >>> irax.lax.linalg.eigh(jnp.array([[2.0, 1.0], [1.0, 2.0]]))[1].round(5)
    Array([1., 3.], dtype=float32)
    """
    del sort_eigenvalues, implementation
    array = _hermitian("eigh", x, lower, symmetrize_input)
    vectors, values = m.factors(spectral.Eigh(vectors=True), array)
    chosen = _subset("eigh", subset_by_index, array.shape[-1])
    return (vectors, values) if chosen is None else (vectors[..., chosen], values[..., chosen])


def eigvalsh(x: ArrayLike, *, lower: bool = True, symmetrize_input: bool = True) -> Array:
    """The eigenvalues of Hermitian matrices alone, ascending (see `eigh`)."""
    array = _hermitian("eigvalsh", x, lower, symmetrize_input)
    (values,) = m.factors(spectral.Eigh(vectors=False), array)
    return values


def _hermitian(what: str, x: ArrayLike, lower: bool, symmetrize: bool) -> Array:
    array = m.matrices(what, m.inexact(what, x), square=True)
    if symmetrize:
        return m.symmetrized(array)
    return array if lower else m.adjoint(array)


def _subset(what: str, subset: tuple[int, int] | None, count: int) -> slice | None:
    if subset is None:
        return None
    first, end = (canonical_int(f"lax.linalg.{what}", "subset_by_index", n) for n in subset)
    if not 0 <= first <= end <= count:
        raise ValueError(
            f"lax.linalg.{what}: subset_by_index must be a range within 0 to {count}, got {subset}"
        )
    return slice(first, end)


def svd(
    x: ArrayLike,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    algorithm: SvdAlgorithm | None = None,
) -> Any:
    """U, the singular values s (descending) and V^H of x = U diag(s) V^H; s alone without
    `compute_uv`.

    Args:
        x: matrices [..., m, n].
        full_matrices: U and V are square; otherwise they have min(m, n) columns. The further
            columns have no derivative.
        compute_uv: compute U and V^H.
        subset_by_index: the first and the last but one of the singular values wanted, by number;
            with their vectors alone.
        algorithm: a hint, which changes nothing.

    Raises:
        ValueError: a subset of full matrices.

    >>> irax.lax.linalg.svd(jnp.array([[3.0], [4.0]]), compute_uv=False)
    Array([5.], dtype=float32)
    """
    del algorithm
    array = m.matrices("svd", x)
    rows, columns = array.shape[-2:]
    chosen = _subset("svd", subset_by_index, min(rows, columns))
    if not compute_uv:
        (s,) = m.factors(spectral.Svd(full=False, vectors=False), array)
        return s if chosen is None else s[..., chosen]
    full = full_matrices and rows != columns
    if full_matrices and chosen is not None and chosen != slice(0, min(rows, columns)):
        raise ValueError("lax.linalg.svd: subset_by_index needs full_matrices=False")
    u, s, vh = m.factors(spectral.Svd(full=full, vectors=True), array)
    if chosen is None or full:
        return u, s, vh
    return u[..., chosen], s[..., chosen], vh[..., chosen, :]


@library
def eig(
    x: ArrayLike,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = True,
    implementation: EigImplementation | None = None,
    use_magma: bool | None = None,
) -> list[Array]:
    """The eigenvalues of square matrices; their left eigenvectors, and the right ones, as columns:
    all complex, of norm 1, the largest element real. It runs on the CPU alone, in LAPACK.

    Eigenvectors of equal eigenvalues have no derivative: it is nan.

    Args:
        x: matrices [..., n, n], floats or complex.
        compute_left_eigenvectors: v^H x = w v^H.
        compute_right_eigenvectors: x v = w v.
        enable_eigvec_derivs: if not, eigenvectors count as constants.
        implementation: a hint, which changes nothing.
        use_magma: a hint.

    Returns:
        The eigenvalues and what was asked for, in a list.

    Raises:
        TypeError: not an array of floats or complex numbers, or fewer than two dimensions.
        ValueError: the last two dimensions differ.

    >>> irax.lax.linalg.eig(jnp.array([[0.0, 1.0], [-1.0, 0.0]]))[0].imag
    Array([ 1., -1.], dtype=float32)
    """
    del implementation, use_magma
    array = m.matrices("eig", x, square=True)
    if not compute_left_eigenvectors and not compute_right_eigenvectors:
        return m.factors(eigen.Eig(vectors=False), array)
    values, right = m.factors(eigen.Eig(vectors=True), array)
    results = [_left(right)] if compute_left_eigenvectors else []
    results += [right] if compute_right_eigenvectors else []
    if not enable_eigvec_derivs:
        results = [structure.stop_gradient(v) for v in results]
    return [values, *results]


def _left(right: Array) -> Array:
    """Return left eigenvectors: the rows of the inverse of the right ones, scaled as by LAPACK."""
    if not right.size:
        return right
    identity = broadcast_to(m.identity(right.shape[-1], right.dtype), right.shape)
    left = m.adjoint(bind(lu_ops.Solve(), right, identity))
    size = abs(left)
    largest = take_along(left, size.argmax(-2, keepdims=True), left.ndim - 2)
    phase = m.conjugated(largest) / abs(largest)
    return left * phase / elementwise.sqrt((size**2).sum(-2, keepdims=True))


def schur(
    x: ArrayLike,
    *,
    compute_schur_vectors: bool = True,
    sort_eig_vals: bool = False,
    select_callable: Callable[..., Any] | None = None,
) -> Any:
    """T and Z of x = Z T Z^H, Z unitary and T an upper triangle (of real matrices, with blocks of
    2 x 2 for pairs of complex eigenvalues); T alone without `compute_schur_vectors`. The CPU has it
    alone, in LAPACK; it has no derivative.

    Args:
        x: square matrices [..., n, n].
        compute_schur_vectors: compute Z.
        sort_eig_vals: not supported.
        select_callable: of no effect, as it would say which eigenvalues go first.

    Raises:
        NotImplementedError: eigenvalues are to be sorted.

    >>> irax.lax.linalg.schur(jnp.array([[1.0, 2.0], [0.0, 3.0]]))[0]
    Array([[1., 2.],
           [0., 3.]], dtype=float32)
    """
    del select_callable
    if sort_eig_vals:
        raise NotImplementedError("lax.linalg.schur: eigenvalues cannot be sorted")
    t, z = m.factors(eigen.Schur(), m.matrices("schur", x, square=True))
    return [t, z] if compute_schur_vectors else t


def qdwh(
    x: ArrayLike,
    *,
    is_hermitian: bool = False,
    max_iterations: int | None = None,
    eps: float | None = None,
    dynamic_shape: tuple[int, int] | None = None,
) -> tuple[Array, Array, Array, Array]:
    """The polar factors of x = U H: U with orthonormal columns, H Hermitian and not negative (Y.
    Nakatsukasa, Z. Bai and F. Gygi, Optimizing Halley's iteration, 2010).

    Args:
        x: matrices [..., m, n] of full rank, m >= n.
        is_hermitian: a hint.
        max_iterations: at most so many steps; by default as many as any matrix needs.
        eps: the assumed ratio of the smallest singular value to the largest.
        dynamic_shape: the numbers of rows and columns that count, which may be traced; what is
            beyond them is taken for 0, and is 0 in U and H.

    Returns:
        U, H, the number of steps taken, and True if another one would change little.

    Raises:
        TypeError: not an array of floats or complex numbers, or fewer than two dimensions.
        ValueError: there are more columns than rows.

    >>> irax.lax.linalg.qdwh(jnp.array([[0.0, 2.0], [3.0, 0.0]]))[0].round(4) + 0.0
    Array([[0., 1.],
           [1., 0.]], dtype=float32)
    """
    del is_hermitian
    array = m.matrices("qdwh", x)
    if dynamic_shape is not None:
        array = _within(array, dynamic_shape)
    rows, columns = array.shape[-2:]
    if rows < columns:
        raise ValueError(
            f"lax.linalg.qdwh: expected at least as many rows as columns, got shape {array.shape}"
        )
    lowest = float(dtypes.finfo(array.dtype).eps if eps is None else eps)
    if max_iterations is not None:
        max_iterations = canonical_int("lax.linalg.qdwh", "max_iterations", max_iterations)
    weights = _halley_weights(lowest, max_iterations)
    # U does not depend on the scale, so no derivative goes through it.
    size = structure.stop_gradient(_frobenius(array))
    u = array / select(size == 0, 1, size, "lax.linalg.qdwh")
    identity = m.identity(columns, array.dtype)
    unit = broadcast_to(identity, (*array.shape[:-2], columns, columns))
    for a, b, c in weights:
        stacked = structure.concatenate([c**0.5 * u, unit], array.ndim - 2)
        q, _ = qr(stacked, full_matrices=False)
        upper, lower = q[..., :rows, :], q[..., rows:, :]
        u = b / c * u + (a - b / c) / c**0.5 * (upper @ m.adjoint(lower))
    h = m.symmetrized(m.adjoint(u) @ array)
    count = as_array(np.array(len(weights), np.int32))
    # A step leaves singular values of 0 and 1 as they are.
    beside = _frobenius(u @ (m.adjoint(u) @ u) - u)
    return u, h, count, (beside <= (5 * lowest) ** (1 / 3)).all()


def _within(x: Array, dynamic_shape: tuple[Any, Any]) -> Array:
    """Return matrices with zeros beyond a number of rows and columns, which may be traced."""
    for axis, count in zip((-2, -1), dynamic_shape, strict=True):
        place = structure.broadcasted_iota(np.int32, x.shape, x.ndim + axis)
        x = select(place < count, x, structure.full_like(x, 0), "lax.linalg.qdwh")
    return x


def _frobenius(x: Array) -> Array:
    """Return the Frobenius norms of matrices, with the last two dimensions of size 1."""
    return elementwise.sqrt((abs(x) ** 2).sum((-2, -1), keepdims=True))


def _halley_weights(lowest: float, most: int | None) -> list[tuple[float, float, float]]:
    """The weights of each step that takes singular values from `lowest` or more to 1."""
    weights = []
    while abs(1 - lowest) > 1e-15 and len(weights) < (20 if most is None else most):
        root = (4 * (1 / lowest**2 - 1) / lowest**2) ** (1 / 3)
        a = (1 + root) ** 0.5
        a += 0.5 * (8 - 4 * root + 8 * (2 / lowest**2 - 1) / a) ** 0.5
        b = (a - 1) ** 2 / 4
        c = a + b - 1
        weights.append((a, b, c))
        lowest = min(lowest * (a + b * lowest**2) / (1 + c * lowest**2), 1.0)
    return weights or [(3.0, 1.0, 3.0)]
