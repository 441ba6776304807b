"""Sorting networks for GPUs, on which many pairs of elements are compared at a time.

The network is D. E. Knuth's merge exchange (The Art of Computer Programming, 5.2.2, Algorithm M).
It has log(n)**2 / 2 steps. Each compares elements in pairs, at a distance that depends on the step
alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from irax_compiler.mlir import Operation, Value, shape_of
from irax_compiler.ops import barrier, comparison, elementwise, shape, slicing
from irax_compiler.ops.core import full
from irax_compiler.ops.formula import Number, where
from irax_compiler.ops.indexing import dynamic_slices, gather_scatter
from irax_compiler.ops.loop_builders import while_loop
from irax_compiler.ops.reductions import window_shapes
from irax_compiler.ops.sorting import sort
from irax_compiler.passes.legalize.iree.sorting import taken_in_order
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.rewriting import read_as

INT32 = np.dtype(np.int32)


@legalizes("stablehlo.sort", kind="slow", of="IREE")
def sort_by_exchanges(operation: Operation) -> Sequence[Value] | None:
    """Sort by a network. On GPUs, IREE's sort compares all pairs of elements in one thread, and it
    does not compile some sorts of several operands or of 8-bit floats.
    """
    op = read_as(sort.Sort, operation)
    operands = list(operation.operands)
    extents = shape_of(operands[0])
    if op is None or 0 in extents or extents[op.dimension] == 1:
        return None
    return taken_in_order(op, operands, _order)


def _order(keys: Sequence[Value], dimension: int) -> Value:
    """Return the indices of the elements in the order of the keys, and of the indices for equal
    keys.
    """
    length = shape_of(keys[0])[dimension]
    steps = list(_steps(length))
    table = shape.Constant(np.array(steps, np.int32))()
    zero = full((), 0, INT32)
    # IREE does not compile a loop that begins with numbers which are needed elsewhere, too.
    (places,) = barrier.barrier.build([sort.numbers_along(keys[0], dimension)])

    def advance(step: Value, *columns: Value) -> list[Value]:
        row = dynamic_slices.DynamicSlice((1, 3))(table, step, zero)
        columns = tuple(_exchanged(columns, shape.reshape(row, (3,)), dimension))
        return [elementwise.add(step, full((), 1, INT32)), *columns]

    limit = full((), len(steps), INT32)
    start = [zero, *keys, places]
    _, *_, order = while_loop(lambda i, *_: comparison.less(i, limit), advance, start)
    return order


def _steps(length: int) -> Iterator[tuple[int, int, int]]:
    """Return, for each step, p, r and d: elements i with i & p == r are compared with those at i +
    d.
    """
    top = 1 << ((length - 1).bit_length() - 1)
    p = top
    while p:
        q, r, d = top, 0, p
        while True:
            yield p, r, d
            if q == p:
                break
            q, r, d = q >> 1, p, q - p
        p >>= 1


def _exchanged(columns: Sequence[Value], step: Value, dimension: int) -> Iterator[Value]:
    """Return the columns after one step; rows are keys, the last of which are all different."""
    extents = shape_of(columns[0])
    length = extents[dimension]
    numbers = Number(shape.Iota((length,), INT32, 0)())
    p, r, d = (
        Number(shape.BroadcastInDim((length,), (0,))(slicing.slice_in_dim(step, i, i + 1, 0)))
        for i in range(3)
    )
    is_low = (numbers & p).equals(r) & (numbers + d < length)
    is_high = (numbers >= d) & ((numbers - d) & p).equals(r)
    partners = where(is_low, numbers + d, where(is_high, numbers - d, numbers))
    others = [_rows(x, partners.value, dimension) for x in columns]
    spread = shape.BroadcastInDim(extents, (dimension,))
    low, high = Number(spread(is_low.value)), Number(spread(is_high.value))
    is_first = _is_before(list(map(Number, columns)), list(map(Number, others)))
    # Comparisons of pairs that are not exchanged in this step are with themselves.
    stays = where(low, is_first, where(high, ~is_first, ~(low | high)))
    for mine, other in zip(columns, others, strict=True):
        yield where(stays, Number(mine), Number(other)).value


def _rows(x: Value, places: Value, dimension: int) -> Value:
    """Gather the elements at these indices along a dimension."""
    extents = shape_of(x)
    dims = window_shapes.WindowDims(
        window_dims=tuple(d for d in range(len(extents)) if d != dimension),
        collapsed_dims=(dimension,),
        index_map=(dimension,),
        index_vector_dim=1,
    )
    sizes = tuple(1 if d == dimension else n for d, n in enumerate(extents))
    indices = shape.reshape(places, (*shape_of(places), 1))
    return gather_scatter.Gather(dims, sizes, indices_are_sorted=False)(x, indices)


def _is_before(mine: Sequence[Number], others: Sequence[Number]) -> Number:
    (*_, last), (*_, other_last) = mine, others
    result = last < other_last
    for x, y in zip(reversed(mine[:-1]), reversed(others[:-1]), strict=True):
        result = (x < y) | (x.equals(y) & result)
    return result
