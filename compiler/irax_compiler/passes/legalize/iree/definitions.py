"""Expansions of operations that IREE lacks."""

from __future__ import annotations

from collections.abc import Sequence

from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import conversion
from irax_compiler.ops.indexing.scatter import ScatterBy
from irax_compiler.ops.reductions.variadic_reduce import VariadicReduce
from irax_compiler.ops.structured import DefinedOp
from irax_compiler.passes.legalization import legalizes
from irax_compiler.passes.rewriting import read_as


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
    """IREE refuses these, or some forms of them."""
    op = read_as(DefinedOp, operation)
    return None if op is None else op.define(list(operation.operands))


@legalizes("stablehlo.scatter", kind="missing", of="IREE")
def scatter_of_several(operation: Operation) -> Sequence[Value] | None:
    """IREE writes to one array at a time: each gets a scatter of its own."""
    op = read_as(ScatterBy, operation)
    if op is None or len(operation.results) == 1:
        return None
    return op.define(list(operation.operands))


@legalizes("stablehlo.reduce_window", kind="bug", of=("IREE", "XLA"))
def windows_of_nothing(operation: Operation) -> Sequence[Value] | None:
    """IREE leaves out what is padding where the array is empty."""
    op = read_as(DefinedOp, operation)
    if op is None or 0 not in shape_of(operation.operands[0]):
        return None
    return op.define(list(operation.operands))


@legalizes("stablehlo.reduce", kind="missing", of=("IREE", "XLA"))
def fold_in_another_dtype(operation: Operation) -> Sequence[Value] | None:
    """IREE folds in the dtype of the elements alone: they are converted to that of the result."""
    op = read_as(VariadicReduce, operation)
    half = len(operation.operands) // 2
    xs, inits = list(operation.operands[:half]), list(operation.operands[half:])
    if op is None or all(dtype_of(x) == dtype_of(i) for x, i in zip(xs, inits, strict=True)):
        return None
    xs = [conversion.convert(x, dtype_of(i)) for x, i in zip(xs, inits, strict=True)]
    return op.build([*xs, *inits])
