"""The code of kernels of elementwise operations.

A kernel computes vectors of elements. The last vector of a row overlaps with the one before it, if
the row's length is no multiple of a vector's: its first elements are then computed twice. Rows that
are shorter than a vector are read several at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of
from irax_compiler.ops import registers
from irax_compiler.ops.complex_registers import Parts
from irax_compiler.ops.registers import index
from irax_compiler.passes.kernels import executables
from irax_compiler.passes.kernels.code.loops import for_each, for_loop
from irax_compiler.passes.kernels.code.memory import gathered, write
from irax_compiler.passes.kernels.code.places import least, numbers, plus, split, times
from irax_compiler.passes.kernels.code.shuffles import joined, picked
from irax_compiler.passes.kernels.elementwise import complex_numbers
from irax_compiler.passes.kernels.elementwise.clusters import Cluster
from irax_compiler.passes.kernels.elementwise.complex_numbers import Register, is_complex
from irax_compiler.passes.kernels.kernel import SHARE, Kernel
from irax_compiler.passes.kernels.loops.memory import held_dtype
from irax_compiler.passes.kernels.reductions import lanes
from irax_compiler.passes.kernels.views import Axis, Place, View
from irax_compiler.processors import processors
from irax_compiler.sizes import Size

PARTS = 2
"""The workgroups for each processor where sizes are not known."""


def _workgroups() -> int:
    return PARTS * processors()


class ElementwiseKernel(Kernel):
    """The kernel of a cluster."""

    kind = "elementwise"

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster.arrays, cluster.given)
        assert cluster.stepped is not None
        self.cluster = cluster
        self.stepped = cluster.stepped
        self.outer = cluster.axes[: cluster.axes.index(self.stepped)]

    @property
    def overwritten(self) -> dict[Value, Value]:
        return self.cluster.overwritten

    @property
    def _shared(self) -> Axis:
        """The axis of which each item has a part: it is the innermost that is not a step's."""
        return self.outer[-1] if self.outer else self.stepped

    @property
    def _is_sized(self) -> bool:
        """True if sizes are not known."""
        return any(isinstance(n, Size) for n in self.cluster.extents)

    @property
    def _part(self) -> Any:
        """The size of such a part."""
        if self._is_sized:
            if not isinstance(self._shared.extent, Size):
                return self._shared.extent
            lanes = 1 if self.outer else self.cluster.lanes
            return -(-self._shared.extent // (_workgroups() * lanes)) * lanes
        elements = prod(self.cluster.extents)
        size = max(
            1, SHARE * prod(a.extent for a in self.outer[:-1]) * self._shared.extent // elements
        )
        if not self.outer:
            size = -(-size // self.cluster.lanes) * self.cluster.lanes
        return min(size, self._shared.extent)

    @property
    def _numbers(self) -> list[Any]:
        """The numbers of steps of the axes around the shared one, and of its parts."""
        parts = -(-self._shared.extent // self._part)
        parts = _workgroups() if isinstance(parts, Size) else parts
        return [*(a.extent for a in self.outer[:-1]), parts]

    @property
    def _together(self) -> Any:
        """The number of items of a workgroup."""
        items = prod(self._numbers)
        if self._is_sized:
            return -(-items // _workgroups())
        return executables.size_of_share(items, prod(self.cluster.extents) // SHARE)

    @property
    def counts(self) -> tuple[int, int]:
        count = -(-prod(self._numbers) // self._together)
        return _workgroups() if isinstance(count, Size) else count, 1

    def build(self) -> None:
        start, stop = executables.share(prod(self._numbers), self._together, 0)
        for_each(start, stop, self._item)

    def _item(self, number: Value) -> None:
        *indices, part = split(number, self._numbers)
        place = {axis.last: at for axis, at in zip(self.outer[:-1], indices, strict=True)}
        first = times(part, self._part)
        last = least(plus(first, self._part), self._shared.extent)
        if self.outer:
            for_each(first, last, lambda at: self._row(place | {self._shared.last: at}, None))
        else:
            self._row(place, (first, last))

    def _row(self, place: Place, part: tuple[Value, Value] | None) -> None:
        """Build the steps of a row, or of a part of it."""
        size, extent = self.cluster.lanes, self.stepped.extent
        known = [self._loaded(place, vector, False) for vector in range(self.cluster.vectors)]

        def step(at: Value, _: registers.Registers) -> registers.Registers:
            if extent % size != 0:
                at = least(at, extent - size)
            self._step(place | {self.stepped.last: at}, known)
            return []

        first, last = part or (index(0), index(extent))
        for_loop(first, last, size, [], step)

    def _step(self, place: Place, before: Sequence[dict[Value, Register]]) -> None:
        for vector, same in enumerate(before):
            known = same | self._loaded(place, vector, True)
            for operation in self.cluster.members:
                self._compute(operation, known)
            self._store(known, place, vector)

    def _store(self, known: dict[Value, Register], place: Place, vector: int) -> None:
        """Write a vector of each result, or all interleaved."""
        first = vector * self.cluster.lanes
        at = [
            View(None, view.start + first, view.strides).offset(place)
            for _, view in self.cluster.writes
        ]
        found = [complex_numbers.register(x, known) for x, _ in self.cluster.writes]
        if self.cluster.is_short or self.cluster.apart == 1:
            for x, (_, view), start in zip(found, self.cluster.writes, at, strict=True):
                assert view.array is not None
                self._write(x, self.memories[view.array], start)
            return
        size = self.cluster.lanes
        numbers = [registers.spread(x, size) for x in found if isinstance(x, Value)]
        turns = np.arange(len(numbers) * size).reshape(-1, size).T.reshape(-1)
        both = picked(joined(numbers), turns)
        (memory,) = (self.memories[x] for x in self.cluster.given)
        write(both, memory, at[0], turns.size)

    def _compute(self, operation: Operation, known: dict[Value, Register]) -> None:
        size = self.cluster.lanes
        if complex_numbers.is_known(operation):
            operands = [complex_numbers.register(x, known) for x in operation.operands]
            with operation.location:
                known[operation.results[0]] = complex_numbers.apply(operation, operands, size)
        else:
            numbers = {x: y for x in operation.operands if isinstance(y := known.get(x), Value)}
            lanes.compute([operation], numbers, size)
            known.update(numbers)

    def _write(self, x: Register, memory: Value, at: Value) -> None:
        size = self.cluster.lanes
        if isinstance(x, Parts):
            both = complex_numbers.interleaved(x, size)
            write(both, memory, times(at, 2), 2 * size)
        else:
            write(x, memory, at, size)

    def _loaded(self, place: Place, vector: int, changes: bool) -> dict[Value, Register]:
        """Load a vector of each value that changes from step to step, or does not."""
        found: dict[Value, Register] = {}
        for x, view in self.cluster.views.items():
            if self._changes(view) == changes:
                found[x] = self._load(x, view, view.offset(place), vector)
        return found

    def _changes(self, view: View) -> bool:
        return view.strides[self.stepped.last] != 0

    def _load(self, x: Value, view: View, at: Value, vector: int) -> Register:
        offsets = self.cluster.offsets(view, vector)
        if view.array is None:
            return numbers(at, offsets, dtype_of(x))
        memory = self.memories[view.array]
        if not is_complex(x):
            return gathered(memory, at, offsets, dtype_of(x))
        both = np.add.outer(2 * offsets, (0, 1)).reshape(-1)
        found = gathered(memory, times(at, 2), both, held_dtype(x))
        return complex_numbers.separated(found)
