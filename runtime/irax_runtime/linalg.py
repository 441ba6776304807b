"""Linear algebra that programs call on the host: LAPACK, as NumPy has it.

What NumPy does not give out (LAPACK's lu, BLAS's triangular solver) comes from SciPy where that is
installed; without it, it is done here, in NumPy's operations. Schur's form needs SciPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from irax_runtime import optional

Array = np.ndarray[Any, Any]

MANY = 16
"""So many times more matrices than columns are eliminated together rather than one by one."""


def _of_finite(function: Callable[[Array], Sequence[Array]], x: Array) -> tuple[Array, ...]:
    """Results for matrices: nan for those that are not finite, or that LAPACK gives up on."""
    good = np.asarray(np.isfinite(x).all((-2, -1)))
    x = np.where(good[..., None, None], x, 0)
    try:
        results = function(x)
    except np.linalg.LinAlgError:  # no convergence
        good = np.zeros_like(good)
        results = function(np.zeros_like(x))
    for result in results:
        result[~good] = np.nan
    return tuple(results)


# ---- factorizations ------------------------------------------------------------------------------


def cholesky(x: Array, *, lower: int) -> Array:
    """The triangles L with L L^H = x (or U with U^H U = x); of nan where there is none."""
    try:
        return np.linalg.cholesky(x, upper=not lower)
    except np.linalg.LinAlgError:
        if x.ndim == 2:
            nans = np.full_like(x, np.nan)
            return np.tril(nans) if lower else np.triu(nans)
        return np.stack([cholesky(matrix, lower=lower) for matrix in x])


def qr(x: Array, *, full: int) -> tuple[Array, ...]:
    """Q, with as many columns as x or square, and R."""
    return tuple(np.linalg.qr(x, "complete" if full else "reduced"))


def eigh(x: Array, *, vectors: int) -> tuple[Array, ...]:
    """Eigenvectors, if wanted, and eigenvalues in ascending order; of the lower triangle."""
    if not vectors:
        return _of_finite(lambda x: [np.linalg.eigvalsh(x)], x)
    return _of_finite(lambda x: np.linalg.eigh(x)[::-1], x)


def svd(x: Array, *, full: int, vectors: int) -> tuple[Array, ...]:
    """U, the singular values, and the adjoint of V; or the singular values."""
    if not vectors:
        return _of_finite(lambda x: [np.linalg.svd(x, compute_uv=False)], x)
    return _of_finite(lambda x: np.linalg.svd(x, bool(full)), x)


def eig(x: Array, *, vectors: int) -> tuple[Array, ...]:
    """Eigenvalues, and eigenvectors if wanted, all complex."""
    dtype = np.result_type(x, np.complex64)
    if not vectors:
        return _of_finite(lambda x: [np.linalg.eigvals(x).astype(dtype)], x)
    return _of_finite(lambda x: [part.astype(dtype) for part in np.linalg.eig(x)], x)


def schur(x: Array) -> tuple[Array, ...]:
    """T and Z with x = Z T Z^H."""
    scipy = optional.module("scipy.linalg")
    if scipy is None:
        raise RuntimeError(
            "the program needs Schur's form of a matrix, which SciPy has: install it"
        )
    triangles, bases = np.full_like(x, np.nan), np.full_like(x, np.nan)
    for place in np.ndindex(*x.shape[:-2]):
        if np.isfinite(x[place]).all():
            triangles[place], bases[place] = scipy.schur(x[place])
    return triangles, bases


def lu(x: Array) -> tuple[Array, ...]:
    """L and U in one matrix, the rows that were exchanged with each, and the rows' order."""
    *batch, m, n = x.shape
    count, depth = prod(batch), min(m, n)
    factors = np.ascontiguousarray(x).reshape(count, m, n).copy()
    pivots = np.zeros((count, depth), np.int32)
    lapack = optional.module("scipy.linalg.lapack")
    if lapack is None or count > MANY * n:
        with np.errstate(all="ignore"):
            _eliminate(factors, pivots)
    elif factors.size:
        (getrf,) = lapack.get_lapack_funcs(("getrf",), dtype=x.dtype)
        for i, matrix in enumerate(factors):
            factors[i], pivots[i], _ = getrf(matrix)
    order = np.empty((count, m), np.int32)
    for i, exchanges in enumerate(pivots.tolist()):
        rows = list(range(m))
        for k, other in enumerate(exchanges):
            rows[k], rows[other] = rows[other], rows[k]
        order[i] = rows
    return factors.reshape(x.shape), pivots.reshape(*batch, depth), order.reshape(*batch, m)


def _eliminate(a: Array, pivots: Array) -> None:
    """Factors matrices [batch, m, n] in place, column by column."""
    lanes = np.arange(len(a))
    for k in range(pivots.shape[1]):
        column = a[:, k:, k]  # of complex numbers, LAPACK too adds the parts
        chosen = k + np.argmax(np.abs(column.real) + np.abs(column.imag), axis=1)
        pivots[:, k] = chosen
        a[lanes, k], a[lanes, chosen] = a[lanes, chosen], a[lanes, k]
        corner = a[:, k, k, None]
        below = a[:, k + 1 :, k]
        below /= np.where(corner == 0, 1, corner)
        a[:, k + 1 :, k + 1 :] -= below[..., None] * a[:, k, None, k + 1 :]


# ---- solutions -----------------------------------------------------------------------------------


def solve(a: Array, b: Array) -> Array:
    """The x with a x = b; where a is singular, what division by zero makes of it."""
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        factors, _, order = lu(a)
        b = np.take_along_axis(b, order[..., None], -2)
        options = {"left_side": 1, "transpose_a": 0}
        b = triangular_solve(factors, b, lower=1, unit_diagonal=1, **options)
        return triangular_solve(factors, b, lower=0, unit_diagonal=0, **options)


def triangular_solve(
    a: Array, b: Array, *, left_side: int, lower: int, unit_diagonal: int, transpose_a: int
) -> Array:
    """The x with op(a) x = b, or x op(a) = b, of a triangle of a; op is the identity (0), the
    transpose (1) or the adjoint (2).
    """
    blas = optional.module("scipy.linalg.blas")
    if blas is None:
        with np.errstate(all="ignore"):
            return _substituted(a, b, left_side, lower, unit_diagonal, transpose_a)
    (trsm,) = blas.get_blas_funcs(("trsm",), dtype=b.dtype)
    result = np.empty(b.shape, b.dtype)
    options = {"side": 1 - left_side, "lower": lower, "trans_a": transpose_a, "diag": unit_diagonal}
    for place in np.ndindex(*b.shape[:-2]):
        result[place] = trsm(1, a[place], b[place], **options)
    return result


def _substituted(
    a: Array, b: Array, left_side: int, lower: int, unit_diagonal: int, transpose_a: int
) -> Array:
    """Solve the triangular system by substitution, row by row."""
    if transpose_a:
        a, lower = np.swapaxes(a, -1, -2), not lower
        a = np.conj(a) if transpose_a == 2 else a
    if not left_side:  # x a = b is a^T x^T = b^T
        a, b, lower = np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2), not lower
    x, n = b.copy(), b.shape[-2]
    for k in range(n) if lower else reversed(range(n)):
        known = slice(0, k) if lower else slice(k + 1, n)
        x[..., k, :] -= np.einsum("...j,...jk->...k", a[..., k, known], x[..., known, :])
        if not unit_diagonal:
            x[..., k, :] /= a[..., k, k, None]
    return x if left_side else np.swapaxes(x, -1, -2)
