"""Axes along which values may differ between the devices of a mesh.

They follow from the operations: a result varies along the axes of its operands. A collective adds
an axis, or takes one away where its result is invariant. Functions are looked into, once for each
pattern of arguments; loops are followed until nothing changes any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Block, Operation, Value
from irax_compiler.ops.collective import AllGather, AllReduce, AxisIndex, Pvary, collective_of
from irax_compiler.ops.control_flow.shard_map import ShardMap, axes_of, is_shard_map

Axes = frozenset[str]
NONE: Axes = frozenset()

_CALLEES = {"func.call": "callee", "stablehlo.composite": "decomposition"}
_CHOICES = ("stablehlo.if", "stablehlo.case")


class Varying:
    """The axes along which results of a module's functions and operations vary."""

    def __init__(self, functions: Mapping[str, Operation]) -> None:
        self._functions = functions
        self._found: dict[tuple[str, tuple[Axes, ...]], tuple[Axes, ...]] = {}

    def results(self, name: str, arguments: Sequence[Axes]) -> tuple[Axes, ...]:
        """Return the axes of the results of function `name`, for those of its arguments."""
        key = (name, tuple(arguments))
        if key not in self._found:
            function = self._functions[name]
            if not function.regions[0].blocks:  # it is declared, and nothing else is known
                return (NONE.union(*arguments),) * len(mlir.result_types(function))
            self._found[key] = self._block(mlir.body(function), arguments, {})
        return self._found[key]

    def of(self, operation: Operation, known: Mapping[Value, Axes]) -> tuple[Axes, ...]:
        """Return the axes of an operation's results; values that are not `known` are invariant."""
        given = [known.get(x, NONE) for x in operation.operands]
        together = NONE.union(*given, *(known.get(x, NONE) for x in mlir.captured(operation)))
        if operation.name in _CALLEES:
            name: Any = operation.attributes[_CALLEES[operation.name]]
            return self.results(name.value, given)
        if is_shard_map(operation):
            return self._shards(ShardMap.read(operation), given)
        collective = collective_of(operation)
        if isinstance(collective, Pvary | AxisIndex):
            return (together | {collective.axis},)
        if isinstance(collective, AllReduce | AllGather) and collective.invariant:
            return (together - {collective.axis},)
        blocks = [region.blocks[0] for region in operation.regions]
        if operation.name == "stablehlo.while":
            return self._loop(blocks, given, known)
        if operation.name == "stablehlo.optimization_barrier":
            return tuple(given)
        if operation.name in _CHOICES:
            found = [self._block(block, [], known) for block in blocks]
            return tuple(given[0].union(*each) for each in zip(*found, strict=True))
        return (together,) * len(operation.results)

    def of_value(self, value: Value, known: dict[Value, Axes]) -> Axes:
        """Return the axes of a value of an unfinished function. What is found on the way is kept in
        `known`, which has the arguments.
        """
        if value in known:
            return known[value]
        operation = mlir.definition(value)
        if operation is None:
            return NONE
        for x in [*operation.operands, *mlir.captured(operation)]:
            self.of_value(x, known)
        known.update(zip(operation.results, self.of(operation, known), strict=True))
        return known[value]

    def _loop(
        self, blocks: Sequence[Block], start: Sequence[Axes], known: Mapping[Value, Axes]
    ) -> tuple[Axes, ...]:
        condition, body = blocks
        state = tuple(start)
        while True:
            (goes_on,) = self._block(condition, state, known)
            after = self._block(body, state, known)
            joined = tuple(a | b | goes_on for a, b in zip(state, after, strict=True))
            if joined == state:
                return state
            state = joined

    def _shards(self, op: ShardMap, given: Sequence[Axes]) -> tuple[Axes, ...]:
        inside = [axes | axes_of(spec) for axes, spec in zip(given, op.in_specs, strict=True)]
        return tuple(axes - set(op.manual) for axes in self.results(op.body, inside))

    def _block(
        self, block: Block, arguments: Sequence[Axes], around: Mapping[Value, Axes]
    ) -> tuple[Axes, ...]:
        known = {**around, **dict(zip(block.arguments, arguments, strict=True))}
        *operations, last = (view.operation for view in block.operations)
        for operation in operations:
            known.update(zip(operation.results, self.of(operation, known), strict=True))
        return tuple(known.get(x, NONE) for x in last.operands)
