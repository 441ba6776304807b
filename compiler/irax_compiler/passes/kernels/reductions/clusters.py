"""Clusters of a reduction with the elementwise operations before and after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, shape_of
from irax_compiler.ops import shape
from irax_compiler.ops.reductions.reduce import Reduce
from irax_compiler.passes.kernels.growth import FAR, Growth, is_on_vectors
from irax_compiler.passes.kernels.kernel import ARRAYS
from irax_compiler.passes.kernels.loops.memory import is_plain
from irax_compiler.passes.kernels.reductions.domains import Domain
from irax_compiler.passes.kernels.views import View, arrays_of
from irax_compiler.passes.rewriting import read_as

FEWEST = 128
"""The elements of a domain from which a kernel pays."""
SHORTEST = 8
"""The fewest elements of a row: kernels fold vectors of them."""
CACHED = 1 << 20
"""The bytes that are read several times without leaving the processor's cache."""
COLUMNS = 64
"""The columns that are folded together, at least."""
SHARES = 4
"""The parts from which on several workers can share a domain without dividing what is folded."""
LARGE = 1 << 17
"""The elements of a domain from which several workers pay."""


@dataclass
class Cluster:
    """Operations that can be one kernel: reductions of one domain, and elementwise operations on
    what is reduced and on results.
    """

    domain: Domain
    members: list[Operation]
    views: dict[Value, View]
    """The views of arrays from outside, by the values that the members use."""
    given: list[Value]
    """The results that are used outside."""
    place: Operation
    """The operation before which the kernel is to be."""

    @property
    def reductions(self) -> list[Operation]:
        return [o for o in self.members if o.name == Reduce.name]


def domain_of(operation: Operation, fewest: int = FEWEST) -> Domain | None:
    """Return the domain of a reduction, of some elements at least, that a kernel can do; None for
    others.
    """
    op = read_as(Reduce, operation)
    if op is None or not all(map(is_plain, operation.operands)):
        return None
    domain = Domain(shape_of(operation.operands[0]), op.dimensions)
    if domain.usual.elements < fewest or prod(domain.extents[d] for d in op.dimensions) == 1:
        return None
    is_row = domain.innermost in domain.reduced
    return None if is_row and prod(_run(domain.usual, True)) < SHORTEST else domain


def _run(domain: Domain, is_reduced: bool) -> Sequence[int]:
    """Return the extents of the last dimensions that are all reduced, or all kept."""
    found = []
    for d in range(domain.innermost, -1, -1):
        if (d in domain.reduced) != is_reduced and domain.extents[d] != 1:
            break
        found.append(domain.extents[d])
    return found


def goes_on(domain: Domain) -> bool:
    """True if a kernel may use what was folded to compute whole values or fold again: the elements
    of a result fit into the cache, and there are results enough to share.
    """
    domain = domain.usual
    together = domain.elements // domain.results
    if domain.innermost not in domain.reduced:
        together *= COLUMNS
    return together * 4 <= CACHED and not is_dividable(domain)


def is_dividable(domain: Domain) -> bool:
    """True if several workers can only share a domain if each folds a part of it."""
    domain = domain.usual
    columns = 1 if domain.innermost in domain.reduced else prod(_run(domain, False))
    parts = domain.results // min(columns, COLUMNS)
    return parts < SHARES and domain.elements >= LARGE


def cluster_of(seed: Operation, domain: Domain, divided: bool) -> Cluster | None:
    """Return the cluster of a reduction; None if its kernel would have too many arrays. If parts of
    the domain are folded apart, nothing can use what is folded.
    """
    for alone in (False, True):
        found = _Growth(seed, domain, divided).cluster(alone)
        if found is not None:
            return found
    return None


class _Growth(Growth):
    """A cluster that grows."""

    def __init__(self, seed: Operation, domain: Domain, divided: bool) -> None:
        super().__init__(seed.block)
        self.seed = seed
        self.domain = domain
        self.divided = divided
        self.after: set[Value] = set()
        """The results that depend on a reduction of the cluster."""

    def cluster(self, alone: bool) -> Cluster | None:
        """Return the cluster; `alone` is without users of what is folded."""
        self.join(self.seed)
        self.add_producers()
        if not alone:
            self.add_users((*self._siblings(), *self.users(self.seed.results[0])))
            self.add_producers()
        members = self.in_order()
        given = [o.results[0] for o in members if self.is_given(o.results[0])]
        views = self._views()
        if views is None or not given or len(arrays_of(views.values())) + len(given) > ARRAYS:
            return None
        return Cluster(self.domain, members, views, given, self.place(given))

    def join(self, operation: Operation) -> None:
        super().join(operation)
        if operation.name == Reduce.name or any(x in self.after for x in operation.operands):
            self.after.add(operation.results[0])

    # -- users --

    def _siblings(self) -> list[Operation]:
        """Return other reductions of arrays that the cluster reads."""
        arrays = arrays_of((self._views() or {}).values())
        pending = [x for x in (*arrays, *self.members) if self.domain.is_whole(x)]
        seen: set[Value] = set()
        found: list[Operation] = []
        while pending and len(seen) < FAR:
            for use in pending.pop().uses:
                operation = use.owner.operation
                if operation.block != self.block or not len(operation.results):
                    continue
                if operation.results[0] in seen:
                    continue
                seen.add(operation.results[0])
                if operation.name == Reduce.name:
                    found.append(operation)
                elif self.precedes(operation):
                    pending += operation.results
        return found

    def follows(self, operation: Operation, outside: Operation | None) -> bool:
        """True if an operation can join, all of its operands being there before another."""
        operands = list(operation.operands)
        if len(operation.results) != 1 or not all(self.is_there(x, outside) for x in operands):
            return False
        (result,) = operation.results
        is_after = any(x in self.after for x in operands)
        if is_after and self.divided:
            return False
        if operation.name == Reduce.name:
            return (goes_on(self.domain) or not is_after) and domain_of(operation) == self.domain
        if not all(map(is_plain, (result, *operands))):
            return False
        is_usable = self.domain.is_folded(result) or (
            self.domain.is_whole(result) and goes_on(self.domain)
        )
        return is_usable and (self._moves_folded(operation) or self._is_elementwise(operation))

    def _moves_folded(self, operation: Operation) -> bool:
        """True for a folded value in another shape, or broadcast over the domain."""
        x, result = operation.operands[0], operation.results[0]
        if x not in self.members or not self.domain.is_folded(x):
            return False
        if read_as(shape.Reshape, operation) is not None:
            return self.domain.is_folded(result)
        op = read_as(shape.BroadcastInDim, operation)
        if op is None:
            return False
        if self.domain.is_whole(result):
            return op.broadcast_dimensions == self.domain.places(shape_of(x))
        is_in_order = list(op.broadcast_dimensions) == sorted(op.broadcast_dimensions)
        return self.domain.is_folded(result) and is_in_order

    def _is_elementwise(self, operation: Operation) -> bool:
        """True for an operation on numbers and on values of the shape of its result."""
        extents = shape_of(operation.results[0])
        return (
            is_on_vectors(operation)
            and all(shape_of(x) in ((), extents) for x in operation.operands)
            and all(x in self.members or self._is_readable(x) for x in operation.operands)
        )

    def _is_readable(self, x: Value) -> bool:
        return mlir.splat(x) is not None or self.domain.view(x) is not None

    # -- producers --

    def precedes(self, operation: Operation) -> bool:
        if len(operation.results) != 1:
            return False
        (result,) = operation.results
        return (
            self.domain.is_whole(result)
            and all(map(is_plain, (result, *operation.operands)))
            and mlir.splat(result) is None
            and self._is_elementwise(operation)
        )

    def is_cheap(self, operation: Operation) -> bool:
        """True if an operation reads no more than one whole array."""
        found = [self.domain.view(x) for x in operation.operands if mlir.splat(x) is None]
        return sum(view is not None and self._reads_all(view) for view in found) <= 1

    def _reads_all(self, view: View) -> bool:
        """True if an array has an element for each of the domain."""
        pairs = zip(self.domain.extents, view.strides, strict=True)
        return view.array is not None and all(step != 0 for n, step in pairs if n != 1)

    def _views(self) -> dict[Value, View] | None:
        """Return the views of values from outside; None if one is in another order."""
        found: dict[Value, View] = {}
        for operation in self.members.values():
            # Init values are combined with what the parts give.
            is_part = self.divided and operation.name == Reduce.name
            for x in list(operation.operands)[: 1 if is_part else None]:
                if x in self.members or mlir.splat(x) is not None or x in found:
                    continue
                view = self.domain.view(x)
                if view is None:
                    return None
                found[x] = view
        return found
