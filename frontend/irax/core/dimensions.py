"""Symbolic dimensions in traces: sizes that are known by name, and arrays of their values."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from irax import dtypes
from irax.core.array import Array
from irax.core.dispatch import bind
from irax_compiler.ops.core import UnknownSize
from irax_compiler.ops.dimension import Dimension
from irax_compiler.sizes import InconclusiveDimensionOperation, Size, larger, smaller


def size_of(n: Any) -> Any:
    """Return a size: a symbolic one as it is, anything else as an int.

    Raises:
        TypeError: it is no int.
    """
    return n if isinstance(n, Size) else operator.index(n)


def is_zero(n: Any) -> bool:
    """Return True for 0, and False for a symbolic size that may be something else."""
    return not isinstance(n, Size) and n == 0


def max_dim(d1: Any, d2: Any) -> Any:
    """Return the larger one of two dimensions, which may be symbolic.

    >>> irax.core.max_dim(*irax.export.symbolic_shape("a, b"))
    max(a, b)
    """
    return larger(size_of(d1), size_of(d2))


def min_dim(d1: Any, d2: Any) -> Any:
    """Return the smaller one of two dimensions, which may be symbolic.

    >>> irax.core.min_dim(*irax.export.symbolic_shape("a, b"))
    min(a, b)
    """
    return smaller(size_of(d1), size_of(d2))


def as_array(size: Size) -> Array:
    """Return the value of a symbolic dimension, as the function that is traced computes it.

    Raises:
        InconclusiveDimensionOperation: nothing is being traced.
    """
    dtype = dtypes.canonicalize_dtype(np.int64)
    try:
        return bind(Dimension(size, dtype), weak_type=True)
    except UnknownSize:
        raise InconclusiveDimensionOperation(
            f"the symbolic dimension {size} has a value only while a function is traced"
        ) from None


Size.to_array = as_array


def symbolic_indices(item: slice, n: Any) -> tuple[Any, Any, int]:
    """Return the first place, the number of places and the step of a slice of a dimension, where a
    bound or the dimension is symbolic.

    Raises:
        InconclusiveDimensionOperation: it is open if a bound counts from the end.
    """
    step = 1 if item.step is None else operator.index(item.step)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    low, high = (0, n) if step > 0 else (-1, n - 1)
    start, stop = (low, high) if step > 0 else (high, low)
    start = start if item.start is None else _bound(item.start, n, low, high)
    stop = stop if item.stop is None else _bound(item.stop, n, low, high)
    length = -((start - stop) // step) if step > 0 else -((stop - start) // -step)
    return start, larger(length, 0), step


def _bound(bound: Any, n: Any, low: Any, high: Any) -> Any:
    return larger(bound + n, low) if bound < 0 else smaller(bound, high)
