"""Places in a kernel's own memory for its arrays: those that are not alive at a time share it.

An array is alive from the first operation that uses it to the last one, in the innermost block that
has all of its uses. What a loop carries is used outside of the loop, too; what it does not carry is
written in each step before it is read. Where operations read each element of an array before they
write that of another, the second may be in the place of the first, if nothing reads that later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from irax_compiler.mlir import Block, Operation, Value

Chain = dict[Block, int]
"""The blocks around an operation, from the innermost one on, and its number there: that of the
operation which it is in."""


@dataclass(frozen=True)
class Buffer:
    """An array in a kernel's own memory."""

    array: Value
    size: int
    block: Block
    """The block in which it was taken."""


@dataclass(frozen=True)
class Turn:
    """Operations of a block that read each element of an array before they write that of another
    one of the same size.
    """

    read: Value
    written: Value
    first: Operation
    last: Operation


@dataclass(frozen=True)
class Lifetime:
    """The operations of a block from the first one to the last one that use an array."""

    block: Block
    first: int
    last: int
    around: Chain
    """The blocks around."""

    def overlaps(self, other: Lifetime) -> bool:
        """True if two arrays may be alive at a time."""
        if self.block == other.block:
            return self.first <= other.last and other.first <= self.last
        return self._surrounds(other) or other._surrounds(self)

    def with_(self, other: Lifetime) -> Lifetime:
        """Return the lifetime of a place that has an array, and then another of the block."""
        first, last = min(self.first, other.first), max(self.last, other.last)
        return Lifetime(self.block, first, last, self.around)

    def _surrounds(self, other: Lifetime) -> bool:
        place = other.around.get(self.block)
        return place is not None and self.first <= place <= self.last


def places(buffers: Sequence[Buffer], turns: Sequence[Turn]) -> tuple[list[int], int]:
    """Return the byte at which each array begins, and the size of the memory of all."""
    numbers = _Numbers()
    lifetimes = [numbers.lifetime(x) for x in buffers]
    sizes = [x.size for x in buffers]
    apart = _packed(sizes, lifetimes)
    owners = _owners(buffers, lifetimes, turns, numbers)
    kept = [i for i, owner in enumerate(owners) if i == owner]
    starts, size = _packed([sizes[i] for i in kept], [lifetimes[i] for i in kept])
    if size >= apart[1]:
        return apart
    return [starts[kept.index(owner)] for owner in owners], size


def _owners(
    buffers: Sequence[Buffer], lifetimes: list[Lifetime], turns: Sequence[Turn], numbers: _Numbers
) -> list[int]:
    """Return for each array the number of that in whose place it is, and let this one live as long
    as both.
    """
    number = {x.array: i for i, x in enumerate(buffers)}
    owners = list(range(len(buffers)))
    followed: set[tuple[int, Operation]] = set()
    """The places that have got another array, with the operations where they did."""
    for turn in turns:
        old, new = owners[number[turn.read]], number[turn.written]
        before, after = lifetimes[old], lifetimes[new]
        is_next = before.block == after.block == turn.first.block
        is_next = is_next and before.last <= numbers.place(turn.last)
        is_next = is_next and numbers.place(turn.first) <= after.first
        if is_next and owners[new] == new and (old, turn.first) not in followed:
            owners[new] = old
            lifetimes[old] = before.with_(after)
            followed.add((old, turn.first))
    return owners


def _packed(sizes: Sequence[int], lifetimes: Sequence[Lifetime]) -> tuple[list[int], int]:
    starts: dict[int, int] = {}
    for i in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
        taken = sorted(
            (start, start + sizes[j])
            for j, start in starts.items()
            if lifetimes[i].overlaps(lifetimes[j])
        )
        starts[i] = _first_gap(taken, sizes[i])
    ends = (start + sizes[i] for i, start in starts.items())
    return [starts[i] for i in range(len(sizes))], max(ends, default=0)


def _first_gap(taken: Sequence[tuple[int, int]], size: int) -> int:
    at = 0
    for start, end in taken:
        if start - at >= size:
            return at
        at = max(at, end)
    return at


class _Numbers:
    """The numbers of operations in their blocks."""

    def __init__(self) -> None:
        self._numbers: dict[Block, dict[Operation, int]] = {}

    def lifetime(self, buffer: Buffer) -> Lifetime:
        """Return the lifetime of an array."""
        uses = [self._chain(use.owner.operation) for use in buffer.array.uses]
        blocks = (buffer.block, *self._chain_of_block(buffer.block))
        block = next(b for b in blocks if all(b in use for use in uses))
        numbers = [use[block] for use in uses] or [0]
        return Lifetime(block, min(numbers), max(numbers), self._chain_of_block(block))

    def place(self, operation: Operation) -> int:
        """Return the number of an operation in its block."""
        return self._number(operation.block, operation)

    def _chain(self, operation: Operation) -> Chain:
        block = operation.block
        return {block: self._number(block, operation), **self._chain_of_block(block)}

    def _chain_of_block(self, block: Block) -> Chain:
        owner: Any = block.owner
        outer = owner.operation
        if outer.name == "func.func":
            return {}
        return self._chain(outer)

    def _number(self, block: Block, operation: Operation) -> int:
        if block not in self._numbers:
            views = block.operations
            self._numbers[block] = {view.operation: i for i, view in enumerate(views)}
        return self._numbers[block][operation]
