"""The rewrite of `stablehlo.rng`, which has no seed, to generators with fixed keys. Each operation
gets a key of its own, so a program gives the same numbers in every run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, inexact, shape_of
from irax_compiler.ops import comparison, conversion, elementwise, shape
from irax_compiler.ops.core import constant, working_dtype
from irax_compiler.ops.formula import Number, where
from irax_compiler.ops.random_bits import RngBitGenerator
from irax_compiler.ops.special import chlo_functions

_APART = 0x9E3779B97F4A7C15
"""Between two keys: 2**64 divided by the golden ratio."""


def numbers_of_rng(operation: Operation, number: int) -> Sequence[Value] | None:
    """Return uniform numbers from the first operand to the second, exclusive; or normal ones with
    that mean and that standard deviation.
    """
    (result,) = operation.results
    if mlir.type_problem(result.type) is not None or dtype_of(result).kind == "c":
        return None
    extents, dtype = shape_of(result), dtype_of(result)
    low, high = (shape.broadcast_scalar(x, extents) for x in operation.operands[:2])
    is_normal = "NORMAL" in mlir.attribute_text(operation.attributes["rng_distribution"])
    if inexact(dtype):
        working = working_dtype(dtype)
        a, b = (Number(conversion.convert(x, working)) for x in (low, high))
        fraction = _fraction(number, extents, working, is_normal)
        found = a + b * _normal(fraction) if is_normal else a + (b - a) * fraction
        return [conversion.convert(found.value, dtype)]
    return None if is_normal else [_integer(number, low, high)]


def _bits(number: int, extents: tuple[int, ...], width: int) -> Number:
    state = np.array([(number + 1) * _APART % 2**64, 0], np.uint64)
    generate = RngBitGenerator(extents, np.dtype(f"u{width}"), "THREE_FRY")
    return Number(generate.build([constant(state)])[1])


def _fraction(number: int, extents: tuple[int, ...], dtype: np.dtype, is_open: bool) -> Number:
    """Return a fraction from 0 to 1, exclusive; 0 is excluded too if `is_open`."""
    bits, info = _bits(number, extents, dtype.itemsize), np.finfo(dtype)
    one: Any = np.array(1, dtype).view(f"u{dtype.itemsize}")
    mantissa = bits >> (8 * dtype.itemsize - info.nmant)
    return (mantissa | int(one)).bits(dtype) - (1 - float(info.eps) / 2 if is_open else 1.0)


def _normal(fraction: Number) -> Number:
    return Number(chlo_functions.erf_inv((fraction * 2 - 1).value)) * math.sqrt(2)


def _integer(number: int, low: Value, high: Value) -> Value:
    dtype = dtype_of(low)
    if dtype == np.bool_:
        bits = _bits(number, shape_of(low), 4)
        return comparison.select(((bits & 1).equals(1)).value, low, high)
    width = max(dtype.itemsize, 4)
    unsigned = np.dtype(f"u{width}")
    a, b = (Number(conversion.convert(x, unsigned)) for x in (low, high))
    place = elementwise.remainder(_bits(number, shape_of(low), width).value, (b - a).value)
    found = conversion.convert((a + Number(place)).value, dtype)
    return where(a.equals(b), Number(low), Number(found)).value
