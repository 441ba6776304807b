"""Concatenations of arrays of one shape, whose kernel writes each to its part of the result."""

from __future__ import annotations

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, shape_of
from irax_compiler.ops.shape import Reshape
from irax_compiler.ops.slicing import Concatenate
from irax_compiler.passes.kernels.views import View, contiguous
from irax_compiler.passes.rewriting import read_as

MOST = 8
"""The most arrays that are concatenated by the kernel that computes them."""


def joints(operation: Operation) -> list[Operation]:
    """Return a concatenation, and the reshapes that it alone uses."""
    reshapes = [
        source
        for source in dict.fromkeys(map(mlir.definition, operation.operands))
        if source is not None
        and source.name == Reshape.name
        and all(use.owner.operation == operation for use in source.results[0].uses)
    ]
    return [operation, *reshapes]


def parts_of(operation: Operation) -> list[tuple[Value, View]] | None:
    """Return the values of one shape that are concatenated, and the views of the result that they
    become; None if there are others, or many.
    """
    op, (result,) = read_as(Concatenate, operation), operation.results
    operands = list(operation.operands)
    if op is None or len(operands) > MOST or len({x.type for x in operands}) > 1:
        return None
    extents, strides = shape_of(operands[0]), contiguous(shape_of(result))
    found = []
    for number, x in enumerate(operands):
        source = mlir.definition(x)
        is_reshaped = source is not None and source.name == Reshape.name
        inner = source.operands[0] if source is not None and is_reshaped else x
        start = number * extents[op.dimension] * strides[op.dimension]
        view = View(result, start, strides).reshaped(extents, shape_of(inner))
        if view is None:
            return None
        found.append((inner, view))
    return found if len({x.type for x, _ in found}) == 1 else None
