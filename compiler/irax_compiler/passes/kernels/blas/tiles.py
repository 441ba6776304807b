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
from irax_compiler.chips import AVX2, AVX512, VectorRegisters
from irax_compiler.mlir import Value
from irax_compiler.ops.registers import constant, emit, equal, index
from irax_compiler.passes.kernels.blas.vector import Vector
from irax_compiler.passes.kernels.code.loops import for_each, for_loop, if_else
from irax_compiler.passes.kernels.code.memory import load, store
from irax_compiler.passes.kernels.code.places import least, moved, plus, times
from irax_compiler.passes.kernels.code.shuffles import transposed
from irax_compiler.passes.kernels.executables import SHARE, address

DTYPES = np.dtype(np.float32), np.dtype(np.float64)
"""The dtypes of the numbers."""
FEWEST = {16: 8, 32: 12}
"""The fewest vectors of a tile that keep a processor's multipliers busy, by the number of its
registers, which hold the vectors of a tile, a row of the panel, a number, and what LLVM needs."""
PANELS, TOGETHER = 1 << 18, 4
"""The most bytes of the panels that are laid out together, which stay in a core's cache of the
second level, and their number at most."""
MASKED = 1.5
"""The factor by which a tile takes longer that reads rows of a matrix by masks."""
ADDED = 1024
"""The most products that are added one by one: sums of more lose digits of float32."""
PART = 256
"""The most rows of a panel whatever its shape: tiles of the widest vectors have as many."""
FEWEST_COLUMNS = 8
"""The fewest columns for which a panel pays."""
FEW_ROWS = 8
"""The rows of a tile of fewer columns."""


def pay_for_products(dtype: np.dtype) -> bool:
    """Return True if large products of a dtype are faster as code of irax's own. With 16 registers
    they take as long as OpenBLAS's, and with transposed left factors one and a half times as long.
    """
    return dtype in DTYPES and chips.vector_registers() == AVX512


def pay_for_convolution(dtype: np.dtype, operations: int) -> bool:
    """Return True if a convolution of so many multiplications and additions is faster as code of
    irax's own: with few output features too, though vectors have lanes to spare then.
    """
    is_fast = chips.vector_registers() in (AVX2, AVX512)
    return is_fast and dtype in DTYPES and operations >= SHARE


@dataclass(frozen=True)
class Shape:
    """The rows and the vectors of a tile."""

    rows: int
    vectors: int
    lanes: int
    """The elements of a vector."""

    @classmethod
    @functools.lru_cache(maxsize=1024)
    def best(
        cls, rows: int, columns: int, lanes: int, registers: int, reads_matrix: bool = False
    ) -> Shape:
        """Return the shape with which lines of `rows` and `columns` take the least time on a
        processor with so many registers. With `reads_matrix`, a tile of all rows reads the matrix
        where it is.
        """
        vectors = (1, 2, 3, 4) if columns <= lanes else (2, 3, 4)
        fewest, most = FEWEST[registers], registers - 2
        found = [cls(r, v, lanes) for v in vectors for r in range(-(-fewest // v), most // v)]
        return min(found, key=lambda x: x._time(rows, columns, reads_matrix))

    def _time(self, rows: int, columns: int, reads_matrix: bool) -> float:
        """The sums that are computed, those beyond the edges too, and a part of the loads."""
        width = self.columns
        covered = -(-rows // self.rows) * self.rows * (-(-columns // width) * width)
        is_masked = reads_matrix and rows <= self.rows and columns % width > 0
        return covered * (1 + (1 / self.rows + 1 / self.vectors) / 4) * (MASKED if is_masked else 1)

    @property
    def columns(self) -> int:
        """The columns of a tile."""
        return self.vectors * self.lanes


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

    @property
    def registers(self) -> VectorRegisters:
        """The processor's registers."""
        return chips.vector_registers()

    @property
    def vector(self) -> Vector:
        """The vectors that fill a register."""
        return Vector(self.dtype, self.registers.bytes)

    @property
    def shape(self) -> Shape:
        """The shape of tiles. With few columns the rows are in a cache of few ways together."""
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
        return min(self.depth, self.part or self._rows)

    @property
    def segments_together(self) -> int:
        """The most segments that a panel has."""
        return max(1, min(self.segments, self._rows // self.depth))

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
        panels_memory = self._vector.memory(lines.panels * self._size)
        rows_memory = None
        if self._turns_rows:  # the last vector of the last element is whole, too
            size = lines.depth_together * self.shape.rows + self._vector.lanes
            rows_memory = self._vector.memory(size)

        def of_panels(number: Value) -> None:
            column = times(number, lines.panels * width)
            left = emit("arith.subi", self.columns, column)
            count = least(emit("arith.ceildivsi", left, index(width)), lines.panels)
            panels = Panels(panels_memory, column, count)

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
                        self._lay_out(panels, part)

                    def of_line(number: Value) -> None:
                        self._line(panels, rows_memory, part, number, first)

                    for_each(first, last, of_line)

                for_each(index(0), index(-(-lines.depth // lines.depth_together)), of_part)

            for_each(index(0), index(-(-lines.segments // lines.segments_together)), of_segments)

        groups = emit("arith.ceildivsi", self.columns, index(lines.panels * width))
        for_each(index(0), groups, of_panels)

    @property
    def _vector(self) -> Vector:
        return self.lines.vector

    @property
    def _size(self) -> int:
        """The elements of a panel."""
        rows = self.lines.segments_together * self.lines.depth_together
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

    # ---- the panels ------------------------------------------------------------------------------

    def _masks(self, column: Value) -> Masks:
        """The elements of the vectors from a column on that are columns; None for all."""
        if self.lines.columns % self.shape.columns == 0:
            return [None] * self.shape.vectors
        left = emit("arith.subi", self.columns, column)
        return [
            self._vector.mask(plus(left, -v * self._vector.lanes))
            for v in range(self.shape.vectors)
        ]

    def _lay_out(self, panels: Panels, part: Part) -> None:
        """Copy a part of the matrix to panels."""
        row = emit("arith.addi", times(part.segment, self.lines.depth), part.start)
        # Segments follow each other in the matrix, and several are there only if they are whole.
        rows = emit("arith.muli", part.count, part.depth)
        lay_out = self._copy if self._has_rows else self._turn
        lay_out(panels, row, rows)

    def _copy(self, panels: Panels, row: Value, rows: Value) -> None:
        distance, width = self.lines.rhs[0], self.shape.columns
        lanes, size = self._vector.lanes, self._vector.size
        start = moved(self.matrix, _place(row, distance, panels.column), size)

        def copy(at: Value) -> None:
            there = moved(start, at, distance * size)

            def copy_to(number: Value) -> None:
                masks = self._masks(panels.at(number, width))
                source = moved(there, number, width * size)
                place = emit("arith.addi", times(number, self._size), times(at, width))
                for v, mask in enumerate(masks):
                    found = self._vector.load(plus(source, v * self._vector.bytes), mask)
                    store(found, panels.memory, plus(place, v * lanes))

            for_each(index(0), panels.count, copy_to)

        for_each(index(0), rows, copy)

    def _turn(self, panels: Panels, row: Value, rows: Value) -> None:
        """Transpose blocks of a matrix with contiguous columns. Past the last row, zeros are laid
        out; past the last column, that is read again.
        """
        distance, width = self.lines.rhs[1], self.shape.columns
        lanes, size = self._vector.lanes, self._vector.size
        last = plus(self.columns, -1)

        def of_rows(number: Value) -> None:
            at = times(number, lanes)
            there = emit("arith.addi", row, at)
            mask = self._vector.mask(emit("arith.subi", rows, at))

            def of_panel(number: Value) -> None:
                column = panels.at(number, width)
                place = emit("arith.addi", times(number, self._size), times(at, width))
                for v in range(self.shape.vectors):
                    columns = [
                        emit("arith.minsi", plus(column, v * lanes + i), last) for i in range(lanes)
                    ]
                    sources = [
                        moved(self.matrix, _place(c, distance, there), size) for c in columns
                    ]
                    for i, x in enumerate(
                        transposed([self._vector.load(x, mask) for x in sources])
                    ):
                        store(x, panels.memory, plus(place, i * width + v * lanes))

            for_each(index(0), panels.count, of_panel)

        for_each(index(0), emit("arith.ceildivsi", rows, index(lanes)), of_rows)

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
        column = panels.at(number, self.shape.columns)
        masks = self._masks(column)
        panel = times(number, self._size)
        out = moved(result, column, vector.size)
        addresses = [
            plus(out, r * lines.out * vector.size + v * vector.bytes)
            for r in range(rows)
            for v in range(vectors)
        ]

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
                    found += [emit("vector.fma", x, y, z) for y, z in zip(right, own, strict=True)]
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


@dataclass(frozen=True)
class Part:
    """The elements of rows that panels are multiplied with."""

    segment: Value
    """The first segment."""
    count: Value
    """The number of segments."""
    start: Value
    """The place of the first element in each segment."""
    depth: Value
    """The number of elements of each."""


@dataclass(frozen=True)
class Panels:
    """The panels that are laid out together."""

    memory: Value
    column: Value
    """The first column of the first panel."""
    count: Value

    def at(self, number: Value, width: int) -> Value:
        """Build the first column of a panel."""
        return emit("arith.addi", self.column, times(number, width))


Masks = Sequence[Value | None]


def _place(row: Value, columns: int, column: Value) -> Value:
    return emit("arith.addi", times(row, columns), column)
