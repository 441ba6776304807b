"""Legalizations of triangular solves and Cholesky factorizations, by a library or by blocked
algorithms.

The diagonal blocks are inverted all at once, by recursive halving; each block row of the solution
is then a product of matrices. Cholesky's diagonal blocks are eliminated column by column, in a
loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from irax_compiler.determinism import is_in_marked
from irax_compiler.importing import deferred
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import bitwise, comparison, elementwise, shape, slicing
from irax_compiler.ops.core import full, full_like, zeros_like
from irax_compiler.ops.linalg import triangular
from irax_compiler.ops.linalg.triangular import adjoint, matmul, transposed, triangle
from irax_compiler.ops.loop_builders import while_loop
from irax_compiler.ops.reductions import reduce
from irax_compiler.passes.host.host import host_call
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.rewriting import read_as

if TYPE_CHECKING:
    from irax_compiler.passes.kernels import matrices
else:
    (matrices,) = deferred("irax_compiler.passes.kernels", "matrices")

BLOCK = 32
MOST_BLOCKS = 16
"""The most blocks, which are made larger for larger matrices: each compiles to several
operations."""

FEW = 32
"""The most matrices for which a library is called once for each."""

INT32 = np.dtype(np.int32)


def _worth_a_call(operation: Operation) -> bool:
    """True if a call of a library pays: it takes microseconds for what takes seconds to compile,
    but many small matrices are faster in a batch; or if how many there are must not matter.
    """
    *batch, n, _ = shape_of(operation.operands[0])
    return n > BLOCK or prod(batch) <= FEW or is_in_marked(operation)


@legalizes("stablehlo.triangular_solve", kind="missing", of="IREE", reproduction="triangular_solve")
def triangular_solve_in_kernel(operation: Operation) -> Sequence[Value] | None:
    """Solve with small triangles in a kernel, by substitution, which IREE refuses."""
    return [matrices.dispatched(operation)] if matrices.is_known(operation) else None


@legalizes("stablehlo.cholesky", kind="missing", of="IREE", reproduction="cholesky")
def cholesky_in_kernel(operation: Operation) -> Sequence[Value] | None:
    """Factor small matrices in a kernel, which IREE refuses."""
    return [matrices.dispatched(operation)] if matrices.is_known(operation) else None


@legalizes("stablehlo.triangular_solve", kind="missing", of="IREE", reproduction="triangular_solve")
def triangular_solve_on_host(operation: Operation) -> Sequence[Value] | None:
    """Call BLAS for a triangular solve, which IREE refuses."""
    op = read_as(triangular.TriangularSolve, operation)
    a, b = operation.operands
    if op is None or 0 in shape_of(b) or not _worth_a_call(operation):
        return None
    turned = ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT").index(op.transpose_a)
    flags = {"left_side": op.left_side, "lower": op.lower, "unit_diagonal": op.unit_diagonal}
    numbers: dict[str, Any] = {name: int(flag) for name, flag in flags.items()}
    return host_call("triangular_solve", [a, b], [b.type], transpose_a=turned, **numbers)


@legalizes("stablehlo.cholesky", kind="missing", of="IREE", reproduction="cholesky")
def cholesky_on_host(operation: Operation) -> Sequence[Value] | None:
    """Call LAPACK for a Cholesky factorization, which IREE refuses. Also for many small matrices,
    that takes half as long as a loop over the columns of all.
    """
    op = read_as(triangular.Cholesky, operation)
    (x,) = operation.operands
    if op is None or 0 in shape_of(x):
        return None
    return host_call("cholesky", [x], [x.type], lower=int(op.lower))


@legalizes("stablehlo.triangular_solve", kind="missing", of="IREE")
def triangular_solve(operation: Operation) -> Sequence[Value] | None:
    """Solve triangular systems by blocks, which IREE refuses otherwise."""
    op = read_as(triangular.TriangularSolve, operation)
    if op is None:
        return None
    a, b = operation.operands
    if 0 in shape_of(b):
        return [b]
    flat_a, flat_b = one_batch(a), one_batch(b)
    return [shape.reshape(_solved(op, flat_a, flat_b), shape_of(b))]


@legalizes("stablehlo.cholesky", kind="missing", of="IREE")
def cholesky(operation: Operation) -> Sequence[Value] | None:
    """Factor matrices by blocks, which IREE refuses otherwise."""
    op = read_as(triangular.Cholesky, operation)
    (x,) = operation.operands
    if op is None or 0 in shape_of(x):
        return None if op is None else [x]
    return [factored(x, op.lower, _factor)]


def factored(x: Value, lower: bool, factor: Callable[[Value], Value]) -> Value:
    """Factor matrices by a function that returns the lower factors of a batch."""
    flat = one_batch(x)
    found = factor(flat if lower else adjoint(flat))
    return shape.reshape(found if lower else adjoint(found), shape_of(x))


def one_batch(x: Value) -> Value:
    """Merge all batch dimensions into one."""
    *batch, m, n = shape_of(x)
    return shape.reshape(x, (prod(batch), m, n))


# ---- solving -------------------------------------------------------------------------------------


def _solved(op: triangular.TriangularSolve, a: Value, b: Value) -> Value:
    """Reduce all forms of triangular solve to A X = B with a lower A, and solve that."""
    if not op.left_side:
        turned = "NO_TRANSPOSE" if op.transpose_a != "NO_TRANSPOSE" else "TRANSPOSE"
        if op.transpose_a == "ADJOINT":  # X A^H = B is conj(A) X^T = B^T
            a = elementwise.conjugate(a)
        left = replace(op, left_side=True, transpose_a=turned)
        return transposed(_solved(left, a, transposed(b)))
    lower = op.lower
    if op.transpose_a != "NO_TRANSPOSE":
        a = adjoint(a) if op.transpose_a == "ADJOINT" else transposed(a)
        lower = not lower
    if not lower:  # read from the end it is lower
        a, b = slicing.Reverse((1, 2))(a), slicing.Reverse((1,))(b)
    x = _by_blocks(a, b, op.unit_diagonal)
    return x if lower else slicing.Reverse((1,))(x)


def _by_blocks(a: Value, b: Value, unit_diagonal: bool) -> Value:
    batch, n, _ = shape_of(a)
    size = min(BLOCK, 1 << (n - 1).bit_length())
    while size * MOST_BLOCKS < n:
        size *= 2
    count = -(-n // size)
    a = _padded(_lower(a, unit_diagonal), count * size)
    b = slicing.Pad((0, 0, 0), (0, count * size - n, 0), (0, 0, 0))(b, full((), 0, dtype_of(b)))
    diagonal = [_block(a, i, i, size) for i in range(count)]
    inverses = _inverse(diagonal[0] if count == 1 else slicing.Concatenate(0)(*diagonal))
    rows: list[Value] = []
    for i in range(count):
        right = slicing.slice_in_dim(b, i * size, (i + 1) * size, 1)
        if i:
            left = slicing.slice_(a, (0, i * size, 0), (batch, (i + 1) * size, i * size), (1, 1, 1))
            so_far = rows[0] if i == 1 else slicing.Concatenate(1)(*rows)
            right = elementwise.subtract(right, matmul(left, so_far))
        inverse = slicing.slice_in_dim(inverses, i * batch, (i + 1) * batch, 0)
        rows.append(matmul(inverse, right))
    x = rows[0] if count == 1 else slicing.Concatenate(1)(*rows)
    return slicing.slice_in_dim(x, 0, n, 1)


def _lower(a: Value, unit_diagonal: bool) -> Value:
    """Return the lower triangle, with ones on the diagonal if that is implied."""
    if not unit_diagonal:
        return triangle(a)
    strictly = triangle(a, offset=-1)
    return elementwise.add(strictly, _identity(a))


def _identity(like: Value) -> Value:
    extents = shape_of(like)
    row, column = (shape.Iota(extents, INT32, d)() for d in (1, 2))
    return comparison.select(comparison.equal(row, column), full_like(like, 1), zeros_like(like))


def _padded(a: Value, size: int) -> Value:
    """Extend matrices to a given size, with ones on the diagonal."""
    batch, n, _ = shape_of(a)
    if n == size:
        return a
    wide = slicing.Pad((0, 0, 0), (0, size - n, size - n), (0, 0, 0))(a, full((), 0, dtype_of(a)))
    row, column = (shape.Iota((batch, size, size), INT32, d)() for d in (1, 2))
    beyond = comparison.greater_equal(row, full_like(row, n))
    is_new = bitwise.and_(comparison.equal(row, column), beyond)
    return comparison.select(is_new, full_like(wide, 1), wide)


def _block(a: Value, i: int, j: int, size: int) -> Value:
    start = (0, i * size, j * size)
    end = (shape_of(a)[0], (i + 1) * size, (j + 1) * size)
    return slicing.slice_(a, start, end, (1, 1, 1))


def _inverse(a: Value) -> Value:
    """Invert lower triangular matrices, whose size is a power of two, by recursive halving: the
    lower left block of the inverse of [[A, 0], [C, B]] is -B^-1 C A^-1.
    """
    batch, n, _ = shape_of(a)
    if n == 1:
        return elementwise.divide(full_like(a, 1), a)
    half = n // 2
    both = slicing.Concatenate(0)(_block(a, 0, 0, half), _block(a, 1, 1, half))
    inverses = _inverse(both)
    first = slicing.slice_in_dim(inverses, 0, batch, 0)
    second = slicing.slice_in_dim(inverses, batch, 2 * batch, 0)
    corner = elementwise.negate(matmul(second, matmul(_block(a, 1, 0, half), first)))
    upper = slicing.Concatenate(2)(first, zeros_like(corner))
    return slicing.Concatenate(1)(upper, slicing.Concatenate(2)(corner, second))


# ---- factorizing ---------------------------------------------------------------------------------


def _factor(a: Value) -> Value:
    """Return the lower factor of [batch, n, n]; a triangle of nan where there is none."""
    batch, n, _ = shape_of(a)
    size = BLOCK
    while size * MOST_BLOCKS < n:
        size *= 2
    count = -(-n // size)
    if count == 1:
        return nan_if_any(_by_columns(a))
    rest = _padded(a, count * size)
    columns: list[Value] = []
    for k in range(count):
        corner = _block(rest, 0, 0, size)
        factor = _by_columns(corner)
        height = shape_of(rest)[1]
        if k == count - 1:
            column = factor
        else:
            below = slicing.slice_(rest, (0, size, 0), (batch, height, size), (1, 1, 1))
            below = matmul(below, adjoint(_inverse(factor)))
            column = slicing.Concatenate(1)(factor, below)
            trailing = slicing.slice_(rest, (0, size, size), (batch, height, height), (1, 1, 1))
            rest = elementwise.subtract(trailing, matmul(below, adjoint(below)))
        zero = full((), 0, dtype_of(column))
        columns.append(slicing.Pad((0, k * size, 0), (0, 0, 0), (0, 0, 0))(column, zero))
    whole = slicing.Concatenate(2)(*columns)
    return nan_if_any(slicing.slice_(whole, (0, 0, 0), (batch, n, n), (1, 1, 1)))


def _by_columns(a: Value) -> Value:
    """Factor a matrix column by column: column j is that of the remaining matrix, divided by the
    root of its diagonal element.
    """
    batch, n, _ = shape_of(a)
    zero, one, limit = (full((), i, INT32) for i in (0, 1, n))
    row = shape.Iota((batch, n), INT32, 1)()
    column = shape.Iota((batch, n, n), INT32, 2)()

    def advance(j: Value, left: Value, factor: Value) -> Sequence[Value]:
        here = comparison.equal(column, shape.broadcast_scalar(j, (batch, n, n)))
        kept = comparison.select(here, left, zeros_like(left))
        values = reduce.Reduce("add", (2,))(kept, full((), 0, dtype_of(left)))
        place = shape.broadcast_scalar(j, (batch, n))
        pivot = comparison.select(comparison.equal(row, place), values, zeros_like(values))
        pivot = reduce.Reduce("add", (1,))(pivot, full((), 0, dtype_of(left)))
        root = elementwise.sqrt(elementwise.real(pivot))
        if dtype_of(left).kind == "c":
            root = elementwise.complex_(root, zeros_like(root))
        scaled = elementwise.divide(values, shape.BroadcastInDim((batch, n), (0,))(root))
        below = comparison.greater_equal(row, place)
        scaled = comparison.select(below, scaled, zeros_like(scaled))
        down = shape.BroadcastInDim((batch, n, n), (0, 1))(scaled)
        across = shape.BroadcastInDim((batch, n, n), (0, 2))(elementwise.conjugate(scaled))
        return [
            elementwise.add(j, one),
            elementwise.subtract(left, elementwise.multiply(down, across)),
            comparison.select(here, down, factor),
        ]

    start = [zero, a, zeros_like(a)]
    _, _, factor = while_loop(lambda j, *_: comparison.less(j, limit), advance, start)
    return factor


def nan_if_any(factor: Value) -> Value:
    """Return lower triangles, filled with nan if a matrix contains one."""
    is_nan = comparison.not_equal(factor, factor)
    false = full((), False, np.dtype(np.bool_))
    bad = reduce.Reduce("or", (1, 2))(is_nan, false)
    everywhere = shape.BroadcastInDim(shape_of(factor), (0,))(bad)
    return triangle(comparison.select(everywhere, full_like(factor, np.nan), factor))
