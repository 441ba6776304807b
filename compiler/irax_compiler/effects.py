"""Side effects of operations, and dead-code elimination."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Block, Operation

_ACTIONS = {f"stablehlo.{name}" for name in ("custom_call", "infeed", "outfeed", "send", "recv")}
"""The operations that may have side effects of their own."""

_CALLEES = {"func.call": "callee", "stablehlo.composite": "decomposition"}
"""Operations that run a function, and the attribute that names it."""


def effects(operation: Operation, seen: set[str] | None = None) -> Iterator[Operation]:
    """Return the operations with side effects: this one, or those in its regions and in the
    functions that it calls, each once. A composite without results, such as a check, has some.
    """
    name, seen = operation.name, set() if seen is None else seen
    if name in _ACTIONS:
        if name != "stablehlo.custom_call" or _says_that_it_acts(operation):
            yield operation
    elif name == "stablehlo.composite" and not len(operation.results):
        yield operation
    elif name in _CALLEES:
        attribute: Any = operation.attributes[_CALLEES[name]]
        if attribute.value not in seen:
            seen.add(attribute.value)
            yield from effects(mlir.function_beside(operation, attribute.value), seen)
    for region in operation.regions:
        for block in region.blocks:
            for view in block.operations:
                yield from effects(view.operation, seen)


def _says_that_it_acts(custom_call: Operation) -> bool:
    attribute: Any = custom_call.attributes.get("has_side_effect")
    return attribute is not None and attribute.value  # StableHLO's default is false


def has_effects(operation: Operation) -> bool:
    """True if an operation has side effects."""
    return next(effects(operation), None) is not None


def is_dead(operation: Operation) -> bool:
    """True if an operation has no uses and no side effects."""
    results = operation.results
    if not len(results):
        return False
    for result in results:
        for _ in result.uses:
            return False
    return not has_effects(operation)


def remove_dead_operations(block: Block) -> None:
    """Erase dead operations, last first, in nested regions too."""
    for operation in reversed([o.operation for o in block.operations]):
        if is_dead(operation):
            operation.erase()
            continue
        for region in operation.regions:
            for inner in region.blocks:
                remove_dead_operations(inner)
