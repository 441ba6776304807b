"""The growth of a cluster: the operations of a block that one kernel computes together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Block, Operation, Value
from irax_compiler.ops import registers
from irax_compiler.ops.elementwise_map import Map
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.core import in_order, nested, runs_blocks, users_in, walk

FAR = 128
"""The most operations that are looked at for a cluster."""


def running_blocks(function: Operation) -> list[Block]:
    """Return the blocks of a function and of its control flow, each after those inside it."""
    found: list[Block] = []

    def visit(block: Block) -> None:
        for operation in filter(runs_blocks, walk(block)):
            for region in operation.regions:
                for inner in region:
                    visit(inner)
        found.append(block)

    for block in function.regions[0]:
        visit(block)
    return found


def sources_of(values: Iterable[Value]) -> list[Operation]:
    """Return the operations that make values, those of arguments excepted."""
    return [source for source in map(mlir.definition, values) if source is not None]


def is_on_vectors(operation: Operation) -> bool:
    """True for an elementwise operation on numbers that are not complex, or a map of such: kernels
    compute vectors of its results.
    """
    inner = (o for o in nested(operation) if not o.name.endswith(".return"))
    is_one = registers.is_known(operation) or operation.name == Map.name
    return is_one and all(map(registers.is_known, inner))


def is_there(x: Value, place: Operation) -> bool:
    """True if a value is defined before an operation: in its block, or in one around it."""
    source = mlir.definition(x)
    return source is None or source.block != place.block or source.is_before_in_block(place)


@dataclass
class Growth(ABC):
    """A cluster that grows. A subclass says which operations it takes."""

    block: Block
    members: dict[Value, Operation] = field(default_factory=dict, init=False)
    """The operations, by their results."""
    again: set[Value] = field(default_factory=set, init=False)
    """The results that are computed again for the cluster: others use the first."""

    @abstractmethod
    def follows(self, operation: Operation, outside: Operation | None) -> bool:
        """True if a user of members can join, all of its operands being there before `outside`."""

    @abstractmethod
    def precedes(self, operation: Operation) -> bool:
        """True if an operation of the block whose result members use can join."""

    @abstractmethod
    def is_cheap(self, operation: Operation) -> bool:
        """True if computing a result again takes less than reading it."""

    def join(self, operation: Operation) -> None:
        """Add an operation."""
        (result,) = operation.results
        self.members[result] = operation

    def users(self, x: Value) -> list[Operation]:
        """The operations of the block that use a value, in their regions too."""
        return users_in(self.block, x)

    def is_member(self, operation: Operation) -> bool:
        return len(operation.results) == 1 and operation.results[0] in self.members

    def is_inside(self, x: Value) -> bool:
        """True for a value that the cluster has without reading it."""
        return x in self.members

    def is_given(self, x: Value) -> bool:
        """True if others use a value, and use the one of the cluster."""
        return x not in self.again and not all(map(self.is_member, self.users(x)))

    def is_there(self, x: Value, outside: Operation | None) -> bool:
        """True if a value is the cluster's, or defined before an operation."""
        return self.is_inside(x) or outside is None or is_there(x, outside)

    def in_order(self) -> list[Operation]:
        """The operations, in the order of the block."""
        return sorted(self.members.values(), key=in_order)

    def place(self, given: Sequence[Value]) -> Operation:
        """The first operation outside that uses what is given: the kernel is to be before it."""
        return min((o for x in given for o in self.users(x) if not self.is_member(o)), key=in_order)

    def add_users(self, first: Iterable[Operation]) -> None:
        """Add operations, from the first ones on, whose other operands are there before any
        operation outside of the cluster uses a result.
        """
        pending: list[Any] = []
        known = set(self.members)
        outside: Operation | None = None

        def push(operations: Iterable[Operation]) -> None:
            for operation in operations:
                if len(operation.results) and operation.results[0] not in known:
                    known.add(operation.results[0])
                    heappush(pending, in_order(operation))

        push(first)
        for _ in range(FAR):
            if not pending:
                break
            operation: Operation = heappop(pending).obj
            if self.follows(operation, outside):
                self.join(operation)
                push(self.users(operation.results[0]))
            elif outside is None:
                outside = operation

    def add_producers(self) -> None:
        """Add the operations that compute what members use: those that nothing else uses, and
        cheap ones.
        """
        pending = [x for o in self.members.values() for x in o.operands]
        while pending:
            x = pending.pop()
            source = mlir.definition(x)
            if source is None or self.is_inside(x) or source.block != self.block:
                continue
            if not self.precedes(source):
                continue
            if not all(map(self.is_member, self.users(x))):
                if traits_of(source).transcendental or not self.is_cheap(source):
                    continue
                self.again.add(x)
            self.join(source)
            pending += source.operands
