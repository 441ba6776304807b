"""Panels: a matrix laid out in memory of a workgroup's own, some columns after the other.

An element of the matrix is a number, or a word of several: two numbers of bfloat16, or four of 8
bits, which as many rows have in a column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from irax_compiler.mlir import Value
from irax_compiler.ops.registers import emit, index
from irax_compiler.passes.kernels.blas.vector import Vector
from irax_compiler.passes.kernels.code.loops import for_each
from irax_compiler.passes.kernels.code.memory import store
from irax_compiler.passes.kernels.code.places import moved, plus, times
from irax_compiler.passes.kernels.code.shuffles import interleaved_rows, transposed

Masks = Sequence[Value | None]


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
class Matrix:
    """A matrix whose rows, or columns, are contiguous."""

    address: Value
    vector: Vector
    """Vectors of its elements."""
    distances: tuple[int, int]
    """The distances of rows and columns, in elements."""
    extent: int
    """The number of columns."""
    columns: Value
    """The number of columns that are multiplied."""
    numbers: int = 1
    """The numbers in an element, which as many rows have."""

    @property
    def has_rows(self) -> bool:
        """True if elements of a row follow each other in memory."""
        return self.distances[1] == 1


@dataclass(frozen=True)
class Panels:
    """The panels that are laid out together."""

    matrix: Matrix
    vectors: int
    """The vectors of a row."""
    multiple: int
    """Segments begin at rows that are multiples of this; rows of zeros are between them."""
    memory: Value
    size: int
    """The number of elements of a panel."""
    column: Value
    """The first column of the first panel."""
    count: Value

    @property
    def width(self) -> int:
        """The columns of a panel."""
        return self.vectors * self.matrix.vector.lanes

    def at(self, number: Value) -> Value:
        """Build the first column of a panel."""
        return emit("arith.addi", self.column, times(number, self.width))

    def distance(self, depth: Value) -> Value:
        """Build the number of rows from a segment to the next."""
        if self.multiple == 1:
            return depth
        return times(emit("arith.ceildivsi", depth, index(self.multiple)), self.multiple)

    def masks(self, column: Value) -> Masks:
        """The elements of the vectors from a column on that are columns; None for all."""
        vector = self.matrix.vector
        if self.matrix.extent % self.width == 0:
            return [None] * self.vectors
        left = emit("arith.subi", self.matrix.columns, column)
        return [vector.mask(plus(left, -v * vector.lanes)) for v in range(self.vectors)]

    def lay_out(self, part: Part, depth: int) -> None:
        """Copy a part of a matrix whose segments have so many rows."""
        row = emit("arith.addi", times(part.segment, depth), part.start)
        lay_out = self._copy if self.matrix.has_rows else self._turn
        if self.multiple == 1:
            # Segments follow each other in the matrix; several are there only if they are whole.
            lay_out(row, emit("arith.muli", part.count, part.depth), index(0))
            return
        distance = self.distance(part.depth)

        def of_segment(number: Value) -> None:
            at = emit("arith.muli", number, distance)
            lay_out(moved(row, number, depth), part.depth, at)
            if self.matrix.has_rows:
                self._fill(at, part.depth, distance)

        for_each(index(0), part.count, of_segment)

    def _copy(self, row: Value, rows: Value, to: Value) -> None:
        """Copy rows to the rows of panels from `to` on."""
        distance, vector = self.matrix.distances[0], self.matrix.vector
        own = vector.size // self.matrix.numbers  # the bytes of a column
        start = moved(moved(self.matrix.address, row, distance * vector.size), self.column, own)

        def copy(at: Value) -> None:
            there = moved(start, at, distance * vector.size)

            def copy_to(number: Value) -> None:
                masks = self.masks(self.at(number))
                source = moved(there, number, self.width * own)
                place = self._place(number, emit("arith.addi", to, at))
                for v, mask in enumerate(masks):
                    found = self._columns(plus(source, v * vector.lanes * own), mask)
                    store(found, self.memory, plus(place, v * vector.lanes))

            for_each(index(0), self.count, copy_to)

        for_each(index(0), rows, copy)

    def _columns(self, source: Value, mask: Value | None) -> Value:
        """Load the elements that a row has in some columns."""
        vector, count = self.matrix.vector, self.matrix.numbers
        if count == 1:
            return vector.load(source, mask)
        dtype = np.dtype({2: np.int16, 4: np.int8}[count])
        numbers = Vector(dtype, vector.bytes // count)
        distance = self.matrix.distances[0] * numbers.size
        rows = [numbers.load(plus(source, i * distance), mask) for i in range(count)]
        return emit("vector.bitcast", interleaved_rows(rows), to=vector.type)

    def _fill(self, to: Value, first: Value, last: Value) -> None:
        """Fill rows from `to` on, from one to before another, with zeros."""
        vector = self.matrix.vector

        def of_row(at: Value) -> None:
            def of_panel(number: Value) -> None:
                place = self._place(number, emit("arith.addi", to, at))
                for v in range(self.vectors):
                    store(vector.zeros(), self.memory, plus(place, v * vector.lanes))

            for_each(index(0), self.count, of_panel)

        for_each(first, last, of_row)

    def _turn(self, row: Value, rows: Value, to: Value) -> None:
        """Transpose blocks of a matrix with contiguous columns. Past the last row, zeros are laid
        out; past the last column, that is read again.
        """
        distance, vector = self.matrix.distances[1], self.matrix.vector
        lanes, last = vector.lanes, plus(self.matrix.columns, -1)

        def of_rows(number: Value) -> None:
            at = times(number, lanes)
            there = emit("arith.addi", row, at)
            mask = vector.mask(emit("arith.subi", rows, at))

            def of_panel(number: Value) -> None:
                column = self.at(number)
                place = self._place(number, emit("arith.addi", to, at))
                for v in range(self.vectors):
                    columns = [
                        emit("arith.minsi", plus(column, v * lanes + i), last) for i in range(lanes)
                    ]
                    places = [emit("arith.addi", times(c, distance), there) for c in columns]
                    sources = [moved(self.matrix.address, x, vector.size) for x in places]
                    for i, x in enumerate(transposed([vector.load(x, mask) for x in sources])):
                        store(x, self.memory, plus(place, i * self.width + v * lanes))

            for_each(index(0), self.count, of_panel)

        for_each(index(0), emit("arith.ceildivsi", rows, index(lanes)), of_rows)

    def _place(self, number: Value, row: Value) -> Value:
        """The place of a row of a panel."""
        return emit("arith.addi", times(number, self.size), times(row, self.width))
