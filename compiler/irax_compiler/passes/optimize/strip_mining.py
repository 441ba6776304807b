"""Counted loops as loops over strips of steps, each of which is a loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Operation, Value, bytes_of, dtype_of, shape_of
from irax_compiler.ops import comparison, elementwise, shape
from irax_compiler.ops.control_flow.trip_counts import Count
from irax_compiler.ops.core import full
from irax_compiler.ops.indexing.dynamic_slices import DynamicSlice, DynamicUpdateSlice
from irax_compiler.ops.loop_builders import row, while_loop, with_row
from irax_compiler.passes.core import walk

Step = Callable[..., Sequence[Value]]


def divided(
    loop: Operation, how: Count, size: int, arrays: Sequence[Value], most: int
) -> Operation | None:
    """Replace a counted loop by one over strips of `size` steps, and return the loop that is its
    body. Each strip has the rows of `arrays`, one for each step, that its steps read at the counter
    as an array, and makes an array of the rows that they write at the counter of a carried one.

    Return None, and leave the loop, where it does not count from 0 by 1, or carries more than
    `most` bytes otherwise: each strip would copy them.
    """
    stacks = stacks_of(loop, how)
    states = [i for i in range(len(loop.operands)) if i not in stacks and i != how.place]
    is_small = sum(bytes_of(loop.operands[i]) for i in states) <= most
    if (how.start, how.step) != (0, 1) or how.steps % size or not is_small:
        return None
    division = _Division(loop, how, size, arrays, states, stacks)
    with InsertionPoint(loop), loop.location:
        results, inner = division.build()
    mlir.replace(loop, results)
    return inner


def bytes_of_stacks(loop: Operation, how: Count) -> int:
    """Return the bytes of carried arrays of which each step writes a row."""
    return sum(bytes_of(loop.operands[i]) for i in stacks_of(loop, how))


@dataclass(frozen=True)
class _Division:
    """A loop, and what is known of its parts."""

    loop: Operation
    how: Count
    size: int
    arrays: Sequence[Value]
    """The arrays whose rows strips have as arrays of their own."""
    states: Sequence[int]
    """The places of carried values that are neither the counter nor stacks."""
    stacks: dict[int, Operation]
    """The places of arrays of which each step writes a row, and the operations that do."""

    def build(self) -> tuple[list[Value], Operation]:
        """Return the results of the loop, and the loop of a strip."""
        carried, places = list(self.loop.operands), (*self.states, *self.stacks)
        parts = [self._in_strips(x) for x in self.arrays]
        inner: list[Operation] = []

        def strip(number: Value, *state: Value) -> Sequence[Value]:
            rows = [row(x, number) for x in parts]
            found = self._strip(number, rows, state[: len(self.states)])
            made = mlir.definition(found[0])
            assert made is not None
            inner.append(made)
            ends, stacked = found[1 : 1 + len(self.states)], found[1 + len(self.states) :]
            wholes = zip(state[len(self.states) :], stacked, strict=True)
            return [self._next(number), *ends, *(with_row(x, y, number) for x, y in wholes)]

        start = [carried[i] for i in self.states]
        start += [self._in_strips(carried[i]) for i in self.stacks]
        results = self._counted(self.how.steps // self.size, strip, start)
        final = {self.how.place: self._number(self.how.steps)}
        for i, x in zip(places, results[1:], strict=True):
            final[i] = shape.reshape(x, shape_of(carried[i]))
        return [final[i] for i in range(len(carried))], inner[0]

    def _strip(
        self, number: Value, parts: Sequence[Value], state: Sequence[Value]
    ) -> Sequence[Value]:
        """Build the loop of a strip; return its counter, states and rows of stacks."""
        first = elementwise.multiply(number, self._number(self.size))
        carried = [self.loop.operands[i] for i in self.stacks]
        empty = [full((self.size, *shape_of(x)[1:]), 0, dtype_of(x)) for x in carried]
        rows = dict(zip(self.arrays, parts, strict=True))

        def step(own: Value, *values: Value) -> Sequence[Value]:
            places = (self.how.place, *self.states, *self.stacks)
            counter = elementwise.add(first, own)
            arguments = [self._body.arguments[i] for i in places]
            env: dict[Value, Value] = dict(zip(arguments, (counter, *values), strict=True))
            for operation in walk(self._body):
                self._copy(operation, own, rows, env)
            last = mlir.terminator(self._body).operands
            ends: list[Value] = [last[i] for i in places[1:]]
            return [self._next(own), *(env.get(x, x) for x in ends)]

        return self._counted(self.size, step, [*state, *empty])

    def _copy(
        self, operation: Operation, own: Value, rows: dict[Value, Value], env: dict[Value, Value]
    ) -> None:
        """Copy an operation of a step. Rows of strips are read and written at the counter of the
        strip.
        """
        if operation in self.stacks.values():
            stack, row, _, *others = (env.get(x, x) for x in operation.operands)
            env[operation.results[0]] = DynamicUpdateSlice()(stack, row, own, *others)
        elif self._reads_row(operation, rows):
            array, _, *others = (env.get(x, x) for x in operation.operands)
            part = DynamicSlice(shape_of(operation.results[0]))
            env[operation.results[0]] = part(rows[array], own, *others)
        else:
            mlir.copy(operation, env)

    def _reads_row(self, operation: Operation, rows: dict[Value, Value]) -> bool:
        if operation.name != DynamicSlice.name or operation.operands[0] not in rows:
            return False
        array, first, *_ = operation.operands
        is_row = shape_of(operation.results[0]) == (1, *shape_of(array)[1:])
        return is_row and first == self._body.arguments[self.how.place]

    @property
    def _body(self) -> Block:
        return self.loop.regions[1].blocks[0]

    def _counted(self, steps: int, step: Step, start: Sequence[Value]) -> Sequence[Value]:
        limit = self._number(steps)
        return while_loop(lambda i, *_: comparison.less(i, limit), step, [self._number(0), *start])

    def _in_strips(self, x: Value) -> Value:
        rest = shape_of(x)[1:]
        return shape.reshape(x, (self.how.steps // self.size, self.size, *rest))

    def _number(self, number: int) -> Value:
        return full((), number, dtype_of(self.loop.operands[self.how.place]))

    def _next(self, counter: Value) -> Value:
        return elementwise.add(counter, self._number(1))


def stacks_of(loop: Operation, how: Count) -> dict[int, Operation]:
    """Return the places of carried arrays of which each step writes the row at the counter, and
    nothing else uses, with the operations that do.
    """
    condition, body = (region.blocks[0] for region in loop.regions)
    found = {}
    for i, x in enumerate(mlir.terminator(body).operands):
        update, own = mlir.definition(x), body.arguments[i]
        if update is None or update.name != DynamicUpdateSlice.name or update.block != body:
            continue
        array, row, *starts = update.operands
        is_row = shape_of(row) == (1, *shape_of(array)[1:]) and shape_of(array)[0] == how.steps
        is_alone = mlir.num_uses(own) == mlir.num_uses(x) == 1
        is_alone = is_alone and not mlir.num_uses(condition.arguments[i])
        if is_row and is_alone and array == own and starts[0] == body.arguments[how.place]:
            found[i] = update
    return found
