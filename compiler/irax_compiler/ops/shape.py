"""Ops that move elements without computing: broadcast, reshape, transpose, slice, pad, ..."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import comparison
from irax_compiler.ops.attributes import I64, I64S, attribute, result_dtype, result_shape
from irax_compiler.ops.core import (
    ArrayType,
    Axis,
    Linear,
    Memory,
    Op,
    Recomputation,
    Tangent,
    Widened,
    full,
    only,
)
from irax_compiler.ops.linear import LinearOp
from irax_compiler.ops.reductions import reduce
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation, Transposition

BOOL = np.dtype(np.bool_)

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
        ct = reduce.reduce_sum(only(cotangents), summed)
        order = [kept[d] for d in sorted(kept)]
        return [reshape(transpose(ct, np.argsort(order).tolist()), shape)]

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        x = move_axis(operands[0], axes[0], 0)
        dimensions = (0, *(d + 1 for d in self.broadcast_dimensions))
        return [BroadcastInDim((transform.size, *self.shape), dimensions)(x)], [0]


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


@register_class
@dataclass(frozen=True)
class Transpose(LinearOp):
    """Result dimension i is operand dimension `permutation[i]`."""

    name = "stablehlo.transpose"
    moves = True
    recomputation = Recomputation.CHEAP
    permutation: tuple[int, ...] = attribute(I64S)

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


@register_class
@dataclass(frozen=True)
class Reverse(LinearOp):
    """The elements in reverse order along some dimensions."""

    name = "stablehlo.reverse"
    moves = True
    recomputation = Recomputation.CHEAP
    dimensions: tuple[int, ...] = attribute(I64S)

    def evaluate(self, call: Evaluation, x: np.ndarray) -> np.ndarray:
        return np.flip(x, self.dimensions)

    def prepared(self, *operands: ArrayType) -> Callable[..., Any]:
        turned = range(len(operands[0].shape))
        places = tuple(slice(None, None, -1 if d in self.dimensions else 1) for d in turned)
        return operator.itemgetter(places)

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        return [self(only(cotangents))]

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        (axis,) = axes
        assert axis is not None
        return [Reverse(tuple(d + (d >= axis) for d in self.dimensions))(operands[0])], [axis]


@register_class
@dataclass(frozen=True)
class Slice(LinearOp):
    """Elements start, start + stride, ... below limit, in each dimension."""

    name = "stablehlo.slice"
    memory = Memory.PART
    moves = True
    recomputation = Recomputation.CHEAP
    start_indices: tuple[int, ...] = attribute(I64S)
    limit_indices: tuple[int, ...] = attribute(I64S)
    strides: tuple[int, ...] = attribute(I64S)

    def evaluate(self, call: Evaluation, x: np.ndarray) -> np.ndarray:
        return x[self._places()]

    def prepared(self, *operands: ArrayType) -> Callable[..., Any]:
        return operator.itemgetter(self._places())

    def _places(self) -> tuple[slice, ...]:
        bounds = zip(self.start_indices, self.limit_indices, self.strides, strict=True)
        return tuple(slice(*b) for b in bounds)

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        """Pads with zeros where the slice left elements out."""
        ct = only(cotangents)
        low, interior = self.start_indices, tuple(s - 1 for s in self.strides)
        covered = [
            start + (size - 1) * stride + 1 if size else start
            for start, size, stride in zip(low, shape_of(ct), self.strides, strict=True)
        ]
        high = tuple(n - c for n, c in zip(shape_of(operands[0]), covered, strict=True))
        return [Pad(low, high, interior)(ct, full((), 0, dtype_of(ct)))]

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        (axis,) = axes
        assert axis is not None
        wider = Slice(
            insert(self.start_indices, axis, 0),
            insert(self.limit_indices, axis, transform.size),
            insert(self.strides, axis, 1),
        )
        return [wider(operands[0])], [axis]


# ---- several operands ----------------------------------------------------------------------------


@register_class
@dataclass(frozen=True)
class Pad(Op):
    """The operand with copies of a scalar before, after and between its elements."""

    name = "stablehlo.pad"
    linear_in = None
    moves = True
    edge_padding_low: tuple[int, ...] = attribute(I64S)
    edge_padding_high: tuple[int, ...] = attribute(I64S)
    interior_padding: tuple[int, ...] = attribute(I64S)

    def evaluate(self, call: Evaluation, x: np.ndarray, value: np.ndarray) -> np.ndarray:
        return self.prepared(ArrayType(x.shape, x.dtype))(x, value)

    def prepared(self, *operands: ArrayType) -> Callable[..., Any]:
        shape, dtype = operands[0]
        interior = self.interior_padding
        spread = [n + max(n - 1, 0) * i for n, i in zip(shape, interior, strict=True)]
        low, high = self.edge_padding_low, self.edge_padding_high
        edges = list(zip(spread, low, high, strict=True))
        wider = tuple(n + max(lo, 0) + max(hi, 0) for n, lo, hi in edges)
        places = zip(low, spread, interior, strict=True)
        inside = tuple(slice(max(lo, 0), max(lo, 0) + n, i + 1) for lo, n, i in places)
        cut = zip(wider, low, high, strict=True)
        kept = tuple(slice(max(-lo, 0), max(n - max(-hi, 0), 0)) for n, lo, hi in cut)

        def pads(x: np.ndarray, value: np.ndarray) -> np.ndarray:
            padded = np.empty(wider, dtype)
            padded[...] = value
            padded[inside] = x
            return padded[kept]

        return pads

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        t, t_value = tangents
        if t is None and t_value is None:
            return results, [None]
        return results, [self(t or full_of(primals[0], 0), t_value or full_of(primals[1], 0))]

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        ct = only(cotangents)
        x, value = operands
        # The operand's share is what lies at its places; the scalar's is all the rest.
        negated = Pad(
            tuple(-p for p in self.edge_padding_low),
            tuple(-p for p in self.edge_padding_high),
            (0,) * len(self.interior_padding),
        )
        unpadded = negated(ct, full((), 0, dtype_of(ct)))
        strides = tuple(i + 1 for i in self.interior_padding)
        ct_x = slice_(unpadded, (0,) * len(strides), shape_of(unpadded), strides)
        ct_value = None
        if isinstance(value, Linear):
            outside = self(full(shape_of(x), False, BOOL), full((), True, BOOL))
            rest = comparison.select(outside, ct, full_of(ct, 0))
            ct_value = reduce.reduce_sum(rest, tuple(range(len(strides))))
        return [ct_x if isinstance(x, Linear) else None, ct_value]

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        x, value = operands
        axis = axes[0]
        if axes[1] is None:
            assert axis is not None
            return [self._with_axis(axis)(x, value)], [axis]
        # A scalar for each lane: pad with zeros, then choose by a padded mask.
        x, axis = batched_at(x, axes[0], transform.size, 0), 0
        wider = self._with_axis(axis)
        padded = wider(x, full((), 0, dtype_of(x)))
        mask = wider(full(shape_of(x), True, BOOL), full((), False, BOOL))
        fill = BroadcastInDim(shape_of(padded), (0,))(value)
        return [comparison.select(mask, padded, fill)], [axis]

    def _with_axis(self, axis: int) -> Pad:
        return Pad(
            insert(self.edge_padding_low, axis, 0),
            insert(self.edge_padding_high, axis, 0),
            insert(self.interior_padding, axis, 0),
        )


@register_class
@dataclass(frozen=True)
class Concatenate(Op):
    """The operands one after another along one dimension."""

    name = "stablehlo.concatenate"
    linear_in = None
    moves = True
    dimension: int = attribute(I64)

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> np.ndarray:
        return np.concatenate(operands, self.dimension)

    def prepared(self, *operands: ArrayType) -> Callable[..., Any]:
        dimension = self.dimension
        return lambda *operands: np.concatenate(operands, dimension)

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        pairs = zip(tangents, primals, strict=True)
        return results, [self(*(full_of(x, 0) if t is None else t for t, x in pairs))]

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        ct = only(cotangents)
        shares: list[Tangent] = []
        start = 0
        for x in operands:
            stop = start + shape_of(x)[self.dimension]
            is_linear = isinstance(x, Linear)
            shares.append(slice_in_dim(ct, start, stop, self.dimension) if is_linear else None)
            start = stop
        return shares

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        operands, axis = align(transform.size, operands, axes)
        return [Concatenate(self.dimension + (self.dimension >= axis))(*operands)], [axis]


# ---- building blocks for rules -------------------------------------------------------------------


def insert(values: Sequence[int], at: int, value: int) -> tuple[int, ...]:
    """`values` with `value` put in before position `at`."""
    return (*values[:at], value, *values[at:])


def full_of(like: Any, fill: Any) -> Value:
    """A constant of the shape and dtype of `like`."""
    return full(shape_of(like), fill, dtype_of(like))


def reshape(x: Value, shape: Sequence[int]) -> Value:
    """Reshape; nothing where the shape is right already."""
    return x if shape_of(x) == tuple(shape) else Reshape(tuple(shape))(x)


def transpose(x: Value, permutation: Sequence[int]) -> Value:
    """Transpose; nothing where the order is right already."""
    if tuple(permutation) == tuple(range(len(permutation))):
        return x
    return Transpose(tuple(permutation))(x)


def slice_(x: Value, start: Sequence[int], limit: Sequence[int], strides: Sequence[int]) -> Value:
    """Slice; nothing where it takes everything."""
    if not any(start) and tuple(limit) == shape_of(x) and all(s == 1 for s in strides):
        return x
    return Slice(tuple(start), tuple(limit), tuple(strides))(x)


def slice_in_dim(x: Value, start: int, limit: int, dimension: int) -> Value:
    """Slice one dimension from start to limit, and keep the others."""
    shape = shape_of(x)
    starts, limits = [0] * len(shape), list(shape)
    starts[dimension], limits[dimension] = start, limit
    return slice_(x, starts, limits, [1] * len(shape))


def move_axis(x: Value, source: Axis, destination: int) -> Value:
    """The value with dimension `source` moved to `destination`."""
    assert source is not None
    rest = [d for d in range(len(shape_of(x))) if d != source]
    return transpose(x, insert(rest, destination, source))


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
