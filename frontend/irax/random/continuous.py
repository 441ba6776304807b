"""Distributions of floats that are a formula of one uniform number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes, lax
from irax.core.array import Array, as_array
from irax.core.dtypes.promotion import broadcast_to, convert
from irax.execution.shardings.jit_shardings import takes_out_sharding
from irax.random.arguments import dtype_of, parameters, shape_of
from irax.random.basic import uniform
from irax.random.hashing import U32
from irax.random.keys import Key, draw_bits, one_key
from irax.typing import ArrayLike, DTypeLike, Shape


@takes_out_sharding("cauchy")
def cauchy(
    key: Key, shape: Shape = (), dtype: DTypeLike | None = None, *, out_sharding: Any = None
) -> Array:
    """Draw floats of the Cauchy distribution: tan(pi (u - 1/2)).

    Args:
        key: a key, which should be used for nothing else.
        shape: the shape of the result.
        dtype: a dtype of floats.
        out_sharding: the sharding of the result.

    Raises:
        TypeError: `key` is not a key, or `shape` is not a shape.
        ValueError: `dtype` has no floats.

    >>> irax.random.cauchy(irax.random.key(0), (3,)).shape
    (3,)
    """
    dtype = dtype_of("cauchy", dtype)
    u = uniform(key, shape, dtype, minval=dtypes.finfo(dtype).eps)
    return jnp.tan(np.array(math.pi, dtype) * (u - np.array(0.5, dtype)))


@takes_out_sharding("exponential")
def exponential(
    key: Key, shape: Shape = (), dtype: DTypeLike | None = None, *, out_sharding: Any = None
) -> Array:
    """Draw floats of the exponential distribution with rate 1: -log(1 - u).

    Args:
        key: a key, which should be used for nothing else.
        shape: the shape of the result.
        dtype: a dtype of floats.
        out_sharding: the sharding of the result.

    Raises:
        TypeError: `key` is not a key, or `shape` is not a shape.
        ValueError: `dtype` has no floats.

    >>> bool(irax.random.exponential(irax.random.key(0)) >= 0)
    True
    """
    return -jnp.log1p(-uniform(key, shape, dtype_of("exponential", dtype)))


@takes_out_sharding("laplace")
def laplace(
    key: Key, shape: Shape = (), dtype: DTypeLike | None = None, *, out_sharding: Any = None
) -> Array:
    """Draw floats of the Laplace distribution: sign(u) log(1 - |u|), u uniform in (-1, 1).

    Args:
        key: a key, which should be used for nothing else.
        shape: the shape of the result.
        dtype: a dtype of floats.
        out_sharding: the sharding of the result.

    Raises:
        TypeError: `key` is not a key, or `shape` is not a shape.
        ValueError: `dtype` has no floats.

    >>> irax.random.laplace(irax.random.key(0), (3,)).shape
    (3,)
    """
    dtype = dtype_of("laplace", dtype)
    low = np.array(-1, dtype) + np.array(dtypes.finfo(dtype).epsneg, dtype)
    u = uniform(key, shape, dtype, minval=low)
    return jnp.sign(u) * jnp.log1p(-jnp.abs(u))


@takes_out_sharding("logistic")
def logistic(
    key: Key, shape: Shape = (), dtype: DTypeLike | None = None, *, out_sharding: Any = None
) -> Array:
    """Draw floats of the logistic distribution: log(u / (1 - u)).

    Args:
        key: a key, which should be used for nothing else.
        shape: the shape of the result.
        dtype: a dtype of floats.
        out_sharding: the sharding of the result.

    Raises:
        TypeError: `key` is not a key, or `shape` is not a shape.
        ValueError: `dtype` has no floats.

    >>> irax.random.logistic(irax.random.key(0), (3,)).shape
    (3,)
    """
    dtype = dtype_of("logistic", dtype)
    u = uniform(key, shape, dtype, minval=np.array(dtypes.finfo(dtype).tiny, dtype))
    return jnp.log(u) - jnp.log1p(-u)


@takes_out_sharding("gumbel")
def gumbel(
    key: Key,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    mode: str | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw floats of the standard Gumbel distribution: -log(-log(u)).

    Args:
        key: a key.
        shape: the shape of the result.
        dtype: a floating-point dtype.
        mode: "high" and "highest" draw twice the bits, for a right tail with more values in it
            ("highest" only for float32); "low" by default.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        ValueError: another mode.

    >>> irax.random.gumbel(irax.random.key(0), (3,)).shape
    (3,)
    """
    dtype, sizes = dtype_of("gumbel", dtype), shape_of("gumbel", shape)
    if mode not in (None, "low", "high", "highest"):
        raise ValueError(f"gumbel: mode must be 'low', 'high' or 'highest', got {mode!r}")
    info = dtypes.finfo(dtype)
    tiny = np.array(info.tiny, dtype)
    if mode in (None, "low"):
        return -jnp.log(-jnp.log(uniform(key, sizes, dtype, minval=tiny)))
    if mode == "highest" and dtype == np.float32:
        words = draw_bits(one_key(key, "gumbel"), 32, (2, *sizes))
        below_half, distance = _distance_to_edge(words[0], words[1])
        # Never near log(1), where a logarithm loses digits.
        logs = jnp.where(below_half, jnp.log1p(-distance), jnp.log(distance))
        return -jnp.log(-logs)
    coarse, fine = uniform(key, (2, *sizes), dtype)
    step = np.array(2.0**-info.nmant, dtype)
    u = jnp.where(coarse >= 0.5, coarse, coarse + step * fine + tiny)
    return -jnp.log(-jnp.log1p(-u))


def _distance_to_edge(high: Array, low: Array) -> tuple[Array, Array]:
    """For fractions of 64 bits, in two words, return True if they are below 1/2, and their distance
    from 0 if so, otherwise from 1, as a float32 that has all its digits.
    """
    below_half = high < np.uint32(1 << 31)
    carry = convert(jnp.equal(low, 0), U32)
    high = jnp.where(below_half, high, ~high + carry)
    low = jnp.where(below_half, low, ~low + np.uint32(1))
    # The leading bit is shifted to the left end; 24 bits from there on are the float's.
    in_high = high != 0
    first, second = jnp.where(in_high, high, low), jnp.where(in_high, low, 0)
    zeros = lax.clz(first)
    rest = np.uint32(32) - jnp.clip(
        zeros, 1, 32
    )  # no shift by 32, which is undefined on some devices
    shift = jnp.minimum(zeros, 31)
    shifted = (first << shift) | jnp.where(zeros == 0, 0, second >> rest)
    digits = jnp.where(first == 0, np.uint32(1 << 23), shifted >> np.uint32(8))
    exponent = zeros + jnp.where(in_high, np.uint32(0), np.uint32(32)) + np.uint32(24)
    scale = lax.bitcast_convert_type((np.uint32(127) - exponent) << np.uint32(23), np.float32)
    return below_half, convert(digits, np.dtype(np.float32)) * scale


@takes_out_sharding("pareto")
def pareto(
    key: Key,
    b: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw floats of the Pareto distribution with density b / x**(b + 1) for x >= 1.

    Args:
        key: a key.
        b: positive.
        shape: the shape of the result, to which b broadcasts; by default that of b.
        dtype: a floating-point dtype.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `key` is not a key, or `b` is not an array of real numbers.
        ValueError: `dtype` has no floats.

    >>> bool(irax.random.pareto(irax.random.key(0), 2.0) >= 1)
    True
    """
    dtype = dtype_of("pareto", dtype)
    (b,) = parameters("pareto", dtype, b=b)
    return jnp.exp(exponential(key, shape_of("pareto", shape, b), dtype) / b)


@takes_out_sharding("rayleigh")
def rayleigh(
    key: Key,
    scale: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw floats of the Rayleigh distribution: scale sqrt(-2 log(u)).

    Args:
        key: a key.
        scale: positive.
        shape: the shape of the result, to which scale broadcasts; by default that of scale.
        dtype: a floating-point dtype.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `key` is not a key, or `scale` is not an array of real numbers.
        ValueError: `dtype` has no floats.

    >>> bool(irax.random.rayleigh(irax.random.key(0), 2.0) >= 0)
    True
    """
    dtype = dtype_of("rayleigh", dtype)
    (scale,) = parameters("rayleigh", dtype, scale=scale)
    u = uniform(key, shape_of("rayleigh", shape, scale), dtype)
    return scale * jnp.sqrt(jnp.log(u) * np.array(-2, dtype))


@takes_out_sharding("triangular")
def triangular(
    key: Key,
    left: ArrayLike,
    mode: ArrayLike,
    right: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw floats of the triangular distribution, whose density is largest at `mode`.

    Args:
        key: a key.
        left: the least of the three.
        mode: where the density is largest.
        right: the greatest.
        shape: the shape of the result, to which the three broadcast; by default their own.
        dtype: a floating-point dtype.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `key` is not a key, or a parameter is not an array of real numbers.
        ValueError: a parameter does not broadcast to the shape, or `dtype` has no floats.

    >>> irax.random.triangular(irax.random.key(0), 0.0, 0.5, 2.0, (3,)).shape
    (3,)
    """
    dtype = dtype_of("triangular", dtype)
    left, mode, right = parameters("triangular", dtype, left=left, mode=mode, right=right)
    sizes = shape_of("triangular", shape, left, mode, right)
    left, mode, right = (broadcast_to(v, sizes) for v in (left, mode, right))
    u = uniform(key, sizes, dtype)
    width = right - left
    rising = u < (mode - left) / width
    return jnp.where(
        rising,
        left + _sqrt(u * width * (mode - left)),
        right - _sqrt((1 - u) * width * (right - mode)),
    )


def _sqrt(x: Array) -> Array:
    """The square root, with derivative 0 at 0."""
    positive = x != 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, x, 1)), 0)


def weibull_min(
    key: Key,
    scale: ArrayLike,
    concentration: ArrayLike,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
) -> Array:
    """Draw floats of the Weibull distribution: scale times an exponential number to the power of 1
    / concentration. `shape` is that of the exponential numbers, and broadcasts with both.

    Args:
        key: a key.
        scale: positive numbers.
        concentration: positive numbers.
        shape: the shape that both broadcast with.
        dtype: a floating-point dtype.

    Raises:
        TypeError: `key` is not a key, or a parameter is not an array that fits the shape.
        ValueError: `dtype` has no floats.

    >>> irax.random.weibull_min(irax.random.key(0), 2.0, 1.5, (3,)).shape
    (3,)
    """
    dtype = dtype_of("weibull_min", dtype)
    scale = as_array(scale, "weibull_min: scale")
    concentration = as_array(concentration, "weibull_min: concentration")
    dtypes.judge_dtypes(scale, concentration)
    return jnp.power(exponential(key, shape, dtype), 1.0 / concentration) * scale
