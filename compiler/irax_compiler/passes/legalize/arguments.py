"""Cures for operations that write into the caller's arrays."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import comparison
from irax_compiler.ops.core import full, full_like
from irax_compiler.ops.shape import Iota
from irax_compiler.passes.legalize.cure import cure

_FRESH = {"stablehlo.rng_bit_generator", "stablehlo.scatter", "stablehlo.sort"}
"""Operations whose results are their own memory, or that of what `update_of_argument` copied."""

_HOLDING = {
    "func.call",
    "stablehlo.case",
    "stablehlo.composite",
    "stablehlo.if",
    "stablehlo.optimization_barrier",
    "stablehlo.while",
}
"""Operations whose results may be any of what goes into them, and what is inside."""

_PARTS = {"stablehlo.dynamic_slice", "stablehlo.gather", "stablehlo.slice"}
"""Operations whose result may be a part of their operand's memory."""


@cure("stablehlo.dynamic_update_slice", "stablehlo.scatter", "stablehlo.sort")
def update_of_argument(operation: Operation) -> Sequence[Value] | None:
    """IREE updates in place, also where the memory is that of an argument, and so changes the
    caller's array (and what else the function returns of it): an argument is copied first.
    """
    # The written operands come first, and each has a result.
    written = [i for i in range(len(operation.results)) if _may_be_argument(operation.operands[i])]
    if not written:
        return None
    copy = operation.clone()
    with mlir.InsertionPoint(copy):
        for i in written:
            copy.operands[i] = _copy(operation.operands[i])
    return list(copy.results)


def _may_be_argument(value: Value) -> bool:
    """Whether a value may be the memory of an argument.

    Any operation may turn out to do nothing, for its operands or after other rewrites: x * 1,
    -(-x), a sum over a dimension of size 1.
    """
    seen: set[Value] = set()
    pending = [value]
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        operation = mlir.definition(value)
        if operation is None:
            if mlir.owner_name(value) == "func.func":
                return True
            continue  # what a loop carries, IREE copies
        if operation.name in _HOLDING:
            return True
        if operation.name in _FRESH:
            continue
        operands = list(operation.operands)
        if operation.name == "stablehlo.dynamic_update_slice":
            operands = operands[1:]  # the first is not, or was copied
        is_part = operation.name in _PARTS
        pending += [x for x in operands if is_part or _bytes(x) == _bytes(value)]
    return False


def _bytes(x: Value) -> int:
    return dtype_of(x).itemsize * prod(shape_of(x))


def _copy(x: Value) -> Value:
    """A choice by a condition that always holds, which IREE does not see: fresh memory.

    Where `x` is computed elementwise the choice becomes part of that, and costs next to nothing.
    """
    shape = shape_of(x)
    size = max(shape, default=0)
    if size > 1:
        index = Iota(shape, np.dtype(np.int32), shape.index(size))()
        always = comparison.greater_equal(index, full(shape, 0, np.dtype(np.int32)))
    elif 0 in shape:
        return x
    else:
        true = full((), True, np.dtype(np.bool_))
        always = mlir.emit("stablehlo.optimization_barrier", [true], results=[true.type]).results[0]
    return comparison.select(always, x, full_like(x, 0))
