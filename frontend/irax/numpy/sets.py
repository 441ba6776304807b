"""Arrays as sets: distinct elements, unions, intersections and differences.

Elements are sorted, so that equal ones are neighbours. Their number depends on the values: a traced
array needs `size`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from irax import dtypes, errors, lax
from irax.core.array import Array, as_array
from irax.core.dtypes.operands import as_arrays
from irax.core.dtypes.promotion import convert, promote_dtypes
from irax.core.dtypes.python_ints import fitted
from irax.core.shardings.explicit_axes import layout_is_stated
from irax.lax.arguments import canonical_axis, canonical_int
from irax.numpy.elementwise.beyond import compared
from irax.numpy.elementwise.logic import (
    equal,
    isnan,
    less,
    logical_and,
    logical_not,
    logical_or,
    where,
)
from irax.numpy.ordering import searchsorted, sort, sorted_runs
from irax.numpy.searching import nonzero, take
from irax.numpy.shapes.joining import concatenate
from irax.numpy.shapes.manipulation import moveaxis, ravel, reshape
from irax.numpy.tables import is_inexact
from irax.typing import ArrayLike


class UniqueAll(NamedTuple):
    """The result of `unique_all`."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """The result of `unique_counts`."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """The result of `unique_inverse`."""

    values: Array
    inverse_indices: Array


def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: bool = True,
) -> Any:
    """Return the distinct elements in ascending order, or the distinct parts along an axis.

    Args:
        ar: an array.
        return_index: True to return also the first index of each.
        return_inverse: True to return also, for each element of `ar`, its index in the result.
        return_counts: True to return also the number of occurrences of each.
        axis: the axis along which parts are compared; by default single elements are.
        equal_nan: True if nan equals nan.
        size: the length of the result; with it the array may be traced. The result is truncated, or
            filled up.
        fill_value: the value to fill up with; the smallest element by default.
        sorted: of no effect: they are sorted.

    Returns:
        The elements; with one of `return_index`, ..., a tuple.

    Raises:
        ConcretizationTypeError: a traced array without `size`.

    >>> irax.numpy.unique(irax.numpy.array([3, 1, 3]), return_counts=True)
    (Array([1, 3], dtype=int32), Array([1, 2], dtype=int32))
    """
    found = _unique("unique", ar, axis, equal_nan, size, fill_value)
    wanted = (True, return_index, return_inverse, return_counts)
    chosen = [x for x, asked in zip(found, wanted, strict=True) if asked]
    return tuple(chosen) if len(chosen) > 1 else chosen[0]


def unique_all(
    x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None
) -> UniqueAll:
    """Return the results of `unique` with all its options; nan differs from nan.

    Args:
        x: an array, which is flattened.
        size: the length of the results: see `unique`.
        fill_value: the value to fill up with; the smallest element by default.

    Returns:
        A named tuple of `values`, `indices`, `inverse_indices` (in the shape of `x`) and `counts`.

    Raises:
        TypeError: `x` is not an array, or `size` is not an int.

    >>> jnp.unique_all(jnp.array([3, 1, 3])).counts
    Array([1, 2], dtype=int32)
    """
    return UniqueAll(*_unique("unique_all", x, None, False, size, fill_value))


def unique_counts(
    x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None
) -> UniqueCounts:
    """Return the distinct elements and their numbers of occurrences; nan differs from nan.

    Args:
        x: an array, which is flattened.
        size: the length of the results: see `unique`.
        fill_value: the value to fill up with; the smallest element by default.

    Returns:
        A named tuple of `values` and `counts`.

    Raises:
        TypeError: `x` is not an array, or `size` is not an int.

    >>> jnp.unique_counts(jnp.array([3, 1, 3]))
    UniqueCounts(values=Array([1, 3], dtype=int32), counts=Array([1, 2], dtype=int32))
    """
    values, _, _, counts = _unique("unique_counts", x, None, False, size, fill_value)
    return UniqueCounts(values, counts)


def unique_inverse(
    x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None
) -> UniqueInverse:
    """Return the distinct elements and, for each element, its index among them; nan differs from
    nan.

    Args:
        x: an array, which is flattened.
        size: the length of the results: see `unique`.
        fill_value: the value to fill up with; the smallest element by default.

    Returns:
        A named tuple of `values` and `inverse_indices`, these in the shape of `x`.

    Raises:
        TypeError: `x` is not an array, or `size` is not an int.

    >>> jnp.unique_inverse(jnp.array([3, 1, 3]))
    UniqueInverse(values=Array([1, 3], dtype=int32), inverse_indices=Array([1, 0, 1], dtype=int32))
    """
    values, _, inverse, _ = _unique("unique_inverse", x, None, False, size, fill_value)
    return UniqueInverse(values, inverse)


def unique_values(
    x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None
) -> Array:
    """Return the distinct elements; nan differs from nan.

    Args:
        x: an array, which is flattened.
        size: the length of the result: see `unique`.
        fill_value: the value to fill up with; the smallest element by default.

    Returns:
        A vector.

    Raises:
        TypeError: `x` is not an array, or `size` is not an int.

    >>> jnp.unique_values(jnp.array([3, 1, 3]))
    Array([1, 3], dtype=int32)
    """
    return _unique("unique_values", x, None, False, size, fill_value)[0]


def _unique(
    name: str,
    ar: ArrayLike,
    axis: int | None,
    equal_nan: bool,
    size: int | None,
    fill_value: ArrayLike | None,
) -> tuple[Array, Array, Array, Array]:
    """Return the distinct values, their first indices, the inverse indices and the counts."""
    (x,) = as_arrays([ar], name)
    if x.dtype.kind == "c":  # with a nan in either part, one number: the last in order
        x = where(isnan(x), lax.full_like(x, np.nan), x)
    along = 0 if axis is None else canonical_axis(name, axis, x.ndim)
    parts = ravel(x) if axis is None else moveaxis(x, along, 0)
    n = parts.shape[0]
    columns = reshape(parts, (n, -1)) if parts.size else reshape(parts, (n, 0))
    keys = [columns[:, i] for i in range(columns.shape[1])]
    if not keys:  # parts without elements are all equal
        keys = [lax.full((n,), 0, np.int32)]
    if not n:
        count = 0 if size is None else _length(name, size)
        if count and fill_value is None:
            raise ValueError(f"{name}: size={count} of no elements needs a fill_value")
        none = lax.full((count,), 0, dtypes.default_int())
        fill = lax.full((count, *parts.shape[1:]), 0 if fill_value is None else fill_value, x.dtype)
        inverse = lax.full(x.shape if axis is None else (0,), 0, dtypes.default_int())
        return moveaxis(fill, 0, along), none, inverse, none
    _, order, starts = sorted_runs(keys, equal_nan)
    count = _known_count(name, starts) if size is None else _length(name, size)
    bounds = nonzero(starts, size=count + 1, fill_value=n)[0]
    there = less(bounds[:-1], n)
    index = take(order, where(there, bounds[:-1], 0), mode="clip")
    values = take(parts, index, 0, mode="clip")
    if fill_value is not None:
        column = reshape(there, (count, *[1] * (parts.ndim - 1)))
        fill = as_array(fitted(fill_value, x.dtype, f"{name}: fill_value"))
        values = where(column, values, convert(fill, x.dtype, x.weak_type))
    groups = lax.sub(lax.cumsum(convert(starts, dtypes.default_int())), _ones_like(order))
    inverse = lax.full((n,), 0, groups.dtype).at[order].set(groups)
    if axis is None:
        inverse = reshape(inverse, x.shape)
    counts = lax.sub(bounds[1:], bounds[:-1])
    return moveaxis(values, 0, along), index, inverse, counts


def _ones_like(x: Array) -> Array:
    return lax.full_like(x, 1)


def _known_count(name: str, mask: Array) -> int:
    """Return the number of true elements of a mask.

    Raises:
        ConcretizationTypeError: the mask is traced; the message says to give `size`.
    """
    why = f"{name} needs the elements to know the shape of its result; give size=..."
    return int(mask.concrete(why, errors.ConcretizationTypeError).sum())


# ---- two sets ------------------------------------------------------------------------------------


def _two(name: str, ar1: ArrayLike, ar2: ArrayLike) -> tuple[Array, Array]:
    x, y = promote_dtypes(ar1, ar2, what=name)
    return ravel(x), ravel(y)


def _length(name: str, size: int) -> int:
    length = canonical_int(name, "size", size)
    if length < 0:
        raise ValueError(f"{name}: size must be at least 0, got {length}")
    return length


def _places(name: str, mask: Array, size: int | None) -> tuple[Array, Array]:
    """Return the indices of true elements, filled up to `size`, and a mask of those not filled."""
    count = _known_count(name, mask) if size is None else _length(name, size)
    places = nonzero(mask, size=count, fill_value=mask.size)[0]
    return places, less(places, mask.size)


def _chosen(values: Array, places: Array, there: Array, fill_value: ArrayLike | None) -> Array:
    """Return the values at those indices, filled up with `fill_value`, by default the first of
    them, or 0.
    """
    if not values.size or not places.size:
        fill = 0 if fill_value is None else fill_value
        return lax.full_like(values, fill, shape=places.shape)
    first = places[0]
    found = take(values, where(there, places, first), mode="clip")
    fill = where(there[0], found[0], 0) if fill_value is None else as_array(fill_value)
    return where(there, found, convert(fill, values.dtype))


def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    method: str = "auto",
) -> Array:
    """Return True for each element that is among others.

    Args:
        element: an array.
        test_elements: the others.
        assume_unique: of no effect.
        invert: True to return True for those that are not.
        method: "compare_all" compares each with each; "binary_search" and "sort" sort the others
            first. "auto" chooses.

    Raises:
        ValueError: another method.

    >>> irax.numpy.isin(irax.numpy.arange(3), irax.numpy.array([2, 7]))
    Array([False, False,  True], dtype=bool)
    """
    methods = {"auto": "", "compare_all": "", "binary_search": "scan", "sort": "sort"}
    if method not in methods:
        raise ValueError(f"isin: method must be one of {', '.join(methods)}, got {method!r}")
    if compared("equal", element, test_elements) is not None:  # an int that the dtype cannot hold
        return lax.full(np.shape(element), invert, np.bool)
    x, others = promote_dtypes(element, test_elements, what="isin")
    others = ravel(others)
    if not others.size:
        return lax.full(x.shape, invert, np.bool)
    if method == "compare_all" or (method == "auto" and others.size <= _FEW):
        each = equal(lax.expand_dims(x, (x.ndim,)), others)
        found = lax.reduce_or(each, (x.ndim,))
    else:
        others = sort(others)
        place = searchsorted(others, x, method=methods[method] or "scan")
        with layout_is_stated():
            there = take(others, place, mode="clip")
        found = equal(there, x)
    return logical_not(found) if invert else found


_FEW = 16
"""The most elements for which it is faster to compare with each than to sort."""


def union1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Array:
    """Return the distinct elements of two arrays, in ascending order.

    Args:
        ar1: an array.
        ar2: an array.
        size: the length of the result: see `unique`.
        fill_value: the value to fill up with; the smallest element by default.

    Raises:
        TypeError: `ar1` or `ar2` is not an array, or `size` is not an int.

    >>> irax.numpy.union1d(irax.numpy.array([3, 1]), irax.numpy.array([1, 2]))
    Array([1, 2, 3], dtype=int32)
    """
    return _unique("union1d", concatenate(_two("union1d", ar1, ar2)), None, True, size, fill_value)[
        0
    ]


def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Any:
    """Return the distinct elements that are in both of two arrays, in ascending order.

    Args:
        ar1: an array.
        ar2: an array.
        assume_unique: of no effect.
        return_indices: True to return also the first indices of each in `ar1` and in `ar2`; those
            that fill up to `size` are past the ends.
        size: the length of the result: see `unique`.
        fill_value: the value to fill up with; the smallest element by default.

    Raises:
        TypeError: `ar1` or `ar2` is not an array, or `size` is not an int.

    >>> irax.numpy.intersect1d(irax.numpy.array([3, 1, 3]), irax.numpy.array([3, 2]))
    Array([3], dtype=int32)
    """
    x, y = _two("intersect1d", ar1, ar2)
    together = concatenate([x, y])
    (values,), order, starts = sorted_runs([together], equal_nan=False)
    # Equal elements of the first array come before those of the second: one step from one to the
    # other for each that is in both.
    first = less(order, x.size)
    step = logical_and(first[:-1], logical_not(first[1:]))
    mask = logical_and(step, logical_not(starts[1:]))
    places, there = _places("intersect1d", mask, size)
    result = _chosen(values, places, there, fill_value)
    if not return_indices:
        return result
    if not together.size or not places.size:
        none = lax.full(places.shape, 0, order.dtype)
        return result, none, none
    numbers = lax.iota(order.dtype, together.size)
    begins = lax.cummax(where(starts, numbers, 0))
    in_x = where(there, take(order, take(begins, places, mode="clip"), mode="clip"), x.size)
    in_y = take(order, lax.add(places, _ones_like(places)), mode="clip")
    in_y = where(there, lax.sub(in_y, lax.full_like(in_y, x.size)), y.size)
    return result, in_x, in_y


def setdiff1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Array:
    """Return the distinct elements of one array that are not in another, in ascending order.

    Args:
        ar1: an array.
        ar2: the other one.
        assume_unique: True if the elements of `ar1` are distinct already; they keep their order
            then.
        size: the length of the result: see `unique`.
        fill_value: the value to fill up with; 0 by default.

    Raises:
        TypeError: `ar1` or `ar2` is not an array, or `size` is not an int.

    >>> irax.numpy.setdiff1d(irax.numpy.array([3, 1, 3]), irax.numpy.array([1, 2]))
    Array([3], dtype=int32)
    """
    first, y = as_arrays([ar1, ar2], "setdiff1d")
    x, mask = ravel(first), None
    if not assume_unique and x.size:
        (x,), _, mask = sorted_runs([x], equal_nan=True)
    missing = isin(x, ar2 if type(ar2) is int else y, invert=True)
    mask = missing if mask is None else logical_and(mask, missing)
    places, there = _places("setdiff1d", mask, size)
    result = _chosen(x, places, there, 0 if fill_value is None else fill_value)
    return result.with_weak_type(first.weak_type)


def setxor1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Array:
    """Return the distinct elements that are in exactly one of two arrays, in ascending order.

    Args:
        ar1: an array.
        ar2: an array.
        assume_unique: True if the elements of each array are distinct already.
        size: the length of the result: see `unique`.
        fill_value: the value to fill up with; the smallest element by default.

    Raises:
        TypeError: `ar1` or `ar2` is not an array, or `size` is not an int.

    >>> irax.numpy.setxor1d(irax.numpy.array([3, 1, 3]), irax.numpy.array([1, 2]))
    Array([2, 3], dtype=int32)
    """
    x, y = _two("setxor1d", ar1, ar2)
    together = concatenate([x, y])
    if not together.size:
        places, there = _places("setxor1d", lax.full((0,), False, np.bool), size)
        return _chosen(together, places, there, fill_value)
    (values,), order, starts = sorted_runs([together], equal_nan=False)
    if is_inexact(values):  # nan is a set of its own in each array
        _, _, runs = sorted_runs([together], equal_nan=True)
        starts = where(isnan(values), logical_or(runs, _second_begins(order, x)), starts)
    # Elements of the first array come first: the last of a run is from the second if any is.
    ends = lax.concatenate([starts[1:], lax.full((1,), True, np.bool)], 0)
    if assume_unique:
        places, there = _places("setxor1d", logical_and(starts, ends), size)
        return _chosen(values, places, there, fill_value)
    numbers = lax.iota(order.dtype, together.size)
    last = lax.cummin(where(ends, numbers, together.size), reverse=True)
    in_second = logical_not(less(take(order, last, mode="clip"), x.size))
    both = logical_and(less(order, x.size), in_second)
    places, there = _places("setxor1d", logical_and(starts, logical_not(both)), size)
    return _chosen(values, places, there, fill_value)


def _second_begins(order: Array, x: Array) -> Array:
    """Return True where an element is the first from the second array in a run of equal ones."""
    second = logical_not(less(order, x.size))
    return lax.concatenate([second[:1], logical_and(second[1:], logical_not(second[:-1]))], 0)
