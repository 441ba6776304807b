"""Values in whose memory another value may be."""

from __future__ import annotations

from collections.abc import Sequence

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value
from irax_compiler.ops.core import Memory
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.core import nested, returned


def sources(result: Value, *, updated: bool = True) -> set[Value]:
    """Return the values that a result may be, or be a part of, in another form; with `updated` also
    those that were updated, whose elements are no longer in their memory.
    """
    found: set[Value] = set()
    pending = [result]
    while pending:
        value = pending.pop()
        if value in found:
            continue
        found.add(value)
        pending += next_sources(value, updated=updated)
    return found


def next_sources(result: Value, *, updated: bool = True) -> Sequence[Value]:
    """Return the operands of a result's operation that are `sources`."""
    source = mlir.definition(result)
    if source is None or source.name == "flow.dispatch":
        return []
    if source.name == "func.call":
        return _of_call(source, result, updated)
    if traits_of(source).updates and not updated:
        return list(source.operands)[len(source.results) :]
    if traits_of(source).memory is not Memory.FRESH:
        return [x for inner in (source, *nested(source)) for x in inner.operands]
    return []


def _of_call(call: Operation, result: Value, updated: bool) -> Sequence[Value]:
    """Return the operands of a call in whose memory one of its results may be."""
    callee = mlir.function_beside(call, mlir.callee(call))
    if not callee.regions[0].blocks:
        return list(call.operands)
    number = next(i for i, x in enumerate(call.results) if x == result)
    inside = sources(returned(callee)[number], updated=updated)
    arguments = mlir.arguments(callee)
    return [x for x, own in zip(call.operands, arguments, strict=True) if own in inside]
