"""The parts of a program that a device runs at once, and the memory that they use, in IREE's
dialect stream once it has scheduled allocations.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from irax_compiler import mlir
from irax_compiler.mlir import Block, Operation, Value

_ALLOCA, _DEALLOCA = "stream.resource.alloca", "stream.resource.dealloca"
_EXECUTE, _SUBVIEW = "stream.cmd.execute", "stream.resource.subview"
_DISPATCH, _COPY = "stream.cmd.dispatch", "stream.cmd.copy"
_ONE_RANGE = tuple(f"stream.cmd.{name}" for name in ("fill", "flush", "invalidate", "discard"))
CONCURRENT = "stream.cmd.concurrent"
_EXTERNAL = "!stream.resource<external>"


@dataclass(frozen=True)
class Access:
    """A use of a range of memory by a command."""

    command: Operation
    resource: int
    """The number of the operand that is the memory; the operand after the next ones are its size,
    the offset, and, for `length`, the number of bytes."""
    size: int
    offset: int
    length: int


@dataclass(frozen=True)
class Slice:
    """An array between kernels: its bytes, and where it is used."""

    bytes: int
    packed: Value
    """The result of `stream.resource.pack` that is its offset."""
    accesses: Sequence[Access]


@dataclass(frozen=True)
class Result:
    """Memory of a result that nothing but the part uses until the part is complete."""

    memory: Value
    """The argument of the part's block."""
    size: Value
    bytes: int
    ranges: Sequence[tuple[Operation, int, int]]
    """The commands that use it, each with an offset and a number of bytes."""


@dataclass(frozen=True)
class Part:
    """A part of a program, with the arrays that IREE has packed into a block of memory."""

    pack: Operation
    execute: Operation
    slices: Sequence[Slice]
    results: Sequence[Result]

    @property
    def block(self) -> Block:
        return self.execute.regions[0].blocks[0]

    def steps(self) -> list[list[Operation]]:
        """Return the commands, those together that run at once, in order."""
        return [list(commands(x)) for x in _operations(self.block) if _is_step(x)]


def part_of(pack: Operation) -> Part | None:
    """Return the part whose arrays an operation packs; None where they are not of one part, or are
    used in ways that are not known here.
    """
    made = [x for x in mlir.users(pack.results[0]) if x.name == _ALLOCA]
    if len(made) != 1:
        return None
    memory = made[0].results[0]
    others = [x for x in mlir.users(memory) if x.name != _DEALLOCA]
    if len(others) != 1 or others[0].name != _EXECUTE:
        return None
    (execute,) = others
    captured, arguments = _captured(execute), list(execute.regions[0].blocks[0].arguments)
    if captured.count(memory) != 1:
        return None
    home = arguments[captured.index(memory)]
    found = _accesses(execute)
    if found is None:
        return None
    of_memory: dict[Value, list[Access]] = {}
    for access in found:
        of_memory.setdefault(access.command.operands[access.resource], []).append(access)
    slices = _slices(pack, of_memory.get(home, []))
    if slices is None:
        return None
    sizes = list(execute.operands)[len(arguments) : 2 * len(arguments)]
    only_divided = functools.cache(_is_only_divided)
    results = [
        result
        for x, argument, size in zip(captured, arguments, sizes, strict=True)
        if _is_result(x, execute, only_divided)
        and (result := _result(argument, size, of_memory.get(argument, [])))
    ]
    return Part(pack, execute, slices, results)


def commands(operation: Operation) -> Iterator[Operation]:
    """The commands of an operation: itself, or those of the wave that it is."""
    if operation.name != CONCURRENT:
        yield operation
        return
    for inner in _operations(operation.regions[0].blocks[0]):
        if _is_step(inner):
            yield from commands(inner)


def accesses_of(command: Operation) -> list[Access] | None:
    """Return the accesses of a command; None for one that is not known here."""
    if command.name == _DISPATCH:
        workload, numbers, count, *_ = mlir.segments(command)
        starts = [workload + numbers + i * count for i in range(4)]
        return [Access(command, *(start + i for start in starts)) for i in range(count)]
    if command.name == _COPY:
        return [Access(command, 0, 1, 2, 6), Access(command, 3, 4, 5, 6)]
    if command.name in _ONE_RANGE:
        return [Access(command, 0, 1, 2, 3)]
    return None


def _is_step(operation: Operation) -> bool:
    return operation.name.startswith("stream.cmd.")


def _operations(block: Block) -> list[Operation]:
    return [x.operation for x in block.operations]


def _captured(execute: Operation) -> list[Value]:
    """Return the memory that a part uses, in the order of its block's arguments."""
    return list(execute.operands)[: mlir.segments(execute)[0]]


def _accesses(execute: Operation) -> list[Access] | None:
    """Return all accesses in a part; None if there are some that are not known here."""
    found: list[Access] = []
    for operation in _operations(execute.regions[0].blocks[0]):
        for command in commands(operation) if _is_step(operation) else ():
            accesses = accesses_of(command)
            if accesses is None:
                return None
            found += accesses
    arguments = execute.regions[0].blocks[0].arguments
    uses = sum(1 for x in arguments for _ in x.uses)
    return found if uses == len(found) else None


def _slices(pack: Operation, accesses: Sequence[Access]) -> list[Slice] | None:
    """Return the arrays that are packed; None where an access is of none of them, or of one whose
    size is not known.
    """
    by_offset: dict[Value, list[Access]] = {}
    for access in accesses:
        by_offset.setdefault(access.command.operands[access.offset], []).append(access)
    found, known = [], 0
    for size, packed in zip(pack.operands, list(pack.results)[1:], strict=True):
        bytes_ = mlir.integer_of(size)
        offsets = list(_offsets(packed))
        own = [x for offset in offsets for x in by_offset.get(offset, ())]
        uses = sum(1 for offset in offsets for _ in offset.uses)
        if bytes_ is None or uses != len(own) + len(offsets) - 1:
            return None
        known += len(own)
        found.append(Slice(bytes_, packed, own))
    return found if known == len(accesses) else None


def _offsets(offset: Value) -> Iterator[Value]:
    """The offset of an array, and those that are computed from it."""
    yield offset
    for user in mlir.users(offset):
        if user.name == "arith.addi":
            yield from _offsets(user.results[0])


def _is_result(x: Value, execute: Operation, only_divided: Callable[[Operation], bool]) -> bool:
    """Return True for memory of a result that a part is the first to use. Many results may be parts
    of one allocation, so who calls asks once if that is `only_divided`.
    """
    view = mlir.definition(x)
    made = view
    if view is not None and view.name == _SUBVIEW:
        made = mlir.definition(view.operands[0])
    if made is None or made.name != _ALLOCA or str(x.type) != _EXTERNAL:
        return False
    if made.block != execute.block:  # in a loop, it might have been used before
        return False
    if made != view and not only_divided(made):
        return False
    return all(user == execute or _is_after(user, execute) for user in mlir.users(x))


def _is_only_divided(made: Operation) -> bool:
    """Return True if nothing but parts of an allocation are used."""
    return all(user.name == _SUBVIEW for user in mlir.users(made.results[0]))


def _result(argument: Value, size: Value, accesses: Sequence[Access]) -> Result | None:
    """Return a result with the accesses of it; None if its size is not known."""
    bytes_ = mlir.integer_of(size)
    if bytes_ is None:
        return None
    ranges = [(x.command, *_range(x, bytes_)) for x in accesses]
    return Result(argument, size, bytes_, ranges)


def _range(access: Access, size: int) -> tuple[int, int]:
    """Return the offset and the length of what is accessed of so many bytes: all, if not known."""
    operands = access.command.operands
    offset, length = (mlir.integer_of(operands[i]) for i in (access.offset, access.length))
    return (0, size) if offset is None or length is None else (offset, length)


def _is_after(operation: Operation, other: Operation) -> bool:
    """True if an operation is in another one's block, or in a region there, and comes later."""
    while operation.block != other.block:
        parent = operation.parent
        if parent is None or parent.name.endswith(".func"):
            return False
        operation = parent.operation
    return other.is_before_in_block(operation)
