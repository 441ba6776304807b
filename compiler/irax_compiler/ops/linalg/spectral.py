"""Eigenvalues and eigenvectors of Hermitian matrices, and singular values, by rotations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import comparison, conversion, elementwise, shape, slicing
from irax_compiler.ops.attributes import FLAG, attribute
from irax_compiler.ops.composite import register_composed
from irax_compiler.ops.core import (
    Tangent,
    UnsupportedOp,
    constant,
    full,
    full_like,
    only,
    zeros_like,
)
from irax_compiler.ops.fft import real_dtype
from irax_compiler.ops.linalg import arithmetic, triangular
from irax_compiler.ops.linalg.eager_lapack import eigenvectors, singular_vectors
from irax_compiler.ops.linalg.householder import Qr
from irax_compiler.ops.linalg.matrices import (
    ALL,
    INT32,
    Factorization,
    adapted,
    along,
    diagonal,
    identity,
    of_finite,
    on_diagonal,
    part,
    reciprocal_beside_diagonal,
    reciprocal_or_zero,
    where,
)
from irax_compiler.ops.linalg.triangular import adjoint, matmul
from irax_compiler.ops.loop_builders import while_loop
from irax_compiler.ops.sorting import sort
from irax_compiler.ops.transformation import Differentiation, Evaluation


class Spectrum(Factorization):
    """Values, and vectors if `vectors`. The values' derivatives need the vectors all the same."""

    vectors: bool
    place: ClassVar[int]
    """The number of the result with the values, where there are vectors."""

    def slopes(self, tangent: Value, results: Sequence[Value]) -> Value:
        """The tangent of the values, for the results with vectors."""
        raise NotImplementedError

    def tangents(self, tangent: Value, results: Sequence[Value]) -> Sequence[Tangent]:
        """The tangents of the vectors and the values."""
        raise NotImplementedError

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        if self.vectors:
            results = transform.results(self, primals)
            return results, self.tangents(only(tangents), results)
        results = self.with_vectors().build(primals)
        return [results[self.place]], [self.slopes(only(tangents), results)]

    def with_vectors(self) -> Spectrum:
        """Return this op with (thin) vectors as results."""
        return replace(self, vectors=True)  # pyright: ignore[reportArgumentType]


# ---- eigh ----------------------------------------------------------------------------------------


@register_composed
@dataclass(frozen=True)
class Eigh(Spectrum):
    """Eigendecomposition of Hermitian matrices, of which the lower triangle is read: orthonormal
    eigenvectors as columns, and ascending eigenvalues.
    """

    name = "irax.eigh"
    place = 1
    vectors: bool = attribute(FLAG, default=True)

    @classmethod
    def flops(cls, operation: Operation) -> float:
        op = cls.read(operation)
        assert isinstance(op, Eigh)
        return arithmetic.of_matrices(operation, lambda _, n: arithmetic.eigh(n, op.vectors))

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        vectors, values = _jacobi(operands[0])
        return [vectors, values] if self.vectors else [values]

    def evaluate(self, call: Evaluation, x: np.ndarray) -> tuple[np.ndarray, ...]:
        if not self.vectors:
            return of_finite(lambda x: [np.linalg.eigvalsh(x)], x)
        return of_finite(eigenvectors, x)

    def _inner(self, tangent: Value, vectors: Value) -> Value:
        half = triangular.half_diagonal(tangent)  # the triangle stands for all of it
        whole = elementwise.add(half, adjoint(half))
        return matmul(adjoint(vectors), matmul(whole, vectors))

    def slopes(self, tangent: Value, results: Sequence[Value]) -> Value:
        return elementwise.real(diagonal(self._inner(tangent, results[0])))

    def tangents(self, tangent: Value, results: Sequence[Value]) -> Sequence[Tangent]:
        """dw = diag(V^H dA V), dV = V (F * V^H dA V) with F = 1 / (w_j - w_i), 0 on the diagonal
        (J. R. Magnus, 1985). Vectors of equal values have no derivative: F is infinite.
        """
        vectors, values = results
        inner = self._inner(tangent, vectors)
        extents = shape_of(inner)
        gaps = elementwise.subtract(along(values, extents, 2), along(values, extents, 1))
        mixed = elementwise.multiply(adapted(reciprocal_beside_diagonal(gaps), inner), inner)
        return [matmul(vectors, mixed), elementwise.real(diagonal(inner))]


# ---- svd -----------------------------------------------------------------------------------------


@register_composed
@dataclass(frozen=True)
class Svd(Spectrum):
    """A = U diag(s) V^H with orthonormal columns of U and V, as many as the smaller dimension of A,
    and s descending: U, s and V^H. If `full`, U and V are square.
    """

    name = "irax.svd"
    place = 1
    full: bool = attribute(FLAG, default=False)
    vectors: bool = attribute(FLAG, default=True)

    @classmethod
    def flops(cls, operation: Operation) -> float:
        op = cls.read(operation)
        assert isinstance(op, Svd)
        return arithmetic.of_matrices(
            operation, lambda m, n: arithmetic.svd(m, n, op.vectors, op.full)
        )

    def with_vectors(self) -> Svd:
        return Svd(full=False, vectors=True)

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        """V of the eigenvectors of A^H A; the columns of A V are orthogonal, and have length s."""
        (a,) = operands
        *_, m, n = shape_of(a)
        if m < n:
            found = self.define([adjoint(a)])
            if not self.vectors:
                return found
            v, s, u = found
            return [adjoint(u), s, adjoint(v)]
        vectors, _ = _jacobi(matmul(adjoint(a), a))
        vectors = slicing.Reverse((len(shape_of(vectors)) - 1,))(vectors)
        q, r = Qr(full=self.full).define([matmul(a, vectors)])
        slanted = diagonal(part(r, slice(0, n), ALL))
        if not self.vectors:
            return [elementwise.abs(slanted)]
        phase = elementwise.sign(slanted)
        is_zero = comparison.equal(phase, zeros_like(phase))
        phase = comparison.select(is_zero, full_like(phase, 1), phase)
        if m > n and self.full:
            rest = full((*shape_of(a)[:-2], m - n), 1, dtype_of(a))
            phase = slicing.Concatenate(len(shape_of(phase)) - 1)(phase, rest)
        u = elementwise.multiply(q, along(phase, shape_of(q), 2))
        return [u, elementwise.abs(slanted), adjoint(vectors)]

    def evaluate(self, call: Evaluation, x: np.ndarray) -> tuple[np.ndarray, ...]:
        if not self.vectors:
            return of_finite(lambda x: [np.linalg.svd(x, compute_uv=False)], x)
        return of_finite(lambda x: singular_vectors(x, self.full), x)

    def slopes(self, tangent: Value, results: Sequence[Value]) -> Value:
        u, _, vh = results
        return elementwise.real(diagonal(matmul(adjoint(u), matmul(tangent, adjoint(vh)))))

    def tangents(self, tangent: Value, results: Sequence[Value]) -> Sequence[Tangent]:
        """J. Townsend, Differentiating the singular value decomposition, 2016."""
        u, s, vh = results
        t, v = tangent, adjoint(vh)
        if shape_of(u)[-1] != shape_of(vh)[-2]:
            raise UnsupportedOp(
                "irax.svd: the singular vectors that complete U or V to a square matrix have no "
                "derivative, any basis would do; pass full_matrices=False"
            )
        if 0 in shape_of(t):
            return [zeros_like(x) for x in results]
        inner = matmul(adjoint(u), matmul(t, v))
        extents = shape_of(inner)
        across, down = along(s, extents, 2), along(s, extents, 1)
        # 1 / (s_j**2 - s_i**2) in factors: a square may overflow.
        difference = elementwise.subtract(across, down)
        gaps = adapted(reciprocal_beside_diagonal(difference), t)
        share = elementwise.multiply(across, reciprocal_or_zero(elementwise.add(across, down)))
        other = elementwise.multiply(down, reciprocal_or_zero(elementwise.add(across, down)))
        by_column = elementwise.multiply(inner, adapted(share, t))
        by_row = elementwise.multiply(inner, adapted(other, t))
        d_u = elementwise.multiply(gaps, elementwise.add(by_column, adjoint(by_column)))
        d_v = elementwise.multiply(gaps, elementwise.add(by_row, adjoint(by_row)))
        inverse = adapted(reciprocal_or_zero(s), t)
        if dtype_of(t).kind == "c":
            slanted = where(on_diagonal(extents), inner)
            turn = triangular.scaled(elementwise.subtract(slanted, adjoint(slanted)), 0.5)
            d_u = elementwise.add(d_u, elementwise.multiply(turn, along(inverse, extents, 2)))
        d_u, d_v = matmul(u, d_u), matmul(v, d_v)
        *_, m, n = shape_of(t)
        k = extents[-1]
        if m > k:
            d_u = elementwise.add(d_u, _outside(matmul(t, v), u, inverse))
        if n > k:
            d_v = elementwise.add(d_v, _outside(matmul(adjoint(t), u), v, inverse))
        return [d_u, elementwise.real(diagonal(inner)), adjoint(d_v)]


def _outside(x: Value, basis: Value, inverse: Value) -> Value:
    """The part of the columns that is not in a space, divided by the singular values."""
    rest = elementwise.subtract(x, matmul(basis, matmul(adjoint(basis), x)))
    return elementwise.multiply(rest, along(inverse, shape_of(rest), 2))


# ---- rotations -----------------------------------------------------------------------------------

SWEEPS = 12
"""The number of sweeps of rotations over all pairs; off-diagonal elements decrease quadratically at
the end."""


def _jacobi(a: Value) -> Sequence[Value]:
    """Rotations of n/2 pairs at a time, each of one row and column of the first half with one of
    the second; between the steps all but the first move on by a place, as in a tournament
    (R. P. Brent and F. T. Luk, 1985).
    """
    *batch, n, _ = shape_of(a)
    dtype = dtype_of(a)
    if 0 in shape_of(a):
        return [a, full((*batch, n), 0, real_dtype(dtype))]
    half = triangular.half_diagonal(a)
    a = elementwise.add(half, adjoint(half))
    even = n + n % 2
    size = len(batch)
    if even != n:  # a row and a column that are never rotated
        high = (*[0] * size, 1, 1)
        low = (0,) * (size + 2)
        a = slicing.Pad(low, high, low)(a, full((), 0, dtype))
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

    start = [zero, a, identity(a)]
    _, turned, vectors = while_loop(lambda step, *_: comparison.less(step, limit), advance, start)
    values = elementwise.real(diagonal(turned))
    if even != n:  # the whole tournament has brought it back to the end
        values = slicing.slice_in_dim(values, 0, n, size)
        vectors = part(vectors, slice(0, n), slice(0, n))
    places = sort.numbers_along(values, size)
    values, order = sort.Sort(size, True, sort.Order()).build([values, places])
    columns = along(order, shape_of(vectors), 2)
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
    corner = part(a, slice(0, half), slice(half, n))
    on = on_diagonal(shape_of(corner))
    p, q = (elementwise.real(diagonal(part(a, r, r))) for r in (slice(0, half), slice(half, n)))
    between = diagonal(corner)
    size = elementwise.abs(between)
    nothing = comparison.equal(size, zeros_like(size))
    safe = comparison.select(nothing, full_like(size, 1), size)
    ratio = elementwise.divide(elementwise.subtract(q, p), triangular.scaled(safe, 2))
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
        wide = along(conversion.convert(v, dtype_of(a)), shape_of(corner), 1)
        return where(on, wide)

    last = len(batch) + 1
    upper = slicing.Concatenate(last)(spread(cosine), spread(sine))
    lower = slicing.Concatenate(last)(
        elementwise.negate(elementwise.conjugate(spread(sine))), spread(cosine)
    )
    return slicing.Concatenate(last - 1)(upper, lower)
