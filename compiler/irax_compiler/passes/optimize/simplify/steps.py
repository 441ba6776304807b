"""Loops of no step, and of a single one.

IREE takes these apart as well, but late: what it then updates in place was no longer looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value
from irax_compiler.ops.control_flow.trip_counts import trip_count
from irax_compiler.passes.core import walk
from irax_compiler.passes.rewriting import rewrites


@rewrites("stablehlo.while")
def loop_of_few_steps(loop: Operation) -> Sequence[Value] | None:
    """A loop of no step -> what it begins with; of one step -> its body."""
    count = trip_count(loop, {})
    if count == 0:
        return list(loop.operands)
    if count != 1:
        return None
    body = loop.regions[1].blocks[0]
    env: dict[Value, Value] = dict(zip(body.arguments, loop.operands, strict=True))
    for operation in walk(body):
        mlir.copy(operation, env)
    return [env.get(x, x) for x in mlir.terminator(body).operands]
