"""Rolling and repetition of arrays: roll, repeat, tile."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from irax import dtypes, errors, lax
from irax.core.array import Array
from irax.core.dimensions import is_zero, size_of
from irax.core.dtypes.operands import as_arrays
from irax.core.places import widened
from irax.core.shardings.explicit_axes import check_whole
from irax.execution.shardings.jit_shardings import takes_out_sharding
from irax.lax.arguments import canonical_axis, canonical_int, canonical_shape, listed_axes
from irax.numpy.elementwise.division import remainder
from irax.numpy.searching import take
from irax.numpy.shapes.manipulation import broadcast_to, expand_dims, ravel, reshape
from irax.numpy.ufuncs import minimum, subtract
from irax.typing import ArrayLike, Axis


def roll(a: ArrayLike, shift: Any, axis: Axis = None) -> Array:
    """Roll the elements along axes by `shift`; elements beyond the end come in at the front.

    Args:
        a: an array.
        shift: an int, traced or not, or one for each of `axis`.
        axis: the axis; by default the array is flattened.

    Raises:
        TypeError: `a` is not an array, or `shift` or `axis` is not an int.
        ValueError: there is no such axis, or there are not as many shifts as axes.

    >>> irax.numpy.roll(irax.numpy.arange(4), 1)
    Array([3, 0, 1, 2], dtype=int32)
    """
    (x,) = as_arrays([a], "roll")
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.shape)
    axes = listed_axes(axis)
    several = isinstance(shift, tuple | list) or np.ndim(shift) == 1
    shifts = tuple(shift) if several else (shift,)
    count = max(len(axes), len(shifts))
    if len(axes) not in (1, count) or len(shifts) not in (1, count):
        raise ValueError(f"roll: shift={shift!r} and axis={axis!r} have different lengths")
    axes, shifts = (v * count if len(v) == 1 else v for v in (axes, shifts))
    for by, along in zip(shifts, axes, strict=True):
        x = _roll(x, by, canonical_axis("roll", along, x.ndim))
    return x


def _roll(x: Array, shift: Any, axis: int) -> Array:
    n = x.shape[axis]
    if n == 0:
        return x
    if isinstance(shift, Array):
        places = subtract(lax.iota(dtypes.default_int(), n), shift)
        return take(x, remainder(places, n), axis)
    cut = -size_of(shift) % n
    parts = [lax.slice_in_dim(x, cut, n, axis=axis), lax.slice_in_dim(x, 0, cut, axis=axis)]
    return x if is_zero(cut) else lax.concatenate(parts, axis)


@takes_out_sharding("repeat")
def repeat(
    a: ArrayLike,
    repeats: Any,
    axis: int | None = None,
    *,
    total_repeat_length: int | None = None,
    out_sharding: Any = None,
) -> Array:
    """Repeat each element, or each part along an axis.

    Args:
        a: an array.
        repeats: the number of repetitions: an int, or one for each part, in an array of any shape.
        axis: the axis; by default the array is flattened.
        total_repeat_length: the size of the result. With it `repeats` may be traced; the result is
            truncated, or filled up with the last part.
        out_sharding: how the result is divided: a sharding, or a `PartitionSpec`.

    Raises:
        TypeError: `repeats` has neither one element nor one for each part.
        ConcretizationTypeError: traced `repeats` without `total_repeat_length`.
        ShardingTypeError: the axis is divided along explicit axes, without `out_sharding`.

    >>> irax.numpy.repeat(irax.numpy.arange(2), 2)
    Array([0, 0, 1, 1], dtype=int32)
    """
    (x,) = as_arrays([a], "repeat")
    x, axis = (ravel(x), 0) if axis is None else (x, canonical_axis("repeat", axis, x.ndim))
    check_whole(x, [axis], "repeat")
    n = x.shape[axis]
    if isinstance(repeats, int | np.integer) and total_repeat_length is None:
        shape = (*x.shape[: axis + 1], int(repeats), *x.shape[axis + 1 :])
        wide = broadcast_to(expand_dims(x, axis + 1), shape)
        return reshape(wide, (*x.shape[:axis], n * int(repeats), *x.shape[axis + 1 :]))
    counts = lax.broadcast_in_dim(*_vector("repeat", repeats, n))
    if total_repeat_length is None:
        why = (
            "repeat needs the counts to know the shape of its result; give total_repeat_length=..."
        )
        numbers = counts.concrete(why, errors.ConcretizationTypeError)
        return take(x, np.repeat(np.arange(n), numbers.astype(np.intp)), axis)
    total = operator.index(total_repeat_length)
    # More than all is as good as all; their sums need not fit into the dtype of the counts.
    counts = minimum(widened(counts, total), total)
    ends = minimum(lax.cumsum(widened(counts, n * total)), total)
    # The part of an element is the number of parts that have ended before it.
    ended = lax.full((total,), 0, dtypes.default_int()).at[ends].add(1, mode="drop")
    part = lax.cumsum(ended)
    return take(x, part, axis, mode="clip")


def _vector(name: str, counts: Any, n: int) -> tuple[Array, tuple[int], tuple[int, ...]]:
    if isinstance(counts, tuple | list):
        counts = np.asarray([operator.index(c) for c in counts])
    (counts,) = as_arrays([counts], name)
    if not (counts.dtype == np.bool or dtypes.issubdtype(counts.dtype, np.integer)):
        raise TypeError(f"{name}: repeats must be integers, got {counts.dtype}")
    if counts.size not in (1, n):
        raise TypeError(f"{name}: expected one count, or {n}, got shape {counts.shape}")
    return ravel(counts), (n,), (0,)


def tile(A: ArrayLike, reps: int | Sequence[int]) -> Array:
    """Repeat an array along its axes: `reps` copies along each.

    Args:
        A: an array.
        reps: an int, or an int for each axis; more of them than axes stand for new leading axes.

    Raises:
        TypeError: `A` is not an array, or `reps` are not ints.

    >>> irax.numpy.tile(irax.numpy.arange(2), (2, 2))
    Array([[0, 1, 0, 1],
           [0, 1, 0, 1]], dtype=int32)
    """
    (x,) = as_arrays([A], "tile")
    given: Any = reps if np.ndim(reps) else (reps,)
    counts = canonical_shape("tile: reps", [canonical_int("tile", "reps", n) for n in given])
    rank = max(x.ndim, len(counts))
    sizes = (1,) * (rank - x.ndim) + x.shape
    counts = (1,) * (rank - len(counts)) + counts
    shape: list[int] = []
    own: list[int] = []
    for count, n in zip(counts, sizes, strict=True):
        shape += [n] if count == 1 else [count, n]
        own.append(len(shape) - 1)
    wide = lax.broadcast_in_dim(lax.reshape(x, sizes), shape, own)
    return lax.reshape(wide, [c * n for c, n in zip(counts, sizes, strict=True)])
