"""Factorizations of matrices that StableHLO lacks: lu, qr, eigh, svd, of the last two dimensions.

In the IR they are composites. The decompositions are loops that any device can run; `evaluate`, and
the CPU target, leave them to LAPACK where NumPy has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import (
    bitwise,
    comparison,
    conversion,
    elementwise,
    linalg,
    loops,
    reduction,
    shape,
    sort,
)
from irax_compiler.ops.composite import ComposedOp, register_composed
from irax_compiler.ops.core import Axis, Tangent, constant, full, full_like, only, zeros_like
from irax_compiler.ops.fft import real_dtype
from irax_compiler.ops.linalg import TriangularSolve, adjoint, matmul, triangle

INT32 = np.dtype(np.int32)
SOLVE_LOWER = TriangularSolve(True, True, True, "NO_TRANSPOSE")
FROM_RIGHT_UPPER = TriangularSolve(False, False, False, "NO_TRANSPOSE")


class _Factorization(ComposedOp):
    """Leading dimensions are those of a batch."""

    num_results: ClassVar[int] = -1

    def batch(self, size: int, operands: Sequence[Value], axes: Sequence[Axis]):
        results = self.build([shape.move_axis(operands[0], axes[0], 0)])
        return results, [0] * len(results)


def _iota(extents: Sequence[int], from_last: int) -> Value:
    return shape.Iota(tuple(extents), INT32, len(extents) - from_last)()


def _along(x: Value, like: Sequence[int], missing: int) -> Value:
    """`x`, repeated along dimension `missing` (counted from the last, 1) of a shape."""
    kept = [d for d in range(len(like)) if d != len(like) - missing]
    return shape.BroadcastInDim(tuple(like), tuple(kept))(x)


def _total(x: Value, from_last: int) -> Value:
    """The sum along a dimension, counted from the last, which is 1."""
    return reduction.reduce_sum(x, (len(shape_of(x)) - from_last,))


def _part(x: Value, rows: slice, columns: slice) -> Value:
    *batch, m, n = shape_of(x)
    start = (*[0] * len(batch), rows.indices(m)[0], columns.indices(n)[0])
    end = (*batch, rows.indices(m)[1], columns.indices(n)[1])
    return shape.slice_(x, start, end, (1,) * len(end))


ALL = slice(None)

# ---- lu ------------------------------------------------------------------------------------------


@register_composed
@dataclass(frozen=True)
class Lu(_Factorization):
    """P A = L U, by pivots of the largest size: L (without the ones on its diagonal) and U in one
    matrix; for each column the row that was exchanged with it; and P as a permutation of rows.
    """

    name = "irax.lu"

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        (a,) = operands
        *batch, m, n = shape_of(a)
        depth = min(m, n)
        zero, one, limit = (full((), i, INT32) for i in (0, 1, depth))
        row, column = _iota((*batch, m, n), 2), _iota((*batch, m, n), 1)
        row_of_one = _iota((*batch, m), 1)

        def advance(k: Value, a: Value, pivots: Value, order: Value) -> Sequence[Value]:
            at_k = shape.broadcast_scalar(k, (*batch, m, n))
            values = _total(_where(comparison.equal(column, at_k), a), 1)
            pivot = _largest_from(values, row_of_one, k)
            order = _exchanged(order, row_of_one, k, pivot, 1)
            a = _exchanged(a, row, k, pivot, 2)
            here = shape.broadcast_scalar(k, shape_of(pivots))
            at = comparison.equal(_iota(shape_of(pivots), 1), here)
            pivots = comparison.select(at, _along(pivot, shape_of(pivots), 1), pivots)
            return [elementwise.add(k, one), _eliminated(a, row, column, at_k), pivots, order]

        start = [zero, a, full((*batch, depth), 0, INT32), row_of_one]
        _, factors, pivots, order = loops.while_loop(
            lambda k, *_: comparison.less(k, limit), advance, start
        )
        return [factors, pivots, order]

    def evaluate(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        from scipy.linalg.lapack import get_lapack_funcs

        *batch, m, n = x.shape
        (getrf,) = get_lapack_funcs(("getrf",), dtype=x.dtype)
        factors, pivots = np.empty(x.shape, x.dtype), np.empty((*batch, min(m, n)), np.int32)
        order = np.empty((*batch, m), np.int32)
        for place in np.ndindex(*batch):
            order[place] = np.arange(m)
            if 0 in (m, n):
                continue
            factors[place], pivots[place], _ = getrf(x[place])
            for k, p in enumerate(pivots[place]):
                order[place][[k, p]] = order[place][[p, k]]
        return factors, pivots, order

    def jvp(
        self, primals: Sequence[Value], tangents: Sequence[Tangent], results: Sequence[Value]
    ) -> Sequence[Tangent]:
        """With X = L^-1 P dA U^-1: dL = L tril(X, -1), dU = triu(X) U, of the square part."""
        factors, _, order = results
        *batch, m, n = shape_of(factors)
        if 0 in (m, n):
            return [zeros_like(factors), None, None]
        k = min(m, n)
        moved = _rows_taken(only(tangents), order)
        square = _part(factors, slice(0, k), slice(0, k))
        left = SOLVE_LOWER(square, _part(moved, slice(0, k), ALL))
        x = FROM_RIGHT_UPPER(square, _part(left, ALL, slice(0, k)))
        below, above = triangle(x, offset=-1), triangle(x, lower=False)
        unit_lower = elementwise.add(triangle(square, offset=-1), _identity(square))
        d_lower = matmul(unit_lower, below)
        d_upper = matmul(above, triangle(square, lower=False))
        tangent = elementwise.add(d_lower, d_upper)
        if m > k:
            rest = _part(moved, slice(k, None), ALL)
            d_rest = FROM_RIGHT_UPPER(square, rest)
            d_rest = elementwise.subtract(
                d_rest, matmul(_part(factors, slice(k, None), ALL), above)
            )
            tangent = shape.Concatenate(len(batch))(tangent, d_rest)
        if n > k:
            rest = _part(factors, ALL, slice(k, None))
            d_rest = elementwise.subtract(_part(left, ALL, slice(k, None)), matmul(below, rest))
            tangent = shape.Concatenate(len(batch) + 1)(tangent, d_rest)
        return [tangent, None, None]


def _where(condition: Value, x: Value) -> Value:
    return comparison.select(condition, x, zeros_like(x))


def _largest_from(values: Value, rows: Value, k: Value) -> Value:
    """The number of the first of the largest values from row k on."""
    extents = shape_of(values)
    size = elementwise.abs(values)
    allowed = comparison.greater_equal(rows, shape.broadcast_scalar(k, extents))
    size = comparison.select(allowed, size, full_like(size, -1))
    last = len(extents) - 1
    lowest = full((), -np.inf, dtype_of(size))
    best = _along(reduction.Reduce("maximum", (last,))(size, lowest), extents, 1)
    numbers = comparison.select(
        comparison.equal(size, best), rows, full_like(rows, extents[-1] - 1)
    )
    return reduction.Reduce("minimum", (last,))(numbers, full((), extents[-1] - 1, INT32))


def _exchanged(x: Value, rows: Value, k: Value, pivot: Value, from_last: int) -> Value:
    """Row k and the row `pivot` of each matrix (or vector) exchanged."""
    extents = shape_of(x)
    at_k = comparison.equal(rows, shape.broadcast_scalar(k, extents))
    spread = tuple(range(len(extents) - from_last))
    at_pivot = comparison.equal(rows, shape.BroadcastInDim(extents, spread)(pivot))
    first = _along(_total(_where(at_k, x), from_last), extents, from_last)
    second = _along(_total(_where(at_pivot, x), from_last), extents, from_last)
    return comparison.select(at_k, second, comparison.select(at_pivot, first, x))


def _eliminated(a: Value, row: Value, column: Value, at_k: Value) -> Value:
    """One step: column k below the diagonal divided by its pivot, and the rest reduced."""
    extents = shape_of(a)
    this_row, this_column = comparison.equal(row, at_k), comparison.equal(column, at_k)
    pivot_row = _along(_total(_where(this_row, a), 2), extents, 2)
    pivot_column = _along(_total(_where(this_column, a), 1), extents, 1)
    corner = _along(_total(_where(this_column, pivot_row), 1), extents, 1)
    ratio = elementwise.divide(pivot_column, corner)
    below, after = comparison.greater(row, at_k), comparison.greater(column, at_k)
    reduced = elementwise.subtract(a, elementwise.multiply(ratio, pivot_row))
    a = comparison.select(bitwise.and_(below, after), reduced, a)
    is_zero = comparison.equal(corner, zeros_like(corner))
    ratio = comparison.select(is_zero, zeros_like(ratio), ratio)
    return comparison.select(bitwise.and_(below, this_column), ratio, a)


def _rows_taken(x: Value, order: Value) -> Value:
    """The rows of a matrix in the order of their numbers, by a matrix of ones and zeros."""
    *batch, m, _ = shape_of(x)
    column = _iota((*batch, m, m), 1)
    ones = comparison.equal(_along(order, (*batch, m, m), 1), column)
    return matmul(conversion.convert(ones, dtype_of(x)), x)


def _identity(like: Value) -> Value:
    extents = shape_of(like)
    on = comparison.equal(_iota(extents, 2), _iota(extents, 1))
    return comparison.select(on, full_like(like, 1), zeros_like(like))


# ---- qr ------------------------------------------------------------------------------------------


@register_composed
@dataclass(frozen=True)
class Qr(_Factorization):
    """A = Q R with orthonormal columns of Q, as many as A has (there are no more than rows), and an
    upper triangle R.
    """

    name = "irax.qr"

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        """Reflections, one for each column (A. S. Householder, 1958)."""
        (a,) = operands
        *batch, m, n = shape_of(a)
        dtype = dtype_of(a)
        zero, one, limit = (full((), i, INT32) for i in (0, 1, n))
        rows, column = _iota((*batch, m), 1), _iota((*batch, m, n), 1)
        eye = _identity(full((*batch, m, m), 0, dtype))

        def advance(k: Value, r: Value, q: Value) -> Sequence[Value]:
            at_k = shape.broadcast_scalar(k, (*batch, m, n))
            x = _total(_where(comparison.equal(column, at_k), r), 1)
            here = shape.broadcast_scalar(k, (*batch, m))
            x = _where(comparison.greater_equal(rows, here), x)
            first = _total(_where(comparison.equal(rows, here), x), 1)
            size = elementwise.sqrt(_total(_squares(x), 1))
            phase = elementwise.sign(first)
            is_zero = comparison.equal(phase, zeros_like(phase))
            phase = comparison.select(is_zero, full_like(phase, 1), phase)
            shift = elementwise.multiply(phase, conversion.convert(size, dtype))
            on = comparison.equal(rows, here)
            v = elementwise.add(x, _where(on, _along(shift, shape_of(x), 1)))
            length = _total(_squares(v), 1)
            nothing = comparison.equal(length, zeros_like(length))
            safe = comparison.select(nothing, full_like(length, 1), length)
            factor = comparison.select(
                nothing, zeros_like(length), elementwise.divide(full_like(length, 2), safe)
            )
            return [elementwise.add(k, one), _reflected(v, factor, r), _reflected(v, factor, q)]

        start = [zero, a, eye]
        _, r, q = loops.while_loop(lambda k, *_: comparison.less(k, limit), advance, start)
        thin = _part(adjoint(q), ALL, slice(0, n))
        return [thin, triangle(_part(r, slice(0, n), ALL), lower=False)]

    def evaluate(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        q, r = np.linalg.qr(x)
        return q, r

    def jvp(
        self, primals: Sequence[Value], tangents: Sequence[Tangent], results: Sequence[Value]
    ) -> Sequence[Tangent]:
        """S. F. Walter and L. Lehmann, Algorithmic differentiation of linear algebra functions,
        2013, with a real diagonal of R.
        """
        q, r = results
        if 0 in shape_of(r):
            return [zeros_like(q), zeros_like(r)]
        moved = FROM_RIGHT_UPPER(r, only(tangents))
        inner = matmul(adjoint(q), moved)
        below = triangle(inner, offset=-1)
        turn = elementwise.subtract(below, adjoint(below))
        if dtype_of(q).kind == "c":
            diagonal = elementwise.subtract(triangle(inner), below)
            imaginary = linalg.scaled(elementwise.subtract(diagonal, adjoint(diagonal)), 0.5)
            turn = elementwise.add(turn, imaginary)
        rest = elementwise.subtract(inner, turn)
        d_q = elementwise.subtract(moved, matmul(q, rest))
        return [d_q, matmul(rest, r)]


def _squares(x: Value) -> Value:
    if dtype_of(x).kind != "c":
        return elementwise.multiply(x, x)
    return elementwise.real(elementwise.multiply(x, elementwise.conjugate(x)))


def _reflected(v: Value, factor: Value, x: Value) -> Value:
    """x - factor v (v^H x)."""
    *batch, m, n = shape_of(x)
    column = shape.reshape(v, (*batch, m, 1))
    product = matmul(column, matmul(adjoint(column), x))
    wide = shape.BroadcastInDim((*batch, m, n), tuple(range(len(batch))))(
        conversion.convert(factor, dtype_of(x))
    )
    return elementwise.subtract(x, elementwise.multiply(wide, product))


# ---- eigh ----------------------------------------------------------------------------------------


@register_composed
@dataclass(frozen=True)
class Eigh(_Factorization):
    """Of Hermitian matrices (the lower triangle counts): orthonormal eigenvectors as columns, and
    the eigenvalues, ascending.
    """

    name = "irax.eigh"

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        return _jacobi(operands[0])

    def evaluate(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not np.isfinite(x).all():
            return np.full(x.shape, np.nan, x.dtype), np.full(
                x.shape[:-1], np.nan, real_dtype(x.dtype)
            )
        values, vectors = np.linalg.eigh(x)
        return vectors, values

    def jvp(
        self, primals: Sequence[Value], tangents: Sequence[Tangent], results: Sequence[Value]
    ) -> Sequence[Tangent]:
        """dw = diag(V^H dA V), dV = V (F * V^H dA V) with F = 1 / (w_j - w_i), 0 for equal values
        (J. R. Magnus, 1985).
        """
        vectors, values = results
        t = only(tangents)
        half = linalg.half_diagonal(t)
        whole = elementwise.add(half, adjoint(half))
        inner = matmul(adjoint(vectors), matmul(whole, vectors))
        extents = shape_of(inner)
        gaps = elementwise.subtract(_along(values, extents, 2), _along(values, extents, 1))
        equal = comparison.equal(gaps, zeros_like(gaps))
        safe = comparison.select(equal, full_like(gaps, 1), gaps)
        factors = comparison.select(
            equal, zeros_like(gaps), elementwise.divide(full_like(gaps, 1), safe)
        )
        mixed = elementwise.multiply(conversion.convert(factors, dtype_of(t)), inner)
        on = comparison.equal(_iota(extents, 2), _iota(extents, 1))
        slopes = elementwise.real(_total(_where(on, inner), 1))
        return [matmul(vectors, mixed), slopes]


SWEEPS = 12
"""Rotations of all pairs; what is off the diagonal falls quadratically at the end."""


def _jacobi(a: Value) -> Sequence[Value]:
    """Rotations of n/2 pairs at a time, each of one row and column of the first half with one of
    the second; between the steps all but the first move on by a place, as in a tournament
    (R. P. Brent and F. T. Luk, 1985).
    """
    *batch, n, _ = shape_of(a)
    dtype = dtype_of(a)
    half = linalg.half_diagonal(a)
    a = elementwise.add(half, adjoint(half))
    even = n + n % 2
    size = len(batch)
    if even != n:  # a row and a column that are never rotated
        high = (*[0] * size, 1, 1)
        low = (0,) * (size + 2)
        a = shape.Pad(low, high, low)(a, full((), 0, dtype))
    moved = constant(_tournament(even).astype(real_dtype(dtype)))
    moved = conversion.convert(moved, dtype)
    moved = shape.BroadcastInDim(shape_of(a), (size, size + 1))(moved)
    zero, one = (full((), i, INT32) for i in (0, 1))
    limit = full((), SWEEPS * max(even - 1, 1), INT32)

    def advance(step: Value, a: Value, vectors: Value) -> Sequence[Value]:
        turn = matmul(_rotations(a), moved)
        return [
            elementwise.add(step, one),
            matmul(adjoint(turn), matmul(a, turn)),
            matmul(vectors, turn),
        ]

    start = [zero, a, _identity(a)]
    _, diagonal, vectors = loops.while_loop(
        lambda step, *_: comparison.less(step, limit), advance, start
    )
    on = comparison.equal(_iota(shape_of(a), 2), _iota(shape_of(a), 1))
    values = elementwise.real(_total(_where(on, diagonal), 1))
    if even != n:  # the whole tournament has brought it back to the end
        values = shape.slice_in_dim(values, 0, n, size)
        vectors = _part(vectors, slice(0, n), slice(0, n))
    numbers = sort.numbers_along(values, size)
    values, order = sort.Sort(size, True, sort.Order()).build([values, numbers])
    columns = _along(order, shape_of(vectors), 2)
    return [sort.take(vectors, columns, size + 1), values]


def _tournament(n: int) -> np.ndarray:
    """A permutation matrix: of the pairs (i, i + n/2), all but the first go on by one place."""
    half = n // 2
    if half == 1:
        return np.eye(2)
    top, bottom = list(range(half)), list(range(half, n))
    new_top = [top[0], bottom[0], *top[1:-1]]
    new_bottom = [*bottom[1:], top[-1]]
    matrix = np.zeros((n, n))
    for new, old in enumerate([*new_top, *new_bottom]):
        matrix[old, new] = 1
    return matrix


def _rotations(a: Value) -> Value:
    """The matrix that makes the elements [i, i + n/2] of a Hermitian one zero."""
    *batch, n, _ = shape_of(a)
    half = n // 2
    corner = _part(a, slice(0, half), slice(half, n))
    on = comparison.equal(_iota(shape_of(corner), 2), _iota(shape_of(corner), 1))

    def diagonal(rows: slice) -> Value:
        return elementwise.real(_total(_where(on, _part(a, rows, rows)), 1))

    p, q = diagonal(slice(0, half)), diagonal(slice(half, n))
    between = _total(_where(on, corner), 1)
    size = elementwise.abs(between)
    nothing = comparison.equal(size, zeros_like(size))
    safe = comparison.select(nothing, full_like(size, 1), size)
    ratio = elementwise.divide(elementwise.subtract(q, p), linalg.scaled(safe, 2))
    one = full_like(size, 1)
    root = elementwise.sqrt(elementwise.add(one, elementwise.multiply(ratio, ratio)))
    side = comparison.select(
        comparison.less(ratio, zeros_like(ratio)), elementwise.negate(one), one
    )
    tangent = elementwise.divide(side, elementwise.add(elementwise.abs(ratio), root))
    tangent = comparison.select(nothing, zeros_like(tangent), tangent)
    cosine = elementwise.rsqrt(elementwise.add(one, elementwise.multiply(tangent, tangent)))
    sine = conversion.convert(elementwise.multiply(tangent, cosine), dtype_of(a))
    sine = elementwise.multiply(sine, elementwise.sign(between))

    def spread(v: Value) -> Value:
        wide = _along(conversion.convert(v, dtype_of(a)), shape_of(corner), 1)
        return _where(on, wide)

    last = len(batch) + 1
    upper = shape.Concatenate(last)(spread(cosine), spread(sine))
    lower = shape.Concatenate(last)(
        elementwise.negate(elementwise.conjugate(spread(sine))), spread(cosine)
    )
    return shape.Concatenate(last - 1)(upper, lower)


# ---- svd -----------------------------------------------------------------------------------------


@register_composed
@dataclass(frozen=True)
class Svd(_Factorization):
    """A = U diag(s) V^H with orthonormal columns of U and V, as many as the smaller dimension of A,
    and s descending: U, s and V^H.
    """

    name = "irax.svd"

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        """V of the eigenvectors of A^H A; the columns of A V are orthogonal, and have length s."""
        (a,) = operands
        *_, m, n = shape_of(a)
        if m < n:
            v, s, u = self.define([adjoint(a)])
            return [adjoint(u), s, adjoint(v)]
        vectors, _ = _jacobi(matmul(adjoint(a), a))
        vectors = shape.Reverse((len(shape_of(vectors)) - 1,))(vectors)
        q, r = Qr().define([matmul(a, vectors)])
        on = comparison.equal(_iota(shape_of(r), 2), _iota(shape_of(r), 1))
        diagonal = _total(_where(on, r), 1)
        phase = elementwise.sign(diagonal)
        phase = comparison.select(
            comparison.equal(phase, zeros_like(phase)), full_like(phase, 1), phase
        )
        u = elementwise.multiply(q, _along(phase, shape_of(q), 2))
        return [u, elementwise.abs(diagonal), adjoint(vectors)]

    def evaluate(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        k = min(x.shape[-2:])
        if not np.isfinite(x).all():
            batch, (m, n) = x.shape[:-2], x.shape[-2:]
            nan = (np.full((*batch, *e), np.nan, x.dtype) for e in ((m, k), (k, n)))
            u, vh = nan
            return u, np.full((*batch, k), np.nan, real_dtype(x.dtype)), vh
        u, s, vh = np.linalg.svd(x, full_matrices=False)
        return u, s, vh

    def jvp(
        self, primals: Sequence[Value], tangents: Sequence[Tangent], results: Sequence[Value]
    ) -> Sequence[Tangent]:
        """J. Townsend, Differentiating the singular value decomposition, 2016."""
        u, s, vh = results
        t, v = only(tangents), adjoint(vh)
        if 0 in shape_of(t):
            return [zeros_like(x) for x in results]
        inner = matmul(adjoint(u), matmul(t, v))
        extents = shape_of(inner)
        on = comparison.equal(_iota(extents, 2), _iota(extents, 1))
        slopes = elementwise.real(_total(_where(on, inner), 1))
        across, down = _along(s, extents, 2), _along(s, extents, 1)
        product = elementwise.multiply(
            elementwise.subtract(across, down), elementwise.add(across, down)
        )
        gaps = conversion.convert(_reciprocal_or_zero(product), dtype_of(t))
        by_column = elementwise.multiply(inner, conversion.convert(across, dtype_of(t)))
        by_row = elementwise.multiply(inner, conversion.convert(down, dtype_of(t)))
        d_u = elementwise.multiply(gaps, elementwise.add(by_column, adjoint(by_column)))
        d_v = elementwise.multiply(gaps, elementwise.add(by_row, adjoint(by_row)))
        inverse = conversion.convert(_reciprocal_or_zero(s), dtype_of(t))
        if dtype_of(t).kind == "c":
            diagonal = _where(on, inner)
            turn = linalg.scaled(elementwise.subtract(diagonal, adjoint(diagonal)), 0.5)
            d_u = elementwise.add(d_u, elementwise.multiply(turn, _along(inverse, extents, 2)))
        d_u, d_v = matmul(u, d_u), matmul(v, d_v)
        *_, m, n = shape_of(t)
        k = extents[-1]
        if m > k:
            d_u = elementwise.add(d_u, _outside(matmul(t, v), u, inverse))
        if n > k:
            d_v = elementwise.add(d_v, _outside(matmul(adjoint(t), u), v, inverse))
        return [d_u, slopes, adjoint(d_v)]


def _reciprocal_or_zero(x: Value) -> Value:
    nothing = comparison.equal(x, zeros_like(x))
    safe = comparison.select(nothing, full_like(x, 1), x)
    return comparison.select(nothing, zeros_like(x), elementwise.divide(full_like(x, 1), safe))


def _outside(x: Value, basis: Value, inverse: Value) -> Value:
    """The part of the columns that is not in a space, divided by the singular values."""
    rest = elementwise.subtract(x, matmul(basis, matmul(adjoint(basis), x)))
    return elementwise.multiply(rest, _along(inverse, shape_of(rest), 2))
