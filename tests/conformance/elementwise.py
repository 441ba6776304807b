"""Cases of elementwise operations: every number of a list, and all pairs."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from tests.conformance import functions, integers
from tests.conformance.cases import Case, Expected, is_subnormal, operation, tensor
from tests.conformance.formats import (
    BOOLEAN,
    FLOATS,
    FORMATS,
    INTEGERS,
    Complex,
    Float,
    Format,
    Integer,
    array,
)
from tests.conformance.functions import INF, NAN, Free

WIDE = ("f64", "f32", "f16", "bf16")


def floats(to: Float, few: bool, rng: random.Random) -> list[float]:
    """Numbers of a format at its edges, and some others."""
    if not to.has_sign:
        return [2.0**n for n in (-127, -126, -64, -3, -1, 0, 1, 2, 5, 64, 126, 127)] + [NAN]
    one = to.spacing(1.0)
    whole = math.ldexp(1, to.digits - 1)
    some = [0, 1, 2, 3, 0.5, 1.5, 2.5, to.smallest, to.smallest_normal, to.largest, 1 + one]
    if not few:
        some += [1 - one / 2, 0.75, 0.25, 1 / 3, 0.1, 10, 7, 30, 100, 1e4, 1e-4, math.pi, math.e]
        some += [
            to.smallest_normal - to.smallest,
            one,
            whole,
            whole - 0.5,
            whole + 1,
            to.largest / 2,
        ]
        some += [math.pi / 2, 88.0, 89.0, 709.0, 1e6, 1e10, 1e30, 1e-30, 2 * whole, 65504.0]
        some += [rng.uniform(0, 20) for _ in range(6)] + [
            math.exp(rng.uniform(-40, 40)) for _ in range(6)
        ]
    found = []
    for x in some:
        value = to.rounded(float(x))
        if math.isfinite(value):
            found += [value, -value]
    found += [x for x in (INF, -INF, NAN) if to.special(x) == x or (math.isnan(x) and to.has_nan)]
    if not to.has_negative_zero:
        found = [x + 0.0 for x in found]
    return list({(x, math.copysign(1, x)): x for x in found}.values())


def numbers(to: Integer, few: bool, rng: random.Random) -> list[int]:
    """Integers of a format at its edges, and some others."""
    some = [
        0,
        1,
        2,
        3,
        7,
        to.bits - 1,
        to.bits,
        to.bits + 1,
        to.largest,
        to.largest - 1,
        to.smallest,
    ]
    some += [-1, -2, -3, to.smallest + 1, to.smallest // 2, to.largest // 2 + 1]
    if not few:
        some += [rng.randint(to.smallest, to.largest) for _ in range(8)]
    return sorted({x for x in some if to.smallest <= x <= to.largest})


def of(to: Format, few: bool, rng: random.Random) -> list[Any]:
    """Numbers of any real format."""
    return numbers(to, few, rng) if isinstance(to, Integer) else floats(to, few, rng)


# ---- from numbers to cases -----------------------------------------------------------------------


def elements(
    op: str,
    note: str,
    formats: Sequence[Format],
    columns: Sequence[Sequence[Any]],
    to: Format,
    found: Sequence[Any],
    ulps: float = 0,
    attributes: str = "",
    absolute: float = 0,
) -> Case:
    """A case of rows of operands and the results of each row; None for those that are left out."""
    rows = [i for i, value in enumerate(found) if value is not None and _has(to, value)]
    columns = [[column[i] for i in rows] for column in columns]
    results = [found[i] for i in rows]
    values = np.empty(len(rows), object)
    free = np.zeros(len(rows), bool)
    for i, value in enumerate(results):
        free[i] = isinstance(value, Free)
        values[i] = value.value if isinstance(value, Free) else value
        if isinstance(to, Float) and not to.is_ieee and not math.isfinite(values[i]):
            free[i] = True
    types = [tensor((len(rows),), f.name) for f in formats]
    result = tensor((len(rows),), to.name)
    # CHLO's functions of the smallest normal numbers halve them on the way.
    share = 2 if op.startswith("chlo.") else 1
    below = np.array(
        [
            any(is_subnormal(c[i], f, share) for c, f in zip(columns, formats, strict=True))
            or is_subnormal(values[i], to, share)
            for i in range(len(rows))
        ]
    )
    return Case(
        op,
        note,
        types,
        [result],
        operation(op, types, [result], attributes),
        [array(c, f) for c, f in zip(columns, formats, strict=True)],
        [Expected(to, values, ulps, free, absolute=absolute)],
        by_element=True,
        subnormal=below,
    )


def _has(to: Format, value: Any) -> bool:
    """False for nan in a format without: any number may stand for it."""
    number = value.value if isinstance(value, Free) else value
    return not isinstance(to, Float) or to.has_nan or number == number


def paired(x: Sequence[Any], y: Sequence[Any] | None = None) -> tuple[list[Any], list[Any]]:
    """All pairs, as two columns."""
    pairs = list(itertools.product(x, x if y is None else y))
    return [a for a, _ in pairs], [b for _, b in pairs]


def accuracy(op: str, to: Float) -> float:
    """Units in the last place that a function may be off by: the specification does not say."""
    if to.digits < 24:
        return 1
    return 512 if op.startswith("chlo.") else 16


CANCELS = {"chlo.lgamma": 16, "chlo.digamma": 16}
"""Functions with zeros that are no numbers of the format: errors there, in units of that of 1."""


def of_floats(rng: random.Random) -> Iterator[Case]:
    """Functions of floats."""
    for name, to in FLOATS.items():
        few = name not in WIDE
        x = floats(to, few, rng)
        for op, function in functions.EXACT_UNARY.items():
            yield elements(op, name, [to], [x], to, [function(a, to) for a in x])
        for op, function in functions.UNARY.items():
            found = [function(a, to) for a in x]
            yield elements(
                op,
                name,
                [to],
                [x],
                to,
                found,
                accuracy(op, to),
                absolute=CANCELS.get(op, 0) * to.spacing(1.0),
            )
        x, y = paired(
            floats(to, True, rng) + [to.rounded(a) for a in ([] if few else (-3.5, 5, 0.1))]
        )
        for op, function in functions.EXACT_BINARY.items():
            if op == "chlo.next_after" and not to.is_ieee:
                continue
            found = [function(a, b, to) for a, b in zip(x, y, strict=True)]
            yield elements(op, name, [to, to], [x, y], to, found)
        for op, function in functions.BINARY.items():
            if op.startswith("chlo") and few:
                continue
            found = [function(a, b, to) for a, b in zip(x, y, strict=True)]
            yield elements(op, name, [to, to], [x, y], to, found, accuracy(op, to))
        yield from predicates(to, floats(to, few, rng))
        yield from comparisons(to, x, y, ["FLOAT", "TOTALORDER"] if to.is_ieee else ["FLOAT"])
        yield clamped(to, floats(to, True, rng)[::3] + [a for a in (NAN,) if to.has_nan])


def predicates(to: Float, x: list[float]) -> Iterator[Case]:
    tests: dict[str, Callable[[float], bool]] = {
        "stablehlo.is_finite": math.isfinite,
        "chlo.is_inf": math.isinf,
        "chlo.is_pos_inf": lambda a: a == INF,
        "chlo.is_neg_inf": lambda a: a == -INF,
    }
    for op, test in tests.items():
        yield elements(op, to.name, [to], [x], BOOLEAN, [int(test(a)) for a in x])


DIRECTIONS: dict[str, Callable[[Any, Any], bool]] = {
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "GE": lambda a, b: a >= b,
    "GT": lambda a, b: a > b,
    "LE": lambda a, b: a <= b,
    "LT": lambda a, b: a < b,
}


def in_total_order(x: float) -> tuple[float, float]:
    """A key that orders floats as totalOrder does, if all nans are positive."""
    return (INF, 1) if math.isnan(x) else (x, math.copysign(1, x)) if x == 0 else (x, 0)


def comparisons(to: Format, x: list[Any], y: list[Any], types: Sequence[str]) -> Iterator[Case]:
    for type_, (direction, test) in itertools.product(types, DIRECTIONS.items()):
        key = in_total_order if type_ == "TOTALORDER" else lambda a: a
        found = [int(test(key(a), key(b))) for a, b in zip(x, y, strict=True)]
        attributes = (
            f"comparison_direction = #stablehlo<comparison_direction {direction}>, "
            f"compare_type = #stablehlo<comparison_type {type_}>"
        )
        note = f"{to.name} {direction} {type_}"
        yield elements(
            "stablehlo.compare", note, [to, to], [x, y], BOOLEAN, found, attributes=attributes
        )


def clamped(to: Format, x: list[Any]) -> Case:
    triples = list(itertools.product(x, x, x))
    if isinstance(to, Float):
        found = [functions.minimum(functions.maximum(b, a, to), c, to) for a, b, c in triples]
    else:
        found = [min(max(b, a), c) for a, b, c in triples]
    columns = [list(c) for c in zip(*triples, strict=True)]
    return elements("stablehlo.clamp", to.name, [to] * 3, columns, to, found)


def of_integers(rng: random.Random) -> Iterator[Case]:
    """Functions of integers and booleans."""
    for name, to in INTEGERS.items():
        x = numbers(to, False, rng)
        for op, function in integers.UNARY.items():
            if to.signed or op not in integers.SIGNED_ONLY:
                yield elements(op, name, [to], [x], to, [function(a, to) for a in x])
        few = numbers(to, True, rng)
        x, y = paired(few)
        for op, function in integers.BINARY.items():
            found = [function(a, b, to) for a, b in zip(x, y, strict=True)]
            yield elements(op, name, [to, to], [x, y], to, found)
        yield from comparisons(to, x, y, ["SIGNED" if to.signed else "UNSIGNED"])
        yield clamped(to, few[::2])
    x, y = paired([0, 1])
    for op, function in integers.OF_BOOLEANS.items():
        found = [function(a, b) for a, b in zip(x, y, strict=True)]
        yield elements(op, "i1", [BOOLEAN] * 2, [x, y], BOOLEAN, found)
    yield elements("stablehlo.not", "i1", [BOOLEAN], [[0, 1]], BOOLEAN, [1, 0])
    yield from comparisons(BOOLEAN, x, y, ["UNSIGNED"])


# ---- conversions ---------------------------------------------------------------------------------


def converted(x: Any, source: Format, to: Format) -> Any:
    """x in another format. What cannot be represented is left open by the specification."""
    if to is BOOLEAN:
        return int(x != 0)
    if isinstance(to, Float):
        if isinstance(source, Integer):
            value = to.rounded(_fraction(x))
            return value if value == x else Free(value)
        value = to.rounded(x)
        same = value == x or (math.isnan(x) and math.isnan(value))
        return value if same else Free(value)
    if isinstance(to, Integer):
        if isinstance(source, Integer):
            value = to.wrapped(x)
            return value if value == x else Free(value)
        if math.isnan(x):
            return Free(0)
        if math.isinf(x):
            return Free(to.largest if x > 0 else to.smallest)
        value = min(max(math.trunc(x), to.smallest), to.largest)
        return value if value == math.trunc(x) else Free(value)
    raise TypeError(to)


def _fraction(x: int) -> Any:
    from fractions import Fraction

    return Fraction(x)


def ties(source: Float, to: Float) -> list[float]:
    """Numbers half-way between two of a narrower format, and next to these."""
    found = []
    for x in (1.0, 1.5, to.largest, to.smallest, to.smallest_normal, 3 * to.smallest):
        half = x + to.spacing(x) / 2
        for y in (half, x - to.spacing(x) / 2):
            unit = source.spacing(y)
            found += [y, y + unit, y - unit]
    return [s * y for y in found for s in (1, -1) if source.rounded(y) == y]


def conversions(rng: random.Random) -> Iterator[Case]:
    """From every format to every other."""
    for source, to in itertools.product(FORMATS.values(), FORMATS.values()):
        note = f"{source.name} to {to.name}"
        if isinstance(source, Complex) or isinstance(to, Complex):
            continue
        if source is BOOLEAN:
            x: list[Any] = [0, 1]
        elif isinstance(source, Integer):
            x = numbers(source, False, rng)
            if isinstance(to, Float):
                x += [s * (2**to.digits + k) for k in (1, 2, 3) for s in (1, -1)]
                x = [a for a in x if source.smallest <= a <= source.largest]
        else:
            x = floats(source, source.name not in WIDE, rng)
            x += [
                source.rounded(s * a) for a in (0.99, 1.99, 127.5, 128, 255.5, 256) for s in (1, -1)
            ]
            if isinstance(to, Float) and source.digits > to.digits:
                x += ties(source, to)
            if isinstance(to, Integer):
                x += [source.rounded(float(to.largest)), source.rounded(float(to.smallest))]
                x += [source.rounded(float(to.largest) * 2), source.rounded(float(to.smallest) - 1)]
            if not source.has_infinity:
                x = [a for a in x if not math.isinf(a)]
            if not source.has_negative_zero:
                x = [a + 0.0 for a in x]
        found = [converted(a, source, to) for a in x]
        yield elements("stablehlo.convert", note, [source], [x], to, found)


def precisions(rng: random.Random) -> Iterator[Case]:
    """reduce_precision to every kind of format."""
    kinds = [
        (8, 7),
        (5, 10),
        (5, 2),
        (4, 3),
        (11, 52),
        (8, 23),
        (2, 1),
        (1, 0),
        (8, 0),
        (11, 3),
        (3, 30),
    ]
    for name in WIDE:
        to = FLOATS[name]
        for exponent, mantissa in kinds:
            bias = (1 << exponent - 1) - 1
            digits = min(mantissa + 1, to.digits)
            largest = (2 - math.ldexp(1, -(digits - 1))) * 2.0 ** min(bias, 1023) if bias else 0.0
            lowest = 1 - bias
            x = floats(to, False, rng)
            mid = Float("", to.dtype, digits, lowest, largest)
            x += [a for a in ties(to, mid) if math.isfinite(to.rounded(a))] if largest else []
            found = [precise(a, digits, exponent, to) for a in x]
            if digits == 1:  # neither of two neighbors is even
                x, found = _without_ties(x, found)
            attributes = f"exponent_bits = {exponent} : i32, mantissa_bits = {mantissa} : i32"
            note = f"{name} to e{exponent}m{mantissa}"
            yield elements(
                "stablehlo.reduce_precision", note, [to], [x], to, found, attributes=attributes
            )


def _without_ties(x: list[float], found: list[Any]) -> tuple[list[float], list[Any]]:
    kept = [i for i, a in enumerate(x) if abs(math.frexp(a)[0]) != 0.75]
    return [x[i] for i in kept], [found[i] for i in kept]


def precise(x: float, digits: int, exponent: int, to: Float) -> Any:
    """x as the three steps of the specification change it: round, then overflow or underflow."""
    if not math.isfinite(x) or x == 0:
        return x
    if is_subnormal(x, to):
        return None
    bias = (1 << exponent - 1) - 1
    unlimited = Float("", to.dtype, digits, -2000, FLOATS["f64"].largest)
    value = unlimited.rounded(x)
    size = math.frexp(value)[1] - 1 if math.isfinite(value) else 5000
    if size > bias:
        return math.copysign(INF, x)
    if size < 1 - bias:
        return math.copysign(0.0, x)
    return to.rounded(value)
