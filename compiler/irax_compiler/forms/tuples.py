"""Elimination of tuples: their elements are used directly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Module, Operation, Value

_TUPLE = "stablehlo.tuple"


def _element(operation: Operation, number: int) -> Sequence[Value] | None:
    source = mlir.definition(operation.operands[0])
    if source is None or source.name != _TUPLE:
        return None
    index: Any = operation.attributes["index"]
    return [source.operands[index.value]]


FORMS = {"stablehlo.get_tuple_element": _element}


def without_unused(module: Module) -> None:
    """Erase tuples without uses."""
    for function in mlir.functions(module).values():
        for block in function.regions[0].blocks:
            for view in reversed(list(block.operations)):
                if view.operation.name == _TUPLE and not mlir.num_uses(view.operation.results[0]):
                    view.operation.erase()
