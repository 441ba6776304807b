"""Cases of operations with shapes as operands, here constants, and of CHLO's broadcasts."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from tests.conformance import elementwise, functions, integers
from tests.conformance.arrays import case, edges, filled, i64s, padded, shaped, small
from tests.conformance.cases import Case, tensor
from tests.conformance.formats import BOOLEAN, FORMATS, Float, Format, Integer

MOVED = ("f32", "i32", "f64", "i8", "ui16", "bf16", "i1", "complex<f32>", "f16", "i64", "f8E4M3FN")


def shape_of(numbers: Sequence[int], name: str = "s", type_: str = "i32") -> str:
    """A line that defines a vector of integers."""
    type_ = f"tensor<{len(numbers)}x{type_}>"
    text = f"[{', '.join(map(str, numbers))}]" if numbers else ""
    return f"  %{name} = stablehlo.constant dense<{text}> : {type_}\n"


def _body(
    lines: str, op: str, operands: Sequence[tuple[str, str]], result: str, attributes: str = ""
) -> str:
    """A body with an operation of named operands, each with its type."""
    named = ", ".join(name for name, _ in operands)
    types = ", ".join(type_ for _, type_ in operands)
    in_braces = f" {{{attributes}}}" if attributes else ""
    return f'{lines}  %r0 = "{op}"({named}){in_braces} : ({types}) -> {result}'


def shapes(rng: random.Random, count: int) -> Iterator[Case]:
    """Reshapes, broadcasts, iotas, pads and slices whose sizes are operands."""
    for i in range(count):
        name = MOVED[i % len(MOVED)]
        index = ("i32", "i64")[i % 2]
        x = edges(FORMATS[name], shaped(rng, rng.choice([1, 2])), rng)
        given, vector = ("%a0", tensor(x.shape, name)), f"tensor<{x.ndim}x{index}>"
        note = f"{name} {list(x.shape)}"

        wide = [rng.randint(1, 3), *(n if n != 1 else rng.randint(1, 3) for n in x.shape)]
        places = list(range(1, x.ndim + 1))
        attributes = f"broadcast_dimensions = {i64s(places)}"
        operands = [given, ("%s", f"tensor<{len(wide)}x{index}>")]
        lines, op = shape_of(wide, type_=index), "stablehlo.dynamic_broadcast_in_dim"
        body = _body(lines, op, operands, tensor(wide, name), attributes)
        found = np.broadcast_to(x, wide)
        yield case(op, f"{note} to {wide}", [(name, x)], [(name, found)], body=body)

        to = rng.choice([[x.size], [1, x.size], [x.size, 1, 1]])
        operands = [given, ("%s", f"tensor<{len(to)}x{index}>")]
        lines, op = shape_of(to, type_=index), "stablehlo.dynamic_reshape"
        body = _body(lines, op, operands, tensor(to, name))
        yield case(op, f"{note} to {to}", [(name, x)], [(name, x.reshape(to))], body=body)

        low, high = ([rng.randint(-2, 2) for _ in x.shape] for _ in range(2))
        interior = [rng.choice([0, 0, 1, 2]) for _ in x.shape]
        for d, n in enumerate(x.shape):
            high[d] -= min(low[d] + high[d] + max(n - 1, 0) * interior[d] + n, 0)
        value = edges(FORMATS[name], (), rng)
        found = padded(x, value[()], low, high, interior)
        lines = "".join(
            shape_of(numbers, letter, index)
            for numbers, letter in ((low, "l"), (high, "h"), (interior, "i"))
        )
        operands = [given, ("%a1", tensor((), name)), *((f"%{k}", vector) for k in "lhi")]
        op, note_ = "stablehlo.dynamic_pad", f"{note} low {low} high {high} interior {interior}"
        body = _body(lines, op, operands, tensor(found.shape, name))
        yield case(op, note_, [(name, x), (name, value)], [(name, found)], body=body)

        starts = [rng.randint(0, n) for n in x.shape]
        limits = [rng.randint(s, n) for s, n in zip(starts, x.shape, strict=True)]
        strides = [rng.randint(1, 3) for _ in x.shape]
        found = x[tuple(map(slice, starts, limits, strides))]
        lines = "".join(
            shape_of(numbers, letter, index)
            for numbers, letter in ((starts, "l"), (limits, "h"), (strides, "i"))
        )
        operands = [given, *((f"%{k}", vector) for k in "lhi")]
        op, note_ = "stablehlo.real_dynamic_slice", f"{note} {starts} {limits} {strides}"
        body = _body(lines, op, operands, tensor(found.shape, name))
        yield case(op, note_, [(name, x)], [(name, found)], body=body)

        axis = rng.randrange(x.ndim)
        op, size = "stablehlo.get_dimension_size", np.array(x.shape[axis], object)
        body = _body("", op, [given], "tensor<i32>", f"dimension = {axis} : i64")
        yield case(op, f"{note} of {axis}", [(name, x)], [("i32", size)], body=body)

        if name in ("f32", "i32", "i8", "bf16"):
            extents = shaped(rng, 2, 5)
            one: Any = 0.0 if name != "i32" and name != "i8" else 0
            along = [one + k for k in range(extents[1])]
            found = np.broadcast_to(np.array(along, object), extents)
            operands = [("%s", f"tensor<2x{index}>")]
            lines, op = shape_of(extents, type_=index), "stablehlo.dynamic_iota"
            body = _body(lines, op, operands, tensor(extents, name), "iota_dimension = 1 : i64")
            yield case(op, f"{name} {extents}", [], [(name, found)], body=body)


def _pair(rng: random.Random) -> tuple[list[int], list[int], list[int], list[int]]:
    """Two shapes, their broadcast, and where the shorter one's dimensions are."""
    whole = shaped(rng, rng.choice([1, 2, 3]), 3)
    rank = rng.randint(0, len(whole))
    dims = sorted(rng.sample(range(len(whole)), rank))
    first = [n if rng.random() < 0.7 else 1 for n in whole]
    second = [whole[d] if rng.random() < 0.7 or first[d] == 1 else 1 for d in dims]
    result = list(first)
    for d, n in zip(dims, second, strict=True):
        result[d] = n if result[d] == 1 else result[d]
    return first, second, result, dims


def _spread(x: np.ndarray, rank: int, dims: Sequence[int], result: Sequence[int]) -> np.ndarray:
    extents = [1] * rank
    for d, n in zip(dims, x.shape, strict=True):
        extents[d] = n
    return np.broadcast_to(x.reshape(extents), result)


def _function(name: str, format: Format) -> Any:
    if format is BOOLEAN:
        return integers.OF_BOOLEANS.get(f"stablehlo.{name}")
    if isinstance(format, Integer):
        of_integers = integers.BINARY.get(f"stablehlo.{name}")
        return of_integers and (lambda a, b: of_integers(a, b, format))
    table = {**functions.EXACT_BINARY, **functions.BINARY}
    of_floats = table.get(f"stablehlo.{name}") or table.get(f"chlo.{name}")
    return of_floats and (lambda a, b: of_floats(a, b, format))


BROADCAST = (
    *("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "power", "atan2"),
    *("and", "or", "xor", "shift_left", "shift_right_logical", "shift_right_arithmetic"),
    *("next_after", "compare", "complex", "zeta", "polygamma"),
)


def broadcasts(rng: random.Random, count: int) -> Iterator[Case]:
    """Two operands whose dimensions of one are stretched, one of them of lower rank."""
    for i in range(count):
        for name in ("f32", "i32", "f64", "i1", "ui8"):
            op = BROADCAST[(i + ("f32", "i32", "f64", "i1", "ui8").index(name)) % len(BROADCAST)]
            if (made := _broadcast(op, name, rng)) is not None:
                yield made


def _broadcast(op: str, name: str, rng: random.Random) -> Case | None:
    format = FORMATS[name]
    first, second, result, dims = _pair(rng)
    x, y = small(format, first, rng), small(format, second, rng)
    if op in ("zeta", "polygamma"):  # of positive numbers, away from the pole
        x = filled(first, lambda: float(rng.randint(2, 6)))
        y = filled(second, lambda: float(rng.randint(1, 5)))
    wide = _spread(y, len(first), dims, result)
    pairs = np.broadcast_to(x, result), wide
    attributes = f"broadcast_dimensions = {i64s(dims)}"
    note, chlo = f"{name} {first} {second} at {dims}", f"chlo.broadcast_{op}"
    types = [("%a0", tensor(first, name)), ("%a1", tensor(second, name))]
    to, found = name, np.empty(result, object)
    if op == "compare":
        direction = rng.choice(list(elementwise.DIRECTIONS))
        attributes += f", comparison_direction = #chlo<comparison_direction {direction}>"
        test = elementwise.DIRECTIONS[direction]
        to, function = "i1", lambda a, b: int(test(a, b))
    elif op == "complex":
        if name not in ("f32", "f64"):
            return None
        to, function = f"complex<{name}>", complex
    else:
        function = _function(op, format)
        if function is None:
            return None
    free = np.zeros(result, bool)
    for place in np.ndindex(*result):
        value = function(pairs[0][place], pairs[1][place])
        free[place] = isinstance(value, functions.Free)
        found[place] = value.value if isinstance(value, functions.Free) else value
    body = _body("", chlo, types, tensor(result, to), attributes)
    ulps = {"power": 16.0, "atan2": 16.0, "zeta": 512.0, "polygamma": 512.0}.get(op, 0.0)
    ulps = ulps if isinstance(format, Float) else 0.0
    operands = [(name, x), (name, y)]
    return case(chlo, note, operands, [(to, found)], body=body, free=free, ulps=ulps)


def choices(rng: random.Random, count: int) -> Iterator[Case]:
    """broadcast_select: a mask and two arrays, which may be scalars."""
    for i in range(count):
        name = MOVED[i % len(MOVED)]
        whole = shaped(rng, rng.choice([1, 2]), 3)
        shapes_ = [rng.choice([whole, whole, []]) for _ in range(3)]
        whole = whole if whole in shapes_ else []
        mask = small(BOOLEAN, shapes_[0], rng)
        x, y = (edges(FORMATS[name], shape, rng) for shape in shapes_[1:])
        found = np.where(np.broadcast_to(mask, whole).astype(bool), x, y)
        operands = [("i1", mask), (name, x), (name, y)]
        types = [(f"%a{k}", tensor(v.shape, f)) for k, (f, v) in enumerate(operands)]
        body = _body("", "chlo.broadcast_select", types, tensor(whole, name))
        note = f"{name} {shapes_}"
        yield case("chlo.broadcast_select", note, operands, [(name, found)], body=body)


def everything(rng: random.Random, count: int) -> Iterator[Case]:
    """All of them."""
    yield from shapes(rng, count)
    yield from broadcasts(rng, count)
    yield from choices(rng, count)
