"""Cases of reductions, windows, products and convolutions, of small integers: sums are exact."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from tests.conformance.arrays import (
    COMPUTED,
    case,
    combiner,
    comparing,
    edges,
    filled,
    i64s,
    neutral,
    padded,
    pairs,
    reducers,
    region,
    shaped,
    small,
    windows_of,
)
from tests.conformance.cases import Case
from tests.conformance.formats import FORMATS, Complex, Float, Format, Integer

REDUCED = (
    *COMPUTED,
    "i1",
    "ui4",
    "i4",
    "i16",
    "f8E4M3FN",
    "f8E5M2",
    "complex<f32>",
    "complex<f64>",
)


def _operand(format: Format, op: str, shape: Sequence[int], rng: random.Random) -> np.ndarray:
    """Numbers that an op reduces exactly, in any order."""
    kind = op.partition(".")[2]
    if kind in ("maximum", "minimum", "and", "or", "xor"):
        x = edges(format, shape, rng)
        return x
    if isinstance(format, Float) and format.digits < 8:
        return filled(
            shape, lambda: float(rng.choice([0, 0, 0, 1, -1] if kind == "add" else [1, 1, -1]))
        )
    if kind == "multiply":
        some = [1, 1, -1, 2] if not isinstance(format, Integer) or format.signed else [1, 1, 2]
        one: Any = (
            complex
            if isinstance(format, Complex)
            else int
            if isinstance(format, Integer)
            else float
        )
        return filled(shape, lambda: one(rng.choice(some)))
    return small(format, shape, rng)


def _fold(op: str, format: Format, start: Any, values: Sequence[Any]) -> Any:
    combine = combiner(op, format)
    for value in values:
        start = combine(start, value)
    return start


def _zeros(format: Format) -> float:
    """Zeros of either sign are allowed in products of complex numbers."""
    return ANY_ZERO if isinstance(format, Complex) else 0


def reduces(rng: random.Random, count: int) -> Iterator[Case]:
    for i in range(count):
        name = REDUCED[i % len(REDUCED)]
        format = FORMATS[name]
        op = (
            rng.choice(reducers(format))
            if name != "i1"
            else rng.choice(["stablehlo.add", "stablehlo.and", "stablehlo.or"])
        )
        shape = shaped(rng, rng.choice([1, 2, 2, 3]), 5, 0.1)
        dims = sorted(rng.sample(range(len(shape)), rng.randint(0, len(shape))))
        x = _operand(format, op, shape, rng)
        start = np.array(neutral(op, format), object)
        kept = [d for d in range(len(shape)) if d not in dims]
        found = np.empty([shape[d] for d in kept], object)
        for place in np.ndindex(found.shape):
            pick = [slice(None)] * len(shape)
            for d, p in zip(kept, place, strict=True):
                pick[d] = p
            found[place] = _fold(
                op, format, start[()], list(np.ravel(np.asarray(x[tuple(pick)], object)))
            )
        note = f"{name} {op} {shape} over {dims}"
        yield case(
            "stablehlo.reduce",
            note,
            [(name, x), (name, start)],
            [(name, found)],
            f"dimensions = {i64s(dims)}",
            region(op, name),
            absolute=_zeros(format),
        )


def windows(rng: random.Random, count: int) -> Iterator[Case]:
    made = 0
    while made < count:
        name = REDUCED[made % len(REDUCED)]
        format = FORMATS[name]
        op = rng.choice(reducers(format)) if name != "i1" else "stablehlo.or"
        rank = rng.choice([1, 1, 2, 2, 3])
        shape = shaped(rng, rank, 6)
        sizes = [rng.randint(1, 4) for _ in shape]
        strides, base, dilations = ([rng.choice([1, 1, 2, 3]) for _ in shape] for _ in range(3))
        low, high = ([rng.randint(-2, 3) for _ in shape] for _ in range(2))
        extents = [
            (0 if n == 0 else (n - 1) * b + 1) + lo + hi
            for n, b, lo, hi in zip(shape, base, low, high, strict=True)
        ]
        if any(n < 0 for n in extents):
            continue
        made += 1
        x = _operand(format, op, shape, rng)
        start = np.array(neutral(op, format), object)
        if (
            not isinstance(format, Complex)
            and rng.random() < 0.3
            and op.endswith(("maximum", "minimum"))
        ):
            start = edges(format, (), rng)
        p = padded(x, start[()], low, high, [b - 1 for b in base])
        counts = windows_of(extents, sizes, strides, dilations)
        found = np.empty(counts, object)
        for place in np.ndindex(found.shape):
            pick = tuple(
                slice(a * s, a * s + (k - 1) * d + 1, d)
                for a, s, k, d in zip(place, strides, sizes, dilations, strict=True)
            )
            found[place] = _fold(op, format, start[()], list(np.ravel(p[pick])))
        attributes = (
            f"window_dimensions = {i64s(sizes)}, window_strides = {i64s(strides)}, "
            f"base_dilations = {i64s(base)}, window_dilations = {i64s(dilations)}, "
            f"padding = {pairs(list(zip(low, high, strict=True)))}"
        )
        note = (
            f"{name} {op} {shape} sizes {sizes} strides {strides} "
            f"dilations {base} {dilations} padding {low} {high}"
        )
        operands = [(name, x), (name, start)]
        yield case(
            "stablehlo.reduce_window",
            note,
            operands,
            [(name, found)],
            attributes,
            region(op, name),
            absolute=_zeros(format),
        )


def select_and_scatters(rng: random.Random, count: int) -> Iterator[Case]:
    made = 0
    while made < count:
        name = ("f32", "f64", "i32", "i8", "bf16", "ui8", "f16", "i64", "ui32")[made % 9]
        format = FORMATS[name]
        rank = rng.choice([1, 2, 2, 3])
        shape = shaped(rng, rank, 6, 0)
        most = rng.choice([3, 3, 9 if rank < 3 else 4])  # windows larger than the operand, too
        sizes = [rng.randint(1, most) for _ in shape]
        strides = [rng.randint(1, most) for _ in shape]
        low, high = ([rng.randint(0, k - 1) for k in sizes] for _ in range(2))
        if rng.random() < 0.2:
            low, high = ([rng.randint(-2, k) for k in sizes] for _ in range(2))
        extents = [n + a + b for n, a, b in zip(shape, low, high, strict=True)]
        if any(n < 0 for n in extents):
            continue
        counts = windows_of(extents, sizes, strides, [1] * rank)
        made += 1
        x = small(format, shape, rng)
        source = small(format, counts, rng)
        if isinstance(format, Float) and rng.random() < 0.3:
            x = filled(shape, lambda: rng.choice([0.0, -0.0, math.inf, -math.inf, 1.0, 2.0]))
        direction = rng.choice(["GE", "GE", "GT", "LE", "LT"])
        test = {
            "GE": lambda a, b: a >= b,
            "GT": lambda a, b: a > b,
            "LE": lambda a, b: a <= b,
            "LT": lambda a, b: a < b,
        }[direction]
        start = (
            small(format, (), rng)
            if rng.random() < 0.3
            else np.array(0.0 if "f" in name else 0, object)
        )
        add = combiner("stablehlo.add", format)
        found = np.empty(shape, object)
        found[...] = start[()]
        has_empty = False
        for place in np.ndindex(source.shape):
            best = None
            for offset in np.ndindex(*sizes):
                at = tuple(
                    p * s + o - lo for p, s, o, lo in zip(place, strides, offset, low, strict=True)
                )
                if not all(0 <= a < n for a, n in zip(at, shape, strict=True)):
                    continue
                if best is None or not test(x[best], x[at]):
                    best = at
            if best is not None:
                found[best] = add(found[best], source[place])
            has_empty = has_empty or best is None
        attributes = (
            f"window_dimensions = {i64s(sizes)}, window_strides = {i64s(strides)}, "
            f"padding = {pairs(list(zip(low, high, strict=True)))}"
        )
        regions = comparing(direction, format) + "}, {" + region("stablehlo.add", name, "s")
        note = f"{name} {direction} {shape} sizes {sizes} strides {strides} padding {low} {high}"
        operands = [(name, x), (name, source), (name, start)]
        yield case(
            "stablehlo.select_and_scatter",
            note,
            operands,
            [(name, found)],
            attributes,
            regions,
            free=has_empty,  # "unspecified" where a window is padding alone
        )


def sum_of_products(format: Format, a: Sequence[Any], b: Sequence[Any]) -> Any:
    """The sum of the products of numbers, in a format."""
    if format.name == "i1":
        return int(any(x and y for x, y in zip(a, b, strict=True)))
    zero: Any = 0j if isinstance(format, Complex) else 0.0 if isinstance(format, Float) else 0
    total = sum((x * y for x, y in zip(a, b, strict=True)), zero)
    if isinstance(format, Integer):
        return format.wrapped(total)
    return total if isinstance(format, Complex) else format.rounded(total)


ANY_ZERO = 5e-324
"""An error that allows zeros of either sign: a sum may begin with its first term, or with 0.0."""
PRODUCTS = (*COMPUTED, "i1", "i4", "i16", "ui16", "f8E4M3FN", "complex<f32>", "complex<f64>")


def products(rng: random.Random, count: int) -> Iterator[Case]:
    for i in range(count):
        name = PRODUCTS[i % len(PRODUCTS)]
        format = FORMATS[name]
        batches, contracted = rng.randint(0, 2), rng.randint(0, 2)
        batch, inner = shaped(rng, batches, 3), shaped(rng, contracted, 5, 0.1)
        left, right = shaped(rng, rng.randint(0, 2), 4), shaped(rng, rng.randint(0, 2), 4)
        x_all, y_all = batch + inner + left, batch + inner + right
        x_order, y_order = (rng.sample(range(len(s)), len(s)) for s in (x_all, y_all))
        # Dimension k of the operand is x_all[x_order[k]].
        x, y = (
            small(format, [s[k] for k in order], rng, 7 if format.name in ("i8", "i32") else 2)
            for s, order in ((x_all, x_order), (y_all, y_order))
        )
        x_free = [k for k in x_order if k >= batches + contracted]
        y_free = [k for k in y_order if k >= batches + contracted]
        shape = batch + [x_all[k] for k in x_free] + [y_all[k] for k in y_free]
        found = np.empty(shape, object)
        xs = x.transpose(
            [
                x_order.index(k)
                for k in [*range(batches), *x_free, *range(batches, batches + contracted)]
            ]
        )
        ys = y.transpose(
            [
                y_order.index(k)
                for k in [*range(batches), *y_free, *range(batches, batches + contracted)]
            ]
        )
        for place in np.ndindex(found.shape):
            b = place[:batches]
            m, n = place[batches : batches + len(x_free)], place[batches + len(x_free) :]
            found[place] = sum_of_products(
                format,
                list(np.ravel(np.asarray(xs[b + m], object))),
                list(np.ravel(np.asarray(ys[b + n], object))),
            )
        where = [
            [o.index(k) for k in r]
            for r in (range(batches), range(batches, batches + contracted))
            for o in (x_order, y_order)
        ]
        attributes = (
            f"dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = {where[0]}, "
            f"rhs_batching_dimensions = {where[1]}, lhs_contracting_dimensions = {where[2]}, "
            f"rhs_contracting_dimensions = {where[3]}>"
        )
        note = f"{name} {list(x.shape)} {list(y.shape)} {where}"
        yield case(
            "stablehlo.dot_general",
            note,
            [(name, x), (name, y)],
            [(name, found)],
            attributes,
            absolute=ANY_ZERO,
        )


def convolutions(rng: random.Random, count: int) -> Iterator[Case]:
    made = 0
    while made < count:
        name = ("f32", "f64", "i32", "i8", "bf16", "complex<f32>", "f16", "ui8")[made % 8]
        format = FORMATS[name]
        rank = rng.choice([0, 1, 1, 2, 2, 3])
        groups, batch_groups = rng.choice([(1, 1), (1, 1), (2, 1), (3, 1), (1, 2), (1, 3)])
        inner, outer = rng.randint(1, 2), rng.randint(1, 2) * groups * batch_groups
        n = rng.randint(1, 2) * batch_groups if rng.random() > 0.05 else 0
        extents = [rng.randint(1, 6) if rng.random() > 0.05 else 0 for _ in range(rank)]
        sizes = [rng.randint(1, 3) for _ in extents]
        strides, base, dilations = ([rng.choice([1, 1, 2, 3]) for _ in extents] for _ in range(3))
        low, high = ([rng.randint(-2, 3) for _ in extents] for _ in range(2))
        flips = [rng.random() < 0.25 for _ in extents]
        wide = [
            (0 if k == 0 else (k - 1) * b + 1) + lo + hi
            for k, b, lo, hi in zip(extents, base, low, high, strict=True)
        ]
        if any(k < 0 for k in wide):
            continue
        made += 1
        x = small(format, [n, inner * groups, *extents], rng, 2)
        w = small(format, [outer, inner, *sizes], rng, 2)
        counts = windows_of(wide, sizes, strides, dilations)
        zero: Any = 0j if isinstance(format, Complex) else 0.0 if isinstance(format, Float) else 0
        p = padded(x, zero, [0, 0, *low], [0, 0, *high], [0, 0, *(b - 1 for b in base)])
        kernel = np.flip(w, tuple(2 + d for d in range(rank) if flips[d])) if any(flips) else w
        per = n // batch_groups
        found = np.empty([per, outer, *counts], object)
        for place in np.ndindex(found.shape):
            b, o, at = place[0], place[1], place[2:]
            group = o // (outer // groups)
            b += (o // (outer // batch_groups)) * per if batch_groups > 1 else 0
            pick = tuple(
                slice(a * s, a * s + (k - 1) * d + 1, d)
                for a, s, k, d in zip(at, strides, sizes, dilations, strict=True)
            )
            window = p[(b, slice(group * inner, (group + 1) * inner), *pick)]
            found[place] = sum_of_products(
                format,
                list(np.ravel(np.asarray(window, object))),
                list(np.ravel(np.asarray(kernel[o], object))),
            )
        yield _laid_out(
            name,
            x,
            w,
            found,
            rank,
            rng,
            strides,
            low,
            high,
            base,
            dilations,
            flips,
            groups,
            batch_groups,
        )


def _laid_out(
    name: str,
    x: Any,
    w: Any,
    found: Any,
    rank: int,
    rng: random.Random,
    strides: Any,
    low: Any,
    high: Any,
    base: Any,
    dilations: Any,
    flips: Any,
    groups: int,
    batch_groups: int,
) -> Case:
    """A convolution of arrays whose dimensions are in any order."""
    orders = [rng.sample(range(rank + 2), rank + 2) for _ in range(3)]
    if rng.random() < 0.3:
        orders = [list(range(rank + 2))] * 3
    names = [["b", "f"], ["o", "i"], ["b", "f"]]
    texts = []
    for order, two in zip(orders, names, strict=True):
        texts.append("[" + ", ".join(two[k] if k < 2 else str(k - 2) for k in order) + "]")
    attributes = (
        f"window_strides = {i64s(strides)}, padding = {pairs(list(zip(low, high, strict=True)))}, "
        f"lhs_dilation = {i64s(base)}, rhs_dilation = {i64s(dilations)}, window_reversal = "
        + (f"array<i1: {', '.join(str(f).lower() for f in flips)}>" if flips else "array<i1>")
        + f", dimension_numbers = #stablehlo.conv<{texts[0]}x{texts[1]}->{texts[2]}>, "
        f"feature_group_count = {groups} : i64, batch_group_count = {batch_groups} : i64"
    )
    operands = [(name, x.transpose(orders[0])), (name, w.transpose(orders[1]))]
    note = f"{name} {attributes}"
    return case(
        "stablehlo.convolution",
        note,
        operands,
        [(name, found.transpose(orders[2]))],
        attributes,
        absolute=ANY_ZERO,
    )


def everything(rng: random.Random, count: int) -> Iterator[Case]:
    """All of these."""
    for make in (reduces, windows, select_and_scatters, products, convolutions):
        yield from make(rng, count)
