"""Legalizations of random bits, of which irax has XLA's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of, inexact, shape_of
from irax_compiler.ops import shape, slicing
from irax_compiler.ops.bitcast import BitcastConvert
from irax_compiler.ops.formula import Number
from irax_compiler.ops.random_bits import U32, U64, RngBitGenerator, philox
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.rewriting import read_as


@legalizes("stablehlo.rng_bit_generator", kind="missing", of="IREE")
def random_bits_of_floats(operation: Operation) -> Sequence[Value] | None:
    """Draw the bits of floats as integers: IREE makes words of another width of most of them."""
    op = read_as(RngBitGenerator, operation)
    if op is None or not inexact(op.dtype):
        return None
    integers = replace(op, dtype=np.dtype(f"u{op.dtype.itemsize}"))
    state, bits = integers.build(list(operation.operands))
    return [state, BitcastConvert(op.shape, op.dtype)(bits)]


@legalizes("stablehlo.rng_bit_generator", kind="bug", of="IREE")
def philox_by_words(operation: Operation) -> Sequence[Value] | None:
    """Write Philox as operations on words: IREE takes three words of state for two, and carries
    nothing from a counter's lower half to the upper.
    """
    op = read_as(RngBitGenerator, operation)
    if op is None or op.rng_algorithm == "THREE_FRY" or inexact(op.dtype):
        return None
    (state,) = operation.operands
    count, size = prod(op.shape), shape_of(state)[0]
    wide = op.dtype.itemsize == 8
    used = -(-count // (2 if wide else 4))
    key, low, high = (_word(state, i, used) for i in (0, 1, 2 if size == 3 else 0))
    counter = low + Number(shape.Iota((used,), U64, 0)())
    high = high + (counter < low).to(U64)
    found = philox(_halves(key), [*_halves(counter), *_halves(high)], _product)
    if wide:
        found = [a.to(U64) | (b.to(U64) << 32) for a, b in (found[:2], found[2:])]
    columns = [shape.reshape(x.value, (used, 1)) for x in found]
    numbers = shape.reshape(slicing.Concatenate(1)(*columns), (used * len(columns),))
    numbers = shape.reshape(slicing.slice_in_dim(numbers, 0, count, 0), op.shape)
    unsigned = Number(numbers).to(f"u{op.dtype.itemsize}")
    return [_after(state, used), unsigned.bits(op.dtype).value]


def _word(state: Value, place: int, count: int) -> Number:
    """One of the words of the state, `count` times."""
    word = shape.reshape(slicing.slice_in_dim(state, place, place + 1, 0), ())
    return Number(shape.broadcast_scalar(word, (count,)))


def _halves(x: Number) -> list[Number]:
    return [(x & 0xFFFFFFFF).to(U32), (x >> 32).to(U32)]


def _product(x: Number, number: int) -> tuple[Number, Number]:
    low, high = _halves(x.to(U64) * number)
    return high, low


def _after(state: Value, used: int) -> Value:
    """The state with a counter that is further by `used`."""
    parts = [Number(slicing.slice_in_dim(state, i, i + 1, 0)) for i in range(shape_of(state)[0])]
    low = parts[1]
    parts[1] = low + used
    if len(parts) == 3:
        parts[2] = parts[2] + (parts[1] < low).to(dtype_of(state))
    return slicing.Concatenate(0)(*(part.value for part in parts))
