"""Comparison and selection: compare, select."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from irax_compiler.mlir import Value
from irax_compiler.ops import complex_registers, registers, shape
from irax_compiler.ops.attributes import attribute, keyword
from irax_compiler.ops.core import (
    ArrayType,
    Axis,
    Bits,
    Op,
    Recomputation,
    Tangent,
    zeros_like,
)
from irax_compiler.ops.links import Links, Pairs, Use
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation

_COMPARE = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}


def total_order_key(x: np.ndarray) -> np.ndarray:
    """Integers in IEEE 754's total order of floats: -nan < -inf < ... < -0 < 0 < ... < nan.

    A nan with the bits of a negative zero is the least.
    """
    bits = x.view(np.dtype(f"u{x.dtype.itemsize}"))
    if not has_sign(x.dtype):
        return bits
    if unused := 8 * x.dtype.itemsize - ml_dtypes.finfo(x.dtype).bits:
        bits = np.left_shift(bits, unused)
    bits = bits.view(np.dtype(f"i{x.dtype.itemsize}"))
    least = np.iinfo(bits.dtype).min
    keys = np.where(bits < 0, np.invert(bits) ^ least, bits)
    if has_negative_zero(x.dtype):
        return keys
    return np.where(bits == least, least, np.where(bits < 0, keys + 1, keys))


@cache
def has_sign(dtype: np.dtype) -> bool:
    """True for floats of which some are negative: all but float8_e8m0fnu."""
    return bool(ml_dtypes.finfo(dtype).min < 0)


@cache
def has_negative_zero(dtype: np.dtype) -> bool:
    """True for floats with a negative zero, the bits of nan in float8_e4m3fnuz and its kind."""
    return has_sign(dtype) and bool(np.signbit(-np.zeros((), dtype)))


@register_class
@dataclass(frozen=True)
class Compare(Op):
    """Elementwise comparison to booleans; TOTALORDER compares floats by IEEE 754's total order."""

    name = "stablehlo.compare"
    scalar_lowering = registers.COMPARE
    elementwise = True
    arithmetic = True
    recomputation = Recomputation.CHEAP
    comparison_direction: str = attribute(keyword("comparison_direction"))
    compare_type: str | None = attribute(keyword("comparison_type"))

    def evaluate(self, call: Evaluation, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if self.compare_type == "TOTALORDER":
            x, y = total_order_key(x), total_order_key(y)
        return _COMPARE[self.comparison_direction](x, y)

    def prepared(self, *operands: ArrayType) -> Callable[..., Any]:
        if self.compare_type == "TOTALORDER":
            return super().prepared(*operands)
        return _COMPARE[self.comparison_direction]

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        return results, [None]

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        operands, axis = shape.align(transform.size, operands, axes)
        return self.build(operands), [axis]


equal = Compare("EQ", None)
not_equal = Compare("NE", None)
less = Compare("LT", None)
less_equal = Compare("LE", None)
greater = Compare("GT", None)
greater_equal = Compare("GE", None)


@register_class
@dataclass(frozen=True)
class Select(Op):
    """`on_true` where the predicate holds, else `on_false`; the predicate may be a scalar."""

    name = "stablehlo.select"
    linear_in = (1, 2)
    selects = True
    float_bits = Bits.MOVED
    scalar_lowering = registers.SELECT
    complex_lowering = complex_registers.SELECT
    elementwise = True
    arithmetic = True
    recomputation = Recomputation.CHEAP

    def sized_types(self, operands: Sequence[Value]):
        return [operands[1].type]

    def evaluate(
        self, call: Evaluation, p: np.ndarray, on_true: np.ndarray, on_false: np.ndarray
    ) -> np.ndarray:
        return np.where(p, on_true, on_false)

    def prepared(self, *operands: ArrayType) -> Callable[..., Any]:
        return np.where

    def links(self, use: Use) -> Links:
        chooser = use.values[0]
        if chooser is None:
            return super().links(use)
        taken = np.broadcast_to(chooser == (use.number == 1), tuple(use.shape)).reshape(-1)
        (there,) = np.nonzero(taken)
        return [Pairs(there, there, taken.size)]

    def chosen(self, use: Use, marks: Sequence[np.ndarray | None]) -> np.ndarray | None:
        chooser, both = use.values[0], (False if x is None else x for x in marks[1:])
        return None if chooser is None else np.where(chooser, *both)

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        _, t_true, t_false = tangents
        if t_true is None and t_false is None:
            return results, [None]
        zero = zeros_like(results[0])
        return results, [self(primals[0], t_true or zero, t_false or zero)]

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        operands, axis = shape.align_scalars(transform.size, operands, axes, scalars=(0,), like=1)
        return self.build(operands), [axis]


select = Select()
