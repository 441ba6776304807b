"""Loops of no step, and of a single one.

IREE takes these apart as well, but late: what it then updates in place was no longer looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value
from irax_compiler.ops.control_flow.trip_counts import trip_count
from irax_compiler.passes.rewriting import rewrites


@rewrites("stablehlo.while")
def loop_of_no_step(loop: Operation) -> Sequence[Value] | None:
    """A loop of no step -> what it begins with."""
    return list(loop.operands) if trip_count(loop, {}) == 0 else None


@rewrites("stablehlo.while")
def loop_of_one_step(loop: Operation) -> Sequence[Value] | None:
    """A loop of one step -> its body."""
    if trip_count(loop, {}) != 1:
        return None
    body = loop.regions[1].blocks[0]
    return mlir.copy_block(body, dict(zip(body.arguments, loop.operands, strict=True)))
