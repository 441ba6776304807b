"""Cost estimates of functions: floating-point operations, and bytes read and written.

Costs are summed over StableHLO operations; factorizations count as what LAPACK's algorithms take.
A target fuses operations, and so reads and writes less.
A loop with a known trip count costs its body that many times, any other loop once. Of branches the
most expensive counts. Operations of other dialects cost nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Block, Module, Operation, bytes_of, shape_of
from irax_compiler.ops import composite
from irax_compiler.ops.control_flow import scan
from irax_compiler.ops.control_flow.trip_counts import trip_count
from irax_compiler.ops.core import Memory, UnsupportedOp
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.passes.core import find_function, function_named

_COUNTED = ("stablehlo.", "chlo.", "func.")


@dataclass(frozen=True)
class Cost:
    """The cost of an operation, or of many."""

    flops: float = 0
    """Arithmetic on elements; comparisons, selections and conversions are included. A comparison
    and the selection of what it compares are one operation, a maximum or minimum."""
    transcendentals: float = 0
    """Elements of sines, exponentials, roots and the like; not among the flops."""
    bytes: float = 0
    """The bytes of the operands and results of each operation; of what a slice or a gather reads
    from, those that it reads."""

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.flops + other.flops,
            self.transcendentals + other.transcendentals,
            self.bytes + other.bytes,
        )

    def times(self, count: float) -> Cost:
        """Return the cost multiplied by a number."""
        return Cost(self.flops * count, self.transcendentals * count, self.bytes * count)


def cost_of(module: Module, func: str = "main") -> Cost:
    """Return the cost of one call of a function.

    Raises PassError where the module has no such function.

    >>> text = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {"
    >>> text += "%0 = stablehlo.sine %x : tensor<3xf32> return %0 : tensor<3xf32> }"
    >>> cost_of(mlir.parse_module(text))
    Cost(flops=0, transcendentals=3, bytes=24)
    """
    find_function(module, func)
    return _Counter(mlir.functions(module)).part(func)


def cost_by_operation(module: Module, func: str) -> list[tuple[Operation, float, Cost]]:
    """Return the operations of one function, in order, each with how often a call of the function
    runs it, and its cost per run. Operations in loops and branches are listed in their place; calls
    are not followed: `calls_by_function` counts those.
    """
    counter = _Counter(mlir.functions(module))
    ran = counter.ran(mlir.body(find_function(module, func)), 1)
    return [(what, count, counter.leaf(what)) for what, count in ran if not isinstance(what, str)]


def calls_by_function(module: Module, func: str) -> dict[str, float]:
    """Return the number of calls of each function in one call of a function, callers before
    callees.

    The costs of `cost_by_operation`, multiplied by it, add up to `cost_of`.
    """
    function_named(module, func)
    counter = _Counter(mlir.functions(module))
    calls = dict.fromkeys(reversed(counter.callees_first(func)), 0.0) | {func: 1.0}
    for name in calls:
        for what, count in counter.ran(mlir.body(counter.functions[name]), calls[name]):
            if isinstance(what, str):
                calls[what] += count
    return calls


def operations_of_call(module: Module, func: str) -> Iterator[tuple[Operation, float, Cost]]:
    """Yield the operations that a call of a function runs, in it and in the functions that it
    calls, each with how often, and its cost per run.
    """
    for name, calls in calls_by_function(module, func).items():
        for operation, count, cost in cost_by_operation(module, name):
            yield operation, count * calls, cost


class _Counter:
    def __init__(self, functions: Mapping[str, Operation]) -> None:
        self.functions = functions
        self.known: dict[str, Cost] = {}

    def part(self, part: Block | str) -> Cost:
        """Return the cost of a block, or of a call of a function."""
        if not isinstance(part, str):
            return sum((self.operation(view.operation) for view in part.operations), Cost())
        if part not in self.known:
            self.known[part] = self.part(mlir.body(self.functions[part]))
        return self.known[part]

    def operation(self, operation: Operation) -> Cost:
        parts = self.parts(operation)
        if parts is None:
            return self.leaf(operation)
        return sum((self.part(part).times(count) for part, count in parts), Cost())

    def ran(self, block: Block, count: float) -> Iterator[tuple[Operation | str, float]]:
        """Return the operations that a block runs, and the functions that it calls, with how often
        it does.
        """
        for view in block.operations:
            parts = self.parts(view.operation)
            if parts is None:
                yield view.operation, count
            for part, times in parts or ():
                if isinstance(part, str):
                    yield part, times * count
                else:
                    yield from self.ran(part, times * count)

    def callees_first(self, func: str) -> list[str]:
        """Return the functions that a call of a function runs, itself the last."""

        def called(name: str) -> Iterator[str]:
            ran = self.ran(mlir.body(self.functions[name]), 1)
            return (what for what, _ in ran if isinstance(what, str))

        found = mlir.callees_first([func], called)
        assert found is not None
        return found

    def parts(self, operation: Operation) -> list[tuple[Block | str, float]] | None:
        """Return the blocks or functions that a call, loop or branch runs, and how often; None for
        any other operation.
        """
        name = operation.name
        if name == "func.call":
            callee = mlir.callee(operation)
            return [(callee, 1)] if self.functions[callee].regions[0].blocks else None
        if name == "stablehlo.composite":
            return self.composite(operation)
        blocks = [region.blocks[0] for region in operation.regions if region.blocks]
        if name == "stablehlo.while":
            count = trip_count(operation, self.functions)
            return [(block, 1 if count is None else count) for block in blocks]
        if traits_of(operation).captures:  # branches
            costs = [(self.part(block), block) for block in blocks]
            dearest = max(costs, key=lambda c: (c[0].flops, c[0].bytes), default=None)
            return [] if dearest is None else [(dearest[1], 1)]
        return None

    def composite(self, operation: Operation) -> list[tuple[Block | str, float]] | None:
        try:
            op = read(operation)
        except UnsupportedOp:
            op = None
        if isinstance(op, scan.Scan):
            return [(op.body, op.length)]
        if op is not None and op.flops(operation):
            return None
        name = composite.decomposition_of(operation)
        return [(name, 1)] if self.functions[name].regions[0].blocks else []

    def leaf(self, operation: Operation) -> Cost:
        """Return the cost of an operation that is neither a call nor control flow."""
        is_composite = operation.name == "stablehlo.composite"
        traits = read(operation) if is_composite else traits_of(operation)
        is_free = traits.is_constant or traits.is_view or not len(operation.results)
        if is_free or not operation.name.startswith(_COUNTED):
            return Cost()
        arrays = [*operation.operands, *operation.results]
        if traits.memory is Memory.PART:
            arrays[0] = operation.results[0]
        moved = sum(map(_bytes, arrays))
        if traits.transcendental:
            return Cost(0, _size(operation.results[0]), moved)
        if traits.arithmetic:
            return Cost(
                0 if _is_half_of_maximum(operation) else _size(operation.results[0]), 0, moved
            )
        return Cost(traits.flops(operation), 0, moved)


def _is_half_of_maximum(operation: Operation) -> bool:
    """True if a comparison serves only to select what it compares."""
    if operation.name != "stablehlo.compare":
        return False
    compared = set(operation.operands)
    users = [use.owner for use in operation.results[0].uses]
    selects = [user for user in users if user.name == "stablehlo.select"]
    return len(users) == len(selects) == 1 and bool(compared & set(selects[0].operands[1:]))


def _size(value: Any) -> int:
    return math.prod(shape_of(value))


def _bytes(value: Any) -> int:
    if mlir.type_problem(value.type):
        return 0  # a token
    return bytes_of(value)
