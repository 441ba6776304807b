"""Functions that split, join and repeat arrays, and broadcasts to the shape of others."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from irax import dtypes
from irax.core.array import Array, as_array
from irax.core.dimensions import size_of
from irax.core.dtypes.operands import as_arrays
from irax.core.dtypes.promotion import apply, broadcast_to, convert, promote_dtypes
from irax.core.shardings.explicit_axes import are_in_types, layout_of, type_of
from irax.execution.shardings.jit_shardings import takes_out_sharding
from irax.lax.arguments import array_of, canonical_axis
from irax.lax.gathering import GatherDimensionNumbers, gather
from irax.lax.slicing import slice_in_dim
from irax.lax.structure import (
    broadcast_in_dim,
    concatenate,
    expand_dims,
    full,
    full_like,
    reshape,
    squeeze,
)
from irax.typing import ArrayLike, DTypeLike
from irax_compiler.ops import comparison, elementwise
from irax_compiler.sizes import is_symbolic


def split(operand: ArrayLike, sizes: Sequence[int], axis: int = 0) -> list[Array]:
    """Split an array into parts, one after the other along an axis.

    Args:
        operand: an array.
        sizes: the size of each part.
        axis: along which axis.

    Raises:
        ValueError: sizes that are negative, or do not add up to that of the axis.

    >>> irax.lax.split(irax.numpy.arange(3), (1, 2))
    [Array([0], dtype=int32), Array([1, 2], dtype=int32)]
    """
    what = "lax.split"
    x = array_of(what, operand)
    axis = canonical_axis(what, axis, x.ndim)
    parts = [size_of(n) for n in sizes]
    if any(n < 0 for n in parts) or sum(parts) != x.shape[axis]:
        raise ValueError(
            f"{what}: sizes must be at least 0 and add up to {x.shape[axis]}, the size of axis "
            f"{axis}, got {tuple(sizes)}"
        )
    ends = list(itertools.accumulate(parts))
    return [slice_in_dim(x, end - n, end, axis=axis) for n, end in zip(parts, ends, strict=True)]


def stack(operands: Sequence[ArrayLike], axis: int = 0) -> Array:
    """Stack arrays of one shape and dtype along a new axis.

    Args:
        operands: a sequence of arrays.
        axis: the position of the new axis.

    Raises:
        TypeError: different dtypes.
        ValueError: no arrays, different shapes, or no such axis.

    >>> irax.lax.stack([irax.numpy.zeros(2), irax.numpy.ones(2)], axis=1)
    Array([[0., 1.],
           [0., 1.]], dtype=float32)
    """
    what = "lax.stack"
    arrays = as_arrays(list(operands), what)
    if not arrays:
        raise ValueError(f"{what}: expected at least one array")
    shapes = dict.fromkeys(x.shape for x in arrays)
    if len(shapes) > 1:
        listed = " and ".join(map(str, shapes))
        raise ValueError(f"{what}: got arrays of shapes {listed}; expected one shape")
    axis = canonical_axis(what, axis, arrays[0].ndim + 1)
    return concatenate([expand_dims(x, (axis,)) for x in arrays], axis)


def unstack(x: ArrayLike, axis: int = 0) -> tuple[Array, ...]:
    """Return the parts of an array at each index of an axis, without that axis.

    Args:
        x: an array of at least one dimension.
        axis: the axis, an int.

    Raises:
        ValueError: there is no such axis.

    >>> irax.lax.unstack(irax.numpy.arange(2))
    (Array(0, dtype=int32), Array(1, dtype=int32))
    """
    what = "lax.unstack"
    array = array_of(what, x)
    axis = canonical_axis(what, axis, array.ndim)
    return tuple(squeeze(part, (axis,)) for part in split(array, (1,) * array.shape[axis], axis))


def tile(operand: ArrayLike, reps: Sequence[int]) -> Array:
    """Repeat an array along each of its dimensions.

    Args:
        operand: an array.
        reps: the number of repetitions for each dimension.

    Raises:
        TypeError: not one int for each dimension.
        ValueError: a negative one.

    >>> irax.lax.tile(irax.numpy.arange(2), (2,))
    Array([0, 1, 0, 1], dtype=int32)
    """
    what = "lax.tile"
    x = array_of(what, operand)
    counts = tuple(map(operator.index, reps))
    if len(counts) != x.ndim:
        raise TypeError(
            f"{what}: reps must have an int for each of the {x.ndim} dimensions, got {reps}"
        )
    if any(n < 0 for n in counts):
        raise ValueError(f"{what}: reps must be at least 0, got {reps}")
    # A dimension for the copies before each dimension.
    spread = tuple(n for pair in zip(counts, x.shape, strict=True) for n in pair)
    copies = broadcast_in_dim(x, spread, range(1, 2 * x.ndim, 2))
    return reshape(copies, tuple(n * m for n, m in zip(counts, x.shape, strict=True)))


def broadcast_like(arr: ArrayLike, like_arr: ArrayLike) -> Array:
    """Broadcast an array to the shape of another, by NumPy's rules, divided as that one along
    explicit axes of the mesh of the context.

    Args:
        arr: an array, or a number.
        like_arr: an array with the shape of the result, or a `ShapeDtypeStruct`.

    Raises:
        ValueError: the shapes do not fit, or `arr` is divided in another way.

    >>> irax.lax.broadcast_like(irax.numpy.arange(2), irax.numpy.ones((2, 2)))
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    what = "lax.broadcast_like"
    x, like = array_of(what, arr), type_of(like_arr, what)
    if not are_in_types():
        return broadcast_to(x, like.shape)
    layout = layout_of(like)
    for axes, wanted in zip(reversed(layout_of(type_of(x))), reversed(layout), strict=False):
        if axes and axes != wanted:
            raise ValueError(
                f"{what}: arr of type {type_of(x)} is divided along {axes}, where like_arr of type "
                f"{like} is along {wanted}; move it before by irax.reshard"
            )
    return _broadcast(x, like.shape, out_sharding=like.sharding)


@takes_out_sharding("lax.broadcast_like", sums=True)
def _broadcast(x: Array, shape: tuple[int, ...], *, out_sharding: Any = None) -> Array:
    return broadcast_to(x, shape)


def broadcast_to_rank(x: ArrayLike, rank: int) -> Array:
    """Return an array with dimensions of size 1 in front, so that it has `rank` dimensions.

    Args:
        x: an array, or a number.
        rank: the number of dimensions of the result.

    Raises:
        TypeError: `x` is not an array, or `rank` is not an int.

    >>> irax.lax.broadcast_to_rank(jnp.arange(3), 2).shape
    (1, 3)
    """
    array = array_of("lax.broadcast_to_rank", x)
    return expand_dims(array, range(max(rank - array.ndim, 0)))


@takes_out_sharding("lax.empty")
def empty(shape: int | Sequence[int], dtype: DTypeLike, *, out_sharding: Any = None) -> Array:
    """Return an array with unspecified elements, which are zeros here.

    Args:
        shape: a tuple of ints.
        dtype: the dtype.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `shape` is not a shape, or `dtype` not a dtype.

    >>> irax.lax.empty((2,), "float32").shape
    (2,)
    """
    return full(shape, 0, dtype)


def dtype(x: Any) -> np.dtype[Any]:
    """Return the dtype of an array, or the dtype that a Python number or a dtype has in irax.

    Args:
        x: an array, a number, or a dtype.

    Raises:
        TypeError: this is neither.

    >>> irax.lax.dtype(1.0), irax.lax.dtype(np.int8)
    (dtype('float32'), dtype('int8'))
    """
    return dtypes.dtype_of(x)[0]


def shape_as_value(shape: Sequence[int]) -> Array:
    """Return a shape as an array of ints.

    Args:
        shape: a tuple of ints.

    Raises:
        TypeError: not ints.

    >>> irax.lax.shape_as_value((2, 3))
    Array([2, 3], dtype=int32)
    """
    if any(map(is_symbolic, shape)):
        return stack([as_array(n).astype(dtypes.canonicalize_dtype(int)) for n in shape])
    sizes = np.array([operator.index(n) for n in shape])
    return as_array(sizes.astype(dtypes.canonicalize_dtype(int)), "lax.shape_as_value")


def index_take(src: ArrayLike, idxs: Sequence[ArrayLike], axes: Sequence[int]) -> Array:
    """Take elements at vectors of indices along some axes, and all elements along the others.

    Args:
        src: an array.
        idxs: for each axis a vector of indices; those beyond the axis go round it.
        axes: which axes.

    Returns:
        An array whose first dimension is that of the vectors, and the others the remaining axes.

    Raises:
        TypeError: indices that are not integers.

    >>> irax.lax.index_take(irax.numpy.arange(4).reshape(2, 2), [irax.numpy.array([0, -1])], [1])
    Array([[0, 2],
           [1, 3]], dtype=int32)
    """
    what = "lax.index_take"
    x = array_of(what, src)
    dims = [canonical_axis(what, a, x.ndim) for a in axes]
    columns = [expand_dims(v, (1,)) for v in promote_dtypes(*idxs, what=what)]
    indices = concatenate(columns, 1)
    if not dtypes.issubdtype(indices.dtype, np.integer):
        raise TypeError(f"{what}: idxs must be integers, got {indices.dtype}")
    sizes = convert(shape_as_value([x.shape[d] for d in dims]), indices.dtype)
    size = broadcast_to(sizes, indices.shape)
    around = apply(elementwise.remainder, indices, size, what=what)
    below = apply(comparison.less, around, full_like(around, 0), what=what)
    around = apply(elementwise.add, around, convert(below, size.dtype) * size, what=what)
    numbers = GatherDimensionNumbers(
        tuple(range(1, x.ndim - len(dims) + 1)), tuple(dims), tuple(dims)
    )
    whole = [1 if d in dims else n for d, n in enumerate(x.shape)]
    return gather(x, around, numbers, whole, mode="promise_in_bounds")
