"""LU factorization, and the solution of linear equations by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import bitwise, comparison, elementwise, shape, slicing
from irax_compiler.ops.composite import ComposedOp, register_composed
from irax_compiler.ops.core import Axis, Linear, Tangent, full, only, zeros_like
from irax_compiler.ops.indexing.gather_scatter import Gather
from irax_compiler.ops.linalg import arithmetic
from irax_compiler.ops.linalg.matrices import (
    ALL,
    INT32,
    Factorization,
    along,
    exchanged,
    identity,
    largest_from,
    numbers,
    part,
    total,
    where,
)
from irax_compiler.ops.linalg.triangular import (
    TriangularSolve,
    matmul,
    one_side_batched,
    transposed,
    triangle,
)
from irax_compiler.ops.loop_builders import while_loop
from irax_compiler.ops.reductions.window_shapes import WindowDims
from irax_compiler.ops.scipy_modules import scipy_module
from irax_compiler.ops.sharding_rule import Shape, ShardingRule, of_equations
from irax_compiler.ops.structured import evaluate_definition
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation, Transposition
from irax_compiler.sizes import smaller

SOLVE_LOWER = TriangularSolve(True, True, True, "NO_TRANSPOSE")
SOLVE_UPPER = TriangularSolve(True, False, False, "NO_TRANSPOSE")
FROM_RIGHT_UPPER = TriangularSolve(False, False, False, "NO_TRANSPOSE")


@register_composed
@dataclass(frozen=True)
class Lu(Factorization):
    """P A = L U, by pivots of the largest size (the sum of both parts of complex numbers, as LAPACK
    has it): L (without the ones on its diagonal) and U in one matrix; for each column the row that
    was exchanged with it; and P as a permutation of rows.
    """

    name = "irax.lu"

    @classmethod
    def flops(cls, operation: Operation) -> float:
        return arithmetic.of_matrices(operation, arithmetic.lu)

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        (a,) = operands
        *batch, m, n = shape_of(a)
        depth = smaller(m, n)
        zero, one, limit = (full((), i, INT32) for i in (0, 1, depth))
        row, column = numbers((*batch, m, n), 2), numbers((*batch, m, n), 1)

        def advance(k: Value, a: Value, pivots: Value, order: Value) -> Sequence[Value]:
            at_k = shape.broadcast_scalar(k, (*batch, m, n))
            values = total(where(comparison.equal(column, at_k), a), 1)
            pivot = largest_from(_size(values), k)
            order = exchanged(order, k, pivot, 1)
            a = exchanged(a, k, pivot, 2)
            here = shape.broadcast_scalar(k, shape_of(pivots))
            at = comparison.equal(numbers(shape_of(pivots), 1), here)
            pivots = comparison.select(at, along(pivot, shape_of(pivots), 1), pivots)
            return [elementwise.add(k, one), _eliminated(a, row, column, at_k), pivots, order]

        start = [zero, a, full((*batch, depth), 0, INT32), numbers((*batch, m), 1)]
        _, factors, pivots, order = while_loop(
            lambda k, *_: comparison.less(k, limit), advance, start
        )
        return [factors, pivots, order]

    def evaluate(
        self, call: Evaluation, x: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        lapack = scipy_module("linalg.lapack")
        if lapack is None:
            factors, pivots, order = evaluate_definition(self, [x])
            return factors, pivots, order
        *batch, m, n = x.shape
        (getrf,) = lapack.get_lapack_funcs(("getrf",), dtype=x.dtype)
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
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        """With X = L^-1 P dA U^-1: dL = L tril(X, -1), dU = triu(X) U, of the square part."""
        results = transform.results(self, primals)
        factors, _, order = results
        *batch, m, n = shape_of(factors)
        if 0 in (m, n):
            return results, [zeros_like(factors), None, None]
        k = smaller(m, n)
        moved = rows_taken(only(tangents), order)
        square = part(factors, slice(0, k), slice(0, k))
        left = SOLVE_LOWER(square, part(moved, slice(0, k), ALL))
        x = FROM_RIGHT_UPPER(square, part(left, ALL, slice(0, k)))
        below, above = triangle(x, offset=-1), triangle(x, lower=False)
        unit_lower = elementwise.add(triangle(square, offset=-1), identity(square))
        d_lower = matmul(unit_lower, below)
        d_upper = matmul(above, triangle(square, lower=False))
        tangent = elementwise.add(d_lower, d_upper)
        if m > k:
            rest = part(moved, slice(k, None), ALL)
            d_rest = FROM_RIGHT_UPPER(square, rest)
            d_rest = elementwise.subtract(d_rest, matmul(part(factors, slice(k, None), ALL), above))
            tangent = slicing.Concatenate(len(batch))(tangent, d_rest)
        if n > k:
            rest = part(factors, ALL, slice(k, None))
            d_rest = elementwise.subtract(part(left, ALL, slice(k, None)), matmul(below, rest))
            tangent = slicing.Concatenate(len(batch) + 1)(tangent, d_rest)
        return results, [tangent, None, None]


def _size(x: Value) -> Value:
    if dtype_of(x).kind != "c":
        return elementwise.abs(x)
    return elementwise.add(*(elementwise.abs(p(x)) for p in (elementwise.real, elementwise.imag)))


def _eliminated(a: Value, row: Value, column: Value, at_k: Value) -> Value:
    """One step: column k below the diagonal divided by its pivot, and the rest reduced; a pivot of
    zero, below which all is zero, leaves the rest as it is.
    """
    extents = shape_of(a)
    this_row, this_column = comparison.equal(row, at_k), comparison.equal(column, at_k)
    pivot_row = along(total(where(this_row, a), 2), extents, 2)
    pivot_column = along(total(where(this_column, a), 1), extents, 1)
    corner = along(total(where(this_column, pivot_row), 1), extents, 1)
    is_zero = comparison.equal(corner, zeros_like(corner))
    ratio = elementwise.divide(pivot_column, corner)
    ratio = comparison.select(is_zero, zeros_like(ratio), ratio)
    below, after = comparison.greater(row, at_k), comparison.greater(column, at_k)
    reduced = elementwise.subtract(a, elementwise.multiply(ratio, pivot_row))
    a = comparison.select(bitwise.and_(below, after), reduced, a)
    return comparison.select(bitwise.and_(below, this_column), ratio, a)


def rows_taken(x: Value, order: Value) -> Value:
    """The rows of a matrix in the order of their numbers."""
    extents = shape_of(x)
    if 0 in extents:
        return x
    *batch, _, n = extents
    rank, batch_dims = len(extents), tuple(range(len(batch)))
    dims = WindowDims(
        window_dims=(rank - 1,),
        collapsed_dims=(rank - 2,),
        operand_batching_dims=batch_dims,
        indices_batching_dims=batch_dims,
        index_map=(rank - 2,),
        index_vector_dim=rank - 1,
    )
    sizes = (*(1 for _ in batch), 1, n)
    return Gather(dims, sizes, indices_are_sorted=False)(x, order)


@register_composed
@dataclass(frozen=True)
class Solve(ComposedOp):
    """Solve A X = B for square matrices A; singular ones give the results of division by zero."""

    name = "irax.solve"
    superlinear = True
    needs_whole = True
    linear_in = (1,)

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        return of_equations(len(operands[1]) - 1, operands, results)

    @classmethod
    def flops(cls, operation: Operation) -> float:
        *_, n, columns = shape_of(operation.operands[1])
        return arithmetic.of_matrices(
            operation, lambda *mn: arithmetic.lu(*mn) + 2 * n**2 * columns
        )

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        a, b = operands
        return [_by_factors(Lu().build([a]), b)]

    def evaluate(self, call: Evaluation, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        try:
            return np.linalg.solve(a, b)
        except np.linalg.LinAlgError:
            factors, _, order = Lu().evaluate(call, a)
            b = np.take_along_axis(b, order[..., None], -2)
            return SOLVE_UPPER.evaluate(call, factors, SOLVE_LOWER.evaluate(call, factors, b))

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        """A dX = dB - dA X, solved by the same factors."""
        a, b = primals
        t_a, t_b = tangents
        factors = Lu().build([a])
        x = _by_factors(factors, b)
        right = t_b
        if t_a is not None:
            product = matmul(t_a, x)
            right = elementwise.negate(product)
            if t_b is not None:
                right = elementwise.subtract(t_b, product)
        assert right is not None
        return [x], [_by_factors(factors, right)]

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        a, _ = operands
        assert isinstance(a, Value)
        return [None, self(transposed(a), only(cotangents))]

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        a, b = operands
        if axes[0] is None:
            return one_side_batched(self, a, b, axes[1], -1)
        operands, axis = shape.align(transform.size, operands, axes)
        return self.build([shape.move_axis(x, axis, 0) for x in operands]), [0]


def _by_factors(factors: Sequence[Value], b: Value) -> Value:
    square, _, order = factors
    return SOLVE_UPPER(square, SOLVE_LOWER(square, rows_taken(b, order)))
