"""`x[index]`: slices and reshapes where the index is known, dynamic slices and gathers where not.

An index beyond the end reads the last element, one before the start the first: nothing that runs
compiled can raise an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import EllipsisType, NoneType
from typing import Any

import numpy as np

from irax.config import config
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.dispatch import beside, bind, elements
from irax.core.dtypes.promotion import apply, broadcast_to, convert
from irax.core.dtypes.python_ints import fitted
from irax.core.places import place as place_of
from irax.core.places import place_dtype, with_number
from irax.core.shardings.explicit_axes import check_region
from irax.execution.replay import replayed
from irax.lax.gathering import default_fill
from irax.numpy.indexing.parts import BLOCK, NEW, Dim, Parts, arrays_of, parse
from irax_compiler.ops import bitwise, comparison, shape, slicing
from irax_compiler.ops.indexing import dynamic_slices, gather_scatter
from irax_compiler.ops.reductions.window_shapes import WindowDims
from irax_compiler.sizes import is_symbolic

_BASIC = {int, slice, NoneType, EllipsisType}


def getitem(x: Array, index: Any) -> Array:
    """Return the elements of an array at an index, by NumPy's rules.

    Args:
        x: any array.
        index: ints, slices, `...`, None, arrays of ints or bools, or a tuple of these. Traced
            arrays too, except for masks and in slices, where the result would have no shape.

    Returns:
        An array of the same dtype. An index out of range reads the nearest element.

    Raises:
        IndexError: too many indices; a mask of the wrong shape; a slice or mask that is traced; an
            int out of range, with the option `check_static_indices`.
        TypeError: not an index; a list in place of an array or a tuple.

    >>> irax.numpy.arange(6).reshape(2, 3)[:, -1]
    Array([2, 5], dtype=int32)
    """
    known = elements(x) if type(index) in _BASIC or _are_basic(index) else None
    if known is not None:
        try:
            return ConcreteArray(np.asarray(known[index]), x.aval.weak_type)
        except (IndexError, TypeError):  # to be clamped, or said in words that fit
            pass
    x = beside("x[...]", x, arrays_of(index))
    if _is_of_places(index):
        return _read_at(x, index)
    parts = parse(x.shape, index)
    check_ints(parts)
    return read(x, parts)


def _are_basic(index: Any) -> bool:
    return type(index) is tuple and all(type(i) in _BASIC for i in index)


def _is_of_places(index: Any) -> bool:
    """Return True if an index is an array of integers with elements, or a tuple of those."""
    arrays = index if type(index) is tuple else (index,)
    return all(type(i) is ConcreteArray and i.dtype != np.bool_ for i in arrays)


@replayed
def _read_at(x: Array, index: Any) -> Array:
    return read(x, parse(x.shape, index))


def check_ints(parts: Parts) -> None:
    """Raise IndexError if an int is out of range, with the option `check_static_indices`."""
    if parts.int_outside and config.check_static_indices:
        raise IndexError(parts.int_outside)


# ---- reading -------------------------------------------------------------------------------------


def read(x: Array, parts: Parts) -> Array:
    """Return the elements at an index; an index out of range reads the nearest element."""
    known = elements(x) if parts.known else None
    if known is not None:
        return ConcreteArray(np.asarray(known[tuple(parts.for_numpy)]), x.weak_type)
    x = reshape(x, parts.shape)
    if is_nested(parts):
        outer, parts = nested(parts)
        x = read(x, outer)
    if parts.fancy:
        x = _gather(read_region(x, parts), parts)
    elif parts.indexed():
        x, dims = fold_strides(x, parts)
        starts = start_scalars(dims)
        op = dynamic_slices.DynamicSlice(region_sizes(parts))
        check_region(x, region_sizes(parts), "x[...]", is_new=True)
        x = flip(bind(op, x, *starts, weak_type=x.weak_type), dims)
    else:
        x = flip(slice_region(x, parts.dims), parts.dims)
    return reshape(x, parts.result_shape())


def read_or_fill(x: Array, parts: Parts, fill_value: Any) -> Array:
    """Return the elements at an index, and `fill_value` for indices out of range."""
    found = read(x, parts)
    inside = is_inside(parts)
    if inside is None:
        return found
    fill = broadcast_to(_fill(x.dtype, fill_value), found.shape)
    inside = spread_over_result(inside, parts)
    return bind(comparison.select, inside, found, fill, weak_type=x.weak_type)


def _fill(dtype: np.dtype[Any], fill_value: Any) -> Array:
    if fill_value is None:
        fill = default_fill(dtype)
        return fill if isinstance(fill, Array) else ConcreteArray(np.array(fill).astype(dtype))
    fill = fitted(fill_value, dtype, "get: fill_value")
    return convert(as_array(fill, "get: fill_value", dtype), dtype)


def _gather(x: Array, parts: Parts) -> Array:
    """Gather at the index arrays from `x`, the region that ints and slices select."""
    if 0 in parts.result_shape():
        return empty(parts.result_shape(with_new=False), x)
    dims, indices = window_dims(parts)
    kept = (dim for dim in parts.dims if not dim.taken)
    sizes = tuple(dim.size if dim.indices is None else 1 for dim in kept)
    return bind(
        gather_scatter.Gather(dims, sizes, indices_are_sorted=False),
        x,
        indices,
        weak_type=x.weak_type,
    )


def window_dims(parts: Parts) -> tuple[WindowDims, Array]:
    """Return the dimension numbers by which gather and scatter read the index arrays, once ints and
    slices are resolved, and the index vectors that they take.
    """
    kept = [d for d, dim in enumerate(parts.dims) if not dim.taken]
    indexed = tuple(i for i, d in enumerate(kept) if parts.dims[d].indices is not None)
    arrays = [as_array(parts.dims[kept[i]].indices) for i in indexed]
    rank = len(parts.block)
    if len(arrays) == 1:
        vectors = broadcast_to(arrays[0], parts.block)
    else:
        vectors = _vectors(parts, arrays)
    window, position = [], 0
    for place in parts.layout:
        if place >= 0:
            window.append(position)
        position += rank if place == BLOCK else place != NEW
    return WindowDims(tuple(window), indexed, (), (), indexed, rank), vectors


def _vectors(parts: Parts, arrays: Sequence[Array]) -> Array:
    """Index arrays as one, along a further last dimension."""
    widest = np.dtype(np.int64 if any(x.dtype.itemsize == 8 for x in arrays) else np.int32)
    arrays = [convert(x, widest) for x in arrays]
    if all(isinstance(x, ConcreteArray) for x in arrays):
        values = [x.concrete("an index", TypeError) for x in arrays]
        return as_array(np.stack(np.broadcast_arrays(*values), axis=-1).astype(widest))
    columns = [reshape(broadcast_to(x, parts.block), (*parts.block, 1)) for x in arrays]
    return bind(slicing.Concatenate(len(parts.block)), *columns)


# ---- the region of ints and slices ---------------------------------------------------------------


def read_region(x: Array, parts: Parts) -> Array:
    """Return the region of an array that ints and slices select, without the dimensions of ints."""
    x = flip(slice_region(x, parts.dims), parts.dims)
    return reshape(x, tuple(dim.size for dim in parts.dims if not dim.taken))


def region_sizes(parts: Parts) -> tuple[int, ...]:
    """Return the shape of the region of ints, slices and traced scalars that need no gather."""
    return tuple(
        dim.size if parts.fancy or dim.indices is None or dim.window else 1 for dim in parts.dims
    )


def slice_region(x: Array, dims: Sequence[Dim]) -> Array:
    """Return a slice of an array, of the same rank."""
    if tuple(dim.size for dim in dims) == x.shape:
        return x
    check_region(x, [dim.size for dim in dims], "x[...]", is_new=True)
    starts = tuple(dim.start for dim in dims)
    steps = tuple(dim.step for dim in dims)
    limits = tuple(
        dim.start if dim.size == 0 else dim.start + (dim.size - 1) * dim.step + 1 for dim in dims
    )
    return bind(slicing.Slice(starts, limits, steps), x, weak_type=x.weak_type)


def flip(x: Array, dims: Sequence[Dim]) -> Array:
    """Return an array with the dimensions that are read backwards reversed."""
    flipped = tuple(d for d, dim in enumerate(dims) if dim.flipped)
    return bind(slicing.Reverse(flipped), x, weak_type=x.weak_type) if flipped else x


def reshape(x: Array, target: tuple[int, ...]) -> Array:
    """Return the elements in another shape; `x` itself where it has that shape."""
    return x if x.shape == target else bind(shape.Reshape(target), x, weak_type=x.weak_type)


def empty(target: tuple[int, ...], like: Array) -> Array:
    """An array of no elements."""
    none = bind(shape.Constant(np.zeros(target, like.dtype)), weak_type=like.weak_type)
    return beside("x[...]", none, [like])


def strided(parts: Parts) -> list[Dim]:
    """Return the slices with steps, which no dynamic slice has; other dimensions are whole."""
    return [
        dim if dim.step > 1 else Dim(0, n) for n, dim in zip(parts.shape, parts.dims, strict=True)
    ]


def fold_strides(x: Array, parts: Parts) -> tuple[Array, list[Dim]]:
    """Return the array after its strided slices, and the dynamic slice that remains."""
    x = slice_region(x, strided(parts))
    return x, [replace(dim, start=0, step=1) if dim.step > 1 else dim for dim in parts.dims]


def start_scalars(dims: Sequence[Dim]) -> list[Array]:
    """Return the starts of a dynamic slice, known numbers and traced ones, in one dtype."""
    int32 = np.dtype(np.int32)
    given = [dim.indices.dtype if isinstance(dim.indices, Array) else int32 for dim in dims]
    own = [place_dtype(dtype, dim.start) for dtype, dim in zip(given, dims, strict=True)]
    dtype = max(own, key=lambda dtype: dtype.itemsize, default=int32)
    return [
        place_of(dim.start, dtype) if dim.indices is None else convert(as_array(dim.indices), dtype)
        for dim in dims
    ]


# ---- windows beside other indices ----------------------------------------------------------------


def is_nested(parts: Parts) -> bool:
    """Return True if there are windows with strides or beside index arrays, which no dynamic slice
    and no gather selects together.
    """
    return any(parts.fancy or parts.dims[d].step > 1 for d in parts.windows())


def nested(parts: Parts) -> tuple[Parts, Parts]:
    """Return an index as one of the windows, without strides, and one of the rest within these."""
    outer = Parts(parts.shape, layout=list(range(len(parts.dims))), known=False)
    inner = replace(parts, dims=list(parts.dims))
    for d, (dim, n) in enumerate(zip(parts.dims, parts.shape, strict=True)):
        outer.dims.append(Dim(0, n))
        if dim.window:
            extent = (dim.size - 1) * dim.step + 1 if dim.size else 0
            outer.dims[d] = replace(dim, size=extent, step=1)
            inner.dims[d] = Dim(0, dim.size, dim.step)
    inner.shape = outer.result_shape()
    return outer, inner


# ---- indices out of range ------------------------------------------------------------------------


def is_inside(parts: Parts) -> Array | None:
    """Return True where an index is in range: a bool, or one for each element of the block of index
    arrays; None if all is.
    """
    if parts.int_outside:
        return ConcreteArray(np.array(False))
    if parts.known and not parts.outside:
        return None
    conditions = [
        condition for d in parts.indexed() for condition in _in_range(parts.dims[d], parts.shape[d])
    ]
    if not conditions:
        return None
    inside = conditions[0]
    for condition in conditions[1:]:
        inside = apply(bitwise.and_, inside, condition, what="index")
    return inside


def _in_range(dim: Dim, n: int) -> list[Array]:
    indices, last = as_array(dim.indices), dim.last(n)
    if isinstance(indices, ConcreteArray) and not is_symbolic(last):
        value = indices.value
        inside = (value >= 0) & (value <= last)
        return [] if inside.all() else [ConcreteArray(inside)]
    return [
        with_number(comparison.greater_equal, indices, 0),
        with_number(comparison.less_equal, indices, last),
    ]


def spread_over_result(inside: Array, parts: Parts) -> Array:
    """Broadcast bools of the block of index arrays to the elements of the result."""
    target = parts.result_shape()
    if not inside.ndim:
        return broadcast_to(inside, target)
    before = parts.layout.index(BLOCK)
    inside = broadcast_to(inside, parts.block)
    dimensions = tuple(range(before, before + len(parts.block)))
    return bind(shape.BroadcastInDim(target, dimensions), inside)
