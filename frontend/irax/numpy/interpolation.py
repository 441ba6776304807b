"""Interpolation between points."""

from __future__ import annotations

import numpy as np

from irax import dtypes, lax
from irax.core.array import Array, ConcreteArray
from irax.core.dtypes.operands import as_arrays, inexact_dtype
from irax.core.dtypes.promotion import convert
from irax.core.shardings.explicit_axes import layout_is_stated
from irax.numpy.elementwise.division import remainder
from irax.numpy.elementwise.logic import greater, less, less_equal, where
from irax.numpy.ordering import argsort, searchsorted
from irax.numpy.searching import take
from irax.numpy.ufuncs import abs, add, clip, divide, multiply, subtract
from irax.typing import ArrayLike


def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: ArrayLike | str | None = None,
    right: ArrayLike | str | None = None,
    period: ArrayLike | None = None,
) -> Array:
    """Interpolate linearly between points (xp, fp) at `x`.

    Args:
        x: the positions to evaluate at.
        xp: an ascending vector; with a period in any order.
        fp: the values there.
        left: the value before the first point; by default that of the first one. With "extrapolate"
            the line through the first two points continues.
        right: the value after the last point, likewise; by default that of the last one.
        period: the period of the function, if it has one; `left` and `right` are of no effect then.

    Raises:
        ValueError: not vectors of one length, no points, complex places, or a period 0; `left` or
            `right` is another string.

    >>> irax.numpy.interp(1.5, irax.numpy.array([1.0, 2.0]), irax.numpy.array([10.0, 20.0]))
    Array(15., dtype=float32)
    """
    at, points, values = as_arrays([x, xp, fp], "interp")
    dtypes.judge_dtypes(at, points, None if values.dtype.kind in "iub" else values)
    if points.ndim != 1 or points.shape != values.shape:
        raise ValueError(
            f"interp: xp and fp must be vectors of one length, got shapes {points.shape} and "
            f"{values.shape}"
        )
    if not points.size:
        raise ValueError("interp: expected at least one point, got none")
    for name, value in (("left", left), ("right", right)):
        if isinstance(value, str) and value != "extrapolate":
            raise ValueError(f"interp: {name} must be a value or 'extrapolate', got {value!r}")
    dtype = inexact_dtype(dtypes.result_type(at, points))
    if dtype.kind == "c":
        raise ValueError("interp: x and xp must be real, got complex numbers")
    at, points = convert(at, dtype), convert(points, dtype)
    values = convert(values, dtypes.result_type(dtype, values))
    if period is not None:
        at, points, values = _repeating(at, points, values, period)
    index = clip(searchsorted(points, at, side="right"), 1, max(points.size - 1, 1))
    before, after = subtract(index, 1), index
    with layout_is_stated():  # that of x
        x0, x1, y0, y1 = (
            take(v, i, mode="clip")
            for v, i in ((points, before), (points, after), (values, before), (values, after))
        )
    width = subtract(x1, x0)
    # Of two points at one place the second one counts.
    flat = less_equal(abs(width), float(np.finfo(dtype).tiny))
    share = divide(subtract(at, x0), where(flat, 1, width))
    result = where(flat, y1, add(y0, multiply(share, subtract(y1, y0))))
    if period is not None:
        return result
    if not isinstance(left, str):
        result = where(less(at, points[0]), values[0] if left is None else left, result)
    if not isinstance(right, str):
        result = where(greater(at, points[-1]), values[-1] if right is None else right, result)
    return result


def _repeating(
    at: Array, points: Array, values: Array, period: ArrayLike
) -> tuple[Array, Array, Array]:
    """Return positions moved into the first period, and sorted points, with one more at
    each end.
    """
    (length,) = as_arrays([period], "interp")
    if length.ndim or (isinstance(length, ConcreteArray) and length.value == 0):
        raise ValueError(f"interp: period must be a number other than 0, got {period!r}")
    length = convert(abs(length), at.dtype)
    at, points = remainder(at, length), remainder(points, length)
    order = argsort(points)
    points, values = take(points, order), take(values, order)
    points = lax.concatenate([subtract(points[-1:], length), points, add(points[:1], length)], 0)
    return at, points, lax.concatenate([values[-1:], values, values[:1]], 0)
