"""The order in which the kernels of a step certainly run."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Block, Operation, Value
from irax_compiler.passes.repairs.flow.loops import LOOPS

_VARIES = 1
"""The bit of what differs from step to step."""


class Order:
    """For each value of a step, the operations without which it cannot be computed, whichever
    branches are taken: as bits, for there may be many.
    """

    def __init__(self, body: Block) -> None:
        self._bits: dict[Value, int] = {}
        self._needed: dict[Value, int] = {}
        for argument in body.arguments:
            self._add(argument, _VARIES)
        self._visit(body, 0)

    def precedes(self, first: Value, then: Value) -> bool:
        """True if what computes a value is complete before another value is there."""
        return bool(self._bits.get(first, 0) & self.needed(then))

    def needed(self, x: Value) -> int:
        """Return the operations that a value depends on, as bits; none for a value from outside."""
        return self._needed.get(x, 0)

    def varies(self, x: Value) -> bool:
        """True if a value depends on what the loop, or one inside, carries or counts."""
        return bool(self.needed(x) & _VARIES)

    def _add(self, x: Value, needed: int) -> int:
        self._bits[x] = bit = 2 << len(self._bits)
        self._needed[x] = bit | needed
        return bit

    def _visit(self, block: Any, needed: int) -> int:
        """Visit the operations of a block, and return their bits."""
        own = 0
        for view in block.operations:
            operation = view.operation
            before = reduce(or_, map(self.needed, operation.operands), needed)
            if operation.name == "scf.if":
                own |= self._branch(operation, before)
                continue
            if operation.name in LOOPS:
                for region in operation.regions:
                    for argument in region.blocks[0].arguments:
                        own |= self._add(argument, before | _VARIES)
                    own |= self._visit(region.blocks[0], before)
            if len(operation.results):
                bit = self._add(operation.results[0], before)
                own |= bit
                for x in list(operation.results)[1:]:
                    self._bits[x], self._needed[x] = bit, bit | before
        return own

    def _branch(self, operation: Operation, before: int) -> int:
        """Visit both branches. Of operations outside, a result needs those that both of its values
        need: the others may still run when it is there.
        """
        blocks = [region.blocks[0] for region in operation.regions if len(region.blocks)]
        inside = [self._visit(block, before) for block in blocks]
        for i, x in enumerate(operation.results):
            needs = [self.needed(mlir.terminator(block).operands[i]) for block in blocks]
            common = reduce(lambda a, b: a & b, needs)
            own = reduce(or_, (n & bits for n, bits in zip(needs, inside, strict=True)))
            self._add(x, before | common | own | reduce(or_, needs) & _VARIES)
        return reduce(or_, inside, 0)
