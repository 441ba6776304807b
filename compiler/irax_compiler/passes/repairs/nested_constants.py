"""The pass nested-constants, which copies constants that nested branches choose, and arrays that
nested loops begin with.
"""

from __future__ import annotations

from collections.abc import Set
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.repairs.flow.copies import copied

_BRANCH, _YIELD = "scf.if", "scf.yield"
_LOOPS = {"scf.for", "scf.while"}
_IMPORT, _EXPORT = "hal.tensor.import", "hal.tensor.export"
_CONSTANTS = {"util.global.load", "flow.tensor.constant", "arith.constant"}


@register_pass
class NestedConstants(Pass):
    """Copies constants that branches of IREE's dialect flow yield, if one of their alternatives is
    a result of further branches, or comes from outside, or they are alternatives of a result of
    branches. Where branches or loops call the host, copies all constants and arguments that
    branches and loops yield, and that loops in branches or loops begin with.

    IREE 3.13 finds out for each array if it is a constant, a result, or of its own. Where
    branches choose between them, it gives the yields other types than the branches, and refuses
    these; and so with the arrays that a loop begins with and carries. A copy is an array of its
    own.
    """

    name: ClassVar[str] = "nested-constants"

    def run(self, module: Module) -> None:
        operations = list(nested(module.operation))
        branches = [o for o in operations if o.name == _BRANCH]
        loops = [o for o in operations if o.name in _LOOPS]
        tells = any(o.name == _EXPORT and _is_inner(o) for o in operations)
        names = _CONSTANTS | {_IMPORT} if tells else _CONSTANTS
        for loop in loops if tells else ():
            ends = [mlir.terminator(region.blocks[0]) for region in loop.regions]
            for user in (*ends, loop) if _is_inner(loop) else ends:
                for i in range(len(user.operands)):
                    _copy(user, i, names)
        for branch in branches:
            for i, result in enumerate(branch.results):
                ends = [mlir.terminator(region.blocks[0]) for region in branch.regions]
                chosen = [end.operands[i] for end in ends]
                is_mixed = any(_is_made_by(x, {_BRANCH, _IMPORT}) for x in chosen)
                if tells or is_mixed or _is_yielded(result):
                    for end in ends:
                        _copy(end, i, names)


def _is_made_by(x: Value, names: Set[str]) -> bool:
    made = mlir.definition(x)
    return made is not None and made.name in names


def _is_inner(operation: Operation) -> bool:
    """True for an operation in a branch or a loop."""
    return operation.parent is not None and operation.parent.operation.name.startswith("scf.")


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
