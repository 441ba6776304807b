"""Functions of `irax.lax` that NumPy does not have, by plain loops over NumPy's arrays: what random
functions compute, by nothing of irax's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def scan(body: Callable[..., Any], carry: Any, rows: Any, length: int) -> tuple[Any, Any]:
    """`rows` is an array or None, and what the body gives for each row a tuple of arrays."""
    stacks: list[Any] = []
    for i in range(length):
        carry, row = body(carry, None if rows is None else rows[i])
        stacks.append(row)
    return carry, tuple(np.stack(parts) for parts in zip(*stacks, strict=True))


def fori_loop(start: int, stop: int, body: Callable[..., Any], carry: Any) -> Any:
    for i in range(start, stop):
        carry = body(np.int32(i), carry)
    return carry


def while_loop(
    goes_on: Callable[..., Any], body: Callable[..., Any], carry: Any, most: int | None
) -> Any:
    while goes_on(carry):
        carry = body(carry)
    return carry


def map_(function: Callable[..., Any], rows: Any) -> Any:
    return tuple(map(np.stack, zip(*(function(row) for row in rows), strict=True)))


def cond(
    predicate: Any, on_true: Callable[..., Any], on_false: Callable[..., Any], *xs: Any
) -> Any:
    return on_true(*xs) if predicate else on_false(*xs)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *xs: Any) -> Any:
    return branches[min(max(int(index), 0), len(branches) - 1)](*xs)


def _starts(starts: Sequence[Any], sizes: Sequence[int], whole: Sequence[int]) -> list[int]:
    """Negative ones count from the end, and all are clamped."""
    clamped = zip(starts, sizes, whole, strict=True)
    return [min(max(int(i) + n * (i < 0), 0), n - size) for i, size, n in clamped]


def dynamic_slice(x: Any, starts: Sequence[Any], sizes: Sequence[int]) -> Any:
    places = zip(_starts(starts, sizes, x.shape), sizes, strict=True)
    return x[tuple(slice(i, i + n) for i, n in places)].copy()


def dynamic_update_slice(x: Any, part: Any, starts: Sequence[Any]) -> Any:
    places = zip(_starts(starts, part.shape, x.shape), part.shape, strict=True)
    result = x.copy()
    result[tuple(slice(i, i + n) for i, n in places)] = part
    return result


def pad(x: Any, value: Any, config: Sequence[tuple[int, int, int]]) -> Any:
    sizes = [
        low + n + max(n - 1, 0) * inner + high
        for n, (low, high, inner) in zip(x.shape, config, strict=True)
    ]
    result = np.full(sizes, value, x.dtype)
    for place in np.ndindex(x.shape):
        to = [low + i * (inner + 1) for i, (low, _, inner) in zip(place, config, strict=True)]
        if all(0 <= i < n for i, n in zip(to, sizes, strict=True)):
            result[tuple(to)] = x[place]
    return result


def windows(
    x: Any,
    extents: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    dilation: Sequence[int],
    filler: Any,
) -> Any:
    """The windows of an array: its dimensions are those of places, then those of windows."""
    x = pad(x, filler, [(low, high, 0) for low, high in padding])
    reach = [(n - 1) * d + 1 for n, d in zip(extents, dilation, strict=True)]
    counts = [(n - r) // s + 1 for n, r, s in zip(x.shape, reach, strides, strict=True)]
    counts = [max(n, 0) for n in counts]
    result = np.zeros((*counts, *extents), x.dtype)
    for place in np.ndindex(*counts):
        begins = [i * s for i, s in zip(place, strides, strict=True)]
        places = zip(begins, reach, dilation, strict=True)
        result[place] = x[tuple(slice(i, i + r, d) for i, r, d in places)]
    return result


def reduce_window(
    x: Any,
    init: Any,
    combiner: np.ufunc,
    extents: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
) -> Any:
    parts = windows(x, extents, strides, padding, [1] * x.ndim, init)
    axes = tuple(range(x.ndim, 2 * x.ndim))
    return combiner.reduce(parts, axes, dtype=x.dtype, initial=init)


def convolution(
    x: Any,
    kernel: Any,
    strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int],
    rhs_dilation: Sequence[int],
    groups: int,
) -> Any:
    """Convolve images (image, channel, *places) with kernels (output, channel, *places)."""
    x = pad(x, x.dtype.type(0), [(0, 0, 0), (0, 0, 0), *((0, 0, d - 1) for d in lhs_dilation)])
    none = [(0, 0)] * 2
    extents = (1, 1, *kernel.shape[2:])
    parts = windows(
        x, extents, (1, 1, *strides), [*none, *padding], (1, 1, *rhs_dilation), x.dtype.type(0)
    )
    counts = parts.shape[2 : x.ndim]
    parts = parts.reshape(*x.shape[:2], *counts, *kernel.shape[2:])
    results = []
    inside, outside = kernel.shape[1], kernel.shape[0] // groups
    for group in range(groups):
        chosen = parts[:, group * inside : (group + 1) * inside]
        factors = kernel[group * outside : (group + 1) * outside]
        places = range(2 + len(counts), chosen.ndim)
        axes = [1, *places], range(1, kernel.ndim)
        found = np.tensordot(chosen.astype(_wide(x)), factors.astype(_wide(x)), axes)
        results.append(np.moveaxis(found, -1, 1))
    return np.concatenate(results, 1).astype(x.dtype)


def _wide(x: Any) -> Any:
    return {"c": np.complex128, "i": np.int64, "u": np.uint64}.get(x.dtype.kind, np.float64)


def updated(x: Any, index: Any, value: Any, how: str) -> Any:
    """`x.at[index].set(value)`, or another update; indices beyond the array are left out."""
    result = x.copy()
    size = x.shape[0]
    combine = {"add": np.add, "max": np.maximum, "min": np.minimum, "multiply": np.multiply}
    for i, row in zip(index, np.broadcast_to(value, (len(index), *x.shape[1:])), strict=True):
        place = int(i) + size if i < 0 else int(i)
        if 0 <= place < size:
            result[place] = row if how == "set" else combine[how](result[place], row)
    return result


def gathered(x: Any, index: Any) -> Any:
    """`x[index]`; indices beyond the array are clamped."""
    size = x.shape[0]
    places = [min(max(int(i) + size if i < 0 else int(i), 0), size - 1) for i in index]
    return x[places]


def indexed(x: Any, places: Any, mode: str, filler: Any) -> Any:
    """`x[places]`, of leading dimensions. What is beyond the array is `filler`, or with the mode
    "clip" the element at its end.
    """
    clamped, is_there = _places(x, places)
    found = x[clamped]
    if mode == "clip":
        return found
    before = sum(isinstance(i, slice) for i in places)
    after = found.ndim - before - is_there.ndim
    mask = is_there.reshape((1,) * before + is_there.shape + (1,) * after)
    return np.where(mask, found, filler).astype(x.dtype)


def _places(x: Any, places: Any) -> tuple[Any, Any]:
    """Places within the array that are nearest to those given, and which of these are there."""
    clamped, is_there = [], np.asarray(True)
    for size, i in zip(x.shape, places, strict=False):
        if isinstance(i, slice):
            clamped.append(i)
            continue
        i = np.where(i.astype(np.int64) < 0, i.astype(np.int64) + size, i.astype(np.int64))
        is_there = is_there & (i >= 0) & (i < size)
        clamped.append(np.clip(i, 0, size - 1))
    return tuple(clamped), is_there


def written(x: Any, places: Any, rows: Any, how: str, mode: str) -> Any:
    """`x.at[places].set(rows)`, or another update, along the one dimension that `places` number."""
    result = x.copy()
    if isinstance(places[-1], slice):
        result[places] = rows
        return result
    (*_, clamped), is_there = _places(x, places)
    axis, result = len(places) - 1, np.moveaxis(result, len(places) - 1, 0)
    combine = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}
    for i, there, row in zip(clamped, is_there, np.moveaxis(rows, axis, 0), strict=True):
        if there or mode == "clip":
            result[i] = row if how == "set" else combine[how](result[i], row)
    return np.moveaxis(result, 0, axis)


def lanes(function: Callable[..., Any], rows: Any) -> Any:
    return map_(function, rows)


def top_k(x: Any, k: int) -> tuple[Any, Any]:
    bits = x.astype(np.float64).view(np.int64)  # in total order, as integers: -0 is below 0
    rising = bits ^ ((bits >> 63) & np.iinfo(np.int64).max)
    order = np.argsort(~rising, -1, kind="stable")[..., :k]
    return np.take_along_axis(x, order, -1), order.astype(np.int32)


def sort(keys: Any, others: Any, axis: int) -> tuple[Any, Any]:
    order = np.argsort(keys, axis, kind="stable")
    return np.take_along_axis(keys, order, axis), np.take_along_axis(others, order, axis)


def order(x: Any, axis: int) -> Any:
    """The order of numbers, nan last; NumPy does not know nan of bfloat16."""
    wide = x.astype(np.float64) if x.dtype.kind == "V" else x
    return np.argsort(wide, axis, kind="stable").astype(np.int32)


def in_order(x: Any, axis: int) -> Any:
    return np.take_along_axis(x, order(x, axis), axis)


def optimization_barrier(x: Any) -> Any:
    return x


def cumulative(x: Any, combiner: np.ufunc, axis: int, reverse: bool) -> Any:
    x = np.flip(x, axis) if reverse else x
    found = combiner.accumulate(x, axis, dtype=x.dtype)
    return np.flip(found, axis) if reverse else found
