"""Removal of dead loop-carried values, as in a loop whose gradient alone is used."""

from __future__ import annotations

from collections.abc import Sequence

from irax_compiler import effects, mlir
from irax_compiler.mlir import Block, InsertionPoint, Operation, Value
from irax_compiler.passes.core import inputs
from irax_compiler.passes.rewriting import rewrites


@rewrites("stablehlo.while")
def unneeded_carries(loop: Operation) -> Sequence[Value] | None:
    """Removes loop-carried values on which neither the condition, nor a side effect, nor a used
    result depends.
    """
    condition, body = (region.blocks[0] for region in loop.regions)
    needed = [
        mlir.num_uses(result) > 0 or mlir.num_uses(argument) > 0
        for result, argument in zip(loop.results, condition.arguments, strict=True)
    ]
    while True:
        live = _live(body, needed)
        after = [n or a in live for n, a in zip(needed, body.arguments, strict=True)]
        if after == needed:
            break
        needed = after
    if all(needed):
        return None
    kept = [i for i, n in enumerate(needed) if n]
    results = dict(zip(kept, _rebuilt(loop, kept, live), strict=True))
    return [results.get(i, x) for i, x in enumerate(loop.operands)]


def _rebuilt(loop: Operation, kept: Sequence[int], live: set[Value]) -> Sequence[Value]:
    """Rebuild a loop with some of its loop-carried values and the operations that are live."""
    types = [loop.results[i].type for i in kept]
    new = mlir.emit("stablehlo.while", [loop.operands[i] for i in kept], {}, types, regions=2)
    for region, old in zip(new.regions, [r.blocks[0] for r in loop.regions], strict=True):
        block = Block.create_at_start(region, types)
        env: dict[Value, Value] = {
            old.arguments[i]: x for i, x in zip(kept, block.arguments, strict=True)
        }
        *operations, last = (view.operation for view in old.operations)
        is_body = old == loop.regions[1].blocks[0]
        with InsertionPoint(block):
            for operation in operations:
                if not is_body or _is_live(operation, live):
                    mlir.copy(operation, env)
            results = [last.operands[i] for i in kept] if is_body else list(last.operands)
            mlir.emit("stablehlo.return", [env.get(x, x) for x in results], {}, [])
    return list(new.results)


def _live(body: Block, needed: Sequence[bool]) -> set[Value]:
    """Return the values on which the needed results of the body, and its side effects, depend."""
    *operations, last = (view.operation for view in body.operations)
    live = {x for x, n in zip(last.operands, needed, strict=True) if n}
    for operation in reversed(operations):
        if _is_live(operation, live):
            live.update(inputs(operation))
    return live


def _is_live(operation: Operation, live: set[Value]) -> bool:
    return any(x in live for x in operation.results) or effects.has_effects(operation)
