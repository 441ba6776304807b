"""The memory that values of IREE's dialect flow may be in, and what reads and writes it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Block, Operation, Value
from irax_compiler.passes.core import enclosing, nested, reached
from irax_compiler.passes.kernels.ties import ties
from irax_compiler.passes.repairs.flow.loops import LOOPS

FORMS = {
    *("flow.tensor.reshape", "flow.tensor.bitcast", "flow.tensor.slice", "flow.tensor.barrier"),
}
"""Operations whose result may be in the memory of their first operand."""
Operand = tuple[Operation, int]
"""An operation, and the number of one of its operands."""

_KERNELS = {*FORMS, "flow.dispatch", "flow.tensor.update"}


def is_array(x: Value) -> bool:
    """True for an array with elements and dimensions. The host reads those without."""
    if not isinstance(x.type, mlir.RankedTensorType):
        return False
    extents: Any = x.type.shape
    return len(extents) > 0 and 0 not in extents


def unshaped(x: Value) -> Value:
    """Return the value that reshapes made into another."""
    made = mlir.definition(x)
    while made is not None and made.name == "flow.tensor.reshape":
        x = made.operands[0]
        made = mlir.definition(x)
    return x


def roots(x: Value, arguments: Collection[Value]) -> set[Value]:
    """Return the values whose memory a value may be in: some of the arguments, results in memory
    of their own, and values from outside.
    """
    found: set[Value] = set()

    def sources(value: Value) -> list[Value]:
        known = [] if value in arguments else _sources(value)
        if not known:
            found.add(value)
        return known

    reached([x], sources)
    return found


def _sources(x: Value) -> list[Value]:
    """Return the values one of which a value may be, or be in the memory of; none if it is in
    memory of its own.
    """
    operation = mlir.definition(x)
    if operation is None:
        return _sources_of_argument(x)
    results: list[Value] = list(operation.results)
    number = results.index(x)
    if operation.name == "scf.if":
        ends = (mlir.terminator(region.blocks[0]) for region in operation.regions)
        return [end.operands[number] for end in ends]
    if operation.name == "scf.for":
        end = mlir.terminator(operation.regions[0].blocks[0])
        return [operation.operands[3 + number], end.operands[number]]
    if operation.name == "scf.while":
        return [mlir.terminator(operation.regions[0].blocks[0]).operands[1 + number]]
    if operation.name in FORMS:
        return [operation.operands[0]]
    tied = ties(operation)
    return [operation.operands[tied[number]]] if number in tied else []


def _sources_of_argument(x: Any) -> list[Value]:
    block, number = x.owner, x.arg_number
    loop: Operation = block.owner.operation
    if loop.name == "scf.for":
        if number == 0:
            return []
        end = mlir.terminator(loop.regions[0].blocks[0])
        return [loop.operands[2 + number], end.operands[number - 1]]
    if loop.name == "scf.while":
        before, after = (region.blocks[0] for region in loop.regions)
        if block == after:
            return [mlir.terminator(before).operands[1 + number]]
        return [loop.operands[number], mlir.terminator(after).operands[number]]
    return []


def host_reads_of_carried(function: Operation) -> list[Operand]:
    """Return the operands of operations that are no kernels which a loop carries, in the form that
    the loop has them or another.
    """
    return [
        (operation, number)
        for operation in nested(function)
        if operation.name not in _KERNELS and not operation.name.startswith("scf.")
        for number, x in enumerate(operation.operands)
        if isinstance(x.type, mlir.RankedTensorType) and _is_carried(x)
    ]


def _is_carried(x: Value) -> bool:
    operation = mlir.definition(x)
    if operation is None:
        return mlir.owner_name(x) in LOOPS
    if operation.name not in {*FORMS, "scf.if"}:
        return False
    return any(map(_is_carried, _sources(x)))


@dataclass
class Uses:
    """The operations of a step that use some memory."""

    writers: list[Operation] = field(default_factory=list)
    readers: list[Operation] = field(default_factory=list)
    aliases: set[Value] = field(default_factory=set)
    """The values that may be in that memory."""
    is_known: bool = True
    """False if others than IREE's kernels may use it, or a nested loop carries it."""


def uses_of(x: Value, body: Block) -> Uses:
    """Find the operations of a step that use the memory of a value."""
    uses = Uses()
    pending = [x]
    while pending:
        value = pending.pop()
        if value in uses.aliases:
            continue
        uses.aliases.add(value)
        for use in value.uses:
            pending += _follow(use.owner.operation, use.operand_number, body, uses)
    for one in uses.writers:
        if sum(x in uses.aliases for x in one.operands) > 1:
            uses.is_known = False
    if uses.writers and any(_is_repeated(o, body) for o in (*uses.writers, *uses.readers)):
        uses.is_known = False
    return uses


def _follow(user: Operation, number: int, body: Block, uses: Uses) -> list[Value]:
    """Note a use of an operand, and return the results that may be in the operand's memory."""
    if user.name in FORMS:
        return [user.results[0]]
    if user.name in ("flow.dispatch", "flow.tensor.update"):
        tied = [i for i, operand in ties(user).items() if operand == number]
        kind = uses.writers if tied else uses.readers
        if user not in kind:
            kind.append(user)
        return [user.results[i] for i in tied]
    if user.block == body and user == mlir.terminator(body):
        return []
    outer = next(iter(enclosing(user)))
    if user.name == "scf.yield" and outer.name == "scf.if":
        return [outer.results[number]]
    uses.is_known = False
    return []


def _is_repeated(operation: Operation, body: Block) -> bool:
    """True if an operation is in a loop inside of a block."""
    owner: Any = body.owner
    for outer in enclosing(operation):
        if outer == owner.operation:
            return False
        if outer.name in LOOPS:
            return True
    return False
