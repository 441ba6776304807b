"""Constants in the forms of torch-mlir: `arith.constant` of tensors, and weights that are kept
apart under a name, `dense_resource`. They become constants of StableHLO that have their elements.
"""

from __future__ import annotations

from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.ops.core import constant

_NAME = "stablehlo.constant"
WORDS = ("arith", "dense_resource")


def rewrite(module: Module) -> None:
    """Rewrite the constants of a module.

    Raises:
        TypeError: the module does not have the elements of a constant.
    """
    for operation in mlir.operations_in(module.operation)[:-1]:
        if operation.name not in (_NAME, "arith.constant"):
            continue
        (result,) = operation.results
        if not isinstance(result.type, mlir.RankedTensorType):
            continue
        is_apart = mlir.is_apart(operation)
        if is_apart or (operation.name != _NAME and _is_in_stablehlo(operation)):
            with InsertionPoint(operation), operation.location:
                result.replace_all_uses_with(_made(operation, is_apart))
            operation.erase()


def _is_in_stablehlo(operation: Operation) -> bool:
    """False in modules that IREE has begun to lower, which have constants of arith by right."""
    around: Any = operation.parent
    while around is not None:
        if around.name.partition(".")[0] not in ("builtin", "func", "stablehlo", "sdy"):
            return False
        around = around.operation.parent
    return True


def _made(operation: Operation, is_apart: bool) -> Value:
    if is_apart:
        return constant(mlir.dense_to_numpy(operation))
    attributes = mlir.attributes_of(operation)
    return mlir.emit(_NAME, [], attributes, [operation.results[0].type]).results[0]
