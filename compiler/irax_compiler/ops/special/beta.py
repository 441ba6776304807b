"""The regularized incomplete beta function, by a continued fraction or an integral."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from irax_compiler.mlir import Value
from irax_compiler.ops import elementwise
from irax_compiler.ops.composite import register_composed
from irax_compiler.ops.core import Tangent, UnsupportedOp
from irax_compiler.ops.formula import Number, function, where
from irax_compiler.ops.special import chlo_functions
from irax_compiler.ops.special.gamma import stirling_error
from irax_compiler.ops.special.peaks import LARGE, below_mean, log_minus, outward
from irax_compiler.ops.special.series import ByFormula, State, in_float64, repeat
from irax_compiler.ops.transformation import Differentiation, Evaluation


def _factor(a: Number, b: Number, x: Number, below: Number) -> Number:
    """x**a (1 - x)**b / B(a, b), for x in (0, 1); `below` is how far x is below its mean,
    a / (a + b), times a + b.
    """
    log, exp = partial(function, elementwise.log), partial(function, elementwise.exponential)
    log_1p = partial(function, elementwise.log_plus_one)
    log_gamma = partial(function, chlo_functions.lgamma)
    y = 1.0 - x
    # Both large: by Stirling's formula, at the mean.
    both = (a > 10.0) & (b > 10.0)
    p, q = where(both, a, 10.0), where(both, b, 10.0)
    apart = log_minus(p, x + x * (q / p), -below / p)
    apart = apart + log_minus(q, y + y * (p / q), below / q)
    error = stirling_error(p + q) - stirling_error(p) - stirling_error(q)
    scale = 2.0**30  # inverses of the largest numbers would be subnormal
    root = function(elementwise.rsqrt, scale / p + scale / q) * float(2**15 / np.sqrt(2 * np.pi))
    far = root * exp(apart + error)
    # One large: the difference of the large logarithms by Stirling's formula.
    swapped = a > b
    one = ~both & where(swapped, a > 10.0, b > 10.0)
    small, p = where(swapped, b, a), where(one, where(swapped, a, b), 10.0)
    place, log_other = where(swapped, y, x), where(swapped, log(x), log_1p(-x))
    n = p + small
    logs = small * log(place * n) + p * log_other - log_gamma(small)
    logs = logs + ((p - 0.5) * log_1p(small / p) - small)
    mixed = exp(logs + (stirling_error(n) - stirling_error(p)))
    # None: B(a, b) is (a + b) / (a b) at first.
    logs = a * log(x) + b * log_1p(-x) + log_gamma(a + b + 1.0)
    plain = exp(logs - log_gamma(a + 1.0) - log_gamma(b + 1.0)) * (a * (b / (a + b)))
    return where(both, far, where(one, mixed, plain))


def _fraction(a: Number, b: Number, x: Number, y: Number, below: Number, active: Number) -> Number:
    """The continued fraction of I_x(a, b), without the factor in front (A. R. Didonato and
    A. H. Morris, 1992; summed by W. Lentz's method), where x, which is 1 - y, is below the mean.
    """
    epsilon, smallest = float(np.finfo(a.dtype).eps), float(np.finfo(a.dtype).tiny)

    def not_zero(v: Number) -> Number:
        return where(abs(v) < smallest, smallest, v)

    start = a / (a + 1.0) * (below + 1.0)
    above = y + 1.0

    def step(n: Number, state: State) -> tuple[State, Number]:
        c, d, total = state
        place = a + 2.0 * n
        inverse = 1.0 / (place - 1.0)
        w = (b - n) * x * (n * inverse)
        top = (a + (n - 1.0)) * inverse * ((a + b + (n - 1.0)) * x) * w
        bottom = n + w + (a + n) / (place + 1.0) * (below + 1.0 + n * above)
        d = 1.0 / not_zero(bottom + top * d)
        c = not_zero(bottom + top / c)
        change = c * d
        return (c, d, total * change), abs(change - 1.0) > epsilon

    return 1.0 / repeat((start, a * 0.0, start), active, step)[2]


@register_composed
class Betainc(ByFormula):
    """I_x(a, b), the regularized incomplete beta function of a, b and x."""

    name = "irax.betainc"

    def formula(self, a: Number, b: Number, x: Number) -> Number:
        inside = (a > 0) & (b > 0) & (a < np.inf) & (b < np.inf) & (x > 0) & (x < 1)
        p, q = where(inside, a, 1.0), where(inside, b, 1.0)
        place, one = where(inside, x, 0.5), Number(x._like(1.0))
        rest, below = 1.0 - place, below_mean(p, q, place)
        factor = _factor(p, q, place, below)
        large = (p > LARGE) & (q > LARGE)
        # On the far side the fraction is that of 1 - x.
        turn = 1.0 - 2.0 * place
        far = where(large, turn, -turn) >= below
        # Where b is small, so is the result: no difference from 1, unless that takes too long.
        far = far & ~((q < 0.1) & (rest > 0.01))
        fraction = _fraction(
            where(far, q, p),
            where(far, p, q),
            where(far, rest, place),
            where(far, place, rest),
            where(far, -below, below),
            inside & ~large,
        )
        # From x outwards: the density x**(a - 1) (1 - x)**(b - 1) has its peak where both are
        # equal.
        near = where(place < 0.5, place, rest)
        wide = where(place < 0.5, rest, place)
        sign = where(far, one, -1.0)
        terms = [
            (where(large, p, LARGE) - 1.0, sign * (near / place)),
            (where(large, q, LARGE) - 1.0, -sign * (near / rest)),
        ]
        integral = outward(abs(turn - below) / wide, terms, inside & large) / wide
        found = factor * where(large, integral, fraction)
        found = where(far, 1.0 - found, found)
        # Beyond the parameters that there is an integral for, limits.
        low, high = b.equals(0) | a.equals(np.inf), a.equals(0) | b.equals(np.inf)
        zero = x.equals(0) | low & ~x.equals(1)
        known = (x.equals(0) | x.equals(1) | low | high) & ~(low & high)
        known = known & (a >= 0) & (b >= 0) & (x >= 0) & (x <= 1)
        edge = where(zero, 0.0, one)
        return where(inside, found, where(known, edge, np.nan))

    def evaluate(self, call: Evaluation, a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
        large = (a > LARGE) & (b > LARGE)
        return in_float64(self, "betainc", a, b, x, own=large)

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
        slope = _factor(a, b, place, below_mean(a, b, place)) / (place * (1.0 - place))
        power = where(x.equals(0), a, b)  # of what is 0 there
        edge = where(power < 1, np.inf, where(power.equals(1), a + b - 1.0, 0.0 * a))
        slope = where(inside, slope, where(x.equals(0) | x.equals(1), edge, np.nan))
        return results, [elementwise.multiply(t_x, slope.value)]


betainc: Callable[..., Value] = Betainc()
