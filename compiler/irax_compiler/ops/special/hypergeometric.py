"""Hypergeometric functions: their power series, summed until nothing is added."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce

import numpy as np

from irax_compiler.mlir import Value
from irax_compiler.ops import elementwise
from irax_compiler.ops.composite import register_composed
from irax_compiler.ops.core import Tangent, full_like, only
from irax_compiler.ops.formula import Number, function, where
from irax_compiler.ops.special import chlo_functions
from irax_compiler.ops.special.series import MOST_STEPS, ByFormula, State, repeat
from irax_compiler.ops.structured import definition_call
from irax_compiler.ops.transformation import Differentiation

_CHUNK = 40.0
"""The part of an exponent by which a sum is scaled as soon as its exponential is reached."""
_FAR, _FAR_TERMS = 5000.0, 16
"""The distance below 0 at which the asymptotic series of 1F1 begins, and how many terms it has."""
_FARTHEST = 0.75 * MOST_STEPS
"""From here on the power series does not come to its end."""
_MONOTONE = 0.15
"""The least parameter for which 1F1 is summed, as a part of the argument, below 0."""
_ROUNDINGS = 64.0
"""The rounding error of a sum, in units of that of its largest term."""
_LOST = 0.2
"""The relative error from which on no digit is known."""


def _sum(
    numerators: Sequence[Number], denominator: Number, x: Number, exponent: Number | None = None
) -> tuple[Number, Number]:
    """The sum of prod (a)_k / (b)_k x**k / k!, with (a)_k the Pochhammer symbol, and its rounding
    error, in proportion to its largest term; both times exp of minus `exponent`, without overflow.
    """
    eps = float(np.finfo(x.dtype).eps)

    def step(n: Number, state: State) -> tuple[State, Number]:
        term, total, largest, *left = state
        k = n - 1.0
        factor = x / ((denominator + k) * n)
        for numerator in numerators:
            factor = factor * (numerator + k)
        term = term * factor
        total = total + term
        largest = where(abs(term) > largest, abs(term), largest)
        needed = abs(term) > abs(total) * (eps / 64)
        if left:
            scales = (abs(total) > float(np.exp(_CHUNK))) & (left[0] >= _CHUNK)
            scale = where(scales, float(np.exp(-_CHUNK)), x * 0.0 + 1.0)
            left = [where(scales, left[0] - _CHUNK, left[0])]
            term, total, largest = term * scale, total * scale, largest * scale
        return (term, total, largest, *left), needed

    start = x * 0.0 + 1.0
    state = (start, start, start) if exponent is None else (start, start, start, exponent)
    _, total, largest, *left = repeat(state, x.equals(x), step)
    for rest in left:  # half of it at a time: its exponential may underflow
        half = function(elementwise.exponential, rest * -0.5)
        total, largest = total * half * half, largest * half * half
    return total, largest * (eps * _ROUNDINGS)


def _known(total: Number, error: Number, unit: Number | float = 1.0) -> Number:
    """A sum, or nan where cancellation has left no digit of it: the error is as large as the sum
    and as a part of `unit`, so that at a zero the sum is still zero.
    """
    is_lost = (error > abs(total) * _LOST) & (error > unit * _LOST)
    return where(is_lost, np.nan, total)


def _kummer(a: Number, b: Number, x: Number, exponent: Number) -> Number:
    """1F1(a; b; x) times exp(-exponent), for x from 0 on. The terms of negative parameters cancel:
    those far below 0 are reached by a recurrence, which is stable where the function oscillates.
    """
    count = function(elementwise.floor, -a - x * _MONOTONE)
    count = where(count > 2, count, 0.0)
    recurs = count > 0
    first = a + count
    low, low_error = _sum([first], b, x, exponent)
    high, high_error = _sum([where(recurs, first + 1.0, 0.0)], b, x, exponent)
    near = _known(low, low_error, function(elementwise.exponential, -exponent))

    def step(n: Number, state: State) -> tuple[State, Number]:
        at = first - (n - 1.0)
        pairs = zip(state[::2], state[1::2], strict=True)
        moved = [(y, (at * before - (at * 2.0 - b + x) * y) / (b - at)) for before, y in pairs]
        return tuple(v for pair in moved for v in pair), n < count

    # The errors of both sums propagate as the function does.
    zero = x * 0.0
    state = (high, low, high_error, zero, zero, low_error)
    high, low, *errors = repeat(state, recurs, step)
    error = reduce(operator.add, map(abs, errors))
    below = _known(low, error, abs(low) + abs(high))
    return where(recurs, where(count > MOST_STEPS, np.nan, below), near)


def _far_below(a: Number, b: Number, z: Number) -> Number:
    """1F1(a; b; -z) for large z: gamma(b) / gamma(b - a) z**-a times a series in 1 / z."""
    term = total = z * 0.0 + 1.0
    for n in range(_FAR_TERMS):
        term = term * (a + float(n)) * (a - b + (n + 1.0)) / (z * (n + 1.0))
        total = total + term
    size = function(chlo_functions.lgamma, b) - function(chlo_functions.lgamma, b - a)
    size = size - a * function(elementwise.log, z)
    sign = _gamma_sign(b) * _gamma_sign(b - a)
    sign = where(sign.equals(sign), sign, 1.0)  # at a pole of gamma(b - a) the size is 0
    return sign * function(elementwise.exponential, size) * total


def _gamma_sign(x: Number) -> Number:
    """The sign of the gamma function; nan at the negative integers, where it has none."""
    whole = function(elementwise.floor, x)
    half = whole * 0.5
    sign = where(half.equals(function(elementwise.floor, half)), x * 0.0 + 1.0, -1.0)
    return where(x < 0, where(x.equals(whole), np.nan, sign), 1.0)


class _Hypergeometric(ByFormula):
    """An op with derivatives in all operands. Those in parameters are computed in forward mode, so
    that reverse mode need not run the loop backwards.
    """

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        parts: list[Value] = []
        for i, tangent in enumerate(tangents):
            if tangent is not None:
                slope = self._slope(transform, primals, i)
                parts.append(elementwise.multiply(tangent, slope))
        return results, [reduce(elementwise.add, parts)]

    def _slope(self, transform: Differentiation, primals: Sequence[Value], wrt: int) -> Value:
        *parameters, x = map(Number, primals)
        if wrt == len(parameters):
            *tops, bottom = parameters
            (following,) = self.build([*((p + 1.0).value for p in parameters), x.value])
            return (reduce(operator.mul, tops) / bottom * Number(following)).value
        name = definition_call(self, transform, primals).callee
        alone = [full_like(v, 1) if i == wrt else None for i, v in enumerate(primals)]
        return only(transform.forward_tangents(name, primals, alone))


@register_composed
class Hyp1f1(_Hypergeometric):
    """Kummer's confluent hypergeometric function 1F1(a; b; x)."""

    name = "irax.hyp1f1"

    def formula(self, a: Number, b: Number, x: Number) -> Number:
        far = (x < -_FAR) & (x > -np.inf)
        far = far & ((abs(a) + 1.0) * (abs(a - b) + 1.0) < x * -0.25)
        place = where(far, 0.0, x)
        turned = place < 0  # Kummer's transformation: no terms cancel
        exponent = where(turned, -place, 0.0)
        near = _kummer(where(turned, b - a, a), b, abs(place), exponent)
        below = [where(far, v, other) for v, other in ((a, 1.0), (b, 2.0), (-x, _FAR))]
        near = where(place < -_FARTHEST, np.nan, near)
        return where(far, _far_below(*below), near)


@register_composed
class Hyp2f1(_Hypergeometric):
    """Gauss's hypergeometric function 2F1(a, b; c; x), for x up to 1; inf above."""

    name = "irax.hyp2f1"

    def formula(self, a: Number, b: Number, c: Number, x: Number) -> Number:
        turned = x < 0  # Pfaff's transformation: no terms cancel, and x is between 0 and 1
        inside = where(x < 1, x, 0.5)
        place = where(turned, inside / (inside - 1.0), inside)
        total = _known(*_sum([a, where(turned, c - b, b)], c, place))
        base = 1.0 - where(turned, x, 0.0)
        scale = Number(elementwise.power(base.value, (-a).value))
        value = where(turned, scale * total, total)
        left = c - a - b
        size, sign = x * 0.0, x * 0.0 + 1.0
        for number, direction in ((c, 1.0), (left, 1.0), (c - a, -1.0), (c - b, -1.0)):
            size = size + function(chlo_functions.lgamma, number) * direction
            sign = sign * _gamma_sign(number)
        at_one = where(left > 0, sign * function(elementwise.exponential, size), np.inf)
        above = where(x > 1, np.inf, where(x.equals(1), at_one, x))
        value = where(x < 1, value, above)
        is_one = (a.equals(0) | b.equals(0)) & (abs(c) > 0) & x.equals(x)  # all terms but the first
        return where(is_one, 1.0, value)
