"""Registers of kernels: numbers, and vectors of the elements of neighbouring places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of
from irax_compiler.ops import registers
from irax_compiler.ops.reductions.reduce import find_combiner, identity
from irax_compiler.ops.registers import emit, index
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.kernels.loops import blocks, vectors
from irax_compiler.sizes import Size

BOOLEAN = mlir.element_type(np.dtype(np.bool_))


class _Lanes(blocks.Scope):
    """Registers that all have one element, or all the lanes of a vector."""

    def size(self, x: Value) -> int:
        return self.lanes or 1


def compute(operations: Iterable[Operation], known: dict[Value, Value], lanes: int) -> None:
    """Build elementwise operations and broadcasts of numbers; `known` then has their results."""
    scope = _Lanes(known, lanes=lanes)
    for operation in operations:
        if traits_of(operation).moves:
            known[operation.results[0]] = scope.register(operation.operands[0])
        else:
            blocks.translate([operation], scope)


def register(x: Value, known: dict[Value, Value]) -> Value:
    """Return the register of a value, which may be a constant."""
    if x in known:
        return known[x]
    fill = mlir.splat(x)
    assert fill is not None
    return registers.constant(fill)


# ---- reductions ----------------------------------------------------------------------------------


def combiner(operation: Operation) -> str:
    """Return the combiner of a reduction."""
    found = find_combiner(operation)
    assert found is not None
    return found


def combined(operation: Operation, x: Value, y: Value) -> Value:
    """Combine two registers as a reduction does."""
    inner = operation.regions[0].blocks[0].operations[0].operation
    return registers.apply(inner, [x, y])


def neutral(operation: Operation, lanes: int) -> Value:
    """Return a register of the reduction's identity."""
    dtype = dtype_of(operation.operands[0])
    element = np.asarray(identity(combiner(operation), dtype), dtype)
    return registers.spread(registers.constant(element), lanes)


_OF_BOOLEANS = {"maximum": "or", "minimum": "and", "multiply": "and"}


def across(operation: Operation, x: Value) -> Value:
    """Fold the elements of a register, by halves."""
    name = combiner(operation)
    if registers.is_boolean(x):
        return _reduced(_OF_BOOLEANS.get(name, name), x, BOOLEAN)
    if name in _ORDERED and mlir.is_inexact(operation.operands[0]):
        return _extremum(_ORDERED[name], x, dtype_of(operation.operands[0]))
    return _by_halves(x, lambda low, high: combined(operation, low, high))


_ORDERED = {"maximum": 2, "minimum": 4}
"""The combiners of floats that select by an ordered comparison, and its predicate."""


def _extremum(predicate: int, x: Value, dtype: np.dtype) -> Value:
    """Fold floats by comparisons alone, and look for nan once: each step of an exact maximum takes
    five instructions.
    """
    kind = mlir.parse_attribute(f"{predicate} : i64")
    unordered = mlir.parse_attribute("14 : i64")
    boolean = registers.with_elements(x, np.dtype(np.bool_))
    is_nan = _reduced("or", emit("arith.cmpf", x, x, to=boolean, predicate=unordered), BOOLEAN)

    def chosen(low: Value, high: Value) -> Value:
        boolean = registers.with_elements(low, np.dtype(np.bool_))
        condition = emit("arith.cmpf", low, high, to=boolean, predicate=kind)
        return registers.select(condition, low, high)

    found = _by_halves(x, chosen)
    return registers.select(is_nan, registers.constant(np.asarray(np.nan, dtype)), found)


def _by_halves(x: Value, combine: Callable[[Value, Value], Value]) -> Value:
    while (size := registers.size_of(x)) > 1:
        low, high = np.arange(size).reshape(2, size // 2)
        x = combine(vectors.picked(x, low), vectors.picked(x, high))
    return x


def _reduced(kind: str, x: Value, to: mlir.Type) -> Value:
    attribute = mlir.parse_attribute(f"#vector.kind<{kind}>")
    return emit("vector.reduction", x, to=to, kind=attribute)


# ---- memory --------------------------------------------------------------------------------------


def read(source: Value, at: Value, dtype: np.dtype, lanes: int, mask: Value | None) -> Value:
    """Load numbers of `dtype`. Those that a mask leaves out are not read, and are zeros."""
    held = np.dtype(np.int8) if dtype == np.bool_ else registers.signless_dtype(dtype)
    to = registers.type_of(held, lanes)
    if lanes == 1:
        loaded = emit("memref.load", source, at, to=to)
    elif mask is None:
        loaded = emit("vector.load", source, at, to=to)
    else:
        zeros = registers.spread(registers.zero(mlir.element_type(held)), lanes)
        loaded = emit("vector.maskedload", source, at, mask, zeros, to=to)
    if dtype != np.bool_:
        return loaded
    return emit("arith.trunci", loaded, to=registers.type_of(dtype, lanes))


def write(x: Value, target: Value, at: Value, lanes: int, mask: Value | None) -> None:
    """Store numbers, those that a mask leaves out excepted."""
    if registers.is_boolean(x):  # which memory holds as bytes
        x = emit("arith.extui", x, to=registers.with_elements(x, np.dtype(np.int8)))
    x = registers.spread(x, lanes)
    if lanes == 1:
        mlir.emit("memref.store", [x, target, at], {}, [])
    elif mask is None:
        mlir.emit("vector.store", [x, target, at], {}, [])
    else:
        mlir.emit("vector.maskedstore", [target, at, mask, x], {}, [])


def gathered(source: Value, at: Value, offsets: np.ndarray, dtype: np.dtype) -> Value:
    """Load the numbers of `dtype` at some distances from a place: a number if all are the same one,
    else a vector, picked from vectors of neighbours.
    """
    first, span = int(offsets.min()), int(np.ptp(offsets)) + 1
    at = emit("arith.addi", at, index(first)) if first else at
    if span == 1:
        return read(source, at, dtype, 1, None)
    width = min(span, offsets.size)
    starts = [min(start, span - width) for start in range(0, span, width)]
    parts = np.minimum((offsets - first) // width, len(starts) - 1)
    found: Value | None = None
    for number, start in enumerate(starts):
        if number and not np.any(parts == number):
            continue
        there = emit("arith.addi", at, index(start)) if start else at
        loaded = read(source, there, dtype, width, None)
        own = offsets - first - start
        if found is None:
            found = vectors.picked(loaded, np.where(parts == number, own, 0))
        else:
            lane = np.arange(offsets.size)
            found = vectors.shuffled(
                found, loaded, np.where(parts == number, offsets.size + own, lane)
            )
    assert found is not None
    return found


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


def places(at: Value, dtype: np.dtype, lanes: int) -> Value:
    """Return a register of consecutive places, as numbers of `dtype`."""
    return numbers(at, np.arange(lanes), dtype)


# ---- loops and places ----------------------------------------------------------------------------


def block(steps: Any, most: int) -> int:
    """Return the size of the largest blocks in which a number of steps is taken: a power of `most`,
    of which there are at most as many. A number that is not known is taken for a large one.
    """
    size, steps = 1, most**3 if isinstance(steps, Size) else steps
    while -(-steps // size) > most:
        size *= most
    return size


def least(x: Value, y: Any) -> Value:
    """Return the lesser of a place and a number."""
    return emit("arith.minsi", x, index(y))


def split(number: Value, extents: Sequence[Any]) -> list[Value]:
    """Return the indices, in an array of some extents, of the element with a number."""
    found: list[Value] = []
    for i, extent in reversed(list(enumerate(extents))):
        found.append(emit("arith.remui", number, index(extent)) if i else number)
        number = emit("arith.divui", number, index(extent)) if i else number
    return found[::-1]
