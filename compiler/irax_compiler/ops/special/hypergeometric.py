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
from irax_compiler.ops.special.series import ByFormula, State, repeat
from irax_compiler.ops.structured import definition_call
from irax_compiler.ops.transformation import Differentiation


def _sum(
    numerators: Sequence[Number], denominator: Number, x: Number, first: Number | None = None
) -> Number:
    """The sum of prod (a)_k / (b)_k x**k / k!, with (a)_k the Pochhammer symbol; times `first`."""
    small = float(np.finfo(x.dtype).eps) / 64

    def step(n: Number, state: State) -> tuple[State, Number]:
        term, total = state
        k = n - 1.0
        factor = x / ((denominator + k) * n)
        for numerator in numerators:
            factor = factor * (numerator + k)
        term = term * factor
        total = total + term
        return (term, total), abs(term) > abs(total) * small

    start = x * 0.0 + 1.0 if first is None else first
    return repeat((start, start), x.equals(x), step)[1]


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
        turned = x < 0  # Kummer's transformation: no terms cancel
        # Half of the exponent in front of the sum, which may overflow, and half behind it.
        half = function(elementwise.exponential, where(turned, x * 0.5, 0.0))
        return _sum([where(turned, b - a, a)], b, abs(x), half) * half


@register_composed
class Hyp2f1(_Hypergeometric):
    """Gauss's hypergeometric function 2F1(a, b; c; x), for x up to 1; inf above."""

    name = "irax.hyp2f1"

    def formula(self, a: Number, b: Number, c: Number, x: Number) -> Number:
        turned = x < 0  # Pfaff's transformation: no terms cancel, and x is between 0 and 1
        inside = where(x < 1, x, 0.5)
        place = where(turned, inside / (inside - 1.0), inside)
        total = _sum([a, where(turned, c - b, b)], c, place)
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
