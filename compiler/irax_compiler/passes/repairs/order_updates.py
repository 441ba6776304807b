"""The pass order-updates, which has kernels read an array before another writes over it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, Module, Operation, Value
from irax_compiler.passes.core import Pass, nested, outside_kernels, register_pass

_PART, _GROUP = "stream.async.execute", "stream.async.concurrent"
_DISPATCH = "stream.async.dispatch"
_TO_TARGET = {f"stream.async.{name}" for name in ("copy", "fill", "update")}
"""The operations whose first operand is the array that they write to."""


@register_pass
class OrderUpdates(Pass):
    """Moves what reads an array before what writes over it, in the parts of a program whose order
    IREE has found, in its dialect stream.

    IREE 3.13 puts kernels that run at once into a group, right behind what the group uses. It knows
    that one of them writes over an array that another kernel reads, and puts that kernel into an
    earlier group; but if that has no other member, the kernel stays where it is, behind the group.
    """

    name: ClassVar[str] = "order-updates"

    def run(self, module: Module) -> bool:
        is_changed = False
        for part in (o for o in outside_kernels(module) if o.name == _PART):
            is_changed |= _ordered(part.regions[0].blocks[0])
        return is_changed


def _ordered(block: Block) -> bool:
    """Order the operations of a block; return True if one was moved."""
    is_changed = False
    while (late := _late(block)) is not None:
        reader, writer = late
        for operation in _with_sources(block, reader, writer):
            operation.move_before(writer)
        is_changed = True
    return is_changed


def _late(block: Block) -> tuple[Operation, Operation] | None:
    """Return an operation that reads an array behind another that writes over it, and that."""
    places = {view.operation: place for place, view in enumerate(block.operations)}
    for writer, place in places.items():
        for x in _overwritten(writer):
            for use in x.uses:
                reader = use.owner.operation
                if places.get(reader, place) > place:
                    return reader, writer
    return None


def _overwritten(operation: Operation) -> Iterator[Value]:
    """The values that an operation of a part, or a member of a group, writes over."""
    yield from _own(operation)
    if operation.name == _GROUP:
        arguments: list[Any] = list(operation.regions[0].blocks[0].arguments)
        for x in (x for member in nested(operation) for x in _own(member)):
            if x in arguments:
                yield operation.operands[arguments.index(x)]


def _own(operation: Operation) -> Iterator[Value]:
    if operation.name in _TO_TARGET:
        yield operation.operands[0]
    if operation.name == _DISPATCH and "tied_operands" in operation.attributes:
        tied: Any = operation.attributes["tied_operands"]
        for number in (x.value for x in tied):
            if number >= 0:  # by the workload's sizes, which come first
                yield operation.operands[mlir.segments(operation)[0] + number]


def _with_sources(block: Block, reader: Operation, writer: Operation) -> list[Operation]:
    """Return an operation, and before it those behind the writer whose results it uses."""
    places = {view.operation: place for place, view in enumerate(block.operations)}
    needed: set[Operation] = set()
    pending = [reader]
    while pending:
        operation = pending.pop()
        if places.get(operation, -1) > places[writer] and operation not in needed:
            needed.add(operation)
            sources = map(mlir.definition, (*operation.operands, *mlir.captured(operation)))
            pending += [source for source in sources if source is not None]
    return sorted(needed, key=places.__getitem__)
