"""Cases of sorts and of the largest elements."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Iterator

import numpy as np
from tests.conformance.arrays import (
    case,
    comparing,
    edges,
    filled,
    shaped,
    small,
)
from tests.conformance.cases import Case
from tests.conformance.elementwise import in_total_order
from tests.conformance.formats import FORMATS, Float

SORTED = (
    "i1",
    "ui8",
    "i8",
    "i32",
    "ui32",
    "i64",
    "ui64",
    "f32",
    "f64",
    "bf16",
    "f16",
    "f8E4M3FN",
    "i16",
)


def sorts(rng: random.Random, count: int) -> Iterator[Case]:
    """Stable sorts, of keys with duplicates; by total order, with nans of one sign."""
    for i in range(count):
        name = SORTED[i % len(SORTED)]
        format = FORMATS[name]
        shape = shaped(rng, rng.choice([1, 1, 2, 3]), 7)
        if rng.random() < 0.1:
            shape = [rng.choice([33, 100])]
        axis = rng.randrange(len(shape))
        is_total = isinstance(format, Float) and format.is_ieee and rng.random() < 0.5
        x = edges(format, shape, rng)
        if isinstance(format, Float):
            some = [0.0, -0.0, 1.0, -1.0, 2.0, format.special(-math.inf), format.special(math.inf)]
            if is_total:
                some.append(math.nan)
            elif not format.has_infinity:
                some = some[:5]
            x = filled(shape, functools.partial(rng.choice, some))
        direction = rng.choice(["LT", "GT"])
        numbers = filled(shape, iter(range(10**6)).__next__)
        found = [np.empty(shape, object) for _ in range(2)]
        key = in_total_order if is_total else lambda v: v
        rest = [n for d, n in enumerate(shape) if d != axis]
        for place in np.ndindex(*rest):
            at = (*place[:axis], slice(None), *place[axis:])
            keys = [key(v) for v in x[at]]
            order = sorted(range(len(keys)), key=keys.__getitem__)
            if direction == "GT":  # of equal ones the first is first here, too
                order = sorted(range(len(keys)), key=keys.__getitem__, reverse=True)
            for result, source in zip(found, (x, numbers), strict=True):
                result[at] = source[at][order] if order else result[at]
        one = comparing(direction, format, type_="TOTALORDER" if is_total else "")
        head, _, tail = one.partition("):")
        two = f"{head}, %u: tensor<i32>, %v: tensor<i32>):{tail}"
        given = axis - len(shape) if rng.random() < 0.3 else axis
        attributes = f"dimension = {given} : i64, is_stable = true"
        note = f"{name} {direction} {'total order' if is_total else ''} {shape} along {given}"
        yield case(
            "stablehlo.sort",
            note,
            [(name, x), ("i32", numbers)],
            [(name, found[0]), ("i32", found[1])],
            attributes,
            two,
        )


def top_ks(rng: random.Random, count: int) -> Iterator[Case]:
    for i in range(count):
        name = ("f32", "i32", "ui8", "bf16", "f64", "i64")[i % 6]
        shape = shaped(rng, rng.choice([1, 2]), 7, 0)
        k = rng.randint(0, shape[-1])
        x = small(FORMATS[name], shape, rng)
        values, places = (np.empty([*shape[:-1], k], object) for _ in range(2))
        for at in np.ndindex(*shape[:-1]):
            order = sorted(range(shape[-1]), key=lambda j: -x[at][j])[:k]
            values[at], places[at] = x[at][order] if order else values[at], order
        yield case(
            "chlo.top_k",
            f"{name} {shape} {k}",
            [(name, x)],
            [(name, values), ("i32", places)],
            f"k = {k} : i64",
        )


def everything(rng: random.Random, count: int) -> Iterator[Case]:
    """All of these."""
    yield from sorts(rng, count)
    yield from top_ks(rng, count)
