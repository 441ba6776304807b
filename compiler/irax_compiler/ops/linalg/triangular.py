"""Triangular matrices: cholesky and triangular_solve, of the last two dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import Any

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import comparison, dot, elementwise, shape
from irax_compiler.ops.attributes import FLAG, attribute, keyword
from irax_compiler.ops.core import Axis, Linear, Op, Tangent, full_like, only, zeros_like
from irax_compiler.ops.links import Links, Pairs, Use, places
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.scipy_modules import scipy_module
from irax_compiler.ops.sharding_rule import Shape, ShardingRule, of_equations, of_matrices
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation, Transposition

# ---- matrices in the IR --------------------------------------------------------------------------


def matmul(x: Value, y: Value) -> Value:
    """The product of matrices, for each index of the dimensions before the last two."""
    rank = len(shape_of(x))
    batch = tuple(range(rank - 2))
    dims = dot.DotDimensions(batch, batch, (rank - 1,), (rank - 2,))
    return dot.DotGeneral(dims, dtype_of(x), ("HIGHEST", "HIGHEST"), None)(x, y)


def transposed(x: Value) -> Value:
    """The last two dimensions exchanged."""
    rank = len(shape_of(x))
    return shape.transpose(x, [*range(rank - 2), rank - 1, rank - 2])


def adjoint(x: Value) -> Value:
    """The conjugate of the transpose."""
    return elementwise.conjugate(transposed(x))


def triangle(x: Value, lower: bool = True, offset: int = 0) -> Value:
    """Zeros but in the lower (or upper) triangle, whose border is `offset` above the diagonal."""
    extents = shape_of(x)
    rank, int32 = len(extents), np.dtype(np.int32)
    row, column = (shape.Iota(extents, int32, d)() for d in (rank - 2, rank - 1))
    row = elementwise.add(row, full_like(row, offset))
    compare = comparison.greater_equal if lower else comparison.less_equal
    return comparison.select(compare(row, column), x, zeros_like(x))


def half_diagonal(x: Value) -> Value:
    """The lower triangle, with half the diagonal."""
    strictly = triangle(x, offset=-1)
    diagonal = elementwise.subtract(triangle(x), strictly)
    return elementwise.add(strictly, scaled(diagonal, 0.5))


def scaled(x: Value, factor: float) -> Value:
    """A multiple."""
    return elementwise.multiply(x, full_like(x, factor))


def one_side_batched(op: Op, a: Value, b: Value, axis: Axis, place: int):
    """Solve equations with the same matrices for all lanes by making the lanes further right hand
    sides: columns of b (`place` -1, where the lanes go) or rows (-3).
    """
    moved = shape.move_axis(b, axis, len(shape_of(b)) + place)
    extents = shape_of(moved)
    *batch, i, j, k = extents
    flat = (*batch, i, j * k) if place == -1 else (*batch, i * j, k)
    (x,) = op.build([a, shape.reshape(moved, flat)])
    return [shape.reshape(x, extents)], [len(extents) + place]


# ---- cholesky ------------------------------------------------------------------------------------


@register_class
@dataclass(frozen=True)
class Cholesky(Op):
    """The triangular matrix L with L L^H = A (U^H U = A), of the lower (upper) triangle of A; its
    triangle is nan where A is not positive definite.
    """

    name = "stablehlo.cholesky"
    superlinear = True
    needs_whole = True
    lower: bool = attribute(FLAG, default=False)

    def sized_types(self, operands: Sequence[Value]):
        return [operands[0].type]

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        return of_matrices(operands, results)

    def zeros(self, use: Use, zeros: Sequence[np.ndarray | None]) -> np.ndarray:
        n = use.shape[-1]
        beyond = ~np.tri(n, dtype=bool)
        return np.broadcast_to(beyond if self.lower else beyond.T, tuple(use.shape))

    @classmethod
    def flops(cls, operation: Operation) -> float:
        extents = shape_of(operation.operands[0])
        return prod(extents) * extents[-1] / 3

    def evaluate(self, call: Evaluation, x: np.ndarray) -> np.ndarray:
        a = x if self.lower else np.conj(np.swapaxes(x, -1, -2))
        result = np.empty(a.shape, a.dtype)
        for place in np.ndindex(*a.shape[:-2]):
            try:
                result[place] = np.linalg.cholesky(a[place])
            except np.linalg.LinAlgError:
                result[place] = np.tril(np.full_like(result[place], np.nan))
        return result if self.lower else np.conj(np.swapaxes(result, -1, -2))

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        """L Phi(L^-1 dA L^-H), where Phi is the lower triangle with half the diagonal (I. Murray,
        Differentiation of the Cholesky decomposition, 2016, eq. 8).
        """
        results = transform.results(self, primals)
        t = only(tangents)
        factor = results[0]
        if not self.lower:
            t, factor = adjoint(t), adjoint(factor)
        half = half_diagonal(t)
        whole = elementwise.add(half, adjoint(half))  # the triangle stands for all of it
        solve = TriangularSolve(True, True, False, "NO_TRANSPOSE")
        from_right = TriangularSolve(False, True, False, "ADJOINT")
        inner = from_right(factor, solve(factor, whole))
        strictly = triangle(inner, offset=-1)
        phi = elementwise.add(
            strictly, scaled(elementwise.subtract(triangle(inner), strictly), 0.5)
        )
        tangent = matmul(factor, phi)
        return results, [tangent if self.lower else adjoint(tangent)]

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        return self.build([shape.move_axis(operands[0], axes[0], 0)]), [0]


# ---- triangular_solve ----------------------------------------------------------------------------


_MOST_LINKS = 1 << 22
"""The most products of a solve that are linked one by one."""


@register_class
@dataclass(frozen=True)
class TriangularSolve(Op):
    """The X with op(A) X = B, or X op(A) = B, where A is a triangle of the first operand."""

    name = "stablehlo.triangular_solve"
    superlinear = True
    needs_whole = True
    linear_in = (1,)
    links_by_zeros = True
    left_side: bool = attribute(FLAG, default=False)
    lower: bool = attribute(FLAG, default=False)
    unit_diagonal: bool = attribute(FLAG, default=False)
    transpose_a: str = attribute(keyword("transpose"), default="NO_TRANSPOSE")
    """The op on A: NO_TRANSPOSE, TRANSPOSE or ADJOINT."""

    def sized_types(self, operands: Sequence[Value]):
        return [operands[1].type]

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        rank = len(operands[1])
        return of_equations(rank - 1 if self.left_side else rank - 2, operands, results)

    def links(self, use: Use) -> Links:
        *_, n, columns = use.shape if self.left_side else (*use.shape[:-2], *use.shape[:-3:-1])
        if use.number == 0 or prod(use.shape[:-2]) * n * n * columns > _MOST_LINKS:
            return super().links(use)
        reaches = self._reaches(use.values[0], use.operands[0])
        number = places(use.shape)
        if not self.left_side:
            reaches, number = np.swapaxes(reaches, -1, -2), np.swapaxes(number, -1, -2)
        *batch, to, of = np.nonzero(reaches)
        results, operands = (number[(*batch, i)].reshape(-1) for i in (to, of))
        return [Pairs(results, operands, prod(use.shape))]

    def zeros(self, use: Use, zeros: Sequence[np.ndarray | None]) -> np.ndarray | None:
        if zeros[1] is None or prod(use.operands[0]) > _MOST_LINKS:
            return None
        matrix = None if zeros[0] is None else ~zeros[0]
        reaches, there = (
            x.astype(np.float64) for x in (self._reaches(matrix, use.operands[0]), ~zeros[1])
        )
        return (reaches @ there if self.left_side else there @ reaches) == 0

    def _reaches(self, a: np.ndarray | None, shape: Shape) -> np.ndarray:
        """The places of the inverse of op(A) where it may be other than zero, for those of A where
        that is; if A is not known, a triangle.
        """
        lower, n = self.lower == (self.transpose_a == "NO_TRANSPOSE"), shape[-1]
        there = np.ones(tuple(shape), bool) if a is None else a != 0
        if self.transpose_a != "NO_TRANSPOSE":
            there = np.swapaxes(there, -1, -2)
        found = np.broadcast_to(np.eye(n, dtype=bool), tuple(shape)).copy()
        for i in range(n) if lower else reversed(range(n)):
            known = slice(0, i) if lower else slice(i + 1, n)
            before = there[..., i, known, None] & found[..., known, :]
            found[..., i, :] |= before.any(-2)
        return found

    @classmethod
    def flops(cls, operation: Operation) -> float:
        a, b = map(shape_of, operation.operands)
        return prod(b) * a[-1]

    def evaluate(self, call: Evaluation, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        solve = _blas(a.dtype)
        if solve is None:
            return self._substituted(a, b)
        options: dict[str, Any] = {
            "side": 0 if self.left_side else 1,
            "lower": int(self.lower),
            "trans_a": ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT").index(self.transpose_a),
            "diag": int(self.unit_diagonal),
        }
        result = np.empty(b.shape, b.dtype)
        if b.size:
            for place in np.ndindex(*b.shape[:-2]):
                result[place] = solve(1, a[place], b[place], **options)
        return result

    def _substituted(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Solve row by row."""
        lower = self.lower
        if self.transpose_a != "NO_TRANSPOSE":
            a, lower = np.swapaxes(a, -1, -2), not lower
            a = np.conj(a) if self.transpose_a == "ADJOINT" else a
        if not self.left_side:  # x a = b is a^T x^T = b^T
            a, b, lower = np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2), not lower
        x, n = b.copy(), b.shape[-2]
        for k in range(n) if lower else reversed(range(n)):
            known = slice(0, k) if lower else slice(k + 1, n)
            x[..., k : k + 1, :] -= a[..., k : k + 1, known] @ x[..., known, :]
            if not self.unit_diagonal:
                x[..., k, :] /= a[..., k, k, None]
        return x if self.left_side else np.swapaxes(x, -1, -2)

    def _op(self, a: Value) -> Value:
        """The triangle that counts, turned as `transpose_a` says."""
        a = triangle(a, self.lower, 0 if not self.unit_diagonal else (-1 if self.lower else 1))
        if self.transpose_a == "TRANSPOSE":
            return transposed(a)
        return adjoint(a) if self.transpose_a == "ADJOINT" else a

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        a, _ = primals
        t_a, t_b = tangents
        right = t_b
        if t_a is not None:
            x, moved = results[0], self._op(t_a)
            product = matmul(moved, x) if self.left_side else matmul(x, moved)
            right = elementwise.negate(product)
            if t_b is not None:
                right = elementwise.subtract(t_b, product)
        assert right is not None
        return results, [self(a, right)]

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        a, _ = operands
        assert isinstance(a, Value)
        ct = only(cotangents)
        if self.transpose_a == "ADJOINT":
            plain = replace(self, transpose_a="NO_TRANSPOSE")
            return [None, elementwise.conjugate(plain(a, elementwise.conjugate(ct)))]
        turned = "TRANSPOSE" if self.transpose_a == "NO_TRANSPOSE" else "NO_TRANSPOSE"
        return [None, replace(self, transpose_a=turned)(a, ct)]

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        a, b = operands
        if axes[0] is None:
            return one_side_batched(self, a, b, axes[1], -1 if self.left_side else -3)
        operands, axis = shape.align(transform.size, operands, axes)
        return self.build([shape.move_axis(x, axis, 0) for x in operands]), [0]


@cache
def _blas(dtype: np.dtype) -> Any:
    """BLAS's solver: unlike LAPACK's, it takes singular matrices, as XLA does. It is
    None where SciPy is missing.
    """
    blas = scipy_module("linalg.blas")
    return None if blas is None else blas.get_blas_funcs("trsm", dtype=dtype)
