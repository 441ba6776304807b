"""Forward dataflow analysis: facts about values that follow from the operations that compute them.

Functions are looked into, once for each pattern of facts about arguments; loops are followed until
nothing changes any more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, Operation, Value
from irax_compiler.ops.control_flow.shard_map import ShardMap, is_shard_map

F = TypeVar("F", bound=Hashable)

_CALLEES = {"func.call": "callee", "stablehlo.composite": "decomposition"}
_CHOICES = ("stablehlo.if", "stablehlo.case")


class Dataflow(ABC, Generic[F]):
    """The facts about results of a module's functions and operations.

    Args:
        functions: the functions of the module, by name.
    """

    nothing: F
    """The fact about values of which nothing is known."""

    def __init__(self, functions: Mapping[str, Operation]) -> None:
        self._functions = functions
        self._found: dict[tuple[str, tuple[F, ...]], tuple[F, ...]] = {}

    @abstractmethod
    def joined(self, facts: Sequence[F], values: Sequence[Value]) -> F:
        """Return the fact about what is computed from some values, for the facts about these."""

    def chosen(self, fact: F, by: F) -> F:
        """Return the fact about a value that a branch or a loop has chosen, for that about what
        they go by.
        """
        return fact

    def own(self, operation: Operation, together: F) -> F | None:
        """Return the fact about the results of an operation that decides on it; None for another.
        `together` is the joined fact about what it uses.
        """
        return None

    def of_shards(self, op: ShardMap, given: Sequence[F]) -> tuple[F, ...]:
        """Return the facts about the results of a function of shards."""
        return self.results(op.body, given)

    def results(self, name: str, arguments: Sequence[F]) -> tuple[F, ...]:
        """Return the facts about the results of function `name`, for those about its arguments."""
        key = (name, tuple(arguments))
        if key not in self._found:
            function = self._functions[name]
            if not function.regions[0].blocks:  # it is declared, and nothing else is known
                together = self.joined(arguments, mlir.arguments(function))
                return (together,) * len(mlir.result_types(function))
            self._found[key] = self._block(mlir.body(function), arguments, {})
        return self._found[key]

    def of(self, operation: Operation, known: Mapping[Value, F]) -> tuple[F, ...]:
        """Return the facts about an operation's results; of values that are not `known`, nothing
        is.
        """
        operands = list(operation.operands)
        given = [known.get(x, self.nothing) for x in operands]
        inside = list(mlir.captured(operation))
        uses = [*given, *(known.get(x, self.nothing) for x in inside)]
        together = self.joined(uses, [*operands, *inside])
        own = self.own(operation, together)
        if own is not None:
            return (own,) * len(operation.results)
        if operation.name in _CALLEES:
            name: Any = operation.attributes[_CALLEES[operation.name]]
            return self.results(name.value, given)
        if is_shard_map(operation):
            return self.of_shards(ShardMap.read(operation), given)
        blocks = [region.blocks[0] for region in operation.regions]
        if operation.name == "stablehlo.while":
            return self._loop(blocks, given, known)
        if operation.name == "stablehlo.optimization_barrier":
            return tuple(given)
        if operation.name in _CHOICES:
            found = [self._block(block, [], known) for block in blocks]
            pairs = zip(operation.results, zip(*found, strict=True), strict=True)
            return tuple(self.chosen(self._met(x, facts), given[0]) for x, facts in pairs)
        return (together,) * len(operation.results)

    def of_value(self, value: Value, known: dict[Value, F]) -> F:
        """Return the fact about a value of an unfinished function. What is found on the way is kept
        in `known`, which has the arguments.
        """
        if value in known:
            return known[value]
        operation = mlir.definition(value)
        if operation is None:
            return self.nothing
        for x in [*operation.operands, *mlir.captured(operation)]:
            self.of_value(x, known)
        known.update(zip(operation.results, self.of(operation, known), strict=True))
        return known[value]

    def _met(self, value: Value, facts: Sequence[F]) -> F:
        """The fact about a value that is one of several of its type."""
        return self.joined(facts, [value] * len(facts))

    def _loop(
        self, blocks: Sequence[Block], start: Sequence[F], known: Mapping[Value, F]
    ) -> tuple[F, ...]:
        condition, body = blocks
        state = tuple(start)
        while True:
            (goes_on,) = self._block(condition, state, known)
            after = self._block(body, state, known)
            triples = zip(body.arguments, state, after, strict=True)
            joined = tuple(self.chosen(self._met(x, (a, b)), goes_on) for x, a, b in triples)
            if joined == state:
                return state
            state = joined

    def _block(
        self, block: Block, arguments: Sequence[F], around: Mapping[Value, F]
    ) -> tuple[F, ...]:
        known = {**around, **dict(zip(block.arguments, arguments, strict=True))}
        *operations, last = (view.operation for view in block.operations)
        for operation in operations:
            known.update(zip(operation.results, self.of(operation, known), strict=True))
        return tuple(known.get(x, self.nothing) for x in last.operands)
