"""Constants of functions that become further arguments of them, and of those that call them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Type, Value


@dataclass(frozen=True)
class Lifted:
    """A constant that is to be an argument."""

    key: Hashable
    """Constants of one key are one argument."""
    elements: np.ndarray[Any, Any]
    type: Type
    """The argument's type."""


def passed(argument: Value, constant: Value) -> Value:
    """Return what stands for a constant: the argument itself."""
    return argument


class Lifting:
    """Makes constants of functions arguments of them, and of those that call them."""

    def __init__(
        self,
        module: Module,
        find: Callable[[Operation], Lifted | None],
        place: Callable[[Value, Value], Value] = passed,
    ) -> None:
        """`find` returns what a constant is lifted as, or None for other operations; `place` builds
        what stands for it, for the argument.
        """
        self.functions = mlir.functions(module)
        references = [r for f in self.functions.values() for r in mlir.references(f)]
        self._find, self._place = find, place
        self._fixed = {
            name for r in references if r.name != "func.call" for name in mlir.named_functions(r)
        }
        """The functions whose arguments follow from more than calls."""
        self._done: dict[str, list[Lifted]] = {}

    def lift(self, name: str) -> list[Lifted]:
        """Add the constants of a function to its arguments, and return them."""
        if name in self._done or name in self._fixed:
            return self._done.get(name, [])
        self._done[name] = []  # for functions that call themselves, which are refused later
        function = self.functions[name]
        given: dict[Hashable, Value] = {}
        found: list[Lifted] = []

        def argument(lifted: Lifted) -> Value:
            if lifted.key not in given:
                found.append(lifted)
                block = mlir.body(function)
                given[lifted.key] = block.add_argument(lifted.type, function.location)
            return given[lifted.key]

        for operation in mlir.operations_in(function):
            if operation.name == "func.call":
                self._pass_on(operation, argument)
                continue
            lifted = self._find(operation)
            if lifted is not None:
                (result,) = operation.results
                with InsertionPoint(operation), operation.location:
                    stands_for_it = self._place(argument(lifted), result)
                result.replace_all_uses_with(stands_for_it)
                operation.erase()
        self._finish(function, len(found))
        self._done[name] = found
        return found

    def _pass_on(self, call: Operation, argument: Callable[[Lifted], Value]) -> None:
        lifted = self.lift(mlir.callee(call))
        if not lifted:
            return
        operands = [*call.operands, *map(argument, lifted)]
        attributes = {name: call.attributes[name] for name in call.attributes}
        with InsertionPoint(call), call.location:
            made = mlir.emit("func.call", operands, attributes, [r.type for r in call.results])
        mlir.replace(call, made.results)

    def _finish(self, function: Operation, count: int) -> None:
        if count and "arg_attrs" in function.attributes:
            given: Any = function.attributes["arg_attrs"]
            function.attributes["arg_attrs"] = mlir.array([*given, *[mlir.dictionary({})] * count])
        mlir.set_function_type(function)
