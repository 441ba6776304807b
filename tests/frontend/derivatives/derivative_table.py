"""Writes docs/reports/derivative-accuracy.md: how accurate functions are, beside mpmath's.

python -m tests.frontend.derivatives.derivative_table
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
from tests.frontend.derivatives.derivative_functions import PAIRS, SUBJECTS, Pair, Subject

import irax
import irax.numpy as jnp

PATH = Path(__file__).parents[3] / "docs" / "reports" / "derivative-accuracy.md"
DTYPES = (np.dtype(np.float32), np.dtype(np.float64))
LIMIT = 8.0
"""The largest error of a derivative that needs no reason, in units in the last place times the
condition; of a value, `LIMIT_OF_VALUES`.
"""
LIMIT_OF_VALUES = 4.0
UNDERFLOW = 4096.0
"""Errors up to this number times the smallest normal one are those of underflow; of float16, whose
smallest normal number is 6e-5, up to that number itself.
"""

HEAD = """# How accurate functions and their derivatives are

The largest errors of values, first and second derivatives that were found, at some 240 places for
each function of one number, and 160 for each of two, over its whole range. Places are from the
smallest normal number to the largest, of both signs, and many are near 1, 0, and the ends of the
domain.
`python -m tests.frontend.derivatives.derivative_table` measures and writes this page; a test
measures a sample.

Errors are in units in the last place of what is exact, which mpmath gives with hundreds of digits,
divided by the condition at that place, if it is above 1: the number of times that a relative change
of the operand grows in the value or derivative. Of functions of two numbers, it
is the sum for both. Each entry is the larger one of what is computed outside of `jit` and compiled
for the CPU.

- No error is counted below 4096 times the smallest normal number: compiled programs take subnormal
  numbers as 0.
- What is too large for its dtype has to be infinite, or not a number.
- Values near the ends of special functions of mpmath that take it too long are left out: `i0e` and
  `i1e` are measured up to 10,000, `erfcx` and `dawsn` up to 100, `log_ndtr` from -30 to 30.

| function | float32: value | first | second | float64: value | first | second |
|---|---|---|---|---|---|---|
"""

REASONS: dict[str, str] = {
    "gammaln": "outside of `jit`, SciPy's value between 1 and 2.",
    "i1e": "the value is compiled by StableHLO's own series.",
    "softmax": "of nearly equal numbers, the second derivative is a difference of equal shares.",
    "log_softmax": "of a share that rounds to 1, the value is 0.",
}
"""For functions with an entry above `LIMIT`, the reason."""


# ---- places --------------------------------------------------------------------------------------


def places(subject: Subject, dtype: np.dtype[Any], count: int = 40) -> np.ndarray[Any, Any]:
    """Numbers within the domain of a function."""
    rng, info = np.random.default_rng(0), np.finfo(dtype)
    least, most = math.log2(info.tiny), min(math.log2(info.max) - 0.01, 1024)
    sizes = 2.0 ** np.clip(np.linspace(least, most, count) + rng.uniform(-1, 1, count), least, most)
    low, high = max(subject.low, -subject.reach), min(subject.high, subject.reach)
    wide = 100 if dtype.itemsize == 4 else 720
    found = [sizes, -sizes, rng.uniform(low, high, 2 * count)]
    found += [rng.uniform(-limit, limit, count) for limit in (wide, 2)]
    steps = 2.0 ** -np.arange(1, info.nmant, 3)
    found += [near + sign * steps for near in subject.near for sign in (1, -1)]
    x = np.concatenate(found).astype(dtype)
    inside = (x > subject.low) & (x < subject.high) & (np.abs(x) <= subject.largest) & (x != 0)
    return np.unique(x[inside])


def places_of_pairs(pair: Pair, dtype: np.dtype[Any], count: int = 40) -> np.ndarray[Any, Any]:
    """Pairs of numbers, in two rows: of all sizes, of like sizes, and near 1."""
    rng, info = np.random.default_rng(1), np.finfo(dtype)
    most = math.log2(info.max) - 0.01

    def sizes() -> np.ndarray[Any, Any]:
        return 2.0 ** rng.uniform(3 - most, most, count) * rng.choice([-1, 1], count)

    first = sizes()
    alike = first * 2.0 ** rng.uniform(-3, 3, count)
    found = [np.stack([sizes(), sizes()]), np.stack([first, alike])]
    found += [rng.uniform(-limit, limit, (2, count)) for limit in (20, 2)]
    with np.errstate(over="ignore"):
        x = np.concatenate(found, 1).astype(dtype)
    x = np.abs(x) if pair.positive else x
    x = x[:, np.isfinite(x).all(0) & (np.abs(x) >= info.tiny).all(0)]
    # Beyond, every power is 0 or infinite.
    return x[:, np.abs(x[1]) < 1e6] if pair.name == "power" else x


# ---- what is exact -------------------------------------------------------------------------------


def slopes(subject: Subject, x: float, double: bool) -> Sequence[Any]:
    """The first three derivatives at a number."""
    if subject.slopes is not None:
        with mp.workdps(60):
            return [f(mp.mpf(x)) for f in subject.slopes]
    with mp.workdps(_digits(x, double)):
        at = mp.mpf(x)
        step = mp.ldexp(1, min(mp.frexp(at)[1], 0) - 66)
        a, b, c, d, e = (subject.value(at + k * step) for k in range(-2, 3))
        return [
            (8 * (d - b) - (e - a)) / (12 * step),
            (16 * (b + d) - (a + e) - 30 * c) / (12 * step**2),
            (e - a - 2 * (d - b)) / (2 * step**3),
        ]


def exact_value(subject: Subject, x: float, double: bool) -> Any:
    """The value at a number."""
    with mp.workdps(60 if subject.slopes is not None else _digits(x, double)):
        return subject.value(mp.mpf(x))


def _digits(x: float, double: bool) -> int:
    """The digits with which nothing cancels, in values and differences."""
    return int(160 + 3 * abs(math.log10(abs(x))) + (340 if double else 50))


def conditions(pair: Pair, x: Any, y: Any, exact: Mapping[str, Any]) -> dict[str, Any]:
    """The factors by which relative changes of both operands grow in each derivative."""
    step = mp.mpf(10) ** -20
    by_x, by_y = pair.slopes(x * (1 + step), y), pair.slopes(x, y * (1 + step))
    return {
        key: (abs(by_x[key] - v) + abs(by_y[key] - v)) / step / abs(v) if v else 1
        for key, v in exact.items()
    }


def error(found: float, exact: Any, condition: Any, info: Any) -> float:
    """In units in the last place times the condition."""
    largest, tiny = float(info.max), float(info.tiny)
    if abs(exact) > largest * (1 - 2 * float(info.eps)):
        return 0.0 if not abs(found) < largest * 0.999 else math.inf
    if not math.isfinite(found):
        return math.inf
    difference = abs(found - exact)
    if difference < tiny * (UNDERFLOW if tiny < 2.0**-100 else 1.0):
        return 0.0
    unit = mp.ldexp(1, mp.frexp(exact)[1] - 1) if exact else mp.mpf(tiny)
    return float(difference / (float(info.eps) * max(unit, tiny)) / max(1, condition))


# ---- measuring -----------------------------------------------------------------------------------


def both(derivative: Any, operands: Sequence[np.ndarray[Any, Any]]) -> Iterator[list[float]]:
    """The results of a derivative outside of `jit`, and compiled."""
    with irax.enable_x64(True):
        for function in (derivative, irax.jit(derivative)):
            found = np.asarray(function(*map(jnp.asarray, operands)))
            assert found.dtype == operands[0].dtype
            yield found.tolist()


def errors(subject: Subject, dtype: np.dtype[Any], count: int = 40) -> list[float]:
    """The largest ones of the value, of the first derivative, and of the second."""
    x, info = places(subject, dtype, count), np.finfo(dtype)
    values = [exact_value(subject, v, dtype.itemsize > 4) for v in x.tolist()]
    found = [slopes(subject, v, dtype.itemsize > 4) for v in x.tolist()]
    exact = [(value, *rest) for value, rest in zip(values, found, strict=True)]
    first = irax.grad(lambda x: subject.function(x).sum())
    second = irax.grad(lambda x: first(x).sum())
    worst = []
    for order, derivative in enumerate((subject.function, first, second)):
        worst.append(0.0)
        for found in both(derivative, [x]):
            with mp.workdps(50):
                for v, at, of in zip(found, x.tolist(), exact, strict=True):
                    condition = abs(at * of[order + 1] / of[order]) if of[order] else 1
                    worst[-1] = max(worst[-1], error(v, mp.re(of[order]), condition, info))
    return worst


def errors_of_pair(pair: Pair, dtype: np.dtype[Any], count: int = 40) -> list[float]:
    """The largest ones of the value, of the first derivatives, and of the second."""
    operands, info = places_of_pairs(pair, dtype, count), np.finfo(dtype)
    with mp.workdps(60):
        points = [(mp.mpf(x), mp.mpf(y)) for x, y in operands.T.tolist()]
        exact = [pair.slopes(x, y) for x, y in points]
        condition = [conditions(pair, x, y, v) for (x, y), v in zip(points, exact, strict=True)]

    def total(x: Any, y: Any) -> Any:
        return pair.function(x, y).sum()

    worst = [0.0, 0.0, 0.0]
    for name in ("", "0", "1", "00", "01", "10", "11"):
        key = "01" if name == "10" else name
        if key not in exact[0]:
            continue
        derivative = irax.grad(total, int(name[0])) if name else pair.function
        if len(name) > 1:
            inner = derivative
            derivative = irax.grad(lambda x, y, f=inner: f(x, y).sum(), int(name[1]))
        for found in both(derivative, list(operands)):
            with mp.workdps(50):
                for v, e, c in zip(found, exact, condition, strict=True):
                    order = len(name)
                    worst[order] = max(worst[order], error(v, e[key], c[key], info))
    return worst


def measured(subject: Subject | Pair, dtype: np.dtype[Any], count: int = 40) -> list[float]:
    """The largest errors of a function's value, first and second derivatives."""
    if isinstance(subject, Pair):
        return errors_of_pair(subject, dtype, count)
    return errors(subject, dtype, count)


def table() -> str:
    """The contents of the page."""
    rows = []
    for subject in (*SUBJECTS, *PAIRS):
        numbers = [e for dtype in DTYPES for e in measured(subject, dtype)]
        cells = " | ".join(f"{e:.2g}" if e <= 1e4 else "above 10,000" for e in numbers)
        above = any(e > (LIMIT if i % 3 else LIMIT_OF_VALUES) for i, e in enumerate(numbers))
        mark = "*" if above else ""
        rows.append(f"| `{subject.name}`{mark} | {cells} |")
        print(rows[-1], flush=True)
    reasons = "\n".join(f"- `{name}`: {reason}" for name, reason in REASONS.items())
    note = (
        f"\n\\* Above {LIMIT:g}, or {LIMIT_OF_VALUES:g} for values:\n\n{reasons}\n"
        if REASONS
        else ""
    )
    return HEAD + "\n".join(rows) + "\n" + note


if __name__ == "__main__":
    PATH.write_text(table())
