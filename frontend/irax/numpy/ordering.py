"""Sorting, and searching in sorted arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax import dtypes, lax
from irax.core.array import Array
from irax.core.dispatch import shortcut, staged
from irax.core.dtypes.operands import as_arrays
from irax.core.dtypes.promotion import convert, promote_dtypes
from irax.core.shardings.explicit_axes import layout_is_stated
from irax.execution.shardings.jit_shardings import divided_like
from irax.lax.arguments import canonical_axis, canonical_int
from irax.numpy.elementwise.complex_parts import imag, real
from irax.numpy.elementwise.logic import (
    equal,
    isnan,
    less,
    logical_and,
    logical_not,
    logical_or,
    where,
)
from irax.numpy.searching import take
from irax.numpy.shapes.manipulation import ravel, reshape
from irax.numpy.tables import is_inexact
from irax.typing import ArrayLike, DTypeLike
from irax_compiler.ops import numpy_call
from irax_compiler.sizes import is_symbolic, smaller


def sort(
    a: ArrayLike,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """Sort the elements along an axis in ascending order; nan comes last.

    Args:
        a: an array.
        axis: the axis; None to flatten the array first.
        kind: not supported: there is one algorithm, see `stable`.
        order: not supported: it is for structured arrays.
        stable: True if equal elements keep their order.
        descending: True to reverse the order; nan comes first then.

    Raises:
        ValueError: there is no such axis.

    >>> irax.numpy.sort(irax.numpy.array([3, 1, 2]))
    Array([1, 2, 3], dtype=int32)
    """
    x, axis = _to_sort("sort", a, axis, kind, order)
    result = lax.sort(x, axis, stable)
    return lax.rev(result, (axis,)) if descending else result


def argsort(
    a: ArrayLike,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
    dtype: DTypeLike | None = None,
) -> Array:
    """Return the indices that sort the elements along an axis in ascending order; nan comes last.

    Args:
        a: an array.
        axis: the axis; None to flatten the array first.
        kind: not supported: there is one algorithm, see `stable`.
        order: not supported: it is for structured arrays.
        stable: True if equal elements keep their order.
        descending: True to reverse the order.
        dtype: of the indices; the default integer.

    Raises:
        TypeError: `a` is not an array, or `kind` or `order` is given.
        ValueError: there is no such axis.

    >>> irax.numpy.argsort(irax.numpy.array([3, 1, 2]))
    Array([1, 2, 0], dtype=int32)
    """
    x, axis = _to_sort("argsort", a, axis, kind, order)
    if descending:  # reversed before and after, so that equal elements keep their order
        x = lax.rev(x, (axis,))
    wanted = dtypes.default_int() if dtype is None else dtypes.requested_dtype(dtype, "argsort")
    places = divided_like("argsort", lax.broadcasted_iota(wanted, x.shape, axis), x)
    _, sequence = lax.sort((x, places), axis, stable)
    if descending:
        return lax.rev(lax.sub(np.asarray(x.shape[axis] - 1, wanted), sequence), (axis,))
    return sequence


def _to_sort(name: str, a: ArrayLike, axis: int | None, kind: Any, order: Any) -> tuple[Array, int]:
    if kind is not None:
        raise TypeError(
            f"{name}: the argument 'kind' is not supported: use stable=True or stable=False"
        )
    if order is not None:
        raise TypeError(
            f"{name}: the argument 'order' is not supported: it is for structured arrays"
        )
    (x,) = as_arrays([a], name)
    if axis is None:
        return ravel(x), 0
    return x, canonical_axis(name, axis, x.ndim)


def sort_complex(a: ArrayLike) -> Array:
    """Sort elements as complex numbers by their real, then their imaginary parts.

    Args:
        a: an array of at least one dimension; the last axis is sorted.

    Returns:
        Complex numbers, in the same shape.

    Raises:
        TypeError: not an array.
        ValueError: a scalar.

    >>> irax.numpy.sort_complex(irax.numpy.array([2, 1 + 1j]))
    Array([1.+1.j, 2.+0.j], dtype=complex64)
    """
    (x,) = as_arrays([a], "sort_complex")
    return sort(convert(x, dtypes.result_type(x, np.complex64)))


def partition(a: ArrayLike, kth: int, axis: int = -1) -> Array:
    """Reorder the elements of an axis so that element `kth` is where sorting would put it, smaller
    ones before it and larger ones after it.

    Args:
        a: an array.
        kth: the index of an element in the sorted axis; negative ones count from its end.
        axis: the axis.

    Returns:
        An array of the same shape and dtype.

    Raises:
        ValueError: there is no such axis, or no such index.

    >>> irax.numpy.partition(irax.numpy.array([3, 1, 2]), 1)[1]
    Array(2, dtype=int32)
    """
    return sort(_checked("partition", a, kth, axis), axis)


def argpartition(a: ArrayLike, kth: int, axis: int = -1) -> Array:
    """Return the indices of the elements in the order of `partition`.

    Args:
        a: an array.
        kth: the index of an element in the sorted axis; negative ones count from its end.
        axis: the axis.

    Returns:
        Indices, in the shape of `a`.

    Raises:
        ValueError: there is no such axis, or no such index.

    >>> jnp.argpartition(jnp.array([3, 1, 2]), 0)[0]
    Array(1, dtype=int32)
    """
    return argsort(_checked("argpartition", a, kth, axis), axis, dtype=np.int32)


def _checked(name: str, a: ArrayLike, kth: int, axis: int) -> Array:
    (x,) = as_arrays([a], name)
    n = x.shape[canonical_axis(name, axis, x.ndim)]
    if not -n <= canonical_int(name, "kth", kth) < n:
        raise ValueError(f"{name}: kth={kth} is out of range for an axis of {n} elements")
    return x


def lexsort(keys: Any, axis: int = -1, *, batch_size: int = 16) -> Array:
    """Return the indices that sort by the last key, then by the one before it, and so on.

    Args:
        keys: a sequence of arrays of one shape, or an array, whose rows are the keys.
        axis: the axis of a key along which to sort.
        batch_size: of no effect: all keys are compared in one sort.

    Returns:
        Indices, in the shape of a key.

    Raises:
        TypeError: no keys.
        ValueError: keys of different shapes, or no such axis.

    >>> irax.numpy.lexsort((irax.numpy.array([2, 1, 0]), irax.numpy.array([0, 1, 0])))
    Array([2, 0, 1], dtype=int32)
    """
    arrays = as_arrays([keys[i] for i in range(len(keys))], "lexsort")
    if not arrays:
        raise TypeError("lexsort: expected at least one key, got none")
    if len({x.shape for x in arrays}) > 1:
        listed = ", ".join(str(x.shape) for x in arrays)
        raise ValueError(f"lexsort: expected keys of one shape, got shapes {listed}")
    if not arrays[0].ndim:
        return lax.full((), 0, dtypes.default_int())
    axis = canonical_axis("lexsort", axis, arrays[0].ndim)
    places = lax.broadcasted_iota(dtypes.default_int(), arrays[0].shape, axis)
    return lax.sort((*arrays[::-1], places), axis, num_keys=len(arrays))[-1]


# ---- searching -----------------------------------------------------------------------------------


def precedes(x: Array, y: Array) -> Array:
    """Return True where x comes before y in sorted order: nan last, complex numbers by real part.

    The two have one dtype and are broadcast.
    """
    if x.dtype.kind == "c":
        same_real = logical_not(logical_or(precedes(real(x), real(y)), precedes(real(y), real(x))))
        by_imaginary = logical_and(same_real, precedes(imag(x), imag(y)))
        return logical_or(precedes(real(x), real(y)), by_imaginary)
    before = less(x, y)
    if not is_inexact(x):
        return before
    return logical_or(before, logical_and(isnan(y), logical_not(isnan(x))))


def searchsorted(
    a: ArrayLike,
    v: ArrayLike,
    side: str = "left",
    sorter: ArrayLike | None = None,
    *,
    method: str = "scan",
) -> Array:
    """Return the indices in an ascending vector at which to insert elements, to keep the order.

    Args:
        a: a vector in ascending order; nan comes last.
        v: the elements.
        side: "left": before equal ones; "right": after them.
        sorter: the indices that sort `a`, if it is not sorted.
        method: "scan" halves the vector in a loop, "scan_unrolled" without one; "sort" sorts both
            together; "compare_all" compares each with each. "default" is "scan".

    Raises:
        ValueError: `a` is not a vector; another side or method.

    >>> irax.numpy.searchsorted(irax.numpy.array([1, 3, 5]), 3)
    Array(1, dtype=int32)
    """
    x, values = promote_dtypes(a, v, what="searchsorted")
    if x.ndim != 1:
        raise ValueError(f"searchsorted: expected a vector to search, got shape {x.shape}")
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', got {side!r}")
    if method not in _SEARCHES:
        raise ValueError(
            f"searchsorted: method must be one of {', '.join(map(repr, _SEARCHES))}, got {method!r}"
        )
    if sorter is not None:
        if np.shape(sorter) != x.shape:
            raise IndexError(
                f"searchsorted: sorter must have the shape of a, {x.shape}, got {np.shape(sorter)}"
            )
        x = take(x, sorter)
    if not x.size:
        return lax.full(values.shape, 0, np.int32)
    op = numpy_call.NumpyCall("searchsorted", values.shape, _place_dtype(x), side)
    with layout_is_stated():
        found = shortcut(op, x, values, formula=lambda x, v: _SEARCHES[method](x, v, side))
    return divided_like("searchsorted", found, values)


def _comes_before(x: Array, value: Array, side: str) -> Array:
    """Return True where an element stays in front of the inserted value."""
    return precedes(x, value) if side == "left" else logical_not(precedes(value, x))


def _compare_all(x: Array, values: Array, side: str) -> Array:
    before = _comes_before(x, lax.expand_dims(values, (values.ndim,)), side)
    return lax.reduce_sum(convert(before, _place_dtype(x)), (values.ndim,))


def _place_dtype(x: Array) -> np.dtype[Any]:
    """Return the dtype of indices into a vector: as in JAX, 32 bits where they are enough."""
    return np.dtype(
        np.int32 if is_symbolic(x.size) or x.size < np.iinfo(np.int32).max else np.int64
    )


def _halving(x: Array, values: Array, side: str, unrolled: bool) -> Array:
    def step(_: Any, bounds: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bounds
        middle = lax.div(lax.add(low, high), lax.full_like(low, 2))
        there = take(x, lax.min(middle, lax.full_like(low, x.size - 1)), mode="promise_in_bounds")
        right = logical_and(less(low, high), _comes_before(there, values, side))
        return where(right, lax.add(middle, lax.full_like(low, 1)), low), where(right, high, middle)

    low = lax.full(values.shape, 0, _place_dtype(x))
    bounds = low, lax.full_like(low, x.size)
    steps = 31 if is_symbolic(x.size) else x.size.bit_length()

    def written_out() -> Array:
        found = bounds
        for i in range(steps):
            found = step(i, found)
        return found[0]

    if unrolled:
        return written_out()
    return staged(written_out, lambda _: lax.fori_loop(0, steps, step, bounds)[0], [x, values])


def _by_sorting(x: Array, values: Array, side: str) -> Array:
    flat = ravel(values)
    together = lax.concatenate([flat, x] if side == "left" else [x, flat], 0)
    order = argsort(together)
    start = 0 if side == "left" else x.size  # where the values are
    inside = logical_and(lax.ge(order, lax.full_like(order, start)), less(order, start + flat.size))
    counts = lax.cumsum(convert(logical_not(inside), _place_dtype(x)))
    found = lax.full(together.shape, 0, counts.dtype).at[order].set(counts)
    return reshape(found[start : start + flat.size], values.shape)


_SEARCHES: dict[str, Callable[[Array, Array, str], Array]] = {
    "default": lambda x, values, side: _halving(x, values, side, unrolled=False),
    "scan": lambda x, values, side: _halving(x, values, side, unrolled=False),
    "scan_unrolled": lambda x, values, side: _halving(x, values, side, unrolled=True),
    "sort": _by_sorting,
    "compare_all": _compare_all,
}


def sorted_runs(keys: Sequence[Array], equal_nan: bool) -> tuple[list[Array], Array, Array]:
    """Sort vectors together, by the first, then the second, ...: return the sorted vectors, the
    indices that sort them, and a mask of the elements that differ from the ones before them.
    """
    places = lax.iota(dtypes.default_int(), keys[0].size)
    *ordered, order = lax.sort((*keys, places), 0, num_keys=len(keys))
    same = None
    for x in ordered:
        now, before = x[1:], x[:-1]
        alike = equal(now, before)
        if equal_nan and is_inexact(x):
            alike = logical_or(alike, logical_and(isnan(now), isnan(before)))
        same = alike if same is None else logical_and(same, alike)
    assert same is not None
    first = lax.full((smaller(keys[0].size, 1),), True, np.bool)
    return list(ordered), order, lax.concatenate([first, logical_not(same)], 0)
