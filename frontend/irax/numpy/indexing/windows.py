"""`ds`: slices of known size that may begin at a traced place."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax import dtypes
from irax.core.array import as_array
from irax.core.tracebacks import api_boundary


@dataclass(frozen=True)
class Slice:
    """A part of an index: `size` elements from `start` on, every `stride`-th."""

    start: Any
    size: int
    stride: int = 1

    @property
    def extent(self) -> int:
        """The number of elements from the first to the last."""
        return (self.size - 1) * self.stride + 1 if self.size else 0


@api_boundary
def ds(start: Any, size: int | None = None, stride: int | None = None) -> Slice | slice:
    """Return a part of an index, `start : start + size * stride : stride`, whose start may be
    traced.

    A part that would reach beyond the end begins earlier, as in `lax.dynamic_slice`. Updates of
    such a part (`x.at[ds(i, 2)].set(v)`) are dropped.

    Args:
        start: an integer, or a scalar array of integers, which may be traced. Negative ones count
            from the end. Without a `size` it is the size, and the start is 0. None is 0, too.
        size: the number of elements; where neither it nor a start is given, all.
        stride: the distance between elements; by default 1.

    Returns:
        An object for indices of arrays, their `at`, and Refs.

    Raises:
        TypeError: `start` is not an integer, or `size` or `stride` is not known while tracing.
        ValueError: `size` is negative, or `stride` is not positive.

    >>> irax.jit(lambda x, i: x[irax.ds(i, 2)])(irax.numpy.arange(10), 4)
    Array([4, 5], dtype=int32)
    """
    if start is None and size is None:
        return slice(None, None, stride)
    if start is None:
        start = 0
    elif size is None:
        start, size = 0, start
    place = as_array(start, "ds: start")
    if place.ndim or not dtypes.issubdtype(place.dtype, np.integer):
        raise TypeError(f"ds: start must be an integer, got {place.aval}")
    count = _known("size", size)
    step = _known("stride", 1 if stride is None else stride)
    if count < 0:
        raise ValueError(f"ds: size must not be negative, got {count}")
    if step < 1:
        raise ValueError(f"ds: stride must be positive, got {step}")
    return Slice(start, count, step)


def _known(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError as error:
        raise TypeError(
            f"ds: {name} must be an int that is known while tracing, got {value!r}"
        ) from error
