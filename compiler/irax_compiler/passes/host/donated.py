"""The mark of arguments that their caller gives up (see `donation`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value
from irax_compiler.ops.registry import traits_of

CONSUMED = "iree.abi.consume"
"""IREE's attribute of arguments whose memory belongs to the program."""

_TIED = "tied_operands"
"""The attribute of a dispatch that has the number of an operand for each result, or -1."""

WORTH_TAKING = 1 << 14
"""The fewest elements of a donated array that a kernel overwrites. With fewer, new memory takes no
longer than the runtime takes for such an array.
"""


def is_donated(x: Value) -> bool:
    """True for a donated argument of a function."""
    if mlir.definition(x) is not None:
        return False
    argument: Any = x
    function = argument.owner.owner.operation
    return function.name == "func.func" and argument.arg_number in donated(function)


def donated(function: Operation) -> list[int]:
    """Return the numbers of the donated arguments of a function."""
    if "arg_attrs" not in function.attributes:
        return []
    attributes: Any = function.attributes["arg_attrs"]
    return [i for i, entries in enumerate(attributes) if CONSUMED in entries]


def mark(function: Operation, numbers: Sequence[int]) -> None:
    """Give these arguments the mark, and take it from others."""
    if not numbers and not donated(function):
        return
    count = len(mlir.arguments(function))
    old: Any = (
        function.attributes["arg_attrs"] if "arg_attrs" in function.attributes else [{}] * count
    )
    kept = [{e.name: e.attr for e in entries if e.name != CONSUMED} for entries in old]
    for i in numbers:
        kept[i][CONSUMED] = mlir.parse_attribute("unit")
    function.attributes["arg_attrs"] = mlir.array([mlir.dictionary(x) for x in kept])


def mark_callees(function: Operation) -> None:
    """Mark the arguments of functions for which each call in this one gives up an argument, which
    nothing uses after the call.
    """
    given: dict[str, set[int]] = {}
    callees: dict[str, Operation] = {}
    for call in mlir.calls(function):
        name = mlir.callee(call)
        callees[name] = mlir.function_beside(call, name)
        numbers = {i for i, x in enumerate(call.operands) if is_donated(x) and _is_last(x, call)}
        given[name] = given.get(name, numbers) & numbers
    for name, numbers in given.items():
        mark(callees[name], sorted(numbers))


def _is_last(x: Value, call: Operation) -> bool:
    """True if an operation uses a value once, and after all others do."""
    users = [use.owner.operation for use in x.uses]
    others = [user for user in users if user != call]
    return len(users) == len(others) + 1 and all(user.is_before_in_block(call) for user in others)


def updated(operation: Operation) -> list[Value]:
    """Return the operands of an operation that IREE updates in place: one for each result."""
    updates = traits_of(operation).updates
    return list(operation.operands)[: len(operation.results)] if updates else []


def written(operation: Operation) -> list[Value]:
    """Return the operands that results are written over."""
    if operation.name == "func.call":
        callee = mlir.function_beside(operation, mlir.callee(operation))
        return [operation.operands[i] for i in donated(callee)]
    if operation.name != "flow.dispatch":
        return updated(operation)
    if _TIED not in operation.attributes:
        return []
    ties: Any = operation.attributes[_TIED]
    return [operation.operands[tie.value] for tie in ties if tie.value >= 0]


def in_memory_of(
    arrays: Iterable[Value],
    results: Iterable[Value],
    fits: Callable[[Value, Value], bool] = lambda array, result: True,
) -> dict[Value, Value]:
    """Return an array that is given up for each result that can be in its memory: one of the same
    type that fits it, and each array for one result.
    """
    found: dict[Value, Value] = {}
    for array in arrays:
        for x in results:
            if x not in found and x.type == array.type and fits(array, x):
                found[x] = array
                break
    return found
