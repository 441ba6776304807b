"""The code of kernels of elementwise operations.

A kernel computes vectors of elements. The last vector of a row overlaps with the one before it, if
the row's length is no multiple of a vector's: its first elements are then computed twice. Rows that
are shorter than a vector are read several at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.registers import index
from irax_compiler.passes import executables
from irax_compiler.passes.elementwise.clusters import Cluster
from irax_compiler.passes.elementwise.views import Axis, View, contiguous
from irax_compiler.passes.loops.arrays import moved
from irax_compiler.passes.loops.memory import held_dtype
from irax_compiler.passes.reductions import lanes
from irax_compiler.passes.scf import for_each, for_loop

SHARE = 1 << 15
"""The fewest elements for a workgroup."""

Place = dict[Axis, Value]
"""The place along axes, as far as it is known."""


class Kernel:
    """The kernel of a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        assert cluster.stepped is not None
        self.cluster = cluster
        self.stepped = cluster.stepped
        self.outer = cluster.axes[: cluster.axes.index(self.stepped)]
        self.memories: dict[Value, Value] = {}
        """The memory of arrays from outside, and of results."""

    @property
    def _shared(self) -> Axis:
        """The axis of which each item has a part: it is the innermost that is not a step's."""
        return self.outer[-1] if self.outer else self.stepped

    @property
    def _part(self) -> int:
        """The size of such a part."""
        elements = prod(self.cluster.extents)
        size = max(
            1, SHARE * prod(a.extent for a in self.outer[:-1]) * self._shared.extent // elements
        )
        if not self.outer:
            size = -(-size // self.cluster.lanes) * self.cluster.lanes
        return min(size, self._shared.extent)

    @property
    def _numbers(self) -> list[int]:
        """The numbers of steps of the axes around the shared one, and of its parts."""
        return [*(a.extent for a in self.outer[:-1]), -(-self._shared.extent // self._part)]

    @property
    def _together(self) -> int:
        """The number of items of a workgroup."""
        items = prod(self._numbers)
        return executables.size_of_share(items, prod(self.cluster.extents) // SHARE)

    @property
    def counts(self) -> tuple[int, int]:
        """The number of workgroups."""
        return -(-prod(self._numbers) // self._together), 1

    def build(self, bindings: Sequence[Value]) -> None:
        """Build the body of the kernel's function."""
        overwritten = self.cluster.overwritten
        own = [x for x in self.cluster.given if x not in overwritten]
        for x, binding in zip([*self.cluster.arrays, *own], bindings, strict=True):
            self.memories[x] = executables.memory(binding, prod(shape_of(x)), held_dtype(x))
        self.memories.update((x, self.memories[array]) for x, array in overwritten.items())
        start, stop = executables.share(prod(self._numbers), self._together, 0)
        for_each(start, stop, self._item)

    def _item(self, number: Value) -> None:
        *indices, part = lanes.split(number, self._numbers)
        place = dict(zip(self.outer[:-1], indices, strict=True))
        first = executables.times(part, self._part)
        last = lanes.least(executables.plus(first, self._part), self._shared.extent)
        if self.outer:
            for_each(first, last, lambda at: self._row(place | {self._shared: at}, None))
        else:
            self._row(place, (first, last))

    def _row(self, place: Place, part: tuple[Value, Value] | None) -> None:
        """Build the steps of a row, or of a part of it."""
        size, extent = self.cluster.lanes, self.stepped.extent
        known = [self._loaded(place, vector, False) for vector in range(self.cluster.vectors)]

        def step(at: Value, _: registers.Registers) -> registers.Registers:
            if extent % size:
                at = lanes.least(at, extent - size)
            self._step(place | {self.stepped: at}, known)
            return []

        first, last = part or (index(0), index(extent))
        for_loop(first, last, size, [], step)

    def _step(self, place: Place, before: Sequence[dict[Value, Value]]) -> None:
        for vector, same in enumerate(before):
            known = same | self._loaded(place, vector, True)
            lanes.compute(self.cluster.members, known, self.cluster.lanes)
            first = vector * self.cluster.lanes
            at = self._offset(View(None, first, contiguous(self.cluster.extents)), place)
            for x in self.cluster.given:
                lanes.write(known[x], self.memories[x], at, self.cluster.lanes, None)

    def _loaded(self, place: Place, vector: int, changes: bool) -> dict[Value, Value]:
        """Load a vector of each value that changes from step to step, or does not."""
        found = {}
        for x, view in self.cluster.views.items():
            if self._changes(view) == changes:
                found[x] = self._load(x, view, self._offset(view, place), vector)
        return found

    def _changes(self, view: View) -> bool:
        return view.strides[self.stepped.last] != 0

    def _offset(self, view: View, place: Place) -> Value:
        """Return the place in an array of a step's first element."""
        found = index(view.start)
        for axis, at in place.items():
            found = moved(found, at, view.strides[axis.last])
        return found

    def _load(self, x: Value, view: View, at: Value, vector: int) -> Value:
        offsets = self.cluster.offsets(view, vector)
        if view.array is None:
            return lanes.numbers(at, offsets, dtype_of(x))
        return lanes.gathered(self.memories[view.array], at, offsets, dtype_of(x))
