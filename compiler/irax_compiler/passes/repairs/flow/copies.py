"""Copies of arrays, and values that wait for others, in IREE's dialect flow."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value
from irax_compiler.ops.registers import emit, index
from irax_compiler.passes.kernels.code.loops import for_each
from irax_compiler.passes.kernels.code.memory import load, store
from irax_compiler.passes.kernels.executables import Body, add_executable, dispatch, long, memory
from irax_compiler.passes.kernels.moves.kernels import in_registers
from irax_compiler.passes.repairs.flow.extents import sizes_of_result

_BYTES = np.dtype(np.int8)
_WIDTH = 64


_DEVICE = "#hal.device.promise<@__device_0>"
"""The only device of a program, as IREE names it."""


def barrier(x: Value, extents: Sequence[Value] = ()) -> Value:
    """Build a barrier, behind which an array is another value to IREE. `extents` are its sizes that
    are not known.
    """
    target = {"target": mlir.parse_attribute(_DEVICE)}
    return mlir.emit("flow.tensor.barrier", [x, *extents], target, [x.type]).results[0]


def bytes_of(x: Value) -> int:
    """Return the bytes of an array; of those of unknown size, without these sizes."""
    type_: Any = x.type
    known = [n for n in type_.shape if n >= 0]
    return prod(known) * mlir.dtype_of(x).itemsize


def copied(x: Value, number: int, extents: Sequence[Value]) -> Value:
    """Build a copy by a kernel, which IREE does not remove. Copies are told apart by their
    numbers.
    """
    size = bytes_of(x)
    name = "copy_any" if extents else f"copy_{size}"
    body = _copy_of_any_size if extents else _copy_of(size)
    module = mlir.open_module()
    if mlir.unique_name(module, name) == name:
        add_executable(module, name, (1, 1), 2, body, workload=1, numbers=len(extents[:1]))
    bytes_ = [long(reduce(_times, extents, index(size)))] if extents else []
    workload, sizes = [index(number)], (extents, extents)
    return dispatch(name, [x, *bytes_], [x.type], workload=workload, extents=sizes)[0]


def _copy_of(size: int) -> Body:
    def build(_: Any, bindings: list[Value]) -> None:
        source, target = (memory(binding, size, _BYTES) for binding in bindings)
        in_registers(size, _WIDTH, lambda at, n: store(load(source, at, n), target, at))

    return build


def _copy_of_any_size(_: Any, given: list[Value]) -> None:
    *bindings, number = given
    size = emit("arith.index_cast", number, to=mlir.parse_type("index"))
    source, target = (_memory_of(binding, size) for binding in bindings)
    whole = _times(emit("arith.divui", size, index(_WIDTH)), index(_WIDTH))
    for_each(index(0), whole, lambda at: store(load(source, at, _WIDTH), target, at), _WIDTH)
    for_each(whole, size, lambda at: store(load(source, at), target, at))


def _memory_of(binding: Value, size: Value) -> Value:
    type_ = mlir.parse_type("memref<?xi8, strided<[1], offset: ?>>")
    return emit("stream.binding.subspan", binding, index(0), size, to=type_)


def _times(x: Value, y: Value) -> Value:
    return emit("arith.muli", x, y)


def after(x: Value, others: Sequence[Value], extents: Sequence[Value]) -> Value:
    """Build an alias of an array that is ready once other values are: a kernel that does
    nothing.
    """
    name = f"after_{len(others)}"
    module = mlir.open_module()
    if mlir.unique_name(module, name) == name:
        add_executable(module, name, (1, 1), 1 + len(others), lambda _, bindings: None)
    sizes = [*extents, *(n for y in others for n in sizes_of_result(y))]
    return dispatch(name, [x, *others], [x.type], {0: 0}, extents=(sizes, extents))[0]
