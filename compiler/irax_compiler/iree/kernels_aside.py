"""Kernels that are kept aside while IREE works on what calls them.

IREE's phases up to `stream` are about the program outside of kernels, and about how kernels get
their arguments. Their passes go over the code of kernels that irax has written nevertheless: they
look for patterns in it, and verify it after each pass. Here IREE gets each kernel as a function
that calls an unknown one with the memory of its arrays, and its code after these phases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.passes.core import kernel_functions, nested

PHASE = "stream"
"""The last phase that is not about the code of kernels."""

MANY = 200
"""The operations of kernels from which on it pays: IREE begins anew where they come back."""

_CODE = "irax_kept_aside_"
"""The name of the functions that stand for code, up to the kernel's number. It also keeps IREE from
taking two kernels for equal ones."""


@dataclass(frozen=True)
class KernelsAside:
    """A module without the code of its kernels, and that code."""

    rest: bytes
    """The module without it, as bytecode."""
    _kernels: list[Operation]
    """The functions with the code, as they were."""

    phase: ClassVar[str] = PHASE
    """The phase after which it comes back."""

    def put_back(self, module: Module) -> bool:
        """Give the kernels of a module their code again. Return True: it has changed."""
        for function in list(_functions(module.operation)):
            number = _number(function)
            if number is not None:
                _give_code(function, self._kernels[number])
        return True


def keep_aside(module: Module) -> KernelsAside | None:
    """Return a module and the code of its kernels, each by itself; None where that does not pay.

    The module stays as it is, and must do so until the code is put back.
    """
    kernels = [x for x in _functions(module.operation) if _memory(x)]
    inside = (operation for kernel in kernels for operation in nested(kernel))
    if sum(1 for _ in islice(inside, MANY)) < MANY:
        return None
    copy = module.operation.clone().operation
    functions = (x for x in _functions(copy) if _memory(x))
    for number, function in enumerate(list(functions)):
        _take_code(function, f"{_CODE}{number}")
    return KernelsAside(mlir.bytecode(copy), kernels)


def _functions(module: Operation) -> Iterator[Operation]:
    """Yield the functions of one block in executables that irax has written."""
    for view in module.regions[0].blocks[0].operations:
        if view.operation.name == "stream.executable":
            for function in kernel_functions(view.operation):
                if len(function.regions[0].blocks) == 1:
                    yield function


def _memory(function: Operation) -> list[Operation]:
    """Return the operations that view the arrays of a kernel as memory. None of them unless they
    are all at its beginning, and nothing else uses the arrays.
    """
    found: list[Operation] = []
    for argument in mlir.arguments(function):
        if str(argument.type) != "!stream.binding":
            continue
        for use in argument.uses:
            view: Any = use.owner.operation
            if view.name != "stream.binding.subspan" or view.block != mlir.body(function):
                return []
            if any(not _is_constant(x) for x in list(view.operands)[1:]):
                return []
            found.append(view)
    return found


def _is_constant(value: Value) -> bool:
    definition = mlir.definition(value)
    return definition is not None and definition.name == "arith.constant"


def _numbers(function: Operation) -> list[Value]:
    """Return the arguments of a kernel that are no arrays."""
    return [x for x in mlir.arguments(function) if str(x.type) != "!stream.binding"]


def _take_code(function: Operation, name: str) -> None:
    """Replace the code of a kernel by a call with its memory and its numbers."""
    body, views = mlir.body(function), _memory(function)
    end = mlir.terminator(body)
    given = [*(view.results[0] for view in views), *_numbers(function)]
    kept = {*views, *(mlir.definition(x) for view in views for x in list(view.operands)[1:])}
    with function.location, InsertionPoint(end):
        mlir.emit("func.call", given, {"callee": mlir.symbol(name)}, [])
    call = list(body.operations)[-2].operation
    for view in reversed(list(body.operations)):
        operation = view.operation
        if operation not in kept and operation not in (call, end):
            operation.erase()
    with function.location, InsertionPoint(function):
        type_ = mlir.type_attribute(mlir.function_type([x.type for x in given], []))
        named = {"sym_name": mlir.string(name), "sym_visibility": mlir.string("private")}
        mlir.emit("func.func", [], named | {"function_type": type_}, [], regions=1)


def _number(function: Operation) -> int | None:
    """Return the number of the kernel whose code a function lacks."""
    for view in mlir.body(function).operations:
        if view.operation.name == "func.call":
            callee: Any = view.operation.attributes["callee"]
            if callee.value.startswith(_CODE):
                return int(callee.value.removeprefix(_CODE))
    return None


def _give_code(function: Operation, kernel: Operation) -> None:
    """Replace a function by a kernel with its arguments, which IREE may have changed."""
    with InsertionPoint(function):
        copy = kernel.clone().operation
    body, outer = mlir.body(copy), mlir.body(function)
    views, numbers = _memory(copy), _numbers(copy)
    arguments = [body.add_argument(x.type, function.location) for x in outer.arguments]
    for old, new in zip(outer.arguments, arguments, strict=True):
        old.replace_all_uses_with(new)
    first = body.operations[0]
    *before, call, _ = [x.operation for x in outer.operations]
    for operation in before:
        operation.move_before(first)
    olds = [*(view.results[0] for view in views), *numbers]
    for old, new in zip(olds, call.operands, strict=True):
        old.replace_all_uses_with(new)
    for view in views:
        view.erase()
    for _ in range(len(body.arguments) - len(arguments)):
        body.erase_argument(0)
    attributes: Any = function.attributes
    for name in attributes:
        copy.attributes[name] = attributes[name]
    callee: Any = call.attributes["callee"]
    inner: Any = function.parent
    function.erase()
    functions = {mlir.function_name(x): x for x in _operations(inner.operation)}
    functions.pop(callee.value).erase()
    with InsertionPoint.at_block_begin(inner.operation.regions[0].blocks[0]):
        declared: Any = kernel.parent
        for name, other in ((mlir.function_name(x), x) for x in _operations(declared.operation)):
            if name not in functions:  # IREE removes functions of libraries that are not called
                other.clone()


def _operations(module: Operation) -> list[Operation]:
    return [x.operation for x in module.regions[0].blocks[0].operations]
