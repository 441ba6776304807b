"""Patterns that fold constants where the result is small."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import shape
from irax_compiler.ops.core import Op, UnsupportedOp, constant, full_like, no_calls
from irax_compiler.ops.registry import read
from irax_compiler.passes.rewriting import rewrites

MAX_ELEMENTS = 64
"""The most elements of constants that are not splats, together with those of the result."""


@rewrites()
def fold(operation: Operation) -> Value | None:
    """op(constants) -> constant: for splats of any size where the result is one too, else for at
    most `MAX_ELEMENTS` elements. The meaning is that of `evaluate`.
    """
    definitions = []
    for operand in operation.operands:
        definition = mlir.definition(operand)
        if definition is None or definition.name != shape.Constant.name:
            return None
        definitions.append(definition)
    if not definitions or len(operation.results) != 1:
        return None
    try:
        op = read(operation)
        if not op.is_pure:
            return None
        with np.errstate(all="ignore"):
            return of_splats(op, operation) or of_arrays(op, operation, definitions)
    except (UnsupportedOp, TypeError):  # TypeError: no arithmetic in NumPy for a narrow dtype
        return None


def of_splats(op: Op, operation: Operation) -> Value | None:
    """The constant of an op that makes a splat of splats; None for other ops and operands."""
    elements = [e for x in operation.operands if (e := mlir.splat(x)) is not None]
    if len(elements) < len(operation.operands):
        return None
    (result,) = operation.results
    if op.moves and len(elements) == 1:
        if mlir.is_sized(result.type) and not shape_of(operation.operands[0]):
            return None  # a scalar that is broadcast is all that there is of such a constant
        element = elements[0]
    elif op.elementwise:
        element = op.evaluate(no_calls, *elements)
    else:
        return None
    return full_like(result, element)


def of_arrays(op: Op, operation: Operation, definitions: Sequence[Operation]) -> Value | None:
    """The constant of any op; None if too many elements take part."""
    result = operation.results[0]
    num_elements = sum(math.prod(shape_of(v)) for v in (*operation.operands, result))
    if num_elements > MAX_ELEMENTS:
        return None
    array = op.evaluate(no_calls, *map(mlir.dense_to_numpy, definitions))
    return constant(np.asarray(array, dtype_of(result)).reshape(shape_of(result)))
