"""exp(-x**2) and its relatives, with the rounding error of the square: for large x, that is what is
left of the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from irax_compiler.ops import elementwise
from irax_compiler.ops.composite import register_composed
from irax_compiler.ops.formula import Number, function, where
from irax_compiler.ops.special.series import Smooth

_CUT = {np.dtype(np.float32): (np.int32, -(1 << 12)), np.dtype(np.float64): (np.int64, -(1 << 27))}
"""By dtype, integers and a mask of the bits of numbers whose squares are exact."""


def square_and_rest(x: Number) -> tuple[Number, Number]:
    """Return x**2 as it is rounded, and what is missing of it. x is finite, in float32 or
    float64.
    """
    return _square_and_rest(x, leading(x))


def leading(x: Number) -> Number:
    """Return the leading bits of a number in float32 or float64: half of them, so that products of
    two are exact.
    """
    integers, mask = _CUT[x.dtype]
    return (x.bits(integers) & mask).bits(x.dtype)


def _square_and_rest(x: Any, high: Any) -> tuple[Any, Any]:
    """Return `square_and_rest` of numbers of any kind, given their leading bits."""
    square = x * x
    return square, (high * high - square) + (x - high) * (x + high)


def bell(x: Number, scale: float = 1.0) -> Number:
    """Return exp(-scale x**2), for a power of 2 as `scale`."""
    square, rest = square_and_rest(x)
    return function(elementwise.exponential, square * -scale) * (1.0 - rest * scale)


_VANISHED = 60.0
"""From here on, bells are 0 in float64."""


def bounded(x: Number) -> Number:
    """Return the size of a number, as far as bells are not 0."""
    size = abs(x)
    return where(size < _VANISHED, size, _VANISHED)


@register_composed
class Bell(Smooth):
    """exp(-x**2 / 2), with the rounding error of the square."""

    name = "irax.bell"
    scale = 0.5

    def formula(self, x: Number) -> Number:
        return where(x.equals(x), bell(bounded(x), self.scale), x)

    def slopes(self, y: Number, x: Number) -> Sequence[Number | None]:
        return [x * y * (-2 * self.scale)]


@register_composed
class Gaussian(Bell):
    """exp(-x**2), with the rounding error of the square."""

    name = "irax.gaussian"
    scale = 1.0


def growth(x: Number) -> Number:
    """Return exp(x**2)."""
    square, rest = square_and_rest(x)
    return function(elementwise.exponential, square) * (1.0 + rest)


def numpy_bell(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return exp(-x**2) of NumPy's float64."""
    integers, mask = _CUT[x.dtype]
    square, rest = _square_and_rest(x, (x.view(integers) & mask).view(x.dtype))
    return np.exp(-square) * (1.0 - rest)
