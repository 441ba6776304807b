"""The op bitcast_convert, which reads bits as another dtype."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value
from irax_compiler.ops import registers, shape
from irax_compiler.ops.attributes import result_dtype, result_shape
from irax_compiler.ops.core import Axis, Bits, Op, Recomputation, Tangent, Widened
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.sharding_rule import Shape, ShardingRule, same_along
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation


@register_class
@dataclass(frozen=True)
class BitcastConvert(Op):
    """Reinterpret the bits as another dtype; a last dimension is added or removed where widths
    differ.
    """

    name = "stablehlo.bitcast_convert"
    widened = Widened.OTHER
    float_bits = Bits.READ
    scalar_lowering = registers.BITCAST
    recomputation = Recomputation.CHEAP
    shape: tuple[int, ...] = result_shape()
    dtype: np.dtype = result_dtype()

    def result_types(self, operands: Sequence[Value]):
        return [mlir.tensor_type(self.shape, self.dtype)]

    def evaluate(self, call: Evaluation, x: np.ndarray) -> np.ndarray:
        if min(mlir.width(x.dtype), mlir.width(self.dtype)) < 8:
            return _of_bits(_bits(x), self.dtype).reshape(self.shape)
        return np.ascontiguousarray(x).reshape(-1).view(self.dtype).reshape(self.shape)

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        return results, [None]

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        kept = min(len(operands[0]), len(results[0]))
        return same_along(range(kept), operands, results)

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        x = shape.move_axis(operands[0], axes[0], 0)
        return [BitcastConvert((transform.size, *self.shape), self.dtype)(x)], [0]


def _bits(x: np.ndarray) -> np.ndarray:
    """The bits of all elements in a row, the lowest of each first."""
    octets = np.ascontiguousarray(x).reshape(-1, 1).view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little")[:, : mlir.width(x.dtype)].reshape(-1)


def _of_bits(bits: np.ndarray, dtype: np.dtype) -> np.ndarray:
    octets = np.packbits(bits.reshape(-1, mlir.width(dtype)), axis=1, bitorder="little")
    return octets.reshape(-1).view(dtype)
