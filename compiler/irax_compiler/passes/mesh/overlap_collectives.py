"""The pass overlap-collectives: devices compute while arrays that they sum are on their way.

    %2 = stablehlo.custom_call @irax_host.all_reduce(%1)

becomes a call that begins the reduction, right behind what computes its array, and another one
right before its result is used:

    %2 = stablehlo.custom_call @irax_host.begin(%1) {backend_config = {collective = "all_reduce"}}
    ...
    %3 = stablehlo.custom_call @irax_host.await(%2, %1)

The second call has the array as an operand, too: so nothing writes to it before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.effects import has_effects
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value, bytes_of, shape_of
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.core import Pass, nested, outside_kernels, register_pass
from irax_compiler.passes.host.host import host_call, is_host_call, read_host_call
from irax_compiler.shardy.layouts import mesh_of

_OVERLAPPING = frozenset({"all_reduce", "reduce_scatter"})
"""The collectives that begin early. The results of others are larger than what they are of: they
would take up memory for longer."""


@register_pass
@dataclass
class OverlapCollectives(Pass):
    """Makes two calls of a reduction over devices: one that begins it as soon as its array is
    computed, and one that waits for the result as late as possible. Operations that depend on the
    result come after those that do not. No call begins before an operation with effects that it
    was behind. A reduction stays one call where it is of fewer than `small` bytes, or operations in
    between have fewer than `least` bytes of operands and results.
    """

    name: ClassVar[str] = "overlap-collectives"
    small: int = 1 << 16
    least: int = 1 << 18

    def run(self, module: Module) -> bool | None:
        if not any(map(mesh_of, mlir.functions(module).values())):
            return False
        reductions = [o for o in outside_kernels(module) if _collective(o) in _OVERLAPPING]
        is_changed = False
        for block in dict.fromkeys(o.block for o in reductions):
            is_changed |= self._overlap(block)
        return is_changed

    def _overlap(self, block: Block) -> bool:
        """Overlap the collectives of a block; return True if there was something to do."""
        order = _scheduled([view.operation for view in block.operations])
        chosen = {
            member.operation
            for member in order
            if member.begins and self._pays(order, member.operation)
        }
        if not chosen:
            return False
        *others, last = order
        tickets: dict[Operation, Value] = {}
        for member in others:
            operation = member.operation
            if operation not in chosen:
                if not member.begins:
                    operation.move_before(last.operation)
                continue
            with InsertionPoint(last.operation), operation.location:
                if member.begins:
                    tickets[operation] = _begun(operation)
                else:
                    array, result = operation.operands[0], operation.results[0]
                    given = [tickets[operation], array]
                    mlir.replace(operation, host_call("await", given, [result.type]))
        return True

    def _pays(self, order: Sequence[_Member], collective: Operation) -> bool:
        """Return True if there is enough to do while a reduction is on its way."""
        if _bytes(collective.operands[0]) < self.small:
            return False
        begin, end = (i for i, member in enumerate(order) if member.operation == collective)
        return sum(_work(m.operation) for m in order[begin + 1 : end]) >= self.least


@dataclass(frozen=True)
class _Member:
    """An operation in a new order; a collective that may overlap is in it twice."""

    operation: Operation
    begins: bool = False
    """True for the first of two."""


def _scheduled(operations: Sequence[Operation]) -> list[_Member]:
    """Return the operations of a block in an order in which reductions begin early, and what
    depends on them comes late.
    """
    late = _Late()
    found: list[_Member] = []
    for member in _begun_early(operations):
        operation = member.operation
        if member.begins:
            found += late.needed_by(operation)
            found.append(member)
        elif _collective(operation) in _OVERLAPPING:
            late.put_off(operation)
        elif _stays(operation):
            ends = has_effects(operation) or not len(operation.results)
            found += late.all() if ends else late.needed_by(operation)
            found.append(member)
        elif late.is_used_by(operation):
            late.put_off(operation)
        else:
            found.append(member)
    return found


def _begun_early(operations: Sequence[Operation]) -> list[_Member]:
    """Return the operations of a block, and each reduction that may overlap as soon as its array is
    computed, too. What is computed for such arrays alone comes as soon as it can.
    """
    feeding = _feeding(operations)
    missing: dict[_Member, int] = {}
    """For what comes as soon as it can, how much of what it needs has not come."""
    followers: dict[Operation, list[_Member]] = {operation: [] for operation in operations}
    barrier: Operation | None = None
    fixed: list[_Member] = []
    for operation in operations:
        needed = {mlir.definition(x) for x in _used(operation)}
        early = _Member(operation)
        if _collective(operation) in _OVERLAPPING:
            early = _Member(operation, begins=True)
            needed.add(barrier)
        if early.begins or operation in feeding:
            sources = [source for source in needed if source and source in followers]
            missing[early] = len(sources)
            for source in sources:
                followers[source].append(early)
        if operation not in feeding:
            fixed.append(_Member(operation))
        if has_effects(operation):
            barrier = operation
    found: list[_Member] = []
    pending = [*reversed(fixed), *(member for member in reversed(missing) if not missing[member])]
    while pending:
        member = pending.pop()
        found.append(member)
        for follower in () if member.begins else reversed(followers[member.operation]):
            missing[follower] -= 1
            if not missing[follower]:
                pending.append(follower)
    return found


def _feeding(operations: Sequence[Operation]) -> set[Operation]:
    """Return what is computed for reductions that may overlap alone, and constants."""
    found: set[Operation] = set()
    for operation in reversed(operations):
        users = [user for result in operation.results for user in mlir.users(result)]
        is_needed = all(o in found or _collective(o) in _OVERLAPPING for o in users)
        if not _stays(operation) and (is_needed or not len(operation.operands)):
            found.add(operation)
    return found


@dataclass
class _Late:
    """Operations that are put off until they are needed, in their order."""

    members: dict[Operation, None] = field(default_factory=dict)
    values: dict[Value, Operation] = field(default_factory=dict)
    """The results of these."""

    def put_off(self, operation: Operation) -> None:
        self.members[operation] = None
        self.values.update(dict.fromkeys(operation.results, operation))

    def is_used_by(self, operation: Operation) -> bool:
        return any(x in self.values for x in _used(operation))

    def needed_by(self, operation: Operation) -> list[_Member]:
        """Take out what an operation depends on, and return it."""
        needed: set[Operation] = set()
        pending = [operation]
        while pending:
            for x in _used(pending.pop()):
                source = self.values.get(x)
                if source is not None and source not in needed:
                    needed.add(source)
                    pending.append(source)
        return self._taken([o for o in self.members if o in needed])

    def all(self) -> list[_Member]:
        """Take out all, and return them."""
        return self._taken(list(self.members))

    def _taken(self, operations: list[Operation]) -> list[_Member]:
        for operation in operations:
            del self.members[operation]
            for x in operation.results:
                del self.values[x]
        return [_Member(operation) for operation in operations]


def _begun(collective: Operation) -> Value:
    """Build the call that begins a collective; return its ticket."""
    name, parameters = read_host_call(collective)
    ticket = mlir.tensor_type((), np.dtype(np.int32))
    return host_call("begin", [collective.operands[0]], [ticket], collective=name, **parameters)[0]


def _collective(operation: Operation) -> str | None:
    """The name of the host function that an operation calls; None for another operation."""
    return read_host_call(operation)[0] if is_host_call(operation) else None


def _stays(operation: Operation) -> bool:
    """True for operations that stay where they are: all that have effects or call the host."""
    calls = map(is_host_call, (operation, *nested(operation)))
    return not len(operation.results) or any(calls) or has_effects(operation)


def _used(operation: Operation) -> list[Value]:
    """The values that an operation, or what is in it, uses."""
    return [*operation.operands, *mlir.captured(operation)]


def _work(operation: Operation) -> int:
    """The bytes that an operation reads and writes."""
    traits = traits_of(operation)
    takes_no_time = traits.is_constant or traits.is_view or traits.stretches
    if takes_no_time or is_host_call(operation):
        return 0
    return sum(_bytes(x) for x in (*operation.operands, *operation.results))


def _bytes(x: Value) -> int:
    is_known = isinstance(x.type, mlir.RankedTensorType) and all(
        isinstance(n, int) for n in shape_of(x)
    )
    return bytes_of(x) if is_known else 0
