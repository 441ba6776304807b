"""The gamma distribution, and those that follow from it."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes, lax
from irax.core.array import Array, as_array
from irax.core.dtypes.promotion import broadcast_to, convert
from irax.core.dtypes.strictness import library
from irax.core.key_arrays import KeyArray
from irax.core.shardings.explicit_axes import layout_is_stated
from irax.custom_derivatives import custom_jvp
from irax.execution.shardings.jit_shardings import takes_out_sharding
from irax.random.approximate import log_gammas
from irax.random.arguments import check_method, dtype_of, parameters, shape_of
from irax.random.basic import rademacher, uniform
from irax.random.continuous import exponential
from irax.random.keys import Key, one_key, split_key
from irax.random.normals import normal
from irax.transforms.vmap import vmap
from irax.typing import ArrayLike, DTypeLike, Shape


@takes_out_sharding("gamma")
def gamma(
    key: Key,
    a: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    method: str = "exact",
    out_sharding: Any = None,
) -> Array:
    """Draw floats of the gamma distribution, with density proportional to x**(a - 1) exp(-x).

    Args:
        key: a key.
        a: positive; the numbers have derivatives in it.
        shape: the shape of the result, to which a broadcasts; by default that of a.
        dtype: a floating-point dtype.
        method: "exact" or "approximate": without loops, of a distribution that is nearly this one.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `key` is not a key, or `a` is not an array.
        ValueError: `dtype` has no floats, or there is no such method.

    Marsaglia and Tsang, "A simple method for generating gamma variables" (2000).

    >>> bool(irax.random.gamma(irax.random.key(0), 2.0) > 0)
    True
    """
    check_method("gamma", method)
    return _gammas("gamma", False, method, key, a, shape, dtype)


@takes_out_sharding("loggamma")
def loggamma(
    key: Key,
    a: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    method: str = "exact",
    out_sharding: Any = None,
) -> Array:
    """Draw the logarithms of floats of the gamma distribution, also for `a` so small that those are
    0.

    Args:
        key: a key.
        a: positive; the numbers have derivatives in it.
        shape: the shape of the result, to which a broadcasts; by default that of a.
        dtype: a floating-point dtype.
        method: "exact" or "approximate": without loops, of a distribution that is nearly this one.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `key` is not a key, or `a` is not an array.
        ValueError: `dtype` has no floats, or there is no such method.

    >>> bool(irax.random.loggamma(irax.random.key(0), 1e-6) < -100)
    True
    """
    check_method("loggamma", method)
    return _gammas("loggamma", True, method, key, a, shape, dtype)


@layout_is_stated()
def _gammas(
    what: str, in_logs: bool, method: str, key: Key, a: Any, shape: Any, dtype: Any
) -> Array:
    dtype = dtype_of(what, dtype)
    a = convert(as_array(a, f"{what}: a"), dtype)
    sizes = shape_of(what, shape, a)
    if method == "approximate":
        logs = log_gammas(one_key(key, what), broadcast_to(a, sizes))
        return convert(logs if in_logs else jnp.exp(logs), dtype)
    flat = jnp.reshape(broadcast_to(a, sizes), (math.prod(sizes),))
    return jnp.reshape(_draw(in_logs, split_key(one_key(key, what), flat.shape), flat), sizes)


@functools.partial(custom_jvp, nondiff_argnums=(0,))
def _draw(in_logs: bool, key: KeyArray, a: Array) -> Array:
    """Draw a number for each key and each `a` of two vectors."""
    return vmap(functools.partial(_draw_one, in_logs))(key, a)


def _draw_one(in_logs: bool, key: KeyArray, a: Array) -> Array:
    """By rejection: (1 + c x)**3 d, x normal, is close to what is looked for if a >= 1. Others come
    from a + 1, times u**(1 / a).
    """
    dtype = a.dtype
    zero, one, third = (np.array(v, dtype) for v in (0, 1, 1 / 3))
    large = a >= one
    d = jnp.where(large, a, a + one) - third
    c = third / jnp.sqrt(d)

    def next_normal(state: Any) -> Any:
        key, now = split_key(state[0])
        x = normal(now, (), dtype)
        return key, x, one + x * c

    def attempt(state: Any) -> Any:
        key, x_key, u_key = split_key(state[0], (3,))
        start = (x_key, jnp.asarray(zero), jnp.asarray(-one))
        _, x, v = lax.while_loop(lambda s: s[2] <= zero, next_normal, start)
        return key, x * x, v * v * v, uniform(u_key, (), dtype)

    def rejected(state: Any) -> Array:
        _, square, v, u = state
        unsure = u >= one - np.array(0.0331, dtype) * square * square
        return unsure & (jnp.log(u) >= square * np.array(0.5, dtype) + d * (one - v + jnp.log(v)))

    key, last = split_key(key)
    start = (key, jnp.asarray(zero), jnp.asarray(one), jnp.asarray(one + one))
    v = lax.while_loop(rejected, attempt, start)[2]
    if in_logs:
        log_u = -exponential(last, (), dtype)
        boost = jnp.where(large | (log_u == 0), zero, log_u * (one / a))
        return jnp.log(d) + jnp.log(v) + boost
    boost = jnp.where(large, one, jnp.power(one - uniform(last, (), dtype), one / a))
    return d * v * boost


@_draw.defjvp
@library
def _draw_jvp(in_logs: bool, primals: Any, tangents: Any) -> Any:
    """As if the number x were the inverse of the cumulative distribution at a fixed place. For
    small x that is x**a / gamma(a + 1).
    """
    key, a = primals
    found = _draw(in_logs, key, a)
    if not in_logs:
        some = found != 0
        slope = jnp.where(some, lax.random_gamma_grad(a, jnp.where(some, found, 1)), 0)
        return found, tangents[1] * slope
    small = found < np.array(math.log(dtypes.finfo(a.dtype).eps), a.dtype)
    x = jnp.exp(jnp.where(small, 0, found))
    slope = jnp.where(small, (lax.digamma(a + 1) - found) / a, lax.random_gamma_grad(a, x) / x)
    return found, tangents[1] * slope


@takes_out_sharding("beta")
def beta(
    key: Key,
    a: ArrayLike,
    b: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    method: str = "exact",
    out_sharding: Any = None,
) -> Array:
    """Draw floats in (0, 1) of the beta distribution, with density proportional to x**(a - 1) (1 -
    x)**(b - 1).

    Args:
        key: a key.
        a: positive.
        b: positive.
        shape: the shape of the result, to which both broadcast; by default their own.
        dtype: a floating-point dtype.
        method: "exact" or "approximate": without loops, of a distribution that is nearly this one.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `key` is not a key, or `a` or `b` is not an array of real numbers.
        ValueError: `dtype` has no floats, or there is no such method.

    >>> bool(irax.random.beta(irax.random.key(0), 2.0, 3.0) < 1)
    True
    """
    check_method("beta", method)
    dtype = dtype_of("beta", dtype)
    a, b = parameters("beta", dtype, a=a, b=b)
    sizes = shape_of("beta", shape, a, b)
    a_key, b_key = split_key(one_key(key, "beta"))
    logs_a, logs_b = (
        loggamma(key, x, sizes, dtype, method=method) for key, x in ((a_key, a), (b_key, b))
    )
    return lax.logistic(logs_a - logs_b)


@takes_out_sharding("dirichlet")
def dirichlet(
    key: Key,
    alpha: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw vectors of the Dirichlet distribution: positive floats with sum 1.

    Args:
        key: a key.
        alpha: positive, of shape (..., n).
        shape: the shape of the result without n, to which the batch of alpha broadcasts; by default
            that.
        dtype: a floating-point dtype.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        ValueError: alpha is a scalar.

    >>> irax.random.dirichlet(irax.random.key(0), irax.numpy.ones(3), (4,)).shape
    (4, 3)
    """
    dtype = dtype_of("dirichlet", dtype)
    alpha = convert(as_array(alpha, "dirichlet: alpha"), dtype)
    if not alpha.ndim:
        raise ValueError("dirichlet: alpha must be a vector, or a batch of them, got a scalar")
    sizes = alpha.shape[:-1] if shape is None else shape_of("dirichlet", shape)
    logs = loggamma(key, alpha, (*sizes, alpha.shape[-1]), dtype)
    parts = jnp.exp(logs - lax.stop_gradient(logs.max(-1, keepdims=True)))
    return parts / parts.sum(-1, keepdims=True)


@takes_out_sharding("chisquare")
def chisquare(
    key: Key,
    df: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    method: str = "exact",
    out_sharding: Any = None,
) -> Array:
    """Draw floats of the chi-square distribution with `df` degrees of freedom.

    Args:
        key: a key.
        df: positive.
        shape: the shape of the result, to which df broadcasts; by default that of df.
        dtype: a floating-point dtype.
        method: "exact" or "approximate": without loops, of a distribution that is nearly this one.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `key` is not a key, or `df` is not an array of real numbers.
        ValueError: `dtype` has no floats, or there is no such method.

    >>> bool(irax.random.chisquare(irax.random.key(0), 2.0) > 0)
    True
    """
    check_method("chisquare", method)
    dtype = dtype_of("chisquare", dtype)
    (df,) = parameters("chisquare", dtype, df=df)
    half = df / np.array(2, dtype)
    return jnp.exp(loggamma(key, half, shape, dtype, method=method)) * np.array(2, dtype)


@takes_out_sharding("f")
def f(
    key: Key,
    dfnum: ArrayLike,
    dfden: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw floats of the F distribution: the quotient of two of chi-square distributions, each
    divided by its degrees of freedom.

    Args:
        key: a key.
        dfnum: the degrees of freedom above, positive.
        dfden: those below, positive.
        shape: the shape of the result, to which both broadcast; by default their own.
        dtype: a floating-point dtype.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `key` is not a key, or a number of degrees of freedom is not an array of real
            numbers.
        ValueError: `dtype` has no floats.

    >>> bool(irax.random.f(irax.random.key(0), 2.0, 3.0) > 0)
    True
    """
    dtype = dtype_of("f", dtype)
    dfnum, dfden = parameters("f", dtype, dfnum=dfnum, dfden=dfden)
    sizes = shape_of("f", shape, dfnum, dfden)
    below_key, above_key = split_key(one_key(key, "f"))
    above = chisquare(above_key, dfnum, sizes, dtype) / dfnum
    return above / (chisquare(below_key, dfden, sizes, dtype) / dfden)


@takes_out_sharding("t")
def t(
    key: Key,
    df: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Floats of Student's t distribution with `df` degrees of freedom.

    Args:
        key: a key.
        df: positive.
        shape: the shape of the result, to which df broadcasts; by default that of df.
        dtype: a floating-point dtype.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `key` is not a key, or `df` is not an array of real numbers.
        ValueError: `df` does not broadcast to the shape, or `dtype` has no floats.

    >>> irax.random.t(irax.random.key(0), 2.0, (3,)).shape
    (3,)
    """
    dtype = dtype_of("t", dtype)
    (df,) = parameters("t", dtype, df=df)
    sizes = shape_of("t", shape, df)
    normal_key, gamma_key = split_key(one_key(key, "t"))
    half = df / np.array(2, dtype)
    spread = jnp.sqrt(half / gamma(gamma_key, half, sizes, dtype))
    return normal(normal_key, sizes, dtype) * spread


@takes_out_sharding("generalized_normal")
def generalized_normal(
    key: Key,
    p: ArrayLike,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw floats with density proportional to exp(-|x|**p).

    Args:
        key: a key.
        p: positive; 2 is the normal distribution with variance 1/2, 1 the Laplace distribution.
        shape: the shape of the result.
        dtype: a floating-point dtype.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `key` is not a key, or `p` is not an array.
        ValueError: `dtype` has no floats.

    >>> irax.random.generalized_normal(irax.random.key(0), 4.0, (3,)).shape
    (3,)
    """
    dtype, sizes = dtype_of("generalized_normal", dtype), shape_of("generalized_normal", shape)
    inverse = 1 / as_array(p, "generalized_normal: p")
    size_key, sign_key = split_key(one_key(key, "generalized_normal"))
    return rademacher(sign_key, sizes, dtype) * gamma(size_key, inverse, sizes, dtype) ** inverse


@takes_out_sharding("ball")
def ball(
    key: Key,
    d: int,
    p: ArrayLike = 2,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw vectors that are uniformly distributed in the unit ball of the p-norm.

    Args:
        key: a key.
        d: the number of their elements.
        p: of the norm.
        shape: the shape of the result without d.
        dtype: a floating-point dtype.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `key` is not a key, `d` is not an int, or `p` not a number.
        ValueError: `dtype` has no floats.

    Barthe et al., "A probabilistic approach to the geometry of the l_p^n-ball" (2005).

    >>> bool(irax.numpy.linalg.norm(irax.random.ball(irax.random.key(0), 3)) <= 1)
    True
    """
    dtype, sizes = dtype_of("ball", dtype), shape_of("ball", shape)
    p = as_array(p, "ball: p")
    inner_key, outer_key = split_key(one_key(key, "ball"))
    x = generalized_normal(inner_key, p, (*sizes, operator.index(d)), dtype)
    e = exponential(outer_key, sizes, dtype)
    return x / (((jnp.abs(x) ** p).sum(-1) + e) ** (1 / p))[..., None]
