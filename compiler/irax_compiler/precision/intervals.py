"""Intervals of numbers, and the rules by which ops compute with them.

Bounds are float64, and move outwards by the rounding of the op's own dtype. What has no rule has no
bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

from irax_compiler.mlir import inexact
from irax_compiler.ops.conversion import Convert
from irax_compiler.ops.convolution import Convolution
from irax_compiler.ops.core import Op, evaluated, no_calls
from irax_compiler.ops.dot import DotGeneral
from irax_compiler.ops.indexing.gather_scatter import Scatter
from irax_compiler.ops.reduce_window import ReduceWindow
from irax_compiler.ops.reductions.reduce import Reduce
from irax_compiler.ops.sorting.sort import Sort
from irax_compiler.precision.kinds import moves
from irax_compiler.precision.wide import widened

Array = np.ndarray[Any, Any]


class Undecided(Exception):
    """A condition that depends on the arguments."""


@dataclass(frozen=True)
class Interval:
    """The least and the largest number that each element may be; of booleans, 0 and 1."""

    low: Array
    high: Array

    def __bool__(self) -> bool:
        """True if a condition holds. Raises Undecided where that depends on the arguments."""
        if (self.low != self.high).any():
            raise Undecided
        return bool(self.low.all())

    @classmethod
    def of(cls, x: Interval | Array) -> Interval:
        """Return an array's own numbers as intervals."""
        if isinstance(x, Interval):
            return x
        wide = np.asarray(x).astype(np.float64)
        return cls(wide, wide)

    @classmethod
    def anything(cls, shape: Sequence[int]) -> Interval:
        """Return intervals without bounds."""
        return cls(np.full(shape, -np.inf), np.full(shape, np.inf))

    def hull(self, other: Interval) -> Interval:
        """Return intervals that hold these and others."""
        return Interval(np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def but(self, where: Array, other: Interval) -> Interval:
        """Return these intervals, but others in some places."""
        ends = ((other.low, self.low), (other.high, self.high))
        return Interval(*(np.where(where, a, b) for a, b in ends))

    def rounded(self, dtype: np.dtype[Any]) -> Interval:
        """Return wider intervals, by what functions of a dtype may be wrong; small numbers may
        become zero.
        """
        info = ml_dtypes.finfo(dtype)
        unit, tiny = 2 * float(info.eps), float(info.tiny)
        low, high = self.low - np.abs(self.low) * unit, self.high + np.abs(self.high) * unit
        low = np.where((low > 0) & (low < tiny), 0, np.where(np.isnan(low), -np.inf, low))
        high = np.where((high < 0) & (high > -tiny), 0, np.where(np.isnan(high), np.inf, high))
        return Interval(low, high)

    @property
    def size(self) -> Array:
        """The largest size that a number may have."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def has_zero(self) -> Array:
        """True where a number may be zero."""
        return (self.low <= 0) & (self.high >= 0)


def computed(
    op: Op, operands: Sequence[Interval | Array], same: bool, of_integers: bool
) -> Interval | None:
    """Return the intervals of an op's only result; None if there is no rule. `same` says that both
    operands are one value, and `of_integers` that the results are integers.
    """
    if moves(op):
        if op.name == "stablehlo.select":
            return _select(operands)
        return _each(op, operands)
    given = [Interval.of(x) for x in operands]
    name = op.name.partition(".")[2]
    if isinstance(op, Convert) and not inexact(op.dtype):
        return _of_integers(op, *given)
    if name in _RISING or _rises(op, given):
        return _each(op, operands)
    if name in _FALLING:
        found = _each(op, operands)
        return Interval(found.high, found.low)
    if isinstance(op, DotGeneral | Convolution):
        return _bilinear(op, *given)
    if name == "multiply" and same:
        return _even(np.square, *given)
    rule = _OF_INTEGERS.get(name) if of_integers else None
    rule = rule or _RULES.get(name)
    return None if rule is None else rule(*given)


_RISING = {
    *("add", "maximum", "minimum", "clamp", "convert", "floor", "ceil", "sign"),
    *("round_nearest_even", "round_nearest_afz", "exponential", "exponential_minus_one"),
    *("log", "log_plus_one", "sqrt", "cbrt", "tanh", "logistic", "erf", "asin", "acosh"),
    *("asinh", "atan", "atanh", "sinh", "reduce_precision"),
}
_FALLING = {"negate", "erfc", "acos"}


def _rises(op: Op, operands: Sequence[Interval]) -> bool:
    """True if the result of a reduction, scatter or sort rises with each operand."""
    match op:
        case Reduce() | Scatter():
            combiner = op.combiner
        case ReduceWindow():
            combiner = op.computation
        case Sort():
            return len(operands) == 1
        case _:
            return False
    is_positive = all((x.low >= 0).all() for x in operands)
    return combiner in ("add", "maximum", "minimum") or (combiner == "multiply" and is_positive)


def _of_integers(op: Convert, x: Interval) -> Interval:
    """The conversion to integers, without the bounds of their dtype, or to booleans."""
    if op.dtype == np.bool_:
        return Interval(1.0 * ~x.has_zero, 1.0 * ((x.low != 0) | (x.high != 0)))
    return Interval(np.trunc(x.low), np.trunc(x.high))


def _each(op: Op, operands: Sequence[Interval | Array]) -> Interval:
    """The op of all lower bounds, and of all upper ones."""
    ends = []
    for name in ("low", "high"):
        given = [getattr(x, name) if isinstance(x, Interval) else x for x in operands]
        ends.append(evaluated(widened(op), no_calls, given)[0].astype(np.float64))
    return Interval(*ends)


def _select(operands: Sequence[Interval | Array]) -> Interval:
    chosen, on_true, on_false = (Interval.of(x) for x in operands)
    found = on_true.hull(on_false).but(chosen.low > 0, on_true)
    return found.but(chosen.high < 1, on_false)


def _corners(function: Callable[..., Any], x: Interval, y: Interval) -> Interval:
    """A function that has its extremes at the ends of intervals; 0 times infinity is 0."""
    found = [function(a, b) for a in (x.low, x.high) for b in (y.low, y.high)]
    found = [np.where(np.isnan(v), 0, v) for v in found]
    return Interval(np.minimum.reduce(found), np.maximum.reduce(found))


def _even(function: Callable[[Array], Array], x: Interval, *_: Interval) -> Interval:
    """A function that rises with the size of its operand."""
    low, high = function(x.low), function(x.high)
    least = np.where(x.has_zero, function(np.zeros(())), np.minimum(low, high))
    return Interval(least, np.maximum(low, high))


def _divide(x: Interval, y: Interval) -> Interval:
    found = _corners(np.divide, x, y)
    is_open = y.has_zero | ~(np.isfinite(x.size) | np.isfinite(y.size))
    return found.but(is_open, Interval.anything(found.low.shape))


def _quotient(x: Interval, y: Interval) -> Interval:
    """The quotient without its fraction, of at most the size of x; -1 where y is 0."""
    size = np.maximum(x.size, 1)
    found = _corners(np.divide, x, y).but(y.has_zero, Interval(-size, size))
    return Interval(np.trunc(found.low), np.trunc(found.high))


def _power(x: Interval, y: Interval) -> Interval:
    found = _corners(np.power, x, y)
    if np.array_equal(y.low, y.high) and (y.low % 2 == 0).all() and (y.low > 0).all():
        return _even(lambda v: np.power(v, y.low), x)
    if np.array_equal(y.low, y.high) and (y.low % 2 == 1).all() and (y.low > 0).all():
        return Interval(np.power(x.low, y.low), np.power(x.high, y.low))
    none = Interval.anything(found.low.shape)
    bad = x.low <= 0
    return Interval(
        *(np.where(bad, a, b) for a, b in ((none.low, found.low), (none.high, found.high)))
    )


def _wave(function: Callable[[Array], Array]) -> Callable[[Interval], Interval]:
    """A function with values and slopes of at most 1."""

    def rule(x: Interval) -> Interval:
        middle, half = (x.low + x.high) / 2, (x.high - x.low) / 2
        there = np.where(np.isfinite(half), function(np.where(np.isfinite(middle), middle, 0)), 0)
        half = np.where(np.isfinite(half), half, 2)
        return Interval(np.clip(there - half, -1, 1), np.clip(there + half, -1, 1))

    return rule


_NEAR_A_POLE = 1e20
"""More than the tangent of any number of float64, of which none is a pole."""


def _tangent(x: Interval) -> Interval:
    is_open = np.floor(x.low / np.pi + 0.5) != np.floor(x.high / np.pi + 0.5)
    poles = Interval(np.full(x.low.shape, -_NEAR_A_POLE), np.full(x.low.shape, _NEAR_A_POLE))
    return Interval(np.tan(x.low), np.tan(x.high)).but(is_open, poles)


def _remainder(x: Interval, y: Interval) -> Interval:
    """The remainder has the sign of x, and at most the size of either."""
    size = np.minimum(x.size, y.size)
    return Interval(np.where(x.low < 0, -size, 0), np.where(x.high > 0, size, 0))


def _bilinear(op: DotGeneral | Convolution, x: Interval, y: Interval) -> Interval | None:
    if not (np.isfinite(x.size).all() and np.isfinite(y.size).all()):
        return None
    (mx, rx), (my, ry) = (((v.low + v.high) / 2, (v.high - v.low) / 2) for v in (x, y))
    products = [(mx, my), (np.abs(mx), ry), (rx, np.abs(my)), (rx, ry)]
    wide = replace(op, dtype=np.dtype(np.float64))
    middle, *radii = (evaluated(wide, no_calls, pair)[0] for pair in products)
    return Interval(middle - sum(radii), middle + sum(radii))


def negated(x: Interval) -> Interval:
    """Return where a condition does not hold."""
    return Interval(1 - x.high, 1 - x.low)


def compared(direction: str, x: Interval, y: Interval) -> Interval:
    """Return where a comparison holds: 0, 1, or either."""
    if direction in ("GT", "GE"):
        x, y, direction = y, x, {"GT": "LT", "GE": "LE"}[direction]
    if direction in ("LT", "LE"):
        less = np.less if direction == "LT" else np.less_equal
        return Interval(1.0 * less(x.high, y.low), 1.0 * less(x.low, y.high))
    equal = (x.low == x.high) & (y.low == y.high) & (x.low == y.low)
    apart = (x.high < y.low) | (y.high < x.low)
    found = Interval(1.0 * equal, 1.0 * ~apart)
    return found if direction == "EQ" else Interval(1 - found.high, 1 - found.low)


def both(x: Interval, y: Interval) -> Interval:
    """Return where both of two conditions hold."""
    return Interval(np.minimum(x.low, y.low), np.minimum(x.high, y.high))


def either(x: Interval, y: Interval) -> Interval:
    """Return where one of two conditions holds."""
    return Interval(np.maximum(x.low, y.low), np.maximum(x.high, y.high))


_RULES: dict[str, Callable[..., Interval]] = {
    "subtract": lambda x, y: Interval(x.low - y.high, x.high - y.low),
    "multiply": lambda x, y: _corners(np.multiply, x, y),
    "divide": _divide,
    "power": _power,
    "is_finite": lambda x: Interval(1.0 * np.isfinite(x.size), np.ones_like(x.low)),
    "abs": lambda x: _even(np.abs, x),
    "square": lambda x: _even(np.square, x),
    "cosh": lambda x: _even(np.cosh, x),
    "rsqrt": lambda x: Interval(1 / np.sqrt(x.high), 1 / np.sqrt(np.maximum(x.low, 0))),
    "tan": _tangent,
    "remainder": _remainder,
    "atan2": lambda y, x: Interval(np.full(y.low.shape, -np.pi), np.full(y.low.shape, np.pi)),
    "sine": _wave(np.sin),
    "cosine": _wave(np.cos),
}
_OF_INTEGERS: dict[str, Callable[..., Interval]] = {"divide": _quotient}
