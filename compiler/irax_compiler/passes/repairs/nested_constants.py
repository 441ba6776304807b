"""The pass nested-constants, which copies constants that nested branches choose, and arrays that
nested loops begin with.
"""

from __future__ import annotations

from collections.abc import Set
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.repairs.update_carries_in_place.copies import copied

_BRANCH, _LOOP, _YIELD = "scf.if", "scf.while", "scf.yield"
_IMPORT, _EXPORT = "hal.tensor.import", "hal.tensor.export"
_CONSTANTS = {"util.global.load", "flow.tensor.constant", "arith.constant"}


@register_pass
class NestedConstants(Pass):
    """Copies constants that branches of IREE's dialect flow yield, if one of their alternatives is
    a result of further branches, or comes from outside, or they are alternatives of a result of
    branches. Copies constants and arguments that loops begin with, if the loops are in a branch or
    a loop, and call the host.

    IREE 3.13 finds out for each array if it is a constant, a result, or of its own. Where
    branches choose between them, it gives the yields other types than the branches, and refuses
    these; and so with the arrays that a loop begins with and carries. A copy is an array of its
    own.
    """

    name: ClassVar[str] = "nested-constants"

    def run(self, module: Module) -> None:
        for loop in [o for o in nested(module.operation) if o.name == _LOOP and _is_inner(o)]:
            for i in range(len(loop.operands)):
                _copy(loop, i, _CONSTANTS | {_IMPORT})
        for branch in [o for o in nested(module.operation) if o.name == _BRANCH]:
            for i, result in enumerate(branch.results):
                ends = [_end(region.blocks[0]) for region in branch.regions]
                chosen = [end.operands[i] for end in ends]
                if _is_yielded(result) or any(_is_made_by(x, {_BRANCH, _IMPORT}) for x in chosen):
                    for end in ends:
                        _copy(end, i, _CONSTANTS)


def _end(block: Block) -> Operation:
    return list(block.operations)[-1].operation


def _is_made_by(x: Value, names: Set[str]) -> bool:
    made = mlir.definition(x)
    return made is not None and made.name in names


def _is_inner(loop: Operation) -> bool:
    """True for a loop in a branch or a loop that calls the host."""
    is_inner = loop.parent is not None and loop.parent.operation.name.startswith("scf.")
    return is_inner and any(o.name == _EXPORT for o in nested(loop))


def _is_yielded(x: Value) -> bool:
    """True if a branch yields what is a result of another."""
    users = [use.owner.operation for use in x.uses if use.owner.name == _YIELD]
    parents = [user.parent for user in users]
    return any(p is not None and p.operation.name == _BRANCH for p in parents)


def _copy(user: Operation, i: int, names: Set[str]) -> None:
    """Copy an operand that an operation of one of some names makes."""
    x = user.operands[i]
    if isinstance(x.type, mlir.RankedTensorType) and _is_made_by(x, names):
        with InsertionPoint(user), user.location:
            user.operands[i] = copied(x, 0, ())
