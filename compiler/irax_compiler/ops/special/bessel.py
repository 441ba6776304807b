"""Modified Bessel functions times exp(-|x|): i1e, which CHLO has, and i0e, which it lacks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from irax_compiler.mlir import Value, dtype_of
from irax_compiler.ops import comparison, conversion, elementwise
from irax_compiler.ops.composite import register_composed
from irax_compiler.ops.core import full_like, working_dtype
from irax_compiler.ops.elementwise import abs, add, divide, multiply, sign, subtract
from irax_compiler.ops.formula import Number
from irax_compiler.ops.scipy_modules import scipy_module
from irax_compiler.ops.special.chlo_functions import chlo_function, chlo_unary, scipy_function
from irax_compiler.ops.special.series import Smooth, is_single
from irax_compiler.ops.transformation import Evaluation

TERMS = 32
BORDER = 8.0
"""The value of |x| at which one series ends and the other begins."""


SLOPES = {True: (14.0, 20), False: (40.0, 36)}
"""For floats of 32 bits, and for others: the value of |x| from which on derivatives are by Hankel's
series, and the number of exponentials in them below it."""
HANKEL = 16
"""The number of terms of that series."""


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
    return np.exp(-_points(4096) * x[:, None]).mean(-1)


def _points(count: int) -> np.ndarray:
    """Numbers 1 - cos t, for t in the middle of equal parts of half a turn."""
    return 2 * np.sin(np.pi * (np.arange(count) + 0.5) / (2 * count)) ** 2


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
class BesselI0e(Smooth):
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

    def slopes(self, y: Number, *operands: Number) -> Sequence[Number | None]:
        (x,) = operands
        return [Number(multiply(sign(x.value), _slope(x.value, 0)))]


bessel_i0e: Callable[[Value], Value] = BesselI0e()


def _slope(x: Value, order: int) -> Value:
    """The derivative of i0e or i1e at |x|, which is no difference of Bessel functions: these
    cancel.
    """
    size = abs(x)
    limit, count = SLOPES[is_single(Number(x))]
    border = full_like(size, limit)
    is_near = comparison.less_equal(size, border)
    inside = comparison.select(is_near, size, border)
    outside = comparison.select(is_near, border, size)
    # The mean of exp(-s x), of which i1e is the sum with its derivative where x is positive.
    s = _points(count)
    near: Value = full_like(x, 0)
    for rate, factor in zip(s, (s * (s - 1) if order else -s) / count, strict=True):
        power = elementwise.exponential(multiply(inside, full_like(x, -rate)))
        near = add(near, multiply(power, full_like(x, factor)))
    over = divide(full_like(x, 1), outside)
    far: Value = full_like(x, 0)
    for term in reversed(_hankel(order)):
        far = add(multiply(far, over), full_like(x, term))
    far = multiply(far, multiply(over, elementwise.rsqrt(outside)))
    return comparison.select(is_near, near, far)


def _hankel(order: int) -> list[float]:
    """The terms of the derivative times x**1.5, in 1 / x."""
    terms = [1 / math.sqrt(2 * math.pi)]
    for k in range(1, HANKEL):
        terms.append(terms[-1] * ((2 * k - 1) ** 2 - 4 * order**2) / (8 * k))
    return [-(k + 0.5) * term for k, term in enumerate(terms)]


def _i1e_derivative(x: Value, y: Value) -> Value:
    wide = conversion.convert(x, working_dtype(dtype_of(x)))
    return conversion.convert(_slope(wide, 1), dtype_of(x))


bessel_i1e = chlo_unary("bessel_i1e", chlo_function("bessel_i1e", "i1e"), _i1e_derivative)
