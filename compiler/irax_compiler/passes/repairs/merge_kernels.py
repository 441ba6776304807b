"""The pass merge-kernels, which compiles kernels once that differ only by numbers in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.passes.core import Pass, nested, register_pass

_MOST = 8
"""The most numbers that kernels get."""
_CONSTANT = re.compile(r'("arith\.constant"\(\) <\{value = )[^}]*(\}> : \(\) -> (?:i\d+|b?f\d+)\n)')
"""Finds numbers in the text of a kernel."""
_USERS = frozenset(("linalg.fill", "linalg.yield"))
"""The operations beside arithmetic that may use such a number."""
_FASTER = re.compile(r"arith\.(ceil|floor)?(div|rem)[us]?i|arith\.sh[lr][us]?i")
"""Operations on integers that are faster if an operand is known."""


@register_pass
@dataclass
class MergeKernels(Pass):
    """Makes one kernel of those of IREE's dialect flow that differ only by numbers in them, where
    there are at least `many`: the numbers become operands. IREE takes a thirtieth of a second to
    compile a kernel, however small.
    """

    name: ClassVar[str] = "merge-kernels"
    many: int = 8

    def run(self, module: Module) -> None:
        executables = [x.operation for x in module.body.operations]
        executables = [x for x in executables if x.name == "flow.executable"]
        if len(executables) < self.many:
            return
        groups: dict[tuple[str, ...], list[_Kernel]] = {}
        for kernel in filter(None, map(_kernel_of, executables)):
            groups.setdefault(kernel.key(), []).append(kernel)
        large = [kernels for kernels in groups.values() if len(kernels) >= self.many]
        if large:
            dispatches = _dispatches(module)
            for kernels in large:
                _merge(kernels, dispatches)


@dataclass(frozen=True)
class _Kernel:
    executable: Operation
    function: Operation
    entry: str
    """The name of the function, as dispatches have it."""
    constants: list[Operation]
    """The numbers in it, in order."""

    def key(self) -> tuple[str, ...]:
        """Return what kernels have in common that can be one."""
        text = mlir.comparable(self.executable, generic=True)
        name = mlir.function_name(self.executable)
        body = mlir.body(self.function)
        fixed = [_value(x) for x in self.constants if x.block != body or not _may_be_given(x)]
        return (_CONSTANT.sub(r"\1\2", text.replace(name, "")), *fixed)


def _kernel_of(executable: Operation) -> _Kernel | None:
    """Return the kernel in an executable that has just one."""
    inside = list(nested(executable))
    exports = [x for x in inside if x.name == "flow.executable.export"]
    functions = [x for x in inside if x.name == "func.func"]
    if len(exports) != 1 or len(functions) != 1:
        return None
    names = mlir.function_name(executable), mlir.function_name(exports[0])
    constants = [x for x in nested(functions[0]) if x.name == "arith.constant" and _is_number(x)]
    return _Kernel(executable, functions[0], "@{}::@{}".format(*names), constants)


def _is_number(constant: Operation) -> bool:
    return re.fullmatch(r"i\d+|b?f\d+", str(constant.results[0].type)) is not None


def _value(constant: Operation) -> str:
    return str(constant.attributes["value"])


def _may_be_given(constant: Operation) -> bool:
    """True if a number can be an operand, and nothing is the slower for it."""
    users = [use.owner.operation.name for use in constant.results[0].uses]
    return str(constant.results[0].type) != "i1" and all(
        (user in _USERS or user.startswith("arith.")) and not _FASTER.fullmatch(user)
        for user in users
    )


def _dispatches(module: Module) -> dict[str, list[Operation]]:
    """Return the dispatches of each kernel."""
    found: dict[str, list[Operation]] = {}
    for operation in nested(module.operation):
        if operation.name == "flow.dispatch":
            entries: Any = operation.attributes["entry_points"]
            for entry in entries:
                found.setdefault(str(entry), []).append(operation)
    return found


def _merge(kernels: Sequence[_Kernel], dispatches: dict[str, list[Operation]]) -> None:
    """Replace kernels by the first of them."""
    rows = list(zip(*([_value(x) for x in kernel.constants] for kernel in kernels), strict=True))
    given = [i for i, row in enumerate(rows) if len(set(row)) > 1]
    uses = [dispatches.get(kernel.entry, []) for kernel in kernels]
    if len(given) > _MOST or any(len(_entries(x)) > 1 for some in uses for x in some):
        return
    first = kernels[0]
    operands = {len(_arguments(x)) for some in uses for x in some}
    if len(operands) != 1:
        return
    for kernel, some in zip(kernels, uses, strict=True):
        for dispatch in some:
            _redirect(dispatch, first.entry, [kernel.constants[i] for i in given])
    _take(first.function, operands.pop(), [first.constants[i] for i in given])
    for kernel in kernels[1:]:
        kernel.executable.erase()


def _entries(dispatch: Operation) -> Sequence[Any]:
    entries: Any = dispatch.attributes["entry_points"]
    return list(entries)


def _arguments(dispatch: Operation) -> list[Value]:
    """Return what a dispatch gives its kernel."""
    workload, count, *_ = mlir.segments(dispatch)
    return list(dispatch.operands)[workload : workload + count]


def _redirect(dispatch: Operation, entry: str, constants: Iterable[Operation]) -> None:
    """Replace a dispatch by one of another kernel, which gets constants as well."""
    workload, count, *others = mlir.segments(dispatch)
    attributes = {name: dispatch.attributes[name] for name in dispatch.attributes}
    operands = list(dispatch.operands)
    with InsertionPoint(dispatch), dispatch.location:
        numbers = [x for constant in constants for x in mlir.clone(constant, {})]
        operands[workload + count : workload + count] = numbers
        attributes["entry_points"] = mlir.array([mlir.parse_attribute(entry)])
        attributes |= mlir.segment_sizes(workload, count + len(numbers), *others)
        types = [x.type for x in dispatch.results]
        new = mlir.emit("flow.dispatch", operands, attributes, types)
    mlir.replace(dispatch, new.results)


def _take(function: Operation, at: int, constants: Sequence[Operation]) -> None:
    """Make constants of a function arguments, from number `at` on."""
    types = [x.type for x in mlir.arguments(function)]
    types[at:at] = [x.results[0].type for x in constants]
    new, arguments = mlir.emptied(function, types)
    numbers = arguments[at : at + len(constants)]
    del arguments[at : at + len(constants)]
    env: dict[Value, Value] = dict(zip(mlir.arguments(function), arguments, strict=True))
    env |= {x.results[0]: number for x, number in zip(constants, numbers, strict=True)}
    operations = [x.operation for x in mlir.body(function).operations]
    with InsertionPoint(mlir.body(new)):
        mlir.clone_all((x for x in operations if x not in constants), env)
    function.erase()
