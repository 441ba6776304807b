"""Expansions of operations that IREE lacks."""

from __future__ import annotations

from collections.abc import Sequence

from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import conversion
from irax_compiler.ops.indexing.gather_scatter import ScatterBy
from irax_compiler.ops.reduce_window import ReduceWindow
from irax_compiler.ops.reductions.variadic_reduce import VariadicReduce
from irax_compiler.ops.structured import DefinedOp
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.matching import halves
from irax_compiler.passes.rewriting import read_as

MANY = 8
"""The most arrays that are reduced by one kernel, which may read 24 arrays (see the pass
`limit-fusion`).
"""


@legalizes(
    "stablehlo.batch_norm_grad",
    "stablehlo.batch_norm_inference",
    "stablehlo.batch_norm_training",
    "stablehlo.map",
    "stablehlo.select_and_scatter",
    kind="missing",
    of="IREE",
)
def by_definition(operation: Operation) -> Sequence[Value] | None:
    """Expand operations that IREE refuses, in some or all forms."""
    op = read_as(DefinedOp, operation)
    return None if op is None else op.define(list(operation.operands))


@legalizes("stablehlo.scatter", kind="missing", of="IREE")
def scatter_of_several(operation: Operation) -> Sequence[Value] | None:
    """Scatter each array separately: IREE writes to one at a time."""
    op = read_as(ScatterBy, operation)
    if op is None or len(operation.results) == 1:
        return None
    return op.define(list(operation.operands))


@legalizes("stablehlo.reduce_window", kind="bug", of=("IREE", "XLA"))
def windows_of_empty_array(operation: Operation) -> Sequence[Value] | None:
    """Return padding for windows of an empty array, for which IREE has no results."""
    op = read_as(DefinedOp, operation)
    if op is None or 0 not in shape_of(operation.operands[0]):
        return None
    return op.define(list(operation.operands))


@legalizes("stablehlo.reduce_window", kind="bug", of="IREE")
def windows_of_one_element(operation: Operation) -> Sequence[Value] | None:
    """Take strided slices for windows of one element: IREE fuses such windows with what computes
    the array, and then computes only the elements that the windows have.
    """
    op = read_as(ReduceWindow, operation)
    if op is None or set(op.window.sizes) != {1}:
        return None
    return op.define(list(operation.operands))


@legalizes("stablehlo.reduce", kind="missing", of="IREE")
def reduction_of_many(operation: Operation) -> Sequence[Value] | None:
    """Fold many arrays by elementwise operations, which `limit-fusion` parts: a reduction of
    several arrays is one kernel, to which IREE binds no more than 32.
    """
    op = read_as(VariadicReduce, operation)
    if op is None or len(operation.results) <= MANY:
        return None
    return op.define(list(operation.operands))


@legalizes("stablehlo.reduce", kind="missing", of=("IREE", "XLA"))
def reduction_in_another_dtype(operation: Operation) -> Sequence[Value] | None:
    """Convert a reduction's operands to the dtype of the result, for IREE reduces in the dtype of
    the elements.
    """
    op = read_as(VariadicReduce, operation)
    xs, inits = halves(operation)
    if op is None or all(dtype_of(x) == dtype_of(i) for x, i in zip(xs, inits, strict=True)):
        return None
    xs = [conversion.convert(x, dtype_of(i)) for x, i in zip(xs, inits, strict=True)]
    return op.build([*xs, *inits])
