"""Elements at indices, and indices of elements: take, nonzero, where."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from irax import dtypes, errors, lax
from irax.core.array import Array, as_array
from irax.core.dispatch import bind
from irax.core.dtypes.operands import as_arrays, broadcast_shapes
from irax.core.dtypes.promotion import broadcast_to, convert
from irax.core.dtypes.python_ints import fitted
from irax.core.places import from_the_end, holds, widened, with_number, within, wrapped
from irax.core.shardings.explicit_axes import check_alike
from irax.execution.shardings.jit_shardings import placed_like
from irax.lax.arguments import canonical_axis
from irax.lax.gathering import GatherScatterMode, default_fill, take_along
from irax.numpy.elementwise import logic
from irax.numpy.elementwise.division import floor_divide, remainder
from irax.numpy.elementwise.logic import less, logical_and, logical_not, not_equal
from irax.numpy.shapes.joining import stack
from irax.numpy.shapes.manipulation import atleast_1d, ravel
from irax.numpy.ufuncs import add
from irax.typing import ArrayLike
from irax_compiler.ops import comparison
from irax_compiler.ops.indexing import gather_scatter
from irax_compiler.ops.reductions import window_shapes

# ---- elements at indices -------------------------------------------------------------------------


def _places(
    name: str,
    indices: Any,
    size: int,
    mode: str | None,
    counts: bool,
    error: type[Exception] = TypeError,
) -> tuple[Array, Array | None]:
    """Return indices into an axis, and a mask of those in range; None if all are. Negative ones
    count from its end if `counts`.
    """
    (places,) = as_arrays([indices], name)
    if not dtypes.issubdtype(places.dtype, np.integer):
        raise error(f"{name}: indices must be integers, got {places.dtype}")
    places = from_the_end(places, size) if counts else places
    if mode == "wrap":
        return wrapped(places, max(size, 1)), None
    if mode == "clip":
        return within(places, max(size, 1)), None
    if mode == "raise":
        raise NotImplementedError(
            f"{name}: mode 'raise' is not supported: expected 'fill' (the default), 'wrap', 'clip' "
            "or 'promise_in_bounds'"
        )
    places = widened(places, size)
    parsed = GatherScatterMode.from_any(mode)
    if parsed is GatherScatterMode.PROMISE_IN_BOUNDS:
        return places, None
    inside = logical_and(
        with_number(comparison.greater_equal, places, 0),
        with_number(comparison.less, places, size),
    )
    return places, inside


def _zeros_for_one_hot(mode: Any, fill_value: Any) -> tuple[Any, Any]:
    """Return the mode and the value of elements out of range: zero, where a product with one-hot
    vectors is asked for.
    """
    return ("fill", 0) if mode in ("one_hot", GatherScatterMode.ONE_HOT) else (mode, fill_value)


def _filled(found: Array, inside: Array | None, fill_value: Any) -> Array:
    """Return elements with `fill_value` (or nan and the like) where the index was out of range."""
    if inside is None:
        return found
    fill = default_fill(found.dtype) if fill_value is None else fill_value
    fill = convert(
        as_array(fitted(fill, found.dtype, "fill_value"), toward=found.dtype),
        found.dtype,
        found.weak_type,
    )
    return logic.where(inside, found, fill)


def take(
    a: ArrayLike,
    indices: ArrayLike,
    axis: int | None = None,
    out: None = None,
    mode: str | None = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: Any = None,
) -> Array:
    """Take the parts of an array at given indices of an axis.

    Args:
        a: an array.
        indices: integers of any shape; negative ones count from the end.
        axis: the axis, which the axes of `indices` replace in the result; by default the array is
            flattened.
        out: not supported.
        mode: for indices out of range: "fill", the default: `fill_value`; "clip": the nearest;
            "wrap": the index modulo the size.
        unique_indices: the caller promises that no index occurs twice; of no effect.
        indices_are_sorted: the caller promises that indices ascend.
        fill_value: by default nan, the smallest signed or largest unsigned integer, or True.

    Raises:
        ValueError: indices that are not integers.
        IndexError: indices into an empty axis.

    >>> irax.numpy.take(irax.numpy.array([10.0, 20.0]), irax.numpy.array([1, -2, 7]))
    Array([20., 10., nan], dtype=float32)
    """
    if out is not None:
        raise NotImplementedError("take: the argument 'out' is not supported: use the result")
    (x,) = as_arrays([a], "take")
    x, axis = (ravel(x), 0) if axis is None else (x, canonical_axis("take", axis, x.ndim))
    (indices,) = as_arrays([indices], "take")
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    if indices.size and not x.shape[axis]:
        raise IndexError(f"take: axis {axis} of shape {x.shape} is empty, nothing can be taken")
    if not indices.size:
        return lax.full_like(x, 0, shape=shape)
    mode, fill_value = _zeros_for_one_hot(mode, fill_value)
    counts = mode not in ("wrap", "clip")
    places, inside = _places("take", indices, x.shape[axis], mode, counts, ValueError)
    if not x.size:
        return lax.full_like(x, 0, shape=shape)
    new_axes = range(axis, axis + places.ndim)
    dims = window_shapes.WindowDims(
        window_dims=tuple(d for d in range(len(shape)) if d not in new_axes),
        collapsed_dims=(axis,),
        index_map=(axis,),
        index_vector_dim=places.ndim,
    )
    sizes = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    sorted_ = indices_are_sorted and inside is None
    found = bind(gather_scatter.Gather(dims, sizes, sorted_), x, places, weak_type=x.weak_type)
    if inside is not None:
        inside = lax.broadcast_in_dim(inside, shape, new_axes)
    return _filled(found, inside, fill_value)


def take_along_axis(
    arr: ArrayLike,
    indices: ArrayLike,
    axis: int | None = -1,
    mode: str | None = None,
    fill_value: Any = None,
    *,
    wrap_negative_indices: bool = True,
) -> Array:
    """Take elements along an axis, at indices that differ for each position of the other axes.

    Args:
        arr: an array.
        indices: integers, with as many axes as the array; the others are broadcast.
        axis: the axis; None to flatten both.
        mode: as in `take`; "one_hot" is "fill" with zeros.
        fill_value: as in `take`.
        wrap_negative_indices: True if negative indices count from the end; otherwise they are out
            of range.

    Raises:
        TypeError: indices that are not integers.
        ValueError: another number of axes, or sizes that do not fit.

    >>> x = irax.numpy.array([[1.0, 3.0], [4.0, 2.0]])
    >>> irax.numpy.take_along_axis(x, irax.numpy.argmax(x, axis=1, keepdims=True), axis=1)
    Array([[3.],
           [4.]], dtype=float32)
    """
    what = "take_along_axis"
    x, index = as_arrays([arr, indices], what)
    if not dtypes.issubdtype(index.dtype, np.integer):
        hint = "; take x[mask] with a mask" if index.dtype == np.bool else ""
        raise TypeError(f"{what}: indices must be integers, got {index.dtype}{hint}")
    if axis is None:
        if index.ndim != 1:
            raise ValueError(f"{what}: without an axis, indices are a vector, got {index.shape}")
        options = {"wrap_negative_indices": wrap_negative_indices}
        return take_along_axis(ravel(x), index, 0, mode, fill_value, **options)
    if x.ndim != index.ndim:
        raise ValueError(
            f"{what}: indices must have as many dimensions as the array, got shapes {index.shape} "
            f"and {x.shape}"
        )
    axis = canonical_axis(what, axis, x.ndim)
    size = x.shape[axis]
    mode, fill_value = _zeros_for_one_hot(mode, fill_value)
    places, inside = _places(what, index, size, mode, wrap_negative_indices)

    def without(shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape[:axis] + shape[axis + 1 :]

    others = broadcast_shapes(without(x.shape), without(places.shape), what=what)
    x = broadcast_to(x, (*others[:axis], size, *others[axis:]))
    shape = (*others[:axis], places.shape[axis], *others[axis:])
    if not size or not math.prod(shape):
        return lax.full(shape, 0, x.dtype)
    found = take_along(x, places, axis)
    return _filled(found, inside if inside is None else broadcast_to(inside, shape), fill_value)


# ---- indices of elements: shapes that depend on values -------------------------------------------


def _mask(name: str, a: ArrayLike) -> Array:
    (x,) = as_arrays([a], name)
    return x if x.dtype == np.bool else not_equal(x, 0)


def nonzero(a: ArrayLike, *, size: int | None = None, fill_value: Any = None) -> tuple[Array, ...]:
    """Return the indices of the elements that are not 0: a vector for each axis, in row-major
    order.

    Args:
        a: an array.
        size: the length of the result; with it the array may be traced. The result is truncated, or
            filled up.
        fill_value: a number to fill up with, or one for each axis; 0 by default. The result has the
            dtype that it and integers promote to.

    Raises:
        ValueError: an array of shape (), which has no axes, or a `fill_value` that is no number.
        ConcretizationTypeError: a traced array without `size`.

    >>> irax.numpy.nonzero(irax.numpy.array([0, 5, 6]))
    (Array([1, 2], dtype=int32),)
    """
    mask = _mask("nonzero", a)
    if not mask.ndim:
        raise ValueError(
            "nonzero: an element of an array of shape () has no place along an axis; make it a "
            "vector: irax.numpy.atleast_1d(a)"
        )
    if size is None:
        why = "nonzero needs the elements to know the shape of its result; give size=..."
        found = np.nonzero(mask.concrete(why, errors.ConcretizationTypeError))
        places = [placed_like("nonzero", as_array(p), mask) for p in found]
        there: Any = np.ones(found[0].size, np.bool)
    else:
        places, there = _first_places(mask, operator.index(size))
        fill_value = 0 if fill_value is None else fill_value
    if fill_value is None or not mask.size or not there.size:
        return tuple(places)
    fills = fill_value if isinstance(fill_value, tuple) else (fill_value,) * mask.ndim
    if any(np.ndim(fill) for fill in fills):
        raise ValueError(f"nonzero: fill_value must be a number for each axis, got {fill_value}")
    filled = (logic.where(there, p, fill) for p, fill in zip(places, fills, strict=True))
    return tuple(x.with_weak_type(False) for x in filled)


def _first_places(mask: Array, size: int) -> tuple[Sequence[Array], Array]:
    """Return the places of the first `size` true elements, and which of these there are."""
    if not mask.size:
        none = lax.full((size,), 0, dtypes.default_int())
        return [none] * mask.ndim, lax.full((size,), False, np.bool)
    flat = ravel(mask)
    count = lax.reduce_sum(convert(flat, dtypes.default_int()), (0,))
    # The indices of true elements, in order, then the others.
    places = lax.iota(dtypes.default_int(), flat.size)
    _, order = lax.sort((logical_not(flat), places))
    order = lax.pad(order, np.zeros((), order.dtype), [(0, size - order.size, 0)])
    there = less(lax.iota(dtypes.default_int(), size), count)
    return unravel_index(order, mask.shape), there


def unravel_index(indices: ArrayLike, shape: ArrayLike | Sequence[Any]) -> tuple[Array, ...]:
    """Convert indices into the flattened array to indices along each axis; negative ones count from
    the end, and indices out of range are clamped.

    Args:
        indices: an array of integers.
        shape: the shape of that array, a tuple of ints.

    Returns:
        A tuple of arrays, one for each axis.

    Raises:
        TypeError: `indices` or `shape` are not integers.

    >>> jnp.unravel_index(4, (2, 3))
    (Array(1, dtype=int32, weak_type=True), Array(1, dtype=int32, weak_type=True))
    """
    (rest,) = as_arrays([indices], "unravel_index")
    given: Any = shape
    sizes: list[Any] = list(given) if np.iterable(given) else [given]
    if any(np.ndim(n) for n in sizes):
        raise ValueError(f"unravel_index: shape must be a sequence of sizes, got {shape}")
    if not dtypes.issubdtype(rest.dtype, np.integer):
        raise TypeError(f"unravel_index: indices must be integers, got {rest.dtype}")
    if not all(holds(rest.dtype, n) for n in sizes if isinstance(n, int | np.integer)):
        rest = widened(rest, math.prod(int(n) for n in sizes))
    places = []
    for n in reversed(sizes):
        places.append(remainder(rest, n))
        rest = floor_divide(rest, n)
    after, before = less(0, rest), less(add(rest, 1), 0)
    return tuple(
        logic.where(after, n - 1, logic.where(before, 0, place))
        for n, place in zip(sizes, reversed(places), strict=True)
    )


def flatnonzero(a: ArrayLike, *, size: int | None = None, fill_value: Any = None) -> Array:
    """Return the indices of the elements that are not 0 in the flattened array.

    Args:
        a: an array.
        size: the length of the result; with it the array may be traced. The result is truncated, or
            filled up.
        fill_value: the index to fill up with; 0 by default.

    Returns:
        A vector of integers.

    Raises:
        TypeError: not an array or a number.

    >>> jnp.flatnonzero(jnp.array([[0, 5], [7, 0]]))
    Array([1, 2], dtype=int32)
    """
    return nonzero(ravel(a), size=size, fill_value=fill_value)[0]


def argwhere(a: ArrayLike, *, size: int | None = None, fill_value: Any = None) -> Array:
    """Return the indices of the elements that are not 0: a row for each.

    Args:
        a: an array.
        size: the number of rows; with it the array may be traced. The result is truncated, or
            filled up.
        fill_value: what to fill up with, a number or one for each axis; 0 by default.

    Returns:
        Indices of shape (n, a.ndim).

    Raises:
        TypeError: not an array or a number.
        ValueError: `fill_value` has another number of elements than `a` has axes.

    >>> jnp.argwhere(jnp.array([[0, 5], [7, 0]]))
    Array([[0, 1],
           [1, 0]], dtype=int32)
    """
    (x,) = as_arrays([a], "argwhere")
    places = nonzero(atleast_1d(x), size=size, fill_value=fill_value)
    rows = stack(places, 1)
    return rows if x.ndim else lax.slice_in_dim(rows, 0, 0, axis=1)


def where(
    condition: ArrayLike,
    x: ArrayLike | None = None,
    y: ArrayLike | None = None,
    /,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """Return the elements of `x` where a condition holds, those of `y` elsewhere.

    With the condition alone it is `nonzero(condition)`, whose `size` and `fill_value` it takes.

    Args:
        condition: an array; elements that are not 0 hold.
        x: an array or a number.
        y: likewise; all three are broadcast to one shape.
        size: with the condition alone, the length of the result.
        fill_value: with the condition alone, the number to fill up to `size` with.

    Raises:
        ValueError: shapes that do not fit, or `size` or `fill_value` with `x` and `y`.
        TypeError: only one of `x` and `y`.
        ConcretizationTypeError: a traced condition alone, without `size`.

    >>> irax.numpy.where(irax.numpy.arange(3) > 0, 1.0, -1.0)
    Array([-1.,  1.,  1.], dtype=float32, weak_type=True)
    """
    if x is None and y is None:
        return nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        raise TypeError("where: expected both x and y, or neither")
    if size is not None or fill_value is not None:
        raise ValueError("where: size and fill_value are for a condition alone")
    if np.shape(condition) == np.shape(x) == np.shape(y):  # otherwise some are broadcast
        check_alike("where", (condition, x, y))
    return logic.where(condition, x, y)
