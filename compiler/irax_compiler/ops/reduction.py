"""Folding dimensions away with an associative operation: reduce."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import comparison, conversion, elementwise, shape
from irax_compiler.ops.core import (
    I64S,
    Axis,
    Linear,
    Op,
    Tangent,
    UnsupportedOp,
    attribute,
    full,
    register_class,
)

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
    if combiner in ("add", "or", "xor"):
        return 0
    if combiner == "multiply":
        return 1
    if combiner == "and":
        return np.invert(np.zeros((), dtype))
    if dtype == np.bool_:
        return combiner == "minimum"
    if mlir.inexact(dtype):
        return -np.inf if combiner == "maximum" else np.inf
    info = np.iinfo(dtype)
    return info.min if combiner == "maximum" else info.max


@register_class
@dataclass(frozen=True)
class Reduce(Op):
    """Folds `dimensions` of the operand with `combiner`, starting from the scalar init value."""

    name = "stablehlo.reduce"
    combiner: str
    dimensions: tuple[int, ...] = attribute(I64S)

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        operation = mlir.emit(self.name, operands, self.attributes(), self._types(operands), 1)
        combiner_region(operation.regions[0], self.combiner, dtype_of(operands[0]))
        return tuple(operation.results)

    def _types(self, operands: Sequence[Value]):
        kept = (n for d, n in enumerate(shape_of(operands[0])) if d not in self.dimensions)
        return [mlir.tensor_type(tuple(kept), dtype_of(operands[0]))]

    @classmethod
    def read(cls, operation: Operation) -> Op:
        dimensions: Any = operation.attributes["dimensions"]
        return cls(read_combiner(operation), tuple(dimensions))

    def evaluate(self, x: np.ndarray, init: np.ndarray) -> np.ndarray:
        ufunc = COMBINERS[self.combiner]
        return np.asarray(ufunc.reduce(x, axis=self.dimensions, initial=init[()]), x.dtype)

    def jvp(
        self, primals: Sequence[Value], tangents: Sequence[Tangent], results: Sequence[Value]
    ) -> Sequence[Tangent]:
        x, _ = primals
        t, t_init = tangents
        if t_init is not None:
            raise UnsupportedOp(f"{self.name}: the init value cannot be differentiated")
        assert t is not None
        if self.combiner == "add":
            return [reduce_sum(t, self.dimensions)]
        if self.combiner == "multiply":
            return [_product_tangent(x, t, self.dimensions)]
        return [self._extremum_tangent(x, t, results[0])]

    def _extremum_tangent(self, x: Value, t: Value, extremum: Value) -> Value:
        """The mean of the tangents at the places that attain the maximum (or minimum)."""
        kept = [d for d in range(len(shape_of(x))) if d not in self.dimensions]
        spread = shape.BroadcastInDim(shape_of(x), tuple(kept))(extremum)
        attained = conversion.convert(comparison.equal(x, spread), dtype_of(x))
        count = reduce_sum(attained, self.dimensions)
        total = reduce_sum(elementwise.multiply(t, attained), self.dimensions)
        return elementwise.divide(total, count)

    def transpose(
        self, cotangents: Sequence[Tangent], operands: Sequence[Value | Linear]
    ) -> Sequence[Tangent]:
        if self.combiner != "add" or isinstance(operands[1], Linear):
            return super().transpose(cotangents, operands)
        (ct,) = cotangents
        wide = shape_of(operands[0])
        kept = tuple(d for d in range(len(wide)) if d not in self.dimensions)
        return [shape.BroadcastInDim(wide, kept)(ct), None]

    def batch(self, size: int, operands: Sequence[Value], axes: Sequence[Axis]):
        x, init = operands
        if axes[1] is not None:
            # Fold every lane from the identity, and each lane's init value in at the end.
            neutral = full((), identity(self.combiner, dtype_of(x)), dtype_of(x))
            x = shape.batched_at(x, axes[0], size, 0)
            (folded,), _ = self.batch(size, [x, neutral], [0, None])
            init = shape.BroadcastInDim(shape_of(folded), (0,))(init)
            return mlir.emit(f"stablehlo.{self.combiner}", [folded, init]).results, [0]
        axis = axes[0]
        assert axis is not None
        moved = Reduce(self.combiner, tuple(d + (d >= axis) for d in self.dimensions))
        return moved.build([x, init]), [axis - sum(d < axis for d in moved.dimensions)]


def combiner_region(region: Any, combiner: str, dtype: np.dtype) -> None:
    """Fills a reduction's region: one operation on two scalars."""
    scalar = mlir.tensor_type((), dtype)
    block = mlir.Block.create_at_start(region, [scalar, scalar])
    with mlir.InsertionPoint(block):
        folded = mlir.emit(f"stablehlo.{combiner}", block.arguments)
        mlir.emit("stablehlo.return", folded.results, results=[])


def read_combiner(operation: Operation) -> str:
    """The combiner of a reduction's region. Raises UnsupportedOp for any other computation."""
    block = operation.regions[0].blocks[0]
    body = [o.operation for o in block.operations]
    arguments = list(block.arguments)
    if len(body) == 2 and len(arguments) == 2:
        combiner = body[0].name.removeprefix("stablehlo.")
        if combiner in COMBINERS and set(body[0].operands) == set(arguments):
            return combiner
    raise UnsupportedOp(
        f"{operation.name} at {operation.location} folds with a computation other than "
        f"{', '.join(COMBINERS)}"
    )


def _product_tangent(x: Value, t: Value, dimensions: Sequence[int]) -> Value:
    """The tangent of a product: halves are multiplied until one element is left, so that zeros
    among the elements do no harm and the number of operations is logarithmic."""
    kept = [d for d in range(len(shape_of(x))) if d not in dimensions]
    sizes = shape_of(x)
    order = [*kept, *dimensions]
    flat = (*(sizes[d] for d in kept), int(np.prod([sizes[d] for d in dimensions])))
    x, t = (shape.reshape(shape.transpose(v, order), flat) for v in (x, t))
    axis = len(kept)
    while (n := shape_of(x)[axis]) > 1:
        half = n // 2
        x1, t1 = (shape.slice_in_dim(v, 0, half, axis) for v in (x, t))
        x2, t2 = (shape.slice_in_dim(v, half, 2 * half, axis) for v in (x, t))
        rest = [shape.slice_in_dim(v, 2 * half, n, axis) for v in (x, t)] if n % 2 else []
        x = elementwise.multiply(x1, x2)
        t = elementwise.add(elementwise.multiply(t1, x2), elementwise.multiply(x1, t2))
        if rest:
            x, t = (shape.Concatenate(axis)(v, r) for v, r in zip((x, t), rest, strict=True))
    if n == 0:
        return full(flat[:-1], 0, dtype_of(t))
    return shape.reshape(t, flat[:-1])


def reduce_sum(x: Value, dimensions: Sequence[int]) -> Value:
    """The sum over `dimensions`; nothing where there are none."""
    if not dimensions:
        return x
    return Reduce("add", tuple(dimensions))(x, full((), 0, dtype_of(x)))
