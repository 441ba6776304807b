"""Histograms: counts of elements in intervals."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from irax import dtypes, errors, lax
from irax.core.array import Array
from irax.core.dtypes.operands import as_arrays, inexact_dtype
from irax.core.dtypes.promotion import convert, promote_dtypes
from irax.execution.shardings.jit_shardings import takes_out_sharding
from irax.numpy.aggregates import reductions
from irax.numpy.calculus import diff
from irax.numpy.elementwise.logic import equal, less_equal, logical_and, where
from irax.numpy.ordering import searchsorted
from irax.numpy.ranges import linspace
from irax.numpy.shapes.joining import stack
from irax.numpy.shapes.manipulation import ravel, reshape
from irax.numpy.tables import integers_of_bools
from irax.numpy.ufuncs import add, clip, divide, multiply, subtract
from irax.typing import ArrayLike


@takes_out_sharding("bincount")
def bincount(
    x: ArrayLike,
    weights: ArrayLike | None = None,
    minlength: int = 0,
    *,
    length: int | None = None,
    out_sharding: Any = None,
) -> Array:
    """Count the occurrences of each of the numbers 0, 1, 2, ...

    Args:
        x: a vector of integers or booleans; negative ones count as 0.
        weights: the weight of each; 1 by default.
        minlength: the least length of the result, where `length` is not given.
        length: the length of the result; with it `x` may be traced. Larger numbers are left out.
        out_sharding: how the result is divided: a sharding, or a `PartitionSpec`.

    Raises:
        TypeError: not integers.
        ValueError: not a vector, or weights of another shape.
        ConcretizationTypeError: a traced array without `length`.

    >>> irax.numpy.bincount(irax.numpy.array([1, 3, 1]))
    Array([0, 2, 0, 1], dtype=int32)
    """
    (numbers,) = as_arrays([x], "bincount")
    if not dtypes.issubdtype(numbers.dtype, np.integer) and numbers.dtype != np.bool:
        raise TypeError(f"bincount: expected integers, got {numbers.dtype}")
    if numbers.ndim != 1:
        raise ValueError(f"bincount: expected a vector, got shape {numbers.shape}")
    numbers = clip(integers_of_bools(numbers)[0], 0)
    if length is None:
        why = "bincount needs the largest element to know the shape of its result; give length=..."
        known = numbers.concrete(why, errors.ConcretizationTypeError)
        length = max(operator.index(minlength), int(known.max()) + 1 if known.size else 0)
    else:
        length = operator.index(length)
    if weights is None:
        counted: Any = np.ones((), dtypes.default_int())
    else:
        (counted,) = as_arrays([weights], "bincount")
        if counted.shape != numbers.shape:
            raise ValueError(
                f"bincount: weights have shape {counted.shape}; expected {numbers.shape}"
            )
    zeros = lax.full((length,), 0, counted.dtype)
    if not length:
        return zeros
    return zeros.at[numbers].add(counted, mode="drop", wrap_negative_indices=False)


def digitize(
    x: ArrayLike, bins: ArrayLike, right: bool = False, *, method: str | None = None
) -> Array:
    """Return the number of the interval that each element falls into; 0 is before the first edge.

    Args:
        x: an array.
        bins: the edges, a vector that ascends or descends.
        right: True if an interval includes its upper edge, in place of the lower one.
        method: the method of `searchsorted`.

    Raises:
        TypeError: `x` or `bins` is not an array.
        ValueError: `bins` is not a vector, or there is no such method.

    >>> irax.numpy.digitize(irax.numpy.array([0.5, 2.0, 9.0]), irax.numpy.array([1.0, 2.0]))
    Array([0, 2, 2], dtype=int32)
    """
    values, edges = promote_dtypes(x, bins, what="digitize")
    if edges.ndim != 1:
        raise ValueError(f"digitize: expected a vector of edges, got shape {edges.shape}")
    if not edges.size:
        return lax.full(values.shape, 0, np.int32)
    side, how = "left" if right else "right", method or "scan"
    ascends = less_equal(edges[0], edges[-1])
    edges = where(ascends, edges, lax.rev(edges, (0,)))
    found = searchsorted(edges, values, side=side, method=how)
    return where(ascends, found, lax.sub(lax.full_like(found, edges.size), found))


# ---- edges ---------------------------------------------------------------------------------------


def _edges(name: str, x: Array, bins: Any, range: Any) -> Array:
    """The edges of intervals for the elements of x."""
    if isinstance(bins, str):
        raise NotImplementedError(
            f"{name}: bins={bins!r} is not supported: expected a number of intervals, or a vector "
            "of their edges"
        )
    given = np.asarray(bins) if isinstance(bins, list | tuple) else bins
    (edges,) = as_arrays([given], name)
    dtype = inexact_dtype(x.dtype)
    if edges.ndim == 1:
        return convert(edges, inexact_dtype(dtypes.result_type(dtype, edges)))
    why = f"{name} needs the number of intervals to know the shape of its result"
    if edges.ndim or not dtypes.issubdtype(edges.dtype, np.integer):
        raise TypeError(f"{name}: bins must be an int or a vector of edges, got {edges.aval}")
    count = int(edges.concrete(why, errors.ConcretizationTypeError))
    if count < 1:
        raise ValueError(f"{name}: expected at least one interval, got bins={count}")
    if range is not None:
        ends = list(range) if np.iterable(range) else []
        if len(ends) != 2:
            raise ValueError(f"{name}: range must be a pair of numbers or None, got {range!r}")
        low, high = (convert(v, dtype) for v in as_arrays(ends, name))
    elif x.size:
        low, high = (convert(f(x), dtype) for f in (reductions.min, reductions.max))
    else:
        low, high = (lax.full((), n, dtype) for n in (0, 1))
    flat = equal(low, high)
    low, high = where(flat, subtract(low, 0.5), low), where(flat, add(high, 0.5), high)
    return linspace(low, high, count + 1)


def histogram_bin_edges(
    a: ArrayLike, bins: Any = 10, range: Any = None, weights: ArrayLike | None = None
) -> Array:
    """Return the edges of the intervals of `histogram`.

    Args:
        a: an array.
        bins: the number of intervals, or a vector of their edges, which is the result then.
        range: the first and the last edge; the extrema of `a` by default.
        weights: of no effect.

    Raises:
        NotImplementedError: the name of a rule, such as "auto", for `bins`.

    >>> irax.numpy.histogram_bin_edges(irax.numpy.array([0.0, 4.0]), bins=2)
    Array([0., 2., 4.], dtype=float32)
    """
    (x,) = as_arrays([a], "histogram_bin_edges")
    return _edges("histogram_bin_edges", ravel(x), bins, range)


def _interval(values: Array, edges: Array, ends: tuple[float, float] | None) -> tuple[Array, Array]:
    """Return the interval of each value, and True if there is one. The last has both edges. `ends`
    are those of intervals of equal widths, where they are known.
    """
    inside = logical_and(less_equal(edges[0], values), less_equal(values, edges[-1]))
    if ends is not None and _are_apart(edges, ends):
        place = _guessed(where(inside, values, edges[0]), edges, ends)
    else:
        place = subtract(searchsorted(edges, values, side="right"), 1)
    return where(equal(values, edges[-1]), edges.size - 2, place), inside


def _are_apart(edges: Array, ends: tuple[float, float]) -> bool:
    """True if rounding errors of edges are a small part of an interval of equal widths."""
    low, high = ends
    rounding = float(dtypes.finfo(edges.dtype).eps) * max(abs(low), abs(high))
    return 0 < 16 * rounding * (edges.size - 1) < high - low < math.inf


def _guessed(values: Array, edges: Array, ends: tuple[float, float]) -> Array:
    """Return the interval of each value between the ends: that of what is half an interval before,
    by the width, or the next one, which an edge decides.
    """
    count, (low, high) = edges.size - 1, ends
    guess = subtract(multiply(subtract(values, low), count / (high - low)), 0.5)
    place = clip(convert(guess, np.dtype(np.int32)), 0, count - 1)
    after = edges[1:].at[place].get(mode="promise_in_bounds")
    return add(place, convert(less_equal(after, values), place.dtype))


def _known_ends(bins: Any, range: Any) -> tuple[float, float] | None:
    """Return the ends of a range that is known, of a number of intervals."""
    if np.ndim(bins) or not isinstance(range, list | tuple) or len(range) != 2:
        return None
    if not all(isinstance(x, int | float | np.number) for x in range):
        return None
    return float(range[0]), float(range[1])


def histogram(
    a: ArrayLike,
    bins: Any = 10,
    range: Any = None,
    weights: ArrayLike | None = None,
    density: bool | None = None,
) -> tuple[Array, Array]:
    """Return the histogram of an array: counts of elements in intervals, as floats, and the edges.

    Args:
        a: an array.
        bins: the number of intervals, or a vector of their edges.
        range: the first and the last edge; the extrema of `a` by default.
        weights: the weight of each element; 1 by default.
        density: True to divide by the total and the widths, so that the integral is 1.

    Raises:
        NotImplementedError: the name of a rule, such as "auto", for `bins`.
        ValueError: weights of another shape.

    >>> irax.numpy.histogram(irax.numpy.array([0.0, 1.0, 4.0]), bins=2)
    (Array([2., 1.], dtype=float32), Array([0., 2., 4.], dtype=float32))
    """
    (x,) = as_arrays([a], "histogram")
    dtypes.judge_dtypes(a, weights)
    counts, (edges,) = _counted("histogram", [ravel(x)], [bins], [range], x, weights)
    if density:
        counts = divide(divide(counts, diff(edges)), reductions.sum(counts))
    return counts, edges


def _counted(
    name: str,
    columns: Sequence[Array],
    bins: Sequence[Any],
    ranges: Sequence[Any],
    x: Array,
    weights: ArrayLike | None,
) -> tuple[Array, list[Array]]:
    """The counts of a histogram over several axes, and the edges along each of them."""
    edges = [_edges(name, c, b, r) for c, b, r in zip(columns, bins, ranges, strict=True)]
    if weights is None:
        of_floats = name == "histogram"  # on a grid JAX counts in integers
        dtype = inexact_dtype(columns[0].dtype) if of_floats else dtypes.default_int()
        counted: Any = np.ones((), dtype)
    else:
        (counted,) = as_arrays([weights], name)
        if counted.size != columns[0].size or (name == "histogram" and counted.shape != x.shape):
            expected = x.shape if name == "histogram" else columns[0].shape
            raise ValueError(f"{name}: weights have shape {counted.shape}; expected {expected}")
        counted = ravel(convert(counted, inexact_dtype(counted.dtype)))
    shape = tuple(e.size - 1 for e in edges)
    if min(shape) < 1:
        raise ValueError(f"{name}: expected at least two edges along each axis")
    number: Any = 0
    within: Any = True
    ends = map(_known_ends, bins, ranges)
    for column, along, n, known in zip(columns, edges, shape, ends, strict=True):
        values, limits = promote_dtypes(column, along, what=name)
        place, inside = _interval(values, limits, known)
        number = add(multiply(number, n), place)
        within = logical_and(within, inside)
    size = math.prod(shape)
    number = where(within, number, size)  # what is outside is dropped
    counts = lax.full((size,), 0, counted.dtype).at[number].add(counted, mode="drop")
    return reshape(counts, shape), edges


def histogramdd(
    sample: ArrayLike,
    bins: Any = 10,
    range: Any = None,
    weights: ArrayLike | None = None,
    density: bool | None = None,
) -> tuple[Array, list[Array]]:
    """Return the histogram of points in any number of dimensions: counts (integers) or sums of
    weights in the cells of a grid, and the edges along each axis.

    Args:
        sample: an array with a row for each point.
        bins: the number of intervals along all axes; or a list with a number, or a vector of
            edges, for each axis; or a vector of these numbers, or a matrix of these edges.
        range: the first and the last edge along each axis; None: the extrema.
        weights: the weight of each point; 1 by default.
        density: True to divide by the total and the volumes, so that the integral is 1.

    Raises:
        ValueError: not a matrix; not as many entries in `bins` or `range` as columns.

    >>> points = irax.numpy.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.9]])
    >>> irax.numpy.histogramdd(points, bins=2)[0]
    Array([[1, 0],
           [0, 2]], dtype=int32)
    """
    return _grid("histogramdd", sample, bins, range, weights, density)


def _grid(
    name: str, sample: ArrayLike, bins: Any, range: Any, weights: Any, density: bool | None
) -> tuple[Array, list[Array]]:
    (points,) = as_arrays([sample], name)
    if points.ndim != 2:
        raise ValueError(f"{name}: expected a row for each point, got shape {points.shape}")
    axes = points.shape[1]
    each = list(bins) if isinstance(bins, Sequence) or np.ndim(bins) else [bins] * axes
    ranges = [None] * axes if range is None else list(range)
    if len(each) != axes or len(ranges) != axes:
        raise ValueError(
            f"{name}: the points have {axes} coordinates; expected as many entries of bins and "
            f"range, got {len(each)} and {len(ranges)}"
        )
    columns = [lax.index_in_dim(points, i, 1, keepdims=False) for i in builtins.range(axes)]
    counts, edges = _counted(name, columns, each, ranges, points, weights)
    if density:
        counts = divide(counts, reductions.sum(counts))
        for axis, along in enumerate(edges):
            sides = [-1 if d == axis else 1 for d in builtins.range(axes)]
            counts = divide(counts, reshape(diff(along), sides))
    return counts, edges


def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    bins: Any = 10,
    range: Any = None,
    weights: ArrayLike | None = None,
    density: bool | None = None,
) -> tuple[Array, Array, Array]:
    """Return the histogram of points in the plane: counts (integers) or sums of weights in the
    cells of a grid, and the edges along both axes.

    Args:
        x: the points' first coordinates, a vector.
        y: their second ones.
        bins: the number of intervals along both axes, or a vector of edges for both; or a list
            or a vector of two, such a number or vector for each.
        range: the first and the last edge along each axis; None: the extrema.
        weights: the weight of each point; 1 by default.
        density: True to divide by the total and the volumes, so that the integral is 1.

    Raises:
        ValueError: `x` and `y` are not vectors of one length, or `bins`, `range` or `weights` do
            not fit them.

    >>> x = irax.numpy.array([0.0, 1.0, 1.0])
    >>> irax.numpy.histogram2d(x, x, bins=2)[0]
    Array([[1, 0],
           [0, 2]], dtype=int32)
    """
    first, second = promote_dtypes(x, y, what="histogram2d")
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(
            f"histogram2d: expected two vectors of one length, got shapes {first.shape} and "
            f"{second.shape}"
        )
    if (isinstance(bins, Sequence) or np.ndim(bins)) and len(bins) > 2:
        edges = np.asarray(bins) if isinstance(bins, Sequence) else bins
        bins = [edges, edges]
    points = stack([first, second], 1)
    counts, edges = _grid("histogram2d", points, bins, range, weights, density)
    return counts, edges[0], edges[1]
