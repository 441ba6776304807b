"""Means, spreads and quantiles; and reductions that leave nan out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from irax import dtypes, lax
from irax.array import Array
from irax.elementwise import as_arrays, broadcast_to, convert, inexact_dtype
from irax.lax.arguments import canonical_axes, canonical_axis, documented
from irax.numpy import reductions
from irax.numpy.logic import isnan, logical_not
from irax.numpy.logic import where as choose
from irax.numpy.reductions import working_dtype
from irax.numpy.searching import searchsorted, take
from irax.numpy.tables import no_out
from irax.numpy.ufuncs import add, clip, divide, multiply, sqrt, square, subtract
from irax.typing import ArrayLike, Axis, DTypeLike


def _float_dtype(x: Array, dtype: DTypeLike | None) -> np.dtype[Any]:
    if dtype is not None:
        return dtypes.canonicalize_dtype(dtype)
    return inexact_dtype(x.dtype)


def _count(x: Array, axis: Axis, where: ArrayLike | None, keepdims: bool) -> Any:
    """How many elements are folded into each of the result; an array where a mask says so."""
    if where is None:
        return math.prod(x.shape[d] for d in canonical_axes("mean", axis, x.ndim))
    (mask,) = as_arrays([where], "mean")
    return reductions.count_nonzero(broadcast_to(mask, x.shape), axis, keepdims)


def mean(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike | None = None,
) -> Array:
    """The mean of the elements over axes.

    Args:
        a: an array.
        axis: the axis or axes; all by default.
        dtype: of the result; by default that of the array, or the default float. Floats narrower
            than float32 are summed up in float32.
        out: not supported.
        keepdims: whether the result keeps those axes, with size 1.
        where: which elements take part.

    >>> irax.numpy.mean(irax.numpy.array([1, 2, 6]))
    Array(3., dtype=float32)
    """
    no_out("mean", out)
    (x,) = as_arrays([a], "mean")
    result_dtype = _float_dtype(x, dtype)
    x = convert(x, working_dtype(result_dtype))
    total = reductions.sum(x, axis, keepdims=keepdims, where=where)
    return convert(divide(total, _count(x, axis, where, keepdims)), result_dtype)


def var(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike | None = None,
    correction: int | float | None = None,
) -> Array:
    """The variance over axes: the mean squared distance from the mean.

    Args:
        a: an array.
        axis: the axis or axes; all by default.
        dtype: of the result; a float by default.
        out: not supported.
        ddof: what is taken off the number of elements that the squares are divided by.
        keepdims: whether the result keeps those axes, with size 1.
        where: which elements take part.
        correction: another name for `ddof`.

    >>> irax.numpy.var(irax.numpy.array([1.0, 3.0]))
    Array(1., dtype=float32)
    """
    no_out("var", out)
    (x,) = as_arrays([a], "var")
    result_dtype = _float_dtype(x, dtype)
    x = convert(x, working_dtype(result_dtype))
    centred = subtract(x, mean(x, axis, keepdims=True, where=where))
    total = reductions.sum(square(centred), axis, keepdims=keepdims, where=where)
    taken_off = ddof if correction is None else correction
    count = _count(x, axis, where, keepdims)
    count = count - taken_off if isinstance(count, int) else subtract(count, taken_off)
    return convert(divide(total, count), result_dtype)


def std(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike | None = None,
    correction: int | float | None = None,
) -> Array:
    """The standard deviation over axes: the square root of `var`, whose arguments it takes."""
    no_out("std", out)
    (x,) = as_arrays([a], "std")
    spread = var(x, axis, dtype, ddof=ddof, keepdims=keepdims, where=where, correction=correction)
    return sqrt(spread)


def average(
    a: ArrayLike,
    axis: Axis = None,
    weights: ArrayLike | None = None,
    returned: bool = False,
    keepdims: bool = False,
) -> Any:
    """The mean over axes, with weights.

    Args:
        a: an array.
        axis: the axis or axes; all by default.
        weights: of the array's shape, or a vector along the one axis.
        returned: whether to return the sum of the weights, too.
        keepdims: whether the result keeps those axes, with size 1.

    Raises:
        ValueError: weights of another shape.

    >>> irax.numpy.average(irax.numpy.array([1.0, 3.0]), weights=irax.numpy.array([3.0, 1.0]))
    Array(1.5, dtype=float32)
    """
    (x,) = as_arrays([a], "average")
    if weights is None:
        result = mean(x, axis, keepdims=keepdims)
        count = lax.full_like(result, _count(x, axis, None, keepdims))
        return (result, count) if returned else result
    (w,) = as_arrays([weights], "average")
    if w.shape != x.shape:
        if not isinstance(axis, int) or w.shape != (x.shape[axis],):
            raise ValueError(
                f"average: weights of shape {w.shape} do not fit an array of shape {x.shape}; "
                "expected its shape, or a vector along the one axis"
            )
        along = canonical_axis("average", axis, x.ndim)
        w = lax.broadcast_in_dim(w, x.shape, (along,))
    dtype = _float_dtype(x, dtypes.result_type(x, w, float))
    x, w = convert(x, dtype), convert(w, dtype)
    total = reductions.sum(w, axis, keepdims=keepdims)
    result = divide(reductions.sum(multiply(x, w), axis, keepdims=keepdims), total)
    return (result, total) if returned else result


# ---- quantiles -----------------------------------------------------------------------------------

_METHODS: dict[str, Callable[[Array], Array]] = {
    "linear": lambda share: share,
    "lower": lambda share: lax.full_like(share, 0),
    "higher": lambda share: lax.ceil(share),
    "nearest": lambda share: lax.round(share, lax.RoundingMethod.TO_NEAREST_EVEN),
    "midpoint": lambda share: multiply(lax.ceil(share), 0.5),
}
"""How far to go from the element below towards that above, given how far the place is."""


def quantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Array:
    """The elements that shares `q` of all elements, over axes, are below.

    Args:
        a: an array; nan among its elements makes the result nan.
        q: shares from 0 to 1; the result has their axes first.
        axis: the axis or axes; all by default.
        out: not supported.
        overwrite_input: of no effect.
        method: between two elements: "linear", "lower", "higher", "nearest" or "midpoint".
        keepdims: whether the result keeps those axes, with size 1.

    >>> irax.numpy.quantile(irax.numpy.array([1.0, 2.0, 4.0]), 0.75)
    Array(3., dtype=float32)
    """
    no_out("quantile", out)
    if method not in _METHODS:
        raise ValueError(
            f"quantile: method must be one of {', '.join(map(repr, _METHODS))}, got {method!r}"
        )
    x, shares = as_arrays([a, q], "quantile")
    result_dtype = _float_dtype(x, None)
    x = convert(x, working_dtype(result_dtype))
    shares = convert(shares, x.dtype)
    axes = canonical_axes("quantile", axis, x.ndim)
    kept = tuple(d for d in range(x.ndim) if d not in axes)
    count = math.prod(x.shape[d] for d in axes)
    if not count:
        raise ValueError(f"quantile: axes {axes} of shape {x.shape} hold no elements")
    x = lax.reshape(lax.transpose(x, (*axes, *kept)), (count, *(x.shape[d] for d in kept)))
    ascending = lax.sort(x, 0)
    places = multiply(clip(shares, 0, 1), count - 1)
    below = lax.floor(places)
    share = subtract(places, below)
    if method == "nearest":  # of two as near, the place with the even number
        below, share = lax.round(places, lax.RoundingMethod.TO_NEAREST_EVEN), share * 0
    index = convert(below, dtypes.default_int())
    low = take(ascending, index, 0, mode="clip")
    high = take(ascending, add(index, 1), 0, mode="clip")
    share = lax.reshape(_METHODS[method](share), shares.shape + (1,) * len(kept))
    result = add(multiply(low, subtract(1, share)), multiply(high, share))
    result = choose(reductions.any(isnan(x), 0), np.nan, result)
    if keepdims:
        sizes = [1 if d in axes else next_size for d, next_size in enumerate(_shape_of(a))]
        result = lax.reshape(result, (*shares.shape, *sizes))
    return convert(result, result_dtype)


def _shape_of(a: ArrayLike) -> tuple[int, ...]:
    return as_arrays([a], "quantile")[0].shape


def percentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Array:
    """`quantile`, with `q` in percent."""
    return quantile(a, divide(q, 100), axis, out, overwrite_input, method, keepdims)


def median(
    a: ArrayLike,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """The middle element over axes, or the mean of the two in the middle; nan if any is.

    >>> irax.numpy.median(irax.numpy.array([3, 1, 2, 9]))
    Array(2.5, dtype=float32)
    """
    return quantile(a, 0.5, axis, out, overwrite_input, "midpoint", keepdims)


# ---- without nan ---------------------------------------------------------------------------------


def _without_nan(name: str, neutral: float) -> Callable[..., Array]:
    fold = getattr(reductions, name)

    def function(a: ArrayLike, axis: Axis = None, keepdims: bool = False, **options: Any) -> Array:
        (x,) = as_arrays([a], f"nan{name}")
        missing = isnan(x)
        cleaned = choose(missing, convert(as_arrays([neutral], name)[0], x.dtype), x)
        result = fold(
            cleaned if dtypes.issubdtype(x.dtype, np.inexact) else x,
            axis,
            keepdims=keepdims,
            **options,
        )
        if name in ("sum", "prod") or not dtypes.issubdtype(x.dtype, np.inexact):
            return result
        return choose(reductions.all(missing, axis, keepdims=keepdims), np.nan, result)

    doc = f"`{name}`, leaving nan out; for nothing but nan, as for no elements."
    return documented(function, f"nan{name}", doc, "irax.numpy")


nansum = _without_nan("sum", 0)
nanprod = _without_nan("prod", 1)
nanmax = _without_nan("max", -np.inf)
nanmin = _without_nan("min", np.inf)


def nanmean(a: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """`mean`, leaving nan out; nan for nothing but nan."""
    return mean(a, axis, keepdims=keepdims, where=logical_not(isnan(a)))


def nanvar(a: ArrayLike, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Array:
    """`var`, leaving nan out; nan for nothing but nan."""
    return var(a, axis, ddof=ddof, keepdims=keepdims, where=logical_not(isnan(a)))


def nanstd(a: ArrayLike, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Array:
    """`std`, leaving nan out; nan for nothing but nan."""
    return sqrt(nanvar(a, axis, ddof, keepdims))


# ---- between given points ------------------------------------------------------------------------


def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: ArrayLike | None = None,
    right: ArrayLike | None = None,
) -> Array:
    """Values at `x` of the function that goes straight from each point (xp, fp) to the next.

    Args:
        x: where to take values.
        xp: an ascending vector.
        fp: the values there.
        left: the value before the first point; by default the first one.
        right: the value after the last point; by default the last one.

    >>> irax.numpy.interp(1.5, irax.numpy.array([1.0, 2.0]), irax.numpy.array([10.0, 20.0]))
    Array(15., dtype=float32)
    """
    at, points, values = as_arrays([x, xp, fp], "interp")
    if points.ndim != 1 or points.shape != values.shape:
        raise ValueError(
            f"interp: xp and fp must be vectors of one length, got shapes {points.shape} and "
            f"{values.shape}"
        )
    dtype = _float_dtype(at, dtypes.result_type(at, points, values, float))
    at, points, values = (convert(v, dtype) for v in (at, points, values))
    index = clip(searchsorted(points, at, side="right"), 1, max(points.size - 1, 1))
    before, after = subtract(index, 1), index
    x0, x1, y0, y1 = (
        take(v, i, mode="clip")
        for v, i in ((points, before), (points, after), (values, before), (values, after))
    )
    width = subtract(x1, x0)
    flat = lax.eq(width, lax.full_like(width, 0))
    slope = divide(subtract(y1, y0), choose(flat, 1, width))
    result = add(y0, multiply(subtract(at, x0), slope))
    first, last = points[0], points[-1]
    result = choose(at < first, values[0] if left is None else left, result)
    return choose(at > last, values[-1] if right is None else right, result)
