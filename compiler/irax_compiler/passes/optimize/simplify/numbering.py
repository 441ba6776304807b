"""Value numbering: equal values get the same number, through branches and loops."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from irax_compiler import effects, mlir
from irax_compiler.mlir import Block, Operation, Value
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.passes.core import walk


def equal_to(loop: Operation) -> list[int]:
    """Return, for each value that a `stablehlo.while` carries, the first one that is always equal
    to it.
    """
    return _Numbers().carried(loop)


def first_places(keys: Iterable[Hashable]) -> list[int]:
    """Return, for each key, the index of its first occurrence."""
    places: dict[Hashable, int] = {}
    return [places.setdefault(key, i) for i, key in enumerate(keys)]


class _Numbers:
    """Value numbers. A number stands for a computation from other numbers, so that numbers given
    under an assumption about a loop's values are wrong for nothing else.
    """

    def __init__(self) -> None:
        self._of_values: dict[Value, int] = {}
        self._of_keys: dict[Hashable, int] = {}

    def carried(self, loop: Operation) -> list[int]:
        """Assume that values which start equal stay so, and give that up for those of which a step
        makes different values, until there are none.
        """
        body = loop.regions[1].blocks[0]
        arguments, last = list(body.arguments), list(mlir.terminator(body).operands)
        classes = first_places(self._numbers(loop.operands))
        while len(set(classes)) < len(classes):
            for x, c in zip(arguments, classes, strict=True):
                self._of_values[x] = self._number(arguments[c])
            self._look_at(body)
            finer = first_places(zip(classes, self._numbers(last), strict=True))
            if finer == classes:
                break
            classes = finer
        return classes

    def _numbers(self, values: Iterable[Value]) -> tuple[int, ...]:
        return tuple(
            self._of_values[x] if x in self._of_values else self._number(x) for x in values
        )

    def _number(self, key: Hashable) -> int:
        return self._of_keys.setdefault(key, len(self._of_keys))

    def _look_at(self, block: Block) -> None:
        for operation in walk(block):
            for x, key in zip(operation.results, self._keys(operation), strict=True):
                self._of_values[x] = self._number(key)

    def _keys(self, operation: Operation) -> Sequence[Hashable]:
        """Return what determines each result of an operation."""
        results = list(operation.results)
        if operation.name == "stablehlo.while":
            return [results[c] for c in self.carried(operation)]
        if effects.has_effects(operation):
            return results
        taken = self._numbers(operation.operands)
        if traits_of(operation).captures:
            return [(operation.name, taken, made) for made in self._of_branches(operation)]
        form = _form(operation)
        if form is None:
            return results
        return [(form, taken, i) for i in range(len(results))]

    def _of_branches(self, operation: Operation) -> list[tuple[int, ...]]:
        """Return, for each result, what the branches return for it."""
        made = []
        for region in operation.regions:
            self._look_at(region.blocks[0])
            made.append(self._numbers(mlir.terminator(region.blocks[0]).operands))
        return list(zip(*made, strict=True))


def _form(operation: Operation) -> Hashable | None:
    """Return all of an operation but its operands; None if that is not known."""
    types = tuple(x.type for x in operation.results)
    if traits_of(operation).is_constant and mlir.dtype_of(operation.results[0]).kind == "c":
        # The bindings have no class for the attribute.
        return types, mlir.dense_to_numpy(operation).tobytes()
    if not operation.regions:
        named = tuple(operation.attributes.items())
        return operation.name, types, named
    try:
        return read(operation), types
    except UnsupportedOp:
        return None
