"""The pass nested-constants, which copies constants that nested branches choose."""

from __future__ import annotations

from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.repairs.update_carries_in_place.copies import copied

_BRANCH, _YIELD = "scf.if", "scf.yield"
_CONSTANTS = {"util.global.load", "flow.tensor.constant", "arith.constant"}


@register_pass
class NestedConstants(Pass):
    """Copies constants that branches of IREE's dialect flow yield, if one of their alternatives is
    a result of further branches, or they are alternatives of such a result.

    IREE 3.13 finds out for each array if it is a constant, a result, or of its own. Where nested
    branches choose between them, it gives the yields other types than the branches, and refuses
    these. A copy is an array of its own.
    """

    name: ClassVar[str] = "nested-constants"

    def run(self, module: Module) -> None:
        for branch in [o for o in nested(module.operation) if o.name == _BRANCH]:
            for i, result in enumerate(branch.results):
                ends = [_end(region.blocks[0]) for region in branch.regions]
                chosen = [end.operands[i] for end in ends]
                if _is_yielded(result) or any(_is_made_by(x, {_BRANCH}) for x in chosen):
                    for end in ends:
                        _copy_constant(end, i)


def _end(block: Block) -> Operation:
    return list(block.operations)[-1].operation


def _is_made_by(x: Value, names: set[str]) -> bool:
    made = mlir.definition(x)
    return made is not None and made.name in names


def _is_yielded(x: Value) -> bool:
    """True if a branch yields what is a result of another."""
    users = [use.owner.operation for use in x.uses if use.owner.name == _YIELD]
    parents = [user.parent for user in users]
    return any(p is not None and p.operation.name == _BRANCH for p in parents)


def _copy_constant(end: Operation, i: int) -> None:
    x = end.operands[i]
    if isinstance(x.type, mlir.RankedTensorType) and _is_made_by(x, _CONSTANTS):
        with InsertionPoint(end), end.location:
            end.operands[i] = copied(x, 0, ())
