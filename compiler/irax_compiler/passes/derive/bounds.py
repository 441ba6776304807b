"""Bounds of integers that are not known: those of an argmax, of a clamped index.

An index that may have few values reads few places, so a pattern can be that of each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from irax_compiler.ops.comparison import Compare
from irax_compiler.ops.core import Op, evaluated, no_calls
from irax_compiler.ops.reduce_window import ReduceWindow
from irax_compiler.ops.reductions.reduce import Reduce

_RISING = ("maximum", "minimum", "add")
_LARGEST = 4096
"""The most elements whose bounds are computed."""
MOST_CHOICES = 64
"""The most values of an array that are tried one by one."""


class Bounds(NamedTuple):
    """The least and the greatest value that each element may have: int64."""

    low: np.ndarray
    high: np.ndarray

    def choices(self, together: int | None) -> Iterator[np.ndarray]:
        """Yield arrays within the bounds: all of them, or as many as have all vectors along a
        dimension, which is the last one or beyond if the elements are no vectors.
        """
        if together is None:
            ranges = [range(a, b + 1) for a, b in zip(self.low.flat, self.high.flat, strict=True)]
            for chosen in product(*ranges):
                yield np.array(chosen, np.int64).reshape(self.low.shape)
            return
        along = [-1 if d == together else 1 for d in range(self.low.ndim)]
        for steps in product(*(range(n + 1) for n in self._apart(together).flat)):
            yield np.minimum(self.low + np.array(steps).reshape(along), self.high)

    def num_choices(self, together: int | None) -> int:
        """The number of arrays that `choices` yields."""
        count = self.high - self.low if together is None else self._apart(together)
        return prod((count + 1).reshape(-1).tolist())

    def _apart(self, together: int) -> np.ndarray:
        """The largest distances of the bounds of the elements of vectors."""
        others = tuple(d for d in range(self.low.ndim) if d != together)
        return np.asarray((self.high - self.low).max(others, initial=0))


def bounds_of_value(
    value: np.ndarray | None, shape: Sequence[int], dtype: np.dtype
) -> Bounds | None:
    """Return the bounds of an array that is known, or those of its dtype; None without any."""
    if not _has_bounds(dtype, shape):
        return None
    if value is not None:
        wide = np.asarray(value).astype(np.int64)
        return Bounds(wide, wide)
    if dtype.itemsize > 4:
        return None  # sums of bounds would wrap
    return Bounds(*(np.broadcast_to(np.int64(x), tuple(shape)) for x in _ends(dtype)))


def bounds_of_result(
    op: Op, given: Sequence[Bounds | None], shape: Sequence[int], dtype: np.dtype
) -> Bounds | None:
    """Return the bounds of an op's only result, for those of its operands."""
    if not _has_bounds(dtype, shape):
        return None
    operands = [x for x in given if x is not None]
    if not operands or len(operands) < len(given):
        return None
    rule = _rule(op) if dtype.kind != "b" else _OF_BOOLEANS.get(_name(op), _rule(op))
    if rule is None:
        return None
    found = Bounds(*(np.broadcast_to(x, tuple(shape)) for x in rule(*operands)))
    least, most = _ends(dtype)
    is_within = (found.low >= least) & (found.high <= most) & (found.low <= found.high)
    is_open = dtype.kind == "b" and (found.low < found.high).all()
    return found if is_within.all() and not is_open else None  # otherwise numbers wrap


def _has_bounds(dtype: np.dtype, shape: Sequence[int]) -> bool:
    return dtype.kind == "b" or (
        dtype.kind in "iu" and dtype != np.uint64 and prod(shape) <= _LARGEST
    )


def _ends(dtype: np.dtype) -> tuple[int, int]:
    """The least and the greatest number of a dtype."""
    return (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)


def _name(op: Op) -> str:
    return op.name.partition(".")[2]


def _rule(op: Op) -> Callable[..., Bounds] | None:
    if isinstance(op, Compare):
        return lambda x, y: _compared(op.comparison_direction, x, y)
    is_rising = (isinstance(op, Reduce) and op.combiner in _RISING) or (
        isinstance(op, ReduceWindow) and op.computation in _RISING
    )
    if op.moves or is_rising or _name(op) in ("add", "maximum", "minimum", "clamp"):
        return lambda *operands: _at_ends(op, operands)
    return _RULES.get(_name(op))


def _at_ends(op: Op, operands: Sequence[Bounds]) -> Bounds:
    """The op of all lower bounds, and of all upper ones."""
    low, high = (
        np.asarray(evaluated(op, no_calls, [x[end] for x in operands])[0], np.int64)
        for end in (0, 1)
    )
    return Bounds(low, high)


def _compared(direction: str, x: Bounds, y: Bounds) -> Bounds:
    """1 where a comparison holds for all values, 0 where it does for none."""
    if direction in ("GT", "GE"):
        x, y, direction = y, x, {"GT": "LT", "GE": "LE"}[direction]
    if direction in ("LT", "LE"):
        less = np.less if direction == "LT" else np.less_equal
        always, ever = less(x.high, y.low), less(x.low, y.high)
    else:
        always = (x.low == x.high) & (y.low == y.high) & (x.low == y.low)
        ever = (x.low <= y.high) & (y.low <= x.high)
        if direction == "NE":
            always, ever = ~ever, ~always
    return Bounds(always.astype(np.int64), ever.astype(np.int64))


def _select(chosen: Bounds, x: Bounds, y: Bounds) -> Bounds:
    low = np.where(
        chosen.low > 0, x.low, np.where(chosen.high < 1, y.low, np.minimum(x.low, y.low))
    )
    high = np.where(
        chosen.low > 0, x.high, np.where(chosen.high < 1, y.high, np.maximum(x.high, y.high))
    )
    return Bounds(low, high)


def _multiply(x: Bounds, y: Bounds) -> Bounds:
    corners = [a * b for a in x for b in y]
    return Bounds(np.minimum.reduce(corners), np.maximum.reduce(corners))


def _divide(x: Bounds, y: Bounds) -> Bounds:
    """The quotient rounded to zero; by zero, anything."""
    safe = [np.where(b == 0, 1, b) for b in y]
    corners = [np.sign(a) * np.sign(b) * (abs(a) // abs(b)) for a in x for b in safe]
    is_open = (y.low <= 0) & (y.high >= 0)
    most = np.iinfo(np.int64).max
    return Bounds(
        np.where(is_open, -most, np.minimum.reduce(corners)),
        np.where(is_open, most, np.maximum.reduce(corners)),
    )


def _remainder(x: Bounds, y: Bounds) -> Bounds:
    """The remainder has the dividend's sign, and is smaller than the divisor; by zero, anything."""
    most = np.maximum(abs(y.low), abs(y.high)) - 1
    most = np.where((y.low <= 0) & (y.high >= 0), np.iinfo(np.int64).max, most)
    low, high = np.maximum(np.minimum(x.low, 0), -most), np.minimum(np.maximum(x.high, 0), most)
    return Bounds(low, high)


_RULES: dict[str, Callable[..., Bounds]] = {
    "select": _select,
    "subtract": lambda x, y: Bounds(x.low - y.high, x.high - y.low),
    "negate": lambda x: Bounds(-x.high, -x.low),
    "multiply": _multiply,
    "divide": _divide,
    "remainder": _remainder,
    "convert": lambda x: x,
    "sign": lambda x: Bounds(np.sign(x.low), np.sign(x.high)),
}
_OF_BOOLEANS: dict[str, Callable[..., Bounds]] = {
    "and": lambda x, y: Bounds(*map(np.minimum, x, y)),
    "or": lambda x, y: Bounds(*map(np.maximum, x, y)),
    "not": lambda x: Bounds(1 - x.high, 1 - x.low),
}
