"""Sharding rules: the dimensions of an op's operands and results that may be divided together.

A rule gives each dimension a *factor*, a number. Dimensions with the same factor are divided along
the same axes of a mesh, and then the op of the shards is the shard of the op. A dimension without a
factor stays whole. This is what Shardy calls an op sharding rule. For a product of matrices:

    operands ((0, 1), (1, 2)), results ((0, 2),), reduced {1: "add"}
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

Factors = tuple[int | None, ...]
"""The factor of each dimension of an array."""
Shape = tuple[int, ...]


@dataclass(frozen=True)
class ShardingRule:
    """The factors of an op's operands and results."""

    operands: tuple[Factors, ...]
    results: tuple[Factors, ...]
    reduced: Mapping[int, str] = field(default_factory=dict)
    """Factors over which the op sums, or takes a maximum or minimum: the combiner for each. Where
    one is divided, the results of the devices are combined."""
    init: int | None = None
    """The operand that a reduction starts from, by number: a scalar, or of the result's shape."""
    gathered: frozenset[int] = frozenset()
    """Factors along which the op needs its operands whole, while its results are divided again as
    these were: the part of a reversed array is no function of one part of the array."""


def pointwise(operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
    """Return the rule of ops on arrays of one shape; scalars among them are for all elements."""
    rank = max(len(shape) for shape in results)

    def factors(shape: Shape) -> Factors:
        return tuple(range(rank)) if len(shape) == rank else (None,) * len(shape)

    return ShardingRule(tuple(map(factors, operands)), tuple(map(factors, results)))


def along(dimensions: Container[int], rank: int) -> Factors:
    """Return factors equal to the dimensions' numbers for some dimensions of an array."""
    return tuple(d if d in dimensions else None for d in range(rank))


def same_along(
    dimensions: Iterable[int],
    operands: Sequence[Shape],
    results: Sequence[Shape],
    gathered: Iterable[int] = (),
) -> ShardingRule:
    """Return the rule of an op that handles each index of some dimensions by itself, and leaves
    those that are `gathered` divided as they were. The operands that are scalars are not divided.
    """
    mixed = frozenset(gathered)
    kept = {*dimensions, *mixed}
    return ShardingRule(
        tuple(along(kept if shape else (), len(shape)) for shape in operands),
        tuple(along(kept, len(shape)) for shape in results),
        gathered=mixed,
    )


def same_in_all(
    dimensions: Sequence[int], operands: Sequence[Shape], results: Sequence[Shape]
) -> ShardingRule:
    """Return the rule of an op that handles each index of some dimensions by itself, and leaves all
    others divided as they were.
    """
    others = set(range(len(results[0]))) - set(dimensions)
    return same_along(dimensions, operands, results, others)


def whole_dims(array: Shape, part: Shape) -> list[int]:
    """Return the dimensions in which a part of an array is as long as the array."""
    return [d for d, (n, m) in enumerate(zip(array, part, strict=True)) if n == m]


def reshaped(before: Shape, after: Shape) -> ShardingRule:
    """Return the rule of a reshape. Runs of dimensions that become runs of the same size keep their
    first dimensions that are longer than one; these may be divided.

    >>> reshaped((8, 3, 5), (8, 15)).operands
    ((0, 1, None),)
    >>> reshaped((8, 15), (2, 4, 15)).results
    ((0, None, 1),)
    """
    old: list[int | None] = [None] * len(before)
    new: list[int | None] = [None] * len(after)
    i = j = count = 0
    while i < len(before) and j < len(after):
        end_i, end_j = i + 1, j + 1
        while prod(before[i:end_i]) != prod(after[j:end_j]):
            if prod(before[i:end_i]) < prod(after[j:end_j]):
                end_i += 1
            else:
                end_j += 1
        first = next((d for d in range(i, end_i) if before[d] != 1), None)
        other = next((d for d in range(j, end_j) if after[d] != 1), None)
        if first is not None and other is not None:
            old[first] = new[other] = count
            count += 1
        i, j = end_i, end_j
    return ShardingRule((tuple(old),), (tuple(new),))
