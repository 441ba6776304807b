"""Means, variances, covariances and correlations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from irax import dtypes, lax
from irax.core.array import Array
from irax.core.dispatch import bind
from irax.core.dtypes.operands import as_arrays, inexact_dtype, judge_ranks
from irax.core.dtypes.promotion import broadcast_to, convert, promote_dtypes
from irax.lax.arguments import canonical_axes
from irax.numpy.aggregates import reductions
from irax.numpy.aggregates.reductions import mask_of, working_dtype
from irax.numpy.elementwise.complex_parts import conjugate, imag, real
from irax.numpy.elementwise.exponentials import sqrt
from irax.numpy.elementwise.logic import less_equal
from irax.numpy.elementwise.logic import where as choose
from irax.numpy.matrices import diagonal
from irax.numpy.products.contraction import matmul
from irax.numpy.shapes.manipulation import squeeze, transpose
from irax.numpy.tables import no_out
from irax.numpy.ufuncs import abs, add, clip, divide, multiply, square, subtract
from irax.typing import ArrayLike, Axis, DTypeLike
from irax_compiler.ops import elementwise as ew


def _float_dtype(x: Array, dtype: DTypeLike | None) -> np.dtype[Any]:
    if dtype is not None:
        return dtypes.requested_dtype(dtype, "mean")
    return inexact_dtype(x.dtype)


def _count(
    x: Array, axis: Axis, where: ArrayLike | None, keepdims: bool, dtype: np.dtype[Any]
) -> Array:
    """Return the number of elements behind each element of the result: a scalar without a mask."""
    if where is None:
        axes = canonical_axes("mean", axis, x.ndim)
        return lax.full((), math.prod(x.shape[d] for d in axes), dtype)
    mask = broadcast_to(mask_of("mean", where), x.shape)
    return convert(reductions.count_nonzero(mask, axis, keepdims), dtype)


def mean(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike | None = None,
) -> Array:
    """Return the mean of the elements over axes.

    Args:
        a: an array.
        axis: the axis or axes; all by default.
        dtype: of the result; by default that of the array, or the default float. Floats narrower
            than float32 are summed up in float32.
        out: not supported.
        keepdims: True if the result keeps those axes, with size 1.
        where: a mask of the elements that take part.

    Raises:
        TypeError: `a` is not an array, or `axis` is not an int.
        ValueError: there is no such axis, or `where` has no booleans.
        NotImplementedError: `out` is given.

    >>> irax.numpy.mean(irax.numpy.array([1, 2, 6]))
    Array(3., dtype=float32)
    """
    no_out("mean", out)
    (x,) = as_arrays([a], "mean")
    result_dtype = _float_dtype(x, dtype)
    x = convert(x, working_dtype(result_dtype))
    total = reductions.sum(x, axis, keepdims=keepdims, where=where)
    return convert(divide(total, _count(x, axis, where, keepdims, x.dtype)), result_dtype)


_mean = mean


def var(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: int | None = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
    correction: int | float | None = None,
) -> Array:
    """Return the variance over axes: the mean squared distance from the mean.

    Args:
        a: an array.
        axis: the axis or axes; all by default.
        dtype: of the result; a float by default.
        out: not supported.
        ddof: the sum of squares is divided by the number of elements minus this; None is 0.
        keepdims: True if the result keeps those axes, with size 1.
        where: a mask of the elements that take part.
        mean: the mean, if it is known, with those axes kept.
        correction: another name for `ddof`.

    Where no more than `ddof` elements take part, the result is nan.

    Raises:
        ValueError: `ddof` and `correction` are both given; a real `dtype` for complex numbers, or
            `where` that is not of booleans.

    >>> irax.numpy.var(irax.numpy.array([1.0, 3.0]))
    Array(1., dtype=float32)
    """
    no_out("var", out)
    (x,) = as_arrays([a], "var")
    result_dtype = _variance_dtype(x, dtype)
    x = convert(x, working_dtype(inexact_dtype(x.dtype) if dtype is None else result_dtype))
    middle = _mean(x, axis, keepdims=True, where=where) if mean is None else mean
    x, middle = (convert(v, dtypes.join(x, middle)[0]) for v in as_arrays([x, middle], "var"))
    centred = subtract(x, middle)
    if x.dtype.kind == "c":
        squares = add(square(real(centred)), square(imag(centred)))
    else:
        squares = square(centred)
    total = reductions.sum(squares, axis, keepdims=keepdims, where=where)
    ddof = 0 if ddof is None else ddof
    if correction is not None and ddof != 0:
        raise ValueError(f"var: ddof={ddof} and correction={correction} say the same: give one")
    taken_off = ddof if correction is None else correction
    freedom = subtract(_count(x, axis, where, keepdims, total.dtype), taken_off)
    variance = convert(divide(total, freedom), result_dtype)
    return choose(less_equal(freedom, 0), np.nan, variance)


def _variance_dtype(x: Array, dtype: DTypeLike | None) -> np.dtype[Any]:
    """Return the dtype of the result of `var`: real by default."""
    if dtype is None:
        return real(lax.full((), 0, _float_dtype(x, None))).dtype
    asked = dtypes.requested_dtype(dtype, "var")
    if x.dtype.kind == "c" and asked.kind != "c":
        raise ValueError(f"var: complex numbers are given, and dtype={asked} is not complex")
    return asked


def std(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: int | None = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
    correction: int | float | None = None,
) -> Array:
    """Return the standard deviation over axes: the square root of `var`, whose arguments
    it takes.

    Args:
        a: an array.
        axis: the axis or axes; all by default.
        dtype: the dtype that it is computed in, and of the result.
        out: not supported.
        ddof: the sum of squares is divided by the number of elements minus this.
        keepdims: True if the result keeps those axes, with size 1.
        where: a mask of the elements that take part.
        mean: the mean, if it is known, with those axes kept.
        correction: another name for `ddof`.

    Raises:
        ValueError: a `dtype` of integers, or as `var`.

    >>> jnp.std(jnp.array([[1.0, 3.0], [2.0, 2.0]]), axis=1)
    Array([1., 0.], dtype=float32)
    """
    no_out("std", out)
    (x,) = as_arrays([a], "std")
    dtype = None if dtype is None else _inexact("std", dtype)
    options = {"where": where, "mean": mean, "correction": correction}
    return sqrt(var(x, axis, dtype, ddof=ddof, keepdims=keepdims, **options))


def average(
    a: ArrayLike,
    axis: Axis = None,
    weights: ArrayLike | None = None,
    returned: bool = False,
    keepdims: bool = False,
) -> Any:
    """Return the weighted mean over axes.

    Args:
        a: an array.
        axis: the axis or axes; all by default.
        weights: of the array's shape, or of the sizes of the axes, in their order.
        returned: True to return the sum of the weights, too.
        keepdims: True if the result keeps those axes, with size 1.

    Raises:
        ValueError: weights of another shape.

    >>> irax.numpy.average(irax.numpy.array([1.0, 3.0]), weights=irax.numpy.array([3.0, 1.0]))
    Array(1.5, dtype=float32)
    """
    (x,) = as_arrays([a], "average")
    if weights is None:
        result = mean(x, axis, keepdims=keepdims)
        count = broadcast_to(_count(x, axis, None, keepdims, result.dtype), result.shape)
        return (result, count) if returned else result
    (w,) = as_arrays([weights], "average")
    dtypes.judge_dtypes(x, w)
    if w.shape != x.shape:
        axes = canonical_axes("average", axis, x.ndim)
        if axis is None or w.shape != tuple(x.shape[d] for d in axes):
            raise ValueError(
                f"average: weights of shape {w.shape} do not fit an array of shape {x.shape}; "
                f"expected its shape, or with an axis the sizes along that, got axis={axis}"
            )
        in_order = sorted(range(len(axes)), key=axes.__getitem__)
        w = lax.broadcast_in_dim(lax.transpose(w, in_order), x.shape, sorted(axes))
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
    """Return the covariance matrix of variables, or the variance of one variable.

    Args:
        m: a vector of observations, or a matrix with a row for each variable.
        y: further variables.
        rowvar: True if rows are variables, False if columns are.
        bias: True to divide by the number of observations, in place of one less.
        ddof: divide by the number of observations minus this, if neither of these.
        fweights: the number of times that each observation was made: integers.
        aweights: the weight of each observation.
        dtype: of the result; at least a float.

    Raises:
        ValueError: more than two dimensions, or a `dtype` of integers.
        RuntimeError: weights that do not fit.
        TypeError: `fweights` that are no integers.

    >>> irax.numpy.cov(irax.numpy.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    given = [m] if y is None else [m, y]
    dtypes.judge_dtypes(*given, fweights, aweights)
    judge_ranks(given, "cov")
    parts = [_variables(v, rowvar) for v in promote_dtypes(*given, what="cov")]
    x = parts[0] if y is None else lax.concatenate(parts, 0)
    x = convert(x, inexact_dtype(x.dtype) if dtype is None else _inexact("cov", dtype))
    count = x.shape[1]
    taken_off = (1 if bias == 0 else 0) if ddof is None else ddof
    given = _observation_weights(fweights, aweights, count)
    if dtype is None and given:
        x, *_ = promote_dtypes(x, *given, what="cov")
    own = [convert(w, real(x).dtype) for w in given]
    weights, factor = _weights_and_divisor(own, aweights is not None, count, taken_off)
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


def _inexact(name: str, dtype: DTypeLike) -> np.dtype[Any]:
    """Return the requested dtype; raise ValueError if it is not of floats or complex numbers."""
    asked = dtypes.requested_dtype(dtype, name)
    if not dtypes.issubdtype(asked, np.inexact):
        raise ValueError(f"{name}: dtype must be of floats or complex numbers, got {asked}")
    return asked


def _variables(x: Array, rowvar: bool) -> Array:
    if x.ndim > 2:
        raise ValueError(f"cov: expected at most two dimensions, got shape {x.shape}")
    if x.ndim < 2:
        return lax.reshape(x, (1, x.size))
    return x if rowvar else transpose(x)


def _observation_weights(
    fweights: ArrayLike | None, aweights: ArrayLike | None, count: int
) -> list[Array]:
    """Return the weights of observations that are given, without their signs."""
    arrays = []
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        (w,) = as_arrays([given], f"cov: {name}")
        if w.shape != (count,):
            raise RuntimeError(f"cov: {name} has shape {w.shape}; expected ({count},)")
        if name == "fweights" and not dtypes.issubdtype(w.dtype, np.integer):
            raise TypeError(f"cov: fweights must be integers, got {w.dtype}")
        arrays.append(abs(w))
    return arrays


def _weights_and_divisor(
    arrays: Sequence[Array], are_last_analytic: bool, count: int, taken_off: Any
) -> tuple[Array | None, Any]:
    """Return the product of the weights, if any, and the divisor of sums of squares."""
    if not arrays:
        return None, max(count - taken_off, 0)
    weights = arrays[0] if len(arrays) == 1 else multiply(*arrays)
    total = reductions.sum(weights)
    if not are_last_analytic or not taken_off:
        return weights, subtract(total, taken_off)
    squares = reductions.sum(multiply(weights, arrays[-1]))
    return weights, subtract(total, divide(multiply(taken_off, squares), total))


def corrcoef(
    x: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: bool = True,
    dtype: DTypeLike | None = None,
) -> Array:
    """Return the correlation matrix of variables, from -1 to 1, or 1 for one variable.

    Args:
        x: a vector of observations, or a matrix with a row for each variable.
        y: further variables.
        rowvar: True if rows are variables, False if columns are.
        dtype: of the result; at least a float.

    Raises:
        TypeError: `x` or `y` is not an array.

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
