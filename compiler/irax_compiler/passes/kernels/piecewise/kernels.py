"""The code of kernels that compute results by pieces.

Workgroups share the rows of bands, or parts of long rows. The pieces of a band are computed row by
row, side by side, so that memory is written in order. The last vector of a piece's row overlaps
with the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of
from irax_compiler.ops import registers
from irax_compiler.ops.registers import emit, index
from irax_compiler.passes.kernels import executables
from irax_compiler.passes.kernels.code.loops import for_each, for_loop, if_else
from irax_compiler.passes.kernels.code.memory import gathered, write
from irax_compiler.passes.kernels.code.places import least, numbers, plus, split, times
from irax_compiler.passes.kernels.kernel import SHARE, Kernel
from irax_compiler.passes.kernels.piecewise.pieces import Computed, Constant, Piece, Read
from irax_compiler.passes.kernels.piecewise.search import Cluster
from irax_compiler.passes.kernels.reductions import lanes
from irax_compiler.passes.kernels.views import Place


@dataclass(frozen=True)
class _Band:
    """Pieces that are side by side in rows, and how workgroups share these."""

    pieces: Sequence[Piece]

    @property
    def outer(self) -> tuple[int, ...]:
        return self.pieces[0].extents[:-1]

    @property
    def length(self) -> int:
        """The number of elements of a row."""
        return sum(piece.extents[-1] for piece in self.pieces)

    @property
    def parts(self) -> int:
        """The number of parts of a row."""
        return -(-self.length // SHARE)

    @property
    def rows(self) -> int:
        """The number of rows of a workgroup."""
        return max(1, SHARE // self.length)

    @property
    def count(self) -> int:
        """The number of workgroups."""
        return -(-prod(self.outer) // self.rows) * self.parts


class PiecewiseKernel(Kernel):
    """The kernel of a cluster."""

    kind = "piecewise"

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster.arrays, cluster.given)
        self.bands = [_Band(pieces) for pieces in cluster.bands]

    @property
    def sizes(self) -> list[str]:
        return []  # pieces have known sizes

    @property
    def counts(self) -> tuple[int, int]:
        return sum(band.count for band in self.bands), 1

    def build(self) -> None:
        number, first = executables.workgroup(0), 0
        for band in self.bands:
            own = emit("arith.subi", number, index(first))
            is_here = registers.compare("LT", "u", own, index(band.count))
            if_else(is_here, lambda band=band, own=own: self._share(band, own))
            first += band.count

    def _share(self, band: _Band, number: Value) -> None:
        """Build what a workgroup does: some rows, or a part of one."""
        items, part = split(number, [-(-prod(band.outer) // band.rows), band.parts])
        first = times(items, band.rows)
        last = least(plus(first, band.rows), prod(band.outer))
        for_each(first, last, lambda row: self._row(band, row, part))

    def _row(self, band: _Band, row: Value, part: Value) -> None:
        place = dict(enumerate(split(row, band.outer)))
        begin = 0
        for piece in band.pieces:
            extent = piece.extents[-1]
            bounds = index(0), index(extent)
            if band.parts > 1:
                start = plus(times(part, SHARE), -begin)
                low = emit("arith.maxsi", start, index(0))
                bounds = low, least(plus(start, SHARE), extent)
            unaligned = begin if band.parts > 1 else 0
            _Row(piece, place, self.memories, unaligned).build(*bounds)
            begin += extent


@dataclass
class _Row:
    """A row of a piece."""

    piece: Piece
    place: Place
    """The place of the row."""
    memories: dict[Value, Value]
    unaligned: int
    """Parts of the row begin this number of elements before multiples of all vectors' sizes."""

    def build(self, first: Value, last: Value) -> None:
        """Build the steps from one element of the row to before another."""
        piece, size, extent = self.piece, self.piece.lanes, self.piece.extents[-1]
        terms = list(enumerate(piece.terms))
        same = {n: self._load(t, self.place) for n, t in terms if self._is_same(t)}

        def step(at: Value, _: registers.Registers) -> registers.Registers:
            if extent % size or self.unaligned % size:
                at = least(at, extent - size)
            known, place = dict(same), self._at(at)
            for number, term in terms:
                if isinstance(term, Computed):
                    known[number] = _computed(term, known, size)
                elif number not in known:
                    known[number] = self._load(term, place)
            for number, view in piece.writes:
                assert view.array is not None
                there = view.offset(place)
                write(known[number], self.memories[view.array], there, size)
            return []

        for_loop(first, last, size, [], step)

    def _is_same(self, term: Constant | Read | Computed) -> bool:
        """True for what is the same for all elements of the row."""
        if isinstance(term, Read):
            return term.view.strides[-1] == 0
        return isinstance(term, Constant)

    def _load(self, term: Constant | Read | Computed, place: Place) -> Value:
        if isinstance(term, Constant):
            fill = mlir.splat(term.x)
            assert fill is not None
            return registers.constant(fill)
        assert isinstance(term, Read)
        there = term.view.offset(place)
        offsets = np.arange(self.piece.lanes) * term.view.strides[-1]
        if term.view.array is None:
            return numbers(there, offsets, dtype_of(term.x))
        return gathered(self.memories[term.view.array], there, offsets, dtype_of(term.x))

    def _at(self, element: Value) -> Place:
        """Return the place of an element of the row."""
        return {**self.place, len(self.piece.extents) - 1: element}


def _computed(term: Computed, known: dict[int, Value], size: int) -> Value:
    operation: Operation = term.operation
    operands = zip(operation.operands, term.operands, strict=True)
    numbers = {x: known[number] for x, number in operands}
    lanes.compute([operation], numbers, size)
    return numbers[operation.results[0]]
