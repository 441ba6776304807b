"""Cures for operations that IREE compiles one by one, but not fused with each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, shape_of
from irax_compiler.passes.legalize.cure import cure


@cure("stablehlo.reverse", "stablehlo.gather")
def read_of_slice(operation: Operation) -> Sequence[Value] | None:
    """A slice that leaves elements out of a row cannot be fused into a reverse or a gather."""
    source = mlir.definition(operation.operands[0])
    while source is not None and source.name == "stablehlo.reshape":
        source = mlir.definition(source.operands[0])
    if source is None or source.name != "stablehlo.slice" or not _skips(source):
        return None
    return _apart(operation)


@cure("stablehlo.pad")
def spread_of_scatter(operation: Operation) -> Sequence[Value] | None:
    """A pad between the elements cannot be fused with the scatter that made them."""
    source = mlir.definition(operation.operands[0])
    interior: Any = operation.attributes["interior_padding"]
    if source is None or source.name != "stablehlo.scatter" or not any(interior):
        return None
    return _apart(operation)


def _skips(slice_: Operation) -> bool:
    """True unless the slice takes whole rows, one after the other."""
    strides: Any = slice_.attributes["strides"]
    whole = shape_of(slice_.operands[0])[1:] == shape_of(slice_.results[0])[1:]
    return not whole or any(stride != 1 for stride in strides)


def _apart(operation: Operation) -> Sequence[Value]:
    """The operation on its first operand behind a barrier, which nothing is fused across."""
    operand = operation.operands[0]
    barrier = mlir.emit("stablehlo.optimization_barrier", [operand], results=[operand.type])
    copy = operation.clone()
    copy.operands[0] = barrier.results[0]
    return list(copy.results)
