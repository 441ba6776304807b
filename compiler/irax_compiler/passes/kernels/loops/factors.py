"""Matrices that a loop multiplies with vectors, with the contracting dimension moved last. IREE
then reads them row by row, in two thirds of the time.
"""

from __future__ import annotations

from dataclasses import replace

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Operation, Value, shape_of
from irax_compiler.ops import barrier, shape
from irax_compiler.ops.control_flow.trip_counts import count
from irax_compiler.ops.dot import DotDimensions, DotGeneral
from irax_compiler.ops.registry import read
from irax_compiler.passes.core import nested

STEPS = 8
"""The least number of steps for which a transposed copy pays."""


def transpose_factors(loop: Operation) -> None:
    """Transpose the factors of products in a `stablehlo.while` before the loop."""
    how = count(loop, {})
    if how is None or how.steps < STEPS:
        return
    captured = set(mlir.captured(loop))
    copies: dict[Value, Value] = {}
    for operation in list(nested(loop)):
        place = _matrix(operation, captured)
        if place is None:
            continue
        matrix = operation.operands[place]
        if matrix not in copies:
            with InsertionPoint(loop), loop.location:
                copies[matrix] = barrier.barrier.build([shape.transpose(matrix, (1, 0))])[0]
        _use(operation, place, copies[matrix])


def _matrix(operation: Operation, captured: set[Value]) -> int | None:
    """Return which operand of a matrix-vector product is a loop-invariant matrix that is summed
    over its rows.
    """
    if operation.name != "stablehlo.dot_general":
        return None
    ranks = [len(shape_of(x)) for x in operation.operands]
    if sorted(ranks) != [1, 2]:
        return None
    place = ranks.index(2)
    d = _product(operation).dimensions
    contracting = (d.lhs_contracting, d.rhs_contracting)[place]
    is_fixed = [x in captured for x in operation.operands]
    return place if contracting == (0,) and is_fixed[place] and not all(is_fixed) else None


def _use(operation: Operation, place: int, copy: Value) -> None:
    op, vector = _product(operation), operation.operands[1 - place]
    precision = op.precision
    if precision is not None and place == 1:
        precision = (precision[1], precision[0])
    dimensions = DotDimensions((), (), (1,), (0,))
    with InsertionPoint(operation), operation.location:
        result = replace(op, dimensions=dimensions, precision=precision)(copy, vector)
    mlir.replace(operation, [result])


def _product(operation: Operation) -> DotGeneral:
    op = read(operation)
    assert isinstance(op, DotGeneral)
    return op
