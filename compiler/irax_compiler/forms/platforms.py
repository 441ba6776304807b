"""Functions of several platforms, as JAX writes them: they take the number of the platform.

    func.func @main(%0: tensor<i32> {jax.global_constant = "_platform_index"}, %1: ...
      %2 = "stablehlo.case"(%0) ...

For a platform, the branches of the others are removed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.ops.core import full

_ATTRIBUTE = "jax.global_constant"
_INDEX = "_platform_index"


def with_platform(module: Module, func: str, index: int) -> None:
    """Have a function, which takes the number of the platform, and those that it calls with it, be
    of one platform.
    """
    functions = mlir.functions(module)
    place = _place(functions[func])
    if place is None:
        return
    _fill_in(functions[func], place, index)
    mlir.body(functions[func]).erase_argument(place)
    _without_attribute(functions[func], place)
    mlir.set_function_type(functions[func])
    pending = {name for name, f in functions.items() if name != func and _place(f) is not None}
    while pending:
        calls = [c for f in functions.values() for c in mlir.calls(f)]
        known = {name: _numbers(name, functions[name], calls) for name in pending}
        ready = {name: next(iter(found)) for name, found in known.items() if len(found) == 1}
        ready = {name: number for name, number in ready.items() if number is not None}
        if not ready:
            return
        for name, number in ready.items():
            _fill_in(functions[name], _place(functions[name]) or 0, number)
        pending -= ready.keys()


def _place(function: Operation) -> int | None:
    """The number of the argument that the number of the platform is; None if there is none."""
    given: Any = function.attributes.get("arg_attrs", ())
    for i, entry in enumerate(given):
        if _ATTRIBUTE in entry and entry[_ATTRIBUTE].value == _INDEX:
            return i
    return None


def _numbers(name: str, function: Operation, calls: list[Operation]) -> set[int | None]:
    """The numbers that a function is called with; None for one that is not known."""
    place = _place(function) or 0
    return {_integer(c.operands[place]) for c in calls if mlir.callee(c) == name}


def _without_attribute(function: Operation, place: int) -> None:
    given: Any = function.attributes["arg_attrs"]
    function.attributes["arg_attrs"] = mlir.array([e for i, e in enumerate(given) if i != place])


def _fill_in(function: Operation, place: int, index: int) -> None:
    """Have an argument be a number, and remove the branches that are not taken then."""
    block = mlir.body(function)
    given = block.arguments[place]
    with InsertionPoint.at_block_begin(block), function.location:
        given.replace_all_uses_with(full((), index, np.dtype(mlir.dtype_of(given))))
    for operation in mlir.operations_in(function):
        if operation.name == "stablehlo.case":
            _take_branch(operation)


def _take_branch(case: Operation) -> None:
    """Put the operations of the branch that is taken, if it is known, in the place of all."""
    index = _integer(case.operands[0])
    if index is None:
        return
    last = len(case.regions) - 1
    block = case.regions[index if 0 <= index <= last else last].blocks[0]
    with InsertionPoint(case):
        results = mlir.copy_block(block, {})
    mlir.replace(case, results)


def _integer(x: Value) -> int | None:
    """The number that a value is; None for one that is not known."""
    source = mlir.definition(x)
    if source is not None and source.name == "stablehlo.convert":
        return _integer(source.operands[0])
    found = mlir.splat(x)
    return None if found is None else int(found)
