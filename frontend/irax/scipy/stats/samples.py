"""Statistics of samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import irax.numpy as jnp
from irax import dtypes, lax
from irax.core.array import Array
from irax.core.dtypes.operands import as_arrays, inexact_dtype
from irax.core.dtypes.promotion import convert
from irax.lax.arguments import canonical_axis
from irax.typing import ArrayLike


class ModeResult(NamedTuple):
    """The most frequent values, and their counts."""

    mode: Array
    count: Array


def _policy(what: str, nan_policy: str, supported: tuple[str, ...] = ("propagate",)) -> None:
    if nan_policy not in ("propagate", "omit", "raise"):
        raise ValueError(
            f"{what}: nan_policy must be 'propagate', 'omit' or 'raise', got {nan_policy!r}"
        )
    if nan_policy not in supported:
        listed = " or ".join(map(repr, supported))
        raise NotImplementedError(
            f"{what}: nan_policy={nan_policy!r} is not supported; expected {listed}"
        )


def _along(what: str, a: ArrayLike, axis: int | None) -> tuple[Array, int]:
    (x,) = as_arrays([a], what)
    if axis is None:
        return x.reshape(-1), 0
    return x, canonical_axis(what, axis, x.ndim)


def _shifted(x: Array, axis: int) -> Array:
    """Return True where an element differs from the one before; the first one does."""
    size = x.shape[axis]
    now, before = lax.slice_in_dim(x, 1, size, 1, axis), lax.slice_in_dim(x, 0, size - 1, 1, axis)
    differs = jnp.not_equal(now, before)
    if dtypes.issubdtype(x.dtype, np.inexact):
        both = jnp.logical_and(jnp.isnan(now), jnp.isnan(before))
        differs = jnp.logical_and(differs, jnp.logical_not(both))
    first = jnp.ones_like(lax.slice_in_dim(x, 0, 1, 1, axis), np.bool)
    return lax.concatenate([first, differs], axis)


def mode(
    a: ArrayLike, axis: int | None = 0, nan_policy: str = "propagate", keepdims: bool = False
) -> ModeResult:
    """Return the most frequent value along an axis, the least of several; and its count.

    Args:
        a: an array; nan is a value like others.
        axis: the axis; None to flatten the array.
        nan_policy: only "propagate".
        keepdims: True if the results keep the axis, with size 1.

    Raises:
        NotImplementedError: another nan_policy.
        ValueError: there is no such axis.

    Where there are no elements along the axis, the value is nan and the count 0, as floats.

    >>> stats.mode(jnp.array([3, 1, 3, 2]))
    ModeResult(mode=Array(3, dtype=int32), count=Array(2, dtype=int32))
    """
    _policy("mode", nan_policy)
    (array,) = as_arrays([a], "mode")
    array = jnp.atleast_1d(array)
    x, along = _along("mode", array, axis)
    if not x.shape[along]:
        left = jnp.sum(jnp.zeros(array.shape), axis, keepdims=keepdims)
        return ModeResult(jnp.full_like(left, np.nan), left)
    x = jnp.sort(x, along)
    places = lax.broadcasted_iota(dtypes.default_int(), x.shape, along)
    start = lax.cummax(jnp.where(_shifted(x, along), places, 0), along)
    so_far = jnp.add(jnp.subtract(places, start), 1)
    best = jnp.argmax(so_far, along, keepdims=True)
    found = [jnp.take_along_axis(v, best, along) for v in (x, so_far)]
    if not keepdims:
        return ModeResult(*(lax.squeeze(v, (along,)) for v in found))
    if axis is None:
        found = [v.reshape([1] * array.ndim) for v in found]
    return ModeResult(*found)


_METHODS = ("average", "min", "max", "dense", "ordinal")


def rankdata(
    a: ArrayLike,
    method: str = "average",
    *,
    axis: int | None = None,
    nan_policy: str = "propagate",
) -> Array:
    """Return the ranks of elements; the least one has rank 1.

    Args:
        a: an array.
        method: the rank of equal elements: the "average", "min" or "max" of those they share;
            "dense" counts equal ones once; "ordinal" goes by their order.
        axis: the axis; by default the array is flattened.
        nan_policy: only "propagate": where there is a nan, all ranks along the axis are nan.

    Returns:
        Floats in the shape of `a` (or flat, without an axis).

    Raises:
        TypeError: `a` is not an array, or `axis` is not an int.
        ValueError: there is no such axis, method or policy.

    >>> stats.rankdata(jnp.array([10, 30, 20, 20]))
    Array([1. , 4. , 2.5, 2.5], dtype=float32)
    """
    _policy("rankdata", nan_policy)
    if method not in _METHODS:
        listed = ", ".join(map(repr, _METHODS))
        raise ValueError(f"rankdata: method must be one of {listed}; got {method!r}")
    x, along = _along("rankdata", a, axis)
    order = jnp.argsort(x, along, stable=True)
    back = jnp.argsort(order, along)
    places = lax.broadcasted_iota(dtypes.default_int(), x.shape, along)
    new = _shifted(jnp.take_along_axis(x, order, along), along) if x.size else places.astype(bool)
    size = x.shape[along]
    least = lax.cummax(jnp.where(new, places, 0), along)
    if method == "ordinal":
        ranks = jnp.add(places, 1)
    elif method == "dense":
        ranks = lax.cumsum(new.astype(places.dtype), along)
    else:
        following = jnp.roll(new, -1, along)
        last = jnp.logical_or(following, jnp.equal(places, size - 1))
        largest = lax.cummin(jnp.where(last, places, size), along, reverse=True)
        sum_ = {"min": least + least, "max": largest + largest, "average": least + largest}[method]
        ranks = jnp.add(jnp.multiply(0.5, sum_), 1)
    ranks = convert(jnp.take_along_axis(ranks, back, along), dtypes.default_float())
    if dtypes.issubdtype(x.dtype, np.inexact):
        ranks = jnp.where(jnp.any(jnp.isnan(x), along, keepdims=True), np.nan, ranks)
    return ranks


def sem(
    a: ArrayLike,
    axis: int | None = 0,
    ddof: int | None = 1,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Array:
    """Return the standard error of the mean.

    Args:
        a: an array.
        axis: the axis; None to flatten the array.
        ddof: the sum of squares is divided by the number of elements minus this; None is 0.
        nan_policy: "propagate", or "omit" to leave out nan.
        keepdims: True if the result keeps the axis, with size 1.

    Raises:
        TypeError: `a` is not an array, or `axis` is not an int.
        ValueError: there is no such axis or policy.

    >>> stats.sem(jnp.array([1.0, 2.0, 3.0])).round(4)
    Array(0.5774, dtype=float32)
    """
    _policy("sem", nan_policy, ("propagate", "omit"))
    (x,) = as_arrays([a], "sem")
    x = convert(x, inexact_dtype(x.dtype), x.weak_type)
    if nan_policy == "propagate":
        size = x.size if axis is None else x.shape[canonical_axis("sem", axis, x.ndim)]
        spread = jnp.std(x, axis, ddof=ddof, keepdims=keepdims)
        return convert(jnp.divide(spread, size**0.5), x.dtype)
    known = jnp.logical_not(jnp.isnan(x))
    count = jnp.sum(known, axis, keepdims=keepdims).astype(x.dtype)
    spread = jnp.nanstd(x, axis, ddof=ddof, keepdims=keepdims)
    return jnp.divide(spread, jnp.sqrt(count))
