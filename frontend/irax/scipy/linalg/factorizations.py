"""SciPy's factorizations of matrices, under its names."""

from __future__ import annotations

from typing import Any

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array
from irax.lax.linalg.matrices import adjoint, symmetrized
from irax.numpy.linalg.factored import inexact, square
from irax.scipy.arguments import from_lists
from irax.typing import ArrayLike


def cholesky(
    a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Array:
    """Return the upper triangle U with U^H U = a, or the lower one L with L L^H = a; nan where a is
    not positive definite.

    Args:
        a: Hermitian matrices [..., n, n], of which the same triangle is read.
        lower: which triangle.
        overwrite_a: of no meaning.
        check_finite: of no meaning.

    Raises:
        TypeError: not an array.
        ValueError: the last two dimensions differ.

    >>> irax.scipy.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 2.0]]))
    Array([[2., 1.],
           [0., 1.]], dtype=float32)
    """
    del overwrite_a, check_finite
    (x,) = inexact("cholesky", from_lists(a))
    below = square("cholesky", x) if lower else adjoint(square("cholesky", x))
    factor = lax.linalg.cholesky(below, symmetrize_input=False)
    return factor if lower else adjoint(factor)


def cho_factor(
    a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, bool]:
    """Return the factor of `cholesky`, and `lower`, as `cho_solve` takes them.

    Args:
        a: positive definite matrices [..., n, n].
        lower: True for the lower triangle.
        overwrite_a: of no meaning.
        check_finite: of no meaning.

    Raises:
        TypeError: not an array.
        ValueError: the last two dimensions differ.

    >>> irax.scipy.linalg.cho_factor(irax.numpy.array([[4.0, 0.0], [0.0, 9.0]]))[0]
    Array([[2., 0.],
           [0., 3.]], dtype=float32)
    """
    return cholesky(a, lower, overwrite_a, check_finite), lower


def lu(
    a: ArrayLike, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """Return P, L and U of a = P L U: a permutation, a lower triangle with ones on its diagonal and
    an upper one.

    Args:
        a: matrices [..., m, n].
        permute_l: True to return P L and U.
        overwrite_a: of no meaning.
        check_finite: of no meaning.

    Raises:
        TypeError: not an array of at least two dimensions.

    >>> irax.scipy.linalg.lu(jnp.array([[0.0, 1.0], [2.0, 3.0]]))[0]
    Array([[0., 1.],
           [1., 0.]], dtype=float32)
    """
    del overwrite_a, check_finite
    (x,) = inexact("lu", from_lists(a))
    found, _, order = lax.linalg.lu(x)
    m, n = x.shape[-2:]
    k = min(m, n)
    lower = jnp.tril(found[..., :k], -1) + jnp.eye(m, k, dtype=x.dtype)
    upper = jnp.triu(found[..., :k, :])
    rows = lax.broadcasted_iota(order.dtype, (m, m), 0)
    p = jnp.equal(order[..., None, :], rows).astype(upper.real.dtype)
    return (jnp.matmul(p.astype(x.dtype), lower), upper) if permute_l else (p, lower, upper)


def lu_factor(
    a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, Array]:
    """Return L and U in one matrix, and for each row the one it was exchanged with,
    for `lu_solve`.

    Args:
        a: matrices [..., m, n]; square ones for `lu_solve`.
        overwrite_a: of no meaning.
        check_finite: of no meaning.

    Raises:
        TypeError: not an array.
        ValueError: no matrices.

    >>> irax.scipy.linalg.lu_factor(irax.numpy.array([[1.0, 2.0], [4.0, 5.0]]))[1]
    Array([1, 1], dtype=int32)
    """
    del overwrite_a, check_finite
    (x,) = inexact("lu_factor", from_lists(a))
    found, pivots, _ = lax.linalg.lu(x)
    return found, pivots


def qr(
    a: ArrayLike,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> Any:
    """Return Q and R of a = Q R; with `pivoting`, of a[:, p], and p.

    Args:
        a: matrices [..., m, n].
        overwrite_a: of no meaning.
        lwork: of no meaning.
        mode: "full": Q is square, "economic": it has min(m, n) columns, "r": just R.
        pivoting: choose the order p of columns so that the diagonal of R does not grow.
        check_finite: of no meaning.

    Raises:
        ValueError: another mode.

    >>> irax.scipy.linalg.qr(jnp.ones((3, 2)))[0].shape
    (3, 3)
    """
    del overwrite_a, lwork, check_finite
    if mode not in ("full", "economic", "r"):
        raise ValueError(f"qr: mode must be 'full', 'economic' or 'r', got {mode!r}")
    (x,) = inexact("qr", from_lists(a))
    q, *rest = lax.linalg.qr(x, pivoting=pivoting, full_matrices=mode != "economic")
    return tuple(rest) if mode == "r" else (q, *rest)


def qr_multiply(
    a: ArrayLike,
    c: ArrayLike,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> Any:
    """Return c Q (or Q c) and R of a = Q R, with min(m, n) columns of Q; with `pivoting`, p as
    well.

    Args:
        a: a matrix [m, n].
        c: a matrix or a vector.
        mode: "right": c Q, "left": Q c.
        pivoting: see `qr`.
        conjugate: take the conjugate of Q.
        overwrite_a: of no meaning.
        overwrite_c: of no meaning.

    Raises:
        ValueError: another mode, or shapes that do not fit.

    >>> irax.scipy.linalg.qr_multiply(jnp.eye(2), jnp.array([3.0, 4.0]))[0]
    Array([3., 4.], dtype=float32)
    """
    del overwrite_a, overwrite_c
    if mode not in ("left", "right"):
        raise ValueError(f"qr_multiply: mode must be 'left' or 'right', got {mode!r}")
    x, other = inexact("qr_multiply", from_lists(a), from_lists(c))
    q, *rest = lax.linalg.qr(x, pivoting=pivoting, full_matrices=False)
    q = jnp.conj(q) if conjugate else q
    vector = other.ndim == 1
    if vector:
        other = other[:, None] if mode == "left" else other[None, :]
    rows, columns = q.shape[-2:]
    if other.shape[-2 if mode == "left" else -1] != (columns if mode == "left" else rows):
        raise ValueError(
            f"qr_multiply: Q has shape {q.shape}, and c {other.shape}, which does not fit on its "
            f"{'right' if mode == 'left' else 'left'}"
        )
    product = jnp.matmul(q, other) if mode == "left" else jnp.matmul(other, q)
    return (jnp.ravel(product) if vector else product, *rest)


def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """Return U, s and V^H of a = U diag(s) V^H, s descending; s alone without `compute_uv`.

    Args:
        a: matrices [..., m, n].
        full_matrices: True for square U and V^H, False for min(m, n) columns and rows.
        compute_uv: False for s alone.
        overwrite_a: of no meaning.
        check_finite: of no meaning.
        lapack_driver: of no meaning.

    Raises:
        TypeError: not an array of at least two dimensions.

    >>> irax.scipy.linalg.svd(irax.numpy.array([[3.0, 0.0], [0.0, 4.0]]), compute_uv=False)
    Array([4., 3.], dtype=float32)
    """
    del overwrite_a, check_finite, lapack_driver
    (x,) = inexact("svd", from_lists(a))
    return lax.linalg.svd(x, full_matrices=full_matrices, compute_uv=compute_uv)


# ---- eigenvalues ---------------------------------------------------------------------------------


def eigh(
    a: ArrayLike,
    b: ArrayLike | None = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: tuple[int, int] | None = None,
    type: int = 1,
    check_finite: bool = True,
) -> Any:
    """Return the eigenvalues w, ascending, and eigenvectors v, as columns, of Hermitian matrices.

    Args:
        a: matrices [..., n, n].
        b: positive definite matrices; the identity by default.
        lower: which triangle of a, and of b, counts.
        eigvals_only: True to return the eigenvalues alone.
        overwrite_a: of no meaning.
        overwrite_b: of no meaning.
        turbo: of no meaning.
        eigvals: the first and the last of the eigenvalues wanted, by number.
        type: 1: a v = w b v, 2: a b v = w v, 3: b a v = w v.
        check_finite: of no meaning.

    Raises:
        ValueError: another type.

    >>> irax.scipy.linalg.eigh(jnp.diag(jnp.array([3.0, 2.0])), eigvals_only=True)
    Array([2., 3.], dtype=float32)
    """
    del overwrite_a, overwrite_b, turbo, check_finite
    if type not in (1, 2, 3):
        raise ValueError(f"eigh: type must be 1, 2 or 3, got {type!r}")
    a, b = from_lists(a), from_lists(b)
    (x,) = inexact("eigh", a) if b is None else inexact("eigh", a, b)[:1]
    x = _whole(square("eigh", x), lower)
    factor: Array | None = None
    if b is not None:
        other = _whole(square("eigh", inexact("eigh", a, b)[1]), lower)
        factor = lax.linalg.cholesky(other)
        x = _reduced(x, factor, type)
    if eigvals_only:
        values = jnp.linalg.eigvalsh(x)
        return values if eigvals is None else values[..., eigvals[0] : eigvals[1] + 1]
    vectors, values = lax.linalg.eigh(x)
    if factor is not None and type == 3:
        vectors = jnp.matmul(factor, vectors)
    elif factor is not None:
        vectors = _solved(factor, vectors, turned=True)
    if eigvals is not None:
        chosen = slice(eigvals[0], eigvals[1] + 1)
        values, vectors = values[..., chosen], vectors[..., chosen]
    return values, vectors


def _whole(x: Array, lower: bool) -> Array:
    """Return Hermitian matrices from one triangle."""
    strictly = jnp.tril(x, -1) if lower else jnp.triu(x, 1)
    diagonal = jnp.real(jnp.diagonal(x, axis1=-2, axis2=-1))
    return strictly + adjoint(strictly) + jnp.eye(x.shape[-1], dtype=x.dtype) * diagonal[..., None]


def _solved(factor: Array, right: Array, turned: bool = False) -> Array:
    return lax.linalg.triangular_solve(
        factor, right, left_side=True, lower=True, transpose_a=turned, conjugate_a=turned
    )


def _reduced(x: Array, factor: Array, kind: int) -> Array:
    """Return matrices with the same eigenvalues without b = L L^H: L^-1 a L^-H, or L^H a L."""
    if kind == 1:
        return _solved(factor, adjoint(_solved(factor, x)))
    return jnp.matmul(adjoint(factor), jnp.matmul(x, factor))


def eigh_tridiagonal(
    d: ArrayLike,
    e: ArrayLike,
    *,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: tuple[float, float] | None = None,
    tol: float | None = None,
    key: Array | None = None,
) -> Any:
    """Return the eigenvalues, ascending, and eigenvectors, as columns, of a Hermitian tridiagonal
    matrix.

    Args:
        d: its diagonal [n], real.
        e: its off-diagonal, [n - 1].
        eigvals_only: True to return the eigenvalues alone.
        select: "a": all; "i": those with numbers within `select_range`.
        select_range: the first and the last.
        tol: of no meaning.
        key: of no meaning.

    Raises:
        NotImplementedError: `select="v"`: the number of results depends on their values.

    >>> one = jnp.ones(2)
    >>> irax.scipy.linalg.eigh_tridiagonal(2 * one, one[:1], eigvals_only=True).round(5)
    Array([1., 3.], dtype=float32)
    """
    del tol, key
    if select not in ("a", "i"):
        raise NotImplementedError(
            f"eigh_tridiagonal: select must be 'a' or 'i', got {select!r}: how many eigenvalues "
            "lie in an interval is known only when they are"
        )
    if (select == "i") != (select_range is not None):
        raise ValueError("eigh_tridiagonal: select='i' goes with a select_range, and only that")
    diagonal, beside = inexact("eigh_tridiagonal", from_lists(d), from_lists(e))
    if diagonal.ndim != 1 or beside.shape != (diagonal.shape[0] - 1,):
        raise ValueError(
            f"eigh_tridiagonal: expected d [n] and e [n - 1], got shapes {diagonal.shape} and "
            f"{beside.shape}"
        )
    matrix = jnp.diag(diagonal) + jnp.diag(jnp.conj(beside), 1) + jnp.diag(beside, -1)
    numbers = None if select_range is None else (int(select_range[0]), int(select_range[1]))
    return eigh(matrix, eigvals_only=eigvals_only, eigvals=numbers)


def schur(a: ArrayLike, output: str = "real") -> list[Array]:
    """Return T and Z of a = Z T Z^H, Z unitary and T an upper triangle; of real matrices, with the
    output "real", T has blocks of 2 x 2 for pairs of complex eigenvalues. It runs on the CPU alone,
    and has no derivative.

    Args:
        a: square matrices [..., n, n].
        output: "real" or "complex".

    Raises:
        ValueError: another output than "real" or "complex".

    >>> irax.scipy.linalg.schur(jnp.array([[0.0, 1.0], [-1.0, 0.0]]), "complex")[0].dtype
    dtype('complex64')
    """
    if output not in ("real", "complex"):
        raise ValueError(f"schur: output must be 'real' or 'complex', got {output!r}")
    (x,) = inexact("schur", a)
    if output == "complex" and x.dtype.kind != "c":
        x = x.astype(jnp.result_type(x.dtype, jnp.complex64))
    return lax.linalg.schur(square("schur", x))


def rsf2csf(T: ArrayLike, Z: ArrayLike, check_finite: bool = True) -> tuple[Array, Array]:
    """Convert the real form of `schur` to the complex form, a triangle.

    Args:
        T: the real form [..., n, n].
        Z: the orthogonal matrices [..., n, n].
        check_finite: of no meaning.

    Returns:
        T and Z, both complex.

    Raises:
        TypeError: `T` or `Z` is not an array.
        ValueError: the last two dimensions differ.

    >>> rotation = irax.numpy.array([[0.0, -1.0], [1.0, 0.0]])
    >>> t, z = irax.scipy.linalg.rsf2csf(rotation, irax.numpy.eye(2))
    >>> abs(t[1, 0]) < 1e-6
    Array(True, dtype=bool)
    """
    del check_finite
    t, z = inexact("rsf2csf", from_lists(T), from_lists(Z))
    if square("rsf2csf", t).shape[-2:] != square("rsf2csf", z).shape[-2:]:
        raise ValueError(f"rsf2csf: expected T and Z of one shape, got {t.shape} and {z.shape}")
    batch = jnp.broadcast_shapes(t.shape[:-2], z.shape[:-2])
    t, z = (jnp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (t, z))
    dtype = jnp.result_type(t.dtype, z.dtype, jnp.complex64)
    t, z = t.astype(dtype), z.astype(dtype)
    n = t.shape[-1]
    if n < 2:
        return t, z

    def triangular(t: Array, z: Array) -> tuple[Array, Array]:
        return lax.fori_loop(1, n, lambda i, found: _without_subdiagonal(n - i, *found), (t, z))

    return jnp.vectorize(triangular, signature="(n,n),(n,n)->(n,n),(n,n)")(t, z)


def _without_subdiagonal(m: Array, t: Array, z: Array) -> tuple[Array, Array]:
    """Make one element below the diagonal zero by a rotation of the rows and columns m - 1 and m:
    the first eigenvalue of their block comes to its upper corner.
    """
    places = jnp.arange(t.shape[-1])
    block = lax.dynamic_slice(t, (m - 1, m - 1), (2, 2))
    below, eps = block[1, 0], float(jnp.finfo(t.dtype).eps)
    away = jnp.linalg.eigvals(block)[0] - block[1, 1]
    length = jnp.hypot(abs(away), abs(below))
    turns = abs(below) > eps * (abs(block[0, 0]) + abs(block[1, 1]))
    length = jnp.where(turns, length, 1)
    c, s = jnp.where(turns, away / length, 1), jnp.where(turns, below / length, 0)
    rotation = jnp.stack([jnp.stack([jnp.conj(c), s]), jnp.stack([-s, c])])
    back = jnp.conj(rotation.T)
    rows = lax.dynamic_slice_in_dim(t, m - 1, 2, 0)
    turned = jnp.where(places >= m - 1, jnp.matmul(rotation, rows), rows)
    t = lax.dynamic_update_slice_in_dim(t, turned, m - 1, 0)
    columns = lax.dynamic_slice_in_dim(t, m - 1, 2, 1)
    turned = jnp.where((places <= m)[:, None], jnp.matmul(columns, back), columns)
    t = lax.dynamic_update_slice_in_dim(t, turned, m - 1, 1).at[m, m - 1].set(0)
    turned = jnp.matmul(lax.dynamic_slice_in_dim(z, m - 1, 2, 1), back)
    return t, lax.dynamic_update_slice_in_dim(z, turned, m - 1, 1)


def hessenberg(
    a: ArrayLike, *, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """Return H of a = Q H Q^H, zero below its first subdiagonal; with `calc_q`, H and Q.

    Args:
        a: square matrices [..., n, n].
        calc_q: True to return Q, too.
        overwrite_a: of no meaning.
        check_finite: of no meaning.

    Raises:
        TypeError: not an array.
        ValueError: the last two dimensions differ.

    >>> irax.scipy.linalg.hessenberg(jnp.ones((3, 3))).round(5)[2, 0] + 0.0
    Array(0., dtype=float32)
    """
    del overwrite_a, check_finite
    (x,) = inexact("hessenberg", a)
    packed, taus = lax.linalg.hessenberg(square("hessenberg", x))
    h = jnp.triu(packed, -1)
    if not calc_q:
        return h
    n = x.shape[-1]
    q = jnp.broadcast_to(jnp.eye(n, dtype=x.dtype), x.shape)
    if n > 1:
        inner = lax.linalg.householder_product(packed[..., 1:, :-1], taus)
        q = q.at[..., 1:, 1:].set(inner)
    return h, q


def polar(
    a: ArrayLike,
    side: str = "right",
    *,
    method: str = "qdwh",
    eps: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Array, Array]:
    """Return U and P of a = U P (with `side="left"`, a = P U): U with orthonormal columns or rows,
    P Hermitian and not negative.

    Args:
        a: matrices [..., m, n].
        side: on which side of U the factor P is.
        method: "qdwh": by iteration, with derivatives that hold for equal singular values, too;
            "svd": also for matrices without full rank.
        eps: see `lax.linalg.qdwh`.
        max_iterations: see there.

    Raises:
        ValueError: another side or method.

    >>> irax.scipy.linalg.polar(jnp.array([[0.0, 2.0], [3.0, 0.0]]))[1].round(4) + 0.0
    Array([[3., 0.],
           [0., 2.]], dtype=float32)
    """
    if side not in ("left", "right"):
        raise ValueError(f"polar: side must be 'left' or 'right', got {side!r}")
    if method not in ("qdwh", "svd"):
        raise ValueError(f"polar: method must be 'qdwh' or 'svd', got {method!r}")
    (x,) = inexact("polar", from_lists(a))
    if method == "svd":
        left, _, right = lax.linalg.svd(x, full_matrices=False)
        u = jnp.matmul(left, right)
    else:
        wide = x.shape[-2] < x.shape[-1]
        u = lax.linalg.qdwh(adjoint(x) if wide else x, eps=eps, max_iterations=max_iterations)[0]
        u = adjoint(u) if wide else u
    p = jnp.matmul(adjoint(u), x) if side == "right" else jnp.matmul(x, adjoint(u))
    return u, symmetrized(p)
