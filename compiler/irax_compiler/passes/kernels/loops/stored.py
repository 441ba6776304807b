"""Lowerings of operations that move, reduce or multiply arrays in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.registers import Registers
from irax_compiler.ops.registry import read
from irax_compiler.ops.slicing import Concatenate, Pad, Slice
from irax_compiler.passes.kernels.loops import nests, vectors
from irax_compiler.passes.kernels.loops.arrays import Array, Place
from irax_compiler.passes.kernels.loops.nests import LANES
from irax_compiler.passes.kernels.loops.vectors import Combine
from irax_compiler.passes.rewriting import read_as

New = Callable[[np.dtype, Sequence[int]], Array]
"""Returns memory for an array."""

AGAIN = 4
"""The number of times that elements are read from which they are put side by side before."""

# ---- moves ---------------------------------------------------------------------------------------


def moves(operation: Operation) -> bool:
    """True if an operation moves elements to places that strides describe."""
    pad = read_as(Pad, operation)
    if pad is not None:
        return min((*pad.edge_padding_low, *pad.edge_padding_high), default=0) >= 0
    return len(operation.operands) == 1 or operation.name == Concatenate.name


def moved(operation: Operation, arrays: Sequence[Array], new: New) -> Array:
    """Lower an operation that moves elements. Where possible, nothing is copied."""
    op, extents = read(operation), shape_of(operation.results[0])
    if len(arrays) == 1:
        (array,) = arrays
        if prod(extents) >= AGAIN * array.size and not _is_read_by_vectors(array):
            array = copied(array, new)
        found = array.seen_through(op)
        return contiguous(array, new).with_shape(extents) if found is None else found
    whole = new(arrays[0].dtype, extents)
    if isinstance(op, Pad):
        nests.fill(whole, arrays[1].read())
        strides = tuple(n + 1 for n in op.interior_padding)
        last = zip(op.edge_padding_low, arrays[0].extents, strides, strict=True)
        limits = tuple(low + (n - 1) * stride + 1 for low, n, stride in last)
        _copy_to(whole, Slice(op.edge_padding_low, limits, strides), arrays[0])
        return whole
    assert isinstance(op, Concatenate)
    start = 0
    for array in arrays:
        starts, limits = [0] * len(extents), list(extents)
        starts[op.dimension], limits[op.dimension] = start, start + array.extents[op.dimension]
        _copy_to(whole, Slice(tuple(starts), tuple(limits), (1,) * len(extents)), array)
        start = limits[op.dimension]
    return whole


def _is_read_by_vectors(array: Array) -> bool:
    """True if neighbours along the last dimension are side by side in memory, or one element."""
    strides = array.squeezed().strides
    return not strides or strides[-1] in (0, 1)


def _copy_to(whole: Array, places: Slice, part: Array) -> None:
    to = whole.seen_through(places)
    assert to is not None
    nests.copy(part, to)


def copied(array: Array, new: New) -> Array:
    """Build a copy of an array."""
    to = new(array.dtype, array.extents)
    nests.copy(array, to)
    return to


def contiguous(array: Array, new: New) -> Array:
    """Return an array, or a copy of it, whose elements are side by side in order."""
    return array if array.is_contiguous else copied(array, new)


# ---- reductions ----------------------------------------------------------------------------------


def reduced(
    operation: Operation, arrays: Sequence[Array], start: Registers, combine: Combine, new: New
) -> list[Array]:
    """Lower `stablehlo.reduce`: along the reduced dimensions, several elements of these at a time,
    or several results at a time.
    """
    reduced = vectors.dimensions(operation)
    kept = [d for d in range(len(arrays[0].extents)) if d not in reduced]
    results = [new(dtype_of(x), shape_of(x)) for x in operation.results]
    is_across = bool(kept) and arrays[0].strides[kept[-1]] == 1 and arrays[0].extents[kept[-1]] > 1
    build = _across if is_across else _along

    def body(size: int, places: list[Place]) -> None:
        inside = [
            replace(array.ordered(reduced), base=place.at)
            for array, place in zip(arrays, places, strict=False)
        ]
        ends = places[len(arrays) :]
        distances = [place.distance for place in places]
        found = build(nests.collapsed(inside), distances, size, start, combine)
        for x, place in zip(found, ends, strict=True):
            place.write(x)

    each = [*(array.ordered(kept) for array in arrays), *results]
    nests.each(each, body, LANES if is_across else 1)
    return results


def _across(
    arrays: Sequence[Array],
    distances: Sequence[int],
    size: int,
    start: Registers,
    combine: Combine,
) -> Registers:
    """Reduce elements to `size` results."""

    def step(places: list[Place], totals: list[Value]) -> Registers:
        each = zip(places, distances, strict=False)
        return combine(totals, [replace(p, distance=n).read(size) for p, n in each])

    return nests.fold_in_blocks(arrays, [registers.spread(x, size) for x in start], step, combine)


def _along(
    arrays: Sequence[Array],
    distances: Sequence[int],
    size: int,
    start: Registers,
    combine: Combine,
) -> Registers:
    """Reduce elements to one result."""
    return folded(arrays, start, combine, combine)


def folded(arrays: Sequence[Array], start: Registers, take: Combine, combine: Combine) -> Registers:
    """Fold the elements of collapsed arrays to numbers: `take` adds elements to partial results,
    one for each of those that are read together, and `combine` adds these up.
    """
    *outer, length = arrays[0].extents or (1,)
    remaining = length % LANES
    totals: Registers = start
    for first, count, lanes in ((0, length - remaining, LANES), (length - remaining, remaining, 1)):
        if not count:
            continue
        lanes = count if lanes == 1 else lanes

        def step(places: list[Place], partial: list[Value], lanes: int = lanes) -> Registers:
            return take(partial, [place.read(lanes) for place in places])

        starts = [registers.index(0)] * len(outer) + [registers.index(first)]
        parts = [
            array.part(starts, (*outer, count)) if array.extents else array for array in arrays
        ]
        spread = [registers.spread(x, lanes) for x in start]
        partial = nests.fold_in_blocks(parts, spread, step, combine, lanes)
        totals = combine(totals, vectors.halved(partial, lanes, 1, combine))
    return totals
