"""Affine forms of numbers: sums of symbols that several numbers share, beside their intervals.

A number is `middle + sum(terms * symbols) + r`, where each symbol is in -1..1, one for each element
of the arguments, and |r| is at most `rest`. So `x - x` is 0, and not as wide as x twice. Forms and
intervals bound the same numbers: the narrower end counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from irax_compiler.mlir import inexact
from irax_compiler.ops.core import Op, evaluated, no_calls
from irax_compiler.ops.dot import DotGeneral
from irax_compiler.ops.reductions.reduce import Reduce
from irax_compiler.precision.intervals import Interval
from irax_compiler.precision.kinds import moves
from irax_compiler.precision.wide import widened

Array = np.ndarray[Any, Any]

MOST = 64
"""The most elements of arguments that have symbols: each operation takes as many times as long."""


@dataclass(frozen=True)
class Form:
    """The affine forms of an array's numbers."""

    middle: Array
    terms: Array
    """For each symbol, the factors of all numbers."""
    rest: Array

    @property
    def radius(self) -> Array:
        """The largest distance of numbers from the middle."""
        return np.abs(self.terms).sum(0) + self.rest

    def within(self, bounds: Interval) -> Interval:
        """Return the part of intervals that the forms allow."""
        low = np.fmax(bounds.low, self.middle - self.radius)
        high = np.fmin(bounds.high, self.middle + self.radius)
        is_empty = low > high  # by the rounding of float64
        return Interval(np.where(is_empty, bounds.low, low), np.where(is_empty, bounds.high, high))

    def rounded(self, dtype: np.dtype[Any]) -> Form:
        """Return the forms of numbers that functions of a dtype are wrong about."""
        info = ml_dtypes.finfo(dtype)
        size = np.abs(self.middle) + self.radius
        return Form(
            self.middle, self.terms, self.rest + 2 * float(info.eps) * size + float(info.tiny)
        )

    def times(self, factor: Array) -> Form:
        """Return the forms of the numbers times known ones."""
        return Form(self.middle * factor, self.terms * factor, self.rest * np.abs(factor))

    def is_finite(self) -> bool:
        """True if they bound their numbers."""
        return all(np.isfinite(x).all() for x in (self.middle, self.terms, self.rest))


@dataclass(frozen=True)
class Formed(Interval):
    """Intervals of numbers that have affine forms, too."""

    form: Form


def of_arguments(given: Sequence[Interval | Array]) -> list[Interval | Array]:
    """Return arguments, of which the elements that are in a range each have a symbol; as they are,
    if these are too many.
    """
    ranged = [isinstance(x, Interval) and x.low != x.high for x in given]
    count = sum(int(np.count_nonzero(r)) for r in ranged)
    if count > MOST:
        return list(given)
    found: list[Interval | Array] = []
    first = 0
    for x, has_range in zip(given, ranged, strict=True):
        if isinstance(x, Interval):
            with np.errstate(invalid="ignore"):  # of infinite ranges
                middle, half = (x.low + x.high) / 2, (x.high - x.low) / 2
            terms = np.zeros((count, x.low.size))
            places = np.flatnonzero(has_range)
            terms[first + np.arange(places.size), places] = half.ravel()[places]
            first += places.size
            form = Form(middle, terms.reshape(count, *x.low.shape), np.zeros(x.low.shape))
            x = Formed(x.low, x.high, form) if form.is_finite() else x
        found.append(x)
    return found


def form_of(op: Op, operands: Sequence[Interval | Array], same: bool) -> Form | None:
    """Return the forms of an op's only result before it is rounded; None if there are none. `same`
    says that both operands are one value.
    """
    forms = [x.form for x in operands if isinstance(x, Formed)]
    if not forms or any(isinstance(x, Interval) and not isinstance(x, Formed) for x in operands):
        return None
    with np.errstate(all="ignore"):
        found = _form(op, operands, forms, same)
    return found if found is not None and found.is_finite() else None


def _form(
    op: Op, operands: Sequence[Interval | Array], forms: Sequence[Form], same: bool
) -> Form | None:
    name = op.name.partition(".")[2]
    x, y = (operands[0], operands[-1]) if operands else (None, None)
    if moves(op) or name in ("negate", "convert", "add", "subtract") or _is_sum(op):
        return _linear(op, operands, len(forms[0].terms))
    if name == "square" or (name == "multiply" and same):
        return _square(forms[0])
    if name == "multiply":
        if len(forms) == 2:
            return _product(*forms)
        return forms[0].times(np.asarray(y if isinstance(x, Formed) else x, np.float64))
    if name == "divide":
        if not isinstance(y, Formed):
            return forms[0].times(1 / np.asarray(y, np.float64))
        inverse = _bent(y, *_RECIPROCAL)
        if inverse is None or not isinstance(x, Formed):
            return inverse and inverse.times(np.asarray(x, np.float64))
        return _product(x.form, inverse)
    if name in _BENT and isinstance(x, Formed):
        return _bent(x, *_BENT[name])
    return None


def _is_sum(op: Op) -> bool:
    return isinstance(op, DotGeneral) or (isinstance(op, Reduce) and op.combiner == "add")


def _linear(op: Op, operands: Sequence[Interval | Array], symbols: int) -> Form | None:
    """The form of an op that is linear in its operands, taken together."""
    if isinstance(op, DotGeneral) and all(isinstance(x, Formed) for x in operands):
        return None
    wide = widened(op)

    def at(part: Callable[[Form], Array], others: Callable[[Array], Array]) -> Array:
        given = [part(x.form) if isinstance(x, Formed) else others(np.asarray(x)) for x in operands]
        return np.asarray(evaluated(wide, no_calls, given)[0], np.float64)

    def without(x: Array) -> Array:
        """A known operand where terms are computed: a factor stays, a term is none of them."""
        keeps = isinstance(op, DotGeneral) or not inexact(x.dtype)
        return x if keeps else np.zeros_like(x)

    middle = at(lambda f: f.middle, lambda x: x)
    terms = np.zeros((symbols, *middle.shape))
    for i in range(symbols):
        terms[i] = at(lambda f, i=i: f.terms[i], without)
    if isinstance(op, DotGeneral):
        rest = at(lambda f: f.rest, np.abs)
    elif op.name.endswith(("subtract", "negate")):
        rest = np.zeros(middle.shape)
        for x in operands:
            rest = rest + (x.form.rest if isinstance(x, Formed) else 0)
    else:
        rest = at(lambda f: f.rest, without)
    return Form(middle, terms, rest)


def _product(x: Form, y: Form) -> Form:
    """Squares of symbols are in 0..1, products of two in -1..1."""
    squares = x.terms * y.terms / 2
    terms = x.middle * y.terms + y.middle * x.terms
    rest = np.abs(x.middle) * y.rest + np.abs(y.middle) * x.rest
    rest = rest + x.radius * y.radius - np.abs(squares).sum(0)
    return Form(x.middle * y.middle + squares.sum(0), terms, rest)


def _square(x: Form) -> Form:
    """The square of what is beyond the middle is in 0..radius**2."""
    half = x.radius**2 / 2
    return Form(x.middle**2 + half, 2 * x.middle * x.terms, 2 * np.abs(x.middle) * x.rest + half)


def _bent(
    x: Formed, function: Callable[[Array], Array], touching: Callable[[Array, Formed], Array]
) -> Form | None:
    """The form of a convex or concave function: a line beside it, as steep as the chord. `touching`
    is where the function is as steep.
    """
    low, high = function(x.low), function(x.high)
    width = x.high - x.low
    slope = np.where(width > 0, (high - low) / np.where(width > 0, width, 1), 0)
    at = np.clip(np.where(width > 0, touching(slope, x), x.low), x.low, x.high)
    chord, tangent = low - slope * x.low, function(at) - slope * at
    form = x.form.times(slope)
    middle = form.middle + (chord + tangent) / 2
    return Form(middle, form.terms, form.rest + np.abs(chord - tangent) / 2)


def _inverse(x: Array) -> Array:
    return np.where(x == 0, np.nan, 1 / x)


_RECIPROCAL = (
    _inverse,
    lambda slope, x: np.where(
        x.low * x.high > 0, np.sign(x.low) * np.sqrt(np.abs(x.low * x.high)), np.nan
    ),
)
_BENT: dict[str, tuple[Any, Any]] = {
    "exponential": (np.exp, lambda slope, x: np.log(slope)),
    "exponential_minus_one": (np.expm1, lambda slope, x: np.log(slope)),
    "log": (np.log, lambda slope, x: 1 / slope),
    "log_plus_one": (np.log1p, lambda slope, x: 1 / slope - 1),
    "sqrt": (np.sqrt, lambda slope, x: 1 / (2 * slope) ** 2),
}
