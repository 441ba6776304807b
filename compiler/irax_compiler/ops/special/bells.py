"""exp(-x**2) and its relatives, with the rounding error of the square: for large x, that is what is
left of the error.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from irax_compiler.ops import elementwise
from irax_compiler.ops.formula import Number, function

_CUT = {np.dtype(np.float32): (np.int32, -(1 << 12)), np.dtype(np.float64): (np.int64, -(1 << 27))}
"""By dtype, integers and a mask of the bits of numbers whose squares are exact."""


def square_and_rest(x: Number) -> tuple[Number, Number]:
    """Return x**2 as it is rounded, and what is missing of it. x is finite, in float32 or
    float64.
    """
    integers, mask = _CUT[x.dtype]
    return _square_and_rest(x, (x.bits(integers) & mask).bits(x.dtype))


def _square_and_rest(x: Any, high: Any) -> tuple[Any, Any]:
    """Return `square_and_rest` of numbers of any kind, given their leading bits."""
    square = x * x
    return square, (high * high - square) + (x - high) * (x + high)


def bell(x: Number, scale: float = 1.0) -> Number:
    """Return exp(-scale x**2), for a power of 2 as `scale`."""
    square, rest = square_and_rest(x)
    return function(elementwise.exponential, square * -scale) * (1.0 - rest * scale)


def growth(x: Number) -> Number:
    """Return exp(x**2)."""
    square, rest = square_and_rest(x)
    return function(elementwise.exponential, square) * (1.0 + rest)


def numpy_bell(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return exp(-x**2) of NumPy's float64."""
    integers, mask = _CUT[x.dtype]
    square, rest = _square_and_rest(x, (x.view(integers) & mask).view(x.dtype))
    return np.exp(-square) * (1.0 - rest)
