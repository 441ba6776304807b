"""Insertion, deletion and replacement of parts of arrays; all functions return changed copies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from irax import dtypes, errors, lax
from irax.core.array import Array, ConcreteArray
from irax.core.dtypes.operands import as_arrays
from irax.core.dtypes.promotion import broadcast_to, convert
from irax.core.dtypes.python_ints import fitted
from irax.core.places import from_the_end, widened, within, wrapped
from irax.lax.arguments import canonical_axes, canonical_axis, canonical_shape
from irax.numpy.elementwise.division import remainder
from irax.numpy.elementwise.logic import not_equal, where
from irax.numpy.ordering import searchsorted, sort
from irax.numpy.searching import nonzero, take
from irax.numpy.shapes.joining import concatenate
from irax.numpy.shapes.manipulation import moveaxis, ravel, reshape
from irax.numpy.shapes.repetition import tile
from irax.numpy.tables import no_out
from irax.numpy.ufuncs import add, subtract
from irax.typing import ArrayLike


def _known(name: str, what: str, x: Array) -> np.ndarray[Any, Any]:
    why = f"{name} needs {what} to know the shape of its result"
    return x.concrete(why, errors.ConcretizationTypeError)


def _not_in_place(name: str, inplace: bool) -> None:
    if inplace:
        raise ValueError(f"{name}: arrays are immutable: pass inplace=False, and use the result")


# ---- along an axis -------------------------------------------------------------------------------


def _with_values(name: str, x: ArrayLike, values: ArrayLike) -> list[Array]:
    """Return an array, and the values that go into it: a Python integer must fit into its dtype."""
    (array,) = as_arrays([x], name)
    return [array, *as_arrays([fitted(values, array.dtype, name)], name)]


def insert(
    arr: ArrayLike, obj: ArrayLike | slice, values: ArrayLike, axis: int | None = None
) -> Array:
    """Insert values before given indices of an axis.

    Args:
        arr: an array.
        obj: the indices: an int, a vector of ints, or a slice; negative ones count from the end.
        values: the values to insert; broadcast, and converted to the array's dtype.
        axis: the axis; by default the elements are taken as one dimension.

    Raises:
        IndexError: an index out of range.
        ValueError: `obj` has more than one dimension.

    >>> irax.numpy.insert(irax.numpy.array([1, 2, 3]), 1, 9)
    Array([1, 9, 2, 3], dtype=int32)
    """
    x, new = _with_values("insert", arr, values)
    x, along = (ravel(x), 0) if axis is None else (x, canonical_axis("insert", axis, x.ndim))
    new = convert(new, x.dtype)
    n = x.shape[along]
    if isinstance(obj, slice):
        obj = np.arange(n)[obj]
    (places,) = as_arrays([np.asarray(obj) if isinstance(obj, list) else obj], "insert")
    if places.ndim > 1:
        raise ValueError(f"insert: expected places in one dimension, got shape {places.shape}")
    if places.dtype == np.bool:
        places = nonzero(places)[0]
    if not dtypes.issubdtype(places.dtype, np.integer) and places.size:
        raise ValueError(f"insert: places must be integers, got {places.dtype}")
    if isinstance(places, ConcreteArray) and not np.all((-n <= places.value) & (places.value <= n)):
        raise IndexError(f"insert: place {places} is out of range for an axis of size {n}")
    single = not places.ndim
    places = ravel(from_the_end(widened(places, n + max(places.size, new.size)), n))
    if single:  # one place takes all values, which lie along their first axis
        new = moveaxis(_beside(new, x.ndim), 0, along)
        places = broadcast_to(places, (new.shape[along],))
    count = places.size
    shape = (*x.shape[:along], count, *x.shape[along + 1 :])
    new = broadcast_to(new, shape)
    # In the result, place i of those in ascending order has i others before it.
    _, order = lax.sort((places, lax.iota(places.dtype, count)))
    moved = lax.full((count,), 0, places.dtype)
    moved = moved.at[order].set(add(take(places, order), lax.iota(places.dtype, count)))
    is_new = lax.full((n + count,), False, np.bool).at[moved].set(True)
    source = subtract(lax.cumsum(convert(lax.bitwise_not(is_new), places.dtype)), 1)
    result = take(x, source, along, mode="clip") if n else new
    return moveaxis(moveaxis(result, along, 0).at[moved].set(moveaxis(new, along, 0)), 0, along)


def _beside(x: Array, rank: int) -> Array:
    return reshape(x, (1,) * (rank - x.ndim) + x.shape) if x.ndim < rank else x


def delete(
    arr: ArrayLike,
    obj: ArrayLike | slice,
    axis: int | None = None,
    *,
    assume_unique_indices: bool = False,
) -> Array:
    """Delete the parts at given indices of an axis.

    Args:
        arr: an array.
        obj: the indices: an int, an array of ints, a mask, or a slice.
        axis: the axis; by default the elements are taken as one dimension.
        assume_unique_indices: the caller promises that no index occurs twice: they may be traced
            then.

    Raises:
        IndexError: an index out of range.
        ConcretizationTypeError: a traced array of indices, or a traced mask.

    >>> irax.numpy.delete(irax.numpy.array([1, 2, 3]), 1)
    Array([1, 3], dtype=int32)
    """
    (x,) = as_arrays([arr], "delete")
    x, along = (ravel(x), 0) if axis is None else (x, canonical_axis("delete", axis, x.ndim))
    n = x.shape[along]
    if isinstance(obj, slice):
        obj = np.arange(n)[obj]
    if isinstance(obj, int | np.integer):
        if not -n <= obj < n:
            raise IndexError(f"delete: place {obj} is out of range for an axis of size {n}")
        place = int(obj) % n
        parts = (0, place), (place + 1, n)
        return concatenate([lax.slice_in_dim(x, *part, axis=along) for part in parts], along)
    if isinstance(obj, list):
        obj = np.asarray(obj, None if obj else np.int32)
    (places,) = as_arrays([obj], "delete")
    places = ravel(places)
    if not (places.dtype == np.bool or dtypes.issubdtype(places.dtype, np.integer)):
        raise ValueError(f"delete: obj must be integers, booleans or a slice, got {places.dtype}")
    if not places.size:
        return x
    if places.dtype == np.bool or not (assume_unique_indices or places.size == 1):
        known = _known("delete", "the places", places)
        if known.dtype == np.bool and known.shape != (n,):
            raise ValueError(f"delete: a mask for an axis of size {n} has shape {known.shape}")
        kept = np.ones(n, bool)
        kept[known] = False
        return take(x, np.flatnonzero(kept), along)
    places = sort(from_the_end(places, n))
    # As far as i elements stay, those that go and come before move it on.
    shifts = subtract(places, lax.iota(places.dtype, places.size))
    numbers = lax.iota(places.dtype, n - places.size)
    return take(x, add(numbers, searchsorted(shifts, numbers, side="right")), along, mode="clip")


def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> Array:
    """Append `values` to `arr` along an axis; with `axis=None`, both are flattened.

    Args:
        arr: an array.
        values: an array; along `axis` its size may differ from that of `arr`.
        axis: the axis along which they are joined.

    Returns:
        A new array, of the dtype that both promote to.

    Raises:
        TypeError: `arr` or `values` is not an array or a number, or their shapes differ elsewhere.
        ValueError: there is no such axis.

    >>> irax.numpy.append(irax.numpy.array([1, 2]), irax.numpy.array([3]))
    Array([1, 2, 3], dtype=int32)
    """
    return concatenate(_with_values("append", arr, values), axis)


def resize(a: ArrayLike, new_shape: Any) -> Array:
    """Return an array of a new shape, filled with the elements in row-major order, repeated as
    needed.

    Args:
        a: an array.
        new_shape: a tuple of ints, or an int.

    Raises:
        ValueError: a negative size.

    >>> irax.numpy.resize(irax.numpy.array([1, 2, 3]), (2, 2))
    Array([[1, 2],
           [3, 1]], dtype=int32)
    """
    (x,) = as_arrays([a], "resize")
    if any(isinstance(each, int) and each < 0 for each in np.atleast_1d(new_shape).tolist()):
        raise ValueError(f"resize: expected sizes of at least 0, got {new_shape}")
    shape = canonical_shape("resize", new_shape)
    size = math.prod(shape)
    if not x.size or not size:
        return lax.full(shape, 0, x.dtype)
    flat = ravel(x)
    if size > flat.size:
        flat = tile(flat, -(-size // flat.size))
    return lax.reshape(flat[:size], shape)


def trim_zeros(filt: ArrayLike, trim: str = "fb", axis: int | Sequence[int] | None = None) -> Array:
    """Remove zeros at the front and the back of an array.

    Args:
        filt: an array whose elements are known.
        trim: "f" for the front, "b" for the back, "fb" for both.
        axis: the axis or axes; all by default.

    Raises:
        ConcretizationTypeError: a traced array.

    >>> irax.numpy.trim_zeros(irax.numpy.array([0, 0, 3, 0]))
    Array([3], dtype=int32)
    """
    (x,) = as_arrays([filt], "trim_zeros")
    if not trim or not set(trim.lower()) <= {"f", "b"}:
        raise ValueError(f"trim_zeros: trim must be 'f', 'b' or 'fb', got {trim!r}")
    if not x.ndim:
        return x
    places = np.nonzero(_known("trim_zeros", "the elements", x))
    parts = [slice(None)] * x.ndim
    for d in canonical_axes("trim_zeros", axis, x.ndim):
        if not places[d].size:
            parts[d] = slice(0, 0)
            continue
        first = int(places[d].min()) if "f" in trim.lower() else 0
        last = int(places[d].max()) + 1 if "b" in trim.lower() else x.shape[d]
        parts[d] = slice(first, last)
    return x[tuple(parts)]


# ---- chosen elements -----------------------------------------------------------------------------


def extract(
    condition: ArrayLike,
    arr: ArrayLike,
    *,
    size: int | None = None,
    fill_value: ArrayLike = 0,
) -> Array:
    """Return the elements where a condition holds, in row-major order.

    Args:
        condition: an array; elements that are not 0 hold.
        arr: an array of the same size.
        size: the length of the result; with it the condition may be traced.
        fill_value: the value to fill up with.

    Raises:
        TypeError: `condition` or `arr` is not an array.

    >>> irax.numpy.extract(irax.numpy.array([True, False, True]), irax.numpy.array([1, 2, 3]))
    Array([1, 3], dtype=int32)
    """
    return compress(ravel(condition), arr, size=size, fill_value=fill_value)


def compress(
    condition: ArrayLike,
    a: ArrayLike,
    axis: int | None = None,
    *,
    size: int | None = None,
    fill_value: ArrayLike = 0,
    out: None = None,
) -> Array:
    """Return the parts of an array along an axis for which a condition holds.

    Args:
        condition: a vector; elements that are not 0 hold. If it is shorter than the axis, the rest
            is dropped.
        a: an array.
        axis: the axis; by default the elements are taken as one dimension.
        size: the number of parts in the result; with it the condition may be traced.
        fill_value: the value to fill up with.
        out: not supported.

    Raises:
        ValueError: the condition is not a vector, or holds beyond the axis.
        ConcretizationTypeError: a traced condition without `size`.

    >>> irax.numpy.compress(irax.numpy.array([0, 1]), irax.numpy.array([[1, 2], [3, 4]]), axis=0)
    Array([[3, 4]], dtype=int32)
    """
    no_out("compress", out)
    if isinstance(condition, list | tuple):
        condition = np.asarray(condition)
    mask, x = as_arrays([condition, a], "compress")
    if mask.ndim != 1:
        raise ValueError(f"compress: expected a vector as the condition, got shape {mask.shape}")
    x, along = (ravel(x), 0) if axis is None else (x, canonical_axis("compress", axis, x.ndim))
    n = x.shape[along]
    mask = mask if mask.dtype == np.bool else not_equal(mask, 0)
    if mask.size > n:
        beyond = mask[n:]
        if bool(np.any(_known("compress", "the condition", beyond))):
            raise ValueError(f"compress: the condition holds beyond the axis of size {n}")
        mask = mask[:n]
    if size is None:
        return take(
            x, np.flatnonzero(_known("compress", "the condition; give size=...", mask)), along
        )
    if size > n:
        raise ValueError(f"compress: size={size} is larger than the axis, of size {n}")
    places = nonzero(mask, size=size, fill_value=n)[0]
    return take(x, places, along, mode="fill", fill_value=fill_value)


# ---- replaced elements ---------------------------------------------------------------------------


def place(arr: ArrayLike, mask: ArrayLike, vals: ArrayLike, *, inplace: bool = True) -> Array:
    """Replace the elements where a mask holds, in row-major order.

    Args:
        arr: an array.
        mask: an array of the same size; elements that are not 0 hold.
        vals: the new values, repeated as needed.
        inplace: must be False: arrays are immutable.

    Raises:
        TypeError: an argument is not an array.
        ValueError: the mask has another shape, there are no values, or `inplace` is True, the
            default.

    >>> x = irax.numpy.arange(4)
    >>> irax.numpy.place(x, x > 1, irax.numpy.array([7, 8]), inplace=False)
    Array([0, 1, 7, 8], dtype=int32)
    """
    _not_in_place("place", inplace)
    x, new = _with_values("place", arr, vals)
    (condition,) = as_arrays([mask], "place")
    dtypes.judge_dtypes(x, new)
    new = ravel(new)
    if condition.size != x.size:
        raise ValueError(f"place: the mask has shape {condition.shape}; expected {x.shape}")
    if not new.size:
        if not x.size:
            return x
        raise ValueError("place: expected at least one value, got none")
    flat = ravel(condition)
    holds = flat if flat.dtype == np.bool else not_equal(flat, 0)
    number = subtract(lax.cumsum(convert(holds, dtypes.default_int())), 1)
    values = convert(take(new, remainder(number, new.size)), x.dtype, x.weak_type)
    return reshape(where(holds, values, ravel(x)), x.shape)


def put(
    a: ArrayLike, ind: ArrayLike, v: ArrayLike, mode: str | None = None, *, inplace: bool = True
) -> Array:
    """Replace the elements at given indices into the flattened array.

    Args:
        a: an array.
        ind: the indices.
        v: the new values, repeated as needed.
        mode: for indices out of range: "clip": the nearest, which for negative ones is the first;
            by default those count from the end first; "wrap": the index modulo the size.
        inplace: must be False: arrays are immutable.

    Raises:
        TypeError: `a` or `v` is not an array, or `ind` has no integers.
        ValueError: there is no such mode, or `inplace` is True, the default.

    >>> irax.numpy.put(irax.numpy.zeros((2, 2)), irax.numpy.array([0, 3]), 1.0, inplace=False)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    _not_in_place("put", inplace)
    x, new = _with_values("put", a, v)
    (places,) = as_arrays([ind], "put")
    dtypes.judge_dtypes(x, new)
    if not dtypes.issubdtype(places.dtype, np.integer):
        raise TypeError(f"put: ind must be integers, got {places.dtype}")
    places, new = ravel(places), ravel(new)
    if not x.size or not places.size or not new.size:
        return x
    number = lax.iota(dtypes.default_int(), places.size)
    values = convert(take(new, remainder(number, new.size)), x.dtype)
    if mode in (None, "clip"):
        if mode is None:
            places = from_the_end(places, x.size)
        places = within(places, x.size)
    elif mode == "wrap":
        places = wrapped(places, x.size)
    else:
        raise ValueError(f"put: mode must be 'clip' or 'wrap', got {mode!r}")
    return reshape(ravel(x).at[places].set(values), x.shape)


def put_along_axis(
    arr: ArrayLike,
    indices: ArrayLike,
    values: ArrayLike,
    axis: int | None,
    inplace: bool = True,
    *,
    mode: str | None = None,
) -> Array:
    """Replace elements along an axis, at indices that differ for each position of the other axes.

    Args:
        arr: an array.
        indices: indices along the axis, with as many axes as the array.
        values: the new values; broadcast.
        axis: the axis; None: both are taken as one dimension.
        inplace: must be False: arrays are immutable.
        mode: for indices out of range: see `Array.at`.

    Raises:
        TypeError: `arr` or `values` is not an array, or `indices` have no integers.
        ValueError: the shapes do not fit, there is no such axis, or `inplace` is True, the default.

    >>> x = irax.numpy.zeros((2, 2))
    >>> irax.numpy.put_along_axis(x, irax.numpy.array([[0], [1]]), 5.0, axis=1, inplace=False)
    Array([[5., 0.],
           [0., 5.]], dtype=float32)
    """
    _not_in_place("put_along_axis", inplace)
    x, places = as_arrays([arr, indices], "put_along_axis")
    dtypes.judge_dtypes(arr, values)
    if axis is None:
        flat = put_along_axis(ravel(x), ravel(places), values, 0, False, mode=mode)
        return reshape(flat, x.shape)
    if x.ndim != places.ndim:
        raise ValueError(
            "put_along_axis: indices must have as many dimensions as the array, got shapes "
            f"{places.shape} and {x.shape}"
        )
    along = canonical_axis("put_along_axis", axis, x.ndim)
    index = []
    for d, n in enumerate(x.shape):
        sides = [n if e == d else 1 for e in range(x.ndim)]
        number = np.arange(n, dtype=np.int32).reshape(sides)
        index.append(places if d == along else number)
    return x.at[tuple(index)].set(values, mode=mode)


def fill_diagonal(
    a: ArrayLike, val: ArrayLike, wrap: bool = False, *, inplace: bool = True
) -> Array:
    """Replace the elements of the main diagonal.

    Args:
        a: an array of at least two dimensions; of more, all of one size.
        val: the new values, repeated as needed.
        wrap: True if the diagonal of a tall matrix begins anew below its end.
        inplace: must be False: arrays are immutable.

    Raises:
        NotImplementedError: `inplace` is True, the default: arrays are immutable.
        ValueError: `a` has fewer than two dimensions.

    >>> irax.numpy.fill_diagonal(irax.numpy.zeros((2, 2)), 3.0, inplace=False)
    Array([[3., 0.],
           [0., 3.]], dtype=float32)
    """
    if inplace:
        raise NotImplementedError(
            "fill_diagonal: arrays are immutable: pass inplace=False, and use the result"
        )
    (x,) = as_arrays([a], "fill_diagonal")
    if x.ndim < 2:
        raise ValueError(f"fill_diagonal: expected at least 2 dimensions, got shape {x.shape}")
    if x.ndim > 2 and len(set(x.shape)) > 1:
        raise ValueError(f"fill_diagonal: expected axes of one size, got shape {x.shape}")
    if x.ndim == 2:
        step, end = x.shape[1] + 1, None if wrap else x.shape[1] * x.shape[1]
    else:
        step, end = 1 + sum(math.prod(x.shape[d + 1 :]) for d in range(x.ndim - 1)), None
    places = np.arange(x.size)[:end:step]
    return put(x, places, val, inplace=False)
