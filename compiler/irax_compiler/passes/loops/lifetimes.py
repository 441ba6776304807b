"""Places in a kernel's own memory for its arrays: those that are not alive at a time share it.

An array is alive from the first operation that uses it to the last one, in the innermost block that
has all of its uses. What a loop carries is used outside of the loop, too; what it does not carry is
written in each step before it is read.
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

    def _surrounds(self, other: Lifetime) -> bool:
        place = other.around.get(self.block)
        return place is not None and self.first <= place <= self.last


def places(buffers: Sequence[Buffer]) -> tuple[list[int], int]:
    """Return the byte at which each array begins, and the size of the memory of all."""
    numbers = _Numbers()
    lifetimes = [numbers.lifetime(x) for x in buffers]
    starts: dict[int, int] = {}
    for i in sorted(range(len(buffers)), key=lambda i: -buffers[i].size):
        taken = sorted(
            (start, start + buffers[j].size)
            for j, start in starts.items()
            if lifetimes[i].overlaps(lifetimes[j])
        )
        starts[i] = _first_gap(taken, buffers[i].size)
    ends = (start + buffers[i].size for i, start in starts.items())
    return [starts[i] for i in range(len(buffers))], max(ends, default=0)


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
