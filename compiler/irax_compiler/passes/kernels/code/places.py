"""Places in memory: indices, and the arithmetic of kernels on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value
from irax_compiler.ops import registers
from irax_compiler.ops.registers import emit, index

_INT32 = np.dtype(np.int32)


def plus(x: Value, y: Any) -> Value:
    """Build the sum of a place and another, or a number."""
    return emit("arith.addi", x, y if isinstance(y, Value) else index(y))


def times(x: Value, by: Any) -> Value:
    """Build a multiple of a place."""
    return x if isinstance(by, int) and by == 1 else emit("arith.muli", x, index(by))


def moved(at: Value, by: Value, stride: Any) -> Value:
    """Return the place that is `by` times `stride` after another."""
    return at if isinstance(stride, int) and stride == 0 else plus(at, times(by, stride))


def least(x: Value, y: Any) -> Value:
    """Return the lesser of a place and a number."""
    return emit("arith.minsi", x, index(y))


def clamped(x: Value, dtype: np.dtype, limit: int) -> Value:
    """Return a register of indices of a dtype as places of int32, between 0 and a limit."""
    if dtype.kind == "i":
        x = emit("arith.maxsi", x, registers.number(0, x))
    x = emit("arith.minui", x, registers.number(min(int(limit), int(np.iinfo(dtype).max)), x))
    if dtype.itemsize == _INT32.itemsize:
        return x
    name = "arith.trunci" if dtype.itemsize > _INT32.itemsize else "arith.extui"
    return emit(name, x, to=registers.with_elements(x, _INT32))


def split(number: Value, extents: Sequence[Any]) -> list[Value]:
    """Return the indices, in an array of some extents, of the element with a number."""
    found: list[Value] = []
    for i, extent in reversed(list(enumerate(extents))):
        found.append(emit("arith.remui", number, index(extent)) if i else number)
        number = emit("arith.divui", number, index(extent)) if i else number
    return found[::-1]


def numbers(at: Value, offsets: np.ndarray, dtype: np.dtype) -> Value:
    """Return a register of places at some distances from another, as numbers of `dtype`."""
    wide = np.dtype(np.int64 if dtype.itemsize == 8 else np.int32)
    found = emit("arith.index_cast", at, to=mlir.element_type(wide))
    if np.ptp(offsets):
        distances = registers.constant(offsets.astype(wide))
        found = emit("arith.addi", registers.spread(found, offsets.size), distances)
    target = registers.signless_dtype(dtype)
    to = registers.with_elements(found, target)
    if found.type == to:
        return found
    return emit("arith.trunci" if target.kind == "i" else "arith.sitofp", found, to=to)
