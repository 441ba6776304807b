"""Executables that convolve by products of matrices.

Windows in an array of float32 are the rows of a matrix that code of irax's multiplies where they
are (see `tiles`). For OpenBLAS, a workgroup copies the windows of some rows of the result into a
matrix, with a row for each window, and multiplies that by the kernel. So it needs memory for these
rows alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Block, Module, Operation, Type, Value
from irax_compiler.ops.registers import emit, index
from irax_compiler.ops.size_code import usual
from irax_compiler.passes.kernels.blas import tiles
from irax_compiler.passes.kernels.blas.library import Cblas, Library
from irax_compiler.passes.kernels.blas.strips import Strip
from irax_compiler.passes.kernels.blas.windows import Windows
from irax_compiler.passes.kernels.code.loops import for_each
from irax_compiler.passes.kernels.code.places import moved, plus, times
from irax_compiler.passes.kernels.executables import (
    SHARE,
    add_executable,
    base,
    long,
    share,
    workgroup,
)

TILE = 1 << 21
"""The most bytes of a workgroup's matrix of windows, unless one row of the result needs more."""


@dataclass(frozen=True)
class Tiles:
    """The division of a convolution among workgroups, and of their parts into tiles of some rows of
    the result.
    """

    windows: Windows
    workers: int

    @property
    def types(self) -> list[Type]:
        """Return the types of the dispatch's results: the convolution's, and scratch memory."""
        return [mlir.tensor_type(extents, self.windows.dtype) for extents in self._results]

    def _build_lines(self, arrays: Sequence[Value]) -> None:
        x, kernel, out = arrays
        windows, size = self.windows, self.windows.dtype.itemsize
        first, last = share(self._all_rows, self._share(self._groups), 0)
        strip = Strip(windows)
        line = strip.line(x) if windows.is_padded else self._line(x)
        result = moved(out, first, prod(windows.out[2:]) * size)
        windows.lines.build(first, last, line, kernel, result)

    def _line(self, x: Value) -> tiles.Line:
        """Build the place of a line in the array."""
        windows = self.windows
        _, height, width, features = windows.array
        rows, jump = windows.out[1], windows.dilation[0] * width * features

        def line(number: Value, part: tiles.Part) -> tiles.Place:
            image = emit("arith.divui", number, index(rows))
            top = times(emit("arith.remui", number, index(rows)), windows.strides[0])
            row = emit("arith.addi", times(image, height), top)
            start = moved(x, row, width * features * windows.dtype.itemsize)
            return windows.lines.at(start, part, jump)

        return line

    @property
    def _results(self) -> list[tuple[int, ...]]:
        if self.windows.is_of_lines:
            return [self.windows.out]
        of_windows = self._groups, self._rows * self.windows.out[2], self.windows.window
        return [self.windows.out, of_windows]

    @property
    def _all_rows(self) -> Any:
        return prod(self.windows.out[:2])

    @property
    def _groups(self) -> int:
        """The number of workgroups; where the number of rows is not known, some may have none."""
        if self.windows.is_sized:
            return self.workers
        wanted = min(self.workers, self.windows.operations // SHARE, self._all_rows)
        return -(-self._all_rows // self._share(max(1, wanted)))

    def _share(self, workers: int) -> Any:
        """The number of rows of a workgroup."""
        return -(-self._all_rows // workers)

    @property
    def _rows(self) -> int:
        """The number of rows of a tile."""
        of_group = usual(self._share(self._groups))
        of_row = self.windows.out[2] * self.windows.window * self.windows.dtype.itemsize
        tiles = -(-of_group * of_row // max(TILE, of_row))
        return -(-of_group // tiles)

    def add_executable(self, module: Module, name: str, sizes: Sequence[str] = ()) -> Operation:
        """Add the executable `name` to a module, with one function of the same name. Return it.
        `sizes` are the variables that shapes depend on.
        """
        windows = self.windows
        extents = windows.array, windows.kernel, *self._results
        bytes_of = [prod(x) * windows.dtype.itemsize for x in extents]

        def build(block: Block, bindings: list[Value]) -> None:
            pairs = zip(bindings, bytes_of, strict=True)
            arrays = [base(x, size) for x, size in pairs]
            if self.windows.is_of_lines:
                self._build_lines(arrays)
            else:
                self._build(Library(windows.dtype, block), arrays)

        groups = self._groups, 1
        return add_executable(module, name, groups, len(extents), build, sizes=sizes)

    def _build(self, library: Library, arrays: Sequence[Value]) -> None:
        windows, size = self.windows, self.windows.dtype.itemsize
        x, kernel, out, scratch = arrays
        columns, outputs = windows.out[2:]
        one, zero = library.scalar(1), library.scalar(0)
        matrix = moved(scratch, workgroup(0), self._rows * columns * windows.window * size)
        of_group = self._share(self._groups)
        first, last = share(self._all_rows, of_group, 0)

        def multiply(tile: Value) -> None:
            start = emit("arith.addi", first, times(tile, self._rows))
            end = emit("arith.minsi", plus(start, self._rows), last)
            for_each(start, end, lambda row: self._copy(library, x, row, start, matrix))
            count = emit("arith.subi", end, start)
            library.call(
                f"cblas_{library.letter}gemm",
                *(Cblas.ROW_MAJOR, Cblas.AS_IT_IS, Cblas.AS_IT_IS),
                *(long(times(count, columns)), outputs, windows.window),
                *(one, long(matrix), windows.window, long(kernel), outputs),
                *(zero, long(moved(out, start, columns * outputs * size)), outputs),
            )

        rows = emit("arith.subi", last, first)
        tiles = emit("arith.ceildivsi", rows, index(self._rows))
        for_each(index(0), tiles, multiply)

    def _copy(self, library: Library, x: Value, row: Value, start: Value, matrix: Value) -> None:
        """Copy the windows of a row of the result."""
        windows, size = self.windows, self.windows.dtype.itemsize
        _, height, width, features = windows.array
        rows, columns = windows.out[1:3]
        image = emit("arith.divui", row, index(rows))
        top = times(emit("arith.remui", row, index(rows)), windows.strides[0])
        line = emit("arith.addi", times(image, height), top)
        source = moved(x, line, width * features * size)
        target = moved(matrix, emit("arith.subi", row, start), columns * windows.window * size)
        joined = windows.dilation[1] == 1
        count = windows.kernel[1] * features if joined else features

        def copy(column: Value) -> None:
            read = moved(source, column, windows.strides[1] * features * size)
            write = moved(target, column, windows.window * size)
            for i in range(windows.kernel[0]):
                for j in range(1 if joined else windows.kernel[1]):
                    place = (i * windows.dilation[0] * width + j * windows.dilation[1]) * features
                    to = (i * windows.kernel[1] + j) * features
                    addresses = plus(read, place * size), plus(write, to * size)
                    a, b = map(long, addresses)
                    library.call(f"cblas_{library.letter}copy", count, a, 1, b, 1)

        for_each(index(0), index(columns), copy)
