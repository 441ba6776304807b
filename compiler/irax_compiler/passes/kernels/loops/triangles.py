"""Cholesky factorizations and triangular solves of matrices in memory, by substitution.

Several rows, or several right sides, are computed at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.linalg.triangular import Cholesky, TriangularSolve
from irax_compiler.ops.registers import Registers, emit
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.kernels.code.loops import counted, for_loop, if_else
from irax_compiler.passes.kernels.code.places import numbers, plus
from irax_compiler.passes.kernels.loops import nests
from irax_compiler.passes.kernels.loops.arrays import Array
from irax_compiler.passes.kernels.loops.nests import LANES
from irax_compiler.passes.kernels.loops.stored import New
from irax_compiler.passes.rewriting import read_as, read_named
from irax_compiler.sizes import is_symbolic

ROWS = 128
"""The most rows of a matrix: of more, a library has better use of the caches."""
TOGETHER = 4
"""The most vectors of right sides that are computed together."""
FEW = 2
"""The most right sides that are solved one after the other, several rows at a time."""

APART = 32
"""The most rows of a matrix whose columns are read as they lie in memory: code that collects the
elements of many registers takes LLVM long."""

_INT64 = np.dtype(np.int64)


_KNOWN = Cholesky.name, TriangularSolve.name


def is_known(operation: Operation) -> bool:
    """True for a factorization of real matrices of few rows, or a solve with them."""
    if read_named(_KNOWN, operation) is None:
        return False
    is_real = dtype_of(operation.operands[0]) in (np.float32, np.float64)
    extents = [n for x in operation.operands for n in shape_of(x)]
    if not is_real or any(map(is_symbolic, extents)) or 0 in extents:
        return False
    return shape_of(operation.operands[0])[-1] <= ROWS


def work(operation: Operation) -> int:
    """Return the multiplications that an operation takes."""
    return int(traits_of(operation).flops(operation)) if is_known(operation) else 0


def built(operation: Operation, arrays: Sequence[Array], new: New) -> Array:
    """Lower `stablehlo.cholesky` or `stablehlo.triangular_solve`."""
    solve = read_as(TriangularSolve, operation)
    if solve is not None:
        a, b = arrays
        return _solved(solve, a, b, new)
    factorization = read_as(Cholesky, operation)
    assert factorization is not None
    (a,) = arrays
    return _factored(factorization, a, new)


def _turned(x: Array) -> Array:
    """Return an array with its last two dimensions exchanged."""
    rank = len(x.extents)
    return x.ordered((*range(rank - 2), rank - 1, rank - 2))


@dataclass(frozen=True)
class _Row:
    """A row of an array, a few elements at a time."""

    array: Array

    def read(self, chunk: range) -> Value:
        """Read some elements."""
        return self.array.place(registers.index(chunk.start)).read(len(chunk))

    def write(self, chunk: range, x: Value) -> None:
        """Write some elements."""
        place = self.array.place(registers.index(chunk.start))
        place.write(registers.spread(x, len(chunk)))


def _row(x: Array, i: Value) -> _Row:
    return _Row(x.row(i))


def _number(x: Array, i: Value, j: Value) -> Value:
    return x.row(i).place(j).read(1)


def _chunks(first: int, last: int) -> list[range]:
    """Divide numbers into those of registers."""
    return [range(i, min(i + LANES, last)) for i in range(first, last, LANES)]


def _less(total: Value, factor: Value, x: Value) -> Value:
    """Return `total - factor x`, for a negated factor."""
    wide = registers.spread(factor, registers.size_of(x))
    return emit("math.fma", wide, x, total)


def _divided(x: Value, by: Value) -> Value:
    return emit("arith.divf", x, registers.spread(by, registers.size_of(x)))


def _by_column(matrices: Array, new: New) -> Callable[[Array], Array]:
    """Return a function that copies a matrix so that its columns are side by side in memory, where
    they should be.
    """
    n, stride = matrices.extents[-1], matrices.strides[-2]
    if stride == 1 or n <= APART:
        return lambda matrix: matrix
    columns = new(matrices.dtype, (n, n))

    def copied(matrix: Array) -> Array:
        nests.copy(_turned(matrix), columns)
        return _turned(columns)

    return copied


# ---- factorizations ------------------------------------------------------------------------------


def _factored(op: Cholesky, array: Array, new: New) -> Array:
    """Return the factor, whose columns are side by side in memory if it is a lower one."""
    columns = new(array.dtype, array.extents)
    array = array if op.lower else _turned(array)
    side_by_side = _by_column(array, new)
    nests.each_part([array, columns], 2, lambda a, x: _factor(side_by_side(a), x))
    return _turned(columns) if op.lower else columns


def _factor(a: Array, columns: Array) -> None:
    """Write the columns of the factor L of a matrix of which the lower triangle counts as rows, one
    after the other: column j is that of the matrix, less those before it, each times its element j.
    """
    n = a.extents[0]
    good = registers.constant(np.asarray(True))
    for block in _chunks(0, n):
        before, chunks = _chunks(0, block.start), _chunks(block.start, n)

        def column(j: Value, flags: list[Value], before=before, chunks=chunks) -> Registers:
            rest, row = _row(_turned(a), j), _row(columns, j)

            def step(k: Value, totals: list[Value]) -> Registers:
                factor = emit("arith.negf", _number(columns, k, j))
                other = _row(columns, k)
                return [
                    _less(x, factor, other.read(c)) for c, x in zip(chunks, totals, strict=True)
                ]

            start = [rest.read(c) for c in chunks]
            found = for_loop(registers.index(0), j, 1, start, step)
            for c, x in zip(chunks, found, strict=True):
                row.write(c, x)
            pivot = _number(columns, j, j)
            root = emit("math.sqrt", pivot)
            zero = registers.number(0.0, pivot)
            for c, x in zip(chunks, found, strict=True):
                row.write(c, _from(j, c, _divided(x, root)))
            for c in before:
                row.write(c, zero)
            return [emit("arith.andi", flags[0], registers.compare("GT", "f", pivot, zero))]

        (good,) = for_loop(
            registers.index(block.start), registers.index(block.stop), 1, [good], column
        )
    bad = emit("arith.xori", good, registers.constant(np.asarray(True)))
    if_else(bad, lambda: _fill(columns, np.nan))


def _from(j: Value, chunk: range, x: Value) -> Value:
    """Return elements from number j on, and zeros before it."""
    own = numbers(registers.index(chunk.start), np.arange(len(chunk)), _INT64)
    first = numbers(j, np.zeros(1, np.int64), _INT64)
    is_after = registers.compare("GE", "i", own, registers.spread(first, len(chunk)))
    return registers.select(is_after, x, registers.number(0.0, x))


def _fill(columns: Array, number: float) -> None:
    """Fill the triangle of a matrix from its diagonal on."""
    n = columns.extents[0]
    value = registers.constant(np.asarray(number, columns.dtype))

    def fill(j: Value, _: list[Value]) -> Registers:
        for c in _chunks(0, n):
            _row(columns, j).write(c, _from(j, c, registers.spread(value, len(c))))
        return []

    counted(n, 1, [], fill)


# ---- solutions -----------------------------------------------------------------------------------


def _solved(op: TriangularSolve, a: Array, b: Array, new: New) -> Array:
    """Return the solution, whose right sides are side by side in memory if there are several."""
    is_turned = op.transpose_a != "NO_TRANSPOSE"
    a, lower = (_turned(a), not op.lower) if is_turned else (a, op.lower)
    if not op.left_side:  # X A = B is A^T X^T = B^T
        a, b, lower = _turned(a), _turned(b), not lower
    *batch, n, columns = b.extents
    if columns > FEW:
        found = new(b.dtype, b.extents)
        nests.each_part(
            [a, b, found], 2, lambda a, b, x: _by_rows(a, b, x, lower, op.unit_diagonal)
        )
    else:
        found = _turned(new(b.dtype, (*batch, columns, n)))
        rest, unit = new(b.dtype, (n,)), op.unit_diagonal
        side_by_side = _by_column(a, new)
        nests.each_part(
            [a, b, found],
            2,
            lambda a, b, x: _by_columns(side_by_side(a), b, x, rest, lower, unit),
        )
    return found if op.left_side else _turned(found)


def _by_rows(a: Array, b: Array, x: Array, lower: bool, is_unit: bool) -> None:
    """Write the rows of the solution, each of which is that of B, less those before it."""
    columns, size = b.extents[1], TOGETHER * LANES
    whole = columns - columns % size
    zero = registers.index(0)

    def part(first: Value, count: int) -> None:
        taken, given = (y.part([zero, first], (y.extents[0], count)) for y in (b, x))
        _substitute(a, taken, given, lower, is_unit)

    def visit(first: Value, _: list[Value]) -> Registers:
        part(first, size)
        return []

    if whole:
        counted(whole, size, [], visit)
    if whole < columns:
        part(registers.index(whole), columns - whole)


def _substitute(a: Array, b: Array, x: Array, lower: bool, is_unit: bool) -> None:
    n, columns = b.extents
    chunks = _chunks(0, columns)

    def visit(number: Value, _: list[Value]) -> Registers:
        i = number if lower else emit("arith.subi", registers.index(n - 1), number)

        def step(k: Value, totals: list[Value]) -> Registers:
            factor, known = emit("arith.negf", _number(a, i, k)), _row(x, k)
            return [_less(y, factor, known.read(c)) for c, y in zip(chunks, totals, strict=True)]

        row = _row(b, i)
        start = [row.read(c) for c in chunks]
        first, last = (registers.index(0), i) if lower else (plus(i, 1), registers.index(n))
        found = for_loop(first, last, 1, start, step)
        for c, y in zip(chunks, found, strict=True):
            _row(x, i).write(c, y if is_unit else _divided(y, _number(a, i, i)))
        return []

    counted(n, 1, [], visit)


def _by_columns(a: Array, b: Array, x: Array, rest: Array, lower: bool, is_unit: bool) -> None:
    """Write each column of the solution, an element after the other: what it adds to the equations
    is taken from their right sides, which are kept in `rest`. From those of equations that are
    solved already, which nothing reads any more, it is taken, too.
    """

    def visit(column: Value, _: list[Value]) -> Registers:
        given, found = (_turned(y).row(column) for y in (b, x))
        nests.copy(given, rest)
        _eliminate(a, rest, found, lower, is_unit)
        return []

    counted(b.extents[1], 1, [], visit)


def _eliminate(a: Array, rest: Array, x: Array, lower: bool, is_unit: bool) -> None:
    n = a.extents[0]
    blocks = _chunks(0, n)
    for block in blocks if lower else reversed(blocks):
        chunks = [
            c for c in blocks if (c.start >= block.start if lower else c.start <= block.start)
        ]

        def visit(number: Value, _: list[Value], block=block, chunks=chunks) -> Registers:
            last = registers.index(block.stop - 1)
            j = plus(number, block.start) if lower else emit("arith.subi", last, number)
            value = rest.place(j).read(1)
            if not is_unit:
                value = _divided(value, _number(a, j, j))
            x.place(j).write(value)
            factor, column, sides = emit("arith.negf", value), _row(_turned(a), j), _Row(rest)
            for c in chunks:
                sides.write(c, _less(sides.read(c), factor, column.read(c)))
            return []

        counted(len(block), 1, [], visit)
