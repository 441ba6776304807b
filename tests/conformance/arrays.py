"""Drawn arrays, regions and padded arrays, which the generators of cases with shapes share."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tests.conformance import functions, integers
from tests.conformance.cases import Case, Expected, is_subnormal, operation, tensor
from tests.conformance.elementwise import of
from tests.conformance.formats import BOOLEAN, FORMATS, Complex, Float, Format, Integer, array

MOVED = (
    *(
        "i1",
        "i2",
        "ui4",
        "i4",
        "i8",
        "ui8",
        "i16",
        "ui16",
        "i32",
        "ui32",
        "i64",
        "ui64",
        "f4E2M1FN",
    ),
    *("f6E3M2FN", "f8E4M3FN", "f8E5M2", "f8E3M4", "f8E4M3B11FNUZ", "f8E8M0FNU"),
    *("bf16", "f16", "f32", "f64"),
    *("complex<f32>", "complex<f64>"),
)
"""Formats of arrays whose elements are moved."""
COMPUTED = ("i8", "ui8", "i32", "ui32", "i64", "f32", "f64", "bf16", "f16")
"""Formats of arrays that are computed with."""


def edges(format: Format, shape: Sequence[int], rng: random.Random) -> np.ndarray:
    """Numbers of a format, those at its edges too."""
    if format is BOOLEAN:
        some: list[Any] = [0, 1]
    elif isinstance(format, Complex):
        parts = of(format.part, True, rng)
        some = [complex(rng.choice(parts), rng.choice(parts)) for _ in range(30)]
    else:
        some = of(format, True, rng)
    return filled(shape, lambda: rng.choice(some))


def small(format: Format, shape: Sequence[int], rng: random.Random, most: int = 3) -> np.ndarray:
    """Small integers, with which sums and products are exact."""
    if format is BOOLEAN:
        return filled(shape, lambda: rng.randint(0, 1))
    least = 0 if isinstance(format, Integer) and not format.signed else -most
    if isinstance(format, Integer):
        return filled(shape, lambda: rng.randint(least, most))
    if isinstance(format, Complex):
        return filled(shape, lambda: complex(rng.randint(least, most), rng.randint(least, most)))
    return filled(shape, lambda: float(rng.randint(least, most)))


def filled(shape: Sequence[int], draw: Callable[[], Any]) -> np.ndarray:
    found = np.empty(tuple(shape), object)
    for index in np.ndindex(found.shape):
        found[index] = draw()
    return found


def shaped(rng: random.Random, rank: int, most: int = 4, empty: float = 0.06) -> list[int]:
    """Extents, some of which are one, or none."""
    return [
        0 if rng.random() < empty else rng.choice([1, *range(1, most + 1)]) for _ in range(rank)
    ]


def case(
    op: str,
    note: str,
    operands: Sequence[tuple[str, np.ndarray]],
    results: Sequence[tuple[str, np.ndarray]],
    attributes: str = "",
    region: str = "",
    body: str = "",
    free: np.ndarray | bool | None = None,
    functions: str = "",
    **expected: Any,
) -> Case:
    """A case of one operation by the values of operands and results. `free` are the elements that
    the specification has no answer for, or True.
    """
    operands = [(f, np.asarray(v, object)) for f, v in operands]
    results = [(f, np.asarray(v, object)) for f, v in results]
    types = [tensor(v.shape, f) for f, v in operands]
    wanted = [tensor(v.shape, f) for f, v in results]
    return Case(
        op,
        note,
        types,
        wanted,
        body or operation(op, types, wanted, attributes, region),
        [array(v, FORMATS[f]) for f, v in operands],
        [
            Expected(
                FORMATS[f],
                v,
                free=np.full(v.shape, free) if isinstance(free, bool) else free,
                **expected,
            )
            for f, v in results
        ],
        functions=functions,
        has_subnormals=any(
            is_subnormal(x, FORMATS[f]) for f, v in (*operands, *results) for x in v.ravel()
        ),
    )


def i64s(numbers: Sequence[int]) -> str:
    """An array attribute."""
    return f"array<i64: {', '.join(map(str, numbers))}>" if numbers else "array<i64>"


def pairs(rows: Sequence[Sequence[int]]) -> str:
    """A dense attribute of two columns, such as `padding`."""
    text = ", ".join(f"[{a}, {b}]" for a, b in rows)
    return f"dense<[{text}]> : tensor<{len(rows)}x2xi64>" if rows else "dense<> : tensor<0x2xi64>"


def combiner(op: str, format: Format) -> Callable[[Any, Any], Any]:
    """The function of two numbers that an elementwise op computes."""
    if format is BOOLEAN:
        return integers.OF_BOOLEANS[op]
    if isinstance(format, Integer):
        of_integers = integers.BINARY[op]
        return lambda a, b: of_integers(a, b, format)
    if isinstance(format, Complex):
        return {"stablehlo.add": lambda a, b: a + b, "stablehlo.multiply": lambda a, b: a * b}[op]
    of_floats = functions.EXACT_BINARY[op]
    return lambda a, b: of_floats(a, b, format)


def neutral(op: str, format: Format) -> Any:
    """The number that an op leaves others as they are with."""
    kind = op.partition(".")[2]
    if isinstance(format, Float):
        limit = math.inf if format.has_infinity else format.largest
        return {"add": 0.0, "multiply": 1.0, "maximum": -limit, "minimum": limit}[kind]
    if isinstance(format, Complex):
        return {"add": 0j, "multiply": 1 + 0j}[kind]
    ones = format.wrapped(-1)
    return {
        "add": 0,
        "multiply": 1,
        "or": 0,
        "xor": 0,
        "and": ones,
        "maximum": format.smallest,
        "minimum": format.largest,
    }[kind]


def reducers(format: Format) -> list[str]:
    names = ["add", "multiply", "maximum", "minimum"]
    if isinstance(format, Complex):
        names = names[:2]
    if isinstance(format, Integer):
        names += ["and", "or", "xor"]
    return [f"stablehlo.{name}" for name in names]


def region(op: str, format: str, name: str = "") -> str:
    """A region of two scalars."""
    t = f"tensor<{format}>"
    return (
        f"\n  ^bb0(%x{name}: {t}, %y{name}: {t}):\n"
        f'    %z{name} = "{op}"(%x{name}, %y{name}) : ({t}, {t}) -> {t}\n'
        f'    "stablehlo.return"(%z{name}) : ({t}) -> ()\n  '
    )


def comparing(direction: str, format: Format, name: str = "", type_: str = "") -> str:
    """A region that compares two scalars."""
    t = f"tensor<{format.name}>"
    type_ = type_ or comparison_type(format)
    return (
        f"\n  ^bb0(%x{name}: {t}, %y{name}: {t}):\n"
        f'    %z{name} = "stablehlo.compare"(%x{name}, %y{name}) {{comparison_direction = '
        f"#stablehlo<comparison_direction {direction}>, compare_type = "
        f"#stablehlo<comparison_type {type_}>}} : ({t}, {t}) -> tensor<i1>\n"
        f'    "stablehlo.return"(%z{name}) : (tensor<i1>) -> ()\n  '
    )


def comparison_type(format: Format) -> str:
    if isinstance(format, Integer):
        return "SIGNED" if format.signed else "UNSIGNED"
    return "FLOAT"


def padded(
    x: np.ndarray, value: Any, low: Sequence[int], high: Sequence[int], interior: Sequence[int]
) -> np.ndarray:
    """The result of `pad`, by its formula."""
    extents = [
        a + max(n - 1, 0) * i + n + b
        for n, a, b, i in zip(x.shape, low, high, interior, strict=True)
    ]
    found = np.empty([max(n, 0) for n in extents], object)
    found[...] = value
    for index in np.ndindex(x.shape):
        place = tuple(a + i * (k + 1) for a, i, k in zip(low, index, interior, strict=True))
        if all(0 <= p < n for p, n in zip(place, found.shape, strict=True)):
            found[place] = x[index]
    return found


def windows_of(
    padded_extents: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> list[int]:
    """The number of windows along each dimension."""
    counts = []
    for n, size, stride, dilation in zip(padded_extents, sizes, strides, dilations, strict=True):
        reach = (size - 1) * dilation + 1
        counts.append(0 if n <= 0 or reach > n else (n - reach) // stride + 1)
    return counts
