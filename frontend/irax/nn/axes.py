"""Functions over axes: softmax, logsumexp, standardization, one-hot vectors."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

import irax.numpy as jnp
from irax import dtypes, errors, lax
from irax.core import source
from irax.core.array import Array
from irax.core.dtypes.promotion import convert
from irax.execution.shardings.jit_shardings import takes_out_sharding
from irax.lax.arguments import canonical_axes, canonical_axis, canonical_int
from irax.nn.operands import inexact
from irax.numpy.aggregates.reductions import masked
from irax.typing import ArrayLike, Axis, DTypeLike


def _largest(x: Array, axes: tuple[int, ...]) -> Array:
    """Return the largest elements (real parts) with axes kept, without derivatives."""
    largest = lax.stop_gradient(lax.reduce_max(jnp.real(x), axes))
    return lax.expand_dims(largest, axes)


def _below_largest(x: Array, axes: tuple[int, ...]) -> Array:
    """Return x minus its largest elements, of which one is the origin of derivatives too: where a
    probability rounds to 1, its own derivative would cancel.
    """
    if x.dtype.kind == "c":
        return jnp.subtract(x, _largest(x, axes))
    if 0 in x.shape:  # max has no identity
        return x
    return jnp.subtract(x, jnp.max(x, axes, keepdims=True))


@overload
def logsumexp(
    a: ArrayLike,
    axis: Axis = None,
    b: ArrayLike | None = None,
    keepdims: bool = False,
    return_sign: Literal[False] = False,
    where: ArrayLike | None = None,
) -> Array: ...


@overload
def logsumexp(
    a: ArrayLike,
    axis: Axis = None,
    b: ArrayLike | None = None,
    keepdims: bool = False,
    *,
    return_sign: Literal[True],
    where: ArrayLike | None = None,
) -> tuple[Array, Array]: ...


@overload
def logsumexp(
    a: ArrayLike,
    axis: Axis = None,
    b: ArrayLike | None = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: ArrayLike | None = None,
) -> Array | tuple[Array, Array]: ...


def logsumexp(
    a: ArrayLike,
    axis: Axis = None,
    b: ArrayLike | None = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: ArrayLike | None = None,
) -> Array | tuple[Array, Array]:
    """Return log(sum(b exp(a))) over axes, without overflow; its derivative is the softmax.

    Args:
        a: an array of floats, or of complex numbers.
        axis: the axis or axes; all by default.
        b: weights, 1 by default.
        keepdims: True if the result keeps those axes, with size 1.
        return_sign: True to return the logarithm of the absolute sum, and the sign of the sum
            (for complex numbers, the sum divided by its absolute value).
        where: a mask of the elements that take part.

    Raises:
        TypeError: `a` or `b` is not an array, or `axis` is not an int.
        ValueError: there is no such axis, `b` does not fit `a`, or `where` has no booleans.

    >>> irax.nn.logsumexp(irax.numpy.array([1000.0, 1000.0]))
    Array(1000.6932, dtype=float32)
    """
    x = inexact("logsumexp", a)
    weights = None
    if b is not None:
        x, weights = jnp.broadcast_arrays(x, inexact("logsumexp", b))
        x = jnp.where(jnp.equal(weights, 0), -np.inf, x)
    x = masked("nn.logsumexp", x, where, -np.inf)
    axes = canonical_axes("nn.logsumexp", axis, x.ndim)
    shift = _largest(x, axes)
    shift = jnp.where(jnp.isfinite(shift), shift, 0)  # nothing becomes inf - inf
    terms = jnp.exp(jnp.subtract(x, shift))
    if weights is not None:
        terms = jnp.multiply(terms, weights)
    total = jnp.sum(terms, axes, keepdims=keepdims)
    shift = shift if keepdims else lax.squeeze(shift, axes)
    if return_sign:
        return jnp.add(jnp.log(jnp.abs(total)), shift), jnp.sign(total)
    return jnp.add(jnp.log(total), shift)


def logmeanexp(
    x: ArrayLike, axis: Axis = None, where: ArrayLike | None = None, keepdims: bool = False
) -> Array:
    """Return log(mean(exp(x))) over axes, without overflow.

    Args:
        x: an array.
        axis: the axis or axes; all by default.
        where: a mask of the elements that take part.
        keepdims: True if the result keeps those axes, with size 1.

    Raises:
        TypeError: `x` is not an array, or `axis` is not an int.
        ValueError: there is no such axis, or `where` has no booleans.

    >>> irax.nn.logmeanexp(irax.numpy.array([1000.0, 1000.0]))
    Array(1000., dtype=float32)
    """
    array = inexact("logmeanexp", x)
    total = logsumexp(array, axis, keepdims=keepdims, where=where)
    count = jnp.sum(lax.full_like(array, 1), axis, where=where, keepdims=keepdims)
    return jnp.subtract(total, jnp.log(count))


def softmax(x: ArrayLike, axis: Axis = -1, where: ArrayLike | None = None) -> Array:
    """Return exp(x) divided by its sum over axes, without overflow.

    Args:
        x: an array.
        axis: the axis or axes.
        where: a mask of the elements that take part; the others are 0.

    Raises:
        TypeError: `x` is not an array, or `axis` is not an int.
        ValueError: there is no such axis, or `where` has no booleans.

    >>> irax.nn.softmax(irax.numpy.array([0.0, 0.0]))
    Array([0.5, 0.5], dtype=float32)
    """
    array = masked("nn.softmax", inexact("softmax", x), where, -np.inf)
    axes = canonical_axes("nn.softmax", axis, array.ndim)
    terms = jnp.exp(_below_largest(array, axes))
    result = jnp.divide(terms, jnp.sum(terms, axes, keepdims=True))
    return masked("nn.softmax", result, where, 0)


def log_softmax(x: ArrayLike, axis: Axis = -1, where: ArrayLike | None = None) -> Array:
    """Return log(softmax(x)), without underflow; elements that do not take part are -inf.

    Args:
        x: an array.
        axis: the axis or axes over which exp of the result sums to 1.
        where: booleans, broadcast to the array: which elements take part.

    Raises:
        TypeError: `x` is not an array, or `axis` is not an int.
        ValueError: there is no such axis, or `where` has no booleans.

    >>> irax.nn.log_softmax(irax.numpy.array([0.0, 1000.0]))
    Array([-1000.,     0.], dtype=float32)
    """
    array = masked("nn.log_softmax", inexact("log_softmax", x), where, -np.inf)
    axes = canonical_axes("nn.log_softmax", axis, array.ndim)
    shifted = _below_largest(array, axes)
    total = jnp.sum(jnp.exp(shifted), axes, keepdims=True)
    return masked("nn.log_softmax", jnp.subtract(shifted, jnp.log(total)), where, -np.inf)


def standardize(
    x: ArrayLike,
    axis: Axis = -1,
    mean: ArrayLike | None = None,
    variance: ArrayLike | None = None,
    epsilon: ArrayLike = 1e-5,
    where: ArrayLike | None = None,
    *,
    algorithm: str = "fast",
) -> Array:
    """Return x minus its mean, divided by sqrt(variance + epsilon), over axes.

    Args:
        x: an array.
        axis: the axis or axes.
        mean: to be used instead of that of `x`.
        variance: likewise.
        epsilon: keeps the divisor away from 0.
        where: a mask of the elements that take part in mean and variance.
        algorithm: the variance where `mean` is given: "fast" is the mean of x**2 minus mean**2,
            "stable" that of (x - mean)**2. About its own mean they are the same number, which is
            always computed by the second formula: it keeps the digits where the mean is large.

    Raises:
        ValueError: another algorithm.

    >>> irax.nn.standardize(irax.numpy.array([1.0, 3.0]), epsilon=0.0)
    Array([-1.,  1.], dtype=float32)
    """
    if algorithm not in ("stable", "fast"):
        raise ValueError(f"nn.standardize: algorithm must be 'stable' or 'fast', got {algorithm!r}")
    array = inexact("standardize", x)
    is_centred = mean is None or algorithm == "stable"
    if mean is None:
        mean = jnp.mean(array, axis, keepdims=True, where=where)
    centred = jnp.subtract(array, mean)
    if variance is None and is_centred:
        variance = jnp.mean(jnp.square(centred), axis, keepdims=True, where=where)
    elif variance is None:
        squares = jnp.mean(jnp.square(array), axis, keepdims=True, where=where)
        variance = jnp.clip(jnp.subtract(squares, jnp.square(mean)), 0)
    return jnp.multiply(centred, lax.rsqrt(inexact("standardize", jnp.add(variance, epsilon))))


@takes_out_sharding("nn.one_hot")
def one_hot(
    x: ArrayLike,
    num_classes: int,
    *,
    dtype: DTypeLike | None = None,
    axis: int = -1,
    out_sharding: Any = None,
) -> Array:
    """Return for each element n a vector of zeros with a one at index n; all zeros if it is out of
    range.

    Args:
        x: integers.
        num_classes: the length of the vectors, known while tracing.
        dtype: of the result; the default float.
        axis: the axis of the result along which the vectors lie.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        ConcretizationTypeError: the length is a traced array.
        ValueError: the result cannot be divided as `out_sharding` says.

    >>> irax.nn.one_hot(irax.numpy.array([0, 2]), 3)
    Array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    numbers = jnp.asarray(x)
    if not dtypes.issubdtype(numbers.dtype, np.integer):
        source.warn(f"nn.one_hot: x should be integers, got {numbers.dtype}", DeprecationWarning)
    if isinstance(num_classes, Array):
        why = (
            "nn.one_hot needs num_classes to know the shape (pass it as an int: through jit, with "
            "static_argnames, or bound by functools.partial)"
        )
        num_classes = int(num_classes.concrete(why, errors.ConcretizationTypeError))
    num_classes = canonical_int("nn.one_hot", "num_classes", num_classes)
    along = canonical_axis("nn.one_hot", axis, numbers.ndim + 1)
    column = lax.expand_dims(numbers, (along,))
    sizes = [num_classes if d == along else 1 for d in range(column.ndim)]
    places = lax.broadcasted_iota(dtypes.default_int(), sizes, along)
    wanted = dtypes.requested_dtype(float if dtype is None else dtype, "nn.one_hot")
    return convert(jnp.equal(column, places), wanted)
