"""Legalizations of branches."""

from __future__ import annotations

from collections.abc import Sequence

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Operation, Value, dtype_of, shape_of
from irax_compiler.ops import comparison, shape
from irax_compiler.ops.core import full
from irax_compiler.ops.structured import zeros_of
from irax_compiler.passes.legalization import legalizes


@legalizes("stablehlo.if", "stablehlo.case", kind="bug", of="IREE")
def branch_returning_captured_value(operation: Operation) -> Sequence[Value] | None:
    """Return zeros from a branch in place of captured values, and select the captured ones after
    it. In loops, IREE loses the buffers of several captured arrays that a branch returns.
    """
    blocks = [region.blocks[0] for region in operation.regions]
    handed = {
        (i, n): x
        for n, block in enumerate(blocks)
        for i, x in enumerate(mlir.terminator(block).operands)
        if not _is_inside(x, block)
    }
    if len({i for i, _ in handed}) < 2:
        return None
    for (i, n), _ in handed.items():
        last = mlir.terminator(blocks[n])
        with InsertionPoint(last), last.location:
            last.operands[i] = zeros_of(operation.results[i].type)
    found = list(operation.clone().results)
    return [
        _chosen(operation.operands[0], [handed.get((i, n), x) for n in range(len(blocks))])
        for i, x in enumerate(found)
    ]


def _is_inside(x: Value, block: Block) -> bool:
    source = mlir.definition(x)
    return source is not None and source.block == block


def _chosen(chooser: Value, values: Sequence[Value]) -> Value:
    """Select one of several values by a condition, or by an index that is clamped to the last
    one.
    """
    *earlier, result = values
    is_number = dtype_of(chooser).kind != "b"
    for number, value in reversed(list(enumerate(earlier))):
        if value == result:
            continue
        holds = (
            comparison.equal(chooser, full((), number, dtype_of(chooser))) if is_number else chooser
        )
        spread = shape.broadcast_scalar(holds, shape_of(value))
        result = comparison.select(spread, value, result)
    return result
