"""Loops and branches in the code of kernels, in MLIR's dialect scf."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Type, Value
from irax_compiler.ops.registers import Registers, index


def for_loop(
    start: Value,
    stop: Value,
    step: int,
    carried: Registers,
    body: Callable[[Value, list[Value]], Registers],
) -> list[Value]:
    """Build an `scf.for`, and return what it carries at its end."""
    types = [x.type for x in carried]
    loop = mlir.emit("scf.for", [start, stop, index(step), *carried], {}, types, regions=1)
    block = Block.create_at_start(loop.regions[0], [start.type, *types])
    with InsertionPoint(block):
        given: list[Value] = list(block.arguments)
        at, *inside = given
        mlir.emit("scf.yield", list(body(at, inside)), {}, [])
    return list(loop.results)


def for_each(first: Value, last: Value, body: Callable[[Value], None], step: int = 1) -> None:
    """Build a loop over the numbers from `first` to before `last`."""

    def visit(number: Value, _: Registers) -> Registers:
        body(number)
        return []

    for_loop(first, last, step, [], visit)


def counted(
    limit: int, by: int, start: Registers, body: Callable[[Value, list[Value]], Registers]
) -> list[Value]:
    """Build a loop over 0, `by`, 2 `by`, ... below `limit`. A single step is no loop."""
    if limit <= by:
        return list(body(index(0), list(start)))
    return for_loop(index(0), index(limit), by, start, body)


def while_loop(
    start: Registers,
    condition: Callable[[list[Value]], Value],
    body: Callable[[list[Value]], Registers],
) -> list[Value]:
    """Build an `scf.while`, which runs while the condition of the loop-carried values holds."""
    types = [x.type for x in start]
    made = mlir.emit("scf.while", start, {}, types, regions=2)
    before, after = (Block.create_at_start(region, types) for region in made.regions)
    with InsertionPoint(before):
        carried: list[Value] = list(before.arguments)
        mlir.emit("scf.condition", [condition(carried), *carried], {}, [])
    with InsertionPoint(after):
        inside: list[Value] = list(after.arguments)
        mlir.emit("scf.yield", body(inside), {}, [])
    return list(made.results)


def choose(
    condition: Value, branches: Sequence[Callable[[], Registers]], to: Sequence[Type]
) -> list[Value]:
    """Build an `scf.if` of two branches, and return what the chosen one does, of types `to`."""
    made = mlir.emit("scf.if", [condition], {}, to, regions=2)
    for region, branch in zip(made.regions, branches, strict=True):
        with InsertionPoint(Block.create_at_start(region, [])):
            mlir.emit("scf.yield", list(branch()), {}, [])
    return list(made.results)


def if_else(
    condition: Value, then: Callable[[], None], otherwise: Callable[[], None] | None = None
) -> None:
    """Build an `scf.if` without results."""
    made = mlir.emit("scf.if", [condition], {}, [], regions=2)
    for region, build in zip(made.regions, (then, otherwise), strict=True):
        if build is not None:
            with InsertionPoint(Block.create_at_start(region, [])):
                build()
                mlir.emit("scf.yield", [], {}, [])
