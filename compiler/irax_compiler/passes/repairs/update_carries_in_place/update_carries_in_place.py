"""The pass update-carries-in-place, which has IREE update the arrays that a loop carries where they
are.

IREE 3.13 loses the device of what a loop carries, and copies each array in each step, as if from
another device. A barrier that names the device ends that. IREE takes what the barrier returns for a
new array of the step, and so lets the last operation that uses it write into its memory. The memory
is that of the loop-carried array, so this is right only under conditions that IREE does not check:

1. Nothing else has that memory. An array that a step writes to begins in memory of its own, and
   each next value is in the memory of a loop-carried array that is written to, or in that of a
   dispatch of this step, and in none that the next value of another array may be in. Of others,
   no two begin with one value.
2. What reads the memory is complete before it is written. In a step, of two uses one of which
   writes, one needs the result of the other. In the next step, what writes needs a value that
   needed all uses of this step; where it does not, the next value is made to need them.
3. A kernel does not read memory that it writes to. IREE lets a dispatch write its result into the
   place that an update copies it to; a barrier keeps those apart that read the array. What an
   update moves within an array is copied before.
4. Only kernels use the memory. IREE does not wait for loop-carried values that the host reads,
   unless it copies them. A barrier on one array may end the copies of another. So the functions of
   the host get a kernel's copy of an array or number, where the loop carries larger ones. In
   functions in which the host reads any other value that a loop carries, or is called in a branch,
   arrays that begin with one value are kept apart, and no more is done.

The pass runs between IREE's phases flow and stream. Nothing is fused after that, and each operation
says which operand its result is in the memory of, so that the conditions can be decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.passes.core import Pass, enclosing, nested, register_pass
from irax_compiler.passes.kernels.ties import ties
from irax_compiler.passes.repairs.flow.copies import (
    after,
    barrier,
    bytes_of,
    copied,
)
from irax_compiler.passes.repairs.flow.extents import (
    count_unknown,
    extents,
    operand_of_update,
)
from irax_compiler.passes.repairs.flow.loops import LOOPS, Loop, loop_of
from irax_compiler.passes.repairs.flow.memory import (
    Operand,
    Uses,
    host_reads_of_carried,
    is_array,
    roots,
    unshaped,
    uses_of,
)
from irax_compiler.passes.repairs.flow.order import Order
from irax_compiler.passes.repairs.pin_splats import calls_host_in_branch

LARGE = 1 << 12
"""The bytes from which an array that a step writes to is worth a copy before the loop."""
_LATE = 8
"""The most dispatches that the end of a step may wait for."""
_GIVEN_TO_HOST = "hal.tensor.export"
_MADE = ("arith.constant", "flow.tensor.splat", "flow.dispatch")
_BARRIER = "flow.tensor.barrier"


@register_pass
class UpdateCarriesInPlace(Pass):
    """Puts barriers on the arrays that loops of IREE's dialect flow carry, so that IREE does not
    copy them in each step. It does so where no other value is in the memory that a step writes to.
    """

    name: ClassVar[str] = "update-carries-in-place"

    def run(self, module: Module) -> None:
        copies = 0
        for view in list(module.body.operations):
            if view.operation.name != "util.func":
                continue
            loops = [o for o in nested(view.operation) if o.name in LOOPS]
            reads = host_reads_of_carried(view.operation)
            if not allows(view.operation):
                for loop in filter(None, map(loop_of, loops)):
                    copies = _Carries(loop, copies).keep_apart()
                continue
            for one in reads:
                _give_copy(one, copies)
                copies += 1
            inside = dict.fromkeys(o for loop in loops for o in nested(loop))
            for update in list(filter(_reads_itself, inside)):
                _copy_update(update, copies)
                copies += 1
            for operation in loops:
                loop = loop_of(operation)
                if loop is not None:
                    copies = _Carries(loop, copies).rewrite()


def allows(function: Operation) -> bool:
    """True if the arrays that loops of a function carry may be updated in place."""
    reads = host_reads_of_carried(function)
    return all(map(_is_worth_a_copy, reads)) and not calls_host_in_branch(function)


def owned(loop: Loop) -> set[Value]:
    """Return the arrays that a loop would carry in memory of their own, where steps write."""
    return _Carries(loop, 0).owned()


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
        self.extents = {
            x: extents(x, loop.operation, loop.operation.operands[place])
            for x, place in zip(loop.arguments, loop.begins, strict=True)
        }
        self.late: dict[Value, list[Operation]] = {}

    def keep_apart(self) -> int:
        """Let no two arrays begin with one value, and return the number of copies."""
        for i in self._repeated():
            if self.extents[self.loop.arguments[i]] is not None:
                self._copy_first(i)
        self._copy_shared()
        return self.copies

    def owned(self) -> set[Value]:
        """Return the arrays that are in memory of their own."""
        if any(self.extents[self.loop.arguments[i]] is None for i in self._repeated()):
            return set()
        return self._apart({x for x in self.uses if self._is_known(x) and self._may_own(x)})

    def rewrite(self) -> int:
        """Put barriers on arrays, and return the number of copies."""
        known = {x for x in self.uses if self._is_known(x)}
        own = self._apart({x for x in known if self._may_own(x)})
        repeated = self._repeated()
        if any(self.extents[self.loop.arguments[i]] is None for i in repeated):
            return self.keep_apart()
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
                _put_barrier(argument, self.extents[x] or ())
        for i in set(repeated) & set(self._repeated()):
            self._copy_first(i)
        self._copy_shared()
        return self.copies

    def _copy_shared(self) -> None:
        """Have arrays begin as copies of those that the program makes and uses after the loop, too.
        IREE makes an array with what uses it: one that is filled with a number in each group of
        kernels, others in the last such group. Where that also uses what the loop returns, it
        fails, unless the loop has the array behind a barrier: "circular dependency".
        """
        loop = self.loop.operation
        for i, x in enumerate(self.loop.arguments):
            first = loop.operands[self.loop.begins[i]]
            source = mlir.definition(unshaped(first))
            if source is None or source.name not in _MADE or self.extents[x] is None:
                continue
            is_held = all(user.name == _BARRIER for user in mlir.users(x))
            is_array = isinstance(x.type, mlir.RankedTensorType)
            if is_array and not is_held and _is_used_after(first, loop):
                self._copy_first(i)

    def _repeated(self) -> list[int]:
        """Return the arrays that begin with the value of an earlier one, by their number. IREE
        takes both for one, if each is updated in place.
        """
        first = [self.loop.operation.operands[place] for place in self.loop.begins]
        return [
            i
            for i, x in enumerate(self.loop.arguments)
            if x in self.uses and first[i] in first[:i] and not self._is_fixed(x)
        ]

    def _is_fixed(self, x: Value) -> bool:
        """True for an array that stays as it is."""
        return self.following[x] == {x} and self.uses[x].is_known and not self.uses[x].writers

    def _is_known(self, x: Value) -> bool:
        """True if all that uses an array is known, and what its sizes are."""
        return self.uses[x].is_known and self.extents[x] is not None and self._is_tested(x)

    def _may_own(self, x: Value) -> bool:
        """True if memory of its own is worth a copy before the loop, and a step writes in order."""
        uses = self.uses[x]
        if not uses.writers:
            return self.following[x] != {x}
        is_large = bytes_of(x) >= LARGE or count_unknown(x) > 0
        return is_large and _is_ordered(uses, self.order)

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
        if not _is_own(operation.operands[place], operation):
            self._copy_first(number)

    def _copy_first(self, number: int) -> None:
        operation, place = self.loop.operation, self.loop.begins[number]
        sizes = self.extents[self.loop.arguments[number]] or ()
        with InsertionPoint(operation), operation.location:
            operation.operands[place] = copied(operation.operands[place], self.copies, sizes)
        self.copies += 1

    def _wait(self, number: int) -> None:
        """Let an array's next value need what reads it."""
        late = self.late[self.loop.arguments[number]]
        if late:
            last, place = mlir.terminator(self.loop.body), self.loop.results[number]
            sizes = self.extents[self.loop.arguments[number]] or ()
            with InsertionPoint(last), last.location:
                last.operands[place] = after(last.operands[place], list(map(_key, late)), sizes)


def _is_own(x: Value, loop: Operation) -> bool:
    """True if a dispatch makes a value for a loop alone, in memory of its own."""
    source = mlir.definition(x)
    if source is None or source.block != loop.block or mlir.num_uses(x) > 1:
        return False
    if source.name == "flow.tensor.reshape":
        return _is_own(source.operands[0], loop)
    results: list[Value] = list(source.results)
    return source.name == "flow.dispatch" and results.index(x) not in ties(source)


def _is_used_after(x: Value, loop: Operation) -> bool:
    """True if what comes after a loop, or after an operation around it, uses a value."""
    around = list(_within_function(loop))
    users = [o for user in mlir.users(x) for o in _within_function(user)]
    return any(
        o.block == user.block and o.is_before_in_block(user) for o in around for user in users
    )


def _within_function(operation: Operation) -> Iterator[Operation]:
    """Yield an operation, and those of its function that it is in."""
    yield operation
    yield from takewhile(lambda o: o.name != "util.func", enclosing(operation))


def _key(operation: Operation) -> Value:
    return operation.results[0]


def _is_worth_a_copy(read: Operand) -> bool:
    """True if a function of the host reads an array, and a loop around carries a larger one."""
    operation, number = read
    x = operation.operands[number]
    if operation.name != _GIVEN_TO_HOST:
        return False
    loops = [loop_of(o) for o in enclosing(operation) if o.name in LOOPS]
    carried = [y for loop in loops if loop is not None for y in loop.arguments if is_array(y)]
    if any(map(count_unknown, (x, *carried))):
        return False
    return any(bytes_of(y) > bytes_of(x) for y in carried)


def _reads_itself(operation: Operation) -> bool:
    """True if an operation writes a part of an array to another part of it."""
    if operation.name != "flow.tensor.update":
        return False
    update = operation.operands[operand_of_update(operation)]
    return bool(roots(operation.operands[0], ()) & roots(update, ()))


def _copy_update(update: Operation, number: int) -> None:
    """Have an update write a copy of what it would write."""
    place = operand_of_update(update)
    sizes = list(update.operands)[place + 1 :]
    with InsertionPoint(update), update.location:
        update.operands[place] = copied(update.operands[place], number, sizes)


def _give_copy(read: Operand, number: int) -> None:
    """Have the host read a copy of an array. Copies are told apart by their numbers."""
    operation, place = read
    with InsertionPoint(operation), operation.location:
        operation.operands[place] = copied(operation.operands[place], number, ())


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
        if writer.name != "flow.tensor.update":
            continue
        place = operand_of_update(writer)
        update = writer.operands[place]
        if read & roots(update, ()):
            sizes = list(writer.operands)[place + 1 :]
            with InsertionPoint(writer), writer.location:
                writer.operands[place] = barrier(update, sizes)


def _put_barrier(x: Any, sizes: Sequence[Value]) -> None:
    """Have all users of a loop-carried array use the barrier."""
    if not mlir.num_uses(x):
        return
    with InsertionPoint.at_block_begin(x.owner), x.owner.owner.operation.location:
        held = barrier(x, sizes)
    mlir.replace_elsewhere(x, held)
