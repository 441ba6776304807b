"""The incomplete gamma functions, and their derivatives with respect to the parameter.

Where x is small next to a, a power series gives the lower function P(a, x); elsewhere a continued
fraction the upper one, Q = 1 - P. Both iterate until they converge; where a is large, an integral
takes their place (`peaks.py`). Their common factor, x**a exp(-x) / gamma(a), is computed from the
difference of x and a, which keeps its accuracy for large arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from irax_compiler.mlir import Value
from irax_compiler.ops import elementwise
from irax_compiler.ops.composite import register_composed
from irax_compiler.ops.core import Tangent, UnsupportedOp
from irax_compiler.ops.formula import Number, function, polynomial, where
from irax_compiler.ops.special import chlo_functions
from irax_compiler.ops.special.peaks import LARGE, log_minus, outward
from irax_compiler.ops.special.series import ByFormula, State, in_float64, is_single, repeat
from irax_compiler.ops.transformation import Differentiation, Evaluation

# ---- the factor in front -------------------------------------------------------------------------

_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)


def stirling_error(x: Number) -> Number:
    """Return log(gamma(x + 1)) minus Stirling's formula, for x of at least 10."""
    inverse = 1.0 / x
    return inverse * polynomial(inverse * inverse, _STIRLING)


def _factor(a: Number, x: Number) -> Number:
    """x**a exp(-x) / gamma(a + 1)."""
    large = a > 10.0
    safe = where(large, a, 10.0)
    near = log_minus(safe, x / safe, (x - safe) / safe) - stirling_error(safe)
    root = function(elementwise.rsqrt, safe) * float(1 / np.sqrt(2 * np.pi))
    stirling = root * function(elementwise.exponential, near)
    exponent = a * function(elementwise.log, x) - x - function(chlo_functions.lgamma, a + 1.0)
    return where(large, stirling, function(elementwise.exponential, exponent))


# ---- the series and the fraction, with derivatives -----------------------------------------------


def _series(a: Number, x: Number, active: Number, slope: bool) -> State:
    """The sum of x**n / ((a + 1) ... (a + n)) from n = 0 on; its derivative in a, if wanted."""
    epsilon = float(np.finfo(a.dtype).eps)
    one, zero = a * 0.0 + 1.0, a * 0.0
    # term, sum; and the sum of 1 / (a + k), the derivative's sum
    state = (one, one, zero, zero) if slope else (one, one)

    def step(n: Number, state: State) -> tuple[State, Number]:
        place = a + n
        term = state[0] * x / place
        total = state[1] + term
        if not slope:
            return (term, total), term > total * epsilon
        harmonic = state[2] + 1.0 / place
        change = term * harmonic
        derivative = state[3] - change
        more = (term > total * epsilon) | (change > abs(derivative) * epsilon)
        return (term, total, harmonic, derivative), more

    found = repeat(state, active, step)
    return (found[1], found[3]) if slope else (found[1],)


def _fraction(a: Number, x: Number, active: Number, slope: bool) -> State:
    """The continued fraction 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), as quotients of
    numerators and denominators that a recurrence gives; its derivative in a, if wanted.
    """
    epsilon = float(np.finfo(a.dtype).eps)
    large = 1 / epsilon
    one, zero = a * 0.0 + 1.0, a * 0.0
    z = x + 1.0 - a
    inverse = 1.0 / z
    # the last two numerators, the last two denominators, their quotient; and derivatives of all:
    # divided by z, whose square may overflow
    state: State = (zero, inverse, inverse, one, inverse)
    if slope:
        state += (zero, zero, zero, -inverse, inverse * inverse)

    def step(n: Number, state: State) -> tuple[State, Number]:
        p1, p0, q1, q0, last, *slopes = state
        factor, z = n * (a - n), x + 1.0 - a + 2.0 * n
        p, q = z * p0 + factor * p1, z * q0 + factor * q1
        ratio = p / q
        scale = where(abs(q) > large, Number(q._like(epsilon)), 1.0)
        scaled = tuple(v * scale for v in (p0, p, q0, q))
        more = abs(ratio - last) > abs(ratio) * epsilon
        if not slope:
            return (*scaled, ratio), more
        dp1, dp0, dq1, dq0, last_slope = slopes
        dp = z * dp0 - p0 + factor * dp1 + n * p1
        dq = z * dq0 - q0 + factor * dq1 + n * q1
        derivative = (dp - ratio * dq) / q
        more = more | (abs(derivative - last_slope) > abs(derivative) * epsilon)
        slopes = (*(v * scale for v in (dp0, dp, dq0, dq)), derivative)
        return (*scaled, ratio, *slopes), more

    found = repeat(state, active, step)
    return (found[4], found[9]) if slope else (found[4],)


@lru_cache(maxsize=2)
def _log_gamma_terms(count: int) -> list[float]:
    """The coefficients of log(gamma(1 + a)) + log(1 + a) as a power series in a."""
    edge = 1000  # up to there the zeta function is summed
    terms = [0.0, 1 - float(np.euler_gamma)]
    for n in range(2, count):
        zeta = math.fsum(k**-n for k in range(2, edge))
        zeta += edge ** (1 - n) / (n - 1) + edge**-n / 2 + n * edge ** (-n - 1) / 12
        terms.append((-1) ** n * zeta / n)
    return terms


def _upper_of_small(a: Number, x: Number) -> Number:
    """Q for a and x up to 1, which may be far smaller than 1."""
    count, terms = (10, 24) if is_single(a) else (18, 52)
    log_gamma = polynomial(a, _log_gamma_terms(terms)) - function(elementwise.log_plus_one, a)
    lead = a * function(elementwise.log, x) - log_gamma
    # The lower function is exp(lead) times 1 - a (x / (a + 1) - x**2 / (2 (a + 2)) + ...).
    total = a * 0.0
    for n in range(count, 0, -1):
        total = (((-1.0) ** (n - 1) / math.factorial(n)) / (a + float(n)) + total) * x
    rest = function(elementwise.exponential, lead) * a * total
    return rest - function(elementwise.exponential_minus_one, lead)


def _share(a: Number, x: Number, wants_upper: bool) -> Number:
    """P, or Q = 1 - P, for a > 0 and x >= 0."""
    inner, safe_a, safe_x, inside = _regions(a, x)
    large = safe_a > LARGE
    short = inside & ~large
    factor = _factor(safe_a, safe_x)
    small, summed = (safe_a <= 1.0) & (safe_x <= 1.0), short & inner
    if wants_upper:
        summed = summed & ~small
    (total,) = _series(safe_a, safe_x, summed, slope=False)
    (ratio,) = _fraction(safe_a, safe_x, short & ~inner, slope=False)
    # From x outwards: the density x**(a - 1) exp(-x) has its peak at a - 1.
    rise = safe_x - safe_a + 1.0
    falls = rise >= 0
    count, rate = where(large, safe_a, LARGE) - 1.0, where(falls, a * 0.0 + 1.0, -1.0)
    outside = outward(abs(rise), [(count, rate)], inside & large) * safe_a
    inner = large & ~falls | ~large & inner
    share = factor * where(large, outside, where(inner, total, safe_a * ratio))
    share = where(inner, 1.0 - share, share) if wants_upper else where(inner, share, 1.0 - share)
    if wants_upper:
        of_small = _upper_of_small(where(small, safe_a, 0.5), where(small, safe_x, 1.0))
        share = where(small, of_small, share)
    none, all_ = x.equals(0) | a.equals(np.inf), x.equals(np.inf) | a.equals(0)
    if wants_upper:
        none, all_ = all_, none
    share = where(none, 0.0, where(all_, 1.0, share))
    wrong = (x < 0) | (a < 0) | ~x.equals(x) | ~a.equals(a) | none & all_
    return where(wrong, np.nan, share)


def _regions(a: Number, x: Number) -> tuple[Number, Number, Number, Number]:
    """Return where the series is used, both operands with 1 in place of values outside its domain,
    and where the operands are within the domain.
    """
    inside = (x > 0) & (a > 0) & (x < np.inf) & (a < np.inf)
    safe_a, safe_x = where(inside, a, 1.0), where(inside, x, 1.0)
    inner = (safe_x <= 1.0) | (safe_x <= safe_a)
    return inner, safe_a, safe_x, inside


def _relative_slope(a: Number, x: Number) -> Number:
    """The derivative of P with respect to a, next to x times that with respect to x."""
    inner, safe_a, safe_x, inside = _regions(a, x)
    total, total_slope = _series(safe_a, safe_x, inside & inner, slope=True)
    ratio, ratio_slope = _fraction(safe_a, safe_x, inside & ~inner, slope=True)
    log = function(elementwise.log, safe_x)
    low = (log - function(chlo_functions.digamma, safe_a + 1.0)) * total + total_slope
    high = (log - function(chlo_functions.digamma, safe_a)) * ratio + ratio_slope
    return where(inside, where(inner, low / safe_a, -high), np.nan)


# ---- the ops -------------------------------------------------------------------------------------


def density(a: Value, x: Value) -> Value:
    """The derivative of P(a, x) in x: x**(a - 1) exp(-x) / gamma(a), which is infinite at 0 for a
    smaller than 1.
    """
    parameter, place = Number(a), Number(x)
    at_zero, endless = place.equals(0), parameter.equals(np.inf) | place.equals(np.inf)
    safe, safe_a = where(at_zero | endless, 1.0, place), where(endless, 1.0, parameter)
    inside = where(endless, 0.0, _factor(safe_a, safe) * safe_a / safe)
    one = Number(parameter._like(1.0))
    limit = where(parameter < 1, np.inf, where(parameter.equals(1), one, 0.0))
    return where(at_zero, limit, inside).value


def _slope(sign: int, primals: Sequence[Value], tangents: Sequence[Tangent]) -> Sequence[Tangent]:
    a, x = primals
    t_a, t_x = tangents
    parts = []
    if t_a is not None:
        parts.append(elementwise.multiply(t_a, igamma_grad_a(a, x)))
    if t_x is not None:
        parts.append(elementwise.multiply(t_x, density(a, x)))
    total = parts[0] if len(parts) == 1 else elementwise.add(*parts)
    return [total if sign > 0 else elementwise.negate(total)]


@register_composed
class Igamma(ByFormula):
    """P(a, x), the regularized lower incomplete gamma function."""

    name = "irax.igamma"

    def formula(self, a: Number, x: Number) -> Number:
        return _share(a, x, wants_upper=False)

    def evaluate(self, call: Evaluation, a: np.ndarray, x: np.ndarray) -> np.ndarray:
        return in_float64(self, "gammainc", a, x, own=a > LARGE)

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        return results, _slope(1, primals, tangents)


@register_composed
class Igammac(ByFormula):
    """Q(a, x), the regularized upper incomplete gamma function."""

    name = "irax.igammac"

    def formula(self, a: Number, x: Number) -> Number:
        return _share(a, x, wants_upper=True)

    def evaluate(self, call: Evaluation, a: np.ndarray, x: np.ndarray) -> np.ndarray:
        return in_float64(self, "gammaincc", a, x, own=a > LARGE)

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        return results, _slope(-1, primals, tangents)


@register_composed
class IgammaGradA(ByFormula):
    """The derivative of P(a, x) with respect to a."""

    name = "irax.igamma_grad_a"

    def formula(self, a: Number, x: Number) -> Number:
        _, safe_a, safe_x, _ = _regions(a, x)
        slope = _relative_slope(a, x) * (_factor(safe_a, safe_x) * safe_a)
        constant = (x.equals(0) | x.equals(np.inf)) & (a > 0) & (a < np.inf)
        return where(constant, 0.0, slope)

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        raise UnsupportedOp(f"{self.name}: no jvp rule: it is a derivative already")


@register_composed
class RandomGammaGrad(ByFormula):
    """The derivative, with respect to the parameter a, of a random number x that is distributed
    like a gamma: how x moves where P(a, x) stays.
    """

    name = "irax.random_gamma_grad"

    def formula(self, a: Number, x: Number) -> Number:
        return where(x.equals(0) & (a > 0), 0.0, -(_relative_slope(a, x) * x))

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        raise UnsupportedOp(f"{self.name}: no jvp rule: it is a derivative already")


igamma: Callable[..., Value] = Igamma()
igammac: Callable[..., Value] = Igammac()
igamma_grad_a: Callable[..., Value] = IgammaGradA()
random_gamma_grad: Callable[..., Value] = RandomGammaGrad()
