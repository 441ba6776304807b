"""Conversion of numbers to another dtype or precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, inexact, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.attributes import I32, attribute, result_dtype
from irax_compiler.ops.core import (
    ArrayType,
    Axis,
    Bits,
    Linear,
    Op,
    Recomputation,
    Tangent,
    Widened,
    only,
    working_dtype,
)
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation, Transposition


@register_class
@dataclass(frozen=True)
class Convert(Op):
    """Elementwise conversion by value; floats saturate to integers and nan becomes 0."""

    name = "stablehlo.convert"
    widened = Widened.LOW_BITS
    float_bits = Bits.CONVERTED
    linear_in = None
    scalar_lowering = registers.CONVERT
    elementwise = True
    arithmetic = True
    recomputation = Recomputation.CHEAP
    dtype: np.dtype = result_dtype()

    def result_types(self, operands: Sequence[Value]):
        return [mlir.tensor_type(shape_of(operands[0]), self.dtype)]

    def evaluate(self, call: Evaluation, x: np.ndarray) -> np.ndarray:
        if x.dtype.kind == "c" and self.dtype.kind != "c":
            x = np.real(x)
        if self.dtype == np.bool_:
            return x != 0
        if inexact(x.dtype) and not inexact(self.dtype):
            return _saturate(x, self.dtype)
        if x.dtype == np.float64 and self.dtype.type.__module__ == "ml_dtypes":
            x = _rounded_to_odd(x)
        if x.dtype.type.__module__ == "ml_dtypes":  # NumPy converts few of these to one another
            x = x.astype(working_dtype(x.dtype), copy=False)
        return x.astype(self.dtype)

    def prepared(self, *operands: ArrayType) -> Callable[..., Any]:
        of, to = operands[0].dtype, self.dtype
        if to == np.bool_ and of.kind != "c":
            return lambda x: x != 0
        if of.kind in "biu" or (of.kind == "f" and to.kind in "fc"):
            return lambda x: x.astype(to)
        return super().prepared(*operands)

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        return results, [self(only(tangents)) if inexact(self.dtype) else None]

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        return [convert(only(cotangents), dtype_of(operands[0]))]

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        return [self(operands[0])], [axes[0]]


def _rounded_to_odd(x: np.ndarray) -> np.ndarray:
    """Round float64 to float32 to odd: of two neighbours the odd one, unless the number is exact.
    ml_dtypes converts float32 to narrower floats, and this makes its rounding correct.
    """
    with np.errstate(over="ignore"):
        near = x.astype(np.float32)
    back, bits = near.astype(np.float64), near.view(np.int32)
    kept = (back == x) | (bits & 1 == 1) | np.isnan(x)
    odd = np.where(np.abs(back) > np.abs(x), bits - 1, bits + 1)
    return np.where(kept, near, odd.view(np.float32))


def _saturate(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    low, high = _bounds(dtype)
    wide = x.astype(np.float64)
    inside = (wide > low) & (wide < high)
    if np.count_nonzero(inside) == inside.size:
        return wide.astype(low.dtype).astype(dtype, copy=False)
    bounded = np.where(wide >= high, high, np.where(inside, wide, 0).astype(low.dtype))
    return np.where(wide <= low, low, bounded).astype(dtype, copy=False)


@cache
def _bounds(dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest integer, in the dtype that NumPy computes in."""
    info, working = ml_dtypes.iinfo(dtype), working_dtype(dtype)
    return np.array(int(info.min), working), np.array(int(info.max), working)


def convert(x: Value, dtype: np.dtype) -> Value:
    """Convert; nothing where the dtype is right already."""
    return x if dtype_of(x) == dtype else Convert(dtype)(x)


@register_class
@dataclass(frozen=True)
class ReducePrecision(Op):
    """Round floats to fewer bits of exponent and mantissa. Numbers that are too large become
    infinite, and subnormal ones zero.
    """

    name = "stablehlo.reduce_precision"
    linear_in = None
    elementwise = True
    recomputation = Recomputation.CHEAP
    exponent_bits: int = attribute(I32)
    mantissa_bits: int = attribute(I32)

    def evaluate(self, call: Evaluation, x: np.ndarray) -> np.ndarray:
        if x.dtype.itemsize == 1:  # few of these dtypes have infinities and all exponents
            return self.evaluate(call, x.astype(np.float32)).astype(x.dtype)
        info = ml_dtypes.finfo(x.dtype)
        dtype = np.dtype(f"u{x.dtype.itemsize}")
        bits = np.ascontiguousarray(x).reshape(x.shape).view(dtype)
        sign = bits & dtype.type(1 << (info.bits - 1))
        size = bits ^ sign
        dropped = info.nmant - self.mantissa_bits
        if dropped > 0:  # to the nearest, of two the even one
            last = (size >> dtype.type(dropped)) & dtype.type(1)
            size = size + last + dtype.type((1 << (dropped - 1)) - 1)
            size = size & ~dtype.type((1 << dropped) - 1)
        infinity = dtype.type(((1 << info.nexp) - 1) << info.nmant)
        if self.exponent_bits < info.nexp:
            bias, own = (1 << (info.nexp - 1)) - 1, (1 << (self.exponent_bits - 1)) - 1
            exponent = size & infinity
            beyond = exponent > dtype.type((bias + own) << info.nmant)
            below = exponent <= dtype.type((bias - own) << info.nmant)
            size = np.where(beyond, infinity, np.where(below, dtype.type(0), size))
        rounded = (size | sign).astype(dtype).view(x.dtype)
        return np.where(np.isnan(x), x, rounded)

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        return results, [self(only(tangents))]

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        return [self(only(cotangents))]

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        return [self(operands[0])], [axes[0]]
