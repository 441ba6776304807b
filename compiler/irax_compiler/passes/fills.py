"""The pass fills, which parts the uses of an array that is filled with a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation
from irax_compiler.passes.core import Pass, enclosing, nested, register_pass

_FILL, _CALL = "flow.tensor.splat", "util.call"
_BARRIER = "util.optimization_barrier"


@register_pass
@dataclass
class Fills(Pass):
    """Puts barriers where a branch uses an array that is filled with a number, of IREE's dialect
    flow, if the block before it uses the array too. IREE fills an array where it is used, and may
    lose one for all of them: "streamable op expected to be in an execution region". Functions stay
    as they are in which no branch calls the host.
    """

    name: ClassVar[str] = "fills"

    def run(self, module: Module) -> None:
        for view in list(module.body.operations):
            function = view.operation
            if function.name == "util.func" and calls_host_in_branch(function):
                for fill in [o for o in nested(function) if _is_fill(o)]:
                    _part(fill)


def _is_in_branch(operation: Operation) -> bool:
    """True if an operation is in a branch."""
    return any(outer.name == "scf.if" for outer in enclosing(operation))


def calls_host_in_branch(function: Operation) -> bool:
    """True if a function calls the host in a branch."""
    return any(o.name == _CALL and _is_in_branch(o) for o in nested(function))


def _is_fill(operation: Operation) -> bool:
    """True if an operation fills an array with a number that is computed."""
    if operation.name != _FILL:
        return False
    number = mlir.definition(operation.operands[0])
    return number is None or number.name != "arith.constant"


def _part(fill: Operation) -> None:
    """Put barriers on the uses of a fill in blocks within its own, one in each."""
    (array,) = fill.results
    uses = [(use.owner.operation, use.operand_number) for use in array.uses]
    inner: dict[Block, list[tuple[Operation, int]]] = {}
    for user, i in uses:
        if user.block != fill.block:
            inner.setdefault(user.block, []).append((user, i))
    if sum(map(len, inner.values())) == len(uses):
        return
    for block, users in inner.items():
        with InsertionPoint.at_block_begin(block), fill.location:
            (held,) = mlir.emit(_BARRIER, [array], {}, [array.type]).results
        for user, i in users:
            user.operands[i] = held
