"""The code of a row of a piece, or of as many short rows as a vector has elements.

The last vector of a row overlaps with the one before it, if the row's length is no multiple of a
vector's: its first elements are then computed twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from irax_compiler.mlir import Value, dtype_of
from irax_compiler.ops import registers
from irax_compiler.ops.complex_registers import Parts
from irax_compiler.passes.kernels import lanes
from irax_compiler.passes.kernels.code.loops import for_loop
from irax_compiler.passes.kernels.code.memory import gathered, write
from irax_compiler.passes.kernels.code.places import least, numbers, times
from irax_compiler.passes.kernels.code.shuffles import joined, picked
from irax_compiler.passes.kernels.elementwise import complex_numbers
from irax_compiler.passes.kernels.elementwise.complex_numbers import Register, is_complex
from irax_compiler.passes.kernels.elementwise.pieces import Computed, Constant, Piece, Read
from irax_compiler.passes.kernels.loops.memory import held_dtype
from irax_compiler.passes.kernels.views import Place, View

Known = dict[int, Register]
"""Registers of terms, by their numbers."""


@dataclass
class Row:
    """A row of a piece."""

    piece: Piece
    place: Place
    """The place of the row."""
    memories: Mapping[Value, Value]
    unaligned: int = 0
    """Parts of the row begin this number of elements before multiples of all vectors' sizes."""

    def build(self, first: Value, last: Value) -> None:
        """Build the steps from one element of the row to before another."""
        piece, size = self.piece, self.piece.lanes
        extent = piece.extents[piece.stepped]
        same = [self._same(vector) for vector in range(piece.vectors)]

        def step(at: Value, _: registers.Registers) -> registers.Registers:
            if extent % size != 0 or self.unaligned % size:
                at = least(at, extent - size)
            place = self.place | {piece.stepped: at}
            for vector, known in enumerate(same):
                self._store(self._computed(known, place, vector), place, vector)
            return []

        for_loop(first, last, size, [], step)

    def _same(self, vector: int) -> Known:
        """Return a vector of each term that is the same in all steps."""
        found: Known = {}
        for number, term in enumerate(self.piece.terms):
            if isinstance(term, Constant):
                found[number] = complex_numbers.register(term.x, {})
            elif isinstance(term, Read) and term.view.strides[self.piece.stepped] == 0:
                found[number] = self._load(term, self.place, vector)
        return found

    def _computed(self, same: Known, place: Place, vector: int) -> Known:
        """Return a vector of each term."""
        known = dict(same)
        for number, term in enumerate(self.piece.terms):
            if isinstance(term, Read) and number not in known:
                known[number] = self._load(term, place, vector)
            elif isinstance(term, Computed):
                known[number] = _applied(term, known, self.piece.lanes)
        return known

    def _load(self, term: Read, place: Place, vector: int) -> Register:
        at, offsets = term.view.offset(place), self.piece.offsets(term.view, vector)
        if term.view.array is None:
            return numbers(at, offsets, dtype_of(term.x))
        memory = self.memories[term.view.array]
        if not is_complex(term.x):
            return gathered(memory, at, offsets, dtype_of(term.x))
        both = np.add.outer(2 * offsets, (0, 1)).reshape(-1)
        found = gathered(memory, times(at, 2), both, held_dtype(term.x))
        return complex_numbers.separated(found)

    def _store(self, known: Known, place: Place, vector: int) -> None:
        """Write a vector of each result, or all interleaved."""
        size, writes = self.piece.lanes, self.piece.writes
        first = vector * size
        views = [View(view.array, view.start + first, view.strides) for _, view in writes]
        found = [known[number] for number, _ in writes]
        if self.piece.is_interleaved:
            spread = [registers.spread(x, size) for x in found if isinstance(x, Value)]
            turns = np.arange(len(spread) * size).reshape(-1, size).T.reshape(-1)
            found, views, size = [picked(joined(spread), turns)], views[:1], turns.size
        for x, view in zip(found, views, strict=True):
            assert view.array is not None
            memory, at = self.memories[view.array], view.offset(place)
            if isinstance(x, Parts):
                both = complex_numbers.interleaved(x, size)
                write(both, memory, times(at, 2), 2 * size)
            else:
                write(x, memory, at, size)


def _applied(term: Computed, known: Mapping[int, Register], size: int) -> Register:
    """Build the operation of a term on vectors of `size` elements."""
    operation, operands = term.operation, [known[number] for number in term.operands]
    if complex_numbers.is_known(operation):
        with operation.location:
            return complex_numbers.apply(operation, operands, size)
    pairs = zip(operation.operands, operands, strict=True)
    given = {x: register for x, register in pairs if isinstance(register, Value)}
    lanes.compute([operation], given, size)
    return given[term.x]
