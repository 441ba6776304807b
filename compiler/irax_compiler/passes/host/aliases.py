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
        source = mlir.definition(value)
        if source is None or source.name == "flow.dispatch":
            continue
        if source.name == "func.call":
            pending += _of_call(source, value, updated)
        elif traits_of(source).updates and not updated:
            pending += list(source.operands)[len(source.results) :]
        elif traits_of(source).memory is not Memory.FRESH:
            pending += [x for inner in (source, *nested(source)) for x in inner.operands]
    return found


def _of_call(call: Operation, result: Value, updated: bool) -> Sequence[Value]:
    """Return the operands of a call in whose memory one of its results may be."""
    callee = mlir.function_beside(call, mlir.callee(call))
    if not callee.regions[0].blocks:
        return list(call.operands)
    number = next(i for i, x in enumerate(call.results) if x == result)
    inside = sources(returned(callee)[number], updated=updated)
    arguments = mlir.arguments(callee)
    return [x for x, own in zip(call.operands, arguments, strict=True) if own in inside]
