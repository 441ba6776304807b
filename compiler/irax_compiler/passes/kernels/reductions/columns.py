"""Kernels that fold elements of different rows.

The rows of the domain are added to a row of accumulators in fast memory, for a block of columns at
a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

from irax_compiler import mlir
from irax_compiler.chips import vector_registers
from irax_compiler.mlir import Value, dtype_of
from irax_compiler.ops.registers import Registers, emit, index
from irax_compiler.ops.size_code import usual
from irax_compiler.passes.kernels import executables, lanes
from irax_compiler.passes.kernels.code.loops import for_loop
from irax_compiler.passes.kernels.code.memory import read, write
from irax_compiler.passes.kernels.code.places import least, plus, split, times
from irax_compiler.passes.kernels.loops.memory import held_dtype
from irax_compiler.passes.kernels.reductions.kernels import ReductionKernel
from irax_compiler.passes.kernels.reductions.phases import Phase
from irax_compiler.passes.kernels.views import Axis, Place

WIDEST = 2048
"""The most columns of a block: their accumulators stay in the fastest cache."""
FAST = 1 << 15
"""The most folded values of a block of columns. At 8 bytes each, and with those of blocks of rows,
they fit into the stack that IREE allows a kernel."""
BLOCK = 32
"""The rows, several at a time, after which accumulators are added to others, and these after as
many blocks to others again, so that rounding errors stay small."""
CACHED = 1 << 17
"""The most elements of a block that is read several times, and of what it restores: they stay in a
core's cache of the second level, which has a megabyte or two. Measured with one megabyte."""


class Columns(ReductionKernel):
    """A kernel that folds rows, and computes results block by block."""

    @property
    def columns(self) -> Axis:
        return self.axes[-1]

    @property
    def outer(self) -> list[Axis]:
        return [axis for axis in self.axes[:-1] if not self.domain.is_reduced(axis)]

    @cached_property
    def width(self) -> int:
        """The number of columns of a block, a multiple of the vector's size."""
        domain, workers = self.domain.usual, self.shares.workers
        columns = usual(self.columns.extent)
        folded = sum(len(phase.finish.made) for phase in self.phases)
        most = min(columns, WIDEST, FAST // max(folded, 1))
        is_divided = workers > 1 and prod(usual(axis.extent) for axis in self.outer) < 2 * workers
        if is_divided:
            most = min(most, -(-columns // (2 * workers)))
        if len(self.phases) > 1:
            rows = domain.elements // domain.results
            arrays = 1 + len({where for phase in self.phases for _, where in phase.restored})
            most = min(most, max(CACHED // (rows * arrays), 4 * self.lanes))
        blocks = -(-columns // most)
        if is_divided:
            blocks += -blocks % workers  # each worker gets as many
        return -(-columns // (blocks * self.lanes)) * self.lanes

    @property
    def _blocks(self) -> Any:
        return -(-self.columns.extent // self.width)

    @property
    def items(self) -> Any:
        return prod(axis.extent for axis in self.outer) * self._blocks

    def build(self) -> None:
        self._memory: dict[tuple[Value, int], Value] = {}
        self._block = mlir.InsertionPoint.current.block
        super().build()

    def item(self, number: Value) -> None:
        sizes = [*(axis.extent for axis in self.outer), self._blocks]
        *indices, block = split(number, sizes)
        place = {axis.last: at for axis, at in zip(self.outer, indices, strict=True)}
        first = times(block, self.width)
        last = least(plus(first, self.width), self.columns.extent)
        fold = _Fold(self, first, last)
        for phase in self.phases:
            fold.start(phase)
            fold.over(phase, self.reduced, place)
            fold.finish(phase, place)

    def memory_of(self, x: Value, depth: int) -> Value:
        """Return the fast memory for a folded value of a block of columns, or at a depth of blocks
        of rows.
        """
        if (x, depth) not in self._memory:
            element = mlir.element_type(held_dtype(x))
            with mlir.InsertionPoint.at_block_begin(self._block):  # not in each step of a loop
                self._memory[x, depth] = executables.local_memory(self.width, element, alignment=64)
        return self._memory[x, depth]


@dataclass
class _Fold:
    """The accumulation of a block of columns."""

    kernel: Columns
    first: Value
    last: Value

    def start(self, phase: Phase, depth: int = 0) -> None:
        """Set the accumulators to the identities of the folds."""

        def body(at: Value, slot: Value, mask: Value | None) -> None:
            self._put_totals(phase, phase.neutrals(self.kernel.lanes), slot, depth)

        if phase.reductions:
            self._each(body)

    def over(self, phase: Phase, reduced: Sequence[Axis], place: Place) -> None:
        """Accumulate all elements along some axes."""
        axis, *inner = reduced
        start, stop = self.kernel.range_of(axis)

        def step(at: Value, _: Registers) -> Registers:
            self.over(phase, inner, place | {axis.last: at})
            return []

        if inner:
            for_loop(start, stop, 1, [], step)
        else:
            blocks = lanes.block(axis.extent // phase.unrolled, BLOCK)
            self._rows(phase, axis, place, (start, stop), blocks * phase.unrolled)

    def _rows(
        self,
        phase: Phase,
        axis: Axis,
        place: Place,
        part: tuple[Value, Value],
        size: int,
        depth: int = 0,
    ) -> None:
        """Accumulate rows: where there are blocks of them, one after the other in accumulators of
        its own.
        """
        start, stop = part
        count = phase.unrolled
        if size > count and phase.reductions:

            def block(at: Value, _: Registers) -> Registers:
                end = emit("arith.minsi", plus(at, size), stop)
                self.start(phase, depth + 1)
                self._rows(phase, axis, place, (at, end), size // BLOCK, depth + 1)
                self._each(lambda at, slot, mask: self._join(phase, slot, depth))
                return []

            for_loop(start, stop, size, [], block)
            return

        def rows(count: int) -> Callable[[Value, Registers], Registers]:
            def step(at: Value, _: Registers) -> Registers:
                places = [place | {axis.last: plus(at, i)} for i in range(count)]
                self._each(lambda *column: self._add(phase, places, depth, *column))
                return []

            return step

        main = start
        if count > 1:
            left = emit("arith.remui", emit("arith.subi", stop, start), index(count))
            main = emit("arith.subi", stop, left)
            for_loop(start, main, count, [], rows(count))
        for_loop(main, stop, 1, [], rows(1))

    def _join(self, phase: Phase, slot: Value, depth: int) -> None:
        """Add the accumulators of a block to others."""
        pair = (self._totals(phase, slot, d) for d in (depth, depth + 1))
        self._put_totals(phase, phase.combined(*pair), slot, depth)

    def _add(
        self,
        phase: Phase,
        places: Sequence[Place],
        depth: int,
        at: Value,
        slot: Value,
        mask: Value | None,
    ) -> None:
        """Accumulate a vector of each of some rows."""
        kernel, folded = self.kernel, {x: self._get(x, slot) for x in phase.used}
        found = phase.together(
            [kernel.whole(phase, p | {kernel.columns.last: at}, mask, folded) for p in places]
        )
        totals = phase.combined(self._totals(phase, slot, depth), found)
        self._put_totals(phase, totals, slot, depth)

    def finish(self, phase: Phase, place: Place) -> None:
        """Build what follows from the results of a phase."""

        def body(at: Value, slot: Value, mask: Value | None) -> None:
            folded = {x: self._get(x, slot) for x in phase.finish.used}
            there = place | {self.kernel.columns.last: at}
            found = self.kernel.finish(phase, self._totals(phase, slot, 0), there, mask, folded)
            for x in phase.finish.made:
                self._put(x, found[x], slot)

        if phase.reductions:
            self._each(body)

    def _each(self, body: Callable[[Value, Value, Value | None], None]) -> None:
        """Build a loop over the block's vectors: `body` takes the column where one begins, its
        place in fast memory, and a mask of the columns that there are, unless there are all.
        """
        size, columns = self.kernel.lanes, self.kernel.columns.extent
        whole = columns // size * size

        def unmasked(at: Value, _: Registers) -> Registers:
            body(at, emit("arith.subi", at, self.first), None)
            return []

        def masked(at: Value, _: Registers) -> Registers:
            left = emit("arith.subi", index(columns), at)
            mask = emit("vector.create_mask", left, to=mlir.parse_type(f"vector<{size}xi1>"))
            body(at, emit("arith.subi", at, self.first), mask)
            return []

        if whole == columns:
            for_loop(self.first, self.last, size, [], unmasked)
        elif vector_registers().has_masks:
            for_loop(self.first, self.last, size, [], masked)
        else:
            end = least(self.last, whole)
            for_loop(self.first, end, size, [], unmasked)
            for_loop(end, self.last, size, [], masked)

    # -- fast memory --

    def _get(self, x: Value, slot: Value, depth: int = 0) -> Value:
        memory = self.kernel.memory_of(x, depth)
        return read(memory, slot, dtype_of(x), self.kernel.lanes)

    def _put(self, x: Value, register: Value, slot: Value, depth: int = 0) -> None:
        write(register, self.kernel.memory_of(x, depth), slot, self.kernel.lanes)

    def _totals(self, phase: Phase, slot: Value, depth: int) -> list[Value]:
        return [self._get(operation.results[0], slot, depth) for operation in phase.reductions]

    def _put_totals(self, phase: Phase, totals: Registers, slot: Value, depth: int) -> None:
        for operation, x in zip(phase.reductions, totals, strict=True):
            self._put(operation.results[0], x, slot, depth)
