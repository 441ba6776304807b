"""Axes along which values may differ between the devices of a mesh.

They follow from the operations: a result varies along the axes of its operands. A collective adds
an axis, or takes one away where its result is invariant.
"""

from __future__ import annotations

from collections.abc import Sequence

from irax_compiler.mlir import Operation, Value
from irax_compiler.ops.collective import AllGather, AllReduce, AxisIndex, Pvary, collective_of
from irax_compiler.ops.control_flow.shard_map import ShardMap, axes_of
from irax_compiler.ops.dataflow import Dataflow

Axes = frozenset[str]
NONE: Axes = frozenset()


class Varying(Dataflow[Axes]):
    """The axes along which results of a module's functions and operations vary."""

    nothing = NONE

    def joined(self, facts: Sequence[Axes], values: Sequence[Value]) -> Axes:
        return NONE.union(*facts)

    def chosen(self, fact: Axes, by: Axes) -> Axes:
        return fact | by

    def own(self, operation: Operation, together: Axes) -> Axes | None:
        collective = collective_of(operation)
        if isinstance(collective, Pvary | AxisIndex):
            return together | {collective.axis}
        if isinstance(collective, AllReduce | AllGather) and collective.invariant:
            return together - {collective.axis}
        return None

    def of_shards(self, op: ShardMap, given: Sequence[Axes]) -> tuple[Axes, ...]:
        inside = [axes | axes_of(spec) for axes, spec in zip(given, op.in_specs, strict=True)]
        return tuple(axes - set(op.manual) for axes in self.results(op.body, inside))
