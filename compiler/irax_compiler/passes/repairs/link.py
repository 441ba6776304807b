"""The pass link, which puts several kernels into one executable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation
from irax_compiler.passes.core import Pass, nested, register_pass


@register_pass
@dataclass
class Link(Pass):
    """Puts up to `most` kernels into each executable of IREE's dialect stream. IREE makes its
    passes for each executable anew, which takes a hundredth of a second. Executables are compiled
    side by side, so there are still several of them.

    An executable stays by itself if it has a function of a name under which the others have another
    function. The module is one of IREE's phase stream.
    """

    name: ClassVar[str] = "link"
    most: int = 16

    def run(self, module: Module) -> None:
        found = [x.operation for x in module.body.operations]
        executables = [x for x in found if x.name == "stream.executable"]
        places: dict[str, Operation] = {}
        for i in range(0, len(executables), self.most):
            places |= _linked(executables[i : i + self.most])
        if not places:
            return
        for host in found:
            if host not in executables:
                for dispatch in nested(host):
                    if dispatch.name == "stream.cmd.dispatch":
                        _redirect(dispatch, places)
        for executable in executables:
            if _name(executable) in places:
                executable.erase()


def _linked(executables: Sequence[Operation]) -> dict[str, Operation]:
    """Copy the kernels of executables to the first one. Return it by the names of those that it
    stands for now.
    """
    first = executables[0]
    module = _module(first)
    names = {_name(x) for x in _exports(first)}
    functions = {_name(x): x for x in _operations(module)}
    places: dict[str, Operation] = {}
    for other in executables[1:]:
        exports = {_name(x): x for x in _exports(other)}
        inside = {_name(x): x for x in _operations(_module(other))}
        common = inside.keys() & functions.keys()
        if names & exports.keys() or any(
            mlir.comparable(inside[x]) != mlir.comparable(functions[x]) for x in common
        ):
            continue
        with InsertionPoint(module):
            for export in exports.values():
                export.clone()
        with InsertionPoint.at_block_begin(module.regions[0].blocks[0]):
            for name in [x for x in inside if x not in functions]:
                functions[name] = inside[name].clone().operation
        names |= exports.keys()
        places[_name(other)] = first
    return places


def _exports(executable: Operation) -> list[Operation]:
    return [x for x in _operations(executable) if x.name == "stream.executable.export"]


def _redirect(dispatch: Operation, places: dict[str, Operation]) -> None:
    """Name the executable in which the kernels of a dispatch are now."""
    entries: Any = dispatch.attributes["entry_points"]
    now: list[Any] = []
    for entry in entries:
        executable, *kernel = entry.value
        place = places.get(executable)
        if place is not None:
            path = "::".join(f'@"{x}"' for x in (_name(place), *kernel))
            entry = mlir.parse_attribute(path)
        now.append(entry)
    dispatch.attributes["entry_points"] = mlir.array(now)


def _module(executable: Operation) -> Operation:
    """Return the module with the code of an executable."""
    (module,) = (x for x in _operations(executable) if x.name == "builtin.module")
    return module


def _operations(holder: Operation) -> list[Operation]:
    return [x.operation for x in holder.regions[0].blocks[0].operations]


def _name(operation: Operation) -> str:
    """Return the name of a symbol; an empty one for other operations."""
    return mlir.function_name(operation) if "sym_name" in operation.attributes else ""
