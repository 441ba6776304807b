"""The methods of a `ufunc`: by functions of their own, or by applying the ufunc step by step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from irax import dtypes, lax
from irax.core.array import Array, ConcreteArray
from irax.core.dtypes.operands import as_arrays
from irax.core.dtypes.promotion import broadcast_to, convert
from irax.core.dtypes.python_ints import check_ints, fitted
from irax.core.places import widened
from irax.lax.arguments import canonical_axes, canonical_axis
from irax.lax.reductions import fold
from irax.numpy import ufuncs
from irax.numpy.aggregates import reductions
from irax.numpy.elementwise import logic
from irax.numpy.elementwise.logic import greater_equal, less, logical_and, where
from irax.numpy.searching import take
from irax.numpy.shapes.manipulation import moveaxis, ravel, reshape
from irax.numpy.ufunc_objects import method_of_ufuncs, ufunc
from irax.typing import ArrayLike, DTypeLike
from irax_compiler.ops.reductions import reduce as reduction

_REDUCTIONS: dict[ufunc, Callable[..., Array]] = {
    ufuncs.add: reductions.sum,
    ufuncs.multiply: reductions.prod,
    ufuncs.maximum: reductions.max,
    ufuncs.minimum: reductions.min,
}
_FOLDS: dict[ufunc, str] = {
    logic.bitwise_and: "and",
    logic.bitwise_or: "or",
    logic.bitwise_xor: "xor",
    logic.logical_and: "and",
    logic.logical_or: "or",
}
_STEPS: dict[ufunc, Callable[..., Array]] = {
    ufuncs.add: reductions.cumsum,
    ufuncs.multiply: reductions.cumprod,
}
_EXTREMA: dict[ufunc, Callable[..., Array]] = {
    ufuncs.maximum: lax.cummax,
    ufuncs.minimum: lax.cummin,
}
_AT: dict[ufunc, str] = {
    ufuncs.add: "add",
    ufuncs.subtract: "subtract",
    ufuncs.multiply: "multiply",
    ufuncs.maximum: "max",
    ufuncs.minimum: "min",
}


def _operand(f: ufunc, method: str, a: ArrayLike, dtype: DTypeLike | None) -> Array:
    (x,) = as_arrays([a], f"{f.__name__}.{method}")
    return x if dtype is None else convert(x, dtypes.requested_dtype(dtype, f.__name__))


@method_of_ufuncs
def reduce(
    f: ufunc,
    a: ArrayLike,
    axis: Any,
    dtype: DTypeLike | None,
    keepdims: bool,
    initial: ArrayLike | None,
    where: ArrayLike | None,
) -> Array:
    """`ufunc.reduce`."""
    name = f.__name__
    options: dict[str, Any] = {"keepdims": keepdims, "initial": initial, "where": where}
    if f in _REDUCTIONS:
        if f in _STEPS:
            return _REDUCTIONS[f](a, axis, dtype, **options)
        return _REDUCTIONS[f](_operand(f, "reduce", a, dtype), axis, **options)
    x = _operand(f, "reduce", a, dtype)
    axes = canonical_axes(f"{name}.reduce", axis, x.ndim)
    kept = [d for d in range(x.ndim) if d not in axes]
    rows = lax.transpose(x, (*axes, *kept))
    rows = lax.reshape(rows, (math.prod(x.shape[d] for d in axes), *(x.shape[d] for d in kept)))
    if where is not None:
        neutral = f.identity if initial is None else initial
        if neutral is None:
            raise ValueError(
                f"{name}.reduce: has no identity: with where=... give initial=..., too"
            )
        mask = broadcast_to(as_arrays([where], name)[0], x.shape)
        mask = lax.reshape(lax.transpose(mask, (*axes, *kept)), rows.shape)
    else:
        neutral, mask = initial, None
    if neutral is None and not rows.shape[0]:
        neutral = f.identity
        if neutral is None:
            raise ValueError(
                f"{name}.reduce: axes {axes} of shape {x.shape} hold no elements, and {name} has "
                "no identity; give initial=..."
            )
    result = _folded(f, rows, neutral, mask)
    return lax.expand_dims(result, axes) if keepdims and axes else result


def _folded(f: ufunc, rows: Array, initial: ArrayLike | None, mask: Array | None) -> Array:
    """Reduce the first axis of `rows` by f, from its first row or `initial` on."""
    if f in _FOLDS:
        if f in (logic.logical_and, logic.logical_or) and rows.dtype != np.bool:
            rows = logic.not_equal(rows, 0)
        if mask is not None:
            neutral = reduction.identity(_FOLDS[f], rows.dtype)
            rows = where(mask, rows, lax.full_like(rows, neutral))
        result = fold(rows, _FOLDS[f], (0,))
        return result if initial is None else f(result, initial)
    if initial is None:
        first, rows = rows[0], rows[1:]
    else:
        first = broadcast_to(as_arrays([initial], f.__name__)[0], rows.shape[1:])
    if not rows.shape[0]:
        return convert(first, dtypes.result_type(first, rows))
    # The dtype of f on its own results: the loop carries it.
    dtype = dtypes.result_type(f(first, rows[0]), first)
    first = convert(f(first, rows[0]) if mask is None else first, dtype)
    if mask is None:
        rows = rows[1:]

    def step(so_far: Array, given: Any) -> tuple[Array, None]:
        row, takes_part = given
        result = convert(f(so_far, row), dtype)
        return (result if takes_part is None else where(takes_part, result, so_far)), None

    return lax.scan(step, first, (rows, mask))[0]


@method_of_ufuncs
def accumulate(f: ufunc, a: ArrayLike, axis: int, dtype: DTypeLike | None) -> Array:
    """`ufunc.accumulate`."""
    name = f.__name__
    if f in _STEPS:
        return _STEPS[f](a, axis, dtype)
    x = _operand(f, "accumulate", a, dtype)
    axis = canonical_axis(f"{name}.accumulate", axis, x.ndim)
    if f in _EXTREMA and x.dtype.kind not in "bc":
        return _EXTREMA[f](x, axis)
    rows = moveaxis(x, axis, 0)
    if rows.shape[0] < 2:
        return x
    result_dtype = dtypes.result_type(f(rows[0], rows[1]), rows)
    rows = convert(rows, result_dtype)

    def step(so_far: Array, row: Array) -> tuple[Array, Array]:
        result = convert(f(so_far, row), result_dtype)
        return result, result

    _, results = lax.scan(step, rows[0], rows[1:])
    return moveaxis(lax.concatenate([rows[:1], results], 0), 0, axis)


@method_of_ufuncs
def outer(f: ufunc, A: ArrayLike, B: ArrayLike) -> Array:
    """`ufunc.outer`."""
    x, y = as_arrays([A, B], f"{f.__name__}.outer")
    check_ints([A, B], dtypes.lattice_result_type(x, y)[0], f"{f.__name__}.outer")
    dtypes.judge_dtypes(x, y)
    return f(reshape(x, x.shape + (1,) * y.ndim), reshape(y, (1,) * x.ndim + y.shape))


@method_of_ufuncs
def at(f: ufunc, a: ArrayLike, indices: Any, b: ArrayLike | None) -> Array:
    """`ufunc.at`."""
    if b is None:
        raise TypeError(f"{f.__name__}.at: expected a second operand, b, for a function of two")
    (x,) = as_arrays([a], f"{f.__name__}.at")
    (operand,) = as_arrays([fitted(b, x.dtype, f"{f.__name__}.at")], f"{f.__name__}.at")
    if f in _AT:
        return getattr(x.at[indices], _AT[f])(operand)
    numbers = lax.reshape(lax.iota(dtypes.default_int(), x.size), x.shape)[indices]
    operands = ravel(broadcast_to(operand, numbers.shape))

    def step(i: Array, flat: Array) -> Array:
        place = places[i]
        return flat.at[place].set(convert(f(flat[place], operands[i]), flat.dtype))

    places = ravel(numbers)
    return lax.reshape(lax.fori_loop(0, places.size, step, ravel(x)), x.shape)


@method_of_ufuncs
def reduceat(f: ufunc, a: ArrayLike, indices: Any, axis: int, dtype: DTypeLike | None) -> Array:
    """`ufunc.reduceat`."""
    name = f"{f.__name__}.reduceat"
    x = _operand(f, "reduceat", a, dtype)
    axis = canonical_axis(name, axis, x.ndim)
    (starts,) = as_arrays([np.asarray(indices) if isinstance(indices, list) else indices], name)
    if starts.ndim != 1 or not dtypes.issubdtype(starts.dtype, np.integer):
        raise TypeError(f"{name}: indices must be a vector of integers, got {starts.aval}")
    n = x.shape[axis]
    if isinstance(starts, ConcreteArray) and not np.all((starts.value >= 0) & (starts.value < n)):
        raise IndexError(f"{name}: indices must be from 0 to {n - 1}, got {starts.value}")
    starts = widened(starts, n)
    rows = moveaxis(x, axis, 0)
    results = take(rows, starts, 0, mode="clip")
    ends = lax.concatenate([starts[1:], lax.full((1,), n, starts.dtype)], 0)
    kept = dtypes.result_type(f(results[:1], results[:1]), rows) if starts.size else x.dtype
    wide = reductions.working_dtype(kept)  # a sum of ones in bfloat16 would stop at 256
    sides = (starts.size, *(1,) * (rows.ndim - 1))

    def step(so_far: Array, given: tuple[Array, Array]) -> tuple[Array, None]:
        row, place = given
        within = logical_and(less(starts, place), greater_equal(ends - 1, place))
        longer = convert(f(so_far, convert(row[None], wide)), wide)
        return where(lax.reshape(within, sides), longer, so_far), None

    places = lax.iota(starts.dtype, n)
    found, _ = lax.scan(step, convert(results, wide), (rows, places))
    return moveaxis(convert(found, kept), 0, axis)
