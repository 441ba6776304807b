"""Means and spreads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from irax import dtypes, lax
from irax.array import Array
from irax.elementwise import as_arrays, broadcast_to, convert, inexact_dtype, promote_dtypes
from irax.lax.arguments import canonical_axes, canonical_axis
from irax.numpy import reductions
from irax.numpy.contraction import matmul
from irax.numpy.creation import diagonal
from irax.numpy.manipulation import squeeze, transpose
from irax.numpy.reductions import working_dtype
from irax.numpy.tables import no_out
from irax.numpy.ufuncs import (
    abs,
    add,
    clip,
    conjugate,
    divide,
    imag,
    multiply,
    real,
    sqrt,
    square,
    subtract,
)
from irax.tracing import bind
from irax.typing import ArrayLike, Axis, DTypeLike
from irax_compiler.ops import elementwise as ew


def _float_dtype(x: Array, dtype: DTypeLike | None) -> np.dtype[Any]:
    if dtype is not None:
        return dtypes.requested_dtype(dtype, "mean")
    return inexact_dtype(x.dtype)


def _count(x: Array, axis: Axis, where: ArrayLike | None, keepdims: bool) -> Any:
    """How many elements are folded into each of the result; an array where a mask says so."""
    if where is None:
        return math.prod(x.shape[d] for d in canonical_axes("mean", axis, x.ndim))
    (mask,) = as_arrays([where], "mean")
    return reductions.count_nonzero(broadcast_to(mask, x.shape), axis, keepdims)


def mean(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike | None = None,
) -> Array:
    """The mean of the elements over axes.

    Args:
        a: an array.
        axis: the axis or axes; all by default.
        dtype: of the result; by default that of the array, or the default float. Floats narrower
            than float32 are summed up in float32.
        out: not supported.
        keepdims: whether the result keeps those axes, with size 1.
        where: which elements take part.

    >>> irax.numpy.mean(irax.numpy.array([1, 2, 6]))
    Array(3., dtype=float32)
    """
    no_out("mean", out)
    (x,) = as_arrays([a], "mean")
    result_dtype = _float_dtype(x, dtype)
    x = convert(x, working_dtype(result_dtype))
    total = reductions.sum(x, axis, keepdims=keepdims, where=where)
    return convert(divide(total, _count(x, axis, where, keepdims)), result_dtype)


_mean = mean


def var(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
    correction: int | float | None = None,
) -> Array:
    """The variance over axes: the mean squared distance from the mean.

    Args:
        a: an array.
        axis: the axis or axes; all by default.
        dtype: of the result; a float by default.
        out: not supported.
        ddof: what is taken off the number of elements that the squares are divided by.
        keepdims: whether the result keeps those axes, with size 1.
        where: which elements take part.
        mean: the mean, if it is known, with those axes kept.
        correction: another name for `ddof`.

    >>> irax.numpy.var(irax.numpy.array([1.0, 3.0]))
    Array(1., dtype=float32)
    """
    no_out("var", out)
    (x,) = as_arrays([a], "var")
    result_dtype = _float_dtype(x, dtype)
    x = convert(x, working_dtype(result_dtype))
    middle = _mean(x, axis, keepdims=True, where=where) if mean is None else mean
    centred = subtract(x, middle)
    if x.dtype.kind == "c":
        squares = add(square(real(centred)), square(imag(centred)))
        result_dtype = squares.dtype
    else:
        squares = square(centred)
    total = reductions.sum(squares, axis, keepdims=keepdims, where=where)
    taken_off = ddof if correction is None else correction
    count = _count(x, axis, where, keepdims)
    count = count - taken_off if isinstance(count, int) else subtract(count, taken_off)
    return convert(divide(total, count), result_dtype)


def std(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
    correction: int | float | None = None,
) -> Array:
    """The standard deviation over axes: the square root of `var`, whose arguments it takes."""
    no_out("std", out)
    (x,) = as_arrays([a], "std")
    options = {"where": where, "mean": mean, "correction": correction}
    return sqrt(var(x, axis, dtype, ddof=ddof, keepdims=keepdims, **options))


def average(
    a: ArrayLike,
    axis: Axis = None,
    weights: ArrayLike | None = None,
    returned: bool = False,
    keepdims: bool = False,
) -> Any:
    """The mean over axes, with weights.

    Args:
        a: an array.
        axis: the axis or axes; all by default.
        weights: of the array's shape, or a vector along the one axis.
        returned: whether to return the sum of the weights, too.
        keepdims: whether the result keeps those axes, with size 1.

    Raises:
        ValueError: weights of another shape.

    >>> irax.numpy.average(irax.numpy.array([1.0, 3.0]), weights=irax.numpy.array([3.0, 1.0]))
    Array(1.5, dtype=float32)
    """
    (x,) = as_arrays([a], "average")
    if weights is None:
        result = mean(x, axis, keepdims=keepdims)
        count = lax.full_like(result, _count(x, axis, None, keepdims))
        return (result, count) if returned else result
    (w,) = as_arrays([weights], "average")
    if w.shape != x.shape:
        if not isinstance(axis, int) or w.shape != (x.shape[axis],):
            raise ValueError(
                f"average: weights of shape {w.shape} do not fit an array of shape {x.shape}; "
                "expected its shape, or a vector along the one axis"
            )
        along = canonical_axis("average", axis, x.ndim)
        w = lax.broadcast_in_dim(w, x.shape, (along,))
    dtype = _float_dtype(x, dtypes.result_type(x, w, float))
    x, w = convert(x, dtype), convert(w, dtype)
    total = reductions.sum(w, axis, keepdims=keepdims)
    result = divide(reductions.sum(multiply(x, w), axis, keepdims=keepdims), total)
    return (result, total) if returned else result


# ---- several variables ---------------------------------------------------------------------------


def cov(
    m: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: ArrayLike | None = None,
    aweights: ArrayLike | None = None,
    dtype: DTypeLike | None = None,
) -> Array:
    """The covariances of variables: a matrix, or a number for one variable.

    Args:
        m: a vector of observations, or a matrix with a row for each variable.
        y: further variables.
        rowvar: whether rows are variables; otherwise columns are.
        bias: whether to divide by the number of observations, in place of one less.
        ddof: what is taken off the number of observations, if neither of these.
        fweights: how often each observation was made: integers.
        aweights: how much each observation weighs.
        dtype: of the result; at least a float.

    Raises:
        ValueError: more than two dimensions, or weights that do not fit.
        TypeError: `fweights` that are no integers.

    >>> irax.numpy.cov(irax.numpy.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    given = [m] if y is None else [m, y]
    parts = [_variables(v, rowvar) for v in promote_dtypes(*given, what="cov")]
    x = parts[0] if y is None else lax.concatenate(parts, 0)
    x = convert(
        x, inexact_dtype(x.dtype) if dtype is None else dtypes.requested_dtype(dtype, "cov")
    )
    count = x.shape[1]
    taken_off = (0 if bias else 1) if ddof is None else ddof
    weights, factor = _observation_weights(fweights, aweights, count, taken_off, x)
    if weights is None:
        centred = subtract(x, mean(x, 1, keepdims=True))
        scaled = centred
    else:
        total = reductions.sum(weights)
        middle = divide(reductions.sum(multiply(x, weights), 1, keepdims=True), total)
        centred = subtract(x, middle)
        scaled = multiply(centred, weights)
    products = matmul(centred, transpose(conjugate(scaled)))
    return squeeze(convert(divide(products, factor), x.dtype))


def _variables(x: Array, rowvar: bool) -> Array:
    if x.ndim > 2:
        raise ValueError(f"cov: expected at most two dimensions, got shape {x.shape}")
    if x.ndim < 2:
        return lax.reshape(x, (1, x.size))
    return x if rowvar or x.shape[0] == 1 else transpose(x)


def _observation_weights(
    fweights: ArrayLike | None, aweights: ArrayLike | None, count: int, taken_off: Any, x: Array
) -> tuple[Array | None, Any]:
    """The weights of observations, if there are any, and what sums of squares are divided by."""
    arrays = []
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        (w,) = as_arrays([given], f"cov: {name}")
        if w.shape != (count,):
            raise ValueError(f"cov: {name} has shape {w.shape}; expected ({count},)")
        if name == "fweights" and not dtypes.issubdtype(w.dtype, np.integer):
            raise TypeError(f"cov: fweights must be integers, got {w.dtype}")
        arrays.append(abs(convert(w, real(x).dtype)))
    if not arrays:
        return None, count - taken_off
    weights = arrays[0] if len(arrays) == 1 else multiply(*arrays)
    total = reductions.sum(weights)
    if aweights is None or not taken_off:
        return weights, subtract(total, taken_off)
    squares = reductions.sum(multiply(weights, arrays[-1]))
    return weights, subtract(total, divide(multiply(taken_off, squares), total))


def corrcoef(
    x: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: bool = True,
    dtype: DTypeLike | None = None,
) -> Array:
    """The correlations of variables, from -1 to 1: a matrix, or 1 for one variable.

    Args:
        x: a vector of observations, or a matrix with a row for each variable.
        y: further variables.
        rowvar: whether rows are variables; otherwise columns are.
        dtype: of the result; at least a float.

    >>> irax.numpy.corrcoef(irax.numpy.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if not c.ndim:
        return divide(c, c)
    deviation = sqrt(real(diagonal(c)))
    result = divide(divide(c, deviation[:, None]), deviation[None, :])
    if result.dtype.kind == "c":
        return bind(ew.complex_, clip(real(result), -1, 1), clip(imag(result), -1, 1))
    return clip(result, -1, 1)
