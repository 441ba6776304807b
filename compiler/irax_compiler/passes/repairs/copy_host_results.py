"""The pass copy-host-results, which copies what functions of the host return before it is changed.

IREE takes the result of a call for an array of the program, and writes to it. It may be the user's:
a callback may return an array that it keeps. And IREE's runtime refuses to copy a part into memory
that NumPy has allocated: "buffer does not support the requested access type".
"""

from __future__ import annotations

from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.passes.core import Pass, nested, reached, register_pass
from irax_compiler.passes.kernels.ties import ties
from irax_compiler.passes.repairs.flow.copies import copied
from irax_compiler.passes.repairs.flow.extents import sizes_of_result
from irax_compiler.passes.repairs.flow.memory import FORMS, is_array

_IMPORT = "hal.tensor.import"
_OF_PROGRAM = ("hal.tensor.export", "util.list.get")
"""The operations that make what is imported and no function of the host returned: arrays of the
program, and its arguments where it takes a list (see the pass split-large-signatures)."""


@register_pass
class CopyHostResults(Pass):
    """Has kernels copy the arrays of IREE's dialect flow that the host returns, where an operation
    may write to them: an update, or a loop or branch that hands them on.
    """

    name: ClassVar[str] = "copy-host-results"

    def run(self, module: Module) -> None:
        operations = [o for view in module.body.operations for o in nested(view.operation)]
        for number, made in enumerate(filter(_is_of_host, operations)):
            x = made.results[0]
            if is_array(x) and any(map(_is_written, reached([x], _in_its_memory))):
                _copy(made, number)


def _is_of_host(operation: Operation) -> bool:
    """True for an array that a function of the host returns: no argument, and nothing exported."""
    if operation.name != _IMPORT:
        return False
    source = mlir.definition(operation.operands[0])
    if source is None:
        return mlir.owner_name(operation.operands[0]) != "util.func"
    return source.name not in _OF_PROGRAM


def _in_its_memory(x: Value) -> list[Value]:
    """Return the values that may be in the memory of another, but for those of loops and
    branches.
    """
    return [user.results[0] for user in mlir.users(x) if user.name in FORMS]


def _is_written(x: Value) -> bool:
    """True if an operation writes to a value, or hands it on to where one may."""
    return any(
        use.owner.operation.name.startswith("scf.")
        or use.operand_number in ties(use.owner.operation).values()
        for use in x.uses
    )


def _copy(made: Operation, number: int) -> None:
    x = made.results[0]
    with InsertionPoint.after(made), made.location:
        copy = copied(x, number, sizes_of_result(x))
    mlir.replace_elsewhere(x, copy)
