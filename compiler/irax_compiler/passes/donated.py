"""The mark of arguments that their caller gives up (see `donation`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value

CONSUMED = "iree.abi.consume"
"""IREE's attribute of arguments whose memory belongs to the program."""

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
