"""Kernels that write the next value of an array that a loop carries over the array."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.passes.core import nested
from irax_compiler.passes.kernels.ties import tie, ties
from irax_compiler.passes.repairs.flow.copies import after, bytes_of
from irax_compiler.passes.repairs.flow.extents import count_unknown
from irax_compiler.passes.repairs.flow.loops import LOOPS, Loop, loop_of
from irax_compiler.passes.repairs.flow.memory import is_array, unshaped, uses_of
from irax_compiler.passes.repairs.flow.order import Order
from irax_compiler.passes.repairs.update_carries_in_place.update_carries_in_place import (
    allows,
    owned,
)

LEAST = 1 << 14
"""The bytes from which an array is worth a copy before the loop."""
_LATE = 4
"""The most dispatches that a kernel waits for."""

Numbers = tuple[int, int]
"""The number of a result of a dispatch, and that of an operand over which it can be written."""


@dataclass
class _Update:
    """A dispatch that may write the next value of a carried array over it."""

    x: Value
    dispatch: Operation
    numbers: Numbers
    waiting: Operation | None = None
    """An operation that keeps the dispatch from writing before others have read the array."""

    def apply(self) -> None:
        """Say that the result is in the memory of the operand."""
        result, operand = self.numbers
        tie(self.dispatch, {**ties(self.dispatch), result: operand})

    def undo(self) -> None:
        """Leave the dispatch as it was."""
        result, operand = self.numbers
        tie(self.dispatch, {i: x for i, x in ties(self.dispatch).items() if i != result})
        if self.waiting is not None:
            self.dispatch.operands[operand] = self.waiting.operands[0]
            self.waiting.erase()

    def wait_for(self, others: Sequence[Operation]) -> None:
        """Let the dispatch wait for others."""
        if others:
            number = self.numbers[1]
            with InsertionPoint(self.dispatch), self.dispatch.location:
                found = after(self.dispatch.operands[number], [o.results[0] for o in others], ())
            self.dispatch.operands[number] = found
            self.waiting = mlir.definition(found)


def updates(
    module: Module, pairs_of: Callable[[Operation], Iterable[Numbers]]
) -> Iterator[tuple[Operation, Numbers]]:
    """Have dispatches write next values of arrays over these where the pass
    `update-carries-in-place` lets them, and yield which results are in the memory of which
    operands. `pairs_of` has those that are possible by a dispatch's kernel.
    """
    for view in list(module.body.operations):
        function = view.operation
        if function.name != "util.func" or not allows(function):
            continue
        for operation in [o for o in nested(function) if o.name in LOOPS]:
            loop = loop_of(operation)
            for update in [] if loop is None else _of_loop(loop, pairs_of):
                yield update.dispatch, update.numbers


def _of_loop(loop: Loop, pairs_of: Callable[[Operation], Iterable[Numbers]]) -> list[_Update]:
    found: list[_Update] = []
    order = Order(loop.body)
    for update in list(_possible(loop, pairs_of)):
        late = _late(update, loop, order)
        if late is not None:
            update.wait_for(late)
            update.apply()
            found.append(update)
    while found:
        own = owned(loop)
        refused = [update for update in found if update.x not in own]
        if not refused:
            break
        for update in refused:
            update.undo()
            found.remove(update)
    return found


def _possible(loop: Loop, pairs_of: Callable[[Operation], Iterable[Numbers]]) -> Iterator[_Update]:
    """Yield a dispatch of the step for each array whose next value it can write over that."""
    taken: set[tuple[Value, int]] = set()
    for x, following in zip(loop.arguments, loop.following(), strict=True):
        last = unshaped(following)
        made = mlir.definition(last)
        if made is None or made.name != "flow.dispatch" or made.block != loop.body:
            continue
        if not is_array(x) or count_unknown(x) or bytes_of(x) < LEAST:
            continue
        for result, operand in pairs_of(made):
            is_own = made.results[result] == last and unshaped(made.operands[operand]) == x
            if is_own and (made.results[0], operand) not in taken:
                taken.add((made.results[0], operand))
                yield _Update(x, made, (result, operand))
                break


def _late(update: _Update, loop: Loop, order: Order) -> list[Operation] | None:
    """Return the dispatches that read an array, and for whose results the update of it does not
    wait; None if it cannot.
    """
    own = update.dispatch
    readers = [o for o in uses_of(update.x, loop.body).readers if o != own]
    late = [o for o in readers if not order.precedes(o.results[0], own.results[0])]
    can_wait = all(o.block == own.block and o.is_before_in_block(own) for o in late)
    return late if can_wait and len(late) <= _LATE else None
