"""Side effects of operations, and dead-code elimination."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Block, Operation

_ACTIONS = {f"stablehlo.{name}" for name in ("custom_call", "infeed", "outfeed", "send", "recv")}
"""The operations that may have side effects of their own."""

_CALLEES = {"func.call": "callee", "stablehlo.composite": "decomposition"}
"""Operations that run a function, and the attribute that names it."""


PRIMITIVE = "irax.primitive"
"""The composite of the user's primitives. They stay in a program until it is compiled: who reads
its jaxpr looks for them, whether or not a result is used."""


def effects(operation: Operation) -> Iterator[Operation]:
    """Return the operations with side effects: this one, or those in its regions and in the
    functions that it calls, each once. A composite without results, such as a check, has some.
    """
    return filter(_acts, _run_by(operation, set()))


def _run_by(operation: Operation, seen: set[str]) -> Iterator[Operation]:
    """Return an operation, and those in its regions and in the functions that it calls."""
    yield operation
    if operation.name in _CALLEES and not _acts(operation):
        attribute: Any = operation.attributes[_CALLEES[operation.name]]
        if attribute.value not in seen:
            seen.add(attribute.value)
            for region in mlir.function_beside(operation, attribute.value).regions:
                yield from _run_in(region, seen)
    for region in operation.regions:
        yield from _run_in(region, seen)


def _run_in(region: Any, seen: set[str]) -> Iterator[Operation]:
    for block in region.blocks:
        for view in block.operations:
            yield from _run_by(view.operation, seen)


def _acts(operation: Operation) -> bool:
    """True if an operation has side effects of its own."""
    name = operation.name
    if name in _ACTIONS:
        return name != "stablehlo.custom_call" or _says_that_it_acts(operation)
    return name == "stablehlo.composite" and not len(operation.results)


def _says_that_it_acts(custom_call: Operation) -> bool:
    attribute: Any = custom_call.attributes.get("has_side_effect")
    return attribute is not None and attribute.value  # StableHLO's default is false


def has_effects(operation: Operation) -> bool:
    """True if an operation has side effects."""
    return next(effects(operation), None) is not None


def _is_primitive(operation: Operation) -> bool:
    """True for a primitive of the user's."""
    if operation.name != "stablehlo.composite":
        return False
    name: Any = operation.attributes["name"]
    return name.value == PRIMITIVE


def is_dead(operation: Operation, primitives: bool = False) -> bool:
    """True if an operation has no uses and no side effects; it is, or runs, one of the user's
    primitives only if these may be dead.
    """
    results = operation.results
    if not len(results):
        return False
    for result in results:
        for _ in result.uses:
            return False
    run = _run_by(operation, set())
    return not any(_acts(o) or (not primitives and _is_primitive(o)) for o in run)


def remove_dead_operations(block: Block) -> None:
    """Erase dead operations, last first, in nested regions too."""
    for operation in reversed([o.operation for o in block.operations]):
        if is_dead(operation):
            operation.erase()
            continue
        for region in operation.regions:
            for inner in region.blocks:
                remove_dead_operations(inner)


def remove_dead_primitives(operations: Sequence[Operation]) -> None:
    """Erase those of the user's primitives among operations that are dead, last first."""
    for operation in reversed([o for o in operations if _is_primitive(o)]):
        if is_dead(operation, primitives=True):
            operation.erase()
