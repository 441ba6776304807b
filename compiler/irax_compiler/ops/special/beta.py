"""The regularized incomplete beta function, by a continued fraction."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from irax_compiler.mlir import Value
from irax_compiler.ops import elementwise
from irax_compiler.ops.composite import register_composed
from irax_compiler.ops.core import Tangent, UnsupportedOp
from irax_compiler.ops.formula import Number, function, where
from irax_compiler.ops.special import chlo_functions
from irax_compiler.ops.special.gamma import log_of_quotient, stirling_error
from irax_compiler.ops.special.series import ByFormula, State, in_float64, repeat
from irax_compiler.ops.transformation import Differentiation, Evaluation


def _factor(a: Number, b: Number, x: Number) -> Number:
    """x**a (1 - x)**b / B(a, b), for x in (0, 1)."""
    large = (a > 10.0) & (b > 10.0)
    p, q = where(large, a, 10.0), where(large, b, 10.0)
    n = p + q
    log_1p = elementwise.log_plus_one
    # How far x is from its mean, a / (a + b).
    above = x * n - p
    apart = p * log_of_quotient(x * n, p, above) + q * log_of_quotient((1.0 - x) * n, q, -above)
    error = stirling_error(n) - stirling_error(p) - stirling_error(q)
    root = function(elementwise.sqrt, p / n * q / (2 * np.pi))
    stirling = root * function(elementwise.exponential, apart + error)
    logs = a * function(elementwise.log, x) + b * function(log_1p, -x)
    plain = function(elementwise.exponential, logs - _log_beta(a, b))
    return where(large, stirling, plain)


def _log_beta(a: Number, b: Number) -> Number:
    """log(B(a, b))."""
    large, small = where(a > b, a, b), where(a > b, b, a)
    plain = function(chlo_functions.lgamma, large) - function(chlo_functions.lgamma, large + small)
    # The difference of large ones by Stirling's formula.
    p = where(large > 10.0, large, 10.0)
    n = p + small
    apart = (p - 0.5) * function(elementwise.log_plus_one, small / p)
    stirling = small - apart - small * function(elementwise.log, n)
    stirling = stirling + (stirling_error(p) - stirling_error(n))
    return where(large > 10.0, stirling, plain) + function(chlo_functions.lgamma, small)


def _fraction(a: Number, b: Number, x: Number, active: Number) -> Number:
    """The continued fraction of I_x(a, b), without the factor in front (W. Lentz, 1976)."""
    epsilon, smallest = float(np.finfo(a.dtype).eps), float(np.finfo(a.dtype).tiny)

    def not_zero(v: Number) -> Number:
        return where(abs(v) < smallest, smallest, v)

    d = 1.0 / not_zero(1.0 - (a + b) * x / (a + 1.0))
    one = a * 0.0 + 1.0

    def step(m: Number, state: State) -> tuple[State, Number]:
        c, d, total = state
        twice = a + 2.0 * m
        for factor in (
            m * (b - m) * x / ((twice - 1.0) * twice),
            -((a + m) * (a + b + m) * x / (twice * (twice + 1.0))),
        ):
            d = 1.0 / not_zero(1.0 + factor * d)
            c = not_zero(1.0 + factor / c)
            change = c * d
            total = total * change
        return (c, d, total), abs(change - 1.0) > epsilon

    return repeat((one, d, d), active, step)[2]


@register_composed
class Betainc(ByFormula):
    """I_x(a, b), the regularized incomplete beta function of a, b and x."""

    name = "irax.betainc"

    def formula(self, a: Number, b: Number, x: Number) -> Number:
        inside = (a > 0) & (b > 0) & (a < np.inf) & (b < np.inf) & (x > 0) & (x < 1)
        p, q = where(inside, a, 1.0), where(inside, b, 1.0)
        place, one = where(inside, x, 0.5), Number(x._like(1.0))
        # On the far side the fraction is that of 1 - x.
        far = place > (p + 1.0) / (p + q + 2.0)
        first, second = where(far, q, p), where(far, p, q)
        near = where(far, 1.0 - place, place)
        found = _factor(p, q, place) * _fraction(first, second, near, inside) / first
        found = where(far, 1.0 - found, found)
        # Beyond the parameters that there is an integral for, limits.
        low, high = b.equals(0) | a.equals(np.inf), a.equals(0) | b.equals(np.inf)
        zero = x.equals(0) | low & ~x.equals(1)
        known = (x.equals(0) | x.equals(1) | low | high) & ~(low & high)
        known = known & (a >= 0) & (b >= 0) & (x >= 0) & (x <= 1)
        edge = where(zero, 0.0, one)
        return where(inside, found, where(known, edge, np.nan))

    def evaluate(self, call: Evaluation, a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
        return in_float64(self, "betainc", a, b, x)

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        t_a, t_b, t_x = tangents
        if t_a is not None or t_b is not None:
            raise UnsupportedOp(
                f"{self.name}: no jvp rule with respect to a and b; it has that of x"
            )
        if t_x is None:
            return results, [None]
        a, b, x = map(Number, primals)
        inside = (x > 0) & (x < 1)
        place = where(inside, x, 0.5)
        slope = _factor(a, b, place) / (place * (1.0 - place))
        power = where(x.equals(0), a, b)  # of what is 0 there
        edge = where(power < 1, np.inf, where(power.equals(1), a + b - 1.0, 0.0 * a))
        slope = where(inside, slope, where(x.equals(0) | x.equals(1), edge, np.nan))
        return results, [elementwise.multiply(t_x, slope.value)]


betainc: Callable[..., Value] = Betainc()
