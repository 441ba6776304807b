"""Sums along axes of a mesh that are still to be taken, as types tell them.

Outside of a `shard_map` such a value is whole: the sum was taken. That its devices have summands is
told by its type alone, which follows from the operations: they keep it, and the mark
`irax.sums_along` changes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from irax_compiler.mlir import Operation, Value
from irax_compiler.ops.control_flow.shard_map import ShardMap
from irax_compiler.ops.dataflow import Dataflow
from irax_compiler.ops.marks import SumsAlong
from irax_compiler.ops.registry import read

_NONE: frozenset[str] = frozenset()


class Sums(NamedTuple):
    """The axes along which sums are still to be taken, of a value and of its cotangents."""

    unreduced: frozenset[str] = _NONE
    """The axes along which the devices have summands of it."""
    reduced: frozenset[str] = _NONE
    """The axes along which the devices will have summands of its cotangents."""


WHOLE = Sums()
"""Nothing is still to be summed."""


def mark(sums: Sums, before: Sums) -> SumsAlong:
    """Return the op that gives a value of a type with sums that are still to be taken another one.

    Args:
        sums: those of the result.
        before: those of the value.
    """
    unreduced, reduced = (tuple(sorted(axes)) for axes in sums)
    return SumsAlong(unreduced, reduced, *(tuple(sorted(axes)) for axes in before))


class SumsToTake(Dataflow[Sums]):
    """The sums that are still to be taken of results of a module's functions and operations."""

    nothing = WHOLE

    def joined(self, facts: Sequence[Sums], values: Sequence[Value]) -> Sums:
        unreduced = _NONE.union(*(x.unreduced for x in facts))
        return Sums(unreduced, _NONE.union(*(x.reduced for x in facts)) - unreduced)

    def own(self, operation: Operation, together: Sums) -> Sums | None:
        if operation.name != "stablehlo.composite":
            return None
        op = read(operation)
        if not isinstance(op, SumsAlong):
            return None
        return Sums(frozenset(op.unreduced), frozenset(op.reduced))

    def of_shards(self, op: ShardMap, given: Sequence[Sums]) -> tuple[Sums, ...]:
        """Nothing: marks stand before a function of shards and behind it."""
        return (WHOLE,) * len(op.out_specs)
