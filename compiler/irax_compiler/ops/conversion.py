"""Changing dtype: by value (convert) or by bit pattern (bitcast_convert)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, inexact, shape_of
from irax_compiler.ops.core import Axis, Linear, Op, Tangent, register_class, result_dtype, result_shape
from irax_compiler.ops import shape


@register_class
@dataclass(frozen=True)
class Convert(Op):
    """Elementwise conversion by value; floats saturate to integers and nan becomes 0."""

    name = "stablehlo.convert"
    dtype: np.dtype = result_dtype()

    def result_types(self, operands: Sequence[Value]):
        return [mlir.tensor_type(shape_of(operands[0]), self.dtype)]

    def evaluate(self, x: np.ndarray) -> np.ndarray:
        if self.dtype == np.bool_:
            return x != 0
        if x.dtype.kind == "c" and self.dtype.kind != "c":
            x = x.real
        if inexact(x.dtype) and self.dtype.kind in "iu":
            return _saturate(x, self.dtype)
        return x.astype(self.dtype)

    def jvp(
        self, primals: Sequence[Value], tangents: Sequence[Tangent], results: Sequence[Value]
    ) -> Sequence[Tangent]:
        (tangent,) = tangents
        return [self(tangent) if inexact(self.dtype) and tangent is not None else None]

    def transpose(
        self, cotangents: Sequence[Tangent], operands: Sequence[Value | Linear]
    ) -> Sequence[Tangent]:
        return [convert(cotangents[0], dtype_of(operands[0]))]

    def batch(self, size: int, operands: Sequence[Value], axes: Sequence[Axis]):
        return [self(operands[0])], [axes[0]]


def _saturate(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    info = np.iinfo(dtype)
    wide = x.astype(np.float64)
    inside = np.where((wide > info.min) & (wide < info.max), wide, 0).astype(dtype)
    high = np.where(wide >= info.max, np.array(info.max, dtype), inside)
    return np.where(wide <= info.min, np.array(info.min, dtype), high)


def convert(x: Value, dtype: np.dtype) -> Value:
    """Convert; nothing where the dtype is right already."""
    return x if dtype_of(x) == dtype else Convert(dtype)(x)


@register_class
@dataclass(frozen=True)
class BitcastConvert(Op):
    """The same bits as another dtype; a last dimension appears or goes where widths differ."""

    name = "stablehlo.bitcast_convert"
    shape: tuple[int, ...] = result_shape()
    dtype: np.dtype = result_dtype()

    def result_types(self, operands: Sequence[Value]):
        return [mlir.tensor_type(self.shape, self.dtype)]

    def evaluate(self, x: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(x).reshape(-1).view(self.dtype).reshape(self.shape)

    def jvp(
        self, primals: Sequence[Value], tangents: Sequence[Tangent], results: Sequence[Value]
    ) -> Sequence[Tangent]:
        return [None]

    def batch(self, size: int, operands: Sequence[Value], axes: Sequence[Axis]):
        x = shape.move_axis(operands[0], axes[0], 0)
        return [BitcastConvert((size, *self.shape), self.dtype)(x)], [0]
