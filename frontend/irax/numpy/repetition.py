"""Arrays made larger or moved along: roll, repeat, tile, pad."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from irax import dtypes, errors, lax
from irax.array import Array
from irax.elementwise import as_arrays, convert
from irax.lax.arguments import canonical_axis
from irax.numpy.division import remainder
from irax.numpy.manipulation import broadcast_to, expand_dims, ravel, reshape
from irax.numpy.searching import take
from irax.numpy.tables import no_sharding
from irax.numpy.ufuncs import subtract
from irax.typing import ArrayLike, Axis


def roll(a: ArrayLike, shift: Any, axis: Axis = None) -> Array:
    """The elements moved along by `shift` places; what leaves at the end comes in at the front.

    Args:
        a: an array.
        shift: an int, traced or not, or one for each of `axis`.
        axis: along which; by default the elements are taken as one dimension.

    >>> irax.numpy.roll(irax.numpy.arange(4), 1)
    Array([3, 0, 1, 2], dtype=int32)
    """
    (x,) = as_arrays([a], "roll")
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.shape)
    axes = tuple(axis) if isinstance(axis, tuple | list) else (axis,)
    shifts = tuple(shift) if isinstance(shift, tuple | list) else (shift,)
    count = max(len(axes), len(shifts))
    if len(axes) not in (1, count) or len(shifts) not in (1, count):
        raise ValueError(f"roll: shift={shift!r} and axis={axis!r} have different lengths")
    axes, shifts = (v * count if len(v) == 1 else v for v in (axes, shifts))
    for by, along in zip(shifts, axes, strict=True):
        x = _roll(x, by, canonical_axis("roll", along, x.ndim))
    return x


def _roll(x: Array, shift: Any, axis: int) -> Array:
    n = x.shape[axis]
    if not n:
        return x
    if isinstance(shift, Array):
        places = subtract(lax.iota(dtypes.default_int(), n), shift)
        return take(x, remainder(places, n), axis)
    cut = -operator.index(shift) % n
    parts = [lax.slice_in_dim(x, cut, n, axis=axis), lax.slice_in_dim(x, 0, cut, axis=axis)]
    return lax.concatenate(parts, axis) if cut else x


def repeat(
    a: ArrayLike,
    repeats: Any,
    axis: int | None = None,
    *,
    total_repeat_length: int | None = None,
    out_sharding: None = None,
) -> Array:
    """Each element, or each part along an axis, several times in a row.

    Args:
        a: an array.
        repeats: how often: an int, or one for each part.
        axis: along which; by default the elements are taken as one dimension.
        total_repeat_length: how many there are in the end. With it `repeats` may be traced; what
            is too much is left out, what is missing is filled with the last part.
        out_sharding: not supported.

    Raises:
        ConcretizationTypeError: traced `repeats` without `total_repeat_length`.

    >>> irax.numpy.repeat(irax.numpy.arange(2), 2)
    Array([0, 0, 1, 1], dtype=int32)
    """
    no_sharding("repeat", out_sharding)
    (x,) = as_arrays([a], "repeat")
    x, axis = (ravel(x), 0) if axis is None else (x, canonical_axis("repeat", axis, x.ndim))
    n = x.shape[axis]
    if isinstance(repeats, int | np.integer) and total_repeat_length is None:
        shape = (*x.shape[: axis + 1], int(repeats), *x.shape[axis + 1 :])
        wide = broadcast_to(expand_dims(x, axis + 1), shape)
        return reshape(wide, (*x.shape[:axis], n * int(repeats), *x.shape[axis + 1 :]))
    counts = lax.broadcast_in_dim(*_vector("repeat", repeats, n))
    if total_repeat_length is None:
        why = "repeat needs the counts to know the shape of its result"
        numbers = counts.concrete(why, errors.ConcretizationTypeError)
        return take(x, np.repeat(np.arange(n), numbers), axis)
    ends = lax.cumsum(counts)
    places = lax.iota(ends.dtype, operator.index(total_repeat_length))
    # A place belongs to the part that as many parts have ended before.
    before = lax.le(lax.expand_dims(ends, (0,)), lax.expand_dims(places, (1,)))
    part = lax.reduce_sum(convert(before, dtypes.default_int()), (1,))
    return take(x, part, axis, mode="clip")


def _vector(name: str, counts: Any, n: int) -> tuple[Array, tuple[int], tuple[int, ...]]:
    if isinstance(counts, tuple | list):
        counts = np.asarray([operator.index(c) for c in counts])
    (counts,) = as_arrays([counts], name)
    if counts.shape not in ((), (1,), (n,)):
        raise ValueError(f"{name}: expected one count, or {n}, got shape {counts.shape}")
    return counts, (n,), tuple(range(counts.ndim))


def tile(A: ArrayLike, reps: int | Sequence[int]) -> Array:
    """Copies of an array beside each other: as many along each axis as `reps` says.

    >>> irax.numpy.tile(irax.numpy.arange(2), (2, 2))
    Array([[0, 1, 0, 1],
           [0, 1, 0, 1]], dtype=int32)
    """
    (x,) = as_arrays([A], "tile")
    counts = tuple(map(operator.index, reps if isinstance(reps, tuple | list) else (reps,)))  # pyright: ignore[reportArgumentType]
    rank = max(x.ndim, len(counts))
    sizes = (1,) * (rank - x.ndim) + x.shape
    counts = (1,) * (rank - len(counts)) + counts
    pairs = [n for pair in zip(counts, sizes, strict=True) for n in pair]
    wide = lax.broadcast_in_dim(lax.reshape(x, sizes), pairs, range(1, 2 * rank, 2))
    return lax.reshape(wide, [c * n for c, n in zip(counts, sizes, strict=True)])


# ---- pad -----------------------------------------------------------------------------------------


def pad(array: ArrayLike, pad_width: Any, mode: str = "constant", **kwargs: Any) -> Array:
    """The array with further elements around it.

    Args:
        array: an array.
        pad_width: how many to put before and after: ((before, after), ...) for each axis, (before,
            after) for all of them, or an int for all sides.
        mode: what they are: "constant", "edge" (the outermost element), "reflect" (mirrored at the
            outermost element), "symmetric" (mirrored beyond it), "wrap" (from the other end), or
            "empty" (zeros).
        kwargs: for "constant", `constant_values`: 0 by default; of the forms of `pad_width`.

    Raises:
        NotImplementedError: another mode.
        ValueError: widths that do not fit the array, or negative ones.

    >>> irax.numpy.pad(irax.numpy.arange(3), 1, mode="edge")
    Array([0, 0, 1, 2, 2], dtype=int32)
    """
    (x,) = as_arrays([array], "pad")
    widths = _pairs("pad_width", pad_width, x.ndim)
    widths = [(operator.index(low), operator.index(high)) for low, high in widths]
    if any(n < 0 for pair in widths for n in pair):
        raise ValueError(f"pad: pad_width must not be negative, got {pad_width!r}")
    unknown = set(kwargs) - ({"constant_values"} if mode == "constant" else set())
    if unknown:
        raise ValueError(f"pad: mode {mode!r} does not take {', '.join(sorted(unknown))}")
    if mode in ("constant", "empty"):
        return _pad_constant(x, widths, kwargs.get("constant_values", 0))
    if mode not in _PLACES:
        known = ", ".join(map(repr, ("constant", "empty", *_PLACES)))
        raise NotImplementedError(f"pad: mode {mode!r} is not supported; expected one of {known}")
    for axis, (low, high) in enumerate(widths):
        if low or high:
            n = x.shape[axis]
            if not n:
                raise ValueError(f"pad: mode {mode!r} cannot extend the empty axis {axis}")
            x = take(x, _PLACES[mode](np.arange(-low, n + high), n), axis)
    return x


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
"""For each mode, the place in an axis of size n that a place beyond it is filled from."""


def _pad_constant(x: Array, widths: list[tuple[int, int]], values: Any) -> Array:
    pairs = [
        as_arrays(pair, "pad: constant_values")
        for pair in _pairs("constant_values", values, x.ndim)
    ]
    pairs = [tuple(convert(v, x.dtype) for v in pair) for pair in pairs]
    for axis, ((low, high), (before, after)) in enumerate(zip(widths, pairs, strict=True)):
        none = [(0, 0, 0)] * x.ndim
        weak = x.weak_type
        x = lax.pad(x, before, [*none[:axis], (low, 0, 0), *none[axis + 1 :]])
        x = lax.pad(x, after, [*none[:axis], (0, high, 0), *none[axis + 1 :]])
        x = x.with_weak_type(weak) if weak else x
    return x


def _pairs(what: str, value: Any, rank: int) -> list[tuple[Any, Any]]:
    """(before, after) for each axis, from any of the forms that NumPy allows."""
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
