"""Removal of loop-carried values that are dead, as where a gradient alone is used, equal, or
without elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from irax_compiler import effects, mlir
from irax_compiler.mlir import Block, InsertionPoint, Operation, Value, dtype_of, shape_of
from irax_compiler.ops import comparison
from irax_compiler.ops.core import full, no_calls
from irax_compiler.passes.core import inputs
from irax_compiler.passes.optimize.integer_bounds import bounds
from irax_compiler.passes.optimize.simplify.numbering import equal_to
from irax_compiler.passes.rewriting import rewrites

_LARGEST = np.iinfo(np.int64).max


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


@rewrites("stablehlo.while")
def equal_carries(loop: Operation) -> Sequence[Value] | None:
    """A loop that carries equal values -> one that carries one of them: two counters, or values of
    which each step makes the same. IREE miscompiles those that start alike and are exchanged.
    """
    classes = equal_to(loop)
    kept = sorted(set(classes))
    if len(kept) == len(classes):
        return None
    live = _live(loop.regions[1].blocks[0], [True] * len(classes))
    results = _rebuilt(loop, kept, live, classes)
    return [results[kept.index(c)] for c in classes]


@rewrites("stablehlo.while")
def empty_carries(loop: Operation) -> Sequence[Value] | None:
    """A loop that carries arrays without elements -> one that does not: they are those that it
    begins with. Kernels of loops take none.
    """
    kept = [i for i, x in enumerate(loop.operands) if 0 not in shape_of(x)]
    if len(kept) == len(loop.operands):
        return None
    live = _live(loop.regions[1].blocks[0], [True] * len(loop.operands))
    results = dict(zip(kept, _rebuilt(loop, kept, live), strict=True))
    return [results.get(i, x) for i, x in enumerate(loop.operands)]


@rewrites(comparison.Compare)
def decided_comparison(op: comparison.Compare, x: Value, y: Value) -> Value | None:
    """A comparison of integers whose bounds decide it -> a constant. So a counter is known to be a
    place within an array.
    """
    if shape_of(x) or dtype_of(x).kind not in "iu" or op.comparison_direction in ("EQ", "NE"):
        return None
    ends = [[int(end) for end in bounds(each)] for each in (x, y)]
    if dtype_of(x) == np.uint64 and any(high == _LARGEST for _, high in ends):
        return None  # nothing is known of it, and it may be larger
    found = {bool(op.evaluate(no_calls, *map(np.array, pair))) for pair in product(*ends)}
    return full((), found.pop(), np.dtype(np.bool_)) if len(found) == 1 else None


def _rebuilt(
    loop: Operation, kept: Sequence[int], live: set[Value], classes: Sequence[int] = ()
) -> Sequence[Value]:
    """Rebuild a loop with some of its loop-carried values and the operations that are live. For
    each value that it carried, `classes` has the index of the kept one that it is equal to; others
    that are used do not change.
    """
    types = [loop.results[i].type for i in kept]
    new = mlir.emit("stablehlo.while", [loop.operands[i] for i in kept], {}, types, regions=2)
    for region, old in zip(new.regions, [r.blocks[0] for r in loop.regions], strict=True):
        block = Block.create_at_start(region, types)
        given = dict(enumerate(loop.operands)) | dict(zip(kept, block.arguments, strict=True))
        env: dict[Value, Value] = {
            x: given[c]
            for x, c in zip(old.arguments, classes or range(len(old.arguments)), strict=True)
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
