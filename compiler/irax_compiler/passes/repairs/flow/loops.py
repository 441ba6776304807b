"""Loops of IREE's dialect flow, as what a step does with the arrays that it carries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from irax_compiler import mlir
from irax_compiler.mlir import Block, Operation, Value

LOOPS = {"scf.for", "scf.while"}


@dataclass(frozen=True)
class Loop:
    """A loop of which one block is the step."""

    operation: Operation
    body: Block
    arguments: Sequence[Value]
    """The carried values, as the body has them."""
    results: Sequence[int]
    """For each argument, the number of the body's terminator's operand that is its next value."""
    begins: Sequence[int]
    """For each argument, the number of the loop's operand that it begins as."""
    condition: Value | None = None
    """The value that the host reads in each step, after the body or before it."""
    tested: Sequence[Value] = ()
    """For each argument, the one of the condition's block, if that is not the body."""

    def following(self) -> list[Value]:
        """Return the next values of the arguments."""
        last = list(mlir.terminator(self.body).operands)
        return [last[i] for i in self.results]


def loop_of(operation: Operation) -> Loop | None:
    """Return a loop's parts; None if its steps are in both of its blocks."""
    if operation.name == "scf.for":
        body = operation.regions[0].blocks[0]
        carried = list(body.arguments)[1:]
        numbers = range(len(carried))
        return Loop(operation, body, carried, numbers, [3 + i for i in numbers])
    before, after = (region.blocks[0] for region in operation.regions)
    condition, *forwarded = mlir.terminator(before).operands
    ends = list(mlir.terminator(after).operands)
    inner: list[Value] = list(after.arguments)
    if len(list(after.operations)) == 1 and set(ends) <= set(inner):
        # The condition follows the step.
        results = [1 + inner.index(x) for x in ends]
        outer = list(before.arguments)
        return Loop(operation, before, outer, results, range(len(outer)), condition)
    tested: list[Value] = list(before.arguments)
    if len(set(forwarded)) < len(forwarded) or not set(forwarded) <= set(tested):
        return None
    places = [tested.index(x) for x in forwarded]
    return Loop(operation, after, inner, places, places, condition, forwarded)
