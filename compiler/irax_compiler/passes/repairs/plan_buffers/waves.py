"""Commands that run at once, and those of them that run one after the other to need less memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Module, Operation, Value
from irax_compiler.passes.repairs.plan_buffers.packing import Free, Item, Used, aligned
from irax_compiler.passes.repairs.plan_buffers.parts import Part, accesses_of

LEAST = 1 << 18
"""The bytes of a command from which it may wait for another one: the wait is short beside it."""

_ENTRIES = "entry_points"

Steps = Sequence[Sequence[Operation]]


def lifetimes(part: Part, steps: Steps) -> tuple[list[Item], list[Free]]:
    """Return the arrays of a part, and the memory of its results, with the steps of their uses."""
    at = {command: i for i, step in enumerate(steps) for command in step}
    items = []
    for x in part.slices:
        used = [at[access.command] for access in x.accesses] or [0]
        items.append(Item(x.bytes, min(used), max(used)))
    results = []
    for result in part.results:
        first: dict[tuple[int, int], int] = {}
        for command, offset, size in result.ranges:
            first[offset, size] = min(first.get((offset, size), len(steps)), at[command])
        uses = [Used(offset, size, step) for (offset, size), step in first.items()]
        results.append(Free(result.bytes, uses))
    return items, results


def in_less_memory(part: Part, may_wait: Callable[[Operation], bool]) -> list[list[Operation]]:
    """Return the steps of a part, where commands that would run at once run one after the other as
    long as the step that needs the most memory then needs less.
    """
    steps = [list(step) for step in part.steps()]
    while True:
        items, results = lifetimes(part, steps)
        needs = _needs(items, results, len(steps))
        most = max(needs, default=0)
        worst = needs.index(most) if needs else 0
        if not needs or len(steps[worst]) == 1 or not all(map(may_wait, steps[worst])):
            return steps
        apart = [[command] for command in _ordered(part, steps, worst)]
        divided = [*steps[:worst], *apart, *steps[worst + 1 :]]
        now = _needs(*lifetimes(part, divided), len(divided))
        if max(now[worst : worst + len(apart)]) >= most:
            return steps
        steps = divided


def _needs(items: Sequence[Item], results: Sequence[Free], count: int) -> list[int]:
    """Return the bytes that are alive in each step."""
    changes = [0] * (count + 1)
    for item in items:
        changes[item.first] += aligned(item.size)
        changes[item.last + 1] -= aligned(item.size)
    for result in results:
        for used in result.used:
            changes[used.first] += used.size
    needs, total = [], 0
    for change in changes[:-1]:
        total += change
        needs.append(total)
    return needs


def _ordered(part: Part, steps: Steps, step: int) -> list[Operation]:
    """Return the commands of a step so that those which free the most memory come first."""
    items, _ = lifetimes(part, steps)
    freed = dict.fromkeys(steps[step], 0)
    for slice_, item in zip(part.slices, items, strict=True):
        users = {access.command for access in slice_.accesses}
        here = [command for command in steps[step] if command in users]
        if item.last == step and item.first < step and len(here) == 1:
            freed[here[0]] += item.size
        elif item.first == step and item.last > step:
            for command in here:
                freed[command] -= item.size
    return sorted(steps[step], key=lambda command: -freed[command])


def waits(module: Module) -> Callable[[Operation], bool]:
    """Return a function that tells if a command may wait for others: workers share it, and it uses
    so much memory that the wait is short beside it.
    """
    alone: set[str] = set()
    for executable in [x.operation for x in module.body.operations]:
        if executable.name == "stream.executable":
            for export in [x.operation for x in executable.regions[0].blocks[0].operations]:
                if export.name == f"{executable.name}.export" and _is_of_one_workgroup(export):
                    names = (mlir.function_name(x) for x in (executable, export))
                    alone.add("@{}::@{}".format(*names))

    def may_wait(command: Operation) -> bool:
        entries: Any = command.attributes["entry_points"] if _ENTRIES in command.attributes else []
        lengths = [command.operands[x.length] for x in accesses_of(command) or ()]
        used = sum(mlir.integer_of(x) or 0 for x in lengths)
        return used >= LEAST and not any(str(entry) in alone for entry in entries)

    return may_wait


def _is_of_one_workgroup(export: Operation) -> bool:
    blocks = export.regions[0].blocks
    if not len(blocks):
        return False
    counts: list[Value] = list(mlir.terminator(blocks[0]).operands)
    return all(mlir.integer_of(x) == 1 for x in counts)
