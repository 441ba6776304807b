"""Legalizations of loops."""

from __future__ import annotations

from collections.abc import Sequence

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Operation, Value, shape_of
from irax_compiler.ops import barrier, comparison, shape
from irax_compiler.passes.core import nested
from irax_compiler.passes.host.host import is_host_call
from irax_compiler.passes.legalize.iree import aliasing
from irax_compiler.passes.legalize.legalization import legalizes


@legalizes(
    "stablehlo.while", kind="bug", of="IREE", fatal="the compiler of IREE 3.13.0 ends the process"
)
def overwritten_carry(operation: Operation) -> Sequence[Value] | None:
    """IREE loses, or crashes on, what is carried but never read in the body, only overwritten: the
    new value is chosen by the condition, which holds, and so depends on the old one.
    """
    body = operation.regions[1].blocks[0]
    last = mlir.terminator(body)
    unread = [
        i
        for i, argument in enumerate(body.arguments)
        if not mlir.num_uses(argument) and last.operands[i] != argument
    ]
    return _chosen(operation, unread)


def _chosen(loop: Operation, places: Sequence[int]) -> Sequence[Value] | None:
    """Let the condition, which holds in each step, choose between the next values and the old ones
    of carries at some places; None if there are none.
    """
    if not places:
        return None
    condition, body = (region.blocks[0] for region in loop.regions)
    last = mlir.terminator(body)
    with InsertionPoint(last), last.location:
        holds = _inlined(condition, list(body.arguments))
        for i in places:
            old, new = body.arguments[i], last.operands[i]
            spread = shape.broadcast_scalar(holds, shape_of(new))
            last.operands[i] = comparison.select(spread, new, old)
    return list(loop.clone().results)


@legalizes("stablehlo.while", kind="bug", of="IREE")
def carried_constant(operation: Operation) -> Sequence[Value] | None:
    """IREE takes no buffer of a host function's for the next step of a loop where the first one has
    a constant, or what it computes once and for all: the loop begins with a copy of it.
    """
    if not any(map(is_host_call, nested(operation))):
        return None
    constants = [i for i, x in enumerate(operation.operands) if _is_fixed(x)]
    if not constants:
        return None
    begun = operation.clone()
    with InsertionPoint(begun):
        for i in constants:
            (apart,) = barrier.barrier.build([operation.operands[i]])
            begun.operands[i] = aliasing.copy(apart, i)
    return list(begun.results)


def _is_fixed(x: Value) -> bool:
    """True if a value is an array that is not a splat and depends on constants alone."""
    if mlir.splat(x) is not None or not shape_of(x):
        return False
    seen: set[Value] = set()
    pending = [x]
    while pending:
        source = mlir.definition(pending.pop())
        if source is None or source.regions or is_host_call(source):
            return False
        operands = set(source.operands) - seen
        seen |= operands
        pending += operands
    return True


def _inlined(condition: Block, values: Sequence[Value]) -> Value:
    """The value of a loop's condition for some carried values."""
    (result,) = mlir.copy_block(condition, dict(zip(condition.arguments, values, strict=True)))
    return result
