"""Elimination of tuples: their elements are used directly, also those of custom calls' results."""

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


def of_call(operation: Operation, number: int) -> Sequence[Value] | None:
    """A custom call with a result for each element of its tuple."""
    if len(operation.results) != 1 or not isinstance(operation.results[0].type, mlir.ir.TupleType):
        return None
    (result,) = operation.results
    given: Any = result.type
    types = [given.get_type(i) for i in range(given.num_types)]
    attributes = {name: operation.attributes[name] for name in operation.attributes}
    made = mlir.emit(operation.name, list(operation.operands), attributes, types)
    return mlir.emit(_TUPLE, list(made.results), {}, [given]).results


FORMS = {"stablehlo.get_tuple_element": _element}


def without_unused(module: Module) -> None:
    """Erase tuples without uses."""
    for operation in reversed(mlir.operations_in(module.operation)):
        if operation.name == _TUPLE and not mlir.num_uses(operation.results[0]):
            operation.erase()
