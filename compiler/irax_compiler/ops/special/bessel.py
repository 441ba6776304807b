"""Modified Bessel functions times exp(-|x|): i1e, which CHLO has, and i0e, which it lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from irax_compiler.mlir import Value, dtype_of
from irax_compiler.ops import comparison, elementwise
from irax_compiler.ops.composite import register_composed
from irax_compiler.ops.core import Tangent, full_like, only, working_dtype
from irax_compiler.ops.elementwise import abs, add, divide, multiply, negate, sign, subtract
from irax_compiler.ops.formula import Number
from irax_compiler.ops.scipy_modules import scipy_module
from irax_compiler.ops.special.chlo_functions import chlo_function, chlo_unary, scipy_function
from irax_compiler.ops.special.series import ByFormula
from irax_compiler.ops.transformation import Differentiation, Evaluation

TERMS = 32
BORDER = 8.0
"""The value of |x| at which one series ends and the other begins."""


@cache
def _coefficients() -> tuple[np.ndarray, np.ndarray]:
    """Chebyshev series of i0e: in x / 4 - 1 up to `BORDER`, and of i0e * sqrt(x) in 16 / x - 1."""

    def far(u: np.ndarray) -> np.ndarray:
        x = 2 * BORDER / (u + 1)
        return _i0e(x) * np.sqrt(x)

    interpolate: Any = np.polynomial.chebyshev.chebinterpolate  # at points inside of the interval
    near = interpolate(lambda u: _i0e((u + 1) * BORDER / 2), TERMS)
    return near, interpolate(far, TERMS)


def _i0e(x: np.ndarray) -> np.ndarray:
    """The mean of exp(x (cos t - 1)), by the midpoint rule, exact to rounding for x up to 1e5."""
    angles = np.pi * (np.arange(4096) + 0.5) / 4096
    return np.exp(-2 * np.sin(angles / 2) ** 2 * x[:, None]).mean(-1)


def _series(coefficients: np.ndarray, u: Value) -> Value:
    """The sum of c[k] T_k(u), by C. W. Clenshaw's recurrence (1955), without terms that are less
    than the last digits of the sum.
    """
    sizes = np.abs(coefficients)
    least = np.finfo(dtype_of(u)).eps / 16 * sizes[0]
    coefficients = coefficients[: np.flatnonzero(sizes > least)[-1] + 1]
    twice = add(u, u)
    later: Any = full_like(u, 0)
    latest: Any = full_like(u, 0)
    for c in coefficients[:0:-1]:
        step = subtract(multiply(twice, latest), later)
        latest, later = add(step, full_like(u, c)), latest
    return add(subtract(multiply(u, latest), later), full_like(u, coefficients[0]))


@register_composed
class BesselI0e(ByFormula):
    """exp(-|x|) I0(x)."""

    name = "irax.bessel_i0e"

    def formula(self, x: Number) -> Number:
        size = abs(x.value)
        near, far = _coefficients()
        border = full_like(size, BORDER)
        is_near = comparison.less_equal(size, border)
        inside = comparison.select(is_near, size, border)
        outside = comparison.select(is_near, border, size)
        one = full_like(size, 1)
        first = _series(near, subtract(multiply(inside, full_like(size, 2 / BORDER)), one))
        ratio = subtract(divide(full_like(size, 2 * BORDER), outside), one)
        second = multiply(_series(far, ratio), elementwise.rsqrt(outside))
        return Number(comparison.select(is_near, first, second))

    def evaluate(self, call: Evaluation, x: np.ndarray) -> np.ndarray:
        if scipy_module("special") is None:
            return super().evaluate(call, x)
        return scipy_function("i0e")(x.astype(working_dtype(x.dtype))).astype(x.dtype)

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        (x,) = primals
        slope = subtract(bessel_i1e(x), multiply(sign(x), results[0]))
        return results, [multiply(only(tangents), slope)]


bessel_i0e: Callable[[Value], Value] = BesselI0e()


def _i1e_derivative(x: Value, y: Value) -> Value:
    """i0e - i1e * (sign(x) + 1 / x), by the recurrence of I1; 1/2 at 0."""
    one = full_like(x, 1)
    at_zero = comparison.equal(x, full_like(x, 0))
    safe = comparison.select(at_zero, one, x)
    slope = add(sign(safe), divide(one, safe))
    found = add(bessel_i0e(safe), negate(multiply(y, slope)))
    return comparison.select(at_zero, full_like(x, 0.5), found)


bessel_i1e = chlo_unary("bessel_i1e", chlo_function("bessel_i1e", "i1e"), _i1e_derivative)
