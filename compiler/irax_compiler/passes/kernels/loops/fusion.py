"""Groups of operations on arrays in memory that share a loop over their elements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import prod

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.elementwise_map import Map
from irax_compiler.ops.formulas import is_formula
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.core import inputs

REGISTERS = 128
"""The most elements of a value that is kept in registers."""
WORTHWHILE = 16
"""The number of operations from which IREE makes several kernels."""

Extents = tuple[int, ...]


@dataclass(frozen=True)
class Group:
    """Elementwise operations on arrays of one shape, or a single other operation."""

    extents: Extents | None
    """The shape of the arrays without dimensions of size 1; None for a single operation."""
    operations: list[Operation] = field(default_factory=list)

    @property
    def made(self) -> set[Value]:
        """The results of the operations."""
        return {x for o in self.operations for x in o.results}

    @property
    def read(self) -> list[Value]:
        """The values that the operations use, in the order of the operations."""
        return list(dict.fromkeys(x for o in self.operations for x in inputs(o)))

    def results(self) -> list[Value]:
        """Return the results that operations outside of the group use."""
        inside = set(self.operations)
        made = [x for o in self.operations for x in o.results]
        return [x for x in made if any(use.owner.operation not in inside for use in x.uses)]

    def arrays(self) -> list[Value]:
        """Return the arrays that the group reads."""
        made = self.made
        used = dict.fromkeys(x for o in self.operations for x in o.operands)
        return [x for x in used if x not in made and prod(shape_of(x)) > 1]


def groups(operations: Iterable[Operation]) -> list[Group]:
    """Divide the operations of a block into groups, in an order in which they can run. Each is in
    the earliest group that it fits, unless its result had to be stored for a later one only, and
    what it reads is there anyway. Views and numbers, for which no loop runs, are made as soon as
    what they use is there: they would divide the operations around them.
    """
    found: list[Group] = []
    between: list[list[Group]] = [[]]
    """The views and numbers before each group, and after the last."""
    places: dict[Value, int] = {}
    """The number of the first group that can use each value."""
    joined: dict[Value, int] = {}
    """The number of the group that computes a value by elements, which can use it, too."""
    for operation in operations:
        extents, used = shared_extents(operation), inputs(operation)
        first = max((places.get(x, 0) for x in used), default=0)
        if extents is None and _is_quick(operation):
            between[first].append(Group(None, [operation]))
            places.update(dict.fromkeys(operation.results, first))
            continue
        place = len(found)
        if extents is not None:
            first = max((joined.get(x, places.get(x, 0)) for x in used), default=0)
            fitting = (i for i in range(first, place) if found[i].extents == extents)
            place = next(fitting, place)
            joined.update(dict.fromkeys(operation.results, place))
        if place == len(found):
            found.append(Group(extents))
            between.append([])
        found[place].operations.append(operation)
        places.update(dict.fromkeys(operation.results, place + 1))
    ordered = [*between[0]]
    for group, after in zip(found, between[1:], strict=True):
        ordered += [group, *after]
    _sink(ordered)
    return [group for group in ordered if group.operations]


def _is_quick(operation: Operation) -> bool:
    """True for a view of an array, and for an operation on numbers."""
    if traits_of(operation).moves:
        return len(operation.operands) == 1
    values = [*operation.operands, *operation.results]
    return registers.is_known(operation) and not any(map(is_large, values))


def _sink(found: Sequence[Group]) -> None:
    """Move operations to the groups that use their results, if they read no array, or only arrays
    that are read there or later anyway.
    """
    readers: dict[Value, list[Operation]] = {}
    places: dict[Operation, int] = {}
    for place, group in enumerate(found):
        for operation in group.operations:
            places[operation] = place
            for x in inputs(operation):
                readers.setdefault(x, []).append(operation)

    def is_there(x: Value, place: int, operation: Operation) -> bool:
        if prod(shape_of(x)) == 1 or mlir.splat(x) is not None:
            return True
        return any(places[o] >= place for o in readers[x] if o != operation)

    for here, group in reversed(list(enumerate(found))):
        for operation in list(reversed(group.operations)):
            users = [places[o] for x in operation.results for o in readers.get(x, ())]
            place = min(users, default=here)
            if group.extents is None or found[place].extents != group.extents:
                continue
            if place > here and all(is_there(x, place, operation) for x in operation.operands):
                group.operations.remove(operation)
                found[place].operations.insert(0, operation)
                places[operation] = place


def shared_extents(operation: Operation) -> Extents | None:
    """Return the shape, without dimensions of size 1, of the arrays that an operation computes
    element by element; None if it does not, or if registers hold them.
    """
    shapes = {_squeezed(x) for x in operation.results}
    if len(shapes) != 1:
        return None
    (extents,) = shapes
    others = {_squeezed(x) for x in operation.operands} - {()}
    if not is_large(operation.results[0]) or not others <= {extents}:
        return None
    traits = traits_of(operation)
    is_one = is_formula(operation) or registers.is_known(operation) or operation.name == Map.name
    is_one = is_one or (traits.stretches and not others)
    return extents if is_one and len(operation.operands) else None


def is_large(x: Value) -> bool:
    """True if a value is kept in memory."""
    return prod(shape_of(x)) > REGISTERS


def _squeezed(x: Value) -> Extents:
    return tuple(n for n in shape_of(x) if n > 1)
