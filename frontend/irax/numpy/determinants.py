"""Determinants and ranks of irax.numpy.linalg."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from irax import lax
from irax.core.array import Array
from irax.lax import linalg
from irax.numpy import (
    contraction,
    creation,
    exponentials,
    logic,
    matrices,
    reductions,
    searching,
    ufuncs,
)
from irax.numpy.factored import inexact, square, svdvals
from irax.transforms.custom_jvp import custom_jvp
from irax.typing import ArrayLike
from irax_compiler.sizes import is_symbolic


class SlogdetResult(NamedTuple):
    """det = sign * exp(logabsdet)."""

    sign: Array
    logabsdet: Array


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
    return SlogdetResult(sign, reductions.sum(exponentials.log(ufuncs.abs(diagonal)), -1))


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
