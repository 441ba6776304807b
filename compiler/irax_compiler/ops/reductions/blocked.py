"""Sums in NumPy whose rounding errors stay small, however many elements they have.

NumPy adds neighbours pairwise along the dimension that its inner loop goes through, but what is
along the others one by one: a sum of float32 stops at 2^24 there, and a cumulative sum anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

CHAIN = 256
"""The number of elements that may be added one by one."""
BLOCK = 32
"""The number of elements of a block, which are added one by one, of longer dimensions."""
ROW = 1024
"""The number of elements side by side from which on NumPy's inner loop is fast."""


def is_plain(shape: Sequence[int], dimensions: Sequence[int], dtype: np.dtype) -> bool:
    """True if NumPy's own sum over some dimensions is as good, in whatever order it adds."""
    return dtype.kind not in "fc" or prod(shape[d] for d in dimensions) <= CHAIN


def total(x: np.ndarray, dimensions: Sequence[int], initial: np.generic) -> np.ndarray:
    """The sum over some dimensions, in blocks, and blocks of these."""
    if is_plain(x.shape, dimensions, x.dtype):
        return np.add.reduce(x, tuple(dimensions), x.dtype, initial=initial)
    order = sorted(range(x.ndim), key=lambda d: -abs(x.strides[d]))
    reduced = [i for i, d in enumerate(order) if d in dimensions]
    x = x.transpose(order)
    while (d := _longest(x, reduced)) is not None:
        x = _in_blocks(x, d)
    found = np.add.reduce(x, tuple(reduced), x.dtype, initial=initial)
    kept = [d for d in order if d not in dimensions]
    return found if len(kept) < 2 else found.transpose(np.argsort(kept))


def _longest(x: np.ndarray, reduced: Sequence[int]) -> int | None:
    """Return the longest of the dimensions that NumPy adds one by one; None if all are short."""
    apart = list(reduced)
    if 0 not in x.strides and apart[-1] == x.ndim - 1:
        # NumPy goes through the last dimension pairwise, and takes dimensions for one that are
        # one in memory.
        end = x.strides[-1]
        while apart and apart[-1] == x.ndim - 1 - (len(reduced) - len(apart)):
            if x.strides[apart[-1]] != end:
                break
            end *= x.shape[apart.pop()]
    if x.size == 0 or prod(x.shape[d] for d in apart) <= CHAIN:
        return None
    return max(apart, key=lambda d: x.shape[d])


def _in_blocks(x: np.ndarray, d: int) -> np.ndarray:
    """Add up blocks of elements along a dimension, which becomes shorter; or all of it, if it is
    short.
    """
    n = x.shape[d]
    if n <= CHAIN:
        return np.add.reduce(x, d, keepdims=True)
    before, after = x.shape[:d], x.shape[d + 1 :]
    width = max(1, min(ROW // prod(after), n // BLOCK))
    count = n // (BLOCK * width)
    whole = count * BLOCK * width
    along = (slice(None),) * d
    blocks = x[*along, :whole].reshape(*before, count, BLOCK, width, *after)
    sums = np.add.reduce(blocks, d + 1).reshape(*before, count * width, *after)
    return sums if whole == n else np.concatenate([sums, x[*along, whole:]], d)


def running(x: np.ndarray, axis: int) -> np.ndarray:
    """The cumulative sums along a dimension, in blocks, and blocks of these."""
    n = x.shape[axis]
    if x.dtype.kind not in "fc" or n <= CHAIN:
        return np.add.accumulate(x, axis, x.dtype)  # NumPy would widen integers
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    count, rest = divmod(n, CHAIN)
    along = (slice(None),) * axis
    blocks = x[*along, : n - rest].reshape(*before, count, CHAIN, *after)
    sums = np.empty(x.shape, x.dtype)
    found = sums[*along, : n - rest].reshape(blocks.shape)
    np.add.accumulate(blocks, axis + 1, out=found)
    so_far = np.expand_dims(running(found[*along, :, -1], axis), axis + 1)
    found[*along, 1:] += so_far[*along, :-1]
    if rest:
        last = sums[*along, n - rest :]
        np.add.accumulate(x[*along, n - rest :], axis, out=last)
        last += so_far[*along, -1]
    return sums
