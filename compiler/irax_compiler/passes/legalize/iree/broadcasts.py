"""Legalizations of broadcasts that permute dimensions. MLIR's own `canonicalize` needs one, too."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from irax_compiler.mlir import Operation, Value, shape_of
from irax_compiler.ops import shape
from irax_compiler.ops.size_code import usual
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.rewriting import read_as

AGAIN = 4
"""The least number of times that an array is read by columns where a transposed copy pays."""
MANY = 1 << 14
"""The elements of a result from which it does."""


@legalizes("stablehlo.broadcast_in_dim", kind="bug", of="StableHLO")
def permuting_broadcast(operation: Operation) -> Sequence[Value] | None:
    """Write a broadcast that only permutes dimensions as a transpose. StableHLO's canonicalization
    makes it the inverse transpose, unnoticed where the sizes agree.
    """
    op = read_as(shape.BroadcastInDim, operation)
    x = operation.operands[0]
    if op is None or len(op.shape) != len(shape_of(x)) or prod(op.shape) != prod(shape_of(x)):
        return None
    order = np.argsort(op.broadcast_dimensions).tolist()
    if order == sorted(order) or [shape_of(x)[d] for d in order] != list(op.shape):
        return None
    return [shape.transpose(x, order)]


@legalizes("stablehlo.broadcast_in_dim", kind="slow", of="IREE")
def broadcast_of_columns(operation: Operation) -> Sequence[Value] | None:
    """Transpose an array before it is broadcast in another order, if neighbours in the result are
    apart in the array: vectors of them would be read element by element, each time again.
    """
    op, x = read_as(shape.BroadcastInDim, operation), operation.operands[0]
    if op is None:
        return None
    sizes, dimensions = shape_of(x), op.broadcast_dimensions
    large = [d for d, n in enumerate(op.shape) if n != 1]
    own = [i for i, n in enumerate(sizes) if n != 1]
    if len(own) < 2 or large[-1] not in dimensions or dimensions[own[-1]] == large[-1]:
        return None
    elements = usual(prod(op.shape))
    if elements < max(MANY, AGAIN * usual(prod(sizes))):
        return None
    return [broadcast_in_order(x, op.shape, dimensions)]


def broadcast_in_order(x: Value, extents: Sequence[int], dimensions: Sequence[int]) -> Value:
    """Broadcast an array that is transposed before, if `dimensions` are in another order."""
    in_order = shape.transpose(x, np.argsort(dimensions).tolist())
    return shape.BroadcastInDim(tuple(extents), tuple(sorted(dimensions)))(in_order)
