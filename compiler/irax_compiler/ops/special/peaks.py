"""Integrals of densities with one narrow peak, and sums and products that keep their last digits.

Where the parameters of the gamma and beta distributions are large, series and fractions need many
steps: some square root of the parameters. There the integral from a place outwards, where the
density only falls, is computed by Gauss's and Legendre's rule in a few panels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irax_compiler.ops import elementwise
from irax_compiler.ops.formula import Number, function, polynomial, where
from irax_compiler.ops.special.series import State, is_single, repeat

LARGE = 1000.0
"""Parameters above are large."""
_NODES, _WEIGHTS = (v.tolist() for v in np.polynomial.legendre.leggauss(8))


def _near(count: Number, x: Number, terms: int) -> Number:
    """count (log(1 + x) - x), by a series in x / (x + 2)."""
    v = x / (x + 2.0)
    # log(1 + x) is 2 atanh(v), and 2 v - x is -x v. Squares of x alone may underflow.
    rest = v * v * polynomial(v * v, [2 / (2 * k + 3) for k in range(terms)])
    return count * v * (rest - x)


def log_minus(count: Number, x: Number, above: Number) -> Number:
    """count (log(x) - above), for x above 0, where above is x - 1: exact where that is small."""
    near = (above < 1.0) & (above > -0.5)
    close = _near(count, where(near, above, 0.0), 8 if is_single(x) else 16)
    far = count * (function(elementwise.log, where(near, 1.0, x)) - above)
    return where(near, close, far)


def outward(slope: Number, terms: Sequence[tuple[Number, Number]], active: Number) -> Number:
    """The integral over u > 0 of exp(-slope u) times the product over (count, rate) of
    ((1 + rate u) exp(-rate u))**count.

    The slope is not negative, and each count is above `LARGE` - 2. It is computed where `active`.
    """
    single = is_single(slope)
    panels, depth = (3, 24.0) if single else (16, 50.0)
    # Where the exponent is -depth, but for its third order; beyond there is nothing that counts.
    unit = 0.25 / depth  # so that no sum overflows
    bend = (slope * unit) * (slope * unit)
    for count, rate in terms:
        bend = bend + count * (2 * depth * unit * unit) * rate * rate
    root = function(elementwise.sqrt, bend) * (1 / unit)
    half = depth / (slope + root) * (1 / panels)

    def step(n: Number, state: State) -> tuple[State, Number]:
        middle, (total,) = n * 2.0 - 1.0, state
        for node, weight in zip(_NODES, _WEIGHTS, strict=True):
            u = half * (middle + node)
            exponent = -(slope * u)
            for count, rate in terms:
                exponent = exponent + _near(count, rate * u, 5 if single else 13)
            total = total + function(elementwise.exponential, exponent) * weight
        return (total,), n < panels

    return repeat((slope * 0.0,), active, step)[0] * half


# ---- products without rounding -------------------------------------------------------------------


def _halves(x: Number) -> tuple[Number, Number]:
    """Two numbers of half the digits whose sum is x (T. J. Dekker, 1971)."""
    turned = x * (4097.0 if is_single(x) else 134217729.0)
    high = turned - (turned - x)
    return high, x - high


def _product(x: Number, y: Number) -> tuple[Number, Number]:
    """x y, and what rounding took from it."""
    (x_high, x_low), (y_high, y_low) = _halves(x), _halves(y)
    found = x * y
    error = x_high * y_high - found + x_high * y_low + x_low * y_high + x_low * y_low
    return found, error


def below_mean(a: Number, b: Number, x: Number) -> Number:
    """a (1 - x) - b x, how far x is below a / (a + b), times a + b: also where both are nearly
    equal.
    """
    y = 1.0 - x
    y_low = 1.0 - y - x
    scale = 2.0**-30  # of which numbers near the largest have halves, too
    (p, p_low), (q, q_low) = _product(a * scale, y), _product(b * scale, x)
    return (p - q + (p_low - q_low + a * scale * y_low)) * (1 / scale)
