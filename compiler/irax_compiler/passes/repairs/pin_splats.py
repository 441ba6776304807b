"""The pass pin-splats, which keeps splats in each group of kernels that uses them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.repairs.flow.copies import after
from irax_compiler.passes.repairs.flow.extents import sizes_of_result

_FILL, _CALL = "flow.tensor.splat", "util.call"
_RESHAPE, _KERNEL, _CONSTANT = "flow.tensor.reshape", "flow.dispatch", "arith.constant"
Place = tuple[Block, Operation | None]
"""A part of a block: what is after a call of the host, or after none, up to the next."""


@register_pass
class PinSplats(Pass):
    """Puts a kernel that does nothing behind arrays of IREE's dialect flow that are filled with a
    number that is computed, and behind constants of one number throughout.

    IREE 3.13 makes such an array in each group of kernels of a block that uses it. If there are two
    groups, it forgets the uses in branches and loops in the block, and those after a call of the
    host: "streamable op expected to be in an execution region". What a kernel that reads an array
    makes is made once. A barrier would not do: IREE would take the array for memory of its own, and
    write to it in each step of a loop.
    """

    name: ClassVar[str] = "pin-splats"

    def run(self, module: Module) -> None:
        for view in list(module.body.operations):
            function = view.operation
            if function.name == "util.func":
                place = _place if calls_host(function) else _block
                for operation in list(nested(function)):
                    if _may_be_forgotten(_who_need(operation), place):
                        _hold(operation.results[0])


def calls_host(operation: Operation) -> bool:
    """True if an operation is a call of the host or contains one."""
    return operation.name == _CALL or any(o.name == _CALL for o in nested(operation))


def calls_host_in_branch(function: Operation) -> bool:
    """True if a function calls the host in a branch."""
    return any(o.name == "scf.if" and calls_host(o) for o in nested(function))


def _who_need(operation: Operation) -> Sequence[Operation]:
    """Return what uses a filled array, once per use; of constants, the kernels."""
    if operation.name == _FILL:
        number = mlir.definition(operation.operands[0])
        is_computed = number is None or number.name != _CONSTANT
        return list(_users(operation.results[0])) if is_computed else ()
    if operation.name == _CONSTANT and _is_filled(operation):
        return [user for user in _users(operation.results[0]) if user.name == _KERNEL]
    return ()


def _is_filled(constant: Operation) -> bool:
    try:
        value: Any = constant.attributes["value"]
    except TypeError:  # the bindings have no class for complex elements
        text: Any = constant.get_asm(large_elements_limit=1)
        return "dense<(" in text
    return isinstance(value, mlir.ir.DenseElementsAttr) and value.is_splat


def _may_be_forgotten(users: Sequence[Operation], place: Callable[[Operation], Place]) -> bool:
    """True if an array may be used by two groups of kernels of one block, and in another block."""
    return len(users) > 2 and len(set(map(place, users))) > 1


def _users(array: Value) -> Iterator[Operation]:
    """Yield what uses an array, in any shape, once per use."""
    for use in array.uses:
        user = use.owner.operation
        if user.name == _RESHAPE:
            yield from _users(user.results[0])
        else:
            yield user


def _hold(array: Value) -> None:
    """Put a kernel that does nothing between an array and all that uses it."""
    uses = [(use.owner.operation, use.operand_number) for use in array.uses]
    source: Any = mlir.definition(array)
    with InsertionPoint.after(source), source.location:
        held = after(array, (), sizes_of_result(array))
    for user, i in uses:
        user.operands[i] = held


def _block(operation: Operation) -> Place:
    return operation.block, None


def _place(operation: Operation) -> Place:
    call = None
    for view in operation.block.operations:
        if view.operation == operation:
            break
        if calls_host(view.operation):
            call = view.operation
    return operation.block, call
