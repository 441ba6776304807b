"""Making arrays: from Python's and NumPy's data, and filled with a number."""

from __future__ import annotations

from array import array as python_array
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np

from irax import dtypes, lax
from irax.core import source, transfer_guards
from irax.core.array import Array, ConcreteArray, as_array, aval_of
from irax.core.dtypes.promotion import convert
from irax.core.dtypes.python_ints import check_ints
from irax.core.shardings.sharded import apart_from
from irax.core.tracing import still_open
from irax.execution.shardings.jit_shardings import check_summands, placed_like
from irax.lax.arguments import (
    canonical_shape,
    converting,
    drops_imaginary,
    filling,
    warn_of_imaginary,
)
from irax.lax.structure import is_zero
from irax.numpy.elementwise.logic import not_equal
from irax.numpy.shapes.joining import stack
from irax.numpy.shapes.manipulation import broadcast_to
from irax.numpy.tables import placed, put_there
from irax.typing import ArrayLike, DTypeLike

# ---- from data -----------------------------------------------------------------------------------


def array(
    object: Any,
    dtype: DTypeLike | None = None,
    *,
    copy: bool = True,
    order: str | None = "K",
    ndmin: int = 0,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Create an array from numbers, arrays, or nested lists of these, traced ones included.

    Args:
        object: the data. Anything that NumPy can make an array of will do.
        dtype: the elements' dtype; by default that which the data promotes to.
        copy: False if an array may be returned as it is. A copy stays when the array is donated.
        order: only "K", "A" and "C", which make no difference.
        ndmin: the least number of dimensions; ones are put in front.
        device: the device to put it on, one of `irax.devices()`.
        out_sharding: how the result is divided: a sharding, or a `PartitionSpec`.

    Raises:
        TypeError: data that are not numbers.
        ValueError: lists of different lengths.
        OverflowError: a Python int that the dtype cannot hold.

    >>> irax.numpy.array([[1, 2], [3, 4]], dtype="float32")
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    if object is None:
        raise ValueError("array: expected numbers, got None")
    if isinstance(object, np.ma.MaskedArray):  # as NumPy: what is behind the mask is taken, too
        object = cast("np.ndarray[Any, Any]", object.data)
    if order not in ("K", "A", "C", None):
        raise NotImplementedError(f"array: order={order!r} is not supported, only 'C'")
    dtype = None if dtype is None else dtypes.requested_dtype(dtype, "array")
    if _is_sequence(object) or (dtype is not None and isinstance(object, int | float)):
        result = _from_numbers(object, dtype)
    else:
        result = _from_object(object, dtype)
    if dtype is not None:
        check_parts("array", object, dtype)
        warn_of_imaginary(result.dtype, dtype)
        result = _cast(result, dtype)
    if result.ndim < ndmin:
        result = lax.reshape(result, (1,) * (ndmin - result.ndim) + result.shape)
    if copy:
        result = apart_from(object, result)
    if out_sharding is None:
        return put_there("array", result, device)
    return placed("array", result, device, out_sharding)


def asarray(
    a: Any,
    dtype: DTypeLike | None = None,
    order: str | None = None,
    *,
    copy: bool | None = None,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Convert `a` to an array, as `array(a, dtype)`; an array of irax of that dtype is returned
    itself.

    Args:
        a: an array, a number, or nested lists of numbers.
        dtype: the dtype of the result; by default that of `a`, narrowed to 32 bits without
            `enable_x64`.
        order: None, "K", "A" or "C": the order of the elements, which is row-major.
        copy: True for a new array, None for the same one where it can be. False for the same
            memory: that of an array of irax, or of a row-major one of NumPy's, to which nobody
            may write from then on. Python's numbers and lists have none, and are taken.
        device: the device to put it on.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        ValueError: `copy=False`, where that takes a copy.

    >>> jnp.asarray([[1, 2], [3, 4]], dtype="float32")
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    copies = bool(copy)
    if copy is False and type(a) is np.ndarray and a.flags.c_contiguous:
        a = _shared(a)
    result = array(a, dtype, copy=copies, order=order, device=device, out_sharding=out_sharding)
    has_memory = not isinstance(a, int | float | complex | list | tuple)
    if copy is False and has_memory and not (isinstance(a, Array) and a.dtype == result.dtype):
        raise ValueError(
            f"asarray: an array of dtype {result.dtype} cannot be made of {type(a).__name__} "
            "without a copy: leave copy=False out"
        )
    return result


def _shared(a: np.ndarray[Any, Any]) -> Any:
    """Return an array in the memory of one of NumPy's; that one itself if its dtype is not kept."""
    if not a.dtype.isnative or dtypes.canonicalize_dtype(a.dtype) != a.dtype:
        return a
    view = a.view()
    view.flags.writeable = False
    return ConcreteArray(view)


def copy(a: ArrayLike, order: str | None = None) -> Array:
    """Return a copy of an array.

    Args:
        a: an array, a number, or nested lists of numbers.
        order: None, "K", "A" or "C": the order of the elements, which is row-major.

    Returns:
        A new array of the same shape and dtype.

    Raises:
        TypeError: `a` is not an array or a number.
        NotImplementedError: another order.

    >>> jnp.copy(jnp.arange(3))
    Array([0, 1, 2], dtype=int32)
    """
    return array(a, order=order)


def astype(
    x: ArrayLike, dtype: DTypeLike | None, /, *, copy: bool = False, device: Any = None
) -> Array:
    """Convert the elements to another dtype; None is the default float.

    Args:
        x: an array. Of complex numbers, the real part becomes a float or an integer.
        dtype: a dtype.
        copy: True for memory of its own: the result stays when `x` is donated.
        device: the device to put the result on.

    Raises:
        TypeError: `x` is not an array or a number, or `dtype` is not a dtype.

    >>> irax.numpy.astype(irax.numpy.array([1.5, 0.0]), bool)
    Array([ True, False], dtype=bool)
    """
    wanted = dtypes.requested_dtype(float if dtype is None else dtype, "astype")
    x = converting("astype", x, wanted)
    if drops_imaginary(x.dtype, wanted):
        source.warn(
            f"astype: the imaginary parts of {x.dtype} are dropped, which will be an error in JAX: "
            "take x.real or x.imag first",
            DeprecationWarning,
        )
    result = _cast(x, wanted)
    return put_there("astype", apart_from(x, result) if copy else result, device)


def _is_sequence(x: Any) -> bool:
    if isinstance(x, list | tuple | range):
        return True
    return isinstance(x, Sequence | deque) and not (
        isinstance(x, str | bytes | bytearray | memoryview | python_array)
        or any(hasattr(x, name) for name in ("__array__", "__jax_array__", "__irax_array__"))
    )


def _from_object(x: Any, toward: np.dtype[Any] | None = None) -> Array:
    try:
        return still_open(as_array(x, "array", toward))
    except TypeError:
        elements = _elements_of(x)
        if elements is None:
            raise
    return as_array(elements, "array", toward)


def _elements_of(x: Any) -> np.ndarray[Any, Any] | None:
    """Return another library's array or a buffer as a NumPy array; None if it is neither."""
    if hasattr(x, "__array__") or hasattr(x, "__array_interface__"):
        return np.asarray(x)
    try:
        return None if isinstance(x, bytes) else np.asarray(memoryview(x))
    except TypeError:
        return None


def _cast(x: Array, dtype: np.dtype[Any]) -> Array:
    """Convert as NumPy: a complex number is true where any part is not 0."""
    if dtype == np.bool_ and x.dtype.kind == "c":
        return not_equal(x, 0)
    return convert(x, dtype)


def check_parts(what: str, x: Any, dtype: np.dtype[Any]) -> None:
    """Check that no Python number, alone or in a list, loses its imaginary part.

    Raises:
        TypeError: one does.
    """
    if dtype == np.bool_ or dtypes.issubdtype(dtype, np.complexfloating):
        return
    if type(x) is complex or (
        _is_sequence(x) and any(type(leaf) is complex for leaf in _leaves(x))
    ):
        raise TypeError(
            f"{what}: complex numbers do not fit into {dtype}, got {_short(x)}: take their parts, "
            ".real or .imag, or give a complex dtype"
        )


def _from_numbers(x: Any, dtype: np.dtype[Any] | None) -> Array:
    """Return an array of a Python number, or of lists that may hold anything."""
    transfer_guards.check_operand(x, "array: object")
    leaves = list(_leaves(x))
    if not all(isinstance(leaf, bool | int | float | complex | np.generic) for leaf in leaves):
        return _from_arrays(x, leaves, dtype)
    if dtype is None and leaves:
        dtype = dtypes.result_type(*dict.fromkeys(map(_type_of, leaves)))
    dtype = dtype or dtypes.default_float()
    try:
        # NumPy's own integers and floats are wider than ours: what does not fit can be told, and
        # the conversion to bfloat16 and the like rounds once.
        elements = np.array(x)
        if elements.dtype.kind == "f" and all(isinstance(n, int | np.integer) for n in leaves):
            elements = np.array(x, object)  # of both int64 and uint64, NumPy makes float64
    except ValueError:
        raise ValueError(f"array: the lists have different lengths, got {_short(x)}") from None
    if not elements.size:
        elements = elements.astype(dtype)
    is_integer = dtypes.issubdtype(dtype, np.integer)
    if is_integer and elements.dtype.kind in "iuO" and elements.size:
        info = dtypes.iinfo(dtype)
        if elements.min() < info.min or elements.max() > info.max:
            raise OverflowError(
                f"array: a number in {_short(x)} does not fit into {dtype}: give a dtype that "
                "holds it (64-bit ones need irax.config.update('enable_x64', True))"
            )
    if elements.dtype.kind == "O":
        elements = elements.astype(dtype if is_integer else np.float64)
    return _cast(ConcreteArray(elements), dtype)


def _type_of(leaf: Any) -> Any:
    if isinstance(leaf, np.generic):
        return leaf.dtype
    return next(kind for kind in (bool, int, float, complex) if isinstance(leaf, kind))


def _leaves(x: Any) -> Iterator[Any]:
    if _is_sequence(x):
        for element in x:
            yield from _leaves(element)
    else:
        yield x


def _short(x: Any) -> str:
    text = repr(x)
    return text if len(text) < 80 else text[:77] + "..."


def _from_arrays(x: Any, leaves: list[Any], dtype: np.dtype[Any] | None) -> Array:
    """Return an array of nested lists that hold arrays, which are stacked from the inside out."""
    if any(leaf is None for leaf in leaves):
        raise ValueError(f"array: expected numbers, got None in {_short(x)}")
    kept = dtypes.result_type(*map(_from_object, leaves)) if dtype is None else dtype
    check_ints(leaves, kept, "array")

    def stacked(item: Any) -> Array:
        if not _is_sequence(item):
            return convert(_from_object(item, kept), kept)
        parts = [stacked(part) for part in item]
        if not parts:
            return as_array(np.zeros(0, kept))
        if len({part.shape for part in parts}) > 1:
            listed = ", ".join(str(part.shape) for part in parts)
            raise ValueError(f"array: expected elements of one shape, got shapes {listed}")
        return stack(parts)

    return stacked(x)


# ---- filled --------------------------------------------------------------------------------------


def zeros(
    shape: Any, dtype: DTypeLike | None = None, *, device: Any = None, out_sharding: Any = None
) -> Array:
    """Return an array of zeros, float32 by default.

    Args:
        shape: the shape, or the size of one dimension.
        dtype: the dtype, float32 by default.
        device: the device to put it on.
        out_sharding: the sharding of the result.

    Raises:
        TypeError: `shape` is not a shape, or `dtype` not a dtype.

    >>> irax.numpy.zeros(3)
    Array([0., 0., 0.], dtype=float32)
    """
    return placed("zeros", _filled("zeros", shape, 0, dtype), device, out_sharding)


def ones(
    shape: Any, dtype: DTypeLike | None = None, *, device: Any = None, out_sharding: Any = None
) -> Array:
    """Return an array of ones, float32 by default.

    Args:
        shape: the shape, or the size of one dimension.
        dtype: the dtype, float32 by default.
        device: the device to put it on.
        out_sharding: the sharding of the result.

    Raises:
        TypeError: `shape` is not a shape, or `dtype` not a dtype.

    >>> irax.numpy.ones((1, 2), dtype=int)
    Array([[1, 1]], dtype=int32)
    """
    check_summands("ones: the result", out_sharding)
    return placed("ones", _filled("ones", shape, 1, dtype), device, out_sharding)


def empty(
    shape: Any, dtype: DTypeLike | None = None, *, device: Any = None, out_sharding: Any = None
) -> Array:
    """Return an array of zeros: irax leaves no memory uninitialized.

    Args:
        shape: a tuple of ints, or an int.
        dtype: the dtype, float32 by default.
        device: the device to put it on.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `shape` is not a shape, or `dtype` not a dtype.

    >>> jnp.empty((2, 3)).shape
    (2, 3)
    """
    return placed("empty", _filled("empty", shape, 0, dtype), device, out_sharding)


def _filled(name: str, shape: Any, fill: int, dtype: DTypeLike | None) -> Array:
    transfer_guards.check_creation(name)
    sizes = canonical_shape(name, shape)
    return lax.full(sizes, fill, dtypes.requested_dtype(float if dtype is None else dtype, name))


def full(
    shape: Any,
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Return an array with every element `fill_value`, which may be an array to broadcast.

    Args:
        shape: ints, or one int.
        fill_value: a number, or an array.
        dtype: of the result; that of `fill_value` by default.
        device: the device to put the result on.
        out_sharding: how the result is divided: a sharding, or a `PartitionSpec`.

    Raises:
        TypeError: `shape` is not a shape, `fill_value` not an array or a number, or `dtype` not a
            dtype.
        OverflowError: a Python integer that the dtype does not hold.
        ValueError: `fill_value` does not broadcast to the shape.

    >>> irax.numpy.full((2, 2), irax.numpy.arange(2))
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    wanted = None if dtype is None else dtypes.requested_dtype(dtype, "full")
    number = None if isinstance(wanted, dtypes.KeyType) else wanted
    if type(fill_value) is int and number is not None:
        fill = convert(filling("full", fill_value, number), number)
    else:
        fill = array(fill_value, number)
    sizes = canonical_shape("full", shape)
    result = broadcast_to(fill, sizes) if fill.ndim else lax.full(sizes, fill, wanted)
    check_summands("full: the result", out_sharding, is_zero(fill_value))
    return placed("full", result, device, out_sharding)


def zeros_like(
    a: ArrayLike,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Return zeros in the shape and dtype of `a`.

    Args:
        a: an array, or a number.
        dtype: the dtype; by default that of `a`.
        shape: the shape; by default that of `a`.
        device: the device to put it on.
        out_sharding: the sharding of the result.

    Raises:
        TypeError: `a` is not an array, `shape` not a shape, or `dtype` not a dtype.

    >>> jnp.zeros_like(jnp.arange(3))
    Array([0, 0, 0], dtype=int32)
    """
    return full_like(a, 0, dtype, shape, device=device, out_sharding=out_sharding)


def ones_like(
    a: ArrayLike,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Return ones in the shape and dtype of `a`.

    Args:
        a: an array, or a number.
        dtype: the dtype; by default that of `a`.
        shape: the shape; by default that of `a`.
        device: the device to put it on.
        out_sharding: the sharding of the result.

    Raises:
        TypeError: `a` is not an array, `shape` not a shape, or `dtype` not a dtype.

    >>> jnp.ones_like(jnp.arange(3))
    Array([1, 1, 1], dtype=int32)
    """
    return full_like(a, 1, dtype, shape, device=device, out_sharding=out_sharding)


def empty_like(
    prototype: ArrayLike,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    *,
    device: Any = None,
) -> Array:
    """Return zeros in the shape and dtype of `prototype`.

    Args:
        prototype: an array, or anything with a shape and a dtype.
        dtype: the dtype; by default that of `prototype`.
        shape: the shape; by default that of `prototype`.
        device: the device to put it on.

    Raises:
        TypeError: `prototype` is not an array, `shape` not a shape or `dtype` not a dtype.

    >>> jnp.empty_like(jnp.arange(3)).dtype
    dtype('int32')
    """
    return full_like(prototype, 0, dtype, shape, device=device)


def full_like(
    a: Any,
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Return an array in the shape and dtype of `a` with every element `fill_value`. Outside of
    `jit` it is where `a` was put, divided in the same way.

    Args:
        a: an array, or a `ShapeDtypeStruct`.
        fill_value: a number, or an array to broadcast.
        dtype: of the result, in place of that of `a`.
        shape: of the result, in place of that of `a`.
        device: the device to put the result on.
        out_sharding: how the result is divided: a sharding, or a `PartitionSpec`.

    Raises:
        TypeError: `a` is not an array, `shape` not a shape, or `dtype` not a dtype.
        OverflowError: a Python integer that the dtype does not hold.
        ValueError: `fill_value` does not broadcast to the shape.

    >>> irax.numpy.full_like(irax.numpy.arange(3), 7)
    Array([7, 7, 7], dtype=int32)
    """
    like = aval_of(a, "full_like: a")
    weak = dtype is None and like.weak_type
    wanted = like.dtype if dtype is None else dtypes.requested_dtype(dtype, "full_like")
    number = None if isinstance(wanted, dtypes.KeyType) else wanted
    fill = filling("full_like", fill_value, number)
    sizes = like.shape if shape is None else canonical_shape("full_like", shape)
    check_parts("full_like", fill_value, wanted)
    if isinstance(wanted, dtypes.KeyType) and fill.dtype != wanted:
        result = lax.full(sizes, fill, wanted)
    elif fill.ndim:
        result = convert(broadcast_to(fill, sizes), wanted, weak)
    else:
        result = convert(lax.full(sizes, convert(fill, wanted)), wanted, weak)
    if out_sharding is not None or (like.sums.unreduced and shape is None):
        stated = like.sharding if out_sharding is None else out_sharding
        check_summands("full_like: the result", stated, is_zero(fill_value))
    if device is None and out_sharding is None:
        return placed_like("full_like", result, a)
    return placed("full_like", result, device, out_sharding)
