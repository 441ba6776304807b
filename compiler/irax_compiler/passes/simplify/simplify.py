"""The pass that applies the rules until none applies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from irax_compiler import effects, mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.ops.core import UnsupportedOp, read
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.simplify.carries import drop_unneeded_carries
from irax_compiler.passes.simplify.constants import fold
from irax_compiler.passes.simplify.rewrite import RULES


@register_pass
@dataclass
class Simplify(Pass):
    """Leaves no operation in the module that a rule applies to, and none that nobody needs.

    Values stay the same, special ones included, but for sums of floats: their terms may be added
    in another order, and a sum that is zero may have the other sign.
    """

    name: ClassVar[str] = "simplify"

    def run(self, module: Module) -> None:
        for function in mlir.functions(module).values():
            for _ in range(MOST_ROUNDS):
                if not simplify_once(function) and not drop_unneeded_carries(function):
                    break


MOST_ROUNDS = 100
"""Far more than any function needs: rules that undo each other end here."""


def simplify_once(function: Operation) -> bool:
    """Looks at each operation once, in order, so that each sees its operands simplified; tells
    whether anything changed.

    What is replaced goes at the start of the next round: an operation that is no longer there must
    not be looked at.
    """
    for region in function.regions:
        for block in region:
            effects.remove_dead_operations(block)
    changed = False
    for operation in list(nested(function)):
        value = None if effects.is_dead(operation) else simpler(operation)
        if value is not None:
            (result,) = operation.results
            assert value.type == result.type, f"{operation} was replaced by a {value.type}"
            result.replace_all_uses_with(value)
            changed = True
    return changed


def simpler(operation: Operation) -> Value | None:
    """What takes the place of an operation's result, or None where no rule applies."""
    folded = fold(operation)
    if folded is not None:
        return folded
    rules = RULES.get(operation.name)
    if rules is None:
        return None
    try:
        op = read(operation)
        operands = list(operation.operands)
        with InsertionPoint(operation), operation.location:
            for rule in rules:
                value = rule(op, *operands)
                if value is not None:
                    return value
    except UnsupportedOp:  # a form of the operation that a foreign module may hold
        pass
    return None
