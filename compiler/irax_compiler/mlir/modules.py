"""Modules: parsing, printing and copying them."""

from __future__ import annotations

import io
from typing import Any

from irax_compiler.interchange import other_forms
from irax_compiler.mlir.bindings import CONTEXT, UNKNOWN, MLIRError, Module, Operation, ir
from irax_compiler.mlir.operations import file_location, operations_in


def new_module() -> Module:
    """An empty module."""
    return ir.Module.create(UNKNOWN)


def parse_module(text: str | bytes, name: str = "") -> Module:
    """A module from MLIR text or bytecode as it stands; verified. What others write comes in
    through `reading.read_module`. `name` is the file that locations in the text are in.

    Raises ValueError with the parser's message, its line and column included.
    """
    try:
        module = ir.Module.parse(text, CONTEXT)
        if name and isinstance(text, str):
            _name_locations(module, name)
        return module
    except MLIRError as error:
        other = other_forms.hlo_problem(text[:600].encode() if isinstance(text, str) else text)
        if other is not None:
            raise ValueError(other) from None
        message = error_text(error)
        if name:
            message = message.replace('loc("-":', f'loc("{name}":')
        unknown = other_forms.unknown_operation(message)
        if unknown is not None:
            raise ValueError(f"{unknown} ({message.partition(': ')[0]})") from None
        raise ValueError(f"not a valid MLIR module: {message}") from None
    except RuntimeError as error:  # what is wrong cannot be told: it is not UTF-8
        raise ValueError(f"not a valid MLIR module: {error}") from None


def _name_locations(module: Module, name: str) -> None:
    """Gives the places in what was parsed, a file that is called "-", the name of a file."""
    for operation in operations_in(module.operation):
        location: Any = operation.location
        if isinstance(location, ir.FileLineColLoc) and location.filename == "-":
            line, column = location.start_line, location.start_col
            operation.location = file_location(name, line, column)


def clone_module(module: Module) -> Module:
    """A copy of a module."""
    copy = new_module()
    for operation in module.body.operations:
        operation.operation.clone(ip=ir.InsertionPoint(copy.body))
    return copy


def bytecode(module: Module | Operation) -> bytes:
    """A module as MLIR bytecode: shorter than text, and much faster to write and read."""
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def generic_text(module: Module) -> str:
    """The text of a module without any operation's own syntax, and without locations."""
    text: Any = module.operation.get_asm(print_generic_op_form=True)
    return text


def error_text(error: MLIRError) -> str:
    """Return the diagnostics of an MLIR error, one per line."""
    lines = [f"{d.location}: {d.message}" for d in error.error_diagnostics]
    return "\n".join(lines) or str(error)


def open_module() -> Module:
    """The module that the current insertion point is in."""
    return _open("builtin.module").opview


def open_function() -> Operation:
    """The function that the current insertion point is in."""
    return _open("func.func")


def _open(name: str) -> Any:
    operation: Any = ir.InsertionPoint.current.block.owner
    while operation.operation.name != name:
        operation = operation.operation.parent
    return operation.operation
