"""Descriptions of operations: equal ones compute the same from what they read.

A pass that writes kernels knows by them that it has written one before, without writing it again to
compare.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value
from irax_compiler.passes.kernels.views import View

Description = tuple[Hashable, ...]


class Unknown(Exception):
    """An operation reads a value of which nothing is known."""


def described(operations: Iterable[Operation], known: Mapping[Value, Hashable]) -> Description:
    """Return a description of operations, each after those whose results it reads.

    `known` describes what they read from outside. Numbers and arrays of one number need not be in
    it.

    Raises:
        Unknown: something else is read.
    """
    return _described(operations, dict(known))


def _described(operations: Iterable[Operation], known: dict[Value, Hashable]) -> Description:
    found: list[Hashable] = []
    for operation in operations:
        own: Any = operation.attributes
        attributes = tuple((name, own[name]) for name in own)
        read = tuple(_value(x, known) for x in operation.operands)
        types = tuple(x.type for x in operation.results)
        for i, x in enumerate(operation.results):
            known[x] = (len(known), i)
        regions: list[Hashable] = []
        for region in operation.regions:
            for block in region.blocks:
                arguments = list(block.arguments)
                for x in arguments:
                    known[x] = (len(known), 0)
                inner = (view.operation for view in block.operations)
                regions.append((tuple(x.type for x in arguments), _described(inner, known)))
        found.append((operation.name, attributes, read, types, tuple(regions)))
    return tuple(found)


def _value(x: Value, known: Mapping[Value, Hashable]) -> Hashable:
    if x in known:
        return known[x]
    element = mlir.splat(x)
    if element is None:
        raise Unknown
    return x.type, element.tobytes()


def described_cluster(
    members: Sequence[Operation],
    views: Mapping[Value, View],
    arrays: Sequence[Value],
    given: Iterable[Value],
    overwritten: Mapping[Value, Value],
    *made: Value,
) -> Hashable | None:
    """Return a description of operations that read views of arrays, and of the results that are
    given, some in the memory of an array; None if they read something else.

    `made` are values that a kernel has without reading them.
    """
    places = {x: i for i, x in enumerate(arrays)}
    known: dict[Value, Hashable] = {x: view.described(x, places) for x, view in views.items()}
    known |= {x: x.type for x in made}
    try:
        operations = described(members, known)
    except Unknown:
        return None
    numbers = {x: i for i, x in enumerate([*made, *(o.results[0] for o in members)])}
    in_place = tuple((numbers[x], places[y]) for x, y in overwritten.items())
    return operations, tuple(known.values()), tuple(numbers[x] for x in given), in_place
