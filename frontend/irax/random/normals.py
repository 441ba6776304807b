"""The normal distribution, and those that follow from it."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes, lax
from irax.config import config
from irax.core.array import Array, as_array
from irax.core.dispatch import bind
from irax.core.dtypes.operands import common_shape, inexact_dtype
from irax.core.dtypes.promotion import broadcast_to, convert, promote_dtypes
from irax.execution.shardings.jit_shardings import takes_out_sharding
from irax.random.arguments import dtype_of, parameters, shape_of
from irax.random.basic import rademacher, uniform
from irax.random.keys import Key, one_key, split_key, unused_key
from irax.typing import ArrayLike, DTypeLike, Shape
from irax_compiler.ops.special import chlo_functions
from irax_compiler.ops.special.normal import LogNdtr

F32 = np.dtype(np.float32)


@takes_out_sharding("normal")
def normal(
    key: Key, shape: Shape = (), dtype: DTypeLike | None = None, *, out_sharding: Any = None
) -> Array:
    """Draw floats of the standard normal distribution: sqrt(2) erfinv(u), u uniform in (-1, 1).

    Complex numbers have variance 1 too, shared by their two parts.

    Args:
        key: a key, which should be used for nothing else.
        shape: the shape of the result.
        dtype: a dtype of floats or complex numbers; by default that of Python's floats.
        out_sharding: the sharding of the result.

    Raises:
        TypeError: `key` is not a key, or `shape` is not a shape.
        ValueError: `dtype` has neither floats nor complex numbers.

    >>> irax.random.normal(irax.random.PRNGKey(0), (2, 3)).shape
    (2, 3)
    """
    dtype = dtype_of("normal", dtype, np.inexact)
    key, shape = unused_key(key, "normal"), shape_of("normal", shape)
    if dtypes.issubdtype(dtype, np.complexfloating):
        real = np.finfo(dtype).dtype
        half = np.array(math.sqrt(0.5), real)
        parts = (normal(k, shape, real) * half for k in split_key(one_key(key, "normal")))
        return lax.complex(*parts)
    if config.unbiased_random and dtype.itemsize < 4:
        return convert(normal(key, shape, F32), dtype)
    above = np.nextafter(np.array(-1, dtype), np.array(0, dtype), dtype=dtype)
    u = uniform(key, shape, dtype, above, 1.0)
    return bind(chlo_functions.erf_inv, u) * np.array(math.sqrt(2), dtype)


@takes_out_sharding("truncated_normal")
def truncated_normal(
    key: Key,
    lower: ArrayLike,
    upper: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw floats of the standard normal distribution, truncated to (lower, upper).

    Args:
        key: a key.
        lower: the lower bound.
        upper: the upper bound.
        shape: the shape of the result, to which both broadcast; by default their own.
        dtype: a floating-point dtype.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `key` is not a key, or a bound is not an array.
        ValueError: `dtype` has no floats.

    >>> bool(abs(irax.random.truncated_normal(irax.random.key(0), -1.0, 1.0)) < 1)
    True
    """
    dtype = dtype_of("truncated_normal", dtype)
    low = convert(as_array(lower, "truncated_normal: lower"), dtype)
    high = convert(as_array(upper, "truncated_normal: upper"), dtype)
    sizes = shape_of("truncated_normal", shape, low, high)
    sqrt2 = np.array(math.sqrt(2), dtype)
    # Of one shape, that of the bounds: known ones stay small.
    shared = jnp.broadcast_shapes(low.shape, high.shape)
    low, high = broadcast_to(low, shared), broadcast_to(high, shared)
    in_tail = (low > _TAIL) | (high < -_TAIL)
    wide = jnp.where(in_tail, -1, low), jnp.where(in_tail, 1, high)
    ends = (bind(chlo_functions.erf, v / sqrt2) for v in wide)
    least, largest = (broadcast_to(v, sizes) for v in ends)
    share = uniform(key, sizes, dtype)
    u = jnp.maximum(least, share * (largest - least) + least)
    found = sqrt2 * bind(chlo_functions.erf_inv, u)

    def of_tails() -> Array:
        lower, upper = broadcast_to(low, sizes), broadcast_to(high, sizes)
        mirrored = lower > 0
        near, far = jnp.where(mirrored, -lower, upper), jnp.where(mirrored, -upper, lower)
        working = F32 if dtype.itemsize < 4 else dtype
        tail = convert(_of_tail(*(convert(x, working) for x in (share, near, far))), dtype)
        chosen = broadcast_to(in_tail, sizes)
        return jnp.where(chosen, jnp.where(mirrored, -tail, tail), found)

    found = lax.cond(jnp.any(in_tail), of_tails, lambda: found)
    infinity = np.array(np.inf, dtype)
    inside = [
        jnp.nextafter(lax.stop_gradient(edge), inwards)
        for edge, inwards in ((low, infinity), (high, -infinity))
    ]
    return jnp.clip(found, *inside)


_TAIL = 4.0
"""Beyond this, erf has too few values next to 1 to tell numbers apart."""
_NEWTON_STEPS = 3


def _of_tail(share: Array, near: Array, far: Array) -> Array:
    """Return the number between far < near, both far below 0, that this share of the probability
    is above: by Newton's method on the logarithm of the distribution function.
    """
    inside = near < -_TAIL
    near, far = jnp.where(inside, near, -_TAIL), jnp.where(inside, far, -np.inf)
    endless = jnp.isinf(far)
    top = bind(LogNdtr(), near)
    depth = bind(LogNdtr(), jnp.where(endless, near, far)) - top
    target = top + jnp.log1p(share * jnp.where(endless, -1.0, jnp.expm1(depth)))
    # From an asymptotic expansion of the inverse.
    square = lax.stop_gradient(-2 * target - math.log(2 * math.pi))
    x = -jnp.sqrt(square - jnp.log(square))
    for _ in range(_NEWTON_STEPS):
        x = lax.stop_gradient(x)
        value = bind(LogNdtr(), x)
        slope = jnp.exp(-0.5 * x * x - value - 0.5 * math.log(2 * math.pi))
        x = x - (value - target) / slope
    return x


@takes_out_sharding("lognormal")
def lognormal(
    key: Key,
    sigma: ArrayLike = 1.0,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw floats of the log-normal distribution: exp(sigma x), x standard normal.

    Args:
        key: a key.
        sigma: positive.
        shape: the shape of the result, to which sigma broadcasts; by default that of sigma.
        dtype: a floating-point or complex dtype.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `key` is not a key, or `sigma` is not an array of real numbers.
        ValueError: `dtype` has no floats.

    >>> bool(irax.random.lognormal(irax.random.key(0), 2.0) > 0)
    True
    """
    dtype = dtype_of("lognormal", dtype, np.inexact)
    (sigma,) = parameters("lognormal", dtype, sigma=sigma)
    return jnp.exp(normal(key, shape_of("lognormal", shape, sigma), dtype) * sigma)


@takes_out_sharding("maxwell")
def maxwell(
    key: Key, shape: Shape = (), dtype: DTypeLike | None = None, *, out_sharding: Any = None
) -> Array:
    """Draw floats of the Maxwell distribution: the norms of vectors of three standard normal
    numbers.

    Args:
        key: a key.
        shape: the shape of the result.
        dtype: a floating-point dtype.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `key` is not a key, or `shape` is not a shape.
        ValueError: `dtype` has no floats.

    >>> bool(irax.random.maxwell(irax.random.key(0)) > 0)
    True
    """
    sizes = shape_of("maxwell", shape)
    return jnp.linalg.norm(normal(key, (*sizes, 3), dtype_of("maxwell", dtype)), axis=-1)


def double_sided_maxwell(
    key: Key,
    loc: ArrayLike,
    scale: ArrayLike,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
) -> Array:
    """Draw loc + scale s x, where s is 1 or -1 and x is of the Maxwell distribution.

    Args:
        key: a key.
        loc: the center.
        scale: positive.
        shape: of draws for each pair of parameters: the shape of the result is this, followed by
            that of the parameters. As in JAX, () stands for the parameters' shape.
        dtype: a floating-point dtype.

    Raises:
        TypeError: `key` is not a key, or `loc` or `scale` is not an array.
        ValueError: `dtype` has no floats.

    >>> irax.random.double_sided_maxwell(irax.random.key(0), 0.0, 1.0, (3,)).shape
    (3,)
    """
    what = "double_sided_maxwell"
    dtype = dtype_of(what, dtype)
    loc, scale = as_array(loc, f"{what}: loc"), as_array(scale, f"{what}: scale")
    dtypes.judge_dtypes(loc, scale)
    each = common_shape([loc, scale], what)
    sizes = (*(shape_of(what, shape) or each), *each)
    length_key, sign_key = split_key(one_key(key, what))
    return rademacher(sign_key, sizes, dtype) * maxwell(length_key, sizes, dtype) * scale + loc


@takes_out_sharding("wald")
def wald(
    key: Key,
    mean: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw floats of the Wald, or inverse normal, distribution with scale 1.

    Args:
        key: a key.
        mean: positive.
        shape: the shape of the result, to which mean broadcasts; by default that of mean.
        dtype: a floating-point dtype.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `key` is not a key, or `mean` is not an array of real numbers.
        ValueError: `dtype` has no floats.

    Michael, Schucany and Haas, "Generating random variates using transformations with multiple
    roots" (1976).

    >>> bool(irax.random.wald(irax.random.key(0), 2.0) > 0)
    True
    """
    dtype = dtype_of("wald", dtype)
    (mean,) = parameters("wald", dtype, mean=mean)
    sizes = shape_of("wald", shape, mean)
    mean = broadcast_to(mean, sizes)
    normal_key, choice_key = split_key(one_key(key, "wald"))
    x = jnp.abs(normal(normal_key, sizes, dtype))
    # Of the two roots the larger one loses no digits; their product is mean**2.
    squared = jnp.square(mean)
    root = mean / 2 * (x * jnp.sqrt(4 * mean + squared * jnp.square(x)))
    smaller = squared / (mean + squared * jnp.square(x) / 2 + root)
    takes_smaller = uniform(choice_key, sizes, dtype) <= mean / (mean + smaller)
    return jnp.where(takes_smaller, smaller, squared / smaller)


@takes_out_sharding("multivariate_normal")
def multivariate_normal(
    key: Key,
    mean: ArrayLike,
    cov: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    method: str = "cholesky",
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw vectors of a normal distribution with given mean and covariance.

    Args:
        key: a key.
        mean: of shape (..., n).
        cov: of shape (..., n, n), symmetric and positive definite; semidefinite is enough for the
            methods "eigh" and "svd".
        shape: the shape of the result without n, to which the batches of `mean` and `cov`
            broadcast; by default their own.
        dtype: a floating-point dtype, by default that of `mean` and `cov`.
        method: the factorization of `cov`: "cholesky", "eigh" or "svd".
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        ValueError: another method, or shapes that do not fit.

    >>> irax.random.multivariate_normal(irax.random.key(0), irax.numpy.zeros(2), jnp.eye(2)).shape
    (2,)
    """
    what = "multivariate_normal"
    mean, cov = promote_dtypes(mean, cov, what=what)
    mean, cov = (convert(v, inexact_dtype(v.dtype)) for v in (mean, cov))
    if method not in ("cholesky", "eigh", "svd"):
        raise ValueError(f"{what}: method must be 'cholesky', 'eigh' or 'svd', got {method!r}")
    dtype = dtype_of(what, mean.dtype if dtype is None else dtype)
    if mean.ndim < 1:
        raise ValueError(f"{what}: mean must be a vector, or a batch of them, got a scalar")
    n = mean.shape[-1]
    if cov.shape[-2:] != (n, n):
        raise ValueError(f"{what}: cov must be of shape (..., {n}, {n}), got {cov.shape}")
    batches = [jnp.zeros(mean.shape[:-1], bool), jnp.zeros(cov.shape[:-2], bool)]
    sizes = shape_of(what, shape, *batches)
    if method == "cholesky":
        root = jnp.linalg.cholesky(cov)
    else:
        if method == "eigh":
            values, vectors = jnp.linalg.eigh(cov)
        else:
            vectors, values, _ = jnp.linalg.svd(cov)
        root = vectors * jnp.sqrt(values)[..., None, :]
    return mean + jnp.einsum("...ij,...j->...i", root, normal(key, (*sizes, n), dtype))


@takes_out_sharding("orthogonal")
def orthogonal(
    key: Key,
    n: int,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    m: int | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw uniformly distributed orthogonal matrices; unitary ones if the dtype is complex.

    Args:
        key: a key.
        n: the number of rows.
        shape: of the batch of matrices.
        dtype: a floating-point or complex dtype.
        m: the number of columns, by default n. The shorter of rows and columns are orthonormal.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Returns:
        An array of shape (*shape, n, m).

    Raises:
        TypeError: `key` is not a key, or `n` or `m` is not an int.
        ValueError: `dtype` has neither floats nor complex numbers.

    >>> irax.random.orthogonal(irax.random.key(0), 3, m=2).shape
    (3, 2)
    """
    rows = operator.index(n)
    columns = rows if m is None else operator.index(m)
    sizes = (*shape_of("orthogonal", shape), max(rows, columns), min(rows, columns))
    q, r = jnp.linalg.qr(normal(key, sizes, dtype_of("orthogonal", dtype, np.inexact)))
    # Signs as if r had a positive diagonal, without which they would depend on the algorithm.
    q = q * jnp.sign(jnp.linalg.diagonal(r))[..., None, :]
    return jnp.matrix_transpose(q) if rows < columns else q
