"""Rewrite patterns, and the driver that applies them.

A pattern is a function that builds replacements of an operation's results. Where it does not apply,
it builds nothing and returns None:

    @rewrites(shape.Transpose)
    def transpose_of_transpose(op: shape.Transpose, x: Value) -> Value | None:
        '''transpose(transpose(x)) -> transpose(x)'''

    @rewrites("stablehlo.while")
    def unneeded_carries(operation: Operation) -> Sequence[Value] | None:
        '''Remove dead loop-carried values.'''

A pattern for ops, or classes of ops, gets the op, as it was read, and the operands. A pattern for
names, or for all operations, gets the operation. Patterns build at the insertion point and location
of the operation. Only the driver erases and replaces operations, so that its worklist stays valid.

`rewrite_greedily` applies patterns until none applies; `rewrite_in_order` applies each once.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, cmp_to_key
from typing import Any, TypeVar

from irax_compiler import effects, mlir
from irax_compiler.mlir import InsertionPoint, Operation, Value
from irax_compiler.ops import barrier, shape
from irax_compiler.ops.core import Op, UnsupportedOp, plain_name
from irax_compiler.ops.registry import may_be, names_of, read
from irax_compiler.passes.core import nested
from irax_compiler.sizes import InconclusiveDimensionOperation

_Elsewhere = Mapping[Value, Value]
Replacement = Value | Sequence[Value] | _Elsewhere | None
"""Replacements of an operation's results: a value for the only one, values for all, or a map that
may also replace results of other operations."""

Subject = Op | type[Op] | str
T = TypeVar("T", bound=Op)


@dataclass(frozen=True)
class Pattern:
    """A named rewrite."""

    name: str
    names: tuple[str | type[Op], ...]
    """The names of operations that it may apply to, and classes of ops, each of which stands for
    the names of all its ops."""
    kinds: tuple[type[Op], ...]
    """The classes of ops that it applies to, if it gets the op instead of the operation."""
    build: Callable[..., Replacement]

    @property
    def operations(self) -> tuple[str, ...]:
        """Return the names of all operations that it may apply to, for the ops registered now; an
        empty set means any.
        """
        names, families = self._subjects
        return (*names, *names_of(families)) if families else names

    @cached_property
    def _subjects(self) -> tuple[tuple[str, ...], tuple[type[Op], ...]]:
        """The names, and the classes, of the operations that it may apply to."""
        names = tuple(name for name in self.names if isinstance(name, str))
        return names, tuple(name for name in self.names if not isinstance(name, str))

    def replacement(self, operation: Operation, op: Op | None) -> Replacement:
        """Build the replacement of an operation's results at the insertion point; `op` is the
        operation as it is read.
        """
        if not self.kinds:
            return self.build(operation)
        if not isinstance(op, self.kinds):
            return None
        try:
            return self.build(op, *operation.operands)
        except UnsupportedOp:  # an operand is made by a form that a foreign module may hold
            return None


def rewrites(*subjects: Subject) -> Callable[[Callable[..., Replacement]], Pattern]:
    """Decorator for patterns of the given ops or operation names, or of all operations if none is
    given. A class without a name, such as `Elementwise`, stands for all ops of that class.
    """
    names, kinds = matched(subjects)
    return lambda build: Pattern(build.__name__, names, kinds, build)


def matched(
    subjects: Sequence[Subject],
) -> tuple[tuple[str | type[Op], ...], tuple[type[Op], ...]]:
    """Split a decorator's arguments into names and classes."""
    ops = [subject for subject in subjects if not isinstance(subject, str)]
    if ops and len(ops) < len(subjects):
        raise TypeError(f"a pattern is for ops or for names of operations, not both: {subjects}")
    names = map(_name, subjects)
    kinds = (op if isinstance(op, type) else type(op) for op in ops)
    return tuple(dict.fromkeys(names)), tuple(dict.fromkeys(kinds))


def _name(subject: Subject) -> str | type[Op]:
    if isinstance(subject, type):
        return getattr(subject, "name", subject)
    return subject if isinstance(subject, str) else subject.name


def read_as(kind: type[T], operation: Operation) -> T | None:
    """Return the op, if it is one of `kind` in a form that irax knows."""
    if not may_be(operation, kind):
        return None
    try:
        op = read(operation)
    except UnsupportedOp:
        return None
    return op if isinstance(op, kind) else None


def read_named(names: Collection[str], operation: Operation) -> Op | None:
    """Return the op, if it has one of some names, and a form that irax knows. Others are not read:
    that takes long with computations inside.
    """
    return read_as(Op, operation) if plain_name(operation.name) in names else None


def put_barrier_behind(x: Value, users: Iterable[Operation] | None = None) -> Value:
    """Put a fusion barrier behind a computed value, for some users, or for all."""
    made = mlir.definition(x)
    assert made is not None
    with InsertionPoint.after(made), made.location:
        (held,) = barrier.barrier.build([x])
    if users is None:
        mlir.replace_elsewhere(x, held)
    for user in users or ():
        for number, operand in enumerate(user.operands):
            if operand == x:
                user.operands[number] = held
    return held


def rewrite_greedily(root: Operation, patterns: Sequence[Pattern]) -> None:
    """Apply patterns to the operations inside one until none applies, and erase dead operations.
    Operations are visited in order, producers before users.
    """
    for _ in range(MOST_SWEEPS):
        for region in root.regions:
            for block in region:
                effects.remove_dead_operations(block)
        if not _Greedy(root, patterns).run():
            break


def without_reshapes(x: Value) -> Value:
    """Return the array that a value is, perhaps in another shape."""
    source = mlir.definition(x)
    while source is not None and source.name == shape.Reshape.name:
        x = source.operands[0]
        source = mlir.definition(x)
    return x


def rewrite_in_order(
    root: Operation,
    patterns: Sequence[Pattern],
    last_first: bool = False,
    chosen: Callable[[Operation], bool] | None = None,
    left: Collection[str] = (),
) -> None:
    """Apply each pattern once to all operations inside one, in order or from the last on; with
    `chosen`, to those for which it holds, and to what is built in their place; to none of the names
    in `left`. A pattern sees operations that earlier patterns built, but not its own.
    """
    _InOrder(root, patterns, last_first, chosen, left).run()


MOST_SWEEPS = 10
"""The most sweeps. A sweep that applied a pattern is followed by another, because the worklist only
has neighbours of changed operations, and patterns match across larger distances."""

MOST_VISITS = 100
"""The most visits per operation, far more than any module needs, which ends patterns that undo each
other."""


def _like(old: Value, new: Value) -> Value:
    """Return a replacement with the type of what it replaces: equal sizes may have two forms."""
    if old.type == new.type or not mlir.is_sized(old.type):
        return new
    return shape.Reshape(mlir.shape_of(old))(new)


class _Driver:
    """The base of drivers, which apply patterns and track operations that are added and erased.

    An operation must not be looked at once it is erased, nor one inside of it: each is forgotten
    before. Operations stand under their first results, since their own hashes change with their
    operands; those without results are left alone.
    """

    def __init__(self, root: Operation) -> None:
        self.operations = list(nested(root))
        self._released: dict[Value, Operation] = {}

    @cached_property
    def known(self) -> dict[Value, Operation]:
        """The operations by first result; computed before the first change."""
        return _by_result(self.operations)

    def added(self, operations: Sequence[Operation]) -> None:
        """Called when operations were built in place of the one that a pattern matched."""
        raise NotImplementedError

    def changed(self, operations: Iterable[Operation]) -> None:
        """Called when operations have other operands or users."""

    def removed(self, result: Value, operation: Operation) -> None:
        """Called before an operation is erased; `result` is its first result."""
        raise NotImplementedError

    def apply(self, patterns: Iterable[Pattern], operation: Operation, op: Op | None) -> bool:
        """Apply the first matching pattern to an operation, which is read as `op`; return True if
        there is one.
        """
        with InsertionPoint(operation), operation.location:
            for pattern in patterns:
                found = self.replacement(pattern, operation, op)
                if found is not None:
                    break
            else:
                return False
            if not isinstance(found, Mapping):
                values = [found] if isinstance(found, Value) else found
                found = [_like(*x) for x in zip(operation.results, values, strict=True)]
        self._replace(operation, found)
        self._erase_dead()
        return True

    def replacement(self, pattern: Pattern, operation: Operation, op: Op | None) -> Any:
        """Return what a pattern puts in the place of an operation; None if it does not match."""
        return pattern.replacement(operation, op)

    def _replace(self, operation: Operation, found: Sequence[Value] | _Elsewhere) -> None:
        if isinstance(found, Mapping):
            self._redirect(found)
            owners = (mlir.definition(old) for old in found)
            self._released |= _by_result(o for o in owners if o is not None)
        else:
            self._redirect(dict(zip(operation.results, found, strict=True)))
            self._erase(operation)

    def _redirect(self, replacements: _Elsewhere) -> None:
        built = self._built(replacements.values())
        for old, new in replacements.items():
            assert old.type == new.type, f"{old} was replaced by a {new.type}"
            users = mlir.users(old)
            old.replace_all_uses_with(new)
            self.changed(users)
        self.added(built)

    def _built(self, values: Iterable[Value]) -> list[Operation]:
        """Return the operations that were built to compute some values, each after those inside
        it.
        """
        found: list[Operation] = []
        pending = [mlir.definition(x) for x in values]
        while pending:
            operation = pending.pop()
            if operation is None or operation.results[0] in self.known:
                continue
            whole = [*nested(operation), operation]
            self.known |= _by_result(whole)
            found.append(operation)
            pending += (mlir.definition(x) for one in whole for x in one.operands)
        found.sort(key=_in_block)
        return [one for operation in found for one in (*nested(operation), operation)]

    def _erase(self, operation: Operation) -> None:
        whole = [*nested(operation), operation]
        for result, one in _by_result(whole).items():
            self.known.pop(result, None)
            self._released.pop(result, None)
            self.removed(result, one)
        used = (mlir.definition(x) for one in whole for x in one.operands)
        left = _by_result(o for o in used if o is not None)
        self._released |= {r: o for r, o in left.items() if r in self.known}
        operation.erase()

    def _erase_dead(self) -> None:
        """Erase operations that lost users and are dead."""
        while self._released:
            _, operation = self._released.popitem()
            if effects.is_dead(operation):
                self._erase(operation)
                continue
            for result in operation.results:
                users = [use.owner.operation for use in itertools.islice(result.uses, 2)]
                if len(users) == 1:  # patterns ask for operands with one use
                    self.changed([operation, *users])


def _by_result(operations: Iterable[Operation]) -> dict[Value, Operation]:
    """Return operations by their first results."""
    return {results[0]: o for o in operations if len(results := o.results)}


@cmp_to_key
def _in_block(one: Operation, other: Operation) -> int:
    return -1 if one.block == other.block and one.is_before_in_block(other) else 1


class _Greedy(_Driver):
    """The driver with a worklist, a stack that has each operation at most once."""

    def __init__(self, root: Operation, patterns: Sequence[Pattern]) -> None:
        super().__init__(root)
        self._patterns = patterns
        self._named: dict[str, tuple[list[Pattern], bool]] = {}
        self._worklist = dict(reversed(self.known.items()))

    def run(self) -> bool:
        """Empty the worklist; return True if a pattern applied."""
        changed = False
        for _ in range(MOST_VISITS * len(self._worklist)):
            if not self._worklist:
                break
            _, operation = self._worklist.popitem()
            patterns, is_read = self._patterns_for(operation.name)
            op = read_as(Op, operation) if is_read else None
            changed |= self.apply(patterns, operation, op)
        return changed

    def _patterns_for(self, name: str) -> tuple[list[Pattern], bool]:
        """Return the patterns for operations of a name, in order, and whether one gets the op."""
        if name not in self._named:
            found = [p for p in self._patterns if not p.operations or name in p.operations]
            self._named[name] = found, any(p.kinds for p in found)
        return self._named[name]

    def replacement(self, pattern: Pattern, operation: Operation, op: Op | None) -> Any:
        try:
            return super().replacement(pattern, operation, op)
        except InconclusiveDimensionOperation:  # it matches some sizes only
            return None

    def added(self, operations: Sequence[Operation]) -> None:
        self._worklist |= _by_result(reversed(operations))

    def changed(self, operations: Iterable[Operation]) -> None:
        self._worklist |= _by_result(operations)

    def removed(self, result: Value, operation: Operation) -> None:
        self._worklist.pop(result, None)


_Place = tuple[int, ...]
_Places = dict[Value, tuple[_Place, Operation]]


class _InOrder(_Driver):
    """The driver that applies each pattern once. New operations have the position of the one that
    they replace, so that operations of a name are found in order.
    """

    def __init__(
        self,
        root: Operation,
        patterns: Sequence[Pattern],
        last_first: bool,
        chosen: Callable[[Operation], bool] | None,
        left: Collection[str],
    ) -> None:
        super().__init__(root)
        self._last_first = last_first
        self._turns = [(p, [x for x in p.operations if x not in left]) for p in patterns]
        names = {name for _, names in self._turns for name in names}
        self._named: dict[str, _Places] = {name: {} for name in names}
        self._place: _Place = ()
        self.added([o for o in self.operations if chosen is None or chosen(o)])

    def run(self) -> None:
        """Apply each pattern."""
        for pattern, names in self._turns:
            for place, places, result in self._in_order(names):
                now, operation = places.get(result, ((), None))
                if operation is not None and now == place:
                    self._place = place
                    op = read_as(Op, operation) if pattern.kinds else None
                    self.apply([pattern], operation, op)

    def _in_order(self, names: Iterable[str]) -> list[tuple[_Place, _Places, Value]]:
        groups = [group for name in names if (group := self._named[name])]
        if not groups:
            return []
        found = [(place, group, x) for group in groups for x, (place, _) in group.items()]
        return sorted(found, key=lambda each: each[0], reverse=self._last_first)

    def added(self, operations: Sequence[Operation]) -> None:
        for i, operation in enumerate(operations):
            if operation.name in self._named and len(operation.results):
                places = self._named[operation.name]
                places[operation.results[0]] = (*self._place, i), operation

    def removed(self, result: Value, operation: Operation) -> None:
        self._named.get(operation.name, {}).pop(result, None)
