"""The pass pin-update-sources, which keeps kernels from writing to places that are not ready for
that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value
from irax_compiler.passes.core import Pass, enclosing, nested, reached, register_pass
from irax_compiler.passes.kernels.ties import ties
from irax_compiler.passes.repairs.flow.copies import after, barrier
from irax_compiler.passes.repairs.flow.extents import operand_of_update
from irax_compiler.passes.repairs.flow.memory import FORMS, roots

_RESHAPES = ("flow.tensor.reshape", "flow.tensor.bitcast")
_UPDATE, _DISPATCH, _CALL = "flow.tensor.update", "flow.dispatch", "util.call"
_EMPTY = "flow.tensor.empty"


@register_pass
class PinUpdateSources(Pass):
    """Puts barriers on results of kernels of IREE's dialect flow that an update copies, where IREE
    must not have the kernel write in the place of the copy.

    For that, the pass `emplace-allocations` of IREE 3.13 moves before the kernel what makes the
    place: operations after the kernel in its block, as far as their operands need them. It sees
    neither what regions of these use ("operand does not dominate this use"), nor that a call of the
    host would come earlier, nor who else reads an array that one of them or the kernel writes to:
    the reader would then find the new numbers. Of a kernel and an update in two blocks, it takes
    every argument of a block for a place that the kernel may use.

    A barrier begins another group of kernels. IREE puts what it waits for into the group before,
    even where that writes to an array which the later group copies. So in a block with such arrays
    it is a kernel that does nothing.

    Arrays that begin empty have no numbers for each other: each gets an empty array of its own, so
    that nobody seems to read what another one writes. IREE merges equal ones again, and then gives
    all but one of those that write there other memory.
    """

    name: ClassVar[str] = "pin-update-sources"

    def run(self, module: Module) -> None:
        for empty in [o for o in nested(module.operation) if o.name == _EMPTY]:
            _separate(empty)
        # What a step has found of operations holds until one of them changes.
        for update, is_shared in list(_copies_of_kernels(module)):
            place = operand_of_update(update)
            sizes = list(update.operands)[place + 1 :]
            with InsertionPoint(update), update.location:
                x = update.operands[place]
                update.operands[place] = after(x, (), sizes) if is_shared else barrier(x, sizes)


def _copies_of_kernels(module: Module) -> Iterator[tuple[Operation, bool]]:
    """Yield the updates to whose places no kernel may write, and whether in their block one writes
    to an array that another reads.
    """
    kernels: dict[Block, dict[Operation, Operation]] = {}
    elsewhere: dict[Block, list[Operation]] = {}
    for update in nested(module.operation):
        if update.name == _UPDATE:
            kernel = _kernel(update.operands[operand_of_update(update)])
            if kernel is not None and kernel.block == update.block:
                kernels.setdefault(update.block, {})[update] = kernel
            elif kernel is not None:
                elsewhere.setdefault(update.block, []).append(update)
    for block in dict.fromkeys((*kernels, *elsewhere)):
        inside, step = kernels.get(block, {}), _Step(block)
        movable = step.movable(inside)
        pinned = (*elsewhere.get(block, ()), *(o for o in inside if o not in movable))
        yield from ((update, step.is_shared) for update in pinned)


def _separate(empty: Operation) -> None:
    """Give each further use of an empty array one of its own."""
    for use in list(empty.results[0].uses)[1:]:
        own: dict[Value, Value] = {}
        with InsertionPoint(empty):
            mlir.copy(empty, own)
        use.owner.operation.operands[use.operand_number] = own[empty.results[0]]


def _kernel(x: Value) -> Operation | None:
    """Return the kernel that makes a value, perhaps in another form, in memory of its own."""
    source = mlir.definition(x)
    while source is not None and source.name in _RESHAPES:
        source = mlir.definition(source.operands[0])
    is_kernel = source is not None and source.name == _DISPATCH and not ties(source)
    return source if is_kernel else None


@dataclass(frozen=True)
class _Before:
    """The dependencies of an operation on others of its block, as operands tell, itself included.
    Operations have numbers in their order; sets of numbers are the bits of integers.
    """

    needed: int = 0
    """The set of them."""
    read: int = 0
    """The set of those that use memory which one of them writes to later."""
    unready: int = -1
    """The last operation that uses such memory, though what writes to it does not need it."""
    fixed: int = -1
    """The last of them that cannot be moved."""

    @classmethod
    def all(cls, parts: Iterable[_Before]) -> _Before:
        """Return the union of dependencies."""
        needed, read, unready, fixed = 0, 0, -1, -1
        for part in parts:
            needed, read = needed | part.needed, read | part.read
            unready, fixed = max(unready, part.unready), max(fixed, part.fixed)
        return cls(needed, read, unready, fixed)

    def may_follow(self, number: int) -> bool:
        """True if the operations that come after one with a number may be moved before it."""
        is_read = self.unready >= number or self.read >> number & 1
        return self.fixed <= number and not is_read


class _Step:
    """The operations of a block."""

    def __init__(self, block: Block) -> None:
        self._operations = [view.operation for view in block.operations]
        self._numbers = {operation: i for i, operation in enumerate(self._operations)}
        self._arguments = set(block.arguments)
        self._roots: dict[Value, set[Value]] = {}
        self._users: dict[Value, tuple[int, int]] = {}
        self.is_shared = False
        """True if an operation writes to memory that another uses, which it does not need."""

    def movable(self, kernels: Mapping[Operation, Operation]) -> set[Operation]:
        """Return the updates, of some that copy results of kernels, of which what makes the place
        may be moved before the kernel, which then writes there.

        It goes over the block once, and keeps what is known of an operation up to its last use.
        """
        sources = [[self._source(x) for x in o.operands] for o in self._operations]
        last = {i: number for number, found in enumerate(sources) for i in found}
        known: dict[int, _Before] = {-1: _Before()}
        found: set[Operation] = set()
        for number, operation in enumerate(self._operations):
            before = _Before.all(known[i] for i in sources[number])
            direct, inside = self._readers(operation, number)
            unready = ((direct & ~before.needed) | inside).bit_length() - 1
            self.is_shared |= unready >= 0
            is_fixed = len(operation.regions) > 0 or operation.name == _CALL
            own = _Before(1 << number, direct | inside, unready, number if is_fixed else -1)
            known[number] = _Before.all((before, own))
            if operation in kernels:
                place = operand_of_update(operation)
                others = [known[x] for i, x in enumerate(sources[number]) if i != place]
                moved = _Before.all((*others, replace(own, fixed=-1)))
                if moved.may_follow(self._numbers[kernels[operation]]):
                    found.add(operation)
            for i in (*sources[number], number):
                if i >= 0 and last.get(i, number) == number:
                    known.pop(i, None)
        return found

    def _source(self, x: Value) -> int:
        """Return the number of the operation of the block that makes a value; -1 without one."""
        source = mlir.definition(x)
        return -1 if source is None else self._numbers.get(source, -1)

    def _readers(self, writer: Operation, number: int) -> tuple[int, int]:
        """Return the operations before one that use memory to which it writes: those of the block,
        and those that have one inside.
        """
        direct, inside = 0, 0
        for operand in ties(writer).values():
            for root in self._roots_of(writer.operands[operand]):
                found = self._users_of(root)
                direct, inside = direct | found[0], inside | found[1]
        earlier = (1 << number) - 1
        return direct & earlier, inside & earlier

    def _roots_of(self, x: Value) -> set[Value]:
        """Return the values whose memory a value may be in. Those of a chain of updates are known
        for all of them.
        """
        chain: list[Value] = []
        while x not in self._roots and x not in self._arguments:
            source = mlir.definition(x)
            operand = None if source is None else self._operand_of(source, x)
            if operand is None:
                break
            chain.append(x)
            x = operand
        if x not in self._roots:
            self._roots[x] = roots(x, self._arguments)
        self._roots.update((y, self._roots[x]) for y in chain)
        return self._roots[x]

    def _operand_of(self, operation: Operation, result: Value) -> Value | None:
        """Return the operand in whose memory a result of an operation without regions is."""
        if operation.name in FORMS:
            return operation.operands[0]
        results: list[Value] = list(operation.results)
        operand = ties(operation).get(results.index(result))
        return None if operand is None else operation.operands[operand]

    def _users_of(self, root: Value) -> tuple[int, int]:
        """Return the operations that use memory: those of the block, and those that have one
        inside.
        """
        if root not in self._users:
            direct, inside = 0, 0
            for user in _users(root):
                if user in self._numbers:
                    direct |= 1 << self._numbers[user]
                elif (number := self._number(user)) >= 0:
                    inside |= 1 << number
            self._users[root] = direct, inside
        return self._users[root]

    def _number(self, operation: Any) -> int:
        """Return the number of the operation of the block that one is or is in; -1 without one."""
        while operation is not None and operation.operation not in self._numbers:
            operation = operation.operation.parent
        return -1 if operation is None else self._numbers[operation.operation]


def _users(x: Value) -> set[Operation]:
    """Return the operations that use the memory of a value."""

    def further(value: Value) -> list[Value]:
        uses = ((use.owner.operation, use.operand_number) for use in value.uses)
        return [y for user, number in uses for y in _in_same_memory(user, number)]

    users = {use.owner.operation for value in reached([x], further) for use in value.uses}
    return {user for user in users if user.name not in FORMS}


def _in_same_memory(user: Operation, number: int) -> list[Value]:
    """Return the results of an operation that may be in the memory of an operand."""
    if user.name in FORMS:
        return [user.results[0]]
    if user.name.startswith("scf."):
        outer = next(iter(enclosing(user))) if user.name == "scf.yield" else user
        return [x for x in outer.results if x.type == user.operands[number].type]
    return [user.results[i] for i, operand in ties(user).items() if operand == number]
