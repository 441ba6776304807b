"""The pass that applies the rules until none applies."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.ops.core import UnsupportedOp, read
from irax_compiler.passes.core import Pass, nested, register_pass
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
            Worklist(function).run()


class Worklist:
    """The operations of a function that are still to be looked at: at first all, in order, so that
    each sees its operands simplified; then those around a change.
    """

    def __init__(self, function: Operation) -> None:
        self.pending = OrderedDict.fromkeys(nested(function))
        self.known = set(self.pending)
        self.budget = 100 * len(self.known)
        """Far more rewrites than any function needs: rules that undo each other end here."""

    def run(self) -> None:
        while self.pending:
            operation, _ = self.pending.popitem(last=False)
            if mlir.is_dead(operation):
                self.erase(operation)
                continue
            value = simpler(operation)
            if value is not None:
                self.replace(operation, value)

    def replace(self, operation: Operation, value: Value) -> None:
        result = operation.results[0]
        assert value.type == result.type, f"{operation} was replaced by a {value.type}"
        self.budget -= 1
        assert self.budget >= 0, f"rules undo each other, last on {operation}"
        users = [use.owner.operation for use in result.uses]
        result.replace_all_uses_with(value)
        self.erase(operation)
        for user in users:
            self.pending[user] = None
        self._add_new(value)

    def _add_new(self, value: Value) -> None:
        """Looks next at the operations that a rule has built, the innermost first."""
        operation = mlir.definition(value)
        if operation is not None and operation not in self.known:
            self.known.add(operation)
            self.pending[operation] = None
            self.pending.move_to_end(operation, last=False)
            for operand in operation.operands:
                self._add_new(operand)

    def erase(self, operation: Operation) -> None:
        """Erases an operation that nobody uses, and what was there for it alone."""
        dead = [operation]
        while dead:
            operation = dead.pop()
            operands = set(operation.operands)
            for gone in (operation, *nested(operation)):
                self.known.discard(gone)
                self.pending.pop(gone, None)
            operation.erase()
            for operand in operands:
                uses = mlir.num_uses(operand)
                if uses == 1:  # some rules ask for that
                    (use,) = operand.uses
                    self.pending[use.owner.operation] = None
                producer = mlir.definition(operand)
                if uses == 0 and producer is not None and mlir.is_dead(producer):
                    dead.append(producer)


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
