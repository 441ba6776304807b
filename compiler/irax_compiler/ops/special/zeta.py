"""Hurwitz's zeta function, and its derivatives in the exponent by Euler's and Maclaurin's sum."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from irax_compiler.mlir import Value
from irax_compiler.ops import elementwise
from irax_compiler.ops.attributes import I64, attribute
from irax_compiler.ops.composite import register_composed
from irax_compiler.ops.elementwise import multiply, negate
from irax_compiler.ops.formula import Number, function, where
from irax_compiler.ops.special.chlo_functions import chlo_binary, chlo_function
from irax_compiler.ops.special.series import Smooth, State, steps

_TERMS = 16
"""The number of terms that are added one by one."""
_BERNOULLI = (
    *(1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798),
    *(-174611 / 330, 854513 / 138, -236364091 / 2730),
)
"""The Bernoulli numbers of even number, from the second."""


def _power(x: Number, exponent: Number) -> Number:
    return Number(elementwise.power(x.value, exponent.value))


def _log(x: Number) -> Number:
    return function(elementwise.log, x)


def _derivative(order: int, s: Number, q: Number) -> Number:
    """The sum of (-log(q + k))**order (q + k)**-s over k from 0, for s above 1 and q above 0."""

    def step(k: Number, state: State) -> State:
        (total,) = state
        place = q + k
        term = _power(place, -s)
        for _ in range(order):
            term = term * -_log(place)
        return (total + term,)

    (total,) = steps(_TERMS, (q * 0.0,), step)
    # The rest is an integral, half a term, and derivatives of f(u) = u**-s (-log u)**order at x.
    x = q + float(_TERMS)
    logarithm = _log(x)
    size = _power(x, -s) * (-1.0) ** order
    above = s - 1.0
    part = size * x / above
    for i in range(order, -1, -1):
        power = part
        for _ in range(i):
            power = power * logarithm
        total = total + power
        part = part * float(i) / above
    # f and its derivatives, as polynomials in the logarithm.
    coefficients = [size * 0.0] * order + [size]

    def value() -> Number:
        found = coefficients[-1]
        for c in reversed(coefficients[:-1]):
            found = found * logarithm + c
        return found

    total = total + value() * 0.5
    for m in range(2 * len(_BERNOULLI) - 1):
        grown = [c * float(j) for j, c in enumerate(coefficients)][1:]
        coefficients = [
            ((grown[j] if j < order else 0.0) - (s + float(m)) * c) / x
            for j, c in enumerate(coefficients)
        ]
        if m % 2 == 0:
            total = total - value() * (_BERNOULLI[m // 2] / math.factorial(m + 2))
    return total


@register_composed
@dataclass(frozen=True)
class ZetaSlope(Smooth):
    """A derivative of the zeta function in the exponent; nan for exponents up to 1 and shifts up to
    0.
    """

    name = "irax.zeta_slope"
    order: int = attribute(I64)
    """Its number, at least 1."""

    def formula(self, s: Number, q: Number) -> Number:
        inside = (s > 1) & (q > 0)
        found = _derivative(self.order, where(inside, s, 2.0), where(inside, q, 1.0))
        return where(inside, found, math.nan)

    def slopes(self, y: Number, s: Number, q: Number) -> Sequence[Number]:
        above = s + 1.0
        change = -(s * Number(ZetaSlope(self.order)(above.value, q.value)))
        if self.order > 1:
            below = Number(ZetaSlope(self.order - 1)(above.value, q.value))
        else:
            below = Number(zeta(above.value, q.value))
        return [
            Number(ZetaSlope(self.order + 1)(s.value, q.value)),
            change - below * float(self.order),
        ]


_zeta = chlo_function("zeta", "zeta")


def _zeta_of_numbers(s: np.ndarray, q: np.ndarray) -> np.ndarray:
    # At the pole SciPy and MLIR's expansion have infinity for nan, too.
    return np.where(np.isnan(s) | np.isnan(q), np.nan, _zeta(s, q)).astype(s.dtype)


zeta: Callable[[Value, Value], Value] = chlo_binary(
    "zeta",
    _zeta_of_numbers,
    [
        lambda t, s, q, y: multiply(t, ZetaSlope(1)(s, q)),
        lambda t, s, q, y: multiply(t, negate(multiply(s, zeta((Number(s) + 1.0).value, q)))),
    ],
    length=8,
)
