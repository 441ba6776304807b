"""Constants, and ops that lay elements out in another shape: broadcast, reshape, transpose."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops.attributes import I64, I64S, attribute, result_dtype, result_shape
from irax_compiler.ops.core import (
    ArrayType,
    Axis,
    Linear,
    Op,
    Recomputation,
    Tangent,
    Widened,
    only,
)
from irax_compiler.ops.linear import LinearOp
from irax_compiler.ops.reduction_builders import reduce_sum
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.sharding_rule import Shape, ShardingRule, reshaped
from irax_compiler.ops.transformation import Batching, Evaluation, Transposition

_FEW = 4096
"""The most elements for which copying an array is faster than NumPy's broadcasting."""


# ---- constants -----------------------------------------------------------------------------------


@register_class
@dataclass(frozen=True, eq=False)
class Constant(Op):
    """A literal array."""

    name = "stablehlo.constant"
    recomputation = Recomputation.FREE
    is_constant = True
    value: np.ndarray

    def attributes(self):
        return {"value": mlir.dense(self.value)}

    @classmethod
    def read(cls, operation: mlir.Operation) -> Constant:
        return cls(mlir.dense_to_numpy(operation))

    def evaluate(self, call: Evaluation) -> np.ndarray:
        return self.value


@register_class
@dataclass(frozen=True)
class Iota(Op):
    """0, 1, 2, ... along one dimension."""

    name = "stablehlo.iota"
    widened = Widened.LOW_BITS
    recomputation = Recomputation.FREE
    shape: tuple[int, ...] = result_shape()
    dtype: np.dtype = result_dtype()
    iota_dimension: int = attribute(I64)

    def result_types(self, operands: Sequence[Value]):
        return [mlir.tensor_type(self.shape, self.dtype)]

    def evaluate(self, call: Evaluation) -> np.ndarray:
        size = self.shape[self.iota_dimension]
        along = [size if d == self.iota_dimension else 1 for d in range(len(self.shape))]
        return np.broadcast_to(np.arange(size).astype(self.dtype).reshape(along), self.shape)


# ---- one operand ---------------------------------------------------------------------------------


@register_class
@dataclass(frozen=True)
class BroadcastInDim(LinearOp):
    """Operand dimension i becomes result dimension `broadcast_dimensions[i]`; 1s stretch."""

    name = "stablehlo.broadcast_in_dim"
    moves = True
    recomputation = Recomputation.FREE
    stretches = True
    shape: tuple[int, ...] = result_shape()
    broadcast_dimensions: tuple[int, ...] = attribute(I64S)

    def result_types(self, operands: Sequence[Value]):
        return [mlir.tensor_type(self.shape, dtype_of(operands[0]))]

    def evaluate(self, call: Evaluation, x: np.ndarray) -> np.ndarray:
        order = np.argsort(self.broadcast_dimensions)
        aligned = [1] * len(self.shape)
        for i in order:
            aligned[self.broadcast_dimensions[i]] = x.shape[i]
        return np.broadcast_to(np.transpose(x, order).reshape(aligned), self.shape)

    def prepared(self, *operands: ArrayType) -> Callable[..., Any]:
        (x,) = operands
        dims, shape, dtype = self.broadcast_dimensions, self.shape, x.dtype
        if math.prod(shape) > _FEW or sorted(dims) != list(dims):
            return super().prepared(*operands)
        sizes = dict(zip(dims, x.shape, strict=True))
        aligned = tuple(sizes.get(d, 1) for d in range(len(shape)))
        if aligned == shape:
            return lambda x: x.reshape(shape)

        def copies(x: np.ndarray) -> np.ndarray:
            result = np.empty(shape, dtype)
            result[...] = x.reshape(aligned)
            return result

        return copies

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        shape = shape_of(operands[0])
        kept = {d: i for i, d in enumerate(self.broadcast_dimensions) if shape[i] == self.shape[d]}
        summed = tuple(d for d in range(len(self.shape)) if d not in kept)
        ct = reduce_sum(only(cotangents), summed)
        order = [kept[d] for d in sorted(kept)]
        return [reshape(transpose(ct, np.argsort(order).tolist()), shape)]

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        x = move_axis(operands[0], axes[0], 0)
        dimensions = (0, *(d + 1 for d in self.broadcast_dimensions))
        return [BroadcastInDim((transform.size, *self.shape), dimensions)(x)], [0]

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        pairs = zip(operands[0], self.broadcast_dimensions, strict=True)
        own = tuple(d if n == self.shape[d] else None for n, d in pairs)
        return ShardingRule((own,), (tuple(range(len(self.shape))),))


@register_class
@dataclass(frozen=True)
class Reshape(LinearOp):
    """Change the shape; the elements keep their row-major order."""

    name = "stablehlo.reshape"
    moves = True
    is_view = True
    recomputation = Recomputation.FREE
    shape: tuple[int, ...] = result_shape()

    def result_types(self, operands: Sequence[Value]):
        return [mlir.tensor_type(self.shape, dtype_of(operands[0]))]

    def evaluate(self, call: Evaluation, x: np.ndarray) -> np.ndarray:
        return np.reshape(x, self.shape)

    def prepared(self, *operands: ArrayType) -> Callable[..., Any]:
        shape = self.shape
        return lambda x: x.reshape(shape)

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        return [reshape(only(cotangents), shape_of(operands[0]))]

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        return [reshape(move_axis(operands[0], axes[0], 0), (transform.size, *self.shape))], [0]

    def sharding_rule(
        self, operands: Sequence[Shape], results: Sequence[Shape]
    ) -> ShardingRule | None:
        return None if 0 in self.shape else reshaped(operands[0], self.shape)


@register_class
@dataclass(frozen=True)
class Transpose(LinearOp):
    """Result dimension i is operand dimension `permutation[i]`."""

    name = "stablehlo.transpose"
    moves = True
    recomputation = Recomputation.CHEAP
    permutation: tuple[int, ...] = attribute(I64S)

    def sized_types(self, operands: Sequence[Value]):
        extents = shape_of(operands[0])
        return [
            mlir.tensor_type(tuple(extents[d] for d in self.permutation), dtype_of(operands[0]))
        ]

    def evaluate(self, call: Evaluation, x: np.ndarray) -> np.ndarray:
        return np.transpose(x, self.permutation)

    def prepared(self, *operands: ArrayType) -> Callable[..., Any]:
        permutation = self.permutation
        return lambda x: x.transpose(permutation)

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        return [transpose(only(cotangents), np.argsort(self.permutation).tolist())]

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        (axis,) = axes
        assert axis is not None
        others = [d for d in range(len(self.permutation) + 1) if d != axis]
        return [transpose(operands[0], [axis, *(others[p] for p in self.permutation)])], [0]

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        return ShardingRule((tuple(range(len(self.permutation))),), (self.permutation,))


# ---- building blocks for rules -------------------------------------------------------------------


def insert(values: Sequence[int], at: int, value: int) -> tuple[int, ...]:
    """`values` with `value` put in before position `at`."""
    return (*values[:at], value, *values[at:])


def reshape(x: Value, shape: Sequence[int]) -> Value:
    """Reshape; nothing where the shape is right already."""
    return x if shape_of(x) == tuple(shape) else Reshape(tuple(shape))(x)


def transpose(x: Value, permutation: Sequence[int]) -> Value:
    """Transpose; nothing where the order is right already."""
    if tuple(permutation) == tuple(range(len(permutation))):
        return x
    return Transpose(tuple(permutation))(x)


def move_axis(x: Value, source: Axis, destination: int) -> Value:
    """The value with dimension `source` moved to `destination`."""
    assert source is not None
    rest = [d for d in range(len(shape_of(x))) if d != source]
    return transpose(x, insert(rest, destination, source))


def in_rows(x: Value, dimensions: Sequence[int]) -> Value:
    """The value with some dimensions as one, the first."""
    sizes = shape_of(x)
    kept = [d for d in range(len(sizes)) if d not in dimensions]
    first = math.prod(sizes[d] for d in dimensions)
    return reshape(transpose(x, [*dimensions, *kept]), (first, *(sizes[d] for d in kept)))


def broadcast_scalar(x: Value, shape: Sequence[int]) -> Value:
    """A scalar stretched to `shape`; nothing where it has that shape already."""
    return x if shape_of(x) == tuple(shape) else BroadcastInDim(tuple(shape), ())(x)


def batched_at(x: Value, axis: Axis, size: int, destination: int) -> Value:
    """`x` with its mapped axis at `destination`: moved there, or stretched if it has none."""
    if axis is not None:
        return move_axis(x, axis, destination)
    shape = shape_of(x)
    dimensions = tuple(d + (d >= destination) for d in range(len(shape)))
    return BroadcastInDim(insert(shape, destination, size), dimensions)(x)


def reduced_with_lanes(
    size: int, operands: Sequence[Value], axes: Sequence[Axis]
) -> list[Value] | None:
    """Return the operands of a reduction, arrays and as many initial values, with the lanes of the
    arrays first; None where an initial value has lanes.
    """
    half = len(operands) // 2
    if any(axis is not None for axis in axes[half:]):
        return None
    pairs = zip(operands[:half], axes[:half], strict=True)
    return [*(batched_at(x, axis, size, 0) for x, axis in pairs), *operands[half:]]


def align(
    size: int, operands: Sequence[Value], axes: Sequence[Axis]
) -> tuple[Sequence[Value], int]:
    """All operands with the mapped axis at one place: where the first mapped one has it."""
    target = next(axis for axis in axes if axis is not None)
    pairs = zip(operands, axes, strict=True)
    return [batched_at(x, axis, size, target) for x, axis in pairs], target


def align_scalars(
    size: int,
    operands: Sequence[Value],
    axes: Sequence[Axis],
    scalars: Sequence[int],
    like: int,
) -> tuple[Sequence[Value], int]:
    """`align` for ops some of whose operands may be scalars (`scalars`) for all elements.

    An unmapped scalar stays one; a mapped one is stretched to the shape of operand `like`.
    """
    rank = len(shape_of(operands[like])) - (axes[like] is not None)
    kept = [i for i in scalars if axes[i] is None and not shape_of(operands[i])]
    rest = [i for i in range(len(operands)) if i not in kept]
    stretched = [i for i in rest if len(shape_of(operands[i])) - (axes[i] is not None) < rank]
    full_rank = [axes[i] for i in rest if i not in stretched and axes[i] is not None]
    target = full_rank[0] if full_rank else 0
    assert target is not None
    template = tuple(n for d, n in enumerate(shape_of(operands[like])) if d != axes[like])
    moved = list(operands)
    for i in rest:
        if i in stretched:
            moved[i] = BroadcastInDim(insert(template, target, size), (target,))(operands[i])
        else:
            moved[i] = batched_at(operands[i], axes[i], size, target)
    return moved, target
