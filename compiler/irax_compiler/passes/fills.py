"""The pass fills, which has IREE make an array once that it would make anew for each use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value
from irax_compiler.passes.core import Pass, nested, register_pass

_DEVICE = "#hal.device.promise<@__device_0>"
"""The only device of a program, as IREE names it."""
_CONSTANTS = {"arith.constant", "flow.tensor.constant"}
_FILLS = {"flow.tensor.empty", "flow.tensor.splat"}


@register_pass
@dataclass
class Fills(Pass):
    """Puts barriers of IREE's dialect flow on arrays that are filled with a number, or computed
    from numbers alone, in functions that call the host.

    IREE 3.13 makes such an array anew in each group of kernels that uses it. Where the host is
    called between two groups, it may forget one: "streamable op expected to be in an execution
    region". What is behind a `flow.tensor.barrier` is made once. It waits for nothing.
    """

    name: ClassVar[str] = "fills"

    def run(self, module: Module) -> None:
        for view in list(module.body.operations):
            function = view.operation
            if function.name == "util.func" and calls_host(function):
                for fill in [o for o in nested(function) if _is_fill(o)]:
                    for array in filter(_is_array, fill.results):
                        if len(set(_places(array))) > 1:
                            hold(array)


def calls_host(operation: Operation) -> bool:
    """True if an operation is a call of the host or contains one."""
    return operation.name == "util.call" or any(o.name == "util.call" for o in nested(operation))


def barrier(x: Value, extents: Sequence[Value] = ()) -> Value:
    """Build a barrier, behind which an array is another value to IREE. `extents` are its sizes that
    are not known.
    """
    target = {"target": mlir.parse_attribute(_DEVICE)}
    return mlir.emit("flow.tensor.barrier", [x, *extents], target, [x.type]).results[0]


def hold(x: Value) -> None:
    """Have all users of a result use it behind a barrier."""
    source = mlir.definition(x)
    assert source is not None
    with InsertionPoint.after(source), source.location:
        held = barrier(x)
    behind = mlir.definition(held)
    assert behind is not None
    x.replace_all_uses_except(held, [behind])


def _is_fill(operation: Operation) -> bool:
    """True if an operation makes an array from numbers."""
    if operation.name == "flow.dispatch":
        return not any(map(_is_array, operation.operands))
    if operation.name in _CONSTANTS:
        value: Any = operation.attributes["value"]
        return getattr(value, "is_splat", True)  # numbers that are complex do not say
    return operation.name in _FILLS


def _is_array(x: Value) -> bool:
    return isinstance(x.type, mlir.RankedTensorType)


def _places(x: Value) -> Iterator[tuple[Block, int]]:
    """Yield where a value is used: the block, and how many calls of the host are before it."""
    for use in x.uses:
        user = use.owner.operation
        before = 0
        for view in user.block.operations:
            if view.operation == user:
                break
            before += calls_host(view.operation)
        yield user.block, before
