"""Cures for sort."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from irax_compiler.mlir import Operation, Value, shape_of
from irax_compiler.ops import elementwise, shape, sort
from irax_compiler.ops.core import full_like, read
from irax_compiler.passes.legalize.cure import cure


@cure("stablehlo.sort")
def stable_sort(operation: Operation) -> Sequence[Value] | None:
    """IREE does not keep the order of equal elements: their places become the last key."""
    op = read(operation)
    assert isinstance(op, sort.Sort)
    if not op.is_stable:
        return None
    operands = list(operation.operands)
    extents, num_keys = shape_of(operands[0]), op.order.num_keys
    places = shape.Iota(extents, np.dtype(np.int32), op.dimension % len(extents))()
    if op.order.direction == "GT":
        places = elementwise.subtract(full_like(places, 0), places)
    order = replace(op.order, num_keys=num_keys + 1)
    keyed = sort.Sort(op.dimension, False, order)
    results = keyed.build([*operands[:num_keys], places, *operands[num_keys:]])
    return [*results[:num_keys], *results[num_keys + 1 :]]
