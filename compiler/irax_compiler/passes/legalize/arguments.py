"""Cures for operations that write into the caller's arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, shape_of
from irax_compiler.ops import comparison
from irax_compiler.ops.core import full, full_like
from irax_compiler.ops.shape import Iota
from irax_compiler.passes.legalize.cure import cure

PASSED_ON = {
    "stablehlo.reshape",
    "stablehlo.transpose",
    "stablehlo.broadcast_in_dim",
    "stablehlo.convert",
    "stablehlo.bitcast_convert",
    "stablehlo.slice",
    "stablehlo.pad",
    "stablehlo.concatenate",
    "stablehlo.optimization_barrier",
    "stablehlo.select",
    "stablehlo.tuple",
    "stablehlo.get_tuple_element",
}
"""Operations whose result may be their operand's memory, where they turn out to do nothing."""

HOLDING = {"stablehlo.while", "stablehlo.case", "stablehlo.if", "stablehlo.composite", "func.call"}
"""Operations whose results may be arguments that go through them."""


@cure("stablehlo.dynamic_update_slice", "stablehlo.scatter", "stablehlo.sort")
def update_of_argument(operation: Operation) -> Sequence[Value] | None:
    """IREE updates in place, also where the memory is that of an argument, and so changes the
    caller's array (and what else the function returns of it): an argument is copied first.
    """
    written = _written(operation)
    if not any(_may_be_argument(operation.operands[i]) for i in written):
        return None
    copy = operation.clone()
    for i in written:
        if _may_be_argument(operation.operands[i]):
            with mlir.InsertionPoint(copy):
                copy.operands[i] = _copy(operation.operands[i])
    return list(copy.results)


def _written(operation: Operation) -> range:
    if operation.name == "stablehlo.dynamic_update_slice":
        return range(1)
    return range(len(operation.results))


def _may_be_argument(value: Value) -> bool:
    if mlir.is_argument(value):
        return mlir.owner_name(value) == "func.func"
    producer = mlir.producer(value)
    if producer.name in HOLDING:
        return True
    return producer.name in PASSED_ON and any(map(_may_be_argument, producer.operands))


def _copy(x: Value) -> Value:
    """A choice by a condition that always holds, which no compiler can see: fresh memory."""
    shape = shape_of(x)
    if not shape or 0 in shape:
        return x
    index = Iota(shape, np.dtype(np.int32), 0)()
    always = comparison.greater_equal(index, full(shape, 0, np.dtype(np.int32)))
    return comparison.select(always, x, full_like(x, 0))
