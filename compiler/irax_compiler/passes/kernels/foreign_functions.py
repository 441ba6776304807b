"""Calls of C functions as dispatches, which call the functions without Python.

A function is a static import: a symbol that is looked up when the program is loaded. The runtime
loads the library before. A function that is known only by its address has a symbol too, for which
the linker puts the address (`iree/addresses.py`): the program then runs in this process alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Block, Module, Operation, Value, dtype_of, shape_of
from irax_compiler.ops.core import UnsupportedOp, full
from irax_compiler.ops.foreign_function import ForeignFunction, decode
from irax_compiler.ops.registers import constant, index
from irax_compiler.passes.core import Pass, outside_kernels, register_pass
from irax_compiler.passes.host.annotate import add_reflection
from irax_compiler.passes.host.host import is_host_call, read_host_call
from irax_compiler.passes.kernels.code.memory import store
from irax_compiler.passes.kernels.executables import (
    Executables,
    add_executable,
    address,
    base,
    declare_import,
    dispatch,
    local_memory,
    long,
)


@register_pass
class ForeignFunctions(Pass):
    """Replaces the host calls `c_function` and `c_action` by dispatches that call functions of C's.
    Public functions get the reflection attribute `irax.functions`, a list in JSON: the library and
    the symbol of each function.
    """

    name: ClassVar[str] = "foreign-functions"

    def run(self, module: Module) -> bool | None:
        executables, called = Executables(module), {}
        for operation in [o for o in outside_kernels(module) if is_host_call(o)]:
            name, described = read_host_call(operation)
            if name in ForeignFunction.imports:
                symbol, parameters = described["symbol"], described["parameters"]
                call = _Call(operation, symbol, parameters, name == ForeignFunction.imports[1])
                called[symbol] = described["library"]
                with mlir.InsertionPoint(operation), operation.location:
                    mlir.replace(operation, call.dispatched(executables))
        if called:
            told = json.dumps([[library, symbol] for symbol, library in called.items()])
            for function in mlir.functions(module).values():
                if mlir.is_public(function):
                    add_reflection(function, {"irax.functions": told})
        return bool(called)


@dataclass
class _Call:
    """A call of a function of C's."""

    operation: Operation
    symbol: str
    parameters: str
    acts: bool
    """True if its last operand and result are tokens, which share their memory."""

    def __post_init__(self) -> None:
        if sys.platform != "linux":
            raise UnsupportedOp(
                f"a C function at {self.operation.location}: compiled programs call them on Linux "
                f"alone, this is {sys.platform}; run it on the device 'reference'"
            )

    def dispatched(self, executables: Executables) -> list[Value]:
        """Build the dispatch; return the results of the call."""
        operands = [x for x in self.operation.operands if not _is_empty(x)]
        results = [x for x in self.operation.results if not _is_empty(x)]
        ties = {len(results) - 1: len(operands) - 1} if self.acts else {}
        bindings = len(operands) + len(results) - len(ties)

        def build(name: str) -> Operation:
            return add_executable(executables.module, name, (1, 1), bindings, body)

        def body(block: Block, given: list[Value]) -> None:
            for operand in ties.values():
                del given[operand]
            self._build(block, given)

        name = executables.add("c_function", build)
        found = iter(dispatch(name, operands, [x.type for x in results], ties))
        return [
            full(shape_of(x), 0, dtype_of(x)) if _is_empty(x) else next(found)
            for x in self.operation.results
        ]

    def _build(self, block: Block, bindings: Sequence[Value]) -> None:
        """Build the code of the dispatch for the bindings of arrays that are not empty."""
        kept = -1 if self.acts else None
        arrays = [*self.operation.operands[:kept], *self.operation.results[:kept]]
        places = iter(bindings)
        given: list[Value] = []
        for x in arrays:
            shape, size = shape_of(x), prod(shape_of(x)) * dtype_of(x).itemsize
            pointer = long(base(next(places), size)) if size else _number(0)
            given += [pointer, _number(len(shape)), _stored(np.array(shape, np.int64))]
        for value in decode(self.parameters):
            given += _by_value(value)
        declare_import(block, self.symbol, [x.type for x in given])
        mlir.emit("func.call", given, {"callee": mlir.symbol(self.symbol)}, [])


def _is_empty(x: Value) -> bool:
    return not prod(shape_of(x))


def _by_value(value: np.ndarray | bytes) -> list[Value]:
    """A parameter as C takes it: a number, or a pointer to a row of numbers, and how many."""
    if isinstance(value, bytes):
        return [_stored(np.frombuffer(value, np.uint8))]
    if value.ndim:
        return [_stored(value), _number(value.size)]
    if value.dtype.kind != "f" and value.dtype.itemsize < 4:
        value = value.astype(np.int32)  # as the conventions of processors have it
    return [constant(value)]


def _number(x: int) -> Value:
    return constant(np.asarray(x, np.int64))


def _stored(values: np.ndarray) -> Value:
    """The address of numbers that the dispatch has in its own memory."""
    if not values.size:
        return _number(0)
    elements = [constant(np.asarray(value)) for value in values]
    memory = local_memory(len(elements), elements[0].type)
    for i, element in enumerate(elements):
        store(element, memory, index(i))
    return long(address(memory))
