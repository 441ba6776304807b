"""The builder of loops, for the ops that are defined by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Value


def while_loop(
    condition: Callable[..., Value | Sequence[Value]],
    body: Callable[..., Sequence[Value]],
    carry: Sequence[Value],
) -> tuple[Value, ...]:
    """Builds a `stablehlo.while`; both functions get the carried values, and may use others."""
    types = [x.type for x in carry]
    operation = mlir.emit("stablehlo.while", carry, {}, types, regions=2)
    for region, build in zip(operation.regions, (condition, body), strict=True):
        block = mlir.Block.create_at_start(region, types)
        with InsertionPoint(block):
            results = build(*block.arguments)
            results = [results] if isinstance(results, Value) else list(results)
            mlir.emit("stablehlo.return", results, {}, [])
    return tuple(operation.results)
