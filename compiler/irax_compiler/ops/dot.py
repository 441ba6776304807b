"""Products summed over shared dimensions: dot_general and its special case dot.

The result of `dot_general` has the batching dimensions first, then the free ones of the left
operand, then the free ones of the right; both transposes and the batched form are again a
`dot_general`, chosen so that as few dimensions as possible have to move.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, inexact, shape_of
from irax_compiler.ops import conversion, shape
from irax_compiler.ops.attributes import AttributeCodec, attribute, numbers, result_dtype
from irax_compiler.ops.core import ArrayType, Axis, Linear, Op, Tangent, Widened, working_dtype
from irax_compiler.ops.linear import Bilinear
from irax_compiler.ops.links import Links, Pairs, Use, places
from irax_compiler.ops.reductions import blocked
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.sharding_rule import Shape, ShardingRule
from irax_compiler.ops.transformation import Batching, Evaluation

Dimensions = tuple[int, ...]


@dataclass(frozen=True)
class DotDimensions:
    """The pairs of dimensions of the two operands that are batched or contracted together."""

    lhs_batching: Dimensions = ()
    rhs_batching: Dimensions = ()
    lhs_contracting: Dimensions = ()
    rhs_contracting: Dimensions = ()

    @property
    def swapped(self) -> DotDimensions:
        """Return these dimensions with left and right exchanged."""
        return DotDimensions(
            self.rhs_batching, self.lhs_batching, self.rhs_contracting, self.lhs_contracting
        )

    def lhs_free(self, rank: int) -> Dimensions:
        """The dimensions of a left operand of `rank` that are neither batching nor contracting."""
        return _others(rank, self.lhs_batching + self.lhs_contracting)

    def rhs_free(self, rank: int) -> Dimensions:
        """The dimensions of a right operand of `rank` that are neither batching nor contracting."""
        return _others(rank, self.rhs_batching + self.rhs_contracting)


def _others(rank: int, dimensions: Dimensions) -> Dimensions:
    return tuple(d for d in range(rank) if d not in dimensions)


_DIMENSIONS = numbers(
    "dot",
    DotDimensions,
    (
        "lhs_batching_dimensions",
        "rhs_batching_dimensions",
        "lhs_contracting_dimensions",
        "rhs_contracting_dimensions",
    ),
)
PRECISION = AttributeCodec(
    lambda v: mlir.parse_attribute(f"[{', '.join(f'#stablehlo<precision {p}>' for p in v)}]"),
    lambda a: tuple(re.findall(r"precision (\w+)", mlir.attribute_text(a))),
)
_ALGORITHM = AttributeCodec(
    lambda v: mlir.parse_attribute(f"#stablehlo.dot_algorithm<{v}>"),
    lambda a: mlir.attribute_text(a)[len("#stablehlo.dot_algorithm<") : -1],
)


@register_class
@dataclass(frozen=True)
class DotGeneral(Bilinear):
    """Sums of products over the contracting dimensions, for each index of the batching ones."""

    name = "stablehlo.dot_general"
    superlinear = True
    reduces = True
    widened = Widened.LOW_BITS
    dimensions: DotDimensions = attribute(_DIMENSIONS, "dot_dimension_numbers")
    dtype: np.dtype = result_dtype()
    precision: tuple[str, str] | None = attribute(PRECISION, "precision_config")
    """DEFAULT, HIGH or HIGHEST for each operand."""
    algorithm: str | None = attribute(_ALGORITHM)
    """The precision algorithm: the contents of `#stablehlo.dot_algorithm<...>`."""

    @classmethod
    def flops(cls, operation: Operation) -> float:
        op = cls.read(operation)
        assert isinstance(op, DotGeneral)
        left = shape_of(operation.operands[0])
        depth = math.prod(left[d] for d in op.dimensions.lhs_contracting)
        return 2 * depth * math.prod(shape_of(operation.results[0]))

    def result_types(self, operands: Sequence[Value]):
        x, y = map(shape_of, operands)
        kept = [x[d] for d in self.dimensions.lhs_batching]
        kept += [x[d] for d in self.dimensions.lhs_free(len(x))]
        kept += [y[d] for d in self.dimensions.rhs_free(len(y))]
        return [mlir.tensor_type(tuple(kept), self.dtype)]

    def evaluate(self, call: Evaluation, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        working = working_dtype(self.dtype)
        if inexact(working):
            working = widest(x.dtype, y.dtype, self.dtype)
        lhs_order, rhs_order, num_batching, num_contracting = _layout(
            self.dimensions, x.ndim, y.ndim
        )
        x = x.astype(working, copy=False).transpose(lhs_order)
        y = y.astype(working, copy=False).transpose(rhs_order)
        if not num_batching and num_contracting == 1 and x.ndim <= 2 and y.ndim <= 2:
            return np.asarray(matmul(x, y)).astype(self.dtype, copy=False)
        # Stacks of matrices: the free dimensions as one, and the contracting ones.
        free = x.ndim - num_contracting
        batch, rows, contracted = x.shape[:num_batching], x.shape[num_batching:free], x.shape[free:]
        columns = y.shape[num_batching + num_contracting :]
        x = x.reshape(*batch, math.prod(rows), math.prod(contracted))
        y = y.reshape(*batch, math.prod(contracted), math.prod(columns))
        product = matmul(x, y).reshape(batch + rows + columns)
        return product.astype(self.dtype, copy=False)

    def links(self, use: Use) -> Links:
        """Link elements by those of the other operand that are not zero, where it is known."""
        other = use.values[1 - use.number]
        if other is None:
            return super().links(use)
        *orders, num_batching, num_contracting = _layout(self.dimensions, *map(len, use.operands))
        arrays = [places(use.shape), other != 0]
        x, y = (
            a.transpose(order)
            for a, order in zip(arrays if use.number == 0 else arrays[::-1], orders, strict=True)
        )
        batch, free = x.shape[:num_batching], x.ndim - num_contracting
        rows, contracted = x.shape[num_batching:free], x.shape[free:]
        columns = y.shape[num_batching + num_contracting :]
        x = x.reshape(*map(math.prod, (batch, rows, contracted)))
        y = y.reshape(*map(math.prod, (batch, contracted, columns)))
        if use.number == 0:
            b, k, n = (i[:, None] for i in np.nonzero(y))
            m = np.arange(x.shape[1])
            own = x[b, m, k]
        else:
            b, m, k = (i[:, None] for i in np.nonzero(x))
            n = np.arange(y.shape[2])
            own = y[b, k, n]
        results = (b * x.shape[1] + m) * y.shape[2] + n
        return [Pairs(results.ravel(), own.ravel(), math.prod(use.results[0]))]

    def prepared(self, *operands: ArrayType) -> Callable[..., Any]:
        x, y = operands
        *orders, num_batching, num_contracting = _layout(
            self.dimensions, len(x.shape), len(y.shape)
        )
        plain = x.dtype == y.dtype == self.dtype == working_dtype(self.dtype)
        in_order = all(order == tuple(range(len(order))) for order in orders)
        is_short = not x.shape or x.shape[-1] <= DEEP
        matrices = len(x.shape) <= 2 and len(y.shape) <= 2 and num_contracting == 1 and is_short
        if plain and in_order and matrices and not num_batching:
            return np.matmul
        return super().prepared(*operands)

    def cotangent(self, number: int, ct: Value, x: Any, y: Any) -> Tangent:
        if number == 0:
            return self._transposed(ct, x, y)
        return self.swapped()._transposed(ct, y, x, swapped=True)

    def swapped(self) -> DotGeneral:
        precision = self.precision and self.precision[::-1]
        return replace(self, dimensions=self.dimensions.swapped, precision=precision)

    def _transposed(self, ct: Value, x: Linear, y: Value, swapped: bool = False) -> Value:
        """The cotangent of the left operand: `ct` times y, summed over y's free dimensions.

        `swapped` says that x and y have changed places already, so that ct has y's dimensions
        before those of x.
        """
        dims = self.dimensions
        x_rank, y_rank = len(shape_of(x)), len(shape_of(y))
        x_free, y_free = dims.lhs_free(x_rank), dims.rhs_free(y_rank)
        batching = tuple(range(len(dims.lhs_batching)))
        first = len(batching) + (0 if swapped else len(x_free))
        op = self
        if dtype_of(ct) != dtype_of(y):
            wide = widest(dtype_of(ct), dtype_of(y))
            ct, y = conversion.convert(ct, wide), conversion.convert(y, wide)
            op = replace(op, algorithm=None)
        contracted = tuple(range(first, first + len(y_free)))
        op = replace(
            op,
            dimensions=DotDimensions(batching, dims.rhs_batching, contracted, y_free),
            dtype=dtype_of(y),
        )
        # The result has the contracted dimensions of x in the order they have in y; with ct on the
        # left they come after its free ones, with ct on the right before.
        partner = dict(zip(dims.rhs_contracting, dims.lhs_contracting, strict=True))
        x_contracted = tuple(partner[d] for d in sorted(partner))
        order = dims.lhs_batching + x_free + x_contracted
        other_order = dims.lhs_batching + x_contracted + x_free
        if order != tuple(range(x_rank)) and other_order == tuple(range(x_rank)):
            return conversion.convert(op.swapped()(y, ct), dtype_of(x))
        result = conversion.convert(op(ct, y), dtype_of(x))
        return shape.transpose(result, np.argsort(order).tolist())

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        dims, (left, right) = self.dimensions, map(len, operands)
        x, y = list(range(left)), list(range(left, left + right))
        pairs = zip(
            dims.lhs_batching + dims.lhs_contracting,
            dims.rhs_batching + dims.rhs_contracting,
            strict=True,
        )
        for d, e in pairs:
            y[e] = x[d]
        result = [x[d] for d in dims.lhs_batching + dims.lhs_free(left)]
        result += [y[d] for d in dims.rhs_free(right)]
        reduced = dict.fromkeys((x[d] for d in dims.lhs_contracting), "add")
        return ShardingRule((tuple(x), tuple(y)), (tuple(result),), reduced)

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        x_axis, y_axis = axes
        dims = self.dimensions
        wider = DotDimensions(
            _moved(dims.lhs_batching, x_axis),
            _moved(dims.rhs_batching, y_axis),
            _moved(dims.lhs_contracting, x_axis),
            _moved(dims.rhs_contracting, y_axis),
        )
        if x_axis is not None and y_axis is not None:
            wider = replace(
                wider,
                lhs_batching=(x_axis, *wider.lhs_batching),
                rhs_batching=(y_axis, *wider.rhs_batching),
            )
            return replace(self, dimensions=wider).build(operands), [0]
        # A mapped operand's axis is one more free dimension: nothing is broadcast.
        x, y = operands
        axis = len(wider.lhs_batching)
        if x_axis is not None:
            axis += wider.lhs_free(len(shape_of(x))).index(x_axis)
        else:
            assert y_axis is not None
            axis += len(wider.lhs_free(len(shape_of(x))))
            axis += wider.rhs_free(len(shape_of(y))).index(y_axis)
        return replace(self, dimensions=wider).build(operands), [axis]


DEEP, PART = 8192, 1024
"""The most products of numbers that BLAS adds up where a factor is a vector, since it adds them one
by one; of more, so many are a block."""


def matmul(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """`np.matmul`; products with vectors are added up in blocks."""
    depth = x.shape[-1]
    is_vector = x.ndim == 1 or y.ndim == 1 or 1 in (x.shape[-2], y.shape[-1])
    if depth <= DEEP or not is_vector or not inexact(x.dtype):
        return np.matmul(x, y)
    rows = x[None, :] if x.ndim == 1 else x
    columns = y[:, None] if y.ndim == 1 else y
    whole = depth // PART * PART
    blocks = rows[..., :whole].reshape(*rows.shape[:-1], -1, PART).swapaxes(-2, -3)
    others = columns[..., :whole, :].reshape(*columns.shape[:-2], -1, PART, columns.shape[-1])
    products = np.matmul(blocks, others)
    total = blocked.total(products, (products.ndim - 3,), products.dtype.type(0))
    if whole < depth:
        total = total + np.matmul(rows[..., whole:], columns[..., whole:, :])
    if x.ndim == 1:
        total = total[0]
    return total[..., 0] if y.ndim == 1 else total


def _moved(dimensions: Dimensions, axis: Axis) -> Dimensions:
    """The dimensions' places once another dimension stands at `axis`."""
    return dimensions if axis is None else tuple(d + (d >= axis) for d in dimensions)


@lru_cache(maxsize=4096)
def _layout(
    dimensions: DotDimensions, x_rank: int, y_rank: int
) -> tuple[Dimensions, Dimensions, int, int]:
    """Both operands' dimensions in the order of np.matmul; the numbers of batching and contracting
    dimensions.
    """
    return (
        dimensions.lhs_batching + dimensions.lhs_free(x_rank) + dimensions.lhs_contracting,
        dimensions.rhs_batching + dimensions.rhs_contracting + dimensions.rhs_free(y_rank),
        len(dimensions.lhs_batching),
        len(dimensions.lhs_contracting),
    )


@lru_cache(maxsize=4096)
def widest(*dtypes: np.dtype) -> np.dtype:
    """A dtype that holds the values of all these, at least float32."""
    return np.result_type(*map(working_dtype, dtypes))


@register_class
class Dot(Op):
    """The form without batching that contracts the last dimension of a matrix or vector with the
    first of another. It is read as a `DotGeneral`, and so never built.
    """

    name = "stablehlo.dot"
    superlinear = True

    @classmethod
    def read(cls, operation: Operation) -> Op:
        full = DotGeneral.read(operation)
        assert isinstance(full, DotGeneral)
        last = len(shape_of(operation.operands[0])) - 1
        return replace(full, dimensions=DotDimensions((), (), (last,), (0,)))

    @classmethod
    def flops(cls, operation: Operation) -> float:
        depth = shape_of(operation.operands[0])[-1]
        return 2 * depth * math.prod(shape_of(operation.results[0]))


def dot_general(
    x: Value, y: Value, dimensions: DotDimensions, dtype: np.dtype | None = None
) -> Value:
    """A dot_general of default precision; its dtype is that of `x` if not given."""
    return DotGeneral(dimensions, dtype or dtype_of(x), None, None)(x, y)
