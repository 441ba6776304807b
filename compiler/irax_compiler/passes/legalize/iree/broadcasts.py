"""The legalization of broadcasts, which MLIR's own `canonicalize` needs too."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from irax_compiler.mlir import Operation, Value, shape_of
from irax_compiler.ops import shape
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.rewriting import read_as


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
