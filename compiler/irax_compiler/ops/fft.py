"""Discrete Fourier transforms over the last dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2, prod
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import elementwise, shape, slicing
from irax_compiler.ops.attributes import I64S, attribute, keyword
from irax_compiler.ops.core import Axis, Linear, Op, Tangent, constant, full, full_like, only
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.sharding_rule import Shape, ShardingRule, same_in_all
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation, Transposition

_NUMPY = {"FFT": "fftn", "IFFT": "ifftn", "RFFT": "rfftn", "IRFFT": "irfftn"}


def real_dtype(dtype: np.dtype) -> np.dtype:
    """float32 of complex64 and of itself; float64 of complex128."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def complex_dtype(dtype: np.dtype) -> np.dtype:
    """complex64 of float32 and of itself; complex128 of float64."""
    return np.result_type(dtype, np.complex64)


@register_class
@dataclass(frozen=True)
class Fft(Op):
    """The transform of `fft_length` last dimensions. RFFT, of real numbers, and its inverse IRFFT
    leave out the second half of the last one's frequencies, which are conjugates of the first.
    """

    name = "stablehlo.fft"
    superlinear = True
    linear_in = None
    fft_type: str = attribute(keyword("fft_type"))
    """FFT, IFFT, RFFT or IRFFT."""
    fft_length: tuple[int, ...] = attribute(I64S)

    @classmethod
    def flops(cls, operation: Operation) -> float:
        lengths: Any = operation.attributes["fft_length"]
        elements = max(prod(shape_of(x)) for x in (operation.operands[0], operation.results[0]))
        return 5 * elements * log2(max(prod(lengths), 1))

    @property
    def rank(self) -> int:
        return len(self.fft_length)

    def result_types(self, operands: Sequence[Value]):
        *extents, last = shape_of(operands[0])
        dtype = dtype_of(operands[0])
        if self.fft_type == "RFFT":
            dtype, last = complex_dtype(dtype), self.fft_length[-1] // 2 + 1
            last = last if self.fft_length[-1] else 0
        elif self.fft_type == "IRFFT":
            dtype, last = real_dtype(dtype), self.fft_length[-1]
        return [mlir.tensor_type((*extents, last), dtype)]

    def evaluate(self, call: Evaluation, x: np.ndarray) -> np.ndarray:
        axes = range(-self.rank, 0)
        real = self.fft_type in ("RFFT", "IRFFT")
        dtype = real_dtype(x.dtype) if self.fft_type == "IRFFT" else complex_dtype(x.dtype)
        if 0 in x.shape or 0 in self.fft_length:
            last = self.fft_length[-1] if self.fft_type == "IRFFT" else x.shape[-1]
            if self.fft_type == "RFFT" and self.fft_length[-1]:
                last = self.fft_length[-1] // 2 + 1
            return np.zeros((*x.shape[:-1], last), dtype)
        transform = getattr(np.fft, _NUMPY[self.fft_type])
        lengths = self.fft_length if real else None
        return transform(x, lengths, axes).astype(dtype, copy=False)

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
        ct = only(cotangents)
        if self.fft_type in ("FFT", "IFFT"):  # symmetric matrices
            return [self(ct)]
        if 0 in shape_of(operands[0]) or 0 in shape_of(ct):
            return [full_like(operands[0], 0)]
        if self.fft_type == "RFFT":
            return [self._transposed_rfft(ct)]
        return [self._transposed_irfft(ct)]

    def _transposed_rfft(self, ct: Value) -> Value:
        """Return the real part of the transform of the cotangents, with zeros for those left
        out.
        """
        n, rank = self.fft_length[-1], len(shape_of(ct))
        zeros = (0,) * (rank - 1)
        padding = slicing.Pad((*zeros, 0), (*zeros, n - shape_of(ct)[-1]), (*zeros, 0))
        padded = padding(ct, full((), 0, dtype_of(ct)))
        return elementwise.real(Fft("FFT", self.fft_length)(padded))

    def _transposed_irfft(self, ct: Value) -> Value:
        """Weight frequencies that also represent their conjugates twice."""
        n = self.fft_length[-1]
        half = n // 2 + 1
        weights = np.full(half, 2 / n)
        weights[0] = 1 / n
        if n % 2 == 0:
            weights[-1] = 1 / n
        z = Fft("RFFT", (n,))(ct)
        rank = len(shape_of(z))
        scale = constant(weights.astype(dtype_of(ct)))
        scale = shape.BroadcastInDim(shape_of(z), (rank - 1,))(scale)
        z = elementwise.complex_(
            elementwise.multiply(elementwise.real(z), scale),
            elementwise.negate(elementwise.multiply(elementwise.imag(z), scale)),
        )
        if self.rank == 1:
            return z
        others = [rank - self.rank + i for i in range(self.rank - 1)]
        order = [*range(rank - self.rank), rank - 1, *others]
        turned = Fft("IFFT", self.fft_length[:-1])(shape.transpose(z, order))
        return shape.transpose(turned, np.argsort(order).tolist())

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        kept = range(len(results[0]) - len(self.fft_length))
        return same_in_all(kept, operands, results)

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        return self.build([shape.move_axis(operands[0], axes[0], 0)]), [0]
