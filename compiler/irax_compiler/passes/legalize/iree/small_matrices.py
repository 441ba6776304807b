"""Legalizations of triangular matrices of few rows, by unrolled substitution.

A call of a library function takes 30 us, and a loop without such calls can be a single kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import comparison, elementwise, shape, slicing
from irax_compiler.ops.core import full_like, zeros_like
from irax_compiler.ops.linalg import triangular
from irax_compiler.passes.legalize.iree.triangular import factored, nan_if_any, one_batch
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.rewriting import read_as

MOST_ROWS = 4


def is_small(a: Value) -> bool:
    """True for matrices of few rows."""
    return 0 < shape_of(a)[-1] <= MOST_ROWS and 0 not in shape_of(a)


@legalizes("stablehlo.triangular_solve", kind="missing", of="IREE", reproduction="triangular_solve")
def small_triangular_solve(operation: Operation) -> Sequence[Value] | None:
    """Unroll the substitution of a triangular solve, which IREE refuses."""
    op = read_as(triangular.TriangularSolve, operation)
    a, b = operation.operands
    if op is None or not is_small(a) or 0 in shape_of(b):
        return None
    matrix, right = one_batch(a), one_batch(b)
    if op.transpose_a == "ADJOINT" and dtype_of(a).kind == "c":
        matrix = elementwise.conjugate(matrix)
    is_turned = op.transpose_a != "NO_TRANSPOSE"
    # Of X A = B, the columns are the rows of A^T X^T = B^T.
    axis = 1 if op.left_side else 2
    swaps = is_turned == op.left_side
    n = shape_of(matrix)[1]
    first_to_last = op.lower != swaps
    solved: dict[int, Value] = {}
    for i in range(n) if first_to_last else reversed(range(n)):
        row = slicing.slice_in_dim(right, i, i + 1, axis)
        for j, known in solved.items():
            factor = _element(matrix, *((j, i) if swaps else (i, j)), shape_of(row))
            row = elementwise.subtract(row, elementwise.multiply(factor, known))
        if not op.unit_diagonal:
            row = elementwise.divide(row, _element(matrix, i, i, shape_of(row)))
        solved[i] = row
    x = _joined([solved[i] for i in range(n)], axis)
    return [shape.reshape(x, shape_of(b))]


@legalizes("stablehlo.cholesky", kind="missing", of="IREE", reproduction="cholesky")
def small_cholesky(operation: Operation) -> Sequence[Value] | None:
    """Unroll a Cholesky factorization, which IREE refuses."""
    op = read_as(triangular.Cholesky, operation)
    (x,) = operation.operands
    if op is None or not is_small(x):
        return None
    return [factored(x, op.lower, lambda a: nan_if_any(_factor(a)))]


def _factor(a: Value) -> Value:
    """Return the lower factor of [batch, n, n]; nan where there is none."""
    batch, n, _ = shape_of(a)
    one = (batch, 1, 1)
    factor: dict[tuple[int, int], Value] = {}
    for j in range(n):
        for i in range(j, n):
            rest = _element(a, i, j, one)
            for k in range(j):
                product = elementwise.multiply(factor[i, k], elementwise.conjugate(factor[j, k]))
                rest = elementwise.subtract(rest, product)
            factor[i, j] = _root(rest) if i == j else elementwise.divide(rest, factor[j, j])
    zero = zeros_like(factor[0, 0])
    rows = [_joined([factor.get((i, j), zero) for j in range(n)], 2) for i in range(n)]
    return _joined(rows, 1)


def _root(x: Value) -> Value:
    """Return the square root of the real part; nan where that is not positive."""
    if dtype_of(x).kind == "c":
        root = _root(elementwise.real(x))
        return elementwise.complex_(root, zeros_like(root))
    is_positive = comparison.greater(x, zeros_like(x))
    return comparison.select(is_positive, elementwise.sqrt(x), full_like(x, np.nan))


def _element(a: Value, i: int, j: int, extents: tuple[int, ...]) -> Value:
    """Return element i, j of each matrix, for each pair in an array of positions."""
    batch = shape_of(a)[0]
    one = slicing.slice_(a, (0, i, j), (batch, i + 1, j + 1), (1, 1, 1))
    return shape.BroadcastInDim(extents, (0, 1, 2))(one)


def _joined(parts: Sequence[Value], axis: int) -> Value:
    return parts[0] if len(parts) == 1 else slicing.Concatenate(axis)(*parts)
