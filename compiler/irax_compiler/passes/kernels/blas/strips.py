"""Rows of images that a convolution's kernel pads, instead of the array as a whole."""

from __future__ import annotations

from dataclasses import dataclass

from irax_compiler.mlir import Value
from irax_compiler.ops.registers import emit, index
from irax_compiler.passes.kernels.blas import tiles
from irax_compiler.passes.kernels.blas.windows import Windows
from irax_compiler.passes.kernels.code.loops import for_each
from irax_compiler.passes.kernels.code.places import moved, plus, times
from irax_compiler.passes.kernels.executables import STACK, address


def pay(windows: Windows) -> bool:
    """Return True if the kernel of a convolution pads rows of images itself."""
    reads_rows = windows.is_of_lines and not windows.is_product
    return windows.is_padded and reads_rows and Strip(windows).bytes <= STACK


@dataclass(frozen=True)
class Strip:
    """Memory of a workgroup for the rows of an image that some rows of windows read, with the zeros
    before and behind them. Rows above and below an image are left out.
    """

    windows: Windows

    @property
    def bytes(self) -> int:
        """The size."""
        return self._rows * self._row * self.windows.dtype.itemsize

    @property
    def _rows(self) -> int:
        return self.windows.lines.segments_together

    @property
    def _row(self) -> int:
        """The number of elements of a row."""
        before, behind = self.windows.padding[1]
        return (before + self.windows.array[2] + behind) * self.windows.array[3]

    def line(self, x: Value) -> tiles.Line:
        """Allocate the memory, and build the place of a line in it, where its rows are copied."""
        windows, vector = self.windows, self.windows.lines.vector
        vectors = -(-self._rows * self._row // vector.lanes)
        memory = address(vector.memory(vectors * vector.lanes))
        for_each(
            index(0),
            index(vectors),
            lambda at: vector.store(vector.zeros(), moved(memory, at, vector.bytes)),
        )
        _, height, width, features = windows.array
        rows, step = windows.out[1], windows.dilation[0]
        (above, _), (before, _) = windows.padding
        inside = plus(memory, before * features * vector.size)

        def line(number: Value, part: tiles.Part) -> tiles.Place:
            image = emit("arith.divui", number, index(rows))
            start = times(emit("arith.remui", number, index(rows)), windows.strides[0])
            top = plus(emit("arith.addi", start, times(part.segment, step)), -above)
            missing = emit("arith.subi", index(0), top)
            left = emit("arith.subi", index(height), top)
            first = emit("arith.maxsi", emit("arith.ceildivsi", missing, index(step)), index(0))
            last = emit("arith.minsi", emit("arith.ceildivsi", left, index(step)), part.count)

            def copy(segment: Value) -> None:
                row = emit("arith.addi", top, times(segment, step))
                row = emit("arith.addi", row, times(image, height))
                source = moved(x, row, width * features * vector.size)
                target = moved(inside, segment, self._row * vector.size)
                vector.copy(source, target, width * features)

            for_each(first, last, copy)
            return tiles.Place(moved(memory, part.start, vector.size), self._row, first, last)

        return line
