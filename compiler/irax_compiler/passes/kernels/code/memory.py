"""Loads and stores of registers: numbers, and vectors of neighbouring elements."""

from __future__ import annotations

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Type, Value
from irax_compiler.ops import registers
from irax_compiler.ops.registers import emit
from irax_compiler.passes.kernels.code.places import plus
from irax_compiler.passes.kernels.code.shuffles import picked, shuffled


def load(memory: Value, at: Value, size: int = 1, mask: Value | None = None) -> Value:
    """Load a register of `size` elements: those that a mask leaves out are zeros, not read."""
    element: Type = memory.type.element_type  # pyright: ignore
    if size == 1:
        return emit("memref.load", memory, at, to=element)
    to = mlir.parse_type(f"vector<{size}x{element}>")
    if mask is None:
        return emit("vector.load", memory, at, to=to)
    zeros = registers.spread(registers.zero(element), size)
    return emit("vector.maskedload", memory, at, mask, zeros, to=to)


def store(x: Value, memory: Value, at: Value, mask: Value | None = None) -> None:
    """Store the elements of a register, those that a mask leaves out excepted."""
    if not isinstance(x.type, mlir.VectorType):
        mlir.emit("memref.store", [x, memory, at], {}, [])
    elif mask is None:
        mlir.emit("vector.store", [x, memory, at], {}, [])
    else:
        mlir.emit("vector.maskedstore", [memory, at, mask, x], {}, [])


def read(memory: Value, at: Value, dtype: np.dtype, size: int, mask: Value | None = None) -> Value:
    """Load numbers or booleans of `dtype`; memory holds booleans as bytes."""
    found = load(memory, at, size, mask)
    if dtype != np.bool_:
        return found
    return emit("arith.trunci", found, to=registers.with_elements(found, dtype))


def write(x: Value, memory: Value, at: Value, size: int, mask: Value | None = None) -> None:
    """Store numbers or booleans: a register of `size` elements, or a number as each of them."""
    if registers.is_boolean(x):
        x = emit("arith.extui", x, to=registers.with_elements(x, np.dtype(np.int8)))
    store(registers.spread(x, size), memory, at, mask)


def gathered(source: Value, at: Value, offsets: np.ndarray, dtype: np.dtype) -> Value:
    """Load the numbers of `dtype` at some distances from a place: a number if all are the same one,
    else a vector, picked from vectors of neighbours.
    """
    first, span = int(offsets.min()), int(np.ptp(offsets)) + 1
    at = plus(at, first) if first else at
    if span == 1:
        return read(source, at, dtype, 1)
    width = min(span, offsets.size)
    starts = [min(start, span - width) for start in range(0, span, width)]
    parts = np.minimum((offsets - first) // width, len(starts) - 1)
    found: Value | None = None
    for number, start in enumerate(starts):
        if number and not np.any(parts == number):
            continue
        there = plus(at, start) if start else at
        loaded = read(source, there, dtype, width)
        own = offsets - first - start
        if found is None:
            found = picked(loaded, np.where(parts == number, own, 0))
        else:
            lane = np.arange(offsets.size)
            found = shuffled(found, loaded, np.where(parts == number, offsets.size + own, lane))
    assert found is not None
    return found
