"""Removal of dead arguments and results of private functions.

Derived functions have signatures made for the general case. The residuals of @f.fwd may include
values that @f.bwd no longer reads once simplified, and arguments that @f.fwd returns unchanged as
residuals.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from irax_compiler import effects, mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value
from irax_compiler.passes.core import Pass, nested, register_pass, returned


@register_pass
class Prune(Pass):
    """Removes arguments that private functions do not read and results that no call uses.

    Results that are arguments, constants or equal to others are replaced at their uses. Arguments
    that are equal in all calls are merged. Calls without used results are removed. Public functions
    keep their signatures, and so do private ones that operations other than calls name, that are
    never called, or that are in a module with recursion.
    """

    name: ClassVar[str] = "prune"

    def run(self, module: Module) -> None:
        functions = {n: f for n, f in mlir.functions(module).items() if f.regions[0].blocks}
        calls = {n: [mlir.callee(c) for c in mlir.calls(f)] for n, f in functions.items()}
        order = mlir.callees_first(functions, lambda n: (x for x in calls[n] if x in calls))
        if order is None:
            return
        fixed = {n for n, f in functions.items() if mlir.is_public(f)} | named_elsewhere(module)
        while Round(functions, order, fixed).run():
            pass


def named_elsewhere(module: Module) -> set[str]:
    """Return the functions that operations other than calls refer to, such as composites."""
    texts: set[str] = set()
    for operation in nested(module.operation):
        if operation.name not in ("func.call", "func.func", "stablehlo.constant"):
            texts.update(map(mlir.attribute_text, operation.attributes.values()))
    return {quoted or bare for text in texts for quoted, bare in re.findall(SYMBOL, text)}


SYMBOL = r'@"([^"]*)"|@([\w.$-]+)'
"""A reference to a symbol in an attribute's text."""


class Round:
    """One iteration over the functions: from callers to callees for results, and back for
    arguments.
    """

    def __init__(
        self, functions: dict[str, Operation], callees_first: list[str], fixed: set[str]
    ) -> None:
        self.functions = functions
        self.callees_first = callees_first
        self.fixed = fixed
        self.calls: dict[str, list[Operation]] = {name: [] for name in functions}
        self.changed = False

    def run(self) -> bool:
        """Run the iteration; return True if anything changed."""
        for name in reversed(self.callees_first):
            function = self.functions[name]
            if self.calls[name]:
                self._prune_results(name)
            effects.remove_dead_operations(mlir.body(function))
            for call in mlir.calls(function):
                self.calls.setdefault(mlir.callee(call), []).append(call)
        for name in self.callees_first:
            effects.remove_dead_operations(mlir.body(self.functions[name]))
            if self.calls[name] and name not in self.fixed:
                self._prune_arguments(name)
        return self.changed

    def _prune_results(self, name: str) -> None:
        function, calls = self.functions[name], self.calls[name]
        results = returned(function)
        self.calls[name] = []
        for call in calls:
            for i, value in enumerate(results):
                self.changed |= forward(call, i, value, results.index(value))
            if effects.is_dead(call):
                call.erase()
                self.changed = True
            else:
                self.calls[name].append(call)
        calls = self.calls[name]
        used = [i for i in range(len(results)) if any(mlir.num_uses(c.results[i]) for c in calls)]
        if not calls or name in self.fixed or len(used) == len(results):
            return
        self.changed = True
        end = mlir.terminator(mlir.body(function))
        with InsertionPoint(end), end.location:
            mlir.emit("func.return", [results[i] for i in used], results=[])
        end.erase()
        keep_attributes(function, "res_attrs", used)
        mlir.set_function_type(function)
        self.calls[name] = [
            rebuilt(call, list(call.operands), [call.results[i] for i in used]) for call in calls
        ]

    def _prune_arguments(self, name: str) -> None:
        function, calls = self.functions[name], self.calls[name]
        block = mlir.body(function)
        merge_equal_arguments(block, calls)
        count = len(block.arguments)
        used = [i for i in range(count) if mlir.num_uses(block.arguments[i])]
        if len(used) == count:
            return
        self.changed = True
        for i in reversed(range(count)):
            if i not in used:
                block.erase_argument(i)
        keep_attributes(function, "arg_attrs", used)
        mlir.set_function_type(function)
        self.calls[name] = [
            rebuilt(call, [call.operands[i] for i in used], list(call.results)) for call in calls
        ]


def forward(call: Operation, i: int, value: Value, first: int) -> bool:
    """Replace result `i` of a function's calls, which in the function is `value`, by an operand of
    the call, a constant, or an equal result, the `first` such. Return True if it did.
    """
    result, definition = call.results[i], mlir.definition(value)
    if not mlir.num_uses(result):
        return False
    if definition is None:
        arguments: Any = value.owner
        result.replace_all_uses_with(call.operands[list(arguments.arguments).index(value)])
    elif definition.name == "stablehlo.constant":
        copy = definition.clone(ip=InsertionPoint(call))
        result.replace_all_uses_with(copy.results[0])
    elif first != i:
        result.replace_all_uses_with(call.results[first])
    else:
        return False
    return True


def merge_equal_arguments(block: Block, calls: Sequence[Operation]) -> None:
    """Merge arguments that have the same value in each call."""
    first: dict[tuple[Value, ...], Value] = {}
    for i, argument in enumerate(block.arguments):
        given = tuple(call.operands[i] for call in calls)
        kept = first.setdefault(given, argument)
        if kept != argument:
            argument.replace_all_uses_with(kept)


def keep_attributes(function: Operation, name: str, kept: Sequence[int]) -> None:
    """Remove attributes of arguments, or results, that are removed."""
    if name in function.attributes:
        attributes: Any = function.attributes[name]
        function.attributes[name] = mlir.array([attributes[i] for i in kept])


def rebuilt(call: Operation, operands: Sequence[Value], results: Sequence[Value]) -> Operation:
    """Rebuild a call with some of its operands and results."""
    with InsertionPoint(call), call.location:
        new = mlir.emit(
            call.name,
            operands,
            {"callee": mlir.symbol(mlir.callee(call))},
            [result.type for result in results],
        )
    for result, replacement in zip(results, new.results, strict=True):
        result.replace_all_uses_with(replacement)
    call.erase()
    return new
