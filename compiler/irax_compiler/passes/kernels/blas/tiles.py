"""Products of matrices of floats as code, tile by tile, for processors with wide vectors.

OpenBLAS lays out both factors anew before it multiplies them, which takes a good part of the time
where the right one has few columns. The code here lays out a panel of the right factor, of as many
columns as a few vectors have, and reads the left one where it is: the sums of a tile of the result
are all in registers. So the rows of the left factor may overlap, as the windows of a convolution
do. The design is that of "Anatomy of High-Performance Matrix Multiplication" (K. Goto and R. van de
Geijn, 2008) without the copy of the left factor.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from irax_compiler import chips
from irax_compiler.chips import VectorRegisters
from irax_compiler.mlir import Value
from irax_compiler.ops.registers import constant, emit, equal, index
from irax_compiler.passes.kernels.blas import amx
from irax_compiler.passes.kernels.blas.panels import Masks, Matrix, Panels, Part
from irax_compiler.passes.kernels.blas.tile_shapes import Shape
from irax_compiler.passes.kernels.blas.vector import Vector, add_pairs
from irax_compiler.passes.kernels.code.loops import for_each, for_loop, if_else
from irax_compiler.passes.kernels.code.memory import load, store
from irax_compiler.passes.kernels.code.places import least, moved, plus, times
from irax_compiler.passes.kernels.executables import address

PANELS, TOGETHER = 1 << 18, 4
"""The most bytes of the panels that are laid out together, which stay in a core's cache of the
second level, and their number at most."""
ADDED = 1024
"""The most products that are added one by one: sums of more lose digits of float32."""
PART = 256
"""The most rows of a panel whatever its shape: tiles of the widest vectors have as many."""
FEWEST_COLUMNS = 8
"""The fewest columns for which a panel pays."""
FEW_ROWS = 8
"""The rows of a tile of fewer columns."""


@dataclass(frozen=True)
class Lines:
    """Products of lines of rows by a matrix. The rows of a line are at equal distances in memory.
    A row has segments of elements at equal distances. All distances are in elements.
    """

    dtype: np.dtype
    rows: int
    """The number of rows of a line."""
    depth: int
    """The number of elements of a segment."""
    columns: int
    """The number of columns of the matrix."""
    lhs: tuple[int, int]
    """The distances of rows, and of the elements of a segment."""
    rhs: tuple[int, int]
    """The distances of the matrix's rows and columns, of which one is 1."""
    out: int
    """The distance of the result's rows."""
    segments: int = 1
    part: int | None = None
    """The number of a row's products that are added up before the sum is added to that of those
    before; None for as many as fit into a panel, which depends on the number of rows."""
    is_alone: bool = False
    """True if there is one line."""
    numbers: int = 1
    """The numbers in an element of a factor: two of bfloat16, whose sums are float32, or four of 8
    bits, whose sums are int32. Elements of a segment are contiguous then."""
    signs: tuple[bool, bool] | None = None
    """True for the factor of 8-bit integers that is signed."""

    @property
    def registers(self) -> VectorRegisters:
        """The processor's registers."""
        return chips.vector_registers()

    @property
    def vector(self) -> Vector:
        """The vectors that fill a register."""
        return Vector(self.dtype, self.registers.bytes)

    @property
    def is_by_blocks(self) -> bool:
        """True if instructions that multiply small matrices compute tiles."""
        return self.numbers > 1 and chips.multiplies_blocks()

    @property
    def multiple(self) -> int:
        """Segments begin at rows of panels that are multiples of this."""
        return amx.ROWS if self.is_by_blocks else 1

    @property
    def shape(self) -> Shape:
        """The shape of tiles. With few columns the rows are in a cache of few ways together."""
        if self.is_by_blocks:
            rows = amx.SIDE * amx.ROWS if self.rows > amx.ROWS else self.rows
            return Shape(rows, amx.SIDE, amx.WORDS)
        if self.columns < FEWEST_COLUMNS:
            return Shape(FEW_ROWS, 1, self.vector.lanes)
        sizes = self.rows, self.columns, self.vector.lanes, self.registers.number
        return Shape.best(*sizes, reads_matrix=self.is_alone and self.rhs[1] == 1)

    @property
    def panels(self) -> int:
        """The most panels that are laid out together: rows of the matrix are read in long parts."""
        return min(TOGETHER, -(-self.columns // self.shape.columns))

    @property
    def depth_together(self) -> int:
        """The most elements of a segment that a panel has."""
        return min(self.depth, self.part or self._rows // self.multiple * self.multiple)

    @property
    def segments_together(self) -> int:
        """The most segments that a panel has."""
        rows = -(-self.depth // self.multiple) * self.multiple
        return max(1, min(self.segments, self._rows // rows))

    @property
    def _rows(self) -> int:
        """The most rows of a panel."""
        rows = PANELS // (self.panels * self.shape.columns * self.dtype.itemsize)
        return min(rows, ADDED)

    def at(self, address: Value, part: Part, jump: int = 0) -> Place:
        """Build the place of a part of a line whose first element is at an address, and whose
        segments are `jump` elements apart.
        """
        start = times(part.start, self.lhs[1])
        place = emit("arith.addi", times(part.segment, jump), start)
        address = moved(address, place, self.dtype.itemsize)
        return Place(address, jump, index(0), part.count)

    def build(
        self,
        first: Value,
        last: Value,
        line: Line,
        matrix: Value,
        result: Value,
        columns: Value | None = None,
    ) -> None:
        """Build the code of the lines from `first` to before `last`.

        Args:
            first: the number of a line.
            last: the number after that of the last line.
            line: builds the place of a part of a line, by the line's number.
            matrix: the address of the matrix.
            result: the address of the first line's product.
            columns: the number of columns that are multiplied, if not all; of a workgroup's share,
                whole vectors of a tile.
        """
        count = index(self.columns) if columns is None else columns
        _Code(self, self.shape, line, matrix, result, count).build(first, last)


@dataclass(frozen=True)
class Place:
    """The place of the segments of a part of a line. Elements of those left out are zeros."""

    address: Value
    """The address of the first segment's first element in the line's first row."""
    jump: int
    """The distance of segments, in elements."""
    first: Value
    """The number in the part of the first segment that is not left out."""
    last: Value
    """The number after that of the last such segment."""


Line = Callable[[Value, "Part"], Place]


@dataclass(frozen=True)
class _Code:
    lines: Lines
    shape: Shape
    line: Line
    matrix: Value
    result: Value
    columns: Value

    def build(self, first: Value, last: Value) -> None:
        lines, width = self.lines, self.shape.columns
        matrix = Matrix(
            *(self.matrix, self._vector, lines.rhs, lines.columns, self.columns, lines.numbers)
        )
        panels_memory = self._vector.memory(lines.panels * self._size)
        rows_memory = None
        if self._turns_rows:  # the last vector of the last element is whole, too
            size = lines.depth_together * self.shape.rows + self._vector.lanes
            rows_memory = self._vector.memory(size)
        block = None
        if lines.is_by_blocks:
            block = amx.Block(min(lines.rows, amx.ROWS), lines.signs)

        def of_panels(number: Value) -> None:
            column = times(number, lines.panels * width)
            left = emit("arith.subi", self.columns, column)
            count = least(emit("arith.ceildivsi", left, index(width)), lines.panels)
            memory = panels_memory, self._size
            panels = Panels(matrix, self.shape.vectors, lines.multiple, *memory, column, count)

            def of_segments(number: Value) -> None:
                segment = times(number, lines.segments_together)
                count = least(
                    emit("arith.subi", index(lines.segments), segment), lines.segments_together
                )

                def of_part(number: Value) -> None:
                    start = times(number, lines.depth_together)
                    depth = least(
                        emit("arith.subi", index(lines.depth), start), lines.depth_together
                    )
                    part = Part(segment, count, start, depth)
                    if not self._reads_matrix:
                        panels.lay_out(part, lines.depth)

                    def of_line(number: Value) -> None:
                        if block is None:
                            self._line(panels, rows_memory, part, number, first)
                        else:
                            self._line_of_blocks(panels, block, part, number, first)

                    for_each(first, last, of_line)

                for_each(index(0), index(-(-lines.depth // lines.depth_together)), of_part)

            for_each(index(0), index(-(-lines.segments // lines.segments_together)), of_segments)

        groups = emit("arith.ceildivsi", self.columns, index(lines.panels * width))
        for_each(index(0), groups, of_panels)
        if block is not None:
            block.end()

    @property
    def _vector(self) -> Vector:
        return self.lines.vector

    @property
    def _size(self) -> int:
        """The elements of a panel."""
        depth, multiple = self.lines.depth_together, self.lines.multiple
        rows = self.lines.segments_together * (-(-depth // multiple) * multiple)
        if not self._has_rows:  # the last block is whole, too
            rows = -(-rows // self._vector.lanes) * self._vector.lanes
        return rows * self.shape.columns

    @property
    def _has_rows(self) -> bool:
        """True if elements of the matrix's rows follow each other in memory."""
        return self.lines.rhs[1] == 1

    @property
    def _reads_matrix(self) -> bool:
        """True if the matrix is read once, by one tile of rows, and needs no panels."""
        return self._has_rows and self.lines.is_alone and self.lines.rows <= self.shape.rows

    @property
    def _turns_rows(self) -> bool:
        """True if the rows of a tile are laid out, too: elements of a row are far apart."""
        return self.lines.lhs[1] != 1

    # ---- the tiles -------------------------------------------------------------------------------

    def _line(
        self, panels: Panels, memory: Value | None, part: Part, line: Value, first: Value
    ) -> None:
        """Multiply the rows of a line by the panels."""
        lines, rows = self.lines, self.shape.rows
        size = self._vector.size
        place = self.line(line, part)
        lhs = place.address
        done = times(emit("arith.subi", line, first), lines.rows)
        whole, rest = divmod(lines.rows, rows)

        def tiles(row: Value, count: int) -> None:
            start = moved(lhs, row, lines.lhs[0] * size)
            if memory is not None:
                self._lay_out_rows(memory, start, part.depth, count)
                start = address(memory)
            result = moved(self.result, emit("arith.addi", done, row), lines.out * size)

            def tile(number: Value) -> None:
                self._tile(panels, number, part, replace(place, address=start), result, count)

            for_each(index(0), panels.count, tile)

        for_each(index(0), index(whole), lambda number: tiles(times(number, rows), rows))
        if rest:
            tiles(index(whole * rows), rest)

    def _line_of_blocks(
        self, panels: Panels, block: amx.Block, part: Part, line: Value, first: Value
    ) -> None:
        """Multiply the rows of a line by the panels, in blocks. Where too few rows are left for a
        block, it begins before them, and what it gives for these rows is not used.
        """
        lines, vector, rows = self.lines, self._vector, min(self.lines.rows, amx.ROWS)
        place = self.line(line, part)
        done = times(emit("arith.subi", line, first), lines.rows)
        is_first = equal(emit("arith.addi", part.segment, part.start), 0)

        def of_block(number: Value) -> None:
            row = times(number, self.shape.rows)
            count = self.shape.rows // rows
            starts = [least(plus(row, i * rows), lines.rows - rows) for i in range(count)]
            places = [moved(place.address, x, lines.lhs[0] * vector.size) for x in starts]

            def of_panel(number: Value) -> None:
                column = panels.at(number)
                right = moved(address(panels.memory), times(number, panels.size), vector.size)
                distance = panels.distance(part.depth)
                block.clear()

                def of_segment(number: Value) -> None:
                    there = [moved(x, number, place.jump * vector.size) for x in places]
                    panel = moved(right, emit("arith.muli", number, distance), panels.width * 4)
                    block.add(
                        there, lines.lhs[0] * vector.size, part.depth, panel, panels.width * 4
                    )

                for_each(place.first, place.last, of_segment)
                kept = [[block.kept(i, v) for v in range(amx.SIDE)] for i in range(count)]
                masks = panels.masks(column)

                def finish(add: bool) -> None:
                    for i, start in enumerate(starts):
                        begun = plus(row, i * rows)
                        end = least(plus(begun, rows), lines.rows)
                        self._finish(kept[i], start, begun, end, done, column, masks, add)

                if_else(is_first, lambda: finish(False), lambda: finish(True))

            for_each(index(0), panels.count, of_panel)

        for_each(index(0), index(-(-lines.rows // self.shape.rows)), of_block)

    def _finish(
        self,
        kept: Sequence[Value],
        start: Value,
        first: Value,
        last: Value,
        done: Value,
        column: Value,
        masks: Masks,
        add: bool,
    ) -> None:
        """Store rows of registers whose first row is `start`, or add them to the result."""
        lines, vector = self.lines, self._vector

        def of_row(row: Value) -> None:
            there = moved(self.result, emit("arith.addi", done, row), lines.out * vector.size)
            there = moved(there, column, vector.size)
            for v, (memory, mask) in enumerate(zip(kept, masks, strict=True)):
                place = plus(there, v * vector.bytes)
                source = moved(memory, emit("arith.subi", row, start), amx.BYTES)
                total = vector.load(source)
                if add:
                    total = vector.add(vector.load(place, mask), total)
                vector.store(total, place, mask)

        for_each(first, last, of_row)

    def _lay_out_rows(self, memory: Value, start: Value, depth: Value, rows: int) -> None:
        """Copy the elements of some rows that are neighbours in memory, for one element of all rows
        after the other.
        """
        lanes, size = self._vector.lanes, self._vector.size

        def copy(at: Value) -> None:
            source = moved(start, at, self.lines.lhs[1] * size)
            for first in range(0, rows, lanes):
                mask = constant(np.arange(first, first + lanes) < rows)
                found = self._vector.load(plus(source, first * size), mask)
                store(found, memory, plus(times(at, rows), first))

        for_each(index(0), depth, copy)

    def _tile(
        self, panels: Panels, number: Value, part: Part, place: Place, result: Value, rows: int
    ) -> None:
        """Multiply some rows, of which the first is at a place, by a panel, and add the products to
        the sums so far.
        """
        lines, vectors, vector = self.lines, self.shape.vectors, self._vector
        row, step = (1, rows) if self._turns_rows else lines.lhs
        column = panels.at(number)
        masks = panels.masks(column)
        panel = times(number, self._size)
        out = moved(result, column, vector.size)
        addresses = [
            plus(out, r * lines.out * vector.size + v * vector.bytes)
            for r in range(rows)
            for v in range(vectors)
        ]

        add = add_pairs if lines.numbers > 1 else functools.partial(emit, "vector.fma")

        def of_segment(number: Value, sums: Sequence[Value]) -> list[Value]:
            here = moved(place.address, number, place.jump * vector.size)
            before = emit("arith.muli", number, part.depth)

            def right_of(at: Value) -> list[Value]:
                if self._reads_matrix:
                    place = _place(emit("arith.addi", part.start, at), lines.rhs[0], column)
                    there = moved(self.matrix, place, vector.size)
                    return [
                        vector.load(plus(there, v * vector.bytes), mask)
                        for v, mask in enumerate(masks)
                    ]
                place = _place(emit("arith.addi", before, at), self.shape.columns, panel)
                return [
                    load(panels.memory, plus(place, v * vector.lanes), vector.lanes)
                    for v in range(vectors)
                ]

            def of_element(at: Value, sums: Sequence[Value]) -> list[Value]:
                right = right_of(at)
                left = moved(here, at, step * vector.size)
                found = []
                for r in range(rows):
                    x = vector.spread(plus(left, r * row * vector.size))
                    own = sums[r * vectors : (r + 1) * vectors]
                    found += [add(x, y, z) for y, z in zip(right, own, strict=True)]
                return found

            return for_loop(index(0), part.depth, 1, sums, of_element)

        zeros = [vector.zeros()] * len(addresses)
        sums = for_loop(place.first, place.last, 1, zeros, of_segment)

        def finish(add: bool) -> None:
            for i, (there, total) in enumerate(zip(addresses, sums, strict=True)):
                mask = masks[i % vectors]
                value = emit("arith.addf", vector.load(there, mask), total) if add else total
                vector.store(value, there, mask)

        is_first = equal(emit("arith.addi", part.segment, part.start), 0)
        if_else(is_first, lambda: finish(False), lambda: finish(True))


def _place(row: Value, columns: int, column: Value) -> Value:
    return emit("arith.addi", times(row, columns), column)
