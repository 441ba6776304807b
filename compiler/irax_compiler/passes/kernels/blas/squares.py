"""Transposes of square matrices, which may be in their own memory."""

from __future__ import annotations

from irax_compiler.mlir import Value
from irax_compiler.ops.registers import emit, index
from irax_compiler.passes.kernels.blas.lapack import Array, Lapack
from irax_compiler.passes.kernels.blas.library import Cblas
from irax_compiler.passes.kernels.code.loops import for_each
from irax_compiler.passes.kernels.code.places import plus, times
from irax_compiler.passes.kernels.executables import long

SMALL = 64
"""The most rows of a matrix that OpenBLAS transposes in place, element by element. The fastest
cache does not hold more."""
BLOCK = 32
"""The rows and columns of a block, of which there is a copy while it is exchanged with another."""


def block_of(n: int, size: int) -> list[int]:
    """The bytes of the memory that `transpose` needs for n rows of numbers of a size, if any."""
    return [BLOCK * BLOCK * size] if n > SMALL else []


def transpose(lapack: Lapack, x: Array, n: int, to: Array, block: Array | None = None) -> None:
    """Transpose a matrix of n rows to other memory, or to the same.

    `block` is memory of the size that `block_of` says.
    """
    lapack.if_same(
        *(x, to),
        lambda: _transpose_in_place(lapack, to, n, block),
        lambda: lapack.transpose(x, n, n, to),
    )


def _transpose_in_place(lapack: Lapack, x: Array, n: int, block: Array | None) -> None:
    if block is None:
        order = Cblas.ROW_MAJOR, Cblas.TRANSPOSED
        lapack.call_blas("imatcopy", *order, n, n, lapack.one, x, n, n)
        return
    size = lapack.library.dtype.itemsize

    def move(source: Value, row: Value | int, to: Value, row_of_target: Value | int,
             extents: tuple[Value, Value], order: Cblas) -> None:  # fmt: skip
        of_source, of_target = (source, row), (to, row_of_target)
        shape = Cblas.ROW_MAJOR, order, *extents
        lapack.call_blas("omatcopy", *shape, lapack.one, *of_source, *of_target)

    def place(i: Value, j: Value) -> Value:
        row = emit("arith.addi", x.address, long(times(i, n * size)))
        return emit("arith.addi", row, long(times(j, size)))

    def extent(i: Value) -> Value:
        return long(emit("arith.minsi", plus(times(i, -1), n), index(BLOCK)))

    def exchange(i: Value, j: Value, is_other: bool) -> None:
        """Exchange the transposes of two blocks, or put that of one in its place."""
        a, b, rows, columns = place(i, j), place(j, i), extent(i), extent(j)
        move(a, n, block.address, rows, (rows, columns), Cblas.TRANSPOSED)
        if is_other:
            move(b, n, a, n, (columns, rows), Cblas.TRANSPOSED)
        move(block.address, rows, b, n, (columns, rows), Cblas.AS_IT_IS)

    def visit(i: Value) -> None:
        for_each(index(0), i, lambda j: exchange(i, j, True), BLOCK)
        exchange(i, i, False)

    for_each(index(0), index(n), visit, BLOCK)
