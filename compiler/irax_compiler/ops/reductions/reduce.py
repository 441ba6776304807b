"""The op reduce with an associative operation such as addition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import (
    comparison,
    conversion,
    elementwise,
    reduction_builders,
    shape,
    slicing,
)
from irax_compiler.ops.attributes import I64S, attribute
from irax_compiler.ops.core import (
    ArrayType,
    Axis,
    Linear,
    Op,
    Tangent,
    full,
    full_like,
    only,
    working_dtype,
    zeros_like,
)
from irax_compiler.ops.loop_builders import fold_rows
from irax_compiler.ops.reduction_builders import reduce_sum
from irax_compiler.ops.reductions import blocked, variadic_reduce
from irax_compiler.ops.registry import computed, register_class, traits_named
from irax_compiler.ops.sharding_rule import Shape, ShardingRule, along
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation, Transposition
from irax_compiler.sizes import at_least, is_symbolic

COMBINERS: dict[str, Any] = {
    "add": np.add,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
"""The operations a reduction can fold with, as NumPy ufuncs."""


def identity(combiner: str, dtype: np.dtype) -> Any:
    """The value that `combiner` leaves others unchanged by: 0 for add, -inf for maximum, ..."""
    of = traits_named(f"stablehlo.{combiner}").identity
    assert of is not None
    return of(np.dtype(dtype))


def is_identity(combiner: str, init: Value) -> bool:
    """True for an init value known to be the combiner's identity."""
    value = mlir.splat(init)
    return value is not None and bool(
        value == np.asarray(identity(combiner, value.dtype), value.dtype)
    )


@register_class
@dataclass(frozen=True)
class Reduce(Op):
    """Folds `dimensions` of the operand with `combiner`, starting from the scalar init value."""

    name = "stablehlo.reduce"
    reduces = True
    combiner: str
    dimensions: tuple[int, ...] = attribute(I64S)

    @classmethod
    def flops(cls, operation: Operation) -> float:
        folded, kept = (prod(shape_of(x[0])) for x in (operation.operands, operation.results))
        return max(0, folded - kept) * computed(operation)

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        x, init = operands
        return [reduction_builders.reduce(self.combiner, x, init, self.dimensions)]

    @classmethod
    def read(cls, operation: Operation) -> Op:
        x, init = operation.operands[0], operation.operands[len(operation.operands) // 2]
        combiner = find_combiner(operation)
        if len(operation.operands) != 2 or dtype_of(x) != dtype_of(init) or combiner is None:
            return variadic_reduce.VariadicReduce.read(operation)
        dimensions: Any = operation.attributes["dimensions"]
        return cls(combiner, tuple(dimensions))

    def evaluate(self, call: Evaluation, x: np.ndarray, init: np.ndarray) -> np.ndarray:
        wide = working_dtype(x.dtype)
        folded = fold(self.combiner, x.astype(wide, copy=False), self.dimensions, init.astype(wide))
        return np.asarray(folded).astype(x.dtype, copy=False)

    def prepared(self, *operands: ArrayType) -> Callable[..., Any]:
        shape, dtype = operands[0].shape, operands[0].dtype
        reduced, dimensions = COMBINERS[self.combiner].reduce, self.dimensions
        in_blocks = self.combiner == "add" and not blocked.is_plain(shape, dimensions, dtype)
        if in_blocks or working_dtype(dtype) != dtype:
            return super().prepared(*operands)
        return lambda x, init: reduced(x, dimensions, dtype, None, False, init[()])

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        (x, init), (t, t_init) = primals, tangents
        results = transform.results(self, primals)
        return results, [self._tangent(x, init, t, t_init, results[0])]

    def _tangent(
        self, x: Value, init: Value, t: Tangent, t_init: Tangent, result: Value
    ) -> Tangent:
        if self.combiner == "add":
            if t_init is None:
                return reduce_sum(only([t]), self.dimensions)
            return self(t or zeros_like(x), t_init)
        if t_init is not None:
            return self._tangent_from_init(x, init, t, t_init, result)
        if 0 in shape_of(x):
            return None
        if self.combiner == "multiply":
            slope = _product_tangent(x, only([t]), self.dimensions)
            if is_identity(self.combiner, init):
                return slope
            return elementwise.multiply(slope, shape.broadcast_scalar(init, shape_of(slope)))
        return self._extremum_tangent(x, init, only([t]), result)

    def _tangent_from_init(
        self, x: Value, init: Value, t: Tangent, t_init: Value, result: Value
    ) -> Tangent:
        """Return the tangent of the init value combined with the reduction of all elements."""
        start = full((), identity(self.combiner, dtype_of(x)), dtype_of(x))
        folded = self(x, start)
        t_folded = None if t is None else self._tangent(x, start, t, None, folded)
        first, t_first = (shape.broadcast_scalar(v, shape_of(folded)) for v in (init, t_init))
        combine: elementwise.Elementwise = getattr(elementwise, self.combiner)
        return combine.tangent([folded, first], [t_folded, t_first], result)

    def _extremum_tangent(self, x: Value, init: Value, t: Value, extremum: Value) -> Value:
        """The mean of the tangents at the places that attain the maximum (or minimum); nan, at all
        places, where that is nan.
        """
        kept = [d for d in range(len(shape_of(x))) if d not in self.dimensions]
        spread = shape.BroadcastInDim(shape_of(x), tuple(kept))(extremum)
        attained = attains(x, spread)
        count = reduce_sum(conversion.convert(attained, dtype_of(x)), self.dimensions)
        may_be_empty = any(not at_least(n, 1) for n in shape_of(x))
        # The init value may be what attains it, alone.
        if may_be_empty or not is_identity(self.combiner, init):
            count = elementwise.maximum(count, full_like(count, 1))
        count = nan_where(extremum, count)
        total = reduce_sum(comparison.select(attained, t, zeros_like(t)), self.dimensions)
        return elementwise.divide(total, count)

    def is_linear_in(self, operands: Sequence[int]) -> bool:
        return self.combiner == "add" or (self.combiner == "multiply" and list(operands) == [1])

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        x, init = operands
        ct = only(cotangents)
        if self.combiner == "multiply":
            assert isinstance(x, Value)
            product = elementwise.multiply(ct, self(x, full((), 1, dtype_of(x))))
            return [None, reduce_sum(product, range(len(shape_of(ct))))]
        wide = shape_of(x)
        kept = tuple(d for d in range(len(wide)) if d not in self.dimensions)
        return [
            shape.BroadcastInDim(wide, kept)(ct) if isinstance(x, Linear) else None,
            reduce_sum(ct, range(len(kept))) if isinstance(init, Linear) else None,
        ]

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        x, init = operands
        if axes[1] is not None:
            # Fold every lane from the identity, and each lane's init value in at the end.
            neutral = full((), identity(self.combiner, dtype_of(x)), dtype_of(x))
            if axes[0] is None:
                folded, axis = self(x, neutral), None
            else:
                (folded,), (axis,) = self.batch(transform, [x, neutral], [axes[0], None])
            folded = shape.batched_at(folded, axis, transform.size, 0)
            init = shape.BroadcastInDim(shape_of(folded), (0,))(init)
            return mlir.emit(f"stablehlo.{self.combiner}", [folded, init]).results, [0]
        axis = axes[0]
        assert axis is not None
        moved = Reduce(self.combiner, tuple(d + (d >= axis) for d in self.dimensions))
        return moved.build([x, init]), [axis - sum(d < axis for d in moved.dimensions)]

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        rank = len(operands[0])
        kept = tuple(d for d in range(rank) if d not in self.dimensions)
        if self.combiner not in ("add", "maximum", "minimum"):
            return ShardingRule((along(kept, rank), ()), (kept,))
        reduced = dict.fromkeys(self.dimensions, self.combiner)
        return ShardingRule((tuple(range(rank)), ()), (kept,), reduced, init=1)


def fold(
    combiner: str, x: np.ndarray, dimensions: Sequence[int], initial: np.ndarray
) -> np.ndarray:
    """Return `x` with some dimensions reduced in NumPy, from an initial scalar on."""
    start: Any = initial[()]
    if combiner == "add":
        return blocked.total(x, dimensions, start)
    return COMBINERS[combiner].reduce(x, tuple(dimensions), x.dtype, initial=start)


def attains(x: Value, extremum: Value) -> Value:
    """True where x is the extremum, and where that is nan: all numbers have part in it."""
    attained = comparison.equal(x, extremum)
    if dtype_of(x).kind == "c":  # the order of complex numbers passes over nan
        return attained
    is_nan = comparison.not_equal(extremum, extremum)
    return comparison.select(is_nan, is_nan, attained)


def nan_where(extremum: Value, count: Value) -> Value:
    """Return the number of elements that attain the extremum; nan where that is nan."""
    if dtype_of(extremum).kind == "c":
        return count
    # A constant: the extremum itself would have second derivatives here.
    nan = full_like(count, np.nan)
    return comparison.select(comparison.not_equal(extremum, extremum), nan, count)


def find_combiner(operation: Operation) -> str | None:
    """The combiner of a region that is one operation on two scalars; None for any other."""
    return combiner_of(operation.regions[0].blocks[0])


def combiner_of(block: mlir.Block) -> str | None:
    """The combiner of a block that is one operation on two scalars; None for any other."""
    body = [o.operation for o in block.operations]
    arguments = list(block.arguments)
    if len(body) == 2 and len(arguments) == 2:
        combiner = body[0].name.removeprefix("stablehlo.")
        takes_both = set(body[0].operands) == set(arguments)
        if combiner in COMBINERS and takes_both and list(body[1].operands) == [body[0].results[0]]:
            return combiner
    return None


def _product_tangent(x: Value, t: Value, dimensions: Sequence[int]) -> Value:
    """The tangent of a product: halves are multiplied until one element is left, so that zeros
    among the elements do no harm and the number of operations is logarithmic. Elements of which
    the number is not known are multiplied one after the other.
    """
    if any(is_symbolic(shape_of(x)[d]) for d in dimensions):
        rows = [shape.in_rows(v, dimensions) for v in (x, t)]
        starts = [full(shape_of(rows[0])[1:], n, dtype_of(x)) for n in (1, 0)]
        return fold_rows(_next_product, starts, rows)[1]
    kept = [d for d in range(len(shape_of(x))) if d not in dimensions]
    sizes = shape_of(x)
    order = [*kept, *dimensions]
    flat = (*(sizes[d] for d in kept), int(np.prod([sizes[d] for d in dimensions])))
    x, t = (shape.reshape(shape.transpose(v, order), flat) for v in (x, t))
    axis = len(kept)
    while (n := shape_of(x)[axis]) > 1:
        half = n // 2
        x1, t1 = (slicing.slice_in_dim(v, 0, half, axis) for v in (x, t))
        x2, t2 = (slicing.slice_in_dim(v, half, 2 * half, axis) for v in (x, t))
        rest = [slicing.slice_in_dim(v, 2 * half, n, axis) for v in (x, t)] if n % 2 else []
        x = elementwise.multiply(x1, x2)
        t = elementwise.add(elementwise.multiply(t1, x2), elementwise.multiply(x1, t2))
        if rest:
            x, t = (slicing.Concatenate(axis)(v, r) for v, r in zip((x, t), rest, strict=True))
    return shape.reshape(t, flat[:-1])


def _next_product(product: Value, tangent: Value, x: Value, t: Value) -> Sequence[Value]:
    grown = elementwise.add(elementwise.multiply(tangent, x), elementwise.multiply(product, t))
    return [elementwise.multiply(product, x), grown]
