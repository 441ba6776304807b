"""The pass outline-components, which compiles equal parts of functions of very many arrays once.

A program that treats all leaves of a pytree alike, such as a step of an optimizer, consists of
components that use none of each other's values. Equal ones are gathered, some in each call of a
function.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.effects import has_effects
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value, dtype_of, shape_of
from irax_compiler.ops.registry import is_generated, traits_of
from irax_compiler.passes.core import Pass, register_pass, walk
from irax_compiler.passes.host.donated import mark_callees
from irax_compiler.passes.on_demand import MANY_ARRAYS

_SMALL = 1024
"""The most elements of constants and iotas that each function computes for itself."""
_SHARED = 8
"""The number of uses from which on a value is shared by components, and connects none."""


@register_pass
@dataclass
class OutlineComponents(Pass):
    """Makes equal components of public functions with more than `most` arguments and results calls
    of private functions, if there are at least `many`. A call has up to `bound` arrays that no
    other call has. Takes time in proportion to the number of operations.

    Values that are used often separate components. What still hangs together is separated where
    arrays are reduced to numbers and numbers are broadcast to arrays, as by a norm of all.
    """

    name: ClassVar[str] = "outline-components"
    most: int = MANY_ARRAYS
    bound: int = 32
    many: int = 16

    def run(self, module: Module) -> None:
        for function in list(mlir.functions(module).values()):
            if not mlir.is_public(function):
                continue
            arrays = len(mlir.arguments(function)) + len(mlir.result_types(function))
            operations = list(walk(mlir.body(function)))
            if arrays > self.most and not any(map(has_effects, operations)):
                self._gather(module, function, numbers_connect=True)
                self._gather(module, function, numbers_connect=False)
                mark_callees(function)

    def _gather(self, module: Module, function: Operation, numbers_connect: bool) -> None:
        """Replace equal components of a function by calls."""
        operations = [o for o in walk(mlir.body(function)) if not is_generated(o)]
        components = _components(operations, numbers_connect)
        alike: dict[Hashable, list[_Component]] = defaultdict(list)
        for component in components:
            if not any(
                o.name == "func.call" or traits_of(o).captures for o in component.operations
            ):
                alike[component.key()].append(component)
        groups = [group for group in alike.values() if len(group) >= self.many]
        if not groups:
            return
        end = mlir.terminator(mlir.body(function))
        for component in sorted(components, key=lambda c: -c.depth):
            for operation in component.operations:
                operation.move_before(end)
        for group in groups:
            most = max(self.bound // max(group[0].arrays(), 1), 1)
            # Nothing is left for another function where the number is divisible.
            size = min(range(most, most // 2, -1), key=lambda n: len(group) % n)
            calls = _Calls(module, mlir.function_name(function))
            for start in range(0, len(group), size):
                calls.replace(group[start : start + size])


# ---- which operations ----------------------------------------------------------------------------


def _components(operations: Sequence[Operation], numbers_connect: bool) -> list[_Component]:
    """Divide the operations of a block. Of two components of one depth, none uses values of the
    other; and what one uses of others is computed at greater depths.
    """
    edges = list(_edges(operations, numbers_connect))
    depths = [0] * len(operations)
    for source, user, is_cut in reversed(edges):
        depths[source] = max(depths[source], depths[user] + is_cut)
    roots = list(range(len(operations)))

    def root(i: int) -> int:
        while roots[i] != i:
            roots[i] = i = roots[roots[i]]
        return i

    for source, user, is_cut in edges:
        if not is_cut and depths[source] == depths[user]:
            roots[root(user)] = root(source)
    found: dict[int, list[Operation]] = {}
    for i, operation in enumerate(operations):
        found.setdefault(root(i), []).append(operation)
    return [_Component(members, depths[i]) for i, members in found.items()]


def _edges(
    operations: Sequence[Operation], numbers_connect: bool
) -> Iterator[tuple[int, int, bool]]:
    """Yield pairs of operations of which the second uses the first, ordered by the second, and True
    where components end between them.
    """
    makers: dict[Value, int] = {}
    is_scalar: list[bool] = []
    for i, operation in enumerate(operations):
        used = [*operation.operands, *(mlir.captured(operation) if operation.regions else ())]
        is_scalar.append(not any(map(shape_of, [*used, *operation.results])))
        for x in used:
            if x in makers:
                source = makers[x]
                is_end = not shape_of(x) and not (is_scalar[source] and is_scalar[i])
                yield source, i, _is_shared(x) or (is_end and not numbers_connect)
        makers.update(dict.fromkeys(operation.results, i))


def _is_shared(x: Value) -> bool:
    return mlir.num_uses(x, _SHARED) == _SHARED


@dataclass(frozen=True)
class _Component:
    operations: list[Operation]
    depth: int

    def copied(self) -> list[Operation]:
        """Return the small constants and iotas that the operations use."""
        sources = filter(None, map(mlir.definition, self._used()))
        return [o for o in dict.fromkeys(sources) if is_copied(o)]

    def taken(self) -> list[Value]:
        """Return the other values from outside, each once."""
        own = {x for o in (*self.copied(), *self.operations) for x in o.results}
        return [x for x in dict.fromkeys(self._used()) if x not in own]

    def given(self) -> list[Value]:
        """Return the values that are used outside."""
        inside = Counter(self._used())
        made = [x for o in self.operations for x in o.results]
        return [x for x in made if mlir.num_uses(x, inside[x] + 1) > inside[x]]

    def arrays(self) -> int:
        """Return the number of arrays that no other component has: those read and those given."""
        return sum(not _is_shared(x) for x in self.taken()) + len(self.given())

    def key(self) -> Hashable:
        """Return what equal components have in common."""
        numbers: dict[Value, int] = {}
        described = [_described(o, numbers) for o in (*self.copied(), *self.operations)]
        return self.depth, *described, *(numbers[x] for x in self.given())

    def _used(self) -> list[Value]:
        """Return the operands, and what regions use from outside, such as a sort's comparator."""
        used = ((*o.operands, *(mlir.captured(o) if o.regions else ())) for o in self.operations)
        return [x for values in used for x in values]


def _described(operation: Operation, numbers: dict[Value, int]) -> Hashable:
    """Describe an operation, with numbers for values in the order in which they appear."""
    blocks = [block for region in operation.regions for block in region.blocks]
    values = [*operation.operands, *(x for b in blocks for x in b.arguments), *operation.results]
    return (
        operation.name,
        *((name, mlir.attribute_text(x)) for name, x in mlir.attributes_of(operation).items()),
        *((numbers.setdefault(x, len(numbers)), shape_of(x), dtype_of(x)) for x in values),
        *(_described(inner.operation, numbers) for b in blocks for inner in b.operations),
    )


# ---- the calls -----------------------------------------------------------------------------------


@dataclass
class _Calls:
    """Builds calls of equal components."""

    module: Module
    caller: str
    _names: dict[tuple[int, ...], str] = field(default_factory=dict)
    """The functions, by a number for each value that the components take."""

    def replace(self, group: Sequence[_Component]) -> None:
        """Replace components by one call."""
        taken = [x for component in group for x in component.taken()]
        given = [x for component in group for x in component.given()]
        numbers = {x: i for i, x in enumerate(dict.fromkeys(taken))}
        key = (len(group), *(numbers[x] for x in taken))
        if key not in self._names:
            self._names[key] = self._function(group, list(numbers), given)
        first = group[0].operations[0]
        with InsertionPoint(first), first.location:
            callee = {"callee": mlir.symbol(self._names[key])}
            call = mlir.emit("func.call", list(numbers), callee, [x.type for x in given])
        for old, new in zip(given, call.results, strict=True):
            old.replace_all_uses_with(new)
        for component in group:
            for operation in reversed(component.operations):
                operation.erase()

    def _function(
        self, group: Sequence[_Component], taken: Sequence[Value], given: Sequence[Value]
    ) -> str:
        name = mlir.unique_name(self.module, f"{self.caller}.alike")
        location = group[0].operations[0].location
        function = mlir.new_function(self.module, name, [x.type for x in taken], location)
        for key, value in mlir.NOT_INLINED.items():
            function.attributes[key] = value
        env = dict(zip(taken, mlir.arguments(function), strict=True))
        with InsertionPoint(mlir.body(function)):
            for component in group:
                for operation in (*component.copied(), *component.operations):
                    mlir.copy(operation, env)
        mlir.finish_function(function, [env[x] for x in given])
        return name


def is_copied(operation: Operation) -> bool:
    """True for a constant or an iota of which each function that uses it has a copy."""
    return is_generated(operation) and (
        mlir.splat(operation.results[0]) is not None
        or prod(shape_of(operation.results[0])) <= _SMALL
    )
