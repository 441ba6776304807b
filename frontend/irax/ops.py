"""Segment sums and the like, and the functions that changed copies were made with before `.at`."""

from __future__ import annotations

from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes, errors
from irax.core.array import Array, as_array
from irax.core.dtypes.strictness import library
from irax.execution.shardings.jit_shardings import takes_out_sharding
from irax.lax.arguments import canonical_int

__all__ = [
    "index",
    "index_add",
    "index_max",
    "index_min",
    "index_mul",
    "index_update",
    "segment_max",
    "segment_min",
    "segment_prod",
    "segment_sum",
]

# ---- segments ------------------------------------------------------------------------------------


@library
@takes_out_sharding("segment_sum", sums=True)
def segment_sum(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
    out_sharding: Any = None,
) -> Array:
    """The sums of the rows of `data` that have the same number.

    Args:
        data: shape (n, ...). A scalar is the value of every row.
        segment_ids: integers of shape (n,), the number of each row's segment. Rows whose number is
            negative or not below `num_segments` are left out.
        num_segments: how many segments there are; by default just enough, which takes known ids.
        indices_are_sorted: the ids are in ascending order.
        unique_indices: no id occurs twice.
        bucket_size: fold so many rows at a time, and then the results: sums of many floats lose
            fewer digits.
        mode: what becomes of ids out of range, as in `x.at[...].add`.
        out_sharding: how the result is divided: a sharding, or a `PartitionSpec`.

    Returns:
        An array of shape (num_segments, ...) and the dtype of `data`.

    Raises:
        ConcretizationTypeError: no `num_segments` for ids that are traced.
        TypeError: ids that are not integers.
        ValueError: the shapes of `data` and `segment_ids` do not go together, or a `bucket_size`
            below 1.

    >>> segment_sum(jnp.arange(5), jnp.array([0, 0, 1, 1, 2]))
    Array([1, 5, 4], dtype=int32)
    """
    options = (indices_are_sorted, unique_indices, mode, bucket_size)
    return _segments("segment_sum", "add", 0, data, segment_ids, num_segments, options)


@library
@takes_out_sharding("segment_prod")
def segment_prod(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
    out_sharding: Any = None,
) -> Array:
    """The products of the rows of `data` that have the same number; see `segment_sum`.

    Args:
        data: an array [n, ...]. A scalar is the value of every row.
        segment_ids: integers [n], the number of each row's segment. Rows whose number is negative
            or not below `num_segments` are left out.
        num_segments: the number of segments; by default one more than the largest number, which
            must be known.
        indices_are_sorted: True if the numbers are in ascending order.
        unique_indices: True if no number occurs twice.
        bucket_size: reduce so many rows at a time, and then the results.
        mode: what becomes of numbers out of range, as in `x.at[...]`.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Returns:
        An array [num_segments, ...] of the same dtype.

    Raises:
        TypeError: `data` is not an array, or the numbers are not integers.
        ValueError: there is not one number for each row, or `num_segments` is negative.

    >>> segment_prod(jnp.arange(4), jnp.array([0, 1, 1, 1]))
    Array([0, 6], dtype=int32)
    """
    options = (indices_are_sorted, unique_indices, mode, bucket_size)
    return _segments("segment_prod", "multiply", 1, data, segment_ids, num_segments, options)


@library
@takes_out_sharding("segment_max")
def segment_max(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
    out_sharding: Any = None,
) -> Array:
    """The maxima of the rows of `data` that have the same number; see `segment_sum`.

    A segment without rows has the smallest value of the dtype, -inf for floats.

    Args:
        data: an array [n, ...]. A scalar is the value of every row.
        segment_ids: integers [n], the number of each row's segment. Rows whose number is negative
            or not below `num_segments` are left out.
        num_segments: the number of segments; by default one more than the largest number, which
            must be known.
        indices_are_sorted: True if the numbers are in ascending order.
        unique_indices: True if no number occurs twice.
        bucket_size: reduce so many rows at a time, and then the results.
        mode: what becomes of numbers out of range, as in `x.at[...]`.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Returns:
        An array [num_segments, ...] of the same dtype.

    Raises:
        TypeError: `data` is not an array, or the numbers are not integers.
        ValueError: there is not one number for each row, or `num_segments` is negative.

    >>> segment_max(jnp.arange(4), jnp.array([0, 0, 1, 1]))
    Array([1, 3], dtype=int32)
    """
    options = (indices_are_sorted, unique_indices, mode, bucket_size)
    start = _extreme(as_array(data, "segment_max: data").dtype, largest=False)
    return _segments("segment_max", "max", start, data, segment_ids, num_segments, options)


@library
@takes_out_sharding("segment_min")
def segment_min(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
    out_sharding: Any = None,
) -> Array:
    """The minima of the rows of `data` that have the same number; see `segment_sum`.

    A segment without rows has the largest value of the dtype, inf for floats.

    Args:
        data: an array [n, ...]. A scalar is the value of every row.
        segment_ids: integers [n], the number of each row's segment. Rows whose number is negative
            or not below `num_segments` are left out.
        num_segments: the number of segments; by default one more than the largest number, which
            must be known.
        indices_are_sorted: True if the numbers are in ascending order.
        unique_indices: True if no number occurs twice.
        bucket_size: reduce so many rows at a time, and then the results.
        mode: what becomes of numbers out of range, as in `x.at[...]`.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Returns:
        An array [num_segments, ...] of the same dtype.

    Raises:
        TypeError: `data` is not an array, or the numbers are not integers.
        ValueError: there is not one number for each row, or `num_segments` is negative.

    >>> segment_min(jnp.arange(4), jnp.array([0, 0, 1, 1]))
    Array([0, 2], dtype=int32)
    """
    options = (indices_are_sorted, unique_indices, mode, bucket_size)
    start = _extreme(as_array(data, "segment_min: data").dtype, largest=True)
    return _segments("segment_min", "min", start, data, segment_ids, num_segments, options)


def _extreme(dtype: np.dtype[Any], largest: bool) -> Any:
    if dtype == np.bool_:
        return largest
    if dtypes.issubdtype(dtype, np.inexact):
        return np.inf if largest else -np.inf
    limits = dtypes.iinfo(dtype)
    return limits.max if largest else limits.min


def _segments(
    what: str,
    method: str,
    start: Any,
    data: Any,
    segment_ids: Any,
    num_segments: int | None,
    options: tuple[bool, bool, Any, int | None],
) -> Array:
    data = as_array(data, f"{what}: data")
    ids = as_array(segment_ids, f"{what}: segment_ids")
    if not dtypes.issubdtype(ids.dtype, np.integer):
        raise TypeError(f"{what}: segment_ids must have an integer dtype, got {ids.aval}")
    if not data.ndim:
        data, ids = jnp.full(ids.size, data), ids.ravel()
    if ids.ndim != 1 or ids.shape[0] != data.shape[0]:
        raise ValueError(
            f"{what}: segment_ids must have a number for each row of data, so shape (n,) for data "
            f"of shape (n, ...); got {ids.shape} for {data.shape}"
        )
    if num_segments is None:
        num_segments = _needed(what, ids)
    elif (num_segments := canonical_int(what, "num_segments", num_segments)) < 0:
        raise ValueError(f"{what}: num_segments must not be negative, got {num_segments}")
    is_sorted, unique, mode, bucket_size = options
    if bucket_size is not None and canonical_int(what, "bucket_size", bucket_size) < 1:
        raise ValueError(f"{what}: bucket_size must be at least 1, got {bucket_size}")
    n = data.shape[0]
    buckets = -(-n // bucket_size) if bucket_size and n else 1
    out = jnp.full((buckets, num_segments, *data.shape[1:]), start, data.dtype)
    if not num_segments:
        return out[0]
    places = out[0].at[ids]
    if bucket_size and buckets > 1:
        places = out.at[np.arange(n, dtype=np.int32) // bucket_size, ids]
    folded = getattr(places, method)(
        data,
        indices_are_sorted=is_sorted,
        unique_indices=unique,
        mode=mode,
        wrap_negative_indices=False,
    )
    return getattr(jnp, _TOGETHER[method])(folded, 0) if buckets > 1 else folded


_TOGETHER = {"add": "sum", "multiply": "prod", "max": "max", "min": "min"}


def _needed(what: str, ids: Array) -> int:
    why = f"{what} needs num_segments=..., or the segment_ids to count them"
    values = ids.concrete(why, errors.ConcretizationTypeError)
    return int(values.max()) + 1 if values.size else 0


# ---- before .at ----------------------------------------------------------------------------------


class _Index:
    """`index[1:, 0]` is the index that stands between the brackets."""

    def __getitem__(self, key: Any) -> Any:
        return key


index: _Index = _Index()
"""Makes indices for the functions below: `index_add(x, index[1:, 0], y)`."""


def index_update(x: Any, idx: Any, y: Any, **options: Any) -> Array:
    """A copy of `x` with `y` at `idx`: an old spelling of `x.at[idx].set(y)`.

    Args:
        x: an array.
        idx: the index of an element or a part, as in `x[idx]`.
        y: an array or a number that broadcasts to the part.
        options: those of `at[...].set`, such as `mode`.

    Raises:
        TypeError: an argument is not an array, or `idx` not an index.
        IndexError: `idx` has more dimensions than `x`.
        ValueError: `y` does not broadcast to the part.

    >>> index_update(jnp.array([1, 2, 3]), 0, 123)
    Array([123,   2,   3], dtype=int32)
    """
    return as_array(x, "index_update: x").at[idx].set(y, **options)


def index_add(x: Any, idx: Any, y: Any, **options: Any) -> Array:
    """A copy of `x` with `y` added at `idx`: an old spelling of `x.at[idx].add(y)`.

    Args:
        x: an array.
        idx: the index of an element or a part, as in `x[idx]`.
        y: an array or a number that broadcasts to the part.
        options: those of `at[...].add`, such as `mode`.

    Raises:
        TypeError: an argument is not an array, or `idx` not an index.
        IndexError: `idx` has more dimensions than `x`.
        ValueError: `y` does not broadcast to the part.

    >>> irax.ops.index_add(irax.numpy.zeros(3), irax.ops.index[1], 5.0)
    Array([0., 5., 0.], dtype=float32)
    """
    return as_array(x, "index_add: x").at[idx].add(y, **options)


def index_mul(x: Any, idx: Any, y: Any, **options: Any) -> Array:
    """A copy of `x` multiplied by `y` at `idx`: an old spelling of `x.at[idx].multiply(y)`.

    Args:
        x: an array.
        idx: the index of an element or a part, as in `x[idx]`.
        y: an array or a number that broadcasts to the part.
        options: those of `at[...].multiply`, such as `mode`.

    Raises:
        TypeError: an argument is not an array, or `idx` not an index.
        IndexError: `idx` has more dimensions than `x`.
        ValueError: `y` does not broadcast to the part.

    >>> irax.ops.index_mul(irax.numpy.ones(3), irax.ops.index[1], 5.0)
    Array([1., 5., 1.], dtype=float32)
    """
    return as_array(x, "index_mul: x").at[idx].multiply(y, **options)


def index_min(x: Any, idx: Any, y: Any, **options: Any) -> Array:
    """A copy of `x`, no larger than `y` at `idx`: an old spelling of `x.at[idx].min(y)`.

    Args:
        x: an array.
        idx: the index of an element or a part, as in `x[idx]`.
        y: an array or a number that broadcasts to the part.
        options: those of `at[...].min`, such as `mode`.

    Raises:
        TypeError: an argument is not an array, or `idx` not an index.
        IndexError: `idx` has more dimensions than `x`.
        ValueError: `y` does not broadcast to the part.

    >>> irax.ops.index_min(irax.numpy.zeros(3), irax.ops.index[1], -5.0)
    Array([ 0., -5.,  0.], dtype=float32)
    """
    return as_array(x, "index_min: x").at[idx].min(y, **options)


def index_max(x: Any, idx: Any, y: Any, **options: Any) -> Array:
    """A copy of `x`, no smaller than `y` at `idx`: an old spelling of `x.at[idx].max(y)`.

    Args:
        x: an array.
        idx: the index of an element or a part, as in `x[idx]`.
        y: an array or a number that broadcasts to the part.
        options: those of `at[...].max`, such as `mode`.

    Raises:
        TypeError: an argument is not an array, or `idx` not an index.
        IndexError: `idx` has more dimensions than `x`.
        ValueError: `y` does not broadcast to the part.

    >>> irax.ops.index_max(irax.numpy.zeros(3), irax.ops.index[1], 5.0)
    Array([0., 5., 0.], dtype=float32)
    """
    return as_array(x, "index_max: x").at[idx].max(y, **options)
