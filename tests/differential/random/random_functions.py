"""A generator of random functions of arrays of all dtypes, which run by irax and by NumPy alone.

A function draws its steps from a generator of random numbers while it runs, and what it draws
depends on shapes and dtypes alone. So a seed is a function, of tracers and of arrays.

Its numbers are small integers, and so are all values between: arithmetic is exact in whatever
order sums are added up, and results are equal. A smooth function is one of real and complex
numbers in float64 and complex128, that has derivatives.

    f = RandomFunction(EXACT, seed)
    f(IRAX, *f.arguments())     f(PLAIN, *f.arguments())

`random_steps.py` has the kinds of functions and their steps, `random_control.py` loops and
branches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, prod
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
from tests.differential import plain

import irax
import irax.numpy as jnp
from irax import lax

F64, C128, I32, BOOL = map(np.dtype, (np.float64, np.complex128, np.int32, np.bool_))
BF16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = {
    **dict.fromkeys(map(np.dtype, ("float64",)), 6),
    **dict.fromkeys(map(np.dtype, ("float32", "int32")), 3),
    **dict.fromkeys(map(np.dtype, ("float16", "bfloat16", "int8", "uint8", "int16", "bool")), 1),
    **dict.fromkeys(map(np.dtype, ("int64", "uint32", "complex64", "complex128")), 1),
}
"""The dtypes of arrays, each with how often they have it."""
STORED = tuple(map(np.dtype, (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.int4)))
"""The dtypes that values are converted to and back."""
LARGEST = {"float64": 2**52, "float32": 2**23, "float16": 2**10, "bfloat16": 2**7}
LARGEST |= {"complex64": 2**22, "complex128": 2**51}
LARGEST |= {"float8_e4m3fn": 2**4, "float8_e5m2": 2**3, "int4": 7}
"""The largest number up to which a dtype has all integers."""
HIGHEST = 4
"""The highest rank."""


# ---- libraries -----------------------------------------------------------------------------------


def _index(starts: Sequence[Any]) -> list[Any]:
    return [jnp.asarray(i, np.int32) for i in starts]


def _cumulative(x: Any, combiner: Any, axis: int, reverse: bool) -> Any:
    by_name = {"add": lax.cumsum, "maximum": lax.cummax, "minimum": lax.cummin}
    return by_name[combiner.__name__](x, axis, reverse)


def _indexed(x: Any, places: Any, mode: str, filler: Any) -> Any:
    return x.at[places].get(mode=mode, fill_value=filler if mode == "fill" else None)


def _window(x: Any, init: Any, combiner: Any, *window: Any) -> Any:
    computation = {"add": lax.add, "maximum": lax.max, "minimum": lax.min}[combiner.__name__]
    return lax.reduce_window(x, init, computation, *window)


def _convolution(
    x: Any, kernel: Any, strides: Any, padding: Any, before: Any, between: Any, groups: int
) -> Any:
    places = "DHW"[-len(strides) :]
    layout = (f"NC{places}", f"OI{places}", f"NC{places}")
    return lax.conv_general_dilated(
        x, kernel, strides, padding, before, between, layout, feature_group_count=groups
    )


def _fori_loop(start: int, stop: int, body: Callable[..., Any], carry: Any) -> Any:
    return lax.fori_loop(start, stop, lambda i, xs: body(i.astype(np.int32), xs), carry)


def _while_loop(goes_on: Any, body: Any, carry: Any, most: int | None) -> Any:
    return lax.while_loop(goes_on, body, carry, max_steps=most)


IRAX = SimpleNamespace(
    np=jnp,
    variant=0,
    scan=lambda body, carry, rows, length: lax.scan(body, carry, rows, length),
    fori_loop=_fori_loop,
    while_loop=_while_loop,
    map_=lax.map,
    cond=lax.cond,
    switch=lax.switch,
    dynamic_slice=lambda x, starts, sizes: lax.dynamic_slice(x, _index(starts), sizes),
    dynamic_update_slice=lambda x, y, starts: lax.dynamic_update_slice(x, y, _index(starts)),
    pad=lax.pad,
    reduce_window=_window,
    convolution=_convolution,
    updated=lambda x, i, value, how: getattr(x.at[i], how)(value),
    gathered=lambda x, i: x.at[i].get(mode="clip"),
    top_k=lambda x, k: tuple(lax.top_k(x, k)),
    sort=lambda x, y, axis: tuple(lax.sort((x, y), axis)),
    optimization_barrier=lax.optimization_barrier,
    cumulative=_cumulative,
    order=lambda x, axis: jnp.argsort(x, axis).astype(np.int32),
    in_order=lambda x, axis: jnp.sort(x, axis),
    indexed=_indexed,
    written=lambda x, places, rows, how, mode: getattr(x.at[places], how)(rows, mode=mode),
    lanes=lambda function, rows: irax.vmap(function)(rows),
)
PLAIN = SimpleNamespace(
    np=np, variant=0, **{name: value for name, value in vars(plain).items() if callable(value)}
)


# ---- programs ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """An array, and a number that no part of its elements exceeds."""

    x: Any
    bound: float

    def __post_init__(self) -> None:
        if isinstance(self.x, np.generic):  # NumPy's functions return scalars, not arrays
            object.__setattr__(self, "x", np.asarray(self.x))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.x.shape)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.x.dtype)

    @property
    def kind(self) -> str:
        return "f" if self.dtype == BF16 else self.dtype.kind


Step = Callable[["Program", Known], "Known | list[Known] | None"]


@dataclass(frozen=True)
class Kind:
    """A kind of random functions: the steps that they are made of, and their arguments."""

    menu: Sequence[Step]
    smooth: bool = False
    dtypes: Mapping[np.dtype, int] = field(default_factory=lambda: DTYPES)
    """The dtypes of arguments, each with how often they have it."""
    shapes: tuple[tuple[int, ...], ...] = ()
    """The shapes of arguments; otherwise, they have any of these sizes."""
    alike: bool = False
    """True if arguments have one shape, but for dimensions of one in all but the first."""
    sizes: tuple[int, ...] = (1, 2, 3, 4, 5)
    large: tuple[int, int] = (6, 40)
    """Bounds of another size that some functions have."""
    often: float = 0.3
    """The share of functions that have it."""
    most: int = 400
    """The most elements of an array."""
    steps: int = 9
    """The most steps."""
    depth: int = 1
    """The number of loops and branches around which there is one more."""
    rounds: int = 4
    """The most steps of a loop."""


class Program:
    """A function that runs: its values so far."""

    def __init__(
        self, library: Any, seed: Any, values: Sequence[Known], kind: Kind, depth: int = 0
    ) -> None:
        self.lib, self.np = library, library.np
        self.rng = np.random.default_rng(seed)
        self.numbers = np.random.default_rng([library.variant, self.seed()])
        self.values = list(values)
        self.kind, self.smooth, self.depth = kind, kind.smooth, depth
        self.dtypes = sorted({v.dtype for v in values}, key=str)

    def run(self, steps: int) -> None:
        menu = self.kind.menu
        for _ in range(steps):
            step = menu[self.below(len(menu))]
            found = step(self, self.value())
            for known in found if isinstance(found, list) else [found]:
                if known is not None and self.is_kept(known.shape):
                    self.values.append(self.settled(known))

    # What is drawn.

    def below(self, n: int) -> int:
        return int(self.rng.integers(n))

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def one(self, choices: Sequence[Any]) -> Any:
        return choices[self.below(len(choices))]

    def seed(self) -> int:
        return int(self.rng.integers(1 << 32))

    def value(self) -> Known:
        return self.values[-1] if self.chance(0.5) else self.one(self.values)

    def number(self, dtype: np.dtype) -> Any:
        if self.smooth:
            part = round(float(self.numbers.uniform(-2, 2)), 3) if self.chance(0.7) else 1.0
            return dtype.type(part)
        low = 0 if dtype.kind in "ub" else -2
        return dtype.type(
            self.numbers.integers(low, 3) if dtype != BOOL else self.numbers.integers(2)
        )

    def splat(self, shape: Sequence[int], dtype: np.dtype) -> Known:
        return Known(self.np.full(tuple(shape), self.number(dtype), dtype), 2)

    def array(self, shape: Sequence[int], dtype: np.dtype) -> Known:
        return Known(self.np.asarray(drawn(self.numbers, shape, dtype, self.smooth)), 2)

    def given(self, shape: Sequence[int], dtype: np.dtype) -> Known:
        """A constant."""
        return self.splat(shape, dtype) if self.chance(0.6) else self.array(shape, dtype)

    def like(self, v: Known) -> list[Known]:
        """The values of a shape and dtype."""
        return [w for w in self.values if (w.shape, w.dtype) == (v.shape, v.dtype)]

    def partner(self, v: Known) -> Known:
        choice = self.below(6)
        if choice == 0:
            return self.given(v.shape, v.dtype)
        if choice == 1:
            rows = [w for w in self.values if w.dtype == v.dtype and w.shape in (v.shape[1:], ())]
            if rows:
                w = self.one(rows)
                return Known(self.np.broadcast_to(w.x, v.shape), w.bound)
        if choice == 2:
            others = [w for w in self.values if w.shape == v.shape and w.kind != "c"]
            if others:
                return self.converted(self.one(others), v.dtype)
        return self.one(self.like(v) or [v])

    def is_kept(self, shape: Sequence[int]) -> bool:
        return 0 < prod(shape) <= self.kind.most and len(shape) <= HIGHEST

    # What is done to values.

    def settled(self, v: Known) -> Known:
        """With a bound that its dtype has."""
        if v.dtype == BOOL:
            return Known(v.x, 1)
        if v.kind in "iu":
            largest = np.iinfo(v.dtype).max if v.dtype != STORED[2] else 7
            return v if v.bound <= largest else Known(v.x, float(largest) + 1)
        return self.fitting(v, 1)

    def fitting(self, v: Known, times: float) -> Known:
        """A value that stays exact if its bound grows by a factor."""
        limit = 30.0 if self.smooth else LARGEST.get(str(v.dtype), inf)
        return v if v.bound * times <= limit else self.clipped(v, 2)

    def clipped(self, v: Known, bound: float) -> Known:
        if v.kind == "c":
            parts = (self.np.clip(part, -bound, bound) for part in (v.x.real, v.x.imag))
            real, imag = parts
            return Known((real + imag * v.dtype.type(1j)).astype(v.dtype), bound)
        if v.dtype == BOOL:
            return v
        if self.smooth and v.kind == "f":
            return Known(self.np.tanh(v.x), 1)
        low = 0 if v.kind == "u" else -bound
        x = self.np.maximum(v.x, v.dtype.type(low))
        return Known(self.np.minimum(x, v.dtype.type(bound)), bound)

    def converted(self, v: Known, dtype: np.dtype) -> Known:
        if v.dtype == dtype:
            return v
        if v.kind == "c" and dtype.kind != "c":
            v = Known(self.np.real(v.x), v.bound)
        kind = "f" if dtype == BF16 else dtype.kind
        limit = LARGEST.get(str(dtype), inf)
        if v.kind in "fc" and kind in "iu":
            limit = min(limit, float(np.iinfo(dtype).max) if dtype != STORED[2] else 7)
        if v.kind in "iu" and kind in "iu":
            limit = inf
        if v.bound > limit:
            v = self.clipped(v, 2)
        if v.kind == "f" and dtype.kind == "u":  # negative numbers have no meaning there
            v = Known(self.np.abs(v.x), v.bound)
        bound = 256.0**dtype.itemsize if dtype.kind == "u" and v.kind == "i" else v.bound
        return self.settled(Known(v.x.astype(dtype), bound))

    def inside(self, values: Sequence[Known], seed: int) -> Program:
        """A function within this one, of some values, and of some of this one's."""
        rng = np.random.default_rng(seed)
        caught = [self.values[i] for i in rng.integers(len(self.values), size=2)]
        return Program(
            self.lib, rng.integers(1 << 32), [*values, *caught], self.kind, self.depth + 1
        )

    def returned(self, v: Known, bound: float | None = None) -> Known:
        """A value of the shape and dtype of `v`, with at most its bound."""
        bound = v.bound if bound is None else bound
        found = self.one(self.like(v)) if self.like(v) and self.chance(0.85) else None
        if found is None:
            found = self.given(v.shape, v.dtype)
        return found if found.bound <= bound else self.clipped(found, min(bound, 2))


def drawn(rng: np.random.Generator, shape: Sequence[int], dtype: np.dtype, smooth: bool) -> Any:
    shape = tuple(shape)
    if smooth:
        parts = rng.uniform(-1.5, 1.5, (2, *shape))
        return np.asarray(parts[0] + 1j * parts[1] if dtype.kind == "c" else parts[0], dtype)
    if dtype == BOOL:
        return np.asarray(rng.integers(0, 2, shape), dtype)
    low = 0 if dtype.kind == "u" else -2
    parts = rng.integers(low, 3, (2, *shape))
    return np.asarray(parts[0] + 1j * parts[1] if dtype.kind == "c" else parts[0]).astype(dtype)


# ---- functions -----------------------------------------------------------------------------------


class RandomFunction:
    """A function of arrays, given by a seed."""

    def __init__(self, kind: Kind, seed: Sequence[int], variant: int = 0) -> None:
        """`variant`s of a function have other numbers in it."""
        self.kind, self.seed, self.variant = kind, tuple(seed), variant
        rng = np.random.default_rng([*seed, 0])
        sizes = list(kind.sizes)
        sizes += [int(rng.integers(*kind.large))] * 2 if rng.random() < kind.often else []
        count = int(rng.integers(1, 4))
        shapes = (tuple(map(int, rng.choice(sizes, rng.integers(0, 4)))) for _ in range(count))
        self.shapes = [s if prod(s) <= kind.most else s[:1] for s in shapes]
        if kind.shapes:
            self.shapes = [kind.shapes[i] for i in rng.integers(len(kind.shapes), size=count)]
        if kind.alike:
            first = self.shapes[0]
            ones = ((1 if rng.random() < 0.3 else n for n in first) for _ in range(count - 1))
            self.shapes = [first, *map(tuple, ones)]
        weights = np.array(list(kind.dtypes.values()))
        few = rng.choice(len(weights), rng.integers(1, 4), p=weights / weights.sum())
        self.dtypes = [list(kind.dtypes)[i] for i in rng.choice(few, count)]
        self.steps = int(rng.integers(3, kind.steps + 1))

    def __str__(self) -> str:
        return f"seed {self.seed}, variant {self.variant}"

    def arguments(self, lane: int = 0) -> list[np.ndarray]:
        rng = np.random.default_rng([*self.seed, 1, lane])
        drawn_each = zip(self.shapes, self.dtypes, strict=True)
        return [drawn(rng, shape, dtype, self.kind.smooth) for shape, dtype in drawn_each]

    def __call__(self, library: Any, *arrays: Any) -> list[Any]:
        """The results, of which one may be there twice."""
        library = SimpleNamespace(**{**vars(library), "variant": self.variant})
        p = Program(library, [*self.seed, 2], [Known(x, 2) for x in arrays], self.kind)
        p.run(self.steps)
        count = len(p.values)
        return [
            p.values[i].x for i in [*(p.below(count) for _ in range(1 + p.below(3))), count - 1]
        ]
