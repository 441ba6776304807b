"""Sharding rules: the dimensions of an op's operands and results that may be divided together.

A rule gives each dimension a *factor*, a number. Dimensions with the same factor are divided along
the same axes of a mesh, and then the op of the shards is the shard of the op. A dimension without a
factor stays whole. This is what Shardy calls an op sharding rule. For a product of matrices:

    operands ((0, 1), (1, 2)), results ((0, 2),), reduced {1: "add"}
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
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
    stated: frozenset[int] = frozenset()
    """Factors that types along explicit axes of a mesh do not follow: operands must not be divided
    along them, or the layout of the result is stated."""


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
    stated: bool = False,
) -> ShardingRule:
    """Return the rule of an op that handles each index of some dimensions by itself, and leaves
    those that are `gathered` divided as they were; `stated` says that types do not follow these.
    The operands that are scalars are not divided.
    """
    mixed = frozenset(gathered)
    kept = {*dimensions, *mixed}
    return ShardingRule(
        tuple(along(kept if shape else (), len(shape)) for shape in operands),
        tuple(along(kept, len(shape)) for shape in results),
        gathered=mixed,
        stated=mixed if stated else frozenset(),
    )


def same_in_all(
    dimensions: Sequence[int], operands: Sequence[Shape], results: Sequence[Shape]
) -> ShardingRule:
    """Return the rule of an op that handles each index of some dimensions by itself, and leaves all
    others divided as they were.
    """
    others = set(range(len(results[0]))) - set(dimensions)
    return same_along(dimensions, operands, results, others)


def with_own_factors(array: Factors, taken: Iterable[int | None]) -> tuple[Factors, frozenset[int]]:
    """Give the dimensions of an array that have no factor one that is not taken; return the factors
    and the new ones among them.
    """
    free = 1 + max((f for f in taken if f is not None), default=-1)
    found = tuple(free + d if f is None else f for d, f in enumerate(array))
    return found, frozenset(f for f in found if f >= free)


def of_matrices(operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
    """Return the rule of an op that handles each matrix of a batch by itself. Matrices are the last
    two dimensions of the first operand.
    """
    return same_along(range(len(operands[0]) - 2), operands, results)


def of_equations(columns: int, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
    """Return the rule of an op that solves equations for each matrix of a batch, and for each of
    the right sides, whose numbers are dimension `columns` of the second operand.
    """
    a, b = operands
    batch = range(len(a) - 2)
    sides = along((*batch, columns), len(b))
    return ShardingRule((along(batch, len(a)), sides), (sides,))


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
    count = 0
    for of_old, of_new in runs(before, after):
        first = next((d for d in of_old if before[d] != 1), None)
        other = next((d for d in of_new if after[d] != 1), None)
        if first is not None and other is not None:
            old[first] = new[other] = count
            count += 1
    return ShardingRule((tuple(old),), (tuple(new),))


def runs(before: Shape, after: Shape) -> Iterator[tuple[range, range]]:
    """Find the shortest runs of dimensions that become runs of the same size."""
    i = j = 0
    while i < len(before) and j < len(after):
        end_i, end_j = i + 1, j + 1
        while prod(before[i:end_i]) != prod(after[j:end_j]):
            if prod(before[i:end_i]) < prod(after[j:end_j]):
                end_i += 1
            else:
                end_j += 1
        yield range(i, end_i), range(j, end_j)
        i, j = end_i, end_j


Axes = tuple[str, ...]
"""The axes of a mesh along which a dimension is divided."""


def reshaped_layout(
    before: Shape, after: Shape, spec: Sequence[Axes], mesh: Mapping[str, int]
) -> tuple[Axes, ...] | None:
    """Return the layout of a reshaped array, where it follows from that of the array: dimensions
    stay, and one of them is split, or several become one, or dimensions of one element come or go.

    Args:
        before: the shape of the array.
        after: its new shape.
        spec: the axes along which each of its dimensions is divided.
        mesh: the sizes of the axes.

    >>> reshaped_layout((4, 8), (32,), (("x",), ("y",)), {"x": 2, "y": 2})
    (('x', 'y'),)
    >>> reshaped_layout((8,), (2, 4), (("x", "y"),), {"x": 2, "y": 2})
    (('x',), ('y',))
    """
    old, new = ([d for d, n in enumerate(shape) if n != 1] for shape in (before, after))
    if [before[d] for d in old] == [after[d] for d in new]:
        kept = dict(zip(new, old, strict=True))
        return tuple(spec[kept[d]] if d in kept else () for d in range(len(after)))
    start, end = _same_length(before, after), _same_length(before[::-1], after[::-1])
    middle, made = (range(start, len(shape) - end) for shape in (before, after))
    axes = [spec[d] for d in middle]
    if len(middle) == 1:
        parts = _split(axes, [after[d] for d in made], mesh)
    else:
        parts = _joined(axes) if len(made) == 1 else None
    if parts is None:
        return None
    return (*spec[:start], *parts, *spec[len(before) - end :])


def _same_length(before: Shape, after: Shape) -> int:
    """The number of first dimensions that are the same."""
    pairs = enumerate(zip(before, after, strict=False))
    differing = (d for d, (n, m) in pairs if n != m)
    return next(differing, min(len(before), len(after)))


def _joined(axes: Sequence[Axes]) -> list[Axes] | None:
    """The layout of a dimension that several become, of which the first ones are divided."""
    divided = list(map(bool, axes))
    return [tuple(chain(*axes))] if divided == sorted(divided, reverse=True) else None


def _split(
    axes: Sequence[Axes], extents: Sequence[int], mesh: Mapping[str, int]
) -> list[Axes] | None:
    """The layouts of the dimensions that one becomes: the first ones are divided as far as they
    can be.
    """
    (left,) = axes
    found = []
    for n in extents:
        count = 0
        while count < len(left) and n % prod(mesh[axis] for axis in left[: count + 1]) == 0:
            count += 1
        found.append(left[:count])
        is_spent = n == prod(mesh[axis] for axis in left[:count])
        left = left[count:]
        if left and not is_spent:
            return None
    return None if left else found
