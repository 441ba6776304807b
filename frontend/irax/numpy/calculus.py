"""Calculus on samples: differences, gradients and integrals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from irax import dtypes, lax
from irax.core.array import Array
from irax.core.dtypes.operands import as_arrays, inexact_dtype, judge_ranks
from irax.core.dtypes.promotion import broadcast_to, convert, promote_dtypes
from irax.core.dtypes.python_ints import fitted
from irax.lax.arguments import canonical_axes, canonical_axis, canonical_int
from irax.numpy.aggregates import reductions
from irax.numpy.elementwise.division import floor_divide, remainder
from irax.numpy.elementwise.logic import equal, greater, less, logical_and, logical_not, where
from irax.numpy.shapes.joining import concatenate
from irax.numpy.shapes.manipulation import ravel
from irax.numpy.tables import is_inexact
from irax.numpy.ufuncs import abs, add, divide, multiply, subtract
from irax.typing import ArrayLike
from irax_compiler.sizes import smaller


def _part(x: Array, axis: int, start: int | None, stop: int | None) -> Array:
    return lax.slice_in_dim(x, 0 if start is None else start, stop, axis=axis)


def diff(
    a: ArrayLike,
    n: int = 1,
    axis: int = -1,
    prepend: ArrayLike | None = None,
    append: ArrayLike | None = None,
) -> Array:
    """Return the n-th differences of neighbours along an axis.

    Args:
        a: an array of at least one dimension.
        n: how many times differences are taken.
        axis: the axis.
        prepend: an array or a number to put before the elements first.
        append: an array or a number to put after them.

    Raises:
        ValueError: a scalar, n below 0, or no such axis.

    >>> irax.numpy.diff(irax.numpy.array([1, 4, 9]))
    Array([3, 5], dtype=int32)
    """
    (x,) = as_arrays([a], "diff")
    n = canonical_int("diff", "n", n)
    if n < 0:
        raise ValueError(f"diff: n must be at least 0, got {n}")
    if not n:
        return x
    along = canonical_axis("diff", axis, x.ndim)

    def beside(more: ArrayLike) -> Array:
        (y,) = as_arrays([fitted(more, x.dtype, "diff")], "diff")
        return y if y.ndim else broadcast_to(y, (*x.shape[:along], 1, *x.shape[along + 1 :]))

    parts = [x]
    if prepend is not None:
        parts.insert(0, beside(prepend))
    if append is not None:
        parts.append(beside(append))
    if len(parts) > 1:
        x = concatenate(parts, along)
    for _ in range(n):
        later = _part(x, along, smaller(1, x.shape[along]), None)
        earlier = _part(x, along, 0, later.shape[along])
        unequal = x.dtype == np.bool
        x = logical_not(equal(later, earlier)) if unequal else subtract(later, earlier)
    return x


def ediff1d(
    ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None
) -> Array:
    """Return the differences of neighbours in the flattened array.

    Args:
        ary: an array.
        to_end: an array or a number to append to them.
        to_begin: an array or a number to put in front of them.

    Raises:
        TypeError: an argument is not an array or a number.

    >>> irax.numpy.ediff1d(irax.numpy.array([1, 4, 9]), to_begin=0)
    Array([0, 3, 5], dtype=int32)
    """
    (x,) = as_arrays([ary], "ediff1d")
    parts = [ravel(x) if 0 in x.shape else diff(ravel(x))]
    for more, place in ((to_begin, 0), (to_end, 2)):
        if more is not None:
            (extra,) = as_arrays([fitted(more, x.dtype, "ediff1d")], "ediff1d")
            parts.insert(place, convert(ravel(extra), x.dtype))
    return concatenate(parts)


def trapezoid(
    y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1
) -> Array:
    """Integrate samples along an axis by the trapezoidal rule.

    Args:
        y: the samples.
        x: the positions of the samples: a vector, or an array that broadcasts with `y`; by default
            they are `dx` apart.
        dx: the distance of samples, or distances that broadcast with those of `y`, as in NumPy: a
            vector of them goes along the last axis.
        axis: the axis along which they lie.

    Raises:
        TypeError: `y`, `x` or `dx` is not an array or a number.
        ValueError: there is no such axis.

    >>> irax.numpy.trapezoid(irax.numpy.array([0.0, 1.0, 4.0]), dx=0.5)
    Array(1.5, dtype=float32)
    """
    if x is None:
        (values,) = promote_dtypes(y, what="trapezoid")
        values = convert(values, inexact_dtype(values.dtype))
        values, width = promote_dtypes(values, dx, what="trapezoid")
    else:
        values, places = promote_dtypes(y, x, what="trapezoid")
        judge_ranks([values, places], "trapezoid")
        width = diff(places, axis=-1 if places.ndim == 1 else axis)
    dtype = inexact_dtype(values.dtype)
    along = canonical_axis("trapezoid", axis, values.ndim)
    if x is not None and width.ndim == 1:
        width = lax.expand_dims(width, range(1, values.ndim - along))
    values = convert(values, dtype)
    if not values.shape[along]:
        return lax.full(values.shape[:along] + values.shape[along + 1 :], 0, dtype)
    pairs = add(_part(values, along, 1, None), _part(values, along, None, -1))
    parts = multiply(convert(width, dtype), pairs)
    return multiply(reductions.sum(parts, parts.ndim - values.ndim + along), 0.5)


def gradient(
    f: ArrayLike,
    *varargs: ArrayLike,
    axis: int | Sequence[int] | None = None,
    edge_order: int | None = None,
) -> Any:
    """Return the gradient of samples: by differences of second order inside, of first order at the
    ends.

    Args:
        f: the samples.
        varargs: the distance of samples, or a vector of their places: one for all axes, or one for
            each; 1 by default.
        axis: the axis or axes along which to take slopes; all by default.
        edge_order: 1; higher orders at the ends are not supported.

    Returns:
        An array of the shape of `f` for each axis: a list, or the array itself for one axis.

    Raises:
        ValueError: fewer than two samples along an axis, or distances that do not fit.

    >>> irax.numpy.gradient(irax.numpy.array([0.0, 1.0, 4.0, 9.0]))
    Array([1., 2., 4., 5.], dtype=float32)
    """
    if edge_order not in (None, 1):
        raise NotImplementedError(f"gradient: edge_order must be 1, got {edge_order}")
    dtypes.judge_dtypes(f, *varargs)
    x, *distances = promote_dtypes(f, *varargs, what="gradient")
    x = convert(x, inexact_dtype(x.dtype), dtypes.is_weakly_typed(x) and bool(varargs))
    axes = canonical_axes("gradient", axis, x.ndim)
    if any(x.shape[d] < 2 for d in axes):
        raise ValueError(
            f"gradient: expected at least two samples along each axis, got shape {x.shape}"
        )
    distances = distances or as_arrays([1.0], "gradient")
    if len(distances) == 1:
        distances = distances * len(axes)
    if len(distances) != len(axes):
        raise ValueError(
            f"gradient: expected one distance or {len(axes)}, one for each axis, got {len(varargs)}"
        )
    results = [_slope(x, h, d) for h, d in zip(distances, axes, strict=True)]
    return results[0] if len(axes) == 1 else results


def _slope(x: Array, distance: Array, axis: int) -> Array:
    if distance.ndim > 1 or (distance.ndim and distance.size != x.shape[axis]):
        raise ValueError(
            f"gradient: the places along axis {axis} of shape {x.shape} must be a number or a "
            f"vector of length {x.shape[axis]}, got shape {distance.shape}"
        )
    if not distance.ndim:
        width = convert(distance, x.dtype)
        first = subtract(_part(x, axis, 1, 2), _part(x, axis, None, 1))
        across = subtract(_part(x, axis, 2, None), _part(x, axis, None, -2))
        last = subtract(_part(x, axis, -1, None), _part(x, axis, -2, -1))
        widths = width, multiply(width, 2), width
        return lax.concatenate(list(map(divide, (first, across, last), widths)), axis)
    sides = [-1 if d == axis else 1 for d in range(x.ndim)]
    widths = diff(convert(distance, x.dtype)).reshape(sides)
    steps = divide(diff(x, axis=axis), widths)
    first, last = _part(steps, axis, None, 1), _part(steps, axis, -1, None)
    before, after = _part(widths, axis, None, -1), _part(widths, axis, 1, None)
    # The slope of the parabola through three neighbours: each step weighs as the other is wide.
    earlier = multiply(_part(steps, axis, None, -1), after)
    later = multiply(_part(steps, axis, 1, None), before)
    inside = divide(add(earlier, later), add(before, after))
    return lax.concatenate([first, inside, last], axis)


def unwrap(
    p: ArrayLike, discont: ArrayLike | None = None, axis: int = -1, period: ArrayLike = 2 * np.pi
) -> Array:
    """Add multiples of a period to the elements, so that no step is longer than half of it.

    Args:
        p: an array.
        discont: the least step that is changed; half a period, or more.
        axis: the axis.
        period: the period.

    Raises:
        TypeError: `p` is not an array, or `axis` is not an int.
        ValueError: there is no such axis, or the numbers are complex.

    >>> irax.numpy.unwrap(irax.numpy.array([0, 1, 3, 0]), period=4)
    Array([0, 1, 3, 4], dtype=int32)
    """
    (x,) = as_arrays([p], "unwrap")
    (length,) = as_arrays([fitted(period, x.dtype, "unwrap: period")], "unwrap")
    if x.dtype.kind == "c":
        raise ValueError("unwrap: complex numbers have no period; unwrap their angles")
    x = convert(x, dtypes.result_type(x, length))
    along = canonical_axis("unwrap", axis, x.ndim)
    if 0 in x.shape:
        return x
    half = divide(length, 2) if is_inexact(x) else floor_divide(length, 2)
    least = divide(length, 2) if discont is None else discont
    step = diff(x, axis=along)
    folded = subtract(remainder(add(step, half), length), half)
    # A step of just half a period keeps its direction.
    both = logical_and(equal(folded, -half), equal(add(half, half), length))
    folded = where(logical_and(both, greater(step, 0)), half, folded)
    correction = where(less(abs(step), least), 0, subtract(folded, step))
    rest = add(_part(x, along, 1, None), lax.cumsum(convert(correction, x.dtype), along))
    return lax.concatenate([_part(x, along, 0, 1), convert(rest, x.dtype)], along)
