"""The pass pin-update-sources, which keeps kernels from writing to places that are not ready for
that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value
from irax_compiler.passes.core import Pass, enclosing, nested, reached, register_pass
from irax_compiler.passes.kernels.ties import ties
from irax_compiler.passes.repairs.update_carries_in_place.copies import barrier
from irax_compiler.passes.repairs.update_carries_in_place.extents import operand_of_update
from irax_compiler.passes.repairs.update_carries_in_place.memory import FORMS, roots

_RESHAPES = ("flow.tensor.reshape", "flow.tensor.bitcast")
_UPDATE, _DISPATCH, _CALL = "flow.tensor.update", "flow.dispatch", "util.call"
_EMPTY = "flow.tensor.empty"


@register_pass
class PinUpdateSources(Pass):
    """Puts barriers on results of kernels of IREE's dialect flow that IREE must not have the kernel
    write to the place which an update copies them to.

    For that, the pass `emplace-allocations` of IREE 3.13 moves before the kernel what makes the
    place: operations after the kernel in its block, as far as their operands need them. It sees
    neither what regions of these use ("operand does not dominate this use"), nor that a call of the
    host would come earlier, nor who else reads an array that one of them or the kernel writes to:
    the reader would then find the new numbers. Of a kernel and an update in two blocks, it takes
    every argument of a block for a place that the kernel may use.

    Arrays that begin empty have no numbers for each other: each gets an empty array of its own, so
    that nobody seems to read what another one writes. IREE merges equal ones again, and then gives
    all but one of those that write there other memory.
    """

    name: ClassVar[str] = "pin-update-sources"

    def run(self, module: Module) -> None:
        for empty in [o for o in nested(module.operation) if o.name == _EMPTY]:
            _separate(empty)
        # What a step has found of operations holds until one of them changes.
        for update in list(_copies_of_kernels(module)):
            place = operand_of_update(update)
            sizes = list(update.operands)[place + 1 :]
            with InsertionPoint(update), update.location:
                update.operands[place] = barrier(update.operands[place], sizes)


def _copies_of_kernels(module: Module) -> Iterator[Operation]:
    """Yield the updates to whose places no kernel may write."""
    steps: dict[Block, _Step] = {}
    for update in nested(module.operation):
        if update.name != _UPDATE:
            continue
        kernel = _kernel(update.operands[operand_of_update(update)])
        if kernel is None:
            continue
        step = steps.setdefault(update.block, _Step(update.block))
        if kernel.block != update.block or not step.may_move(update, kernel):
            yield update


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


class _Step:
    """The operations of a block."""

    def __init__(self, block: Block) -> None:
        self._block = block

    @cached_property
    def _numbers(self) -> dict[Operation, int]:
        return {view.operation: i for i, view in enumerate(self._block.operations)}

    def may_move(self, update: Operation, kernel: Operation) -> bool:
        """True if what makes the place of an update may be moved before a kernel, which then writes
        there.
        """
        first = self._numbers[kernel]
        place = operand_of_update(update)
        others = [x for i, x in enumerate(update.operands) if i != place]
        moved = self._needed(others, first)
        if any(len(o.regions) or o.name == _CALL for o in moved):
            return False
        return not any(self._is_read(o, first) for o in (*moved, update))

    def _needed(self, values: Iterable[Value], first: int) -> set[Operation]:
        """Return the operations after the one of a number that values need, as operands tell."""

        def made_by(values: Iterable[Value]) -> list[Operation]:
            sources = (mlir.definition(x) for x in values)
            return [o for o in sources if o is not None and self._numbers.get(o, -1) > first]

        return reached(made_by(values), lambda operation: made_by(operation.operands))

    def _is_read(self, writer: Operation, first: int) -> bool:
        """True if memory that is written earlier then is used by what stays behind, or may."""
        last, needed = self._numbers[writer], self._needed(writer.operands, first)
        for operand in ties(writer).values():
            for root in roots(writer.operands[operand], self._block.arguments):
                for user in _users(root):
                    if user not in needed and first <= self._number(user) < last:
                        return True
        return False

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
