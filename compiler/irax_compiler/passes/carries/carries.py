"""The pass carries, which has IREE update the arrays that a loop carries where they are.

IREE 3.13 loses the device of what a loop carries, and copies each array in each step, as if from
another device. A barrier that names the device ends that. IREE takes what the barrier returns for a
new array of the step, and so lets the last operation that uses it write into its memory. The memory
is that of the loop-carried array, so this is right only under conditions that IREE does not check:

1. Nothing else has that memory. An array that a step writes to begins in memory of its own, and
   each next value is in the memory of a loop-carried array that is written to, or in that of a
   dispatch of this step, and in none that the next value of another array may be in.
2. What reads the memory is complete before it is written. In a step, of two uses one of which
   writes, one needs the result of the other. In the next step, what writes needs a value that
   needed all uses of this step; where it does not, the next value is made to need them.
3. A kernel does not read memory that it writes to. IREE lets a dispatch write its result into the
   place that an update copies it to; a barrier keeps those apart that read the array.
4. Only kernels use the memory. IREE does not wait for loop-carried values that the host reads,
   unless it copies them. A barrier on one array may end the copies of another. So the functions of
   the host get a kernel's copy of an array, where the loop carries larger ones. Functions stay as
   they are in which the host reads any other value that a loop carries.

The pass runs between IREE's phases flow and stream. Nothing is fused after that, and each operation
says which operand its result is in the memory of, so that the conditions can be decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.mlir.types import UNKNOWN_SIZE
from irax_compiler.ops.registers import index
from irax_compiler.passes.carries.loops import LOOPS, Loop, loop_of
from irax_compiler.passes.carries.memory import (
    Operand,
    Uses,
    host_reads_of_carried,
    is_array,
    roots,
    ties,
    uses_of,
)
from irax_compiler.passes.carries.order import Order
from irax_compiler.passes.core import Pass, enclosing, nested, register_pass
from irax_compiler.passes.executables import add_executable, dispatch, memory
from irax_compiler.passes.fills import barrier
from irax_compiler.passes.moves.kernels import in_registers, load, store

LARGE = 1 << 12
"""The bytes from which an array that a step writes to is worth a copy before the loop."""
_LATE = 8
"""The most dispatches that the end of a step may wait for."""
_GIVEN_TO_HOST = "hal.tensor.export"
_BYTES = np.dtype(np.int8)


@register_pass
@dataclass
class Carries(Pass):
    """Puts barriers on the arrays that loops of IREE's dialect flow carry, so that IREE does not
    copy them in each step. It does so where no other value is in the memory that a step writes to.
    """

    name: ClassVar[str] = "carries"

    def run(self, module: Module) -> None:
        copies = 0
        for view in list(module.body.operations):
            if view.operation.name != "util.func":
                continue
            loops = [o for o in nested(view.operation) if o.name in LOOPS]
            if any(_is_of_unknown_size(x) for loop in loops for x in loop.results):
                continue
            reads = host_reads_of_carried(view.operation)
            if not all(map(_is_worth_a_copy, reads)):
                continue
            for one in reads:
                _give_copy(one, copies)
                copies += 1
            for operation in loops:
                loop = loop_of(operation)
                if loop is not None:
                    rewriting = _Carries(loop, copies)
                    rewriting.rewrite()
                    copies = rewriting.copies


def _is_of_unknown_size(x: Value) -> bool:
    return isinstance(x.type, mlir.RankedTensorType) and UNKNOWN_SIZE in x.type.shape


class _Carries:
    """The rewrite of a loop."""

    def __init__(self, loop: Loop, copies: int) -> None:
        self.loop = loop
        self.copies = copies
        """The number of copies that the module has."""
        self.order = Order(loop.body)
        self.following = {
            x: roots(value, loop.arguments)
            for x, value in zip(loop.arguments, loop.following(), strict=True)
            if is_array(x)
        }
        self.uses = {x: uses_of(x, loop.body) for x in self.following}
        self.late: dict[Value, list[Operation]] = {}

    def rewrite(self) -> None:
        """Put barriers on arrays."""
        known = {x for x, uses in self.uses.items() if uses.is_known and self._is_tested(x)}
        own = self._apart({x for x in known if self._may_own(x)})
        moved = {y for following in self.following.values() for y in following}
        for i, x in enumerate(self.loop.arguments):
            is_written = x in known and bool(self.uses[x].writers)
            if x in own:
                if is_written:
                    _keep_apart(self.uses[x])
                    self._wait(i)
                if is_written or x in moved:
                    self._own(i)
            elif x not in known or is_written or not all(map(self._is_new, self.following[x])):
                continue
            for argument in (x, *self.loop.tested[i : i + 1]):
                _put_barrier(argument)

    def _may_own(self, x: Value) -> bool:
        """True if memory of its own is worth a copy before the loop, and a step writes in order."""
        uses = self.uses[x]
        if not uses.writers:
            return self.following[x] != {x}
        return _bytes(x) >= LARGE and _is_ordered(uses, self.order)

    def _is_tested(self, argument: Value) -> bool:
        """True if the condition, where it is apart, reads an array by kernels alone, for which it
        waits.
        """
        loop = self.loop
        if not loop.tested:
            return True
        tested: Any = loop.tested[list(loop.arguments).index(argument)]
        uses, order = uses_of(tested, tested.owner), Order(tested.owner)
        return (
            uses.is_known
            and not uses.writers
            and loop.condition is not None
            and all(order.precedes(_key(one), loop.condition) for one in uses.readers)
        )

    def _apart(self, own: set[Value]) -> set[Value]:
        """Return the arrays of some whose next values are in memory that nothing else has, and
        complete before the next step writes there.
        """
        while True:
            still = {x for x in own if self._is_apart(x, own)}
            if still == own:
                return own
            own = still

    def _is_apart(self, x: Value, own: set[Value]) -> bool:
        following, writers = self.following[x], self.uses[x].writers
        if not all(y in own or self._is_new(y) for y in following):
            return False
        if writers and any(y in own and not self.uses[y].writers for y in following):
            return False  # the uses of the step before would have to be waited for as well
        if any(following & others for y, others in self.following.items() if y != x):
            return False
        return not writers or self._can_wait(x)

    def _can_wait(self, x: Value) -> bool:
        """True if the next step can wait for all that uses the memory of an array's next value."""
        uses = [uses_of(y, self.loop.body) for y in self.following[x]]
        late = [o for found in uses for o in self._late(found, self.uses[x].writers)]
        self.late[x] = late
        is_outside = any(operation.block != self.loop.body for operation in late)
        return all(found.is_known for found in uses) and not is_outside and len(late) <= _LATE

    def _late(self, uses: Uses, writers: Sequence[Operation]) -> list[Operation]:
        """Return the uses that may be incomplete when the next step begins to write."""
        precedes, condition = self.order.precedes, self.loop.condition
        steps = list(zip(self.loop.arguments, self.loop.following(), strict=True))
        late = []
        for one in (*uses.writers, *uses.readers):
            waited = {x for x, following in steps if precedes(_key(one), following)}
            is_waited = all(any(precedes(x, _key(w)) for x in waited) for w in writers)
            is_read = condition is not None and precedes(_key(one), condition)
            if not is_waited and not is_read:
                late.append(one)
        return late

    def _is_new(self, x: Value) -> bool:
        """True for the result of a dispatch that each step runs anew."""
        source = mlir.definition(x)
        return source is not None and source.name == "flow.dispatch" and self.order.varies(x)

    def _own(self, number: int) -> None:
        """Let an array begin in memory of its own."""
        operation, place = self.loop.operation, self.loop.begins[number]
        first = operation.operands[place]
        source = mlir.definition(first)
        if (
            source is not None
            and source.name == "flow.dispatch"
            and source.block == operation.block
            and mlir.num_uses(first) == 1
            and list(source.results).index(first) not in ties(source)
        ):
            return
        with InsertionPoint(operation), operation.location:
            operation.operands[place] = _copied(first, self.copies)
        self.copies += 1

    def _wait(self, number: int) -> None:
        """Let an array's next value need what reads it."""
        late = self.late[self.loop.arguments[number]]
        if late:
            last, place = mlir.terminator(self.loop.body), self.loop.results[number]
            with InsertionPoint(last), last.location:
                last.operands[place] = _after(last.operands[place], [_key(o) for o in late])


def _key(operation: Operation) -> Value:
    return operation.results[0]


def _bytes(x: Value) -> int:
    type_: Any = x.type
    return prod(type_.shape) * mlir.dtype_of(x).itemsize


def _is_worth_a_copy(read: Operand) -> bool:
    """True if a function of the host reads an array, and a loop around carries a larger one."""
    operation, number = read
    x = operation.operands[number]
    if operation.name != _GIVEN_TO_HOST or not is_array(x):
        return False
    loops = [loop_of(o) for o in enclosing(operation) if o.name in LOOPS]
    carried = [y for loop in loops if loop is not None for y in loop.arguments if is_array(y)]
    return any(_bytes(y) > _bytes(x) for y in carried)


def _give_copy(read: Operand, number: int) -> None:
    """Have the host read a copy of an array. Copies are told apart by their numbers."""
    operation, place = read
    with InsertionPoint(operation), operation.location:
        operation.operands[place] = _copied(operation.operands[place], number)


def _is_ordered(uses: Uses, order: Order) -> bool:
    """True if in a step each use is complete before the next one that writes."""
    every = [*uses.writers, *uses.readers]
    return all(
        order.precedes(_key(one), _key(writer)) or order.precedes(_key(writer), _key(one))
        for writer in uses.writers
        for one in every
    )


def _keep_apart(uses: Uses) -> None:
    """Put barriers between updates and the dispatches that compute what they write from the same
    memory.
    """
    read = {x for reader in uses.readers for x in reader.results}
    for writer in uses.writers:
        last = len(writer.operands) - 1
        if writer.name == "flow.tensor.update" and read & roots(writer.operands[last], ()):
            with InsertionPoint(writer), writer.location:
                writer.operands[last] = barrier(writer.operands[last])


def _put_barrier(x: Any) -> None:
    """Have all users of a loop-carried array use the barrier."""
    if not mlir.num_uses(x):
        return
    with InsertionPoint.at_block_begin(x.owner), x.owner.owner.operation.location:
        held = barrier(x)
    source = mlir.definition(held)
    assert source is not None
    x.replace_all_uses_except(held, [source])


def _copied(x: Value, number: int) -> Value:
    """Build a copy by a kernel, which IREE does not remove."""
    size, width = _bytes(x), 64
    name = f"copy_{size}"

    def build(_: Any, bindings: list[Value]) -> None:
        source, target = (memory(binding, size, _BYTES) for binding in bindings)
        in_registers(size, width, lambda at, n: store(load(source, at, n), target, at))

    module = mlir.open_module()
    if mlir.unique_name(module, name) == name:
        add_executable(module, name, (1, 1), 2, build, workload=1)
    return dispatch(name, [x], [x.type], workload=[index(number)])[0]


def _after(x: Value, others: Sequence[Value]) -> Value:
    """Build a value that is there when others are, in the same memory."""
    name = f"after_{len(others)}"
    module = mlir.open_module()
    if mlir.unique_name(module, name) == name:
        add_executable(module, name, (1, 1), 1 + len(others), lambda _, bindings: None)
    return dispatch(name, [x, *others], [x.type], {0: 0})[0]
