"""Cases of complex numbers, and of bits."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from typing import Any

import mpmath
import numpy as np
from tests.conformance.arrays import (
    MOVED,
    case,
)
from tests.conformance.cases import Case
from tests.conformance.elementwise import elements
from tests.conformance.formats import BOOLEAN, FORMATS, Complex, Float
from tests.conformance.functions import exact

COMPLEX: dict[str, Any] = {
    "stablehlo.exponential": mpmath.exp,
    "stablehlo.exponential_minus_one": mpmath.expm1,
    "stablehlo.log": mpmath.log,
    "stablehlo.log_plus_one": lambda z: mpmath.log(1 + z),
    "stablehlo.sine": mpmath.sin,
    "stablehlo.cosine": mpmath.cos,
    "stablehlo.tan": mpmath.tan,
    "stablehlo.tanh": mpmath.tanh,
    "stablehlo.sqrt": mpmath.sqrt,
    "stablehlo.rsqrt": lambda z: 1 / mpmath.sqrt(z),
    "stablehlo.cbrt": lambda z: mpmath.exp(mpmath.log(z) / 3),
    "stablehlo.logistic": lambda z: 1 / (1 + mpmath.exp(-z)),
    "stablehlo.negate": lambda z: -z,
    "stablehlo.sign": lambda z: z / abs(z),
    "chlo.square": lambda z: z * z,
    "chlo.conj": mpmath.conj,
    "chlo.tan": mpmath.tan,
    "chlo.sinh": mpmath.sinh,
    "chlo.cosh": mpmath.cosh,
    "chlo.asinh": mpmath.asinh,
    "chlo.acosh": mpmath.acosh,
    "chlo.atanh": mpmath.atanh,
    "chlo.asin": mpmath.asin,
    "chlo.acos": mpmath.acos,
    "chlo.atan": mpmath.atan,
    "stablehlo.abs": abs,
    "stablehlo.real": lambda z: z.real,
    "stablehlo.imag": lambda z: z.imag,
}
COMPLEX_PAIRS: dict[str, Any] = {
    "stablehlo.add": lambda a, b: a + b,
    "stablehlo.subtract": lambda a, b: a - b,
    "stablehlo.multiply": lambda a, b: a * b,
    "stablehlo.divide": lambda a, b: a / b,
    "stablehlo.power": lambda a, b: mpmath.exp(b * mpmath.log(a)),
}


def complex_functions(rng: random.Random) -> Iterator[Case]:
    """Functions of complex numbers that are neither on a branch cut nor special."""
    for name in ("complex<f32>", "complex<f64>"):
        format = FORMATS[name]
        assert isinstance(format, Complex)
        part = format.part
        sizes = [1, 0.5, 2, 3.25, 0.1, 1e-3, 10, 20, 1e-8]
        points = [
            complex(part.rounded(float(s * a)), part.rounded(float(t * b)))
            for a, b in itertools.product(sizes, sizes)
            for s, t in ((1, 1), (-1, 1), (1, -1))
        ][::4]
        for op, function in COMPLEX.items():
            to: Any = (
                part if op in ("stablehlo.abs", "stablehlo.real", "stablehlo.imag") else format
            )
            found = [_of_complex(function, part, to, z) for z in points]
            # The formula of the specification cancels near -1 and 0.
            bound = 4 * part.spacing(1.0) if op == "stablehlo.log_plus_one" else 0
            yield elements(op, name, [format], [points], to, found, 64, absolute=bound)
        some = points[::9]
        pairs = list(itertools.product(some, some))
        for op, function in COMPLEX_PAIRS.items():
            found = [_of_complex(function, part, format, *two) for two in pairs]
            columns = [list(c) for c in zip(*pairs, strict=True)]
            yield elements(
                op,
                name,
                [format] * 2,
                columns,
                format,
                found,
                64 if op != "stablehlo.power" else 512,
            )
        reals = [part.rounded(float(a)) for a in (0, -0.0, 1, -2.5, math.inf, math.nan, 1e-3)]
        two = list(itertools.product(reals, reals))
        columns = [list(c) for c in zip(*two, strict=True)]
        yield elements(
            "stablehlo.complex", name, [part, part], columns, format, [complex(*z) for z in two]
        )
        made = [complex(*z) for z in two]
        yield elements(
            "stablehlo.real", f"{name} special", [format], [made], part, [z.real for z in made]
        )
        yield elements(
            "stablehlo.imag", f"{name} special", [format], [made], part, [z.imag for z in made]
        )
        for direction, test in (("EQ", lambda a, b: a == b), ("NE", lambda a, b: a != b)):
            pairs = list(itertools.product(made[::3], made[::3]))
            columns = [list(c) for c in zip(*pairs, strict=True)]
            attributes = (
                f"comparison_direction = #stablehlo<comparison_direction {direction}>, "
                "compare_type = #stablehlo<comparison_type FLOAT>"
            )
            yield elements(
                "stablehlo.compare",
                f"{name} {direction}",
                [format] * 2,
                columns,
                BOOLEAN,
                [int(test(*p)) for p in pairs],
                attributes=attributes,
            )


def _of_complex(function: Any, part: Float, to: Any, *z: complex) -> Any:
    with mpmath.workprec(300):
        try:
            w = function(*(mpmath.mpc(a.real, a.imag) for a in z))
        except (ZeroDivisionError, ValueError):
            return None
    if to is part:
        return part.rounded(exact(mpmath.mpf(w)))
    w = mpmath.mpc(w)
    found = complex(part.rounded(exact(w.real)), part.rounded(exact(w.imag)))
    return found if math.isfinite(found.real) and math.isfinite(found.imag) else None


def bitcasts(rng: random.Random) -> Iterator[Case]:
    """Bits read as another type, the lowest first, as all backends have them."""
    names = [
        n
        for n in MOVED
        if n not in ("i1", "i2", "ui4", "i4", "f4E2M1FN", "f6E3M2FN") and "complex" not in n
    ]
    for source, to in itertools.product(names, names):
        a, b = FORMATS[source], FORMATS[to]
        size, other = a.dtype.itemsize, b.dtype.itemsize
        shape = [3] if size >= other else [3, other // size]
        data = bytes(rng.randrange(256) for _ in range(math.prod(shape) * size))
        x = np.frombuffer(data, a.dtype).reshape(shape)
        y = np.frombuffer(data, b.dtype).reshape([3] if size <= other else [3, size // other])
        with np.errstate(invalid="ignore"):
            wide = [v.astype(object if v.dtype.kind in "iu" else np.float64) for v in (x, y)]
        wide = [v.astype(object) for v in wide]
        if any(
            isinstance(f, Float) and np.isnan(w.astype(float)).any()
            for f, w in zip((a, b), wide, strict=True)
        ):
            continue
        yield case(
            "stablehlo.bitcast_convert", f"{source} to {to}", [(source, wide[0])], [(to, wide[1])]
        )


def everything(rng: random.Random, count: int) -> Iterator[Case]:
    """All of these, which are as many for every count."""
    yield from complex_functions(rng)
    yield from bitcasts(rng)
