"""Places in a dimension: index arrays in a dtype that holds all that is computed from them.

Indices come in any integer dtype. An int8 cannot hold the size of a dimension of 300, nor the sum
of an index and that size. So what computes with indices calls one of these functions first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from irax import dtypes
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.dispatch import bind
from irax.core.dtypes.promotion import broadcast_to, convert
from irax_compiler.ops import comparison, elementwise
from irax_compiler.ops.core import Op
from irax_compiler.sizes import is_symbolic

_INT32 = np.dtype(np.int32)
_INT64 = np.dtype(np.int64)


def holds(dtype: np.dtype[Any], number: Any) -> bool:
    """Return True if an integer dtype can hold a number. A symbolic one may be as large as an int32
    can be.
    """
    most = np.iinfo(np.int32).max if is_symbolic(number) else number
    return dtypes.iinfo(dtype).max >= most


def place_dtype(dtype: np.dtype[Any], extent: Any) -> np.dtype[Any]:
    """Return the dtype for places in a dimension of size `extent` that are given in `dtype`: int32,
    or int64 where they have 64 bits, or the size needs them.
    """
    return _INT32 if dtype.itemsize < 8 and holds(_INT32, extent) else _INT64


def with_number(op: Op, indices: Array, number: Any) -> Array:
    """Return `op(indices, number)`, in the dtype of the indices. Promotion would make int64 int32,
    where 64-bit numbers are not enabled.
    """
    return bind(op, indices, broadcast_to(place(number, indices.dtype), indices.shape))


def place(number: Any, dtype: np.dtype[Any]) -> Array:
    """Return a place that is known, or symbolic, as a scalar of a dtype."""
    if is_symbolic(number):
        return convert(as_array(number), dtype)
    return ConcreteArray(np.array(number, dtype))


def widened(indices: Array, extent: Any) -> Array:
    """Return indices as signed integers that hold each of them, and their sum with `extent`.

    Unsigned ones that are too large become `extent`, which is as far out of range.
    """
    dtype = place_dtype(indices.dtype, extent)
    if indices.dtype == dtype:
        return indices
    is_unsigned = dtypes.issubdtype(indices.dtype, np.unsignedinteger)
    if is_unsigned and indices.dtype.itemsize >= dtype.itemsize:
        last = extent if is_symbolic(extent) else min(extent, dtypes.iinfo(indices.dtype).max)
        indices = with_number(elementwise.minimum, indices, last)
    return convert(indices, dtype, indices.weak_type)


def from_the_end(indices: Array, extent: Any) -> Array:
    """Return `widened` indices, of which negative ones count from the end."""
    places = widened(indices, extent)
    if dtypes.issubdtype(indices.dtype, np.unsignedinteger):
        return places
    negative = with_number(comparison.less, places, 0)
    counted = with_number(elementwise.add, places, extent)
    return bind(comparison.select, negative, counted, places)


def wrapped(indices: Array, extent: Any) -> Array:
    """Return indices modulo `extent`."""
    is_unsigned = dtypes.issubdtype(indices.dtype, np.unsignedinteger)
    if is_unsigned and holds(indices.dtype, extent):  # before large ones are moved to the end
        return widened(_remainder(indices, extent), extent)
    return from_the_end(_remainder(widened(indices, extent), extent), extent)


def _remainder(indices: Array, extent: Any) -> Array:
    return with_number(elementwise.remainder, indices, extent)


def within(indices: Array, extent: Any) -> Array:
    """Return indices clamped to the range from 0 to the last place."""
    places = with_number(elementwise.maximum, widened(indices, extent), 0)
    return with_number(elementwise.minimum, places, extent - 1)
