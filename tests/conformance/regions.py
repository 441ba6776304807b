"""Cases of operations with functions of the program's own: several results, branches, loops."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from tests.conformance.arrays import (
    case,
    edges,
    filled,
    i64s,
    padded,
    pairs,
    shaped,
    small,
    windows_of,
)
from tests.conformance.cases import Case, tensor
from tests.conformance.formats import FORMATS, INTEGERS, Float, Integer


def _arg_region(name: str, direction: str) -> str:
    """The larger of two numbers with its place; of equal ones, the smaller place; nan first."""
    t, p = f"tensor<{name}>", "tensor<i32>"
    kind = "FLOAT" if name[0] in "fb" else "UNSIGNED" if name[0] == "u" else "SIGNED"

    def compare(result: str, a: str, b: str, how: str, type_: str, of: str) -> str:
        return (
            f'    {result} = "stablehlo.compare"({a}, {b}) {{comparison_direction = #stablehlo<'
            f"comparison_direction {how}>, compare_type = #stablehlo<comparison_type {type_}>}} : "
            f"({of}, {of}) -> tensor<i1>\n"
        )

    i1 = "tensor<i1>"
    return (
        f"\n  ^bb0(%x: {t}, %i: {p}, %y: {t}, %j: {p}):\n"
        + compare("%more", "%x", "%y", direction, kind, t)
        + compare("%nan", "%x", "%x", "NE", kind, t)
        + f'    %first = "stablehlo.or"(%more, %nan) : ({i1}, {i1}) -> {i1}\n'
        + compare("%same", "%x", "%y", "EQ", kind, t)
        + compare("%low", "%i", "%j", "LT", "SIGNED", p)
        + f'    %tie = "stablehlo.and"(%same, %low) : ({i1}, {i1}) -> {i1}\n'
        + f'    %this = "stablehlo.or"(%first, %tie) : ({i1}, {i1}) -> {i1}\n'
        + f'    %v = "stablehlo.select"(%first, %x, %y) : ({i1}, {t}, {t}) -> {t}\n'
        + f'    %k = "stablehlo.select"(%this, %i, %j) : ({i1}, {p}, {p}) -> {p}\n'
        + f'    "stablehlo.return"(%v, %k) : ({t}, {p}) -> ()\n  '
    )


def _arg(direction: str, pairs_: list[tuple[Any, int]]) -> tuple[Any, int]:
    def body(a: tuple[Any, int], b: tuple[Any, int]) -> tuple[Any, int]:
        more = a[0] > b[0] if direction == "GT" else a[0] < b[0]
        first = more or a[0] != a[0]
        this = first or (a[0] == b[0] and a[1] < b[1])
        return (a[0] if first else b[0]), (a[1] if this else b[1])

    return functools.reduce(body, pairs_)


def places_of_extrema(rng: random.Random, count: int) -> Iterator[Case]:
    """Reductions and windows of pairs: argmax as JAX has it."""
    for i in range(count):
        name = ("f32", "i32", "f64", "ui8", "bf16", "i8")[i % 6]
        format = FORMATS[name]
        direction = rng.choice(["GT", "LT"])
        # Subnormal numbers are flushed on purpose; a minimum of them has no place of its own.
        shape = shaped(rng, rng.choice([1, 2]), 6, 0)
        if isinstance(format, Float):
            x = filled(
                shape,
                lambda: rng.choice(
                    [0.0, 1.0, -1.0, 2.0, math.inf, -math.inf] + [math.nan] * (rng.random() < 0.1)
                ),
            )
            start: Any = -math.inf if direction == "GT" else math.inf
        else:
            assert isinstance(format, Integer)
            x = edges(format, shape, rng)
            start = format.smallest if direction == "GT" else format.largest
        axis = rng.randrange(len(shape))
        numbers = np.broadcast_to(
            np.arange(shape[axis]).reshape([-1 if d == axis else 1 for d in range(len(shape))]),
            shape,
        ).astype(object)
        # Of elements that equal the start, the place may be the start's.
        big = 2**31 - 1
        starts = [np.array(start, object), np.array(big, object)]
        operands = [(name, x), ("i32", numbers), (name, starts[0]), ("i32", starts[1])]
        if i % 2:
            kept = [n for d, n in enumerate(shape) if d != axis]
            values, places = np.empty(kept, object), np.empty(kept, object)
            for place in np.ndindex(*kept):
                at = (*place[:axis], slice(None), *place[axis:])
                pairs_ = [*zip(x[at], numbers[at], strict=True)]
                values[place], places[place] = _arg(direction, [(start, big), *pairs_])
            attributes = f"dimensions = {i64s([axis])}"
            op, note = "stablehlo.reduce", f"{name} place of {direction} {shape} along {axis}"
        else:
            sizes = [rng.randint(1, 3) for _ in shape]
            low, high = ([rng.randint(0, 2) for _ in shape] for _ in range(2))
            strides = [rng.randint(1, 2) for _ in shape]
            counts = windows_of(
                [n + a + b for n, a, b in zip(shape, low, high, strict=True)],
                sizes,
                strides,
                [1] * len(shape),
            )
            none = [0] * len(shape)
            px, pn = padded(x, start, low, high, none), padded(numbers, big, low, high, none)
            values, places = np.empty(counts, object), np.empty(counts, object)
            for place in np.ndindex(*counts):
                pick = tuple(
                    slice(p * s, p * s + k) for p, s, k in zip(place, strides, sizes, strict=True)
                )
                pairs_ = [*zip(px[pick].ravel(), pn[pick].ravel(), strict=True)]
                values[place], places[place] = _arg(direction, [(start, big), *pairs_])
            attributes = (
                f"window_dimensions = {i64s(sizes)}, window_strides = {i64s(strides)}, "
                f"padding = {pairs(list(zip(low, high, strict=True)))}"
            )
            op, note = (
                "stablehlo.reduce_window",
                f"{name} place of {direction} {shape} {sizes} {low} {high} {strides}",
            )
        results = [(name, values), ("i32", places)]
        yield case(op, note, operands, results, attributes, _arg_region(name, direction))


def sorts_of_keys(rng: random.Random, count: int) -> Iterator[Case]:
    """Sorts by two keys, the second in the other direction, and a value."""
    for i in range(count):
        first, second = ("i32", "f32", "ui8", "i8")[i % 4], ("f32", "i32", "ui32")[i % 3]
        shape = shaped(rng, rng.choice([1, 2]), 7)
        axis = rng.randrange(len(shape))
        a, b = (small(FORMATS[n], shape, rng, 1) for n in (first, second))
        c = edges(FORMATS["f16"], shape, rng)
        found = [np.empty(shape, object) for _ in range(3)]
        rest = [n for d, n in enumerate(shape) if d != axis]
        for place in np.ndindex(*rest):
            at = (*place[:axis], slice(None), *place[axis:])
            order = sorted(range(shape[axis]), key=lambda k: (a[at][k], -b[at][k]))
            if order:
                for result, source in zip(found, (a, b, c), strict=True):
                    result[at] = source[at][order]

        def compare(result: str, x: str, y: str, how: str, of: str) -> str:
            kind = "FLOAT" if of[0] == "f" else "UNSIGNED" if of[0] == "u" else "SIGNED"
            t = f"tensor<{of}>"
            return (
                f'    {result} = "stablehlo.compare"({x}, {y}) {{comparison_direction = #stablehlo<'
                f"comparison_direction {how}>, compare_type = #stablehlo<comparison_type {kind}>}}"
                f" : ({t}, {t}) -> tensor<i1>\n"
            )

        t1, t2, i1 = f"tensor<{first}>", f"tensor<{second}>", "tensor<i1>"
        body = (
            f"\n  ^bb0(%x: {t1}, %y: {t1}, %u: {t2}, %v: {t2}, %p: tensor<f16>, %q: tensor<f16>):\n"
            + compare("%lt", "%x", "%y", "LT", first)
            + compare("%eq", "%x", "%y", "EQ", first)
            + compare("%gt", "%u", "%v", "GT", second)
            + f'    %and = "stablehlo.and"(%eq, %gt) : ({i1}, {i1}) -> {i1}\n'
            + f'    %or = "stablehlo.or"(%lt, %and) : ({i1}, {i1}) -> {i1}\n'
            + f'    "stablehlo.return"(%or) : ({i1}) -> ()\n  '
        )
        operands = [(first, a), (second, b), ("f16", c)]
        results = [(first, found[0]), (second, found[1]), ("f16", found[2])]
        yield case(
            "stablehlo.sort",
            f"{first} then {second} {shape} along {axis}",
            operands,
            results,
            f"dimension = {axis} : i64, is_stable = true",
            body,
        )


def branches(rng: random.Random, count: int) -> Iterator[Case]:
    """case with any index, and if."""
    for i in range(count):
        name = ("f32", "i8", "bf16", "i64", "ui4", "complex<f64>")[i % 6]
        shape = shaped(rng, rng.choice([0, 1, 2]))
        n = rng.randint(1, 4)
        arrays = [edges(FORMATS[name], shape, rng) for _ in range(n)]
        index = rng.choice([0, n - 1, n, -1, -(2**31), 2**31 - 1, rng.randrange(n)])
        chosen = arrays[index if 0 <= index < n else n - 1]
        t = tensor(shape, name)
        regions = ", ".join(
            f'{{\n    "stablehlo.return"(%a{k + 1}) : ({t}) -> ()\n  }}' for k in range(n)
        )
        body = f'  %r0 = "stablehlo.case"(%a0) ({regions}) : (tensor<i32>) -> {t}'
        operands = [("i32", np.array(index, object)), *((name, a) for a in arrays)]
        yield case(
            "stablehlo.case",
            f"{name} {shape} {index} of {n}",
            operands,
            [(name, chosen)],
            body=body,
        )
        if n > 1:
            flag = rng.randint(0, 1)
            regions = ", ".join(
                f'{{\n    "stablehlo.return"(%a{k + 1}) : ({t}) -> ()\n  }}' for k in range(2)
            )
            body = f'  %r0 = "stablehlo.if"(%a0) ({regions}) : (tensor<i1>) -> {t}'
            operands = [("i1", np.array(flag, object)), *((name, a) for a in arrays[:2])]
            yield case(
                "stablehlo.if",
                f"{name} {shape} {flag}",
                operands,
                [(name, arrays[0 if flag else 1])],
                body=body,
            )


def loops(rng: random.Random, count: int) -> Iterator[Case]:
    """while loops that count to a limit, with wrapping counters and none or many steps."""
    for i in range(count):
        name = ("i32", "ui8", "i8", "i64", "ui32", "i16")[i % 6]
        format = INTEGERS[name]
        start, limit, step = (rng.choice([0, 1, 2, 3, 5, format.largest - 3]) for _ in range(3))
        step = max(1, min(step, 100))
        other = rng.choice(["i32", "f32"])
        values = small(FORMATS[other], [3], rng)
        total, k, steps = values.copy(), start, 0
        while k < limit and steps < 400:
            total = total + values
            k = format.wrapped(k + step)
            steps += 1
        if steps >= 400:
            continue
        t, o, kind = (
            f"tensor<{name}>",
            tensor([3], other),
            "SIGNED" if format.signed else "UNSIGNED",
        )
        body = (
            f'  %r0, %r1 = "stablehlo.while"(%a0, %a3) ({{\n  ^bb0(%k: {t}, %s: {o}):\n'
            '    %p = "stablehlo.compare"(%k, %a1) {comparison_direction = '
            "#stablehlo<comparison_direction LT>,"
            f" compare_type = #stablehlo<comparison_type {kind}>}} : ({t}, {t}) -> tensor<i1>\n"
            '    "stablehlo.return"(%p) : (tensor<i1>) -> ()\n  }, {\n'
            f'  ^bb0(%k: {t}, %s: {o}):\n    %n = "stablehlo.add"(%k, %a2) : ({t}, {t}) -> {t}\n'
            f'    %u = "stablehlo.add"(%s, %a3) : ({o}, {o}) -> {o}\n'
            f'    "stablehlo.return"(%n, %u) : ({t}, {o}) -> ()\n  }}) : ({t}, {o}) -> ({t}, {o})'
        )
        operands = [(name, np.array(v, object)) for v in (start, limit, step)] + [(other, values)]
        note = f"{name} {start} to {limit} by {step}"
        yield case(
            "stablehlo.while",
            note,
            operands,
            [(name, np.array(k, object)), (other, total)],
            body=body,
        )


def maps(rng: random.Random, count: int) -> Iterator[Case]:
    for i in range(count):
        name = ("f32", "i32", "bf16", "ui8")[i % 4]
        format = FORMATS[name]
        shape = shaped(rng, rng.choice([1, 2]))
        x, y = small(format, shape, rng), small(format, shape, rng)
        t = f"tensor<{name}>"
        body = (
            f"\n  ^bb0(%x: {t}, %y: {t}):\n"
            f'    %m = "stablehlo.multiply"(%x, %y) : ({t}, {t}) -> {t}\n'
            f'    %z = "stablehlo.subtract"(%m, %y) : ({t}, {t}) -> {t}\n'
            f'    "stablehlo.return"(%z) : ({t}) -> ()\n  '
        )
        found = x * y - y
        if isinstance(format, Integer):
            found = np.vectorize(format.wrapped, otypes=[object])(found) if found.size else found
        else:
            found = np.vectorize(lambda v: v + 0.0, otypes=[object])(found) if found.size else found
        yield case(
            "stablehlo.map",
            f"{name} {shape}",
            [(name, x), (name, y)],
            [(name, found)],
            f"dimensions = {i64s(range(len(shape)))}",
            body,
            absolute=0 if isinstance(format, Integer) else 1e-9,
        )


def promotions(rng: random.Random, count: int) -> Iterator[Case]:
    """Reductions and windows in a wider type than that of their operands."""
    kinds = [
        ("bf16", "f32"),
        ("f16", "f32"),
        ("f32", "f64"),
        ("i8", "i32"),
        ("ui8", "ui32"),
        ("f8E4M3FN", "f32"),
    ]
    for i in range(count):
        source, to = kinds[i % len(kinds)]
        shape = shaped(rng, rng.choice([1, 2]), 6, 0)
        x = small(FORMATS[source], shape, rng)
        zero: Any = 0 if isinstance(FORMATS[source], Integer) else 0.0
        start = np.array(zero, object)
        t = f"tensor<{to}>"
        body = (
            f'\n  ^bb0(%x: {t}, %y: {t}):\n    %z = "stablehlo.add"(%x, %y) : ({t}, {t}) -> {t}\n'
            f'    "stablehlo.return"(%z) : ({t}) -> ()\n  '
        )
        found = np.asarray(x.sum(axis=0), object)
        yield case(
            "stablehlo.reduce",
            f"{source} in {to} {shape}",
            [(source, x), (source, start)],
            [(to, found)],
            f"dimensions = {i64s([0])}",
            body,
        )
        sizes = [min(2, n) for n in shape]
        found = np.empty([n - k + 1 for n, k in zip(shape, sizes, strict=True)], object)
        for place in np.ndindex(found.shape):
            found[place] = zero + sum(
                x[tuple(slice(p, p + k) for p, k in zip(place, sizes, strict=True))].ravel()
            )
        yield case(
            "stablehlo.reduce_window",
            f"{source} in {to} {shape} {sizes}",
            [(source, x), (source, start)],
            [(to, found)],
            f"window_dimensions = {i64s(sizes)}",
            body,
        )


def scatters_of_others(rng: random.Random, count: int) -> Iterator[Case]:
    """Scatters that set, with the same value at the same place; of functions that are no monoid."""
    for i in range(count):
        name = ("f32", "i32", "ui8", "bf16", "i1", "complex<f32>", "f64", "i4")[i % 8]
        format = FORMATS[name]
        n, m = rng.randint(1, 6), rng.randint(0, 6)
        x = edges(format, [n, 2], rng)
        values = edges(format, [n, 2], rng)
        index = rng.choice(["i32", "ui8", "i64", "i8"])
        low = FORMATS[index].smallest < 0
        at = [
            rng.choice([rng.randrange(n), n, FORMATS[index].largest, -1 if low else n])
            for _ in range(m)
        ]
        updates = np.empty([m, 2], object)
        found = x.copy()
        for k, p in enumerate(at):
            updates[k] = values[p] if 0 <= p < n else x[0]
            if 0 <= p < n:
                found[p] = values[p]
        t = f"tensor<{name}>"
        body = f'\n  ^bb0(%x: {t}, %y: {t}):\n    "stablehlo.return"(%y) : ({t}) -> ()\n  '
        attributes = (
            "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
            "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
            "index_vector_dim = 1>, indices_are_sorted = false, "
            "unique_indices = false"
        )
        indices = filled([m], iter(at).__next__)
        operands = [(name, x), (index, indices), (name, updates)]
        yield case(
            "stablehlo.scatter",
            f"{name} set rows {at} of {n} {index}",
            operands,
            [(name, found)],
            attributes,
            body,
        )
        if name in ("f32", "i32"):
            # Of each place one update: x - 2y is of no order.
            body = (
                f"\n  ^bb0(%x: {t}, %y: {t}):\n"
                f'    %z = "stablehlo.subtract"(%x, %y) : ({t}, {t}) -> {t}\n'
                f'    "stablehlo.return"(%z) : ({t}) -> ()\n  '
            )
            x, updates = small(format, [n, 2], rng), small(format, [m, 2], rng)
            found = x.copy()
            for k, p in enumerate(at):
                if 0 <= p < n:
                    found[p] = found[p] - updates[k]
            operands = [(name, x), (index, indices), (name, updates)]
            yield case(
                "stablehlo.scatter",
                f"{name} subtract rows {at} of {n} {index}",
                operands,
                [(name, found)],
                attributes,
                body,
            )


def everything(rng: random.Random, count: int) -> Iterator[Case]:
    """All of these."""
    for make in (
        places_of_extrema,
        sorts_of_keys,
        branches,
        loops,
        maps,
        promotions,
        scatters_of_others,
    ):
        yield from make(rng, count)
