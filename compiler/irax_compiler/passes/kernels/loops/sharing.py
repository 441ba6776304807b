"""The memory of the values in a kernel: which of them share it.

A loop carries an array from step to step in one memory; an update may write to the memory of what
it updates, and a branch may return the memory that it was given. Where values share memory, each
must be read before the next is written. That is verified by a walk over the loop in the order in
which it runs, which knows the value that each memory holds at that time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

from irax_compiler import mlir
from irax_compiler.mlir import Block, Operation, Value, shape_of
from irax_compiler.ops.barrier import barrier
from irax_compiler.ops.indexing.dynamic_slices import DynamicSlice, DynamicUpdateSlice
from irax_compiler.ops.indexing.gather_scatter import Scatter
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.core import nested, walk
from irax_compiler.passes.kernels.loops.fusion import Group, groups, is_large, shared_extents

Pair = tuple[Value, Value]
Contents = dict[Value, Value | None]
"""The value that each memory holds; None if that depends on the way to here."""


def is_update(operation: Operation) -> bool:
    """Return True for an operation that writes parts of an array."""
    return operation.name in (DynamicUpdateSlice.name, Scatter.name)


@dataclass(frozen=True)
class Sharing:
    """The values of a loop that are kept in memory, by the memory that they share."""

    memories: dict[Value, Value] = field(default_factory=dict)
    """One of the values that share a value's memory, which stands for all of these."""
    updated: frozenset[Value] = frozenset()
    """The memories of which parts are written."""

    @classmethod
    def of(cls, loop: Operation) -> Sharing:
        """Return which values of a loop share memory: all that can."""
        small = _updated_components(loop)
        while True:
            found = _Shared(loop, {x for component in small for x in component})
            refused = found.share()
            kept = [c for c in small if not any(x in c or y in c for x, y in refused)]
            if len(kept) == len(small):
                return cls({x: found.memory(x) for x in found.values}, found.updated())
            small = kept

    def is_updated(self, x: Value) -> bool:
        """True if parts of a value's memory are written."""
        return x in self.memories and self.memories[x] in self.updated

    def is_in_place(self, operation: Operation) -> bool:
        """True if an update writes to the memory of what it updates."""
        x, result = operation.operands[0], operation.results[0]
        is_kept = x in self.memories and result in self.memories
        return is_kept and self.memories[result] == self.memories[x]


def _updated_components(loop: Operation) -> list[set[Value]]:
    """Return sets of small values that could share a memory, with updates among them: indexing
    memory takes less than indexing registers.
    """
    united = _Union()
    updates = [o.results[0] for o in nested(loop) if is_update(o)]
    for x, y in (*_carried_pairs(loop), *_pairs(loop)):
        if not is_large(x) and prod(shape_of(x)) > 1:
            united.unite(x, y)
    for x in updates:  # those that share with nobody, as in a condition
        if not is_large(x):
            united.find(x)
    components: dict[Value, set[Value]] = {}
    for x in united.parents:
        components.setdefault(united.find(x), set()).add(x)
    return [c for c in components.values() if not c.isdisjoint(updates)]


# ---- values that could share ---------------------------------------------------------------------


def _whiles(loop: Operation) -> Iterator[Operation]:
    yield from (o for o in (loop, *nested(loop)) if o.name == "stablehlo.while")


def _carried_pairs(loop: Operation) -> Iterator[Pair]:
    """Yield values that are in one memory anyhow: each carried value of a loop."""
    for each in _whiles(loop):
        condition, body = (region.blocks[0] for region in each.regions)
        for x, *others in zip(body.arguments, condition.arguments, each.results, strict=True):
            yield from ((x, y) for y in others)


def _pairs(loop: Operation) -> Iterator[Pair]:
    """Yield pairs of values that could be in one memory, which saves a copy."""
    own = {x for o in nested(loop) if _is_placeable(o) for x in o.results}
    for each in _whiles(loop):
        own.update(each.regions[1].blocks[0].arguments)
    for operation in nested(loop):
        if is_update(operation) and operation.operands[0] in own:
            yield operation.results[0], operation.operands[0]
    for each in (loop, *nested(loop)):
        if each.name == "stablehlo.while":
            body = each.regions[1].blocks[0]
            last, start = mlir.terminator(body).operands, each.operands
            yield from ((x, y) for x, y in zip(body.arguments, last, strict=True) if y in own)
            if each != loop:
                yield from ((x, y) for x, y in zip(body.arguments, start, strict=True) if y in own)
        elif traits_of(each).captures:
            for region in each.regions:
                last = mlir.terminator(region.blocks[0]).operands
                yield from ((x, y) for x, y in zip(each.results, last, strict=True) if y in own)


def _is_placeable(operation: Operation) -> bool:
    """True if results of an operation can be in a memory that is given."""
    is_one = traits_of(operation).captures or is_update(operation)
    return is_one or shared_extents(operation) is not None


class _Union:
    """Disjoint sets of values."""

    def __init__(self) -> None:
        self.parents: dict[Value, Value] = {}

    def find(self, x: Value) -> Value:
        """Return the value that stands for all of a set."""
        self.parents.setdefault(x, x)
        while self.parents[x] != x:
            x = self.parents[x]
        return x

    def unite(self, x: Value, y: Value) -> None:
        """Unite two sets."""
        self.parents[self.find(y)] = self.find(x)


# ---- the order of a loop -------------------------------------------------------------------------


class _Conflict(Exception):
    """A value is read when its memory holds another."""


Step = Callable[["_Walk"], None]
"""Notes the reads and writes of an operation, or of a group."""


class _Shared:
    """Values that share memory, as far as was found yet."""

    def __init__(self, loop: Operation, small: set[Value]) -> None:
        self._loop, self._small = loop, small
        self._union = _Union()
        for x, y in _carried_pairs(loop):
            if self.is_kept(x):
                self._union.unite(x, y)
        self.values = [x for o in (loop, *nested(loop)) for x in o.results if self.is_kept(x)]
        for each in _whiles(loop):
            for region in each.regions:
                self.values += [x for x in region.blocks[0].arguments if self.is_kept(x)]
        self._updates = [o.results[0] for o in nested(loop) if is_update(o)]
        self._plan = _planned_loop(loop, self.is_kept)

    def is_kept(self, x: Value) -> bool:
        """True if a value of the loop is kept in memory."""
        return is_large(x) or x in self._small

    def memory(self, x: Value) -> Value:
        """Return the value that stands for all of those in a value's memory."""
        return self._union.find(x)

    def updated(self) -> frozenset[Value]:
        """Return the memories of which parts are written."""
        return frozenset(self.memory(x) for x in self._updates if self.is_kept(x))

    def share(self) -> list[Pair]:
        """Let values share memory where they can; return the pairs that cannot."""
        pairs = [(x, y) for x, y in _pairs(self._loop) if self.is_kept(x) and self.is_kept(y)]
        if self._try(pairs):
            return []
        return [pair for pair in pairs if not self._try([pair])]

    def _try(self, pairs: Sequence[Pair]) -> bool:
        before = dict(self._union.parents)
        for x, y in pairs:
            self._union.unite(x, y)
        try:
            self._plan(_Walk(self.memory, self.updated()))
        except _Conflict:
            self._union.parents = before
            return False
        return True


@dataclass
class _Walk:
    """The contents of memories at a point of a loop."""

    memory: Callable[[Value], Value]
    updated: frozenset[Value]
    contents: Contents = field(default_factory=dict)
    sources: dict[Value, Value] = field(default_factory=dict)
    """The values that views are parts of."""

    def source(self, x: Value) -> Value:
        """Return the value that a view is a part of, or the value itself."""
        return self.sources.get(x, x)

    def read(self, x: Value) -> None:
        """Note that a value is read."""
        source = self.source(x)
        memory = self.memory(source)
        if memory in self.contents and not _are_same(self.contents[memory], source):
            raise _Conflict

    def write(self, results: Sequence[Value], apart: Iterable[Value] = ()) -> None:
        """Note that values are written, while those in `apart` are read in another order."""
        memories = [self.memory(x) for x in results]
        if len(set(memories)) < len(memories):
            raise _Conflict
        if not {self.memory(self.source(x)) for x in apart}.isdisjoint(memories):
            raise _Conflict
        self.contents.update(zip(memories, results, strict=True))


Kept = Callable[[Value], bool]


def _planned(block: Block, is_kept: Kept) -> list[Step]:
    return [_step(group, is_kept) for group in groups(walk(block))]


def _run(steps: Iterable[Step], state: _Walk) -> None:
    for step in steps:
        step(state)


def _step(group: Group, is_kept: Kept) -> Step:
    if group.extents is not None:
        return _elementwise(group, is_kept)
    (operation,) = group.operations
    if operation.name == "stablehlo.while":
        return _planned_loop(operation, is_kept)
    if traits_of(operation).captures:
        return _planned_branch(operation, is_kept)
    read = [x for x in operation.operands if is_kept(x)]
    made = [x for x in operation.results if is_kept(x)]
    if is_update(operation):
        return _updated(operation, is_kept)
    if made and _is_view(operation):
        return _viewed(operation, is_kept)
    return _written(read, made, apart=read)


def _is_view(operation: Operation) -> bool:
    if operation.name == DynamicSlice.name or operation.name == barrier.name:
        return True
    return traits_of(operation).moves and len(operation.operands) == 1


def _elementwise(group: Group, is_kept: Kept) -> Step:
    read = [x for x in group.read if is_kept(x)]
    made = [x for x in group.results() if is_kept(x)]

    def step(state: _Walk) -> None:
        for x in read:
            state.read(x)
        state.write(made, (x for x in read if state.source(x) != x))

    return step


def _written(read: Sequence[Value], made: Sequence[Value], apart: Sequence[Value]) -> Step:
    def step(state: _Walk) -> None:
        for x in read:
            state.read(x)
        state.write(made, apart)

    return step


def _updated(operation: Operation, is_kept: Kept) -> Step:
    """Plan an update, which is in place unless it updates a view, whose elements are elsewhere."""
    x, *others = operation.operands
    read = [y for y in operation.operands if is_kept(y)]
    apart = [y for y in others if is_kept(y)]
    made = [y for y in operation.results if is_kept(y)]

    def step(state: _Walk) -> None:
        for y in read:
            state.read(y)
        is_view = is_kept(x) and state.source(x) != x
        state.write(made, [x, *apart] if is_view else apart)

    return step


def _viewed(operation: Operation, is_kept: Kept) -> Step:
    """Plan a view, which is copied only if it is a part of a memory that is updated."""
    pairs = [
        (x, y)
        for x, y in zip(operation.operands, operation.results, strict=False)
        if is_kept(x) and is_kept(y)
    ]
    is_slice = operation.name == DynamicSlice.name

    def step(state: _Walk) -> None:
        for x, y in pairs:
            state.read(x)
            if is_slice and state.memory(state.source(x)) in state.updated:
                state.write([y])
            else:
                state.sources[y] = state.source(x)

    return step


def _planned_loop(loop: Operation, is_kept: Kept) -> Step:
    condition, body = (region.blocks[0] for region in loop.regions)
    holds, steps = _planned(condition, is_kept), _planned(body, is_kept)
    carried = [x for x in body.arguments if is_kept(x)]
    shown = [(x, y) for x, y in zip(condition.arguments, body.arguments, strict=True) if is_kept(x)]
    results = [x for x in loop.results if is_kept(x)]
    start = [x for x in loop.operands if is_kept(x)]
    last = [x for x in mlir.terminator(body).operands if is_kept(x)]

    def step(state: _Walk) -> None:
        for x in start:
            state.read(x)
        before = dict(state.contents)
        state.sources.update(shown)
        state.write(carried)
        for _ in range(2):  # the second time, with what the first one left
            _run(holds, state)
            for x in carried:
                state.read(x)
            _run(steps, state)
            for x in last:
                state.read(x)
            state.write(carried)
        _run(holds, state)
        state.contents = _common([before, state.contents])
        state.write(results)

    return step


def _planned_branch(operation: Operation, is_kept: Kept) -> Step:
    blocks = [region.blocks[0] for region in operation.regions]
    branches = [
        (_planned(block, is_kept), [x for x in mlir.terminator(block).operands if is_kept(x)])
        for block in blocks
    ]
    results = [x for x in operation.results if is_kept(x)]

    def step(state: _Walk) -> None:
        before, ends = state.contents, []
        for steps, last in branches:
            state.contents = dict(before)
            _run(steps, state)
            for x in last:
                state.read(x)
            ends.append(state.contents)
        state.contents = _common(ends)
        state.write(results)

    return step


def _common(ends: Sequence[Contents]) -> Contents:
    """Return the contents of memories where several ways meet."""
    first, *others = ends
    memories = {memory for end in ends for memory in end}
    return {
        m: first.get(m) if all(_are_same(end.get(m), first.get(m)) for end in others) else None
        for m in memories
    }


def _are_same(x: Value | None, y: Value | None) -> bool:
    return x is not None and y is not None and x == y
