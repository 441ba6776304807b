"""Padding of arrays: pad."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax import dtypes, lax
from irax.core.array import Array
from irax.core.dimensions import size_of
from irax.core.dtypes.operands import as_arrays
from irax.core.dtypes.promotion import convert
from irax.core.dtypes.python_ints import fitted
from irax.numpy.aggregates.reductions import max as largest
from irax.numpy.aggregates.reductions import min as smallest
from irax.numpy.aggregates.statistics import mean
from irax.numpy.elementwise.rounding import rint
from irax.numpy.ranges import linspace
from irax.numpy.searching import take
from irax.numpy.ufuncs import add, multiply, subtract
from irax.typing import ArrayLike


def pad(array: ArrayLike, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Array:
    """Pad an array with elements around it.

    Args:
        array: an array.
        pad_width: the number of elements before and after: ((before, after), ...) for each axis,
            (before, after) for all axes, or an int for all sides.
        mode: their values: "constant", "edge" (the outermost element), "reflect" (mirrored at the
            outermost element), "symmetric" (mirrored beyond it), "wrap" (from the other end),
            "linear_ramp" (in even steps to an end value), "maximum", "minimum", "mean" or "median"
            (of the elements next to that side), or "empty" (zeros). A function is given each vector
            with zeros around it, its widths, the axis and `kwargs`, and returns it filled.
        kwargs: for "constant", `constant_values`, and for "linear_ramp", `end_values`: 0 by
            default, of the forms of `pad_width`. For "reflect" and "symmetric", `reflect_type`:
            "even" mirrors, "odd" mirrors differences from the outermost element. For the last four,
            `stat_length`: how many elements, all by default.

    Raises:
        NotImplementedError: another mode.
        ValueError: widths that do not fit the array, or negative ones; arguments of another mode.

    >>> irax.numpy.pad(irax.numpy.arange(3), 1, mode="edge")
    Array([0, 0, 1, 2, 2], dtype=int32)
    """
    (x,) = as_arrays([array], "pad")
    widths = _pairs("pad_width", pad_width, x.ndim)
    widths = [(size_of(low), size_of(high)) for low, high in widths]
    if any(n < 0 for pair in widths for n in pair):
        raise ValueError(f"pad: pad_width must not be negative, got {pad_width!r}")
    if callable(mode):
        return _by_function(x, widths, mode, kwargs)
    if mode not in _MODES:
        known = ", ".join(map(repr, _MODES))
        raise NotImplementedError(f"pad: mode {mode!r} is not supported; expected one of {known}")
    way, known = _MODES[mode]
    unknown = set(kwargs) - {known}
    if unknown:
        raise ValueError(f"pad: mode {mode!r} does not take {', '.join(sorted(unknown))}")
    return way(x, widths, mode, kwargs.get(known or ""))


Widths = list[tuple[int, int]]


def _by_function(
    x: Array, widths: Widths, function: Callable[..., Any], options: dict[str, Any]
) -> Array:
    from irax.numpy.vectorization import apply_along_axis

    x = _with_constants(x, widths, "constant", 0)
    for axis, pair in enumerate(widths):
        x = apply_along_axis(function, axis, x, pair, axis, options)
    return x


def _constants(x: Array, values: Sequence[Any]) -> list[Array]:
    what = "pad: constant_values"
    return as_arrays([fitted(value, x.dtype, what) for value in values], what)


def _with_constants(x: Array, widths: Widths, mode: str, values: Any) -> Array:
    values = 0 if values is None else values
    if np.ndim(values) == 0:
        (value,) = _constants(x, [values])
        padded = lax.pad(x, convert(value, x.dtype), [(*pair, 0) for pair in widths])
        return padded.with_weak_type(True) if x.weak_type else padded
    pairs = [_constants(x, pair) for pair in _pairs("constant_values", values, x.ndim)]
    pairs = [tuple(convert(v, x.dtype) for v in pair) for pair in pairs]
    for axis, ((low, high), (before, after)) in enumerate(zip(widths, pairs, strict=True)):
        none = [(0, 0, 0)] * x.ndim
        weak = x.weak_type
        x = lax.pad(x, before, [*none[:axis], (low, 0, 0), *none[axis + 1 :]])
        x = lax.pad(x, after, [*none[:axis], (0, high, 0), *none[axis + 1 :]])
        x = x.with_weak_type(weak) if weak else x
    return x


# ---- elements of the array -----------------------------------------------------------------------


def _mirrored(places: np.ndarray, n: int) -> np.ndarray:
    period = max(2 * n - 2, 1)
    places = places % period
    return np.where(places < n, places, period - places)


def _mirrored_beyond(places: np.ndarray, n: int) -> np.ndarray:
    places = places % (2 * n)
    return np.where(places < n, places, 2 * n - 1 - places)


_PLACES: dict[str, Any] = {
    "edge": lambda places, n: np.clip(places, 0, n - 1),
    "reflect": _mirrored,
    "symmetric": _mirrored_beyond,
    "wrap": lambda places, n: places % n,
}
"""For each mode, the index in an axis of size n that an index beyond it is filled from."""


def _with_elements(x: Array, widths: Widths, mode: str, kind: str | None) -> Array:
    if kind not in (None, "even", "odd"):
        raise ValueError(f"pad: reflect_type must be 'even' or 'odd', got {kind!r}")
    for axis, (low, high) in enumerate(widths):
        if low or high:
            n = _size(x, axis, mode)
            places = np.arange(-low, n + high)
            mirrored = _extended(x, _PLACES[mode](places, n), low, high, axis)
            x = _oddly(x, mirrored, places, axis, mode) if kind == "odd" else mirrored
    return x


_FEW = 8
"""The most slices that are concatenated; more are gathered."""


def _extended(x: Array, places: np.ndarray, low: int, high: int, axis: int) -> Array:
    """Return the elements at these places along an axis, all but the first and last few of which
    are the array itself.
    """
    before, after = _runs(places[:low]), _runs(places[len(places) - high :])
    if len(before) + len(after) > _FEW:
        return take(x, places, axis)
    left, right = ([_slice(x, run, axis) for run in runs] for runs in (before, after))
    return lax.concatenate([*left, x, *right], axis)


def _runs(places: np.ndarray) -> list[np.ndarray]:
    """Divide places into runs that go up by one, go down by one, or stay."""
    runs: list[list[int]] = []
    for place in places.tolist():
        step = place - runs[-1][-1] if runs else 2
        if abs(step) <= 1 and (len(runs[-1]) == 1 or runs[-1][-1] - runs[-1][-2] == step):
            runs[-1].append(place)
        else:
            runs.append([place])
    return list(map(np.array, runs))


def _slice(x: Array, run: np.ndarray, axis: int) -> Array:
    part = lax.slice_in_dim(x, int(run.min()), int(run.max()) + 1, axis=axis)
    if run[-1] < run[0]:
        return lax.rev(part, (axis,))
    shape = [len(run) if d == axis else n for d, n in enumerate(x.shape)]
    return lax.broadcast_in_dim(part, shape, range(x.ndim))


def _oddly(x: Array, mirrored: Array, places: np.ndarray, axis: int, mode: str) -> Array:
    """Reflect elements through the outermost ones: each period begins where the last one ended."""
    n = x.shape[axis]
    if n == 1:
        return mirrored
    period = 2 * n - 2 if mode == "reflect" else 2 * n
    along = [n if d == axis else 1 for d in range(x.ndim)]
    along[axis] = len(places)
    turned = (places % period >= n).reshape(along)
    first, last = (take(x, np.array([place]), axis) for place in (0, n - 1))
    periods = (places // period).reshape(along)
    drift = multiply(np.asarray(2 * periods).astype(x.dtype), subtract(last, first))
    turn = lax.select(
        lax.broadcast_in_dim(as_arrays([turned], "pad")[0], mirrored.shape, range(x.ndim)),
        subtract(add(last, last), mirrored),
        mirrored,
    )
    return add(turn, drift)


# ---- values computed from those at a side --------------------------------------------------------


def _with_ramps(x: Array, widths: Widths, mode: str, values: Any) -> Array:
    ends = _pairs("end_values", 0 if values is None else values, x.ndim)
    for axis, ((low, high), (before, after)) in enumerate(zip(widths, ends, strict=True)):
        if low or high:
            last = _size(x, axis, mode) - 1
            left = _ramp(before, lax.index_in_dim(x, 0, axis, keepdims=False), low, axis)
            right = _ramp(after, lax.index_in_dim(x, last, axis, keepdims=False), high, axis)
            x = lax.concatenate([left, x, lax.rev(right, (axis,))], axis)
    return x


def _ramp(end: ArrayLike, edge: Array, count: int, axis: int) -> Array:
    """Return `count` steps from an end value almost to the edge, along a new axis."""
    (start,) = as_arrays([end], "pad: end_values")
    start = lax.broadcast(convert(start, edge.dtype), edge.shape)
    return linspace(start, edge, count, False, dtype=edge.dtype, axis=axis)


def _with_statistics(x: Array, widths: Widths, mode: str, length: Any) -> Array:
    lengths = [(None, None)] * x.ndim if length is None else _pairs("stat_length", length, x.ndim)
    for axis, ((low, high), (before, after)) in enumerate(zip(widths, lengths, strict=True)):
        if not (low or high):
            continue
        n = _size(x, axis, mode)
        before, after = (n if k is None else min(int(k), n) for k in (before, after))
        if min(before, after) < 1:
            raise ValueError(f"pad: stat_length must be positive, got {length!r}")
        sides = []
        for start, stop, count in ((0, before, low), (n - after, n, high)):
            number = _statistic(mode, lax.slice_in_dim(x, start, stop, axis=axis), axis)
            sizes = [count if d == axis else size for d, size in enumerate(x.shape)]
            sides.append(lax.broadcast_in_dim(number, sizes, range(x.ndim)))
        x = lax.concatenate([sides[0], x, sides[1]], axis)
    return x


def _statistic(mode: str, x: Array, axis: int) -> Array:
    """Return a statistic in the dtype of the array; means of integers are rounded."""
    from irax.numpy.aggregates.quantiles import median

    folds = {"maximum": largest, "minimum": smallest, "mean": mean, "median": median}
    number = folds[mode](x, axis, keepdims=True)
    if dtypes.issubdtype(x.dtype, np.integer) and mode in ("mean", "median"):
        number = rint(number)
    return convert(number, x.dtype)


def _size(x: Array, axis: int, mode: str) -> int:
    if not x.shape[axis]:
        raise ValueError(f"pad: mode {mode!r} cannot extend the empty axis {axis}")
    return x.shape[axis]


_MODES: dict[str, tuple[Callable[..., Array], str | None]] = {
    "constant": (_with_constants, "constant_values"),
    "empty": (_with_constants, None),
    "edge": (_with_elements, None),
    "reflect": (_with_elements, "reflect_type"),
    "symmetric": (_with_elements, "reflect_type"),
    "wrap": (_with_elements, None),
    "linear_ramp": (_with_ramps, "end_values"),
    **dict.fromkeys(("maximum", "minimum", "mean", "median"), (_with_statistics, "stat_length")),
}
"""For each mode, the function for it, and the argument that it takes."""


def _pairs(what: str, value: Any, rank: int) -> list[tuple[Any, Any]]:
    """Return (before, after) for each axis, from any of the forms that NumPy allows."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, tuple | list):
        return [(value, value)] * rank
    if all(isinstance(v, tuple | list) for v in value):
        pairs = [tuple(v) * 2 if len(v) == 1 else tuple(v) for v in value]
        if len(pairs) == 1:
            pairs = pairs * rank
        if len(pairs) == rank and all(len(pair) == 2 for pair in pairs):
            return pairs
    elif 1 <= len(value) <= 2:
        return [(value[0], value[-1])] * rank
    raise ValueError(
        f"pad: {what}={value!r} does not fit {rank} axes: expected a number, (before, after), or "
        "such a pair for each axis"
    )


def resized(x: Array, axis: int, n: int) -> Array:
    """Return an array truncated, or padded with zeros, along an axis."""
    if x.shape[axis] >= n:
        return x[(*[slice(None)] * axis, slice(0, n))]
    widths = [(0, n - x.shape[d]) if d == axis else (0, 0) for d in range(x.ndim)]
    return pad(x, widths)
