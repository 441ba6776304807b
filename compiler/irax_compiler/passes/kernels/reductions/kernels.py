"""The base of kernels that fold a domain.

A kernel goes through the domain once for each of its phases. After each it computes what follows
from the results, which the next one may use. Workgroups share the results; where there are too few
of these, they share what is folded, and each gives results of its own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from math import gcd, prod
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.reductions.reduce import is_identity
from irax_compiler.ops.registers import Registers, emit, index
from irax_compiler.passes.host.donated import WORTH_TAKING, in_memory_of
from irax_compiler.passes.kernels import executables, lanes
from irax_compiler.passes.kernels.code.loops import for_each
from irax_compiler.passes.kernels.code.memory import read, write
from irax_compiler.passes.kernels.code.places import least, numbers, plus, times
from irax_compiler.passes.kernels.descriptions import described_cluster
from irax_compiler.passes.kernels.division import Division, equal_parts
from irax_compiler.passes.kernels.kernel import SHARE, VECTOR, Kernel
from irax_compiler.passes.kernels.loops.memory import bound_type, held_dtype
from irax_compiler.passes.kernels.reductions.clusters import Cluster
from irax_compiler.passes.kernels.reductions.domains import Domain
from irax_compiler.passes.kernels.reductions.phases import Phase, phases
from irax_compiler.passes.kernels.views import Axis, Place, View, arrays_of, contiguous

PARTS = 2
"""The parts of a domain for each worker, since some workers begin late."""


@dataclass(frozen=True)
class Shares:
    """The division of a kernel's work."""

    workers: int
    """The workgroups that run at a time."""
    parts: int
    """The parts in which the domain is folded; each has results of its own."""


class ReductionKernel(Kernel):
    """The kernel of a cluster."""

    kind = "reduction"

    def __init__(self, cluster: Cluster, shares: Shares) -> None:
        super().__init__(arrays_of(cluster.views.values()), cluster.given)
        self.cluster = cluster
        self.shares = shares
        self.domain: Domain = cluster.domain
        self.axes = self.domain.axes(cluster.views.values())
        self.reduced = [axis for axis in self.axes if self.domain.is_reduced(axis)]
        self.phases = phases(cluster)

    @property
    def parts(self) -> int:
        return self.shares.parts

    @cached_property
    def overwritten(self) -> dict[Value, Value]:
        """An array that nothing else uses for each result that can be in its memory: each of its
        elements is read before that of the result is written, by the workgroup that does.
        """
        if self.parts > 1 or self.domain.is_sized:
            return {}
        arrays = filter(self._is_given_up, self.arrays)
        return in_memory_of(arrays, self.cluster.given, self._is_read_before)

    def _is_given_up(self, array: Value) -> bool:
        """True if a kernel made an array for this one alone, which reads its elements in order."""
        source = mlir.definition(array)
        plain = contiguous(self.domain.extents)
        return (
            source is not None
            and source.name == "flow.dispatch"
            and source.block == self.cluster.place.block
            and array.type == bound_type(array)
            and prod(shape_of(array)) >= WORTH_TAKING
            and self.domain.is_whole(array)
            and all(use.owner.operation in self.cluster.members for use in array.uses)
            and all(
                view.start == 0 and view.strides == plain for view in self._views_of(array).values()
            )
        )

    def _views_of(self, array: Value) -> dict[Value, View]:
        """The views of an array, by the values that stand for them."""
        views = self.cluster.views.items()
        return {x: view for x, view in views if view.array is not None and view.array == array}

    def _is_read_before(self, array: Value, result: Value) -> bool:
        """True if no phase after the first that writes to a result's memory reads an array."""
        names = self._views_of(array).keys()
        reads = [i for i, phase in enumerate(self.phases) if not names.isdisjoint(phase.read)]
        writes = [
            i
            for i, phase in enumerate(self.phases)
            if any(where == result for _, where in phase.stored)
        ]
        return max(reads, default=0) <= min(writes, default=-1)

    @cached_property
    def lanes(self) -> int:
        """The number of elements of a vector."""
        values = [*self.cluster.views, *(o.results[0] for o in self.cluster.members)]
        whole = [x for x in values if self.domain.is_whole(x)] or values  # none if it is constant
        return VECTOR // max(held_dtype(x).itemsize for x in whole)

    @property
    def description(self) -> Hashable | None:
        cluster = self.cluster
        found = described_cluster(
            cluster.members, cluster.views, self.arrays, cluster.given, self.overwritten
        )
        return None if found is None else (type(self), self.shares, self.domain, found)

    @property
    def division(self) -> Division | None:
        """The division of the arrays among items, where these are known and fold whole results."""
        if self.parts > 1 or self.domain.is_sized:
            return None
        parts = [
            gcd(*(self._parts(x, view) for view in self._views_of(x).values())) for x in self.arrays
        ]
        parts += [self._parts(x, self._view(x)) for x in self.own]
        return Division(self.items, tuple(parts))

    def _parts(self, x: Value, view: View) -> int:
        """Return the number of parts of an array that is read, or written, as a view."""
        if view.start != 0 or min(view.strides, default=0) < 0:
            return 1
        inner = [axis for axis in self.axes if axis not in self.outer]
        span = 1 + sum((axis.extent - 1) * view.strides[axis.last] for axis in inner)
        extents = [axis.extent for axis in self.outer]
        strides = [view.strides[axis.last] for axis in self.outer]
        return equal_parts(prod(shape_of(x)), extents, strides, span)

    @property
    @abstractmethod
    def outer(self) -> list[Axis]:
        """The axes that items are divided by, outermost first."""

    @property
    @abstractmethod
    def items(self) -> Any:
        """The number of results, or of groups of results, that are computed one after another."""

    @abstractmethod
    def item(self, number: Value) -> None:
        """Build the computation of one of them."""

    @property
    def _together(self) -> Any:
        """The number of items of a workgroup."""
        if self.domain.is_sized:
            return -(-self.items // self._groups)
        wanted = max(1, min(self.domain.elements // SHARE, self.items))
        return -(-self.items // wanted)

    @property
    def counts(self) -> tuple[int, int]:
        """The number of workgroups: those that share the items, and those that share what is
        folded.
        """
        groups = self._groups if self.domain.is_sized else -(-self.items // self._together)
        return groups, self.parts

    @property
    def _groups(self) -> int:
        """The number of workgroups that share items of which the number is not known."""
        return PARTS * self.shares.workers if self.parts == 1 else 1

    def build(self) -> None:
        start, stop = executables.share(self.items, self._together, 0)
        for_each(start, stop, self.item)

    # -- places --

    def is_divided(self, axis: Axis) -> bool:
        """True for the axis of which each workgroup has a part."""
        return self.parts > 1 and axis == self.reduced[0]

    def range_of(self, axis: Axis) -> tuple[Value, Value]:
        """Return the places of a reduced axis that are folded."""
        if not self.is_divided(axis):
            return index(0), index(axis.extent)
        size = -(-axis.extent // self.parts)
        start = least(times(executables.workgroup(1), size), axis.extent)
        return start, least(plus(start, size), axis.extent)

    def _view(self, x: Value) -> View:
        """Return the view of the array that a result is."""
        extents = self.domain.extents
        dimensions = range(len(extents)) if self.domain.is_whole(x) else self.domain.kept
        found, step = [0] * len(extents), 1
        for d in reversed(dimensions):
            found[d], step = step, step * extents[d]
        return View(x, 0, tuple(found))

    def _size(self, view: View, place: Place) -> int:
        """Return the number of elements at a place: those of a vector, or one for all lanes."""
        inner = self.axes[-1].last
        return self.lanes if inner in place and view.strides[inner] != 0 else 1

    # -- elements --

    def _load(self, x: Value, place: Place, mask: Value | None) -> Value:
        """Load elements of a value from outside."""
        view = self.cluster.views[x]
        at, size = view.offset(place), self._size(view, place)
        if view.array is None:
            return numbers(at, np.arange(size), dtype_of(x))
        return read(self.memories[view.array], at, dtype_of(x), size, mask)

    def _restore(self, x: Value, where: Value, place: Place, mask: Value | None) -> Value:
        """Load elements that an earlier phase stored."""
        at = self._view(where).offset(place)
        return read(self.memories[where], at, dtype_of(x), self.lanes, mask)

    def _store(self, x: Value, where: Value, place: Place, mask: Value | None) -> None:
        """Store elements in the memory of a result."""
        view = self._view(where)
        at = view.offset(place)
        if self.parts > 1:
            part = times(executables.workgroup(1), prod(shape_of(where)))
            at = emit("arith.addi", at, part)
        write(x, self.memories[where], at, self._size(view, place), mask)

    def whole(
        self, phase: Phase, place: Place, mask: Value | None, folded: dict[Value, Value]
    ) -> list[Value]:
        """Build what a phase does with the elements at a place, given the folded values that it
        uses, and return what it folds.
        """
        known = dict(folded)
        known |= {x: self._load(x, place, mask) for x in phase.read}
        known |= {x: self._restore(x, where, place, mask) for x, where in phase.restored}
        lanes.compute(phase.operations, known, self.lanes)
        for x, where in phase.stored:
            self._store(known[x], where, place, mask)
        found = [
            registers.spread(lanes.register(o.operands[0], known), self.lanes)
            for o in phase.reductions
        ]
        if mask is None:
            return found
        pairs = zip(found, phase.neutrals(self.lanes), strict=True)
        return [registers.select(mask, x, nothing) for x, nothing in pairs]

    def finish(
        self,
        phase: Phase,
        folds: Registers,
        place: Place,
        mask: Value | None,
        folded: dict[Value, Value],
    ) -> dict[Value, Value]:
        """Build what follows from the results of a phase, given the folded values that it uses, and
        return these with what was computed.
        """
        size = max(map(registers.size_of, folds), default=1)
        known = dict(folded)
        for operation, fold in zip(phase.reductions, folds, strict=True):
            known[operation.results[0]] = fold
            init = operation.operands[1]
            if self.parts == 1 and not is_identity(lanes.combiner(operation), init):
                start = self._load(init, {}, None) if mlir.splat(init) is None else None
                start = lanes.register(init, {}) if start is None else start
                begun = lanes.combined(operation, registers.spread(start, size), fold)
                known[operation.results[0]] = begun
        known |= {x: self._load(x, place, mask) for x in phase.finish.read}
        lanes.compute(phase.finish.operations, known, size)
        for x in phase.finish.stored:
            self._store(known[x], x, place, mask)
        return known
