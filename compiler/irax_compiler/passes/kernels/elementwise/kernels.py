"""The kernels of elementwise operations, and how workgroups share the work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

from irax_compiler.mlir import InsertionPoint, Value
from irax_compiler.ops import registers
from irax_compiler.ops.registers import emit, index
from irax_compiler.passes.kernels import executables
from irax_compiler.passes.kernels.code.loops import for_each, if_else
from irax_compiler.passes.kernels.code.places import least, plus, split
from irax_compiler.passes.kernels.elementwise.clusters import Cluster
from irax_compiler.passes.kernels.elementwise.pieces import Piece
from irax_compiler.passes.kernels.elementwise.rows import Row
from irax_compiler.passes.kernels.executables import Executables
from irax_compiler.passes.kernels.kernel import SHARE, Kernel
from irax_compiler.passes.kernels.views import Place
from irax_compiler.processors import processors
from irax_compiler.sizes import Size

PARTS = 2
"""The workgroups for each processor where sizes are not known."""


def _workgroups() -> int:
    return PARTS * processors()


@dataclass(frozen=True)
class _Band:
    """Pieces that are side by side in rows. Workgroups share the rows, or parts of long ones."""

    pieces: Sequence[Piece]

    @property
    def around(self) -> tuple[Any, ...]:
        """The extents around a row, or around the short rows of a step."""
        return self.pieces[0].extents[: self.pieces[0].stepped]

    @cached_property
    def length(self) -> Any:
        """The number of elements of a row, or of short rows."""
        return sum(piece.extents[piece.stepped] for piece in self.pieces)

    @cached_property
    def is_sized(self) -> bool:
        """True if sizes are not known."""
        return any(isinstance(n, Size) for n in (*self.around, self.length, self._depth))

    @property
    def _depth(self) -> Any:
        """The number of elements that are computed for each element of a row."""
        return self.pieces[0].vectors

    @cached_property
    def are_rows_divided(self) -> bool:
        """True if workgroups have parts of rows."""
        return not self.around or (not self.is_sized and self.length * self._depth > SHARE)

    @cached_property
    def part(self) -> Any:
        """The size of a part of a row, a multiple of vectors' sizes; else the number of rows."""
        lanes = max(piece.lanes for piece in self.pieces) if self.are_rows_divided else 1
        shared = self.length if self.are_rows_divided else prod(self.around)
        if self.is_sized:
            return -(-shared // (_workgroups() * lanes)) * lanes
        inner = self._depth if self.are_rows_divided else self.length * self._depth
        return min(-(-max(1, SHARE // inner) // lanes) * lanes, shared)

    @cached_property
    def parts(self) -> Any:
        """The number of parts of each row, or of all rows."""
        shared = self.length if self.are_rows_divided else prod(self.around)
        return _workgroups() if self.is_sized else -(-shared // self.part)

    @property
    def count(self) -> int:
        """The number of workgroups."""
        return self.parts * (prod(self.around) if self.are_rows_divided else 1)


def replace(cluster: Cluster, executables: Executables) -> None:
    """Replace what a cluster gives by the results of its kernel."""
    with InsertionPoint(cluster.place), cluster.place.location:
        results = ElementwiseKernel(cluster).called(executables)
        for x, result in zip(cluster.given, results, strict=True):
            x.replace_all_uses_with(result)


class ElementwiseKernel(Kernel):
    """The kernel of a cluster. Workgroups share the bands; pieces of a band are computed row by
    row, side by side, so that memory is written in order.
    """

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster.arrays, cluster.given)
        self.bands = list(map(_Band, cluster.bands))
        self.kind = "elementwise" if len(cluster.pieces) == 1 else "piecewise"
        self._overwritten = dict(cluster.overwritten)

    @property
    def overwritten(self) -> dict[Value, Value]:
        return self._overwritten

    @property
    def counts(self) -> tuple[int, int]:
        return sum(band.count for band in self.bands), 1

    def build(self) -> None:
        number, first = executables.workgroup(0), 0
        if len(self.bands) == 1:
            self._share(self.bands[0], number)
            return
        for band in self.bands:
            own = emit("arith.subi", number, index(first))
            is_here = registers.compare("LT", "u", own, index(band.count))
            if_else(is_here, lambda band=band, own=own: self._share(band, own))
            first += band.count

    def _share(self, band: _Band, number: Value) -> None:
        """Build the work of a workgroup: some rows, or a part of one."""
        if band.are_rows_divided:
            *indices, number = split(number, [*band.around, band.parts])
            place = dict(enumerate(indices))
            self._row(band, place, executables.share_of(number, band.length, band.part))
            return

        def row(number: Value) -> None:
            self._row(band, dict(enumerate(split(number, band.around))), None)

        for_each(*executables.share_of(number, prod(band.around), band.part), row)

    def _row(self, band: _Band, place: Place, bounds: tuple[Value, Value] | None) -> None:
        """Build the steps of a row of all pieces, or of the part of it within bounds."""
        begin = 0
        for piece in band.pieces:
            extent = piece.extents[piece.stepped]
            first, last = bounds or (index(0), index(extent))
            if bounds and len(band.pieces) > 1:
                first = emit("arith.maxsi", plus(first, -begin), index(0))
                last = least(plus(last, -begin), extent)
            unaligned = begin if bounds else 0
            Row(piece, place, self.memories, unaligned).build(first, last)
            begin += extent
