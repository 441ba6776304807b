"""Batch normalization: over all dimensions but that of the features.

The ops are defined by other ops. The formula of the gradient is that of S. Ioffe and C. Szegedy,
Batch Normalization, 2015.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Type, Value, dtype_of, shape_of
from irax_compiler.ops import conversion, elementwise, shape
from irax_compiler.ops.attributes import I64, AttributeCodec, attribute
from irax_compiler.ops.core import full_like, working_dtype
from irax_compiler.ops.reduction_builders import reduce_sum
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.structured import DefinedOp

F32 = AttributeCodec(
    lambda v: mlir.parse_attribute(f"{float(np.float32(v))!r} : f32"), lambda a: a.value
)
"""A float in `x : f32`."""


class _Normalization(DefinedOp):
    num_results: ClassVar[int] = -1
    epsilon: float
    feature_index: int

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        """In float32 where numbers are narrower."""
        dtype = dtype_of(operands[0])
        wide = [conversion.convert(x, working_dtype(dtype)) for x in operands]
        return [conversion.convert(r, dtype) for r in self.formula(*wide)]

    def formula(self, *operands: Value) -> Sequence[Value]:
        raise NotImplementedError

    def _spread(self, v: Value, like: Value) -> Value:
        return shape.BroadcastInDim(shape_of(like), (self.feature_index,))(v)

    def _sum(self, x: Value) -> Value:
        others = [d for d in range(len(shape_of(x))) if d != self.feature_index]
        return reduce_sum(x, others)

    def _mean(self, x: Value) -> Value:
        total = self._sum(x)
        count = prod(n for d, n in enumerate(shape_of(x)) if d != self.feature_index)
        return elementwise.divide(total, full_like(total, count))

    def _scale(self, variance: Value) -> Value:
        """1 / sqrt(variance + epsilon)."""
        return elementwise.rsqrt(elementwise.add(variance, full_like(variance, self.epsilon)))

    def _normalized(self, x: Value, mean: Value, variance: Value) -> Value:
        centred = elementwise.subtract(x, self._spread(mean, x))
        return elementwise.multiply(centred, self._spread(self._scale(variance), x))


@register_class
@dataclass(frozen=True)
class BatchNormInference(_Normalization):
    """(x - mean) / sqrt(variance + epsilon) * scale + offset, for each feature."""

    name = "stablehlo.batch_norm_inference"
    epsilon: float = attribute(F32)
    feature_index: int = attribute(I64)

    def result_types(self, operands: Sequence[Value]) -> Sequence[Type]:
        return [operands[0].type]

    def formula(
        self, x: Value, scale: Value, offset: Value, mean: Value, variance: Value
    ) -> Sequence[Value]:
        normalized = self._normalized(x, mean, variance)
        scaled = elementwise.multiply(normalized, self._spread(scale, x))
        return [elementwise.add(scaled, self._spread(offset, x))]


@register_class
@dataclass(frozen=True)
class BatchNormTraining(_Normalization):
    """Normalize by the batch's own mean and variance, which are results too."""

    name = "stablehlo.batch_norm_training"
    epsilon: float = attribute(F32)
    feature_index: int = attribute(I64)

    def result_types(self, operands: Sequence[Value]) -> Sequence[Type]:
        x, scale, _ = operands
        return [x.type, scale.type, scale.type]

    def formula(self, x: Value, scale: Value, offset: Value) -> Sequence[Value]:
        mean = self._mean(x)
        centred = elementwise.subtract(x, self._spread(mean, x))
        variance = self._mean(elementwise.multiply(centred, centred))
        inference = BatchNormInference(self.epsilon, self.feature_index)
        (y,) = inference.formula(x, scale, offset, mean, variance)
        return [y, mean, variance]


@register_class
@dataclass(frozen=True)
class BatchNormGrad(_Normalization):
    """The cotangents of x, scale and offset of a training step, given that of its first result."""

    name = "stablehlo.batch_norm_grad"
    epsilon: float = attribute(F32)
    feature_index: int = attribute(I64)

    def result_types(self, operands: Sequence[Value]) -> Sequence[Type]:
        x, scale, *_ = operands
        return [x.type, scale.type, scale.type]

    def formula(
        self, x: Value, scale: Value, mean: Value, variance: Value, ct: Value
    ) -> Sequence[Value]:
        normalized = self._normalized(x, mean, variance)
        ct_offset = self._sum(ct)
        ct_scale = self._sum(elementwise.multiply(ct, normalized))
        # What of ct is neither the same for the whole batch, nor along the normalized values.
        along = elementwise.multiply(
            normalized, self._spread(self._mean(elementwise.multiply(ct, normalized)), x)
        )
        rest = elementwise.subtract(
            elementwise.subtract(ct, self._spread(self._mean(ct), x)), along
        )
        factor = elementwise.multiply(scale, self._scale(variance))
        return [elementwise.multiply(rest, self._spread(factor, x)), ct_scale, ct_offset]
