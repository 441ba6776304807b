"""Slices of arrays, at static and at dynamic positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from irax import dtypes
from irax.core.array import Array
from irax.core.dimensions import size_of
from irax.core.dispatch import bind
from irax.core.dtypes.operands import as_arrays
from irax.core.dtypes.promotion import convert
from irax.core.dtypes.python_ints import check_ints
from irax.core.places import from_the_end, place, place_dtype, widened
from irax.core.shardings.explicit_axes import check_alike
from irax.lax.arguments import adapted, array_of, canonical_axis
from irax.lax.structure import reshape
from irax.typing import ArrayLike
from irax_compiler.ops import slicing
from irax_compiler.ops.indexing import dynamic_slices


def slice(
    operand: ArrayLike,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> Array:
    """Slice an array: elements start, start + stride, ... below limit, in each dimension.

    Args:
        operand: an array.
        start_indices: the first index in each dimension.
        limit_indices: the end in each dimension, which is not included.
        strides: the step in each dimension, 1 by default.

    Raises:
        ValueError: not one entry for each dimension.
        TypeError: bounds that do not lie in it.

    >>> irax.lax.slice(irax.numpy.arange(6), (1,), (6,), (2,))
    Array([1, 3, 5], dtype=int32)
    """
    what = "lax.slice"
    x = array_of(what, operand)
    start, limit = (tuple(map(size_of, v)) for v in (start_indices, limit_indices))
    step = (1,) * x.ndim if strides is None else tuple(map(size_of, strides))
    if not len(start) == len(limit) == len(step) == x.ndim:
        raise ValueError(
            f"{what}: start_indices={start}, limit_indices={limit} and strides={step} must have an "
            f"entry for each dimension of shape {x.shape}"
        )
    fits = all(
        0 <= a <= b <= n and s > 0 for a, b, s, n in zip(start, limit, step, x.shape, strict=True)
    )
    if not fits:
        raise TypeError(
            f"{what}: start_indices={start}, limit_indices={limit} and strides={step} do not fit "
            f"shape {x.shape}: in each dimension, expected 0 <= start <= limit <= size, stride > 0"
        )
    if all(n == 0 for n in start) and limit == x.shape and all(s == 1 for s in step):
        return x
    return bind(slicing.Slice(start, limit, step), x, weak_type=x.weak_type)


def slice_in_dim(
    operand: ArrayLike,
    start_index: int | None,
    limit_index: int | None,
    stride: int = 1,
    axis: int = 0,
) -> Array:
    """`slice` along one axis; negative bounds count from its end, None is an end of it.

    Args:
        operand: an array.
        start_index: the first index; None for 0.
        limit_index: the end, which is not included; None for the size of the axis.
        stride: the step.
        axis: the axis to slice.

    Raises:
        TypeError: `operand` is not an array, or a bound is not an int.
        ValueError: there is no such axis.

    >>> irax.lax.slice_in_dim(jnp.arange(6), 1, 5, stride=2)
    Array([1, 3], dtype=int32)
    """
    what = "lax.slice_in_dim"
    x = array_of(what, operand)
    axis = canonical_axis(what, axis, x.ndim)
    size = x.shape[axis]
    start = 0 if start_index is None else size_of(start_index)
    limit = size if limit_index is None else size_of(limit_index)
    starts, limits, strides = [0] * x.ndim, list(x.shape), [1] * x.ndim
    starts[axis] = start + size * (start < 0)
    limits[axis] = limit + size * (limit < 0)
    strides[axis] = stride
    return slice(x, starts, limits, strides)


def index_in_dim(operand: ArrayLike, index: int, axis: int = 0, keepdims: bool = True) -> Array:
    """Return the part at one index of an axis; without that axis if not `keepdims`.

    Args:
        operand: an array.
        index: an int; negative ones count from the end.
        axis: the axis, an int.
        keepdims: True to keep the axis, with size 1.

    Raises:
        IndexError: there is no such place.

    >>> irax.lax.index_in_dim(jnp.array([5, 6, 7]), -1, keepdims=False)
    Array(7, dtype=int32)
    """
    what = "lax.index_in_dim"
    x = array_of(what, operand)
    axis = canonical_axis(what, axis, x.ndim)
    index, size = size_of(index), x.shape[axis]
    if not -size <= index < size:
        raise IndexError(f"{what}: index {index} is out of bounds for axis {axis} of size {size}")
    part = slice_in_dim(x, index % size, index % size + 1, axis=axis)
    return part if keepdims else _without(part, axis)


def _without(x: Array, axis: int) -> Array:
    return reshape(x, x.shape[:axis] + x.shape[axis + 1 :])


# ---- dynamic slices --------------------------------------------------------------------------


Negative = bool | Sequence[bool]
"""True if negative starts count from the end; a bool for all dimensions, or one for each."""


def _starts(
    what: str, x: Array, starts: Sequence[Any] | Array, negative: Negative = True
) -> list[Array]:
    """Return the starts as scalars of one integer dtype, negative ones counted from the end."""
    if isinstance(starts, Array | np.ndarray):
        vector = array_of(what, starts)
        starts = [index_in_dim(vector, i, keepdims=False) for i in range(vector.shape[0])]
    if len(starts) != x.ndim:
        raise ValueError(
            f"{what}: expected a start index for each of the {x.ndim} dimensions, got {len(starts)}"
        )
    allowed = [negative] * x.ndim if isinstance(negative, bool) else list(negative)
    if len(allowed) != x.ndim:
        raise ValueError(
            f"{what}: allow_negative_indices must be a bool, or one for each of the {x.ndim} "
            f"dimensions, got {negative!r}"
        )
    kinds = {array_of(what, s).dtype for s in starts if type(s) is not int}
    if len(kinds) > 1 or np.dtype(bool) in kinds:
        listed = ", ".join(sorted(map(str, kinds)))
        raise TypeError(f"{what}: start indices must be integers of one dtype, got {listed}")
    found = [_start(what, s, n, a) for s, n, a in zip(starts, x.shape, allowed, strict=True)]
    widest = max((start.dtype for start in found), key=lambda dtype: dtype.itemsize, default=None)
    return found if widest is None else [convert(start, widest) for start in found]


def _start(what: str, start: Any, size: int, from_end: bool) -> Array:
    if isinstance(start, int):
        if start < 0 and not from_end:
            raise ValueError(
                f"{what}: start index {start} is negative, which allow_negative_indices=False "
                "rules out"
            )
        start += size * (start < 0)
        return place(start, place_dtype(dtypes.default_int(), size))
    start = array_of(what, start)
    if start.ndim or not dtypes.issubdtype(start.dtype, np.integer):
        raise TypeError(f"{what}: a start index must be an integer scalar, got {start.aval}")
    return from_the_end(start, size) if from_end else widened(start, size)


def dynamic_slice(
    operand: ArrayLike,
    start_indices: Sequence[Any] | ArrayLike,
    slice_sizes: Sequence[int],
    *,
    allow_negative_indices: Negative = True,
) -> Array:
    """Return the slice of the operand, of `slice_sizes`, that begins at dynamic positions.

    A negative start counts from the end; one beyond what fits is moved back.

    Args:
        operand: an array.
        start_indices: an integer for each dimension, or a vector of them; may be traced.
        slice_sizes: the result's shape; ints.
        allow_negative_indices: a bool for all dimensions, or one for each. False: the caller
            promises that starts are not negative, and one that is becomes 0.

    Raises:
        TypeError: not one start and size for each dimension, or a size larger than the operand's.

    >>> irax.lax.dynamic_slice(irax.numpy.arange(5), (3,), (2,))
    Array([3, 4], dtype=int32)
    """
    what = "lax.dynamic_slice"
    x = array_of(what, operand)
    sizes = tuple(map(size_of, slice_sizes))
    if len(sizes) != x.ndim or any(not 0 <= s <= n for s, n in zip(sizes, x.shape, strict=True)):
        raise TypeError(
            f"{what}: slice_sizes {sizes} do not fit shape {x.shape}: expected a size for each "
            "dimension, none larger than its size"
        )
    starts = _starts(what, x, start_indices, allow_negative_indices)  # pyright: ignore
    return bind(dynamic_slices.DynamicSlice(sizes), x, *starts, weak_type=x.weak_type)


def dynamic_update_slice(
    operand: ArrayLike,
    update: ArrayLike,
    start_indices: Sequence[Any] | ArrayLike,
    *,
    allow_negative_indices: Negative = True,
) -> Array:
    """Return the operand with the slice that begins at dynamic positions replaced by `update`.

    Starts are those of `dynamic_slice`.

    Args:
        operand: an array.
        update: an array of the same dtype and rank, no larger in any dimension.
        start_indices: an integer for each dimension; they are clamped so that the slice fits.
        allow_negative_indices: True if negative indices count from the end; or one for each
            dimension.

    Raises:
        TypeError: `update` has another dtype or rank, or is larger than the operand.

    >>> irax.lax.dynamic_update_slice(irax.numpy.zeros(4), irax.numpy.ones(2), (1,))
    Array([0., 1., 1., 0.], dtype=float32)
    """
    what = "lax.dynamic_update_slice"
    x, part = as_arrays([operand, update], what)
    check_alike(what, (operand, update))
    part = adapted(part, x.dtype)
    if part.dtype != x.dtype or part.ndim != x.ndim:
        raise TypeError(
            f"{what}: update must have the operand's dtype and number of dimensions, got "
            f"{part.aval} for {x.aval}"
        )
    if any(m > n for m, n in zip(part.shape, x.shape, strict=True)):
        raise TypeError(f"{what}: update of shape {part.shape} is larger than {x.shape}")
    starts = _starts(what, x, start_indices, allow_negative_indices)  # pyright: ignore
    return bind(dynamic_slices.DynamicUpdateSlice(), x, part, *starts, weak_type=x.weak_type)


def _along(x: Array, start: Any, axis: int) -> list[Any]:
    return [start if d == axis else 0 for d in range(x.ndim)]


def dynamic_slice_in_dim(
    operand: ArrayLike,
    start_index: ArrayLike,
    slice_size: int,
    axis: int = 0,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """`dynamic_slice` along one axis.

    Args:
        operand: an array.
        start_index: the first index, which may be computed; it is clamped so that the slice fits.
        slice_size: the size of the slice.
        axis: the axis to slice.
        allow_negative_indices: True if negative indices count from the end.

    Raises:
        TypeError: `operand` is not an array, `start_index` is not an integer of shape (), or the
            slice is longer than the axis.
        ValueError: there is no such axis.

    >>> irax.lax.dynamic_slice_in_dim(jnp.arange(5), 1, 3)
    Array([1, 2, 3], dtype=int32)
    """
    x = array_of("lax.dynamic_slice_in_dim", operand)
    axis = canonical_axis("lax.dynamic_slice_in_dim", axis, x.ndim)
    sizes = (*x.shape[:axis], slice_size, *x.shape[axis + 1 :])
    starts, allowed = _along(x, start_index, axis), allow_negative_indices
    return dynamic_slice(x, starts, sizes, allow_negative_indices=allowed)


def dynamic_update_slice_in_dim(
    operand: ArrayLike,
    update: ArrayLike,
    start_index: ArrayLike,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """`dynamic_update_slice` along one axis.

    Args:
        operand: an array.
        update: an array of the same dtype, whose other dimensions fit.
        start_index: the first index, which may be computed; it is clamped so that the update fits.
        axis: the axis along which it is placed.
        allow_negative_indices: True if negative indices count from the end.

    Raises:
        TypeError: dtypes or shapes that do not fit, or `start_index` is not an integer of shape ().
        ValueError: there is no such axis.

    >>> irax.lax.dynamic_update_slice_in_dim(jnp.zeros(4), jnp.ones(2), 1, 0)
    Array([0., 1., 1., 0.], dtype=float32)
    """
    x = array_of("lax.dynamic_update_slice_in_dim", operand)
    axis = canonical_axis("lax.dynamic_update_slice_in_dim", axis, x.ndim)
    starts, allowed = _along(x, start_index, axis), allow_negative_indices
    return dynamic_update_slice(x, update, starts, allow_negative_indices=allowed)


def dynamic_index_in_dim(
    operand: ArrayLike,
    index: ArrayLike,
    axis: int = 0,
    keepdims: bool = True,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """Return the part at one dynamic index of an axis; without that axis if not `keepdims`.

    Args:
        operand: an array.
        index: the index, which may be computed; it is clamped to the axis.
        axis: the axis to index.
        keepdims: True to keep the axis, with size 1.
        allow_negative_indices: True if negative indices count from the end.

    Raises:
        TypeError: `operand` is not an array, or `index` is not an integer of shape ().
        ValueError: there is no such axis.

    >>> irax.lax.dynamic_index_in_dim(jnp.array([5, 6, 7]), 1, keepdims=False)
    Array(6, dtype=int32)
    """
    allowed = allow_negative_indices
    part = dynamic_slice_in_dim(operand, index, 1, axis, allow_negative_indices=allowed)
    return part if keepdims else _without(part, canonical_axis("lax", axis, part.ndim))


def dynamic_update_index_in_dim(
    operand: ArrayLike,
    update: ArrayLike,
    index: ArrayLike,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """Return the operand with the part at one dynamic index of an axis replaced.

    Args:
        operand: an array.
        update: an array of the same dtype, without the axis, or with size 1 along it.
        index: an integer, which may be traced. It is clamped into the axis.
        axis: the axis, an int.
        allow_negative_indices: True if negative indices count from the end.

    Raises:
        TypeError: dtypes or shapes that do not fit, or `index` is not an integer of shape ().
        OverflowError: a Python integer that the dtype does not hold.
        ValueError: there is no such axis.

    >>> irax.lax.dynamic_update_index_in_dim(jnp.zeros(3), 9.0, 1, 0)
    Array([0., 9., 0.], dtype=float32)
    """
    what = "lax.dynamic_update_index_in_dim"
    x, part = as_arrays([operand, update], what)
    check_ints([update], x.dtype, f"{what}: update")
    axis = canonical_axis(what, axis, x.ndim)
    if part.ndim != x.ndim:
        sizes = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        part = reshape(part, sizes)
    allowed = allow_negative_indices
    return dynamic_update_slice_in_dim(x, part, index, axis, allow_negative_indices=allowed)
