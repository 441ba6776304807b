"""Legalizations of moves of data, which IREE does element by element, to kernels that use vectors
and several workgroups.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from irax_compiler.mlir import Operation, Value, shape_of
from irax_compiler.ops.core import Op
from irax_compiler.ops.indexing.gather_scatter import Gather, Scatter, ScatterBy
from irax_compiler.passes.legalization import legalizes
from irax_compiler.passes.moves import gathers, scatters
from irax_compiler.passes.rewriting import read_as

MANY = 4096
"""The elements from which a kernel of its own pays."""


@legalizes("stablehlo.gather", kind="slow", of="IREE")
def gather_by_vectors(operation: Operation) -> Sequence[Value] | None:
    """Gather windows by vectors. IREE copies them element by element, and computes the place of
    each element.
    """
    op, (result,) = read_as(Gather, operation), operation.results
    x, indices = operation.operands
    if op is None or 0 in (*shape_of(x), *shape_of(indices)) or prod(shape_of(result)) < MANY:
        return None
    found = gathers.gathered(op, operation)
    return None if found is None else [found]


@legalizes("stablehlo.scatter", kind="slow", of="IREE")
def scatter_by_vectors(operation: Operation) -> Sequence[Value] | None:
    """Combine windows with an array by vectors. IREE combines element by element, and needs copies
    of the array and of the windows before that.
    """
    op, (x, *_, updates) = read_as(Op, operation), operation.operands
    if not isinstance(op, Scatter | ScatterBy):
        return None
    sizes = [prod(shape_of(y)) for y in operation.operands]
    if 0 in sizes or max(prod(shape_of(x)), prod(shape_of(updates))) < MANY:
        return None
    return [scatters.scattered(op, operation)] if scatters.is_known(operation) else None
