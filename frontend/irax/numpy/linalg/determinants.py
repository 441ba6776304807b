"""Determinants and ranks of irax.numpy.linalg."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from irax import lax
from irax.core.array import Array
from irax.core.dtypes.strictness import library
from irax.lax import linalg
from irax.lax.linalg.matrices import adjoint
from irax.numpy import creation, matrices, ordering, searching, ufuncs
from irax.numpy.aggregates import reductions
from irax.numpy.elementwise import exponentials, logic
from irax.numpy.elementwise.complex_parts import conj
from irax.numpy.linalg.factored import inexact, square, svd, svdvals
from irax.numpy.products import contraction
from irax.numpy.shapes import manipulation
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
@library
def _det_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    (x,), (t,) = primals, tangents
    return _det(x), reductions.sum(_cofactors(x) * t, (-2, -1))


@custom_jvp
def _cofactors(x: Array) -> Array:
    """The transpose of the adjugate, det A A^-1. A pivot that is zero is a very small one, which
    both factors have, and which cancels.
    """
    found = _pivoted(x)
    pivots = found.diagonal
    largest = reductions.max(ufuncs.abs(x), (-2, -1), keepdims=True)[..., 0]
    small = logic.where(largest == 0, 1, largest) * float(np.finfo(x.dtype).eps) ** 2
    safe = logic.where(ufuncs.equal(pivots, 0), small, pivots)
    unit = matrices.eye(x.shape[-1], dtype=x.dtype)
    factors = found.factors + (safe - pivots)[..., None] * unit
    # A^T = U^T L^T P: its solutions, for the unit matrix.
    right = creation.zeros_like(x) + unit
    solve = functools.partial(linalg.triangular_solve, factors, left_side=True, transpose_a=True)
    right = solve(solve(right), lower=True, unit_diagonal=True)
    right = searching.take_along_axis(right, ordering.argsort(found.order)[..., None], -2)
    return (found.parity * reductions.prod(safe, -1))[..., None, None] * right


@_cofactors.defjvp
@library
def _cofactors_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    """By singular values, of whose products there are derivatives at singular matrices; by the
    inverse where that is accurate, which has further derivatives where singular values are equal.
    """
    (x,), (t,) = primals, tangents
    c = _cofactors(x)
    values = lax.stop_gradient(svdvals(x))
    fits = (values[..., -1] > 0.01 * values[..., 0])[..., None, None]
    unit = matrices.eye(x.shape[-1], dtype=x.dtype)
    regular = logic.where(fits, x, unit)
    by_inverse = _change_by_inverse(regular, t)
    slanted = unit * np.arange(1, x.shape[-1] + 1).astype(x.dtype)
    by_values = _change_by_values(logic.where(fits, slanted, x), t)
    return c, logic.where(fits, by_inverse, by_values)


def _change_by_inverse(x: Array, t: Array) -> Array:
    """(tr(C^T dA) C - C dA^T C) / det A, for the cofactors C."""
    c = _cofactors(x)
    trace = reductions.sum(c * t, (-2, -1))[..., None, None]
    product = contraction.matmul(c, contraction.matmul(manipulation.matrix_transpose(t), c))
    return (trace * c - product) / _det(x)[..., None, None]


def _change_by_values(x: Array, t: Array) -> Array:
    """For A = U S V^H and Y = U^H dA V, the derivative of det A in dA and dB, Z = U^H dB V, is that
    of U V^H times the sum of (Y_ii Z_jj - Y_ij Z_ji) over i and j, times the other singular values.
    """
    u, s, vh = svd(x, full_matrices=False)
    n = x.shape[-1]
    inner = contraction.matmul(adjoint(u), contraction.matmul(t, adjoint(vh)))
    # The products of all singular values but two: only the last two may be zero, or all are.
    numbers = np.arange(n)
    same = numbers[:, None] == numbers
    first = logic.where((numbers < n - 2) & (s > 0), s, 1)
    inverse = 1 / first
    others = (
        reductions.prod(first, -1)[..., None, None] * inverse[..., None] * inverse[..., None, :]
    )
    for last in (n - 2, n - 1):
        left_out = same[last][:, None] | same[last]
        others = others * logic.where(left_out, 1, s[..., last, None, None])
    others = logic.where(same | (s[..., :-2] == 0).any(-1)[..., None, None], 0, others)
    others = others.astype(x.dtype)
    along = matrices.diagonal(inner, 0, -2, -1)
    sums = contraction.matmul(others, along[..., None])
    change = logic.where(same, sums, -others * manipulation.matrix_transpose(inner))
    phase = (_det(u) * _det(vh))[..., None, None]
    turned = contraction.matmul(contraction.matmul(conj(u), change), conj(vh))
    return phase * turned


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
