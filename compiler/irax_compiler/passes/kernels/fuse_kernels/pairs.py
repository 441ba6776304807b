"""Pairs of dispatches that are joined."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import gcd, prod

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value, bytes_of
from irax_compiler.ops.shape import Reshape
from irax_compiler.passes.core import users_in, walk
from irax_compiler.passes.kernels.code.loops import for_each
from irax_compiler.passes.kernels.code.places import times
from irax_compiler.passes.kernels.division import Division
from irax_compiler.passes.kernels.executables import dispatch, share, size_of_share, workers_of
from irax_compiler.passes.kernels.fuse_kernels.kernels import DISPATCH, Kernel, Kernels, name_of
from irax_compiler.passes.kernels.growth import running_blocks
from irax_compiler.passes.kernels.ties import ties
from irax_compiler.passes.rewriting import without_reshapes

PARTS = 4
"""The parts for each worker, where there are as many workgroups: some begin late."""
LARGEST = 1 << 18
"""The most bytes of what the second uses of the first. With more, what a dispatch less saves is
nothing beside the work, and IREE has less freedom to plan memory."""
LONGEST = 4096
"""The most operations of a kernel: LLVM takes long for larger ones."""
MOST = 30
"""The most arrays of a kernel; IREE binds 32."""
STACK = 1 << 19
"""The most bytes of a workgroup's own memory: the flags of the target allow twice as many."""


def join(module: Module, workers: int) -> None:
    """Join the dispatches of a module, for some number of workgroups that run at a time; 0 means
    one per processor.
    """
    kernels = Kernels(module)
    for function in mlir.functions(module).values():
        own = workers or workers_of(function)
        for block in running_blocks(function):
            for operation in walk(block):
                last = operation if operation.name == DISPATCH else None
                while last is not None:
                    last = _joined(last, kernels, own)
    kernels.erase_unused()


def _joined(second: Operation, kernels: Kernels, workers: int) -> Operation | None:
    """Make one dispatch of a dispatch and one whose results it uses, and return it; None if there
    is none that suits.
    """
    sources = (mlir.definition(without_reshapes(x)) for x in second.operands)
    for first in [x for x in sources if x is not None and x.name == DISPATCH]:
        pair = _Pair.of(first, second, kernels, workers)
        if pair is not None:
            return pair.replaced(kernels)
    return None


@dataclass(frozen=True)
class _Pair:
    """Two dispatches that can be one."""

    first: _Dispatch
    second: _Dispatch
    parts: int
    """The number of parts."""

    @classmethod
    def of(
        cls, first: Operation, second: Operation, kernels: Kernels, workers: int
    ) -> _Pair | None:
        if not _are_next(first, second) or _between(first, second) > LARGEST:
            return None
        one, other = kernels.of(first), kernels.of(second)
        if one is None or other is None:
            return None
        pair = cls(_Dispatch(first, one), _Dispatch(second, other), 0)
        pair = replace(pair, parts=pair._most_parts())
        groups = max(prod(one.counts), prod(other.counts))
        is_wide = 1 < pair.parts >= min(groups, PARTS * workers)
        is_small = (
            one.size + other.size <= LONGEST
            and one.stack + other.stack <= STACK
            and len(pair._memories) <= MOST
        )
        return pair if is_wide and is_small and not pair._is_overwritten else None

    def _most_parts(self) -> int:
        """Return the number of parts in which both go through what the first gives."""
        one, other = self.first, self.second
        found = [one.kernel.division.items, other.kernel.division.items]
        for x, parts in zip(other.operation.operands, other.kernel.division.parts, strict=False):
            if without_reshapes(x) in one.results:
                found += [parts, one.parts[one.memory(without_reshapes(x))]]
        return gcd(*found)

    @property
    def _is_overwritten(self) -> bool:
        """True if one writes over an array that something else reads, or that has another type."""
        one, other = self.first, self.second
        read = {without_reshapes(x) for x in one.operation.operands}
        for x, y in other.overwritten.items():
            array, memory = without_reshapes(y), self._memory(y)
            is_other = not self._is_given(memory) and x.type != memory.type
            if (
                is_other
                or array in read
                or (array in one.results and not _is_for(array, other.operation))
            ):
                return True
        read = {without_reshapes(x) for x in other.operation.operands}
        return any(without_reshapes(x) in read for x in one.overwritten.values())

    @cached_property
    def _memories(self) -> list[Value]:
        """The arrays that are read, then those that are given in memory of their own, by the values
        that stand for them.
        """
        memories = [*self.first.bound, *map(self._memory, self.second.bound)]
        return sorted(dict.fromkeys(memories), key=self._is_given)

    def _memory(self, x: Value) -> Value:
        array = without_reshapes(x)
        return self.first.memory(array) if array in self.first.results else x

    def _is_given(self, memory: Value) -> bool:
        return memory in (*self.first.results, *self.second.results)

    @property
    def _results(self) -> dict[Value, Value]:
        """The memories of the values that the dispatch gives. What the second has overwritten of
        the first's results is none.
        """
        found = {x: self._memory(self.second.memory(x)) for x in self.second.results}
        others = {x: self.first.memory(x) for x in self.first.results}
        return found | {x: y for x, y in others.items() if y not in found.values()}

    def replaced(self, kernels: Kernels) -> Operation:
        """Replace both by one dispatch, and return it."""
        one, other, memories = self.first, self.second, self._memories
        forms = self._forms()
        operands = [x for x in memories if not self._is_given(x)]
        results = sorted(self._results, key=lambda x: memories.index(self._results[x]))
        ties = {
            i: operands.index(self._results[x])
            for i, x in enumerate(results)
            if self._results[x] in operands
        }
        groups = max(prod(one.kernel.counts), prod(other.kernel.counts))
        together = size_of_share(self.parts, groups)
        counts = -(-self.parts // together), 1
        with InsertionPoint(other.operation), other.operation.location:
            name = kernels.add(counts, self._division, partial(self._build, together))
            made = dispatch(name, operands, [x.type for x in results], ties)
        kernels.joined |= {name_of(one.operation), name_of(other.operation)}
        for x, new in zip(results, made, strict=True):
            x.replace_all_uses_with(new)
        operation = mlir.definition(made[0])
        assert operation is not None
        for unused in (other.operation, *forms, one.operation):
            unused.erase()
        return operation

    @property
    def _division(self) -> Division:
        parts = []
        for x in self._memories:
            found = [n for y, n in self.first.parts.items() if y == x]
            found += [n for y, n in self.second.parts.items() if self._memory(y) == x]
            parts.append(gcd(self.parts, *found))
        return Division(self.parts, tuple(parts))

    def _build(self, together: int, functions: Block, bindings: list[Value]) -> None:
        known = dict(zip(self._memories, bindings, strict=True))
        names: set[str] = set()
        code: list[tuple[Kernel, dict[Value, Value], int]] = []
        for x in (self.first, self.second):
            for function in x.kernel.others:
                if mlir.function_name(function) not in names:
                    names.add(mlir.function_name(function))
                    function.clone(ip=InsertionPoint.at_block_begin(functions))
            arguments = mlir.arguments(x.kernel.function)
            env = {
                argument: known[self._memory(y)]
                for argument, y in zip(arguments, x.bound, strict=True)
            }
            x.kernel.begin(env)
            code.append((x.kernel, env, x.kernel.division.items // self.parts))

        def part(number: Value) -> None:
            for kernel, env, count in code:
                kernel.items(times(number, count), count, env)

        for_each(*share(self.parts, together, 0), part)

    def _forms(self) -> list[Operation]:
        """Return the reshapes for the second of what the first gives, the last one first."""
        block, second = self.second.operation.block, self.second.operation
        users = [user for x in self.first.results for user in users_in(block, x)]
        found = [o for o in users if o.name == Reshape.name and o.is_before_in_block(second)]
        for operation in found:
            users = users_in(block, operation.results[0])
            found += [o for o in users if o != second]
        return found[::-1]


@dataclass(frozen=True)
class _Dispatch:
    """A dispatch of a kernel."""

    operation: Operation
    kernel: Kernel

    @cached_property
    def results(self) -> list[Value]:
        return list(self.operation.results)

    @cached_property
    def overwritten(self) -> dict[Value, Value]:
        """The operands in whose memory results are, by the results."""
        numbers = ties(self.operation)
        return {self.results[i]: self.operation.operands[k] for i, k in numbers.items()}

    @cached_property
    def bound(self) -> list[Value]:
        """The values that stand for the arrays that are bound: operands, and results in memory of
        their own.
        """
        return [*self.operation.operands, *(x for x in self.results if x not in self.overwritten)]

    def memory(self, result: Value) -> Value:
        """Return the value that stands for the memory of a result."""
        return self.overwritten.get(result, result)

    @cached_property
    def parts(self) -> dict[Value, int]:
        """The numbers of parts of the arrays."""
        found: dict[Value, int] = {}
        for x, parts in zip(self.bound, self.kernel.division.parts, strict=True):
            found[x] = gcd(parts, found.get(x, 0))
        return found


def _are_next(first: Operation, second: Operation) -> bool:
    """True if a dispatch can be moved down to another one of its block, since nothing in between
    uses its results.
    """
    if first.block != second.block:
        return False
    users = [user for x in first.results for user in users_in(second.block, x)]
    return all(
        user == second
        or second.is_before_in_block(user)
        or (user.name == Reshape.name and _is_for(user.results[0], second))
        for user in users
    )


def _between(first: Operation, second: Operation) -> int:
    """Return the bytes of what the second uses of the first."""
    used, given = map(without_reshapes, second.operands), list(first.results)
    arrays = [x for x in dict.fromkeys(used) if x in given]
    return sum(map(bytes_of, arrays))


def _is_for(x: Value, user: Operation) -> bool:
    """True if nothing else than an operation uses a value, in another shape or not."""
    found = users_in(user.block, x)
    return all(o == user or (o.name == Reshape.name and _is_for(o.results[0], user)) for o in found)
