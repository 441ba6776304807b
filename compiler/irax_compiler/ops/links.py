"""Links: the elements of an operand that each element of an op's result is computed from.

They are pairs of places in row-major order. A link of a product of matrices goes by the rows and
columns that it is for, so it is a chain of two: from the operand's elements to groups of them, and
from those to the elements of the result.

Links follow from what an op is (`Op.links`): those of an elementwise op are at the same index;
those of one that moves elements are its meaning, applied to numbers of places; those of others go
by the dimensions that its sharding rule divides together. An op that knows more about itself
overrides that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from irax_compiler.ops.sharding_rule import Shape, ShardingRule

Known = np.ndarray | None
"""The value of an operand, or None where it is not known."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of places: element `results[i]` is computed from element `operands[i]`."""

    results: np.ndarray
    operands: np.ndarray
    num_results: int
    """The number of elements of the result."""


@dataclass(frozen=True)
class Use:
    """A use of an operand by an op."""

    number: int
    """The number of the operand."""
    operands: Sequence[Shape]
    """The shapes of all operands."""
    values: Sequence[Known]
    """The values of all operands; that of the operand itself is not known."""
    results: Sequence[Shape]
    """The shapes of all results."""
    result: int = 0
    """The number of the result that is asked for."""

    @property
    def shape(self) -> Shape:
        """The shape of the operand."""
        return self.operands[self.number]


Links = Sequence[Pairs]
"""Pairs, the first of which begin at the operand, and the last of which end at the result. Without
any, elements are linked to those at the same place."""


def places(shape: Shape) -> np.ndarray:
    """Return the number of each element of an array in row-major order."""
    return np.arange(prod(shape), dtype=np.int64).reshape(tuple(shape))


def moved(evaluate: Callable[..., Any], use: Use) -> Links:
    """Return the links of an op that moves elements of its operands to places that its parameters,
    and its operands that are not differentiated, tell.
    """
    # The operand has the numbers of its places, from one, and all others have zeros.
    arrays: list[Any] = [
        np.zeros(tuple(shape), np.int64)
        if value is None or value.dtype.kind not in "iub"
        else value
        for shape, value in zip(use.operands, use.values, strict=True)
    ]
    arrays[use.number] = places(use.shape) + 1
    found = np.asarray(evaluate(*arrays)).reshape(-1)
    (there,) = np.nonzero(found)
    return [Pairs(there, found[there] - 1, found.size)]


def elementwise(use: Use, is_product: bool) -> Links:
    """Return the links of an elementwise op: to a scalar, or to elements at the same index. In a
    product with a known operand, those where it is zero have none.
    """
    count = prod(use.results[use.result])
    there = np.arange(count)
    if is_product:
        (other,) = (value for i, value in enumerate(use.values) if i != use.number)
        if other is not None:
            there = there[np.broadcast_to(other != 0, tuple(use.results[use.result])).reshape(-1)]
    if prod(use.shape) == count:
        return [] if there.size == count else [Pairs(there, there, count)]
    return [Pairs(there, np.zeros_like(there), count)]


def by_dimensions(rule: ShardingRule | None, use: Use) -> Links:
    """Return the links between elements whose index is the same in the dimensions that may be
    divided together.
    """
    shape, of_result = use.shape, use.results[use.result]
    kept: list[tuple[int, int]] = []
    if rule is not None:
        factors = rule.results[use.result]
        there = {f: d for d, f in enumerate(factors) if f is not None and f not in rule.gathered}
        pairs = ((d, there[f]) for d, f in enumerate(rule.operands[use.number]) if f in there)
        kept = [(d, e) for d, e in pairs if shape[d] == of_result[e]]
    return through([d for d, _ in kept], [e for _, e in kept], shape, of_result)


def through(
    of_operand: Sequence[int], of_result: Sequence[int], operand: Shape, result: Shape
) -> Links:
    """Return the links between elements that have the same index in some dimensions of the operand
    and those of the result.
    """
    extents = [operand[d] for d in of_operand]
    group = _numbers(operand, of_operand, extents)
    chosen = _numbers(result, of_result, extents)
    first = Pairs(group, np.arange(prod(operand)), prod(extents))
    return [first, Pairs(np.arange(prod(result)), chosen, prod(result))]


def _numbers(shape: Shape, dims: Sequence[int], extents: Sequence[int]) -> np.ndarray:
    """Return for each element of an array the number of its index in some of its dimensions."""
    found = np.zeros(tuple(shape), np.int64)
    for d, n in zip(dims, extents, strict=True):
        index = np.arange(n).reshape(-1, *[1] * (len(shape) - 1 - d))
        found = found * n + index
    return found.reshape(-1)


def windows(extents: Shape, count: Shape, ranges: Sequence[Sequence[np.ndarray]]) -> Pairs:
    """Return the pairs of results and elements of windows.

    Args:
        extents: the shape of the array that windows are taken of.
        count: the shape of the array of windows.
        ranges: for each dimension, two arrays: the numbers of windows, and of the elements that are
            in them, pair by pair.
    """
    results = operands = np.zeros(1, np.int64)
    for n, m, (window, element) in zip(extents, count, ranges, strict=True):
        results = np.add.outer(results * m, window).reshape(-1)
        operands = np.add.outer(operands * n, element).reshape(-1)
    return Pairs(results, operands, prod(count))


def along_window(
    extent: int, count: int, window: np.ndarray, stride: int, dilation: int, low: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of windows along a dimension, and of the elements that are in them.

    Args:
        extent: the number of elements.
        count: the number of windows.
        window: the places of a window's elements from its start.
        stride: the distance between the starts of neighbouring windows.
        dilation: the distance between neighbouring elements.
        low: the number of zeros before the first element.
    """
    place = np.add.outer(np.arange(count) * stride, window) - low
    element, rest = np.divmod(place, dilation)
    inside = (rest == 0) & (element >= 0) & (element < extent)
    which = np.broadcast_to(np.arange(count)[:, None], place.shape)
    return which[inside], element[inside]
