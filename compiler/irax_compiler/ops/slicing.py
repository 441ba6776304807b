"""Ops that take arrays apart and put them together: slice, reverse, pad, concatenate."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import comparison, shape
from irax_compiler.ops.attributes import I64, I64S, attribute
from irax_compiler.ops.core import (
    ArrayType,
    Axis,
    Linear,
    Memory,
    Op,
    Recomputation,
    Tangent,
    constant,
    full,
    full_like,
    only,
)
from irax_compiler.ops.linear import LinearOp
from irax_compiler.ops.reduction_builders import reduce_sum
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.sharding_rule import Shape, ShardingRule, same_in_all, whole_dims
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation, Transposition
from irax_compiler.sizes import is_symbolic, larger

BOOL = np.dtype(np.bool_)


@register_class
@dataclass(frozen=True)
class Reverse(LinearOp):
    """The elements in reverse order along some dimensions."""

    name = "stablehlo.reverse"
    moves = True
    recomputation = Recomputation.CHEAP
    dimensions: tuple[int, ...] = attribute(I64S)

    def sized_types(self, operands: Sequence[Value]):
        return [operands[0].type]

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

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        kept = [d for d in range(len(operands[0])) if d not in self.dimensions]
        return same_in_all(kept, operands, results)


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

    def sized_types(self, operands: Sequence[Value]):
        bounds = zip(self.start_indices, self.limit_indices, self.strides, strict=True)
        extents = tuple(-((start - limit) // stride) for start, limit, stride in bounds)
        return [mlir.tensor_type(extents, dtype_of(operands[0]))]

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
        between = Pad((0,) * len(low), (0,) * len(low), interior).result_shape(shape_of(ct))
        high = tuple(
            n - start - covered
            for n, start, covered in zip(shape_of(operands[0]), low, between, strict=True)
        )
        return [Pad(low, high, interior)(ct, full((), 0, dtype_of(ct)))]

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        (axis,) = axes
        assert axis is not None
        wider = Slice(
            shape.insert(self.start_indices, axis, 0),
            shape.insert(self.limit_indices, axis, transform.size),
            shape.insert(self.strides, axis, 1),
        )
        return [wider(operands[0])], [axis]

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        return same_in_all(whole_dims(operands[0], results[0]), operands, results)

    def on_shards(self, operands: Sequence[Shape], results: Sequence[Shape]) -> Slice:
        whole = whole_dims(operands[0], results[0])
        bounds = enumerate(zip(operands[0], self.limit_indices, strict=True))
        limits = (n if d in whole else limit for d, (n, limit) in bounds)
        return Slice(self.start_indices, tuple(limits), self.strides)


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

    def sized_types(self, operands: Sequence[Value]):
        return [mlir.tensor_type(self.result_shape(shape_of(operands[0])), dtype_of(operands[0]))]

    def result_shape(self, extents: Sequence[int]) -> tuple[int, ...]:
        """The result's shape for an operand of a shape."""
        padding = zip(
            *(extents, self.edge_padding_low, self.edge_padding_high, self.interior_padding),
            strict=True,
        )
        return tuple(
            low + n + high + (larger(n - 1, 0) * inner if inner else 0)
            for n, low, high, inner in padding
        )

    def evaluate(self, call: Evaluation, x: np.ndarray, value: np.ndarray) -> np.ndarray:
        return self.prepared(ArrayType(x.shape, x.dtype))(x, value)

    def prepared(self, *operands: ArrayType) -> Callable[..., Any]:
        sizes, dtype = operands[0]
        interior = self.interior_padding
        spread = [n + max(n - 1, 0) * i for n, i in zip(sizes, interior, strict=True)]
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
        return results, [self(t or full_like(primals[0], 0), t_value or full_like(primals[1], 0))]

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
            rest = comparison.select(outside, ct, full_like(ct, 0))
            ct_value = reduce_sum(rest, tuple(range(len(strides))))
        return [ct_x if isinstance(x, Linear) else None, ct_value]

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        x, value = operands
        axis = axes[0]
        if axes[1] is None:
            assert axis is not None
            return [self._with_axis(axis)(x, value)], [axis]
        # A scalar for each lane: pad with zeros, then choose by a padded mask.
        x, axis = shape.batched_at(x, axes[0], transform.size, 0), 0
        wider = self._with_axis(axis)
        padded = wider(x, full((), 0, dtype_of(x)))
        mask = wider(full(shape_of(x), True, BOOL), full((), False, BOOL))
        fill = shape.BroadcastInDim(shape_of(padded), (0,))(value)
        return [comparison.select(mask, padded, fill)], [axis]

    def _with_axis(self, axis: int) -> Pad:
        return Pad(
            shape.insert(self.edge_padding_low, axis, 0),
            shape.insert(self.edge_padding_high, axis, 0),
            shape.insert(self.interior_padding, axis, 0),
        )

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        padding = zip(
            self.edge_padding_low, self.edge_padding_high, self.interior_padding, strict=True
        )
        whole = [d for d, amounts in enumerate(padding) if not any(amounts)]
        return same_in_all(whole, operands, results)


@register_class
@dataclass(frozen=True)
class Concatenate(Op):
    """The operands one after another along one dimension."""

    name = "stablehlo.concatenate"
    linear_in = None
    moves = True
    dimension: int = attribute(I64)

    def sized_types(self, operands: Sequence[Value]):
        extents = list(shape_of(operands[0]))
        extents[self.dimension] = sum(shape_of(x)[self.dimension] for x in operands)
        return [mlir.tensor_type(tuple(extents), dtype_of(operands[0]))]

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
        return results, [self(*(full_like(x, 0) if t is None else t for t, x in pairs))]

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
        operands, axis = shape.align(transform.size, operands, axes)
        return [Concatenate(self.dimension + (self.dimension >= axis))(*operands)], [axis]

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        kept = [d for d in range(len(results[0])) if d != self.dimension]
        return same_in_all(kept, operands, results)


# ---- building blocks for rules -------------------------------------------------------------------


def slice_(x: Value, start: Sequence[int], limit: Sequence[int], strides: Sequence[int]) -> Value:
    """Slice; nothing where it takes everything."""
    if all(n == 0 for n in start) and tuple(limit) == shape_of(x) and all(s == 1 for s in strides):
        return x
    return Slice(tuple(start), tuple(limit), tuple(strides))(x)


def vector(numbers: Sequence[Any], dtype: np.dtype) -> Value:
    """A vector of numbers, which may be symbolic sizes."""
    if not any(map(is_symbolic, numbers)):
        return constant(np.array(numbers, dtype))
    return Concatenate(0)(*(shape.reshape(full((), n, dtype), (1,)) for n in numbers))


def slice_in_dim(x: Value, start: int, limit: int, dimension: int) -> Value:
    """Slice one dimension from start to limit, and keep the others."""
    sizes = shape_of(x)
    starts, limits = [0] * len(sizes), list(sizes)
    starts[dimension], limits[dimension] = start, limit
    return slice_(x, starts, limits, [1] * len(sizes))
