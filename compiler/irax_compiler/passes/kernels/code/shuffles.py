"""Registers made of the elements of others, in another order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Type, Value
from irax_compiler.ops import registers
from irax_compiler.ops.registers import Registers, emit


def picked(x: Value, places: np.ndarray) -> Value:
    """Return a register with the elements of another at these indices."""
    places = places.reshape(-1)
    size = registers.size_of(x)
    if size == 1:
        return registers.spread(x, places.size)
    if places.size == 1:
        position = mlir.integers(places)
        bits = _bits(x)
        part = emit("vector.extract", bits, to=bits.type.element_type, static_position=position)
        return _as(part, x.type.element_type)
    if np.array_equal(places, np.arange(size)):
        return x
    return shuffled(x, x, places)


def joined(parts: Registers) -> Value:
    """Concatenate registers."""
    if len(parts) == 1:
        return parts[0]
    first, second = joined(parts[: len(parts) // 2]), joined(parts[len(parts) // 2 :])
    sizes = [registers.size_of(x) for x in (first, second)]
    return shuffled(_as_vector(first), _as_vector(second), np.arange(sum(sizes)))


def _as_vector(x: Value) -> Value:
    if registers.size_of(x) > 1:
        return x
    return emit("vector.broadcast", x, to=mlir.parse_type(f"vector<1x{mlir.type_text(x.type)}>"))


def shuffled(x: Value, y: Value, places: np.ndarray) -> Value:
    """Return a register with the elements at these indices of two vectors, one after the other."""
    mask = mlir.integers(places)
    x_bits, y_bits = _bits(x), _bits(y)
    to = _vector(places.size, x_bits.type.element_type)
    found = emit("vector.shuffle", x_bits, y_bits, to=to, mask=mask)
    return _as(found, _vector(places.size, x.type.element_type))


def _vector(size: int, element: Type) -> Type:
    return mlir.parse_type(f"vector<{size}x{mlir.type_text(element)}>")


def interleaved(x: Value, y: Value) -> Value:
    """Return the elements of two vectors in turns."""
    size = registers.size_of(x)
    return shuffled(x, y, np.arange(2 * size).reshape(2, size).T.reshape(-1))


def interleaved_rows(rows: Sequence[Value]) -> Value:
    """Return the elements of a power of two of vectors in turns: the first of each, and so on."""
    while len(rows) > 1:
        half = len(rows) // 2
        rows = [*map(interleaved, rows[:half], rows[half:])]
    return rows[0]


def _bits(x: Value) -> Value:
    """Return a vector of bfloat16 as its bits: LLVM ends the process where it takes some sizes of
    such vectors apart.
    """
    if mlir.type_text(x.type.element_type) != "bf16":
        return x
    return _as(x, mlir.parse_type(mlir.type_text(x.type).replace("bf16", "i16")))


def _as(x: Value, type_: Type) -> Value:
    return x if x.type == type_ else emit("arith.bitcast", x, to=type_)


def transposed(rows: Registers) -> list[Value]:
    """Transpose a square matrix of vectors, by exchanging a bit of the numbers of rows and columns
    at a time.
    """
    found, n = list(rows), len(rows)
    for bit in (1 << i for i in range(n.bit_length() - 1)):
        upper = np.array([j if not j & bit else n + j - bit for j in range(n)])
        lower = np.array([j + bit if not j & bit else n + j for j in range(n)])
        for i in range(n):
            if not i & bit:
                pair = found[i], found[i + bit]
                found[i], found[i + bit] = (shuffled(*pair, m) for m in (upper, lower))
    return found
