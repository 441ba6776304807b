"""Kernels that fold neighbours.

A vector accumulates elements of one result, and is folded itself at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from irax_compiler.mlir import Value
from irax_compiler.ops import registers
from irax_compiler.ops.registers import Registers, emit, index
from irax_compiler.passes.kernels import executables, lanes
from irax_compiler.passes.kernels.code.loops import for_loop
from irax_compiler.passes.kernels.code.places import least, plus, split, times
from irax_compiler.passes.kernels.reductions.kernels import ReductionKernel
from irax_compiler.passes.kernels.reductions.phases import Phase
from irax_compiler.passes.kernels.views import Axis, Place
from irax_compiler.sizes import Size

BLOCK = 32
"""The steps after which accumulators are added to others, and these after as many blocks to others
again, so that rounding errors stay small."""


class Rows(ReductionKernel):
    """A kernel that folds neighbours, and computes results one by one."""

    @property
    def outer(self) -> list[Axis]:
        return [axis for axis in self.axes if not self.domain.is_reduced(axis)]

    @property
    def items(self) -> Any:
        return prod(axis.extent for axis in self.outer)

    def item(self, number: Value) -> None:
        indices = split(number, [axis.extent for axis in self.outer])
        place = {axis.last: at for axis, at in zip(self.outer, indices, strict=True)}
        folded: dict[Value, Value] = {}
        for phase in self.phases:
            totals = _Fold(self, phase, folded).over(self.reduced, place)
            pairs = zip(phase.reductions, totals, strict=True)
            folds = [lanes.across(operation, x) for operation, x in pairs]
            folded = self.finish(phase, folds, place, None, folded)


@dataclass
class _Fold:
    """The accumulation of a phase's elements, given folded values of earlier ones."""

    kernel: Rows
    phase: Phase
    folded: dict[Value, Value]

    def __post_init__(self) -> None:
        self.size = self.kernel.lanes
        self.step = self.phase.unrolled * self.size

    def over(self, reduced: Sequence[Axis], place: Place) -> Registers:
        """Return the accumulators of all elements along some axes."""
        axis, *inner = reduced
        if not inner:
            return self._along(axis, place)

        def step(at: Value, totals: Registers) -> Registers:
            return self.phase.combined(totals, self.over(inner, place | {axis.last: at}))

        start, stop = self.kernel.range_of(axis)
        return for_loop(start, stop, 1, self.phase.neutrals(self.size), step)

    def _along(self, axis: Axis, place: Place) -> Registers:
        """Return the accumulators of a row: first of several vectors at a time, then of one after
        the other, then of the rest.
        """
        extent, size = axis.extent, self.size
        steps, whole = extent // self.step * self.step, extent // size * size
        start, stop, end, is_last = self._part(axis, steps, whole)
        totals = self.phase.neutrals(size)
        if steps != 0:
            totals = self._in_steps(axis, place, start, stop)
        if steps != whole:

            def one(at: Value, totals: Registers) -> Registers:
                return self.phase.combined(totals, self._vector(place | {axis.last: at}, None))

            totals = for_loop(index(steps), end, size, totals, one)
        if whole != extent:
            mask = _first(extent - whole, size)
            if is_last is not None:
                mask = emit("arith.andi", mask, registers.spread(is_last, size))
            rest = self._vector(place | {axis.last: index(whole)}, mask)
            totals = self.phase.combined(totals, rest)
        return totals

    def _part(self, axis: Axis, steps: Any, whole: Any) -> tuple[Value, Value, Value, Value | None]:
        """Return the workgroup's part of a row: the range of steps, the end of the vectors that
        follow, and whether the rest belongs to it, too.
        """
        if not self.kernel.is_divided(axis):
            return index(0), index(steps), index(whole), None
        parts, number = self.kernel.parts, executables.workgroup(1)
        size = -(-steps // self.step // parts) * self.step
        start = least(times(number, size), steps)
        stop = least(plus(start, size), steps)
        is_last = registers.equal(number, parts - 1)
        return start, stop, registers.select(is_last, index(whole), index(steps)), is_last

    def _in_steps(self, axis: Axis, place: Place, start: Value, stop: Value) -> Registers:
        phase, count = self.phase, len(self.phase.reductions)
        several = phase.neutrals(self.size) * phase.unrolled

        def step(at: Value, totals: Registers) -> Registers:
            found: list[Value] = []
            for i in range(phase.unrolled):
                there = place | {axis.last: plus(at, i * self.size)}
                own = totals[i * count : (i + 1) * count]
                found += phase.combined(own, self._vector(there, None))
            return found

        def over(start: Value, stop: Value, size: int) -> Registers:
            if size == self.step:
                found = for_loop(start, stop, size, several, step)
                return phase.together(_sets(found, count))

            def block(at: Value, totals: Registers) -> Registers:
                end = emit("arith.minsi", plus(at, size), stop)
                return phase.combined(totals, over(at, end, size // BLOCK))

            return for_loop(start, stop, size, phase.neutrals(self.size), block)

        return over(start, stop, lanes.block(axis.extent // self.step, BLOCK) * self.step)

    def _vector(self, place: Place, mask: Value | None) -> list[Value]:
        return self.kernel.whole(self.phase, place, mask, self.folded)


def _first(count: Any, size: int) -> Value:
    """Return the mask of the first lanes."""
    if not isinstance(count, Size):
        return registers.constant(np.arange(size) < count)
    to = registers.type_of(np.dtype(np.bool_), size)
    return emit("vector.create_mask", index(count), to=to)


def _sets(found: Sequence[Value], count: int) -> list[Registers]:
    """Divide accumulators into sets of some number."""
    return [found[i : i + count] for i in range(0, len(found), count)] if count else [[]]
