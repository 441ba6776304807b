"""The arrays whose cotangents are what a Ref holds while a backward pass runs.

Cotangents are floating-point: an integer is given as parts of 16 bits, which any addition of zeros
leaves as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from irax import dtypes
from irax.core.array import Array, as_array
from irax.core.avals import ShapedArray
from irax.core.dtypes.promotion import broadcast_to, convert

_BITS, _PART = 16, np.dtype(np.float32)


def avals(aval: ShapedArray) -> list[ShapedArray]:
    """Return the types of the parts for a Ref of a type."""
    if dtypes.issubdtype(aval.dtype, np.inexact):
        return [ShapedArray(aval.shape, aval.dtype)]
    count = max(1, 8 * aval.dtype.itemsize // _BITS)
    return [ShapedArray(aval.shape, _PART) for _ in range(count)]


def zeros(aval: ShapedArray) -> list[Array]:
    """Return parts of zeros."""
    return [broadcast_to(as_array(np.zeros((), a.dtype)), a.shape) for a in avals(aval)]


def of_value(value: Array) -> list[Array]:
    """Return the parts of an array."""
    if dtypes.issubdtype(value.dtype, np.inexact):
        return [value.with_weak_type(False)]
    count = len(avals(value.aval))
    if count == 1:
        return [convert(value, _PART)]
    return [convert(_low(value >> _BITS * k), _PART) for k in range(count)]


def _low(value: Any) -> Array:
    return value & (1 << _BITS) - 1


def value_of(parts: Sequence[Array], dtype: np.dtype[Any]) -> Array:
    """Return the array of some parts."""
    first, *others = (convert(part, dtype) for part in parts)
    for k, part in enumerate(others, 1):
        first = first | part << _BITS * k
    return first
