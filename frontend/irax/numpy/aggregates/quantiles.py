"""Quantiles, percentiles and medians, with or without nan."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from irax import dtypes, lax
from irax.core.array import Array
from irax.core.dtypes.operands import as_arrays, inexact_dtype
from irax.core.dtypes.promotion import broadcast_to, convert
from irax.execution.shardings.jit_shardings import takes_out_sharding
from irax.lax.arguments import canonical_axes
from irax.numpy.aggregates import reductions
from irax.numpy.aggregates.reductions import working_dtype
from irax.numpy.elementwise.division import remainder
from irax.numpy.elementwise.logic import (
    equal,
    greater_equal,
    isnan,
    less,
    logical_and,
    logical_not,
    where,
)
from irax.numpy.elementwise.rounding import ceil, floor, rint
from irax.numpy.searching import take, take_along_axis
from irax.numpy.shapes.manipulation import reshape
from irax.numpy.ufuncs import add, clip, divide, multiply, subtract
from irax.typing import ArrayLike, Axis

Place = tuple[Array, Array]
"""The index of an element in sorted order, and the fraction of the way to the next one."""


def _continuous(alpha: float, beta: float) -> Callable[[Any, Array], Place]:
    """Return linear interpolation between elements, at Hyndman and Fan's positions."""

    def place(n: Any, q: Array) -> Place:
        shift = add(alpha, multiply(q, 1 - alpha - beta))
        spot = subtract(add(multiply(n, q), shift), 1)
        spot = clip(spot, 0, subtract(n, 1))
        return floor(spot), subtract(spot, floor(spot))

    return place


def _between(n: Any, q: Array) -> Array:
    return multiply(q, subtract(n, 1))


def _linear(n: Any, q: Array) -> Place:
    spot = _between(n, q)
    return floor(spot), subtract(spot, floor(spot))


def _whole(spot: Array) -> Place:
    return spot, lax.full_like(spot, 0)


def _midpoint(n: Any, q: Array) -> Place:
    spot = _between(n, q)
    return floor(spot), multiply(subtract(ceil(spot), floor(spot)), 0.5)


def _averaged(n: Any, q: Array) -> Place:
    spot = subtract(multiply(n, q), 1)
    last = subtract(n, 1)
    between = logical_and(greater_equal(spot, 0), less(spot, last))
    share = where(equal(spot, floor(spot)), 0.5, 1.0)
    return clip(floor(spot), 0, last), where(between, share, 0.0)


def _closest(n: Any, q: Array) -> Place:
    spot = subtract(multiply(n, q), 1.5)
    below = floor(spot)
    stays = logical_and(equal(spot, below), equal(remainder(below, 2), 1))
    return _whole(where(stays, below, add(below, 1)))


_METHODS: dict[str, Callable[[Any, Array], Place]] = {
    "linear": _linear,
    "lower": lambda n, q: _whole(floor(_between(n, q))),
    "higher": lambda n, q: _whole(ceil(_between(n, q))),
    "nearest": lambda n, q: _whole(rint(_between(n, q))),
    "midpoint": _midpoint,
    "inverted_cdf": lambda n, q: _whole(ceil(subtract(multiply(n, q), 1))),
    "averaged_inverted_cdf": _averaged,
    "closest_observation": _closest,
    "interpolated_inverted_cdf": _continuous(0, 1),
    "hazen": _continuous(0.5, 0.5),
    "weibull": _continuous(0, 0),
    "median_unbiased": _continuous(1 / 3, 1 / 3),
    "normal_unbiased": _continuous(3 / 8, 3 / 8),
}


def _quantile(
    name: str,
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis,
    out: Any,
    overwrite_input: bool,
    method: str,
    keepdims: bool,
    weights: ArrayLike | None = None,
    percent: bool = False,
) -> Array:
    if overwrite_input or out is not None:
        raise ValueError(
            f"{name}: overwrite_input=True and 'out' are not supported: arrays are immutable, use "
            "the result"
        )
    if method not in _METHODS:
        raise ValueError(
            f"{name}: method must be one of {', '.join(map(repr, _METHODS))}, got {method!r}"
        )
    x, shares = as_arrays([a, q], name)
    if dtypes.issubdtype(x.dtype, np.complexfloating):
        raise ValueError(f"{name}: complex numbers have no order, got {x.dtype}")
    if dtypes.issubdtype(shares.dtype, np.complexfloating):
        raise TypeError(f"{name}: q must be real, got {shares.dtype}")
    result_dtype = inexact_dtype(x.dtype)
    shape, rank = x.shape, x.ndim
    axes = canonical_axes(name, axis, rank)
    x = _rows(convert(x, working_dtype(result_dtype)), axes)
    shares = convert(shares, x.dtype)
    if percent:
        shares = divide(shares, 100)
    if not x.shape[0]:  # as if all elements were nan
        x = lax.full((1, *x.shape[1:]), np.nan, x.dtype)
    lanes = x.ndim - 1
    missing = isnan(x)
    left_out = name.startswith("nan")
    if weights is None:
        x = lax.sort(x, 0)
        if left_out:
            count: Any = reductions.sum(logical_not(missing), 0, x.dtype)
            parts = reshape(clip(shares, 0, 1), shares.shape + (1,) * lanes)
            place, share = _METHODS[method](count, parts)
        else:
            place, share = _METHODS[method](x.shape[0], clip(shares, 0, 1))
        result = _interpolated(x, place, share, left_out, shares.ndim)
    else:
        if method != "inverted_cdf":
            raise ValueError(f"{name}: weights need method='inverted_cdf', got {method!r}")
        dtypes.judge_dtypes(a, weights)
        w = _rows(_weights(name, weights, shape, axes), axes)
        w = where(missing, 0, convert(w, x.dtype)) if left_out else convert(w, x.dtype)
        result = _weighted(x, w, shares)
    if not left_out:
        result = where(reductions.any(missing, 0), np.nan, result)
    if keepdims:
        sizes = [1 if d in axes else n for d, n in enumerate(shape)]
        result = lax.reshape(result, (*shares.shape, *sizes))
    return convert(result, result_dtype)


def _rows(x: Array, axes: tuple[int, ...]) -> Array:
    """Return the array with the axes merged into one, the first."""
    kept = tuple(d for d in range(x.ndim) if d not in axes)
    count = math.prod(x.shape[d] for d in axes)
    return lax.reshape(lax.transpose(x, (*axes, *kept)), (count, *(x.shape[d] for d in kept)))


def _interpolated(x: Array, place: Array, share: Array, by_lane: bool, rank: int) -> Array:
    """Interpolate sorted rows between their elements, at positions with `rank` axes of
    their own.
    """
    index = convert(clip(place, 0, x.shape[0] - 1), dtypes.default_int())
    after = lax.min(lax.add(index, lax.full_like(index, 1)), lax.full_like(index, x.shape[0] - 1))
    if by_lane:
        own = place.shape[:rank]
        flat = (math.prod(own), *x.shape[1:])

        def found(places: Array) -> Array:
            places = broadcast_to(places, (*own, *x.shape[1:]))
            taken = take_along_axis(x, reshape(places, flat), 0, mode="clip")
            return reshape(taken, (*own, *x.shape[1:]))

    else:
        share = reshape(share, share.shape + (1,) * (x.ndim - 1))

        def found(places: Array) -> Array:
            return take(x, places, 0, mode="clip")

    low, high = found(index), found(after)
    mixed = add(multiply(low, subtract(1, share)), multiply(high, share))
    return where(equal(share, 0), low, where(equal(share, 1), high, mixed))


def _weights(name: str, weights: ArrayLike, shape: tuple[int, ...], axes: tuple[int, ...]) -> Array:
    (w,) = as_arrays([weights], name)
    if w.shape == shape:
        return w
    if len(axes) == 1 and w.shape == (shape[axes[0]],):
        return lax.broadcast_in_dim(w, shape, axes)
    raise ValueError(
        f"{name}: weights of shape {w.shape} do not fit an array of shape {shape}; expected its "
        "shape, or a vector along the one axis"
    )


def _weighted(x: Array, weights: Array, shares: Array) -> Array:
    """Return the first element of each row at which the cumulative weights reach a share."""
    x, weights = lax.sort((x, weights), 0)
    so_far = lax.cumsum(weights, 0)
    so_far = divide(so_far, so_far[-1])
    so_far = where(equal(so_far, 0), -1, so_far)  # elements of weight 0 are never the first
    column = reshape(shares, (1, *shares.shape, *[1] * (x.ndim - 1)))
    rows = reshape(so_far, (x.shape[0], *[1] * shares.ndim, *x.shape[1:]))
    before = reductions.sum(less(rows, column), 0, dtypes.default_int())
    count = lax.full_like(before, x.shape[0] - 1)
    return _interpolated(x, lax.min(before, count), lax.full_like(before, 0), True, shares.ndim)


def quantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
) -> Array:
    """Return the quantiles `q` of the elements over axes.

    Args:
        a: an array; nan among its elements makes the result nan, and so do no elements.
        q: shares from 0 to 1; the result has their axes first.
        axis: the axis or axes; all by default.
        out: not supported.
        overwrite_input: not supported.
        method: the estimate between two elements: "linear", "lower", "higher", "nearest",
            "midpoint", "inverted_cdf", "averaged_inverted_cdf", "closest_observation",
            "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased" or "normal_unbiased";
            as for `numpy.quantile`.
        keepdims: True if the result keeps those axes, with size 1.
        weights: the weight of each element, with the method "inverted_cdf".

    Raises:
        TypeError: complex numbers.
        ValueError: another method.

    >>> irax.numpy.quantile(irax.numpy.array([1.0, 2.0, 4.0]), 0.75)
    Array(3., dtype=float32)
    """
    return _quantile("quantile", a, q, axis, out, overwrite_input, method, keepdims, weights)


def nanquantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
) -> Array:
    """Return quantiles as `quantile`, ignoring nan; nan if there is no other element.

    Args:
        a: an array of real numbers.
        q: an array of numbers from 0 to 1.
        axis: the axis or axes; all by default.
        out: not supported.
        overwrite_input: not supported.
        method: how to estimate between two elements, as for `quantile`.
        keepdims: True if the result keeps those axes, with size 1.
        weights: the weight of each element, with the method "inverted_cdf".

    Returns:
        Floats: the axes of `q`, then those of `a` that are left.

    Raises:
        TypeError: `a` or `q` is not an array of real numbers, or `axis` is not an int.
        ValueError: there is no such axis or method, or `out` or `overwrite_input` is given.

    >>> irax.numpy.nanquantile(irax.numpy.array([1.0, irax.numpy.nan, 4.0]), 0.5)
    Array(2.5, dtype=float32)
    """
    return _quantile("nanquantile", a, q, axis, out, overwrite_input, method, keepdims, weights)


@takes_out_sharding("percentile")
def percentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Return quantiles as `quantile`, with `q` in percent.

    `out_sharding` is how the result is divided: a sharding, or a `PartitionSpec`.

    Args:
        a: an array of real numbers.
        q: an array of numbers from 0 to 100.
        axis: the axis or axes; all by default.
        out: not supported.
        overwrite_input: not supported.
        method: how to estimate between two elements, as for `quantile`.
        keepdims: True if the result keeps those axes, with size 1.
        weights: the weight of each element, with the method "inverted_cdf".
        out_sharding: how the result is divided: a sharding, or a `PartitionSpec`.

    Returns:
        Floats: the axes of `q`, then those of `a` that are left.

    Raises:
        TypeError: `a` or `q` is not an array of real numbers, or `axis` is not an int.
        ValueError: there is no such axis or method, or `out` or `overwrite_input` is given.

    >>> irax.numpy.percentile(irax.numpy.array([1.0, 2.0, 4.0]), 75)
    Array(3., dtype=float32)
    """
    return _quantile(
        "percentile", a, q, axis, out, overwrite_input, method, keepdims, weights, percent=True
    )


def nanpercentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
) -> Array:
    """Return percentiles as `percentile`, ignoring nan; nan if there is no other element.

    Args:
        a: an array of real numbers.
        q: an array of numbers from 0 to 100.
        axis: the axis or axes; all by default.
        out: not supported.
        overwrite_input: not supported.
        method: how to estimate between two elements, as for `quantile`.
        keepdims: True if the result keeps those axes, with size 1.
        weights: the weight of each element, with the method "inverted_cdf".

    Returns:
        Floats: the axes of `q`, then those of `a` that are left.

    Raises:
        TypeError: `a` or `q` is not an array of real numbers, or `axis` is not an int.
        ValueError: there is no such axis or method, or `out` or `overwrite_input` is given.

    >>> jnp.nanpercentile(jnp.array([1.0, jnp.nan, 3.0]), 50)
    Array(2., dtype=float32)
    """
    return _quantile(
        "nanpercentile", a, q, axis, out, overwrite_input, method, keepdims, weights, percent=True
    )


def median(
    a: ArrayLike,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """Return the median over axes: the middle element, or the mean of the two; nan if any element
    is.

    Args:
        a: an array.
        axis: the axis or axes to reduce; all by default.
        out: not supported, since arrays are immutable.
        overwrite_input: not supported.
        keepdims: True to keep the reduced axes, with size 1.

    Raises:
        TypeError: `a` is not an array, or `axis` is not an int.
        ValueError: there is no such axis, the elements are complex, or `out` or `overwrite_input`
            is given.

    >>> irax.numpy.median(irax.numpy.array([3, 1, 2, 9]))
    Array(2.5, dtype=float32)
    """
    return _quantile("median", a, 0.5, axis, out, overwrite_input, "midpoint", keepdims)


def nanmedian(
    a: ArrayLike,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """Return the median over axes, ignoring nan; nan if there is no other element.

    Args:
        a: an array of real numbers.
        axis: the axis or axes; all by default.
        out: not supported.
        overwrite_input: not supported.
        keepdims: True if the result keeps those axes, with size 1.

    Raises:
        TypeError: `a` is not an array, or `axis` is not an int.
        ValueError: there is no such axis, the elements are complex, or `out` or `overwrite_input`
            is given.

    >>> jnp.nanmedian(jnp.array([1.0, jnp.nan, 3.0]))
    Array(2., dtype=float32)
    """
    return _quantile("nanmedian", a, 0.5, axis, out, overwrite_input, "midpoint", keepdims)
