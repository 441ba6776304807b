"""Cures for operations that IREE compiles one by one, but not fused with each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, shape_of
from irax_compiler.ops import comparison, elementwise
from irax_compiler.ops.core import Op
from irax_compiler.passes.legalize.arguments import UPDATES
from irax_compiler.passes.legalize.cure import cure, read_as

_PASSING = {
    "stablehlo.broadcast_in_dim",
    "stablehlo.convert",
    "stablehlo.reshape",
    "stablehlo.transpose",
}
"""What is fused besides elementwise operations."""


@cure("stablehlo.reverse", "stablehlo.gather")
def read_of_slice(operation: Operation) -> Sequence[Value] | None:
    """A slice that leaves elements out of a row cannot be fused into a reverse or a gather."""
    return _apart(operation) if _comes_from(operation.operands[0], _skips) else None


@cure("stablehlo.pad")
def pad_of_pad(operation: Operation) -> Sequence[Value] | None:
    """Of two pads IREE makes one, wrongly where the second goes between the elements; and a pad
    that does, or that takes elements away, it cannot fuse with the update that it pads.
    """
    kinds = (*UPDATES, "stablehlo.pad")
    found = _comes_from(operation.operands[0], lambda source: source.name in kinds)
    return _apart(operation) if found else None


@cure(*UPDATES)
def update_of_pad(operation: Operation) -> Sequence[Value] | None:
    """A pad between the elements, or one that takes some away, cannot be fused into an update."""
    found = _comes_from(operation.operands[0], lambda source: source.name == "stablehlo.pad")
    return _apart(operation) if found else None


def _comes_from(x: Value, kind: Callable[[Operation], bool]) -> bool:
    """Whether a value is elementwise computed from the result of an operation of some kind."""
    pending, seen = [x], set[Value]()
    while pending:
        x = pending.pop()
        source = mlir.definition(x)
        if source is None or x in seen:
            continue
        seen.add(x)
        if kind(source):
            return True
        if source.name in _PASSING or _is_elementwise(source):
            pending += source.operands
    return False


def _is_elementwise(operation: Operation) -> bool:
    return isinstance(
        read_as(Op, operation),
        elementwise.Elementwise | comparison.Compare | comparison.Select | comparison.Clamp,
    )


def _skips(operation: Operation) -> bool:
    """Whether it is a slice of anything but whole rows, one after the other."""
    if operation.name == "stablehlo.dynamic_slice":
        return True
    if operation.name != "stablehlo.slice":
        return False
    strides: Any = operation.attributes["strides"]
    whole = shape_of(operation.operands[0])[1:] == shape_of(operation.results[0])[1:]
    return not whole or any(stride != 1 for stride in strides)


def _apart(operation: Operation) -> Sequence[Value]:
    """The operation on its first operand behind a barrier, which nothing is fused across."""
    operand = operation.operands[0]
    barrier = mlir.emit("stablehlo.optimization_barrier", [operand], results=[operand.type])
    copy = operation.clone()
    copy.operands[0] = barrier.results[0]
    return list(copy.results)
