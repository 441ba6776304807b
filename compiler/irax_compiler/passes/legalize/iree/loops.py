"""Legalizations of loops."""

from __future__ import annotations

from collections.abc import Sequence

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Operation, Value, shape_of
from irax_compiler.ops import comparison, shape
from irax_compiler.passes.legalization import legalizes


@legalizes("stablehlo.while")
def carry_that_is_overwritten(operation: Operation) -> Sequence[Value] | None:
    """IREE loses, or crashes on, what is carried but never read in the body, only overwritten: the
    new value is chosen by the condition, which holds, and so depends on the old one.
    """
    condition, body = (region.blocks[0] for region in operation.regions)
    last = mlir.terminator(body)
    unread = [
        i
        for i, argument in enumerate(body.arguments)
        if not mlir.num_uses(argument) and last.operands[i] != argument
    ]
    if not unread:
        return None
    with InsertionPoint(last), last.location:
        holds = _inlined(condition, list(body.arguments))
        for i in unread:
            old, new = body.arguments[i], last.operands[i]
            spread = shape.broadcast_scalar(holds, shape_of(new))
            last.operands[i] = comparison.select(spread, new, old)
    return list(operation.clone().results)


def _inlined(condition: Block, values: Sequence[Value]) -> Value:
    """The value of a loop's condition for some carried values."""
    env: dict[Value, Value] = dict(zip(condition.arguments, values, strict=True))
    for view in list(condition.operations)[:-1]:
        inner = view.operation
        # What the condition uses from outside is there in the body too.
        here = {v: env.get(v, v) for v in [*inner.operands, *mlir.captured(inner)]}
        env.update(zip(inner.results, mlir.clone(inner, here), strict=True))
    (result,) = mlir.terminator(condition).operands
    return env.get(result, result)
