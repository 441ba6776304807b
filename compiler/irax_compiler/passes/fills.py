"""The pass fills, which fills an array anew where it is used after a call of the host."""

from __future__ import annotations

from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation
from irax_compiler.passes.core import Pass, nested, register_pass

_FILL, _CALL = "flow.tensor.splat", "util.call"
Place = tuple[Block, Operation | None]
"""A part of a block: what is after a call of the host, or after none, up to the next."""


@register_pass
class Fills(Pass):
    """Fills an array of IREE's dialect flow anew in each block that uses it, and after each call of
    the host, if it is filled with a number that is computed.

    IREE 3.13 fills such an array in each group of kernels that uses it. Where the host is called
    between two groups, it may forget one: "streamable op expected to be in an execution region".
    Barriers on the numbers keep the arrays apart. The arrays themselves must not be behind
    barriers: IREE would take one for memory of its own, and write to it in each step of a loop.
    """

    name: ClassVar[str] = "fills"

    def run(self, module: Module) -> None:
        for view in list(module.body.operations):
            function = view.operation
            if function.name == "util.func" and calls_host(function):
                for fill in [o for o in nested(function) if _is_fill(o)]:
                    _part(fill)


def calls_host(operation: Operation) -> bool:
    """True if an operation is a call of the host or contains one."""
    return operation.name == _CALL or any(o.name == _CALL for o in nested(operation))


def calls_host_in_branch(function: Operation) -> bool:
    """True if a function calls the host in a branch."""
    return any(o.name == "scf.if" and calls_host(o) for o in nested(function))


def _is_fill(operation: Operation) -> bool:
    """True if an operation fills an array with a number that is computed."""
    if operation.name != _FILL:
        return False
    number = mlir.definition(operation.operands[0])
    return number is None or number.name != "arith.constant"


def _part(fill: Operation) -> None:
    """Give each place that uses a fill, but its own, another one."""
    places: dict[Place, list[tuple[Operation, int]]] = {}
    for use in fill.results[0].uses:
        user = use.owner.operation
        places.setdefault(_place(user), []).append((user, use.operand_number))
    places.pop(_place(fill), None)
    for (block, call), users in places.items():
        begin = InsertionPoint.at_block_begin(block) if call is None else InsertionPoint.after(call)
        with begin, fill.location:
            number = mlir.emit(
                "util.optimization_barrier", [fill.operands[0]], {}, [fill.operands[0].type]
            ).results[0]
            (array,) = mlir.emit(_FILL, [number], {}, [fill.results[0].type]).results
        for user, i in users:
            user.operands[i] = array


def _place(operation: Operation) -> Place:
    call = None
    for view in operation.block.operations:
        if view.operation == operation:
            break
        if calls_host(view.operation):
            call = view.operation
    return operation.block, call
