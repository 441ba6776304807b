"""Steps of random functions at the edges of what arrays and indices may be.

Indices are beyond arrays, in each mode and of each dtype, some of what is sorted is nan, arrays are
without elements or updated by parts of themselves, loops have no round, lanes are within lanes; and
functions of NumPy are called that other steps do not call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, prod
from typing import Any

import numpy as np
from tests.differential.random.random_control import loop_body, of_rows
from tests.differential.random.random_functions import BF16, BOOL, I32, Known, Program

_INDICES = tuple(map(np.dtype, ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")))


# ---- indices -------------------------------------------------------------------------------------


def indices(p: Program, size: int, count: int) -> Any:
    """Return numbers of rows, of any dtype, of which some are beyond the array on either side."""
    dtype = p.one(_INDICES)
    low = 0 if dtype.kind == "u" else -size - 2
    sources = [v for v in p.values if v.kind in "iu" and prod(v.shape) >= count]
    if sources and p.chance(0.4):
        x = p.np.reshape(p.one(sources).x, (-1,))[:count]
        beyond = min(size + 2, np.iinfo(x.dtype).max)
        return p.np.remainder(x, x.dtype.type(beyond)).astype(dtype)
    return p.np.asarray(p.rng.integers(low, size + 3, count).astype(dtype))


def read(p: Program, v: Known) -> Known | None:
    """Rows, columns or elements, of which some are not there."""
    if not v.shape:
        return None
    count = 1 + p.below(4)
    rows, *others = v.shape
    places: list[Any] = [indices(p, rows, count)]
    if others and p.chance(0.6):
        places = [p.one([slice(None), places[0]]), indices(p, others[0], count)]
    if len(places) == 2 and not isinstance(places[0], slice) and p.chance(0.4):
        places[0] = p.np.reshape(places[0], (-1, 1))
    mode = p.one(["fill", "clip"])
    return Known(p.lib.indexed(v.x, tuple(places), mode, p.number(v.dtype)), max(v.bound, 2))


def written(p: Program, v: Known) -> Known | None:
    """Rows or columns updated at places of which some are not there."""
    if not v.shape or v.dtype == BOOL:
        return None
    axis = p.below(min(2, len(v.shape)))
    how = p.one(["set", "add", "add", "multiply"] + ["min", "max"] * (v.kind != "c"))
    if how == "multiply" and p.smooth:  # of places that are there twice, no derivative is known
        how = "add"
    count = 1 + p.below(4)
    mode = p.one(["drop", "clip"])
    if how == "set":
        order = p.rng.permutation(v.shape[axis] + 2 * (mode == "drop"))[:count]
        places = p.np.asarray(order.astype(p.one(_INDICES[2:])))
    else:
        places = indices(p, v.shape[axis], count)
    count = places.shape[0]
    shape = (*v.shape[:axis], count, *v.shape[axis + 1 :])
    rows = [w for w in p.values if (w.shape, w.dtype) == (shape, v.dtype)]
    row = p.one(rows) if rows and p.chance(0.7) else p.given(shape, v.dtype)
    if how == "multiply":
        row = p.clipped(row, 2)
        v = p.fitting(v, 4.0**count)
        bound = v.bound * 4.0**count
    elif how == "add":
        v, row = p.fitting(v, 2), p.fitting(row, 2 * count)
        bound = v.bound + count * row.bound
    else:
        bound = max(v.bound, row.bound)
    where = (slice(None),) * axis + (places,)
    return Known(p.lib.written(v.x, where, row.x, how, mode), bound)


# ---- sorts ---------------------------------------------------------------------------------------


def sorted_with_nan(p: Program, v: Known) -> list[Known]:
    """A sort, or the order of one, of numbers of which some are nan."""
    if not v.shape or v.kind != "f" or p.smooth:
        return []
    axis = p.below(len(v.shape))
    x = p.np.where(v.x == p.number(v.dtype), v.dtype.type(np.nan), v.x)
    order = Known(p.lib.order(x, axis), v.shape[axis])
    found = p.np.take_along_axis(x, order.x, axis) if p.chance(0.3) else p.lib.in_order(x, axis)
    found = p.np.where(found == found, found, v.dtype.type(1))
    return [order, Known(found, max(v.bound, 1))]


def folded_with_nan(p: Program, v: Known) -> Known | None:
    """Extrema of numbers of which some are nan, and where these are."""
    if not v.shape or v.kind != "f" or p.smooth:
        return None
    axis = p.below(len(v.shape))
    x = p.np.where(v.x == p.number(v.dtype), v.dtype.type(np.nan), v.x)
    name = p.one(["max", "min", "argmax", "argmin"])
    found = getattr(p.np, name)(x, axis)
    if name.startswith("arg"):
        return Known(found.astype(np.int32), v.shape[axis])
    return Known(p.np.where(found == found, found, v.dtype.type(2)), max(v.bound, 2))


# ---- arrays without elements ---------------------------------------------------------------------


def hollow(p: Program, v: Known) -> Known | None:
    """An array made of one without elements."""
    if not v.shape:
        return None
    axis = p.below(len(v.shape))
    none = p.np.moveaxis(p.np.moveaxis(v.x, axis, 0)[:0], 0, axis)
    way = p.below(6)
    if way == 0:
        parts = [none, v.x] if p.chance(0.5) else [v.x, none]
        return Known(p.np.concatenate(parts, axis), v.bound)
    if way == 1 and v.dtype != BOOL:
        return Known(v.x + p.np.sum(none, axis, keepdims=True, dtype=v.dtype), v.bound)
    if way == 2:
        config = [(p.below(2), 1 + p.below(2), p.below(2)) for _ in v.shape]
        return Known(p.lib.pad(none, p.number(v.dtype), config), max(v.bound, 2))
    if way == 3 and v.dtype != BOOL:
        left, right = p.np.reshape(none, (2, 0)), p.np.reshape(none, (0, 3))
        return Known(p.np.matmul(left, right).astype(v.dtype), 0)
    if way == 4:
        places = p.np.asarray(np.zeros(0, np.int32))
        rows = p.np.zeros((0, *v.shape[1:]), v.dtype)
        return Known(p.lib.written(v.x, (places,), rows, "set", "drop"), v.bound)
    if way == 5 and v.kind != "c":
        found = p.np.concatenate([p.np.sort(none, axis), v.x], axis)
        return Known(found, v.bound)
    return None


# ---- moves within an array -----------------------------------------------------------------------


def shifted(p: Program, v: Known) -> Known | None:
    """An array updated by a part of itself: shifted, reversed, permuted, or its parts swapped."""
    if not v.shape or v.shape[0] < 2:
        return None
    x = v.x * v.dtype.type(1) if p.chance(0.4) and v.dtype != BOOL else v.x
    n, way = v.shape[0], p.below(5)
    if way == 0:
        k = 1 + p.below(n - 1)
        found = p.lib.written(x, (slice(k, None),), x[:-k], "set", "drop")
    elif way == 1:
        k = 1 + p.below(n - 1)
        found = p.lib.written(x, (slice(None, -k),), x[k:], "set", "drop")
    elif way == 2:
        k = p.below(n - 1)
        found = p.lib.written(x, (slice(k, None),), p.np.flip(x[k:], 0), "set", "drop")
    elif way == 3:
        order = p.np.asarray(p.rng.permutation(n))
        found = p.lib.written(x, (order,), x, "set", "drop")
    else:
        size = 1 + p.below(n // 2)
        a, b = p.below(n - size + 1), p.below(n - size + 1)
        found = p.lib.written(x, (slice(a, a + size),), x[b : b + size], "set", "drop")
        found = p.lib.written(found, (slice(b, b + size),), x[a : a + size], "set", "drop")
    return Known(found, v.bound)


def sums_before(p: Program, v: Known) -> Known | None:
    """The sums before each element, in the memory of the sums."""
    if not v.shape or v.dtype == BOOL or v.shape[0] < 2:
        return None
    v = p.fitting(v, v.shape[0])
    sums = p.lib.cumulative(v.x, np.add, 0, False)
    found = p.lib.written(sums, (slice(1, None),), sums[:-1], "set", "drop")
    return Known(found, v.bound * v.shape[0])


# ---- loops and lanes -----------------------------------------------------------------------------


def counted(p: Program, v: Known) -> list[Known]:
    """A loop whose number of rounds is computed, and may be 0."""
    if p.depth > p.kind.depth or p.smooth:
        return []
    numbers = [w for w in p.values if w.kind in "iu"]
    w = p.converted(p.one(numbers), I32) if numbers else p.splat((), I32)
    rounds = p.np.remainder(p.np.max(w.x), np.int32(4))
    carry, seed = [v, p.one(p.values)], p.seed()
    carry = [Known(w.x, max(w.bound, 2)) for w in carry]

    def body(i: Any, xs: Any) -> Any:
        now = [Known(x, c.bound) for x, c in zip(xs, carry, strict=True)]
        inner = loop_body(p, [Known(i, 4)], now, seed)
        return tuple(inner.returned(c).x for c in now)

    found = p.lib.fori_loop(0, rounds, body, tuple(c.x for c in carry))
    return [Known(x, c.bound) for x, c in zip(found, carry, strict=True)]


def lanes(p: Program, v: Known) -> list[Known]:
    """A function of each row, in lanes."""
    return of_rows(p, v, p.lib.lanes)


# ---- functions of NumPy --------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """A function of NumPy's, of an array and another of its shape."""

    function: Callable[[Any, Any, Any], Any]
    kinds: str = "fiubc"
    rank: int = 0
    grows: Callable[[tuple[int, ...]], float] = lambda shape: 1
    """The bound of the result, in units of that of the operands."""
    is_product: bool = False
    is_index: bool = False
    is_smooth: bool = True


def _all(shape: tuple[int, ...]) -> float:
    return prod(shape)


CALLS: Sequence[Call] = (
    Call(lambda np_, x, y: np_.tril(x, -1), rank=2),
    Call(lambda np_, x, y: np_.triu(x, 1), rank=2),
    Call(lambda np_, x, y: np_.trace(x, 1), "fic", 2, _all),
    Call(lambda np_, x, y: np_.diagonal(x, -1) if x.shape[0] > 1 else x, rank=2),
    Call(lambda np_, x, y: np_.diag(x[(0,) * (x.ndim - 1)][:6], 1), rank=1),
    Call(lambda np_, x, y: np_.rot90(x), rank=2),
    Call(lambda np_, x, y: np_.fliplr(x) if x.ndim > 1 else np_.tile(x, 2), rank=1),
    Call(lambda np_, x, y: np_.repeat(x, 2, -1), rank=1),
    Call(lambda np_, x, y: np_.repeat(x, np.arange(x.shape[0]) % 3, 0), rank=1),
    Call(lambda np_, x, y: np_.roll(x, (1, -1), (0, 1)), rank=2),
    Call(lambda np_, x, y: np_.roll(x, 2)),
    Call(lambda np_, x, y: np_.swapaxes(x, 0, -1), rank=1),
    Call(lambda np_, x, y: np_.diff(x, axis=-1) if x.shape[-1] > 1 else x, "fic", 1, lambda s: 2),
    Call(lambda np_, x, y: np_.ediff1d(x) if x.size > 1 else x, "fic", 1, lambda s: 2),
    Call(lambda np_, x, y: np_.ptp(x, 0), "fi", 1, lambda s: 2),
    Call(lambda np_, x, y: np_.outer(x, y)[:9, :9], "fiuc", 1, is_product=True),
    Call(lambda np_, x, y: np_.inner(x, y), "fic", 1, lambda s: s[-1], is_product=True),
    Call(lambda np_, x, y: np_.vdot(x, y), "fic", 1, _all, is_product=True),
    Call(lambda np_, x, y: np_.kron(x, y[:2])[:9], "fiuc", 1, is_product=True),
    Call(
        lambda np_, x, y: np_.convolve(x.reshape(-1), y.reshape(-1)[:3]),
        "fic",
        1,
        lambda s: 3,
        is_product=True,
    ),
    Call(
        lambda np_, x, y: np_.einsum("...i,...i->...", x, y),
        "fic",
        1,
        lambda s: s[-1],
        is_product=True,
    ),
    Call(lambda np_, x, y: np_.einsum("ij...->ji...", x), rank=2),
    Call(lambda np_, x, y: np_.einsum("i...->...", x), "fic", 1, lambda s: s[0]),
    Call(lambda np_, x, y: np_.where(x > 0, x, y), "fiub"),
    Call(lambda np_, x, y: np_.select([x > 0, y > 0], [y, x], x.dtype.type(1)), "fiu"),
    Call(lambda np_, x, y: np_.clip(x, x.dtype.type(0), x.dtype.type(1)), "fiu"),
    Call(lambda np_, x, y: np_.minimum(np_.maximum(x, y), x.dtype.type(1)), "fiu"),
    Call(lambda np_, x, y: np_.fmin(x, y), "fiu"),
    Call(lambda np_, x, y: np_.take(x, np.array([5, -7, 0]), 0, mode="wrap"), rank=1),
    Call(lambda np_, x, y: np_.take(x, np.array([9, 0, 1]), -1, mode="clip"), rank=1),
    Call(
        lambda np_, x, y: np_.take_along_axis(x, np_.argsort(y, -1, stable=True), -1),
        "fiu",
        1,
        is_smooth=False,
    ),
    Call(lambda np_, x, y: np_.delete(x, 0, 0) if x.shape[0] > 1 else x, rank=1),
    Call(lambda np_, x, y: np_.insert(x, 1, y[0], 0), rank=1),
    Call(lambda np_, x, y: np_.append(x, y)),
    Call(lambda np_, x, y: np_.vstack([x, y]), rank=1),
    Call(lambda np_, x, y: np_.dstack([x, y, x]), rank=1),
    Call(lambda np_, x, y: np_.column_stack([x, y]), rank=1),
    Call(lambda np_, x, y: np_.block([[x], [y]]), rank=2),
    Call(lambda np_, x, y: np_.array_split(x, 2, -1)[0], rank=1),
    Call(lambda np_, x, y: np_.pad(x, 1, mode="edge"), rank=1),
    Call(lambda np_, x, y: np_.pad(x, 1, mode="wrap"), rank=1),
    Call(lambda np_, x, y: np_.pad(x, 1, mode="symmetric"), rank=1),
    Call(lambda np_, x, y: np_.pad(x, (1, 2), mode="reflect") if x.shape[0] > 3 else x, rank=1),
    Call(lambda np_, x, y: np_.cumsum(x), "fic", 1, _all),
    Call(lambda np_, x, y: np_.sum(x, 0, where=y > 0), "fi", 1, lambda s: s[0]),
    Call(lambda np_, x, y: np_.max(x, -1, where=y > 0, initial=0), "fiu", 1),
    Call(lambda np_, x, y: x.at[0].set(y[-1]) if hasattr(x, "at") else _put(x, y), rank=1),
    # Numbers of places, or of elements.
    Call(lambda np_, x, y: np_.searchsorted(np_.sort(x.reshape(-1)), y), "fiu", 1, is_index=True),
    Call(
        lambda np_, x, y: np_.searchsorted(np_.sort(x.reshape(-1)), y, "right"),
        "fiu",
        1,
        is_index=True,
    ),
    Call(lambda np_, x, y: np_.argsort(x, 0, stable=True), "fiuc", 1, is_index=True),
    Call(lambda np_, x, y: np_.argmax(x), "fiub", 1, is_index=True),
    Call(lambda np_, x, y: np_.count_nonzero(x, -1), "fiubc", 1, is_index=True),
    Call(lambda np_, x, y: np_.lexsort((x, y)), "fiu", 1, is_index=True),
    Call(lambda np_, x, y: np_.isin(x, y.reshape(-1)[:2]), is_index=True),
    Call(lambda np_, x, y: np_.any(x > y, -1), "fiu", 1, is_index=True),
    Call(lambda np_, x, y: np_.signbit(np_.where(x == 0, x.dtype.type(1), x)), "f", is_index=True),
    # What is no smooth function.
    Call(lambda np_, x, y: np_.sort(x, 0), "fiuc", 1, is_smooth=False),
    Call(lambda np_, x, y: -np_.sort(-x, -1), "fi", 1, is_smooth=False),
    Call(lambda np_, x, y: np_.floor(x * x.dtype.type(0.5)), "f", is_smooth=False),
    Call(lambda np_, x, y: np_.ceil(x * x.dtype.type(0.5)), "f", is_smooth=False),
    Call(lambda np_, x, y: np_.rint(x * x.dtype.type(0.5)), "f", is_smooth=False),
    Call(lambda np_, x, y: np_.trunc(x * x.dtype.type(0.5)), "f", is_smooth=False),
    Call(
        lambda np_, x, y: np_.copysign(x, np_.where(y > 0, x.dtype.type(1), x.dtype.type(-1))),
        "f",
        is_smooth=False,
    ),
    Call(lambda np_, x, y: np_.heaviside(x, x.dtype.type(2)), "f", is_smooth=False),
    Call(
        lambda np_, x, y: np_.floor_divide(x, np_.where(y == 0, x.dtype.type(1), y)),
        "fiu",
        is_smooth=False,
    ),
    Call(
        lambda np_, x, y: np_.remainder(x, np_.where(y == 0, x.dtype.type(2), y)),
        "fiu",
        is_smooth=False,
    ),
    Call(
        lambda np_, x, y: np_.fmod(x, np_.where(y == 0, x.dtype.type(2), y)),
        "fiu",
        is_smooth=False,
    ),
    Call(
        lambda np_, x, y: np_.nan_to_num(np_.where(x > 0, x.dtype.type(np.nan), x)),
        "f",
        is_smooth=False,
    ),
    Call(
        lambda np_, x, y: np_.nansum(np_.where(x > 0, x.dtype.type(np.nan), x), 0),
        "f",
        1,
        lambda s: s[0],
        is_smooth=False,
    ),
    Call(lambda np_, x, y: np_.gcd(x, y), "i", is_smooth=False),
    Call(lambda np_, x, y: np_.right_shift(x, x.dtype.type(1)), "iu", is_smooth=False),
    Call(lambda np_, x, y: np_.bitwise_count(x), "iu", grows=lambda s: inf, is_smooth=False),
    Call(
        lambda np_, x, y: (
            np_.unique(x, size=x.size, fill_value=x.dtype.type(0)) if np_ is not np else _unique(x)
        ),
        "fiu",
        1,
        is_smooth=False,
    ),
    Call(
        lambda np_, x, y: (
            np_.nonzero(x.reshape(-1), size=4, fill_value=0)[0] if np_ is not np else _nonzero(x, 4)
        ),
        "fiub",
        1,
        is_index=True,
    ),
    Call(
        lambda np_, x, y: np_.bincount(
            abs(x.reshape(-1)) % x.dtype.type(5),
            minlength=5,
            **({} if np_ is np else {"length": 5}),
        ),
        "iu",
        1,
        is_index=True,
    ),
)


def _put(x: Any, y: Any) -> Any:
    x = x.copy()
    x[0] = y[-1]
    return x


def _unique(x: Any) -> Any:
    found = np.unique(x)
    return np.concatenate([found, np.zeros(x.size - found.size, x.dtype)])


def _nonzero(x: Any, size: int) -> Any:
    found = np.flatnonzero(x)[:size]
    return np.concatenate([found, np.zeros(size - found.size, found.dtype)])


def called(p: Program, v: Known) -> Known | None:
    fitting = [c for c in CALLS if v.kind in c.kinds and len(v.shape) >= c.rank]
    fitting = [c for c in fitting if c.is_smooth and not c.is_index] if p.smooth else fitting
    call, w = p.one(fitting), p.partner(v)
    if v.dtype == BOOL and "b" not in call.kinds:
        return None
    if v.dtype == BF16:  # NumPy has few functions of it
        v, w = (p.converted(u, np.dtype(np.float32)) for u in (v, w))
    times = call.grows(v.shape) * (2 if v.kind == "c" else 1)
    if call.is_product:
        v = p.fitting(v, times * v.bound)
        w = p.fitting(w, times * v.bound)
        bound = times * v.bound * w.bound
    else:
        v, w = p.fitting(v, times), p.fitting(w, times)
        bound = times * max(v.bound, w.bound)
    found = call.function(p.np, v.x, w.x)
    if call.is_index:
        return Known(p.np.asarray(found).astype(np.int32), max(prod(v.shape), 1))
    if v.dtype == BOOL:
        return Known(found, 1)
    return Known(p.np.asarray(found).astype(v.dtype), inf if v.kind == "u" else bound)


STEPS = [
    *([read] * 3 + [written] * 3 + [called] * 8 + [shifted] * 2 + [hollow] * 2),
    *(sorted_with_nan, folded_with_nan, sums_before, counted, lanes),
]
