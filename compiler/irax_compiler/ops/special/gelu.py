"""The share of gelu by the formula with tanh: sigmoid(t), t = sqrt(8 / pi) (x + 0.044715 x**3).

Where t is -80, its rounding alone would cost 40 units in the last place. So t is computed with what
each of its roundings takes away (T. J. Dekker, 1971).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from irax_compiler.ops import elementwise
from irax_compiler.ops.composite import register_composed
from irax_compiler.ops.formula import Number, function, where
from irax_compiler.ops.special.bells import leading, square_and_rest
from irax_compiler.ops.special.series import Smooth

_OUTER = 0.07135481627260025, -6.175149918155315e-19
_INNER = 22.363860002236386, -3.734262393014057e-17
"""t is _OUTER x (x**2 + _INNER): each factor is the sum of two numbers."""
_BORDER = 22.0
"""Below its negative the sigmoid is 0, and a third power need not overflow."""


def _cubic(x: Number) -> tuple[Number, Number]:
    """Return t as it is rounded, and what is missing of it."""
    square, rest = square_and_rest(x)
    inner, low = _rounded(_INNER, x.dtype)
    total = square + inner
    is_large = square > inner
    larger, smaller = where(is_large, square, inner), where(is_large, inner, square)
    rest = rest + low + (smaller - (total - larger))
    product = x * total
    top = leading(total)
    rest = _missing(product, (leading(x), x), (top, total - top)) + x * rest
    outer, low = _rounded(_OUTER, x.dtype)
    result = product * outer
    high = _leading(outer, x.dtype)
    missing = _missing(result, (leading(product), product), (high, outer - high))
    return result, missing + product * low + rest * outer


def _rounded(factor: tuple[float, float], dtype: np.dtype[Any]) -> tuple[float, float]:
    """Return a factor in a dtype, and the rest of it."""
    nearest = float(dtype.type(factor[0]))
    return nearest, factor[0] - nearest + factor[1]


def _leading(factor: float, dtype: np.dtype[Any]) -> float:
    """Return the leading bits of a number, so few that its products with those of others are
    exact.
    """
    unit = 2.0 ** (math.frexp(factor)[1] - (np.finfo(dtype).nmant + 1) // 2)
    return math.floor(factor / unit) * unit


def _missing(product: Number, x: tuple[Number, Number], y: tuple[Any, Any]) -> Number:
    """Return what is missing of the product of two numbers: one by its leading bits and the whole,
    the other by its leading bits and the rest.
    """
    (x_high, x_whole), (y_high, y_low) = x, y
    rest = x_whole * y_low + (x_whole - x_high) * y_high
    return x_high * y_high - product + rest


@register_composed
class GeluShare(Smooth):
    """sigmoid(t) at -|x|, for t = sqrt(8 / pi) (x + 0.044715 x**3): the share of x that is its gelu
    where x is negative; where it is positive, what is left to 1, which has more digits than that
    share.
    """

    name = "irax.gelu_share"

    def formula(self, x: Number) -> Number:
        rounded, missing = _cubic(_near(x))
        share = function(elementwise.logistic, rounded)
        return share + share * ((1.0 - share) * missing)

    def slopes(self, y: Number, x: Number) -> Sequence[Number | None]:
        near = _near(x)
        slope = near * near * (3 * _OUTER[0]) + _OUTER[0] * _INNER[0]
        # 0 where y is: a large cotangent times the slope may be infinite.
        slope = where(near > -_BORDER, slope, 0.0)
        return [y * ((1.0 - y) * where(x < 0, slope, -slope))]


def _near(x: Number) -> Number:
    """Return -|x|, down to the border; nan stays."""
    below = where(x < 0, x, -x)
    return where(below < -_BORDER, -_BORDER, below)
