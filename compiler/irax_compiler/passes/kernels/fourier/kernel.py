"""The code of the kernels of Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from irax_compiler.mlir import Value
from irax_compiler.ops.registers import constant, emit, index, spread
from irax_compiler.passes.kernels.code.loops import for_each
from irax_compiler.passes.kernels.code.memory import load, store
from irax_compiler.passes.kernels.code.places import least, plus, times
from irax_compiler.passes.kernels.code.shuffles import shuffled, transposed
from irax_compiler.passes.kernels.executables import share, workgroup
from irax_compiler.passes.kernels.fourier.butterflies import Butterfly, Complex, product
from irax_compiler.passes.kernels.fourier.transforms import Transform


@dataclass(frozen=True)
class Kernel:
    """The code of a workgroup, on memories of real numbers.

    It transforms as many lines at a time as a vector has elements, each in one element of all
    vectors. It reads lines into memory of its own, makes a pass over these for each factor of the
    length, in which the results come out in order (T. G. Stockham, 1966), and writes them. Blocks
    of rows are transposed; columns are vectors as they are.
    """

    transform: Transform
    array: Value
    twiddles: Value
    out: Value
    memory: Value

    def build(self) -> None:
        """Build the code."""
        transform = self.transform
        start = index(0) if transform.is_on_stack else times(workgroup(0), transform.extents[1])
        halves = start, plus(start, transform.extents[1] // 2)

        def work(group: Value) -> None:
            line = self._line(group)
            source, target = halves
            self._read(line, source)
            start = 0
            for factor, rest, done in transform.passes:
                self._pass(factor, rest, done, start, source, target)
                start += 2 * rest * (factor - 1)
                source, target = target, source
            self._write(line, source, start)

        for_each(*share(transform.groups, transform.share, 0), work)

    def _line(self, group: Value) -> Line:
        """Return the first line of a group. The last one of neighbours overlaps the one before."""
        transform = self.transform
        count = transform.groups_of_neighbours
        last = transform.neighbours - transform.lanes
        matrix = emit("arith.divui", group, index(count))
        number = emit("arith.remui", group, index(count))
        return Line(matrix, least(times(number, transform.lanes), last))

    # -- vectors --

    def _number(self, x: float) -> Value:
        return constant(np.full(self.transform.lanes, x, self.transform.dtype))

    def _load(self, memory: Value, place: Value) -> Value:
        return load(memory, place, self.transform.lanes)

    def _part(self, half: Value, number: Value, part: int) -> Value:
        """The place of the vector of real (0) or imaginary (1) parts of a number."""
        lanes = self.transform.lanes
        return plus(emit("arith.addi", half, times(number, 2 * lanes)), part * lanes)

    def _complex(self, half: Value, number: Value) -> Complex:
        re, im = (self._load(self.memory, self._part(half, number, p)) for p in (0, 1))
        return re, im

    def _put(self, z: Complex, half: Value, number: Value) -> None:
        for part, x in enumerate(z):
            store(x, self.memory, self._part(half, number, part))

    # -- lines --

    def _read(self, line: Line, half: Value) -> None:
        if self.transform.reads > 1:
            self._read_columns(line, half)
        else:
            self._read_rows(line, half)

    def _write(self, line: Line, half: Value, turns: int) -> None:
        """Write the lines in memory; `turns` is the place of a long row's twiddle factors."""
        if self.transform.writes > 1:
            self._write_columns(line, half)
        else:
            self._write_rows(line, half, turns)

    def _read_columns(self, line: Line, half: Value) -> None:
        def read(number: Value) -> None:
            place = self._of_columns(line, number, self.transform.reads)
            self._put(self._pair(self.array, place), half, number)

        for_each(index(0), index(self.transform.n), read)

    def _write_columns(self, line: Line, half: Value) -> None:
        columns, lanes = self.transform.writes, self.transform.lanes
        pairs = np.arange(2 * lanes).reshape(2, lanes).T.reshape(2, lanes)

        def write(number: Value) -> None:
            re, im = self._complex(half, number)
            place = self._of_columns(line, number, columns)
            for i, places in enumerate(pairs):
                store(shuffled(re, im, places), self.out, plus(place, i * lanes))

        for_each(index(0), index(self.transform.n), write)

    def _pair(self, memory: Value, place: Value) -> Complex:
        """Load as many complex numbers as a vector has elements."""
        lanes = self.transform.lanes
        first, second = (self._load(memory, plus(place, i * lanes)) for i in (0, 1))
        re, im = (shuffled(first, second, np.arange(part, 2 * lanes, 2)) for part in (0, 1))
        return re, im

    def _of_columns(self, line: Line, number: Value, columns: int) -> Value:
        """The place of a number of the first of the lines."""
        row = emit("arith.addi", times(line.matrix, self.transform.n), number)
        return times(emit("arith.addi", times(row, columns), line.number), 2)

    def _read_rows(self, line: Line, half: Value) -> None:
        transform = self.transform
        length, _ = transform.lengths
        step = 2 if transform.kind == "RFFT" else 1
        zero = self._number(0)

        def block(start: Value) -> None:
            rows = self._of_rows(line, start, length)
            for i, x in enumerate(transposed([self._load(self.array, p) for p in rows])):
                place = self._place(half, plus(start, i), step)
                store(x, self.memory, place)
                if step == 2:
                    store(zero, self.memory, plus(place, transform.lanes))

        self._blocks(length, block)
        if transform.kind == "IRFFT":
            self._complete(half)

    def _complete(self, half: Value) -> None:
        """Add the frequencies that are conjugates of others; those of their own count as real."""
        transform = self.transform
        zero = self._number(0)
        for own in {0, transform.n // 2} if transform.n % 2 == 0 else {0}:
            store(zero, self.memory, self._part(half, index(own), 1))

        def copy(number: Value) -> None:
            re, im = self._complex(half, emit("arith.subi", index(transform.n), number))
            self._put((re, emit("arith.negf", im)), half, number)

        for_each(index(transform.half), index(transform.n), copy)

    def _write_rows(self, line: Line, half: Value, turns: int) -> None:
        transform = self.transform
        _, length = transform.lengths
        step = 2 if transform.kind == "IRFFT" else 1

        def block(start: Value) -> None:
            places = [self._place(half, plus(start, i), step) for i in range(transform.lanes)]
            vectors = [self._load(self.memory, place) for place in places]
            if transform.is_turned:
                vectors = self._turned(vectors, line, emit("arith.divui", start, index(2)), turns)
            for x, place in zip(
                transposed(vectors), self._of_rows(line, start, length), strict=True
            ):
                store(x, self.out, place)

        self._blocks(length, block)

    def _turned(self, x: Sequence[Value], line: Line, number: Value, turns: int) -> list[Value]:
        """Multiply numbers from one on, by turns their real and imaginary parts, by the twiddle
        factors of a long row.
        """
        found: list[Value] = []
        for i, z in enumerate(zip(x[::2], x[1::2], strict=True)):
            row = times(plus(number, i), self.transform.reads)
            turn = times(emit("arith.addi", row, line.number), 2)
            found += product(z, self._pair(self.twiddles, plus(turn, turns)))
        return found

    def _place(self, half: Value, number: Value, step: int) -> Value:
        return emit("arith.addi", half, times(number, step * self.transform.lanes))

    def _of_rows(self, line: Line, start: Value, length: int) -> list[Value]:
        """The places of element `start` of as many rows as there are lanes."""
        row = emit("arith.addi", times(line.matrix, self.transform.neighbours), line.number)
        first = emit("arith.addi", times(row, length), start)
        return [plus(first, i * length) for i in range(self.transform.lanes)]

    def _blocks(self, length: int, block: Callable[[Value], None]) -> None:
        """Do something for the start of each block of a row; the last overlaps the one before."""
        lanes = self.transform.lanes
        last = length - lanes
        count = index(-(-length // lanes))
        for_each(index(0), count, lambda i: block(least(times(i, lanes), last)))

    # -- passes --

    def _pass(
        self, factor: int, rest: int, done: int, start: int, source: Value, target: Value
    ) -> None:
        """Number q + done (p + rest j) of the source, for all j, gives numbers q + done (factor p +
        k) of the target, for all k.
        """

        def of_group(p: Value) -> None:
            turns = self._turns(p, start, factor) if rest > 1 else []

            def transform(q: Value) -> None:
                read = emit("arith.addi", q, times(p, done))
                numbers = [
                    self._complex(source, plus(read, done * rest * j)) for j in range(factor)
                ]
                found = Butterfly(self._number, self.transform.is_inverse).of(numbers)
                write = emit("arith.addi", q, times(p, done * factor))
                for k, z in enumerate(found):
                    z = product(z, turns[k - 1]) if k and turns else z
                    z = self._scaled(z) if rest == 1 and self.transform.is_inverse else z
                    self._put(z, target, plus(write, done * k))

            for_each(index(0), index(done), transform)

        for_each(index(0), index(rest), of_group)

    def _scaled(self, z: Complex) -> Complex:
        scale = self._number(1 / self.transform.n)
        re, im = (emit("arith.mulf", x, scale) for x in z)
        return re, im

    def _turns(self, p: Value, start: int, factor: int) -> list[Complex]:
        """The twiddle factors of group p."""
        first = plus(times(p, 2 * (factor - 1)), start)

        def number(i: int) -> Value:
            return spread(load(self.twiddles, plus(first, i)), self.transform.lanes)

        return [(number(2 * k), number(2 * k + 1)) for k in range(factor - 1)]


@dataclass(frozen=True)
class Line:
    """A line, by its matrix and its number among the matrix's lines."""

    matrix: Value
    number: Value
