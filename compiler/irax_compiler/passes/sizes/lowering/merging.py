"""Sorts of rows of unknown size: runs of sorted elements are merged, ever longer ones.

A pass over the elements merges pairs of runs of some width. An element of the result looks by
halves for the number of elements that come before it in the first run of its pair; the others are
of the second one. So all elements are computed apart, by gathers, whatever the sizes are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from irax_compiler.mlir import Value, shape_of
from irax_compiler.ops import bitwise, comparison, elementwise, shape, slicing
from irax_compiler.ops.core import full
from irax_compiler.ops.indexing.gather_scatter import Gather
from irax_compiler.ops.loop_builders import while_loop
from irax_compiler.ops.reductions.window_shapes import WindowDims
from irax_compiler.ops.sorting import sort
from irax_compiler.ops.sorting.top_k import TopK
from irax_compiler.passes.rewriting import rewrites
from irax_compiler.sizes import is_symbolic

I32 = np.dtype(np.int32)
_ELEMENT = WindowDims(
    window_dims=(),
    collapsed_dims=(0,),
    operand_batching_dims=(),
    indices_batching_dims=(),
    index_map=(0,),
    index_vector_dim=1,
)


@rewrites(sort.Sort, sort.SortBy)
def sort_by_merging(op: sort.Sort | sort.SortBy, *operands: Value) -> Sequence[Value] | None:
    """Sort arrays of unknown size by merging."""
    return _sorted(op, operands) if any(map(is_symbolic, shape_of(operands[0]))) else None


def _sorted(op: sort.Sort | sort.SortBy, operands: Sequence[Value]) -> Sequence[Value]:
    extents = shape_of(operands[0])
    rank = len(extents)
    last = [d for d in range(rank) if d != op.dimension % rank] + [op.dimension % rank]
    count = prod(extents[d] for d in last)
    length = full((), extents[last[-1]], I32)
    flat = [shape.reshape(shape.transpose(x, last), (count,)) for x in operands]
    merging = _Merging(op.precedes, flat, count, length)
    _, order = while_loop(
        lambda width, _: comparison.less(width, length),
        lambda width, order: [_twice(width), merging.merged(width, order)],
        [full((), 1, I32), shape.Iota((count,), I32, 0)()],
    )
    found = [_at(x, order) for x in flat]
    moved = tuple(extents[d] for d in last)
    back = tuple(int(d) for d in np.argsort(last))
    return [shape.transpose(shape.reshape(x, moved), back) for x in found]


@rewrites(TopK)
def top_k_by_merging(op: TopK, x: Value) -> Sequence[Value] | None:
    """Take the first elements of whole rows in descending order."""
    extents = shape_of(x)
    if not any(map(is_symbolic, extents)):
        return None
    dimension = len(extents) - 1
    descending = sort.Sort(dimension, True, sort.Order(1, "GT", total=True))
    ordered = _sorted(descending, [x, sort.numbers_along(x, dimension)])
    return [slicing.slice_in_dim(v, 0, op.k, dimension) for v in ordered]


class _Merging:
    """Merges runs of places of elements, of rows that lie one after the other. IREE's compiler ends
    where a loop carries several arrays of unknown size that are merged.
    """

    def __init__(
        self,
        precedes: Callable[[Sequence[Value]], Value],
        operands: Sequence[Value],
        count: Any,
        length: Value,
    ) -> None:
        self._precedes = precedes
        self._operands = operands
        self._count = count
        self._length = length
        places = shape.Iota((count,), I32, 0)()
        self._own = elementwise.remainder(places, self._all(length))
        self._row = elementwise.subtract(places, self._own)

    def merged(self, width: Value, order: Value) -> Value:
        """Return the places of elements after runs of a width are merged in pairs."""
        widths, lengths = self._all(width), self._all(self._length)
        place = elementwise.remainder(self._own, _twice(widths))
        first = elementwise.subtract(self._own, place)
        second = elementwise.minimum(elementwise.add(first, widths), lengths)
        end = elementwise.minimum(elementwise.add(second, widths), lengths)
        of_first = elementwise.subtract(second, first)
        of_second = elementwise.subtract(end, second)
        zero = self._all(full((), 0, I32))
        low = elementwise.maximum(zero, elementwise.subtract(place, of_second))
        high = elementwise.minimum(place, of_first)

        def element(start: Value, number: Value) -> Value:
            return _at(order, elementwise.add(self._row, elementwise.add(start, number)))

        def comes_later(number: Value) -> Value:
            """True where the first run's element comes after the second's at its place."""
            other = elementwise.subtract(elementwise.subtract(place, one), number)
            return self._before(element(second, other), element(first, number))

        def halve(steps: Value, low: Value, high: Value) -> Sequence[Value]:
            middle = elementwise.divide(elementwise.add(low, high), two)
            is_open = comparison.less(low, high)
            later = bitwise.and_(is_open, comes_later(middle))
            earlier = bitwise.and_(is_open, bitwise.not_(later))
            further = elementwise.add(middle, one)
            return [
                elementwise.divide(steps, full((), 2, I32)),
                comparison.select(earlier, further, low),
                comparison.select(later, middle, high),
            ]

        one, two = (self._all(full((), n, I32)) for n in (1, 2))
        _, taken, _ = while_loop(
            lambda steps, *_: comparison.greater(steps, full((), 0, I32)),
            halve,
            [_twice(width), low, high],
        )
        rest = elementwise.subtract(place, taken)
        left, right = element(first, taken), element(second, rest)
        from_left = bitwise.and_(
            comparison.less(taken, of_first),
            bitwise.or_(
                comparison.greater_equal(rest, of_second),
                bitwise.not_(self._before(right, left)),
            ),
        )
        return comparison.select(from_left, left, right)

    def _before(self, left: Value, right: Value) -> Value:
        """Return where the elements at some places go before those at others."""
        pairs = [_at(x, places) for x in self._operands for places in (left, right)]
        return self._precedes(pairs)

    def _all(self, scalar: Value) -> Value:
        return shape.broadcast_scalar(scalar, (self._count,))


def _at(x: Value, places: Value) -> Value:
    """The elements at places in an array, or at the nearest there are."""
    return Gather(_ELEMENT, (1,), indices_are_sorted=False)(x, places)


def _twice(x: Value) -> Value:
    return elementwise.add(x, x)
