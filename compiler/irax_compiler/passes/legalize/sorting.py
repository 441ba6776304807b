"""Cures for sort."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, shape_of
from irax_compiler.ops import elementwise, shape, sort
from irax_compiler.ops.core import full_like, read
from irax_compiler.passes.legalize.cure import cure, read_as


@cure("stablehlo.sort")
def sort_of_repeated_operands(operation: Operation) -> Sequence[Value] | None:
    """IREE cannot compile a sort of one array twice: it is sorted once."""
    operands = list(operation.operands)
    once = list(dict.fromkeys(operands))
    op = read_as(sort.Sort, operation)
    if op is None or len(once) == len(operands):
        return None
    num_keys = len(set(operands[: op.order.num_keys]))
    results = replace(op, order=replace(op.order, num_keys=num_keys)).build(once)
    return [results[once.index(x)] for x in operands]


@cure("stablehlo.sort")
def stable_sort(operation: Operation) -> Sequence[Value] | None:
    """IREE does not keep the order of equal elements: their places become the last key."""
    op = read(operation)
    assert isinstance(op, sort.Sort)
    if not op.is_stable:
        return None
    operands = list(operation.operands)
    num_keys, ascending = op.order.num_keys, op.order.direction == "LT"
    keyed = sort.Sort(op.dimension, False, replace(op.order, num_keys=num_keys + 1))
    iota = shape.Iota(shape_of(operands[0]), np.dtype(np.int32), op.dimension % _rank(operands[0]))
    there = [i for i, x in enumerate(operands) if ascending and _is(x, iota)]
    if there and there[0] < num_keys:
        return replace(op, is_stable=False).build(operands)
    if there:
        # As in an argsort: IREE could not compile the same numbers twice.
        order = [*range(num_keys), there[0]]
        order += [i for i in range(num_keys, len(operands)) if i != there[0]]
        results = keyed.build([operands[i] for i in order])
        return [results[order.index(i)] for i in range(len(operands))]
    places = iota()
    if not ascending:
        places = elementwise.subtract(full_like(places, 0), places)
    results = keyed.build([*operands[:num_keys], places, *operands[num_keys:]])
    return [*results[:num_keys], *results[num_keys + 1 :]]


def _rank(x: Value) -> int:
    return len(shape_of(x))


def _is(x: Value, iota: shape.Iota) -> bool:
    operation = mlir.definition(x)
    return operation is not None and read_as(shape.Iota, operation) == iota
