"""The most memory that a call of a program has allocated at a time, as IREE's compiler plans it.

After the phase `stream` a function allocates blocks of memory, each of which holds arrays of one
part of the program; control flow is branches between basic blocks. IREE's runtime frees a block of
memory after its last use, so the liveness of the SSA values tells what is allocated where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from irax_compiler import mlir
from irax_compiler.mlir import Block, Module, Operation, Value

_ALIASES = (
    *("stream.resource.subview", "stream.timepoint.await"),
    *("stream.tensor.import", "stream.tensor.export", "hal.buffer.subspan"),
)
"""Operations that return their operands' memory."""
_ALLOCATIONS = "stream.resource.alloca", "stream.resource.alloc", "hal.allocator.allocate"
_MEMORY = ("!stream.resource", "!hal.buffer")


def peak_memory(module: Module) -> int:
    """Return the most bytes that a call of one of the functions has allocated at a time.

    Args:
        module: a module after IREE's phase `stream`. Memory of a size that is not constant is not
            counted.
    """
    functions = {
        mlir.function_name(operation): operation
        for operation in module.operation.regions[0].blocks[0].operations
        if operation.operation.name == "util.func" and operation.regions[0].blocks
    }
    peaks: dict[str, int] = {}

    def of_callee(name: str) -> int:
        if name in functions and name not in peaks:
            peaks[name] = _Liveness(functions[name], of_callee).peak()
        return peaks.get(name, 0)

    return max(map(of_callee, functions), default=0)


class _Liveness:
    """The blocks of memory that are alive between the operations of a function."""

    def __init__(self, function: Operation, of_callee: Callable[[str], int]) -> None:
        self._blocks: list[Block] = list(function.regions[0].blocks)
        self._of_callee = of_callee
        self._roots: dict[Value, Value] = {}
        """The allocation, argument or result that a value is the memory of, if it is another."""
        self._sizes: dict[Value, int] = {}
        for block in self._blocks:
            for operation in block.operations:
                self._define(operation.operation)
        self._size_arguments()
        self._given = self._given_to_blocks()
        self._once = self._allocated_once()
        self._origins = self._origins_of_arguments()

    def peak(self) -> int:
        """Return the most bytes that are allocated at a time, with those of callees."""
        alive: dict[Block, set[Value]] = {block: set() for block in self._blocks}
        """The memory that is alive where a block begins."""
        most, changes = 0, True
        while changes:
            changes = False
            for block in reversed(self._blocks):
                after = {self._root(x) for x in self._after(block, alive)}
                before, bytes_ = self._before(block, after)
                most = max(most, bytes_)
                if before != alive[block]:
                    alive[block], changes = before, True
        return most

    def _define(self, operation: Operation) -> None:
        if operation.name in _ALLOCATIONS:
            self._sizes[operation.results[0]] = _constant(operation)
        elif operation.name in _ALIASES:
            sources = [x for x in operation.operands if _is_memory(x)]
            results = [x for x in operation.results if _is_memory(x)]
            self._roots.update(zip(results, sources, strict=True))

    def _size_arguments(self) -> None:
        """Give arguments of basic blocks the size of what branches pass."""
        changes = True
        while changes:
            changes = False
            for block in self._blocks:
                for given, argument in _passed(block):
                    size = self._sizes.get(self._root(given), 0)
                    if size > self._sizes.get(argument, 0):
                        self._sizes[argument], changes = size, True

    def _given_to_blocks(self) -> dict[Block, list[list[tuple[Value, Value]]]]:
        """Return for each basic block the memory that branches pass to it, with its arguments."""
        found: dict[Block, list[list[tuple[Value, Value]]]] = {block: [] for block in self._blocks}
        for block in self._blocks:
            for successor, given in _branches(block):
                found[successor].append(given)
        return found

    def _allocated_once(self) -> set[Value]:
        """Return the allocations of basic blocks that do not follow themselves."""
        after: dict[Block, set[Block]] = {
            block: set(mlir.terminator(block).successors) for block in self._blocks
        }
        changes = True
        while changes:
            changes = False
            for block, found in after.items():
                more = found.union(*(after[x] for x in found))
                if more != found:
                    after[block], changes = more, True
        alone = {block for block, found in after.items() if block not in found}
        made = {x: mlir.definition(x) for x in self._sizes}
        return {x for x, operation in made.items() if operation and operation.block in alone}

    def _origins_of_arguments(self) -> dict[Value, set[Value]]:
        """Return the allocations that arguments of basic blocks may be the memory of."""
        origins: dict[Value, set[Value]] = {}
        changes = True
        while changes:
            changes = False
            for block in self._blocks:
                for given, argument in _passed(block):
                    root, own = self._root(given), origins.setdefault(argument, set())
                    more = origins.get(root, {root} if root in self._sizes else set())
                    if not more <= own:
                        own |= more
                        changes = True
        return origins

    def _bytes(self, alive: set[Value]) -> int:
        """Return the bytes of memory that is alive. What is allocated once counts once, also where
        several arguments of basic blocks may be parts of it.
        """
        origins = {x: self._origins.get(x, {x}) for x in alive}
        once = set().union(*origins.values()) & self._once
        others = (found - self._once for found in origins.values())
        sizes = [max((self._sizes.get(x, 0) for x in found), default=0) for found in others]
        each = sum(self._sizes.get(x, 0) for x in alive)
        by_origin = sum(self._sizes[x] for x in once) + sum(sizes)
        return min(each, by_origin, self._bytes_by_branch(alive))

    def _bytes_by_branch(self, alive: set[Value]) -> int:
        """Return the bytes of memory that is alive: what a branch passes several times, once."""
        total = 0
        for block in self._blocks:
            arguments = alive.intersection(block.arguments)
            alive = alive - arguments
            ways = []
            for given in self._given[block]:
                passed = {self._root(x) for x, argument in given if argument in arguments}
                ways.append(sum(self._sizes.get(x, 0) for x in passed))
            total += max(ways, default=0)
        return total + sum(self._sizes.get(x, 0) for x in alive)

    def _root(self, value: Value) -> Value:
        while value in self._roots:
            value = self._roots[value]
        return value

    def _after(self, block: Block, alive: dict[Block, set[Value]]) -> Iterator[Value]:
        """The values alive where a basic block ends, but for operands of its last operation."""
        for successor in mlir.terminator(block).successors:
            arguments = set(successor.arguments)
            yield from (x for x in alive[successor] if x not in arguments)

    def _before(self, block: Block, alive: set[Value]) -> tuple[set[Value], int]:
        """The values alive where a basic block begins, and the most bytes inside of it."""
        most = 0
        for operation in reversed([op.operation for op in block.operations]):
            used = {self._root(x) for x in operation.operands if _is_memory(x)}
            made = {x for x in operation.results if _is_memory(x) and x not in self._roots}
            alive = alive | used
            bytes_ = self._bytes(alive | made)
            if operation.name == "util.call":
                bytes_ += self._of_callee(str(operation.attributes["callee"]).removeprefix("@"))
            most = max(most, bytes_)
            alive = alive - made
        return alive - set(block.arguments), most


def _is_memory(value: Value) -> bool:
    return str(value.type).startswith(_MEMORY)


def _constant(allocation: Operation) -> int:
    """The number of bytes that an operation allocates, or 0 if it is computed."""
    sizes = (mlir.integer_of(x) for x in allocation.operands if str(x.type) == "index")
    return next((size for size in sizes if size is not None), 0)


def _passed(block: Block) -> Iterator[tuple[Value, Value]]:
    """Memory that the last operation of a basic block passes on, and the arguments it becomes."""
    for _, given in _branches(block):
        yield from given


def _branches(block: Block) -> Iterator[tuple[Block, list[tuple[Value, Value]]]]:
    """Yield the successors of a basic block, with the memory that is passed to each."""
    branch = mlir.terminator(block)
    given: Sequence[Value] = list(branch.operands)
    for successor in reversed(branch.successors):
        arguments = list(successor.arguments)
        passed = given[len(given) - len(arguments) :]
        given = given[: len(given) - len(arguments)]
        pairs = zip(passed, arguments, strict=True)
        yield successor, [pair for pair in pairs if _is_memory(pair[0])]
