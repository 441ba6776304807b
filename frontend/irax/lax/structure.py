"""Functions that make arrays, and that move elements without computing.

Shapes and dimensions are exact here: only `irax.numpy` takes -1.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from irax import dtypes, tree_util
from irax.core.array import Array, ConcreteArray, aval_of
from irax.core.dimensions import size_of
from irax.core.dispatch import bind, elements, staged
from irax.core.dtypes.operands import as_arrays
from irax.core.dtypes.operands import broadcast_shapes as fitted_shape
from irax.core.dtypes.promotion import convert
from irax.core.dtypes.python_ints import check_ints
from irax.core.key_arrays import KeyArray
from irax.core.shardings.explicit_axes import check_alike
from irax.core.tracing import still_open
from irax.execution.shardings.jit_shardings import (
    check_summands,
    divided_results,
    placed_like,
    takes_out_sharding,
)
from irax.lax.arguments import (
    adapted,
    array_of,
    canonical_axes,
    canonical_axis,
    canonical_int,
    canonical_shape,
    converting,
    filling,
    warn_of_imaginary,
)
from irax.typing import ArrayLike, DTypeLike
from irax_compiler.ops import bitcast, marks, slicing
from irax_compiler.ops import shape as ops
from irax_compiler.ops.core import dtype_of_places
from irax_compiler.sizes import larger

# ---- dtypes --------------------------------------------------------------------------------------


def convert_element_type(operand: ArrayLike, new_dtype: DTypeLike) -> Array:
    """Convert elements by value to another dtype; floats are truncated for an integer dtype.

    Args:
        operand: an array, or a number.
        new_dtype: the dtype of the result, or bool, int, float or complex for a weak one.

    Raises:
        TypeError: `operand` is not an array, or `new_dtype` not a dtype.

    >>> irax.lax.convert_element_type(2.7, "int32")
    Array(2, dtype=int32)
    """
    dtype = dtypes.requested_dtype(new_dtype, "lax.convert_element_type")
    x = converting("lax.convert_element_type", operand, dtype)
    warn_of_imaginary(x.dtype, dtype)
    return convert(x, dtype)


def bitcast_convert_type(operand: ArrayLike, new_dtype: DTypeLike) -> Array:
    """Reinterpret the bits of the elements as another dtype.

    Where it is narrower, a last dimension is added for the parts of an element; where it is wider,
    the last dimension goes, and must have the right size.

    Args:
        operand: an array of numbers or booleans.
        new_dtype: the dtype of the result.

    Raises:
        ValueError: the last dimension does not make up one element.
        TypeError: complex numbers, with another dtype.

    >>> irax.lax.bitcast_convert_type(jnp.float32(1.0), "uint32")
    Array(1065353216, dtype=uint32)
    """
    what = "lax.bitcast_convert_type"
    x = array_of(what, operand)
    dtype = dtypes.requested_dtype(new_dtype, what)
    old, new = dtypes.itemsize_bits(x.dtype), dtypes.itemsize_bits(dtype)
    target = x.shape
    if old > new:
        target = (*x.shape, old // new)
    elif old < new:
        if not x.ndim or x.shape[-1] * old != new:
            raise ValueError(
                f"{what}: {x.aval} to {dtype}: the last dimension must be {new // old}, the number "
                f"of elements of {x.dtype} in one of {dtype}"
            )
        target = x.shape[:-1]
    if x.dtype == dtype:
        return x.with_weak_type(False) if x.weak_type else x
    if "c" in (x.dtype.kind, dtype.kind):
        raise TypeError(f"{what}: complex numbers have no other dtype, got {x.dtype} and {dtype}")
    return bind(bitcast.BitcastConvert(target, dtype), x)


# ---- constants -----------------------------------------------------------------------------------


def full(
    shape: Any, fill_value: ArrayLike, dtype: DTypeLike | None = None, *, sharding: Any = None
) -> Array:
    """Return an array with every element `fill_value`, of its dtype if none is given.

    With a dtype of keys each word of a key is `fill_value`.

    Args:
        shape: the shape of the result.
        fill_value: a number, or an array of shape ().
        dtype: the dtype of the result.
        sharding: the sharding of the result.

    Raises:
        OverflowError: a Python integer that the dtype does not hold.
        TypeError: `shape` is not a shape, `fill_value` not a scalar, or `dtype` not a dtype.

    >>> irax.lax.full((2,), 1.5)
    Array([1.5, 1.5], dtype=float32, weak_type=True)
    """
    if sharding is not None:
        check_summands("lax.full: the result", sharding, is_zero(fill_value))
        return divided_results("lax.full", sharding, full(shape, fill_value, dtype))
    what = "lax.full"
    sizes = canonical_shape(what, shape)
    wanted = None if dtype is None else dtypes.requested_dtype(dtype, what)
    fill = array_of(what, fill_value) if wanted is None else filling(what, fill_value, wanted)
    if fill.ndim:
        raise TypeError(f"{what}: fill_value must be a scalar, got an array of shape {fill.shape}")
    if wanted is not None:
        if isinstance(wanted, dtypes.KeyType) and fill.dtype != wanted:
            return KeyArray(full((*sizes, wanted.words), fill, np.uint32), wanted)
        fill = convert(fill, wanted)
    known = elements(fill)
    if known is not None:
        return ConcreteArray(np.full(sizes, known), fill.weak_type)
    return broadcast(fill, sizes)


def is_zero(fill: Any) -> bool:
    """Return True for a number that is known to be 0."""
    known = elements(fill) if isinstance(fill, Array) else np.asarray(fill)
    return known is not None and not np.any(known)


def full_like(
    x: ArrayLike,
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    sharding: Any = None,
) -> Array:
    """Return an array like `x` with every element `fill_value`. Outside of `jit` it is where `x`
    was put, divided in the same way.

    Args:
        x: an array, a number, or a `ShapeDtypeStruct`.
        fill_value: a number, or an array of shape ().
        dtype: the dtype; by default that of `x`.
        shape: the shape; by default that of `x`.
        sharding: the sharding of the result.

    Raises:
        OverflowError: a Python integer that the dtype does not hold.
        TypeError: `x` is not an array, `fill_value` not a scalar, or `dtype` not a dtype.

    >>> irax.lax.full_like(jnp.arange(3), 7)
    Array([7, 7, 7], dtype=int32)
    """
    like = aval_of(x, "lax.full_like")
    if sharding is not None:
        check_summands("lax.full_like: the result", sharding, is_zero(fill_value))
        found = full_like(x, fill_value, dtype, shape)
        return divided_results("lax.full_like", sharding, found)
    if like.sums.unreduced and shape is None:
        check_summands("lax.full_like: the result", like.sharding, is_zero(fill_value))
    filled = full(like.shape if shape is None else shape, fill_value, dtype or like.dtype)
    if dtype is None and like.weak_type:
        filled = filled.with_weak_type(True)
    return placed_like("lax.full_like", filled, x)


def iota(dtype: DTypeLike, size: int) -> Array:
    """Return 0, 1, ..., size - 1.

    Args:
        dtype: a dtype of numbers.
        size: the number of elements, an int.

    Returns:
        A vector.

    Raises:
        TypeError: `dtype` is not a dtype of numbers, or `size` not an int.

    >>> irax.lax.iota("float32", 3)
    Array([0., 1., 2.], dtype=float32)
    """
    return broadcasted_iota(dtype, (size,), 0)


@takes_out_sharding("lax.broadcasted_iota")
def broadcasted_iota(
    dtype: DTypeLike, shape: Any, dimension: int, *, out_sharding: Any = None
) -> Array:
    """Return 0, 1, ... along one dimension, repeated along the others.

    Args:
        dtype: the dtype of the result.
        shape: the shape of the result.
        dimension: the dimension along which numbers ascend.
        out_sharding: the sharding of the result.

    Raises:
        TypeError: `dtype` is not a dtype of numbers, `shape` not a shape, or `dimension` not an
            int.
        ValueError: there is no such dimension.
        OverflowError: int32 does not hold as many numbers.

    >>> irax.lax.broadcasted_iota("int32", (2, 3), 1)
    Array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """
    what = "lax.broadcasted_iota"
    sizes = canonical_shape(what, shape)
    axis = canonical_axis(what, dimension, len(sizes))
    requested = dtypes.requested_dtype(dtype, what)
    if requested == np.bool_:
        raise TypeError(f"{what}: dtype must be one of numbers, got bool")
    if requested == np.int32 and dtype_of_places(sizes[axis]) != requested:
        raise OverflowError(
            f"{what}: int32 does not hold the places of {sizes[axis]} elements, along axis {axis} "
            f'of shape {sizes}: ask for int64, with irax.config.update("enable_x64", True)'
        )
    return bind(ops.Iota(sizes, requested, axis))


def stop_gradient(x: Any) -> Any:
    """Return a pytree of arrays as it is, but with tangents of zero: no derivative is taken of it.

    Args:
        x: a pytree of arrays.

    >>> irax.grad(lambda x: x * irax.lax.stop_gradient(x))(3.0)
    Array(3., dtype=float32, weak_type=True)
    """
    return tree_util.tree_map(_stop_gradient, x)


def _stop_gradient(x: Any) -> Array:
    x = still_open(array_of("lax.stop_gradient", x))
    if not dtypes.issubdtype(x.dtype, np.inexact):
        return x
    return staged(lambda: x, lambda _: bind(marks.stop_gradient, x, weak_type=x.weak_type), [x])


# ---- shapes --------------------------------------------------------------------------------------


@takes_out_sharding("lax.broadcast")
def broadcast(operand: ArrayLike, sizes: Sequence[int], *, out_sharding: Any = None) -> Array:
    """Repeat the operand along new dimensions of `sizes` in front of its own.

    Args:
        operand: an array, or a number.
        sizes: a sequence of ints.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `operand` is not an array, or `sizes` is not a shape.

    >>> irax.lax.broadcast(jnp.arange(2), (3,)).shape
    (3, 2)
    """
    x = array_of("lax.broadcast", operand)
    sizes = canonical_shape("lax.broadcast", sizes)
    return broadcast_in_dim(x, (*sizes, *x.shape), range(len(sizes), len(sizes) + x.ndim))


@takes_out_sharding("lax.broadcast_in_dim")
def broadcast_in_dim(
    operand: ArrayLike,
    shape: Sequence[int],
    broadcast_dimensions: Sequence[int],
    *,
    out_sharding: Any = None,
) -> Array:
    """Repeat the operand along new dimensions, and along those in which it has size 1.

    Args:
        operand: an array.
        shape: the result's shape.
        broadcast_dimensions: for each dimension of the operand, the one it becomes.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: the operand has other sizes than the result there.

    >>> irax.lax.broadcast_in_dim(irax.numpy.arange(2), (2, 3), (0,))
    Array([[0, 0, 0],
           [1, 1, 1]], dtype=int32)
    """
    what = "lax.broadcast_in_dim"
    x = array_of(what, operand)
    sizes = canonical_shape(what, shape)
    dimensions = tuple(operator.index(d) for d in broadcast_dimensions)
    if len(dimensions) != x.ndim or any(
        not 0 <= d < len(sizes) or n not in (1, sizes[d])
        for n, d in zip(x.shape, dimensions, strict=False)
    ):
        raise TypeError(
            f"{what}: an array of shape {x.shape} cannot become {sizes} with "
            f"broadcast_dimensions={dimensions}: each dimension needs a place, where the result "
            "has its size or it has size 1"
        )
    if len(set(dimensions)) < len(dimensions):
        raise TypeError(f"{what}: broadcast_dimensions must differ, got {dimensions}")
    if sizes == x.shape and dimensions == tuple(range(x.ndim)):
        return x
    return bind(ops.BroadcastInDim(sizes, dimensions), x, weak_type=x.weak_type)


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Return the shape that arrays of these shapes broadcast to together.

    Args:
        shapes: tuples of ints.

    Raises:
        TypeError: a size is no int, or is negative.
        ValueError: the shapes do not fit together.

    >>> irax.lax.broadcast_shapes((3, 1), (2,))
    (3, 2)
    """
    what = "lax.broadcast_shapes"
    return fitted_shape(*(canonical_shape(what, s) for s in shapes), what=what)


@takes_out_sharding("lax.reshape", sums=True)
def reshape(
    operand: ArrayLike,
    new_sizes: Sequence[int],
    dimensions: Sequence[int] | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Reshape an array: the elements, in row-major order, get another shape.

    Args:
        operand: an array.
        new_sizes: the result's shape.
        dimensions: the order in which the operand's dimensions are taken.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `new_sizes` are not sizes.
        ValueError: they make up another number of elements.

    >>> irax.lax.reshape(jnp.arange(4), (2, 2))
    Array([[0, 1],
           [2, 3]], dtype=int32)
    """
    what = "lax.reshape"
    x = array_of(what, operand)
    sizes = canonical_shape(what, new_sizes)
    if dimensions is not None:
        x = transpose(x, dimensions)
    if math.prod(sizes) != x.size:
        raise ValueError(
            f"{what}: cannot reshape an array of shape {x.shape} (size {x.size}) into shape "
            f"{sizes} (size {math.prod(sizes)})"
        )
    return x if sizes == x.shape else bind(ops.Reshape(sizes), x, weak_type=x.weak_type)


def expand_dims(array: ArrayLike, dimensions: Sequence[int]) -> Array:
    """Insert dimensions of size 1 at these positions of the result.

    Args:
        array: an array, or a number.
        dimensions: a sequence of ints.

    Raises:
        TypeError: `array` is not an array, or `dimensions` are not ints.
        ValueError: there is no such position, or it is given twice.

    >>> irax.lax.expand_dims(jnp.arange(3), (0,)).shape
    (1, 3)
    """
    what = "lax.expand_dims"
    x = array_of(what, array)
    rank = x.ndim + len(dimensions)
    places = canonical_axes(what, tuple(dimensions), rank)
    sizes = iter(x.shape)
    return reshape(x, [1 if d in places else next(sizes) for d in range(rank)])


def squeeze(array: ArrayLike, dimensions: Sequence[int]) -> Array:
    """Remove dimensions, which must be of size 1 (else ValueError).

    Args:
        array: an array.
        dimensions: a sequence of ints.

    Raises:
        TypeError: `array` is not an array, or `dimensions` are not ints.
        ValueError: there is no such dimension, or its size is not 1.

    >>> irax.lax.squeeze(jnp.ones((1, 3)), (0,)).shape
    (3,)
    """
    what = "lax.squeeze"
    x = array_of(what, array)
    gone = canonical_axes(what, tuple(dimensions), x.ndim)
    for d in gone:
        if x.shape[d] != 1:
            raise ValueError(
                f"{what}: cannot squeeze dimension {d} of shape {x.shape} out: its size is not 1"
            )
    return reshape(x, [n for d, n in enumerate(x.shape) if d not in gone])


def collapse(operand: ArrayLike, start_dimension: int, stop_dimension: int | None = None) -> Array:
    """Merge the dimensions from start up to stop into one.

    Args:
        operand: an array.
        start_dimension: the first dimension to merge.
        stop_dimension: the one after the last to merge; by default those to the end are merged.

    Raises:
        TypeError: `operand` is not an array, or a dimension is not an int.
        ValueError: there are no dimensions between these two.

    >>> irax.lax.collapse(jnp.ones((2, 3, 4)), 1).shape
    (2, 12)
    """
    x = array_of("lax.collapse", operand)
    start, stop, _ = builtins.slice(start_dimension, stop_dimension).indices(x.ndim)
    if start > stop:
        raise ValueError(
            f"lax.collapse: there are no dimensions from {start_dimension} to {stop_dimension} in "
            f"shape {x.shape}"
        )
    return reshape(x, (*x.shape[:start], math.prod(x.shape[start:stop]), *x.shape[stop:]))


def transpose(operand: ArrayLike, permutation: Sequence[int]) -> Array:
    """Permute dimensions: dimension i of the result is the operand's dimension permutation[i].

    Args:
        operand: an array.
        permutation: for each dimension of the result, the dimension of the operand.

    Raises:
        TypeError: `permutation` does not name each dimension once.

    >>> irax.lax.transpose(jnp.ones((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    x = array_of("lax.transpose", operand)
    order = tuple(operator.index(d) for d in permutation)
    if sorted(order) != list(range(x.ndim)):
        raise TypeError(
            f"lax.transpose: permutation {order} does not name each dimension of shape {x.shape} "
            "once"
        )
    if order == tuple(range(x.ndim)):
        return x
    return bind(ops.Transpose(order), x, weak_type=x.weak_type)


def rev(operand: ArrayLike, dimensions: Sequence[int]) -> Array:
    """Reverse the elements along some dimensions.

    Args:
        operand: an array.
        dimensions: a sequence of ints.

    Raises:
        TypeError: the operand has no such dimension, or one is named twice.

    >>> irax.lax.rev(jnp.arange(3), (0,))
    Array([2, 1, 0], dtype=int32)
    """
    x = array_of("lax.rev", operand)
    try:
        axes = canonical_axes("lax.rev", tuple(dimensions), x.ndim)
    except ValueError as error:
        raise TypeError(str(error)) from None
    return bind(slicing.Reverse(axes), x, weak_type=x.weak_type) if axes else x


def pad(
    operand: ArrayLike, padding_value: ArrayLike, padding_config: Sequence[tuple[int, int, int]]
) -> Array:
    """Pad the operand with a scalar around and between its elements.

    Args:
        operand: an array.
        padding_value: a scalar of its dtype.
        padding_config: for each dimension, the number of scalars before, after, and between each
            two elements; a negative number before or after takes elements away.

    Raises:
        OverflowError: a Python integer that the dtype does not hold.
        TypeError: another dtype, or not a scalar.
        ValueError: not three ints for each dimension.

    >>> irax.lax.pad(irax.numpy.ones(2), 0.0, [(1, 0, 1)])
    Array([0., 1., 0., 1.], dtype=float32)
    """
    what = "lax.pad"
    x, value = as_arrays([operand, padding_value], what)
    check_ints([padding_value], x.dtype, f"{what}: padding_value")
    value = adapted(value, x.dtype)
    if value.dtype != x.dtype or value.ndim:
        kind = ValueError if value.ndim else TypeError
        raise kind(f"{what}: padding_value must be a scalar of dtype {x.dtype}, got {value.aval}")
    config = tuple(tuple(map(size_of, entry)) for entry in padding_config)
    if len(config) != x.ndim or any(len(entry) != 3 or entry[2] < 0 for entry in config):
        raise ValueError(
            f"{what}: padding_config must be (low, high, interior) for each of the {x.ndim} "
            f"dimensions, with interior at least 0, got {padding_config!r}"
        )
    if all(n == 0 for entry in config for n in entry):
        return x
    for n, (low, high, interior) in zip(x.shape, config, strict=True):
        if low + high + n + larger(n - 1, 0) * interior < 0:
            raise ValueError(
                f"{what}: padding_config={padding_config!r} takes more away than an array of shape "
                f"{x.shape} has"
            )
    op = slicing.Pad(*zip(*config, strict=True))
    return bind(op, x, value, weak_type=x.weak_type and value.weak_type)


def concatenate(operands: Sequence[ArrayLike], dimension: int) -> Array:
    """Concatenate operands of one dtype along a dimension.

    Args:
        operands: arrays of one dtype, whose other dimensions are equal.
        dimension: the dimension along which to concatenate.

    Raises:
        TypeError: different dtypes, shapes that differ in another dimension, or no such dimension.
        ValueError: no operands.

    >>> irax.lax.concatenate([jnp.arange(2), jnp.array([5])], 0)
    Array([0, 1, 5], dtype=int32)
    """
    what = "lax.concatenate"
    operands = list(operands)
    arrays = as_arrays(operands, what)
    check_alike(what, operands)
    if not arrays:
        raise ValueError(f"{what}: expected at least one array")
    first = arrays[0]
    if not -first.ndim <= canonical_int(what, "dimension", dimension) < first.ndim:
        raise TypeError(f"{what}: shape {first.shape} has no dimension {dimension}")
    axis = canonical_axis(what, dimension, first.ndim)
    for x in arrays:
        if x.dtype != first.dtype:
            raise TypeError(
                f"{what}: got dtypes {first.dtype} and {x.dtype}; expected one dtype: convert "
                "with lax.convert_element_type, or call irax.numpy.concatenate"
            )
        if x.ndim != first.ndim or any(
            n != m for d, (n, m) in enumerate(zip(x.shape, first.shape, strict=True)) if d != axis
        ):
            raise TypeError(
                f"{what}: shapes {first.shape} and {x.shape} may differ in dimension {axis} only"
            )
    if len(arrays) == 1:
        return first
    weak = all(x.weak_type for x in arrays)
    return bind(slicing.Concatenate(axis), *arrays, weak_type=weak)
