"""Kernels whose workgroups share items, and their code for some of these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Module, Operation, Value
from irax_compiler.ops.registers import index
from irax_compiler.passes.core import nested, outside_kernels, walk
from irax_compiler.passes.kernels.code.loops import for_each
from irax_compiler.passes.kernels.code.places import plus
from irax_compiler.passes.kernels.division import Division
from irax_compiler.passes.kernels.executables import Body, Executables, add_executable

DISPATCH = "flow.dispatch"
_NUMBER = "stream.dispatch.workgroup.id"
_WIDEST = 8
"""The most bytes of an element of a workgroup's own memory."""


@dataclass(frozen=True)
class Kernel:
    """A kernel whose workgroups share items."""

    function: Operation
    division: Division
    counts: tuple[int, int]
    """The number of workgroups in two dimensions."""
    before: list[Operation]
    """The operations before the loop over items that it needs."""
    loop: Operation

    @classmethod
    def of(cls, executable: Operation) -> Kernel | None:
        """Return the kernel of an executable; None if it does not state how items divide arrays."""
        export, inner, _ = (o.operation for o in executable.regions[0].blocks[0].operations)
        inside = (o.operation for o in inner.regions[0].blocks[0].operations)
        functions = [o for o in inside if o.name == "func.func" and Division.of(o) is not None]
        if len(functions) != 1:
            return None
        division = Division.of(functions[0])
        assert division is not None
        counts = mlir.terminator(export.regions[0].blocks[0])
        rows, columns, _ = map(mlir.integer_of, counts.operands)
        assert rows is not None
        assert columns is not None
        *before, loop, _ = (o.operation for o in mlir.body(functions[0]).operations)
        needed = set(mlir.captured(loop))
        used: list[Operation] = []
        for operation in reversed(before):
            # One without results writes memory of the workgroup's own.
            if not operation.results or any(x in needed for x in operation.results):
                used.append(operation)
                needed.update(operation.operands, mlir.captured(operation))
        if any(_is_number(o, 0) for o in used):
            return None
        return cls(functions[0], division, (rows, columns), used[::-1], loop)

    @property
    def others(self) -> list[Operation]:
        """The functions that the kernel's own calls."""
        operations = (o.operation for o in self.function.block.operations)
        return [o for o in operations if o != self.function]

    @cached_property
    def size(self) -> int:
        """The number of operations."""
        return len(self.before) + sum(1 for _ in nested(self.loop))

    @property
    def stack(self) -> int:
        """The most bytes of a workgroup's own memory."""
        taken = (o.results[0].type for o in self.before if o.name == "memref.alloca")
        return sum(prod(mlir.shape_of_type(x)) * _WIDEST for x in taken)

    def begin(self, env: dict[Value, Value]) -> None:
        """Build what all items have in common; `env` has the bindings, and then the results."""
        mlir.clone_all((o for o in self.before if o not in self._of_columns), env)

    def items(self, first: Value, count: int, env: dict[Value, Value]) -> None:
        """Build the computation of `count` items, by all workgroups of the second dimension."""
        (inside,) = (region.blocks[0] for region in self.loop.regions)
        (at,) = inside.arguments

        def column(number: Value) -> None:
            known = dict(env)
            for operation in self._of_columns:
                if _is_number(operation, 1):
                    known[operation.results[0]] = number
                else:
                    mlir.clone_all([operation], known)
            _repeat(first, count, lambda item: mlir.clone_all(walk(inside), known | {at: item}))

        _repeat(index(0), self.counts[1], column)

    @cached_property
    def _of_columns(self) -> list[Operation]:
        """The operations of these that depend on the number in the second dimension."""
        found: list[Operation] = []
        made: set[Value] = set()
        for operation in self.before:
            read = (*operation.operands, *mlir.captured(operation))
            if _is_number(operation, 1) or any(x in made for x in read):
                found.append(operation)
                made.update(operation.results)
        return found


def _is_number(operation: Operation, dimension: int) -> bool:
    """True for the number of the workgroup in a dimension."""
    if operation.name != _NUMBER:
        return False
    value: Any = operation.attributes["dimension"]
    return value.value == dimension


def _repeat(first: Value, count: int, body: Callable[[Value], None]) -> None:
    """Build a body for `count` numbers, from the first on."""
    if count == 1:
        body(first)
    else:
        for_each(first, plus(first, count), body)


class Kernels:
    """The kernels of a module."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.executables = Executables(module)
        self.joined: set[str] = set()
        """The names of kernels that are part of others."""
        self._executables = {
            mlir.function_name(o.operation): o.operation
            for o in module.body.operations
            if o.operation.name == "stream.executable"
        }
        self._known: dict[str, Kernel | None] = {}

    def of(self, operation: Operation) -> Kernel | None:
        """Return the kernel of a dispatch of arrays of known sizes."""
        are_arrays = all(isinstance(x.type, mlir.RankedTensorType) for x in operation.operands)
        if not are_arrays or mlir.segments(operation) != [0, len(operation.operands), 0, 0]:
            return None
        name = name_of(operation)
        if name not in self._known:
            executable = self._executables.get(name)
            self._known[name] = None if executable is None else Kernel.of(executable)
        return self._known[name]

    def add(self, counts: tuple[int, int], division: Division, body: Body) -> str:
        """Return the name of the kernel that `body` builds."""

        def build(name: str) -> Operation:
            arrays = len(division.parts)
            made = add_executable(self.module, name, counts, arrays, body, division=division)
            self._executables[name] = made
            return made

        return self.executables.add("chain", build)

    def erase_unused(self) -> None:
        """Erase the kernels that are part of others alone."""
        if self.joined:
            operations = outside_kernels(self.module)
            left = {name_of(o) for o in operations if o.name == DISPATCH}
            for name in self.joined - left:
                self._executables[name].erase()


def name_of(operation: Operation) -> str:
    """Return the name of the kernel that is dispatched."""
    (entry,) = operation.attributes["entry_points"]  # pyright: ignore
    return entry.value[0]
