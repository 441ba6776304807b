"""Groups of operations on arrays in memory that share a loop over their elements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod

from irax_compiler import mlir
from irax_compiler.mlir import Block, Operation, Value, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.barrier import barrier
from irax_compiler.ops.elementwise_map import Map
from irax_compiler.ops.formulas import is_formula
from irax_compiler.ops.indexing.dynamic_slices import DynamicSlice
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.core import inputs, walk

REGISTERS = 128
"""The most elements of a value that is kept in registers."""

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
    def read(self) -> set[Value]:
        """The values that the operations use."""
        return {x for o in self.operations for x in inputs(o)}

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
    the earliest group that it fits.
    """
    found: list[Group] = []
    places: dict[Value, int] = {}
    """The number of the group that each value is a result of."""
    for operation in operations:
        extents = shared_extents(operation)
        place = len(found)
        if extents is not None:
            first = max((places.get(x, 0) for x in inputs(operation)), default=0)
            fitting = (i for i in range(first, place) if found[i].extents == extents)
            place = next(fitting, place)
        if place == len(found):
            found.append(Group(extents))
        found[place].operations.append(operation)
        places.update(dict.fromkeys(operation.results, place))
    return found


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


def overwriting(body: Block, carried: Iterable[int]) -> dict[Value, int]:
    """Return the results of a loop's body that can be written to the memory of the loop-carried
    value that they are the next of, with its number: when they are, nothing reads that any more.
    """
    plan, last = groups(walk(body)), list(mlir.terminator(body).operands)
    found: dict[Value, int] = {}
    for i in carried:
        argument, new = body.arguments[i], last[i]
        place = next((k for k, group in enumerate(plan) if new in group.made), None)
        if place is None or plan[place].extents is None or new in found:
            continue
        views = _views(argument, plan)
        later = [x for group in plan[place + 1 :] for x in group.read]
        if views.isdisjoint([*later, *last]) and views.isdisjoint(plan[place].read - {argument}):
            found[new] = i
    return found


def _views(x: Value, plan: Iterable[Group]) -> set[Value]:
    """Return a value, and those that may be in the same memory."""
    found = {x}
    for group in plan:
        for operation in group.operations if group.extents is None else ():
            if _is_view(operation) and not found.isdisjoint(operation.operands):
                found.update(filter(is_large, operation.results))
    return found


def _is_view(operation: Operation) -> bool:
    return traits_of(operation).moves or operation.name in (DynamicSlice.name, barrier.name)


def is_large(x: Value) -> bool:
    """True if a value is kept in memory."""
    return prod(shape_of(x)) > REGISTERS


def _squeezed(x: Value) -> Extents:
    return tuple(n for n in shape_of(x) if n > 1)
