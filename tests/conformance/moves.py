"""Cases of operations that move elements: pads, slices, joins, gathers and scatters."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from tests.conformance.arrays import (
    COMPUTED,
    MOVED,
    case,
    combiner,
    edges,
    filled,
    i64s,
    padded,
    reducers,
    region,
    shaped,
    small,
)
from tests.conformance.cases import Case
from tests.conformance.formats import FORMATS

INDICES = ("i32", "i64", "i8", "ui8", "ui32", "i16", "ui64")


def pads(rng: random.Random, count: int) -> Iterator[Case]:
    for i in range(count):
        name = MOVED[i % len(MOVED)]
        shape = shaped(rng, rng.choice([0, 1, 1, 2, 2, 3]))
        low, high = ([rng.randint(-3, 3) for _ in shape] for _ in range(2))
        interior = [rng.choice([0, 0, 1, 2]) for _ in shape]
        for d, n in enumerate(shape):
            extent = low[d] + high[d] + max(n - 1, 0) * interior[d] + n
            high[d] -= min(extent, 0)
        x, value = edges(FORMATS[name], shape, rng), edges(FORMATS[name], (), rng)
        attributes = (
            f"edge_padding_low = {i64s(low)}, edge_padding_high = {i64s(high)}, "
            f"interior_padding = {i64s(interior)}"
        )
        found = padded(x, value[()], low, high, interior)
        note = f"{name} {shape} low {low} high {high} interior {interior}"
        yield case("stablehlo.pad", note, [(name, x), (name, value)], [(name, found)], attributes)


def slices(rng: random.Random, count: int) -> Iterator[Case]:
    for i in range(count):
        name = MOVED[i % len(MOVED)]
        shape = shaped(rng, rng.choice([1, 1, 2, 3]), 6)
        starts = [rng.randint(0, n) for n in shape]
        limits = [rng.randint(s, n) for s, n in zip(starts, shape, strict=True)]
        strides = [rng.choice([1, 1, 2, 3, 9]) for _ in shape]
        x = edges(FORMATS[name], shape, rng)
        found = x[tuple(slice(*three) for three in zip(starts, limits, strides, strict=True))]
        attributes = (
            f"start_indices = {i64s(starts)}, limit_indices = {i64s(limits)}, "
            f"strides = {i64s(strides)}"
        )
        note = f"{name} {shape} {starts} {limits} {strides}"
        yield case("stablehlo.slice", note, [(name, x)], [(name, found)], attributes)


def plain_moves(rng: random.Random, count: int) -> Iterator[Case]:
    """reverse, transpose, broadcast_in_dim, reshape, concatenate, iota, select."""
    for i in range(count):
        name = MOVED[i % len(MOVED)]
        format = FORMATS[name]
        shape = shaped(rng, rng.choice([1, 2, 3]))
        rank = len(shape)
        x = edges(format, shape, rng)
        dims = sorted(rng.sample(range(rank), rng.randint(0, rank)))
        note = f"{name} {shape}"
        found = np.flip(x, tuple(dims)) if dims else x
        yield case(
            "stablehlo.reverse",
            f"{note} {dims}",
            [(name, x)],
            [(name, found)],
            f"dimensions = {i64s(dims)}",
        )
        order = rng.sample(range(rank), rank)
        yield case(
            "stablehlo.transpose",
            f"{note} {order}",
            [(name, x)],
            [(name, x.transpose(order))],
            f"permutation = {i64s(order)}",
        )
        yield _broadcast(name, x, rng)
        flat = x.reshape(-1)
        other = rng.choice([[x.size], [x.size, 1], [1, x.size], [1, x.size, 1]])
        if x.size % 2 == 0 and x.size:
            other = [x.size // 2, 2]
        yield case(
            "stablehlo.reshape", f"{note} to {other}", [(name, x)], [(name, flat.reshape(other))]
        )
        axis = rng.randrange(rank)
        parts = []
        for _ in range(rng.randint(1, 4)):
            extent = list(shape)
            extent[axis] = rng.choice([0, 1, 2, 3])
            parts.append(edges(format, extent, rng))
        yield case(
            "stablehlo.concatenate",
            f"{note} {[p.shape[axis] for p in parts]} along {axis}",
            [(name, p) for p in parts],
            [(name, np.concatenate(parts, axis))],
            f"dimension = {axis} : i64",
        )
        y, p = edges(format, shape, rng), edges(FORMATS["i1"], rng.choice([shape, ()]), rng)
        yield case(
            "stablehlo.select",
            f"{note} by {list(p.shape)}",
            [("i1", p), (name, x), (name, y)],
            [(name, np.where(np.broadcast_to(p, x.shape).astype(bool), x, y))],
        )
        if name not in ("i1", "f4E2M1FN", "f6E3M2FN", "f8E8M0FNU", "i2"):
            axis = rng.randrange(rank)
            zero: Any = 0j if name.startswith("c") else 0.0 if "f" in name else 0
            counted = [zero + k for k in range(shape[axis])]
            along = np.array(counted, object).reshape([-1 if d == axis else 1 for d in range(rank)])
            yield case(
                "stablehlo.iota",
                f"{note} along {axis}",
                [],
                [(name, np.broadcast_to(along, shape))],
                f"iota_dimension = {axis} : i64",
            )


def _broadcast(name: str, x: np.ndarray, rng: random.Random) -> Case:
    rank = x.ndim + rng.randint(0, 2)
    places = rng.sample(range(rank), x.ndim)
    extents = [rng.choice([0, 1, 2, 3]) for _ in range(rank)]
    for d, place in enumerate(places):
        if x.shape[d] != 1:
            extents[place] = x.shape[d]
    order = sorted(range(x.ndim), key=lambda d: places[d])
    view = [1] * rank
    for d, place in enumerate(places):
        view[place] = x.shape[d]
    found = np.broadcast_to(x.transpose(order).reshape(view), extents)
    note = f"{name} {list(x.shape)} at {places} to {extents}"
    attributes = f"broadcast_dimensions = {i64s(places)}"
    return case("stablehlo.broadcast_in_dim", note, [(name, x)], [(name, found)], attributes)


def _start(rng: random.Random, index: str, n: int) -> int:
    format = FORMATS[index]
    some = [0, 1, n - 1, n, n + 1, -1, -n, format.largest, format.smallest, format.largest // 2]
    some += [rng.randint(0, n)] * 6
    return min(max(rng.choice(some), format.smallest), format.largest)


def dynamic_slices(rng: random.Random, count: int) -> Iterator[Case]:
    for i in range(count):
        name, index = MOVED[i % len(MOVED)], rng.choice(INDICES)
        shape = shaped(rng, rng.choice([0, 1, 1, 2, 3]), 6)
        sizes = [rng.randint(0, n) for n in shape]
        starts = [_start(rng, index, n) for n in shape]
        inside = [min(max(s, 0), n - k) for s, n, k in zip(starts, shape, sizes, strict=True)]
        x = edges(FORMATS[name], shape, rng)
        given = [(index, np.array(s, object)) for s in starts]
        place = tuple(slice(a, a + k) for a, k in zip(inside, sizes, strict=True))
        note = f"{name} {shape} {sizes} at {index} {starts}"
        attributes = f"slice_sizes = {i64s(sizes)}"
        yield case(
            "stablehlo.dynamic_slice", note, [(name, x), *given], [(name, x[place])], attributes
        )
        update = edges(FORMATS[name], sizes, rng)
        found = x.copy()
        found[place] = update
        operands = [(name, x), (name, update), *given]
        yield case("stablehlo.dynamic_update_slice", note, operands, [(name, found)])


def _numbers(rng: random.Random, rank: int) -> tuple[list[int], list[int], list[int]]:
    """Dimensions of an operand: those of batches, those that windows lack, those indexed."""
    dims = list(range(rank))
    batching = [0] if rank > 1 and rng.random() < 0.25 else []
    rest = [d for d in dims if d not in batching]
    inserted = sorted(rng.sample(rest, rng.randint(0, len(rest))))
    indexed = rng.sample(rest, rng.randint(1, len(rest)))
    return batching, inserted, indexed


def gathers(rng: random.Random, count: int) -> Iterator[Case]:
    for i in range(count):
        name, index = MOVED[i % len(MOVED)], rng.choice(INDICES)
        shape = shaped(rng, rng.choice([1, 2, 2, 3]), 5, empty=0)
        batching, collapsed, indexed = _numbers(rng, len(shape))
        one = {*batching, *collapsed}
        sizes = [
            1 if d in one else rng.randint(1 if rng.random() < 0.9 else 0, n)
            for d, n in enumerate(shape)
        ]
        batch = [shape[d] for d in batching] + shaped(rng, rng.choice([0, 1, 1, 2]), 3)
        at = rng.randint(0, len(batch))
        if len(indexed) == 1 and rng.random() < 0.3:
            at, starts_shape = len(batch), batch
        else:
            starts_shape = batch[:at] + [len(indexed)] + batch[at:]
        limit = max(shape)
        starts = filled(starts_shape, partial(_start, rng, index, limit))
        windows = [d for d in range(len(shape)) if d not in one]
        rank = len(batch) + len(windows)
        offset = sorted(rng.sample(range(rank), len(windows)))
        around = [d for d in range(rank) if d not in offset]
        extents = [0] * rank
        for d, n in zip(around, batch, strict=True):
            extents[d] = n
        for d, w in zip(offset, windows, strict=True):
            extents[d] = sizes[w]
        x = edges(FORMATS[name], shape, rng)
        found = np.empty(extents, object)
        for place in np.ndindex(found.shape):
            b = [place[d] for d in around]
            vector = _vector(starts, b, at, len(batch))
            where = [0] * len(shape)
            for d, s in zip(indexed, vector, strict=True):
                where[d] = min(max(int(s), 0), shape[d] - sizes[d])
            for d, k in zip(batching, range(len(batching)), strict=True):
                where[d] += b[k]
            for d, w in zip(offset, windows, strict=True):
                where[w] += place[d]
            found[place] = x[tuple(where)]
        batches = [k if k < at else k + 1 for k in range(len(batching))]
        attributes = (
            f"dimension_numbers = #stablehlo.gather<offset_dims = {offset}, collapsed_slice_dims = "
            f"{collapsed}, operand_batching_dims = {batching}, "
            f"start_indices_batching_dims = {batches}, "
            f"start_index_map = {indexed}, index_vector_dim = {at}>, slice_sizes = {i64s(sizes)}, "
            "indices_are_sorted = false"
        )
        note = (
            f"{name} {shape} {sizes} {index} {starts_shape} "
            f"{offset} {collapsed} {batching} {indexed} {at}"
        )
        yield case(
            "stablehlo.gather", note, [(name, x), (index, starts)], [(name, found)], attributes
        )


def _vector(starts: np.ndarray, batch: list[int], at: int, rank: int) -> list[Any]:
    if starts.ndim == rank:
        return [starts[tuple(batch)]]
    return list(starts[(*batch[:at], slice(None), *batch[at:])])


def scatters(rng: random.Random, count: int) -> Iterator[Case]:
    """Scatters whose windows are in bounds or out of them as a whole, and others."""
    for i in range(count):
        name, index = COMPUTED[i % len(COMPUTED)], rng.choice(INDICES)
        format = FORMATS[name]
        shape = shaped(rng, rng.choice([1, 2, 2, 3]), 5, empty=0)
        batching, inserted, indexed = _numbers(rng, len(shape))
        one = {*batching, *inserted}
        windows = [d for d in range(len(shape)) if d not in one]
        sizes = [1 if d in one else rng.randint(1, n) for d, n in enumerate(shape)]
        batch = [shape[d] for d in batching] + shaped(rng, rng.choice([0, 1, 1, 2]), 4)
        at = rng.randint(0, len(batch))
        if len(indexed) == 1 and rng.random() < 0.3:
            at, starts_shape = len(batch), batch
        else:
            starts_shape = batch[:at] + [len(indexed)] + batch[at:]
        starts = filled(starts_shape, partial(_start, rng, index, max(shape)))
        rank = len(batch) + len(windows)
        update_windows = sorted(rng.sample(range(rank), len(windows)))
        around = [d for d in range(rank) if d not in update_windows]
        extents = [0] * rank
        for d, n in zip(around, batch, strict=True):
            extents[d] = n
        for d, w in zip(update_windows, windows, strict=True):
            extents[d] = sizes[w]
        x, updates = small(format, shape, rng), small(format, extents, rng)
        op = rng.choice(reducers(format))
        combine = combiner(op, format)
        found, whole = x.copy(), x.copy()
        for place in np.ndindex(updates.shape):
            b = [place[d] for d in around]
            corner = [0] * len(shape)
            for d, s in zip(indexed, _vector(starts, b, at, len(batch)), strict=True):
                corner[d] = int(s)
            for d, k in zip(batching, range(len(batching)), strict=True):
                corner[d] += b[k]
            where = list(corner)
            for d, w in zip(update_windows, windows, strict=True):
                where[w] += place[d]
            if all(0 <= p < n for p, n in zip(where, shape, strict=True)):
                found[tuple(where)] = combine(found[tuple(where)], updates[place])
                if all(0 <= c <= n - k for c, n, k in zip(corner, shape, sizes, strict=True)):
                    whole[tuple(where)] = combine(whole[tuple(where)], updates[place])
        batches = [k if k < at else k + 1 for k in range(len(batching))]
        attributes = (
            "scatter_dimension_numbers = #stablehlo.scatter<"
            f"update_window_dims = {update_windows}, "
            f"inserted_window_dims = {inserted}, input_batching_dims = {batching}, "
            f"scatter_indices_batching_dims = {batches}, scatter_dims_to_operand_dims = {indexed}, "
            f"index_vector_dim = {at}>, indices_are_sorted = false, unique_indices = false"
        )
        reach = "" if (found == whole).all() else " (windows partly outside)"
        note = (
            f"{name} {op} {shape} {sizes} {index} {starts_shape} "
            f"{update_windows} {inserted} {batching} {indexed} {at}{reach}"
        )
        operands = [(name, x), (index, starts), (name, updates)]
        yield case(
            "stablehlo.scatter", note, operands, [(name, found)], attributes, region(op, name)
        )


def everything(rng: random.Random, count: int) -> Iterator[Case]:
    """All of these."""
    for make in (pads, slices, dynamic_slices, gathers, scatters):
        yield from make(rng, count)
    yield from plain_moves(rng, count // 3)
