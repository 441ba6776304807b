"""Modified Bessel functions times exp(-|x|): i1e, which CHLO has, and i0e, which it lacks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax_compiler.mlir import Value, dtype_of
from irax_compiler.ops import comparison, conversion, elementwise
from irax_compiler.ops.composite import register_composed
from irax_compiler.ops.core import full_like, working_dtype
from irax_compiler.ops.elementwise import abs, add, divide, multiply, sign, subtract
from irax_compiler.ops.formula import Number
from irax_compiler.ops.scipy_modules import scipy_function, scipy_module
from irax_compiler.ops.special.chlo_functions import chlo_function, chlo_unary
from irax_compiler.ops.special.series import Smooth, is_single
from irax_compiler.ops.transformation import Evaluation

BORDER = 8.0
"""The value of |x| at which one series ends and the other begins."""


SLOPES = {True: (14.0, 20), False: (40.0, 36)}
"""For floats of 32 bits, and for others: the value of |x| from which on derivatives are by Hankel's
series, and the number of exponentials in them below it."""
HANKEL = 16
"""The number of terms of that series."""


NEAR = np.array(
    (
        0.33839763720473803,
        -0.3046826723431984,
        0.17162090152220877,
        -0.09490109704804764,
        0.04930528423967071,
        -0.02373741480589947,
        0.010546460394594998,
        -0.004324309995050576,
        0.0016394756169413357,
        -0.0005763755745385824,
        0.00018850288509584165,
        -5.754195010082104e-05,
        1.6448448070728896e-05,
        -4.4167383584587505e-06,
        1.1173875391201037e-06,
        -2.670793853940612e-07,
        6.046995022541919e-08,
        -1.300025009986248e-08,
        2.6598237246823866e-09,
        -5.189795601635263e-10,
        9.675809035373237e-11,
        -1.726826291441556e-11,
        2.95505266312964e-12,
        -4.856446783111929e-13,
        7.676185498604936e-14,
        -1.1685332877993451e-14,
        1.715391285555133e-15,
        -2.431279846547955e-16,
        3.3307945188222384e-17,
        -4.4153416464793395e-18,
        5.669178006921496e-19,
        -7.057100692457294e-20,
        8.524549418128701e-21,
    )
)
"""The Chebyshev series of i0e in x / 4 - 1, up to `BORDER`; by mpmath in 45 digits."""
FAR = np.array(
    (
        0.4022452055070544,
        0.0033691164782556943,
        6.889758346916825e-05,
        2.8913705208347567e-06,
        2.0489185894690638e-07,
        2.266668990498178e-08,
        3.3962320257083865e-09,
        4.94060238822497e-10,
        1.1889147107846439e-11,
        -3.1499165279632416e-11,
        -1.3215811840447713e-11,
        -1.7941785315068062e-12,
        7.180124451383666e-13,
        3.8527783827421426e-13,
        1.54008621752141e-14,
        -4.150569347287222e-14,
        -9.554846698828307e-15,
        3.8116806693526224e-15,
        1.7725601330565275e-15,
        -3.4254856196772313e-16,
        -2.827623980516602e-16,
        3.4612228676982304e-17,
        4.4656214202961385e-17,
        -4.8305044859622155e-18,
        -7.23318048782158e-18,
        9.921475411975413e-19,
        1.1936508906768917e-18,
        -2.488709833667468e-19,
        -1.938426453202034e-19,
        6.444656547021406e-20,
        2.886051792420355e-20,
        -1.6019546137358403e-20,
        -3.2708272680263033e-21,
    )
)
"""The Chebyshev series of i0e * sqrt(x) in 16 / x - 1, beyond."""


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
        border = full_like(size, BORDER)
        is_near = comparison.less_equal(size, border)
        inside = comparison.select(is_near, size, border)
        outside = comparison.select(is_near, border, size)
        one = full_like(size, 1)
        first = _series(NEAR, subtract(multiply(inside, full_like(size, 2 / BORDER)), one))
        ratio = subtract(divide(full_like(size, 2 * BORDER), outside), one)
        second = multiply(_series(FAR, ratio), elementwise.rsqrt(outside))
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


_i1e = chlo_function("bessel_i1e", "i1e")


def _i1e_of_zeros(x: np.ndarray) -> np.ndarray:
    # The function is odd; SciPy's is 0.0 at -0.0.
    return np.where(x == 0, x, _i1e(x)).astype(x.dtype)


bessel_i1e = chlo_unary("bessel_i1e", _i1e_of_zeros, _i1e_derivative)
