"""The basic distributions: bits, uniform floats and integers, booleans."""

from __future__ import annotations

from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes
from irax.config import config
from irax.core.array import Array, as_array
from irax.core.dispatch import bind
from irax.core.dtypes.promotion import broadcast_to, convert
from irax.execution.shardings.jit_shardings import takes_out_sharding
from irax.lax.arguments import canonical_shape
from irax.random.arguments import dtype_of, shape_of
from irax.random.keys import Key, draw_bits, one_key, split_key
from irax.typing import ArrayLike, DTypeLike, Shape
from irax_compiler.ops import bitcast

F32 = np.dtype(np.float32)


@takes_out_sharding("bits")
def bits(
    key: Key, shape: Shape = (), dtype: DTypeLike | None = None, *, out_sharding: Any = None
) -> Array:
    """Draw uniformly distributed unsigned integers.

    Args:
        key: a key.
        shape: the shape of the result.
        dtype: an unsigned integer dtype, uint32 by default.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        ValueError: another dtype.

    >>> irax.random.bits(irax.random.key(0), (3,), "uint8").dtype
    dtype('uint8')
    """
    dtype = dtype_of("bits", dtype, np.unsignedinteger)
    return draw_bits(one_key(key, "bits"), 8 * dtype.itemsize, shape_of("bits", shape))


@takes_out_sharding("uniform")
def uniform(
    key: Key,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    minval: ArrayLike = 0.0,
    maxval: ArrayLike = 1.0,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw uniformly distributed floats in [minval, maxval).

    Args:
        key: a key.
        shape: the shape of the result, to which both bounds broadcast. A number, of bounds of one
            element, has the shape of `minval`.
        dtype: a floating-point dtype.
        minval: the lower bound.
        maxval: the upper bound.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `key` is not a key, or a bound is not an array.
        ValueError: a bound does not broadcast to the shape, or `dtype` has no floats.

    >>> irax.random.uniform(irax.random.key(0), (2, 3)).shape
    (2, 3)
    """
    dtype = dtype_of("uniform", dtype)
    key = one_key(key, "uniform")
    low = convert(as_array(minval, "uniform: minval"), dtype)
    high = convert(as_array(maxval, "uniform: maxval"), dtype)
    given = canonical_shape("uniform", shape)
    if given == () and low.size == high.size == 1:
        given, high = low.shape, high.reshape(low.shape)
    sizes = shape_of("uniform", given, low, high)
    low, high = broadcast_to(low, sizes), broadcast_to(high, sizes)
    if config.unbiased_random and dtype.itemsize < 4:
        wide = uniform(key, sizes, F32, convert(low, F32), convert(high, F32))
        return jnp.maximum(low, _rounded_down(wide, dtype))
    info = dtypes.finfo(dtype)
    width = 8 if info.nmant < 8 else info.bits
    # Random bits for the mantissa, under the exponent of 1: a float in [1, 2).
    unsigned = np.dtype(f"u{dtype.itemsize}")
    mantissa = convert(
        draw_bits(key, width, sizes) >> np.array(width - info.nmant, f"u{width // 8}"), unsigned
    )
    one = np.ones((), dtype).view(unsigned)
    floats = bind(bitcast.BitcastConvert(sizes, dtype), mantissa | one) - np.ones((), dtype)
    return jnp.maximum(low, floats * (high - low) + low)


def _rounded_down(x: Array, dtype: np.dtype[Any]) -> Array:
    """Return the largest float of a narrower dtype that is not above x: it is below a float of that
    dtype as often as x is.
    """
    near = convert(x, dtype)
    below = jnp.nextafter(near, np.array(-np.inf, dtype))
    return jnp.where(convert(near, x.dtype) > x, below, near)


@takes_out_sharding("randint")
def randint(
    key: Key,
    shape: Shape,
    minval: ArrayLike,
    maxval: ArrayLike,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw uniformly distributed integers in [minval, maxval); minval where that is empty.

    Args:
        key: a key.
        shape: the shape of the result, to which both bounds broadcast.
        minval: the lower bound: integers, or floats that are truncated to integers.
        maxval: the upper bound, likewise.
        dtype: an integer dtype.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    As in JAX, integers are not equally likely where the range has more than 2^16, or 2^32 in 64
    bits, unless the option `unbiased_random` is set.

    Raises:
        TypeError: the dtype is not one of integers, or a bound has no real numbers.

    >>> int(irax.random.randint(irax.random.key(0), (), 0, 1))
    0
    """
    dtype = dtypes.requested_dtype(int if dtype is None else dtype, "random.randint")
    if not dtypes.issubdtype(dtype, np.integer):
        raise TypeError(f"randint: dtype must be an integer type, got {dtype}")
    info = dtypes.iinfo(dtype)
    low, high = (_bound(n, x, dtype) for n, x in (("minval", minval), ("maxval", maxval)))
    sizes = shape_of("randint", canonical_shape("randint", shape), low, high)
    # A bound above the dtype's largest value stands for that value plus one.
    beyond = jnp.asarray(high > int(info.max)) if dtypes.iinfo(high.dtype).max > info.max else None
    low, high = (broadcast_to(_within(x, dtype), sizes) for x in (low, high))
    # At least 32 bits, so that small types are drawn with as little bias as large ones.
    width = max(32, 8 * dtype.itemsize)
    unsigned = np.dtype(f"u{width // 8}")
    k1, k2 = split_key(one_key(key, "randint"))
    upper, lower = draw_bits(k1, width, sizes), draw_bits(k2, width, sizes)
    span = convert(high, unsigned) - convert(low, unsigned)
    if beyond is not None:
        span = jnp.where(beyond, span + np.ones((), unsigned), span)
    span = jnp.where(high <= low, np.ones((), unsigned), span)
    if config.unbiased_random:
        return low + convert(_share(upper, lower, span), dtype)
    # (upper * 2**width + lower) mod span, in `width` bits.
    multiplier = np.array(2 ** (width // 2), unsigned) % span
    multiplier = (multiplier * multiplier) % span
    offset = ((upper % span) * multiplier + lower % span) % span
    return low + convert(offset, dtype)


def _share(upper: Array, lower: Array, span: Array) -> Array:
    """Return the integral part of span times the fraction whose binary digits are upper and lower.

    A span of 0 stands for one above the largest unsigned integer.
    """
    part = upper * span + _upper_half(lower, span)
    carried = convert(part < upper * span, span.dtype)
    return jnp.where(span == 0, upper, _upper_half(upper, span) + carried)


def _upper_half(x: Array, y: Array) -> Array:
    """Return the upper half of the bits of the product of unsigned integers."""
    half = np.array(4 * x.dtype.itemsize, x.dtype)
    mask = np.array(2 ** int(half) - 1, x.dtype)
    x0, x1, y0, y1 = x & mask, x >> half, y & mask, y >> half
    middle = x1 * y0 + (x0 * y0 >> half)
    other = x0 * y1 + (middle & mask)
    return x1 * y1 + (middle >> half) + (other >> half)


def _within(x: Array, dtype: np.dtype[Any]) -> Array:
    """Return integers in another dtype, those beyond its range as its least or largest value."""
    own, other = dtypes.iinfo(x.dtype), dtypes.iinfo(dtype)
    least, largest = max(own.min, other.min), min(own.max, other.max)
    limits = (np.array(int(limit), x.dtype) for limit in (least, largest))
    return convert(jnp.clip(x, *limits), dtype)


def _bound(name: str, bound: ArrayLike, dtype: np.dtype[Any]) -> Array:
    """Return a bound of `randint` as integers."""
    x = as_array(bound, f"randint: {name}")
    if dtypes.issubdtype(x.dtype, np.complexfloating):
        raise TypeError(f"randint: {name} must be real, got {x.aval}")
    return x if dtypes.issubdtype(x.dtype, np.integer) else convert(x, dtype)


@takes_out_sharding("bernoulli")
def bernoulli(
    key: Key,
    p: ArrayLike = 0.5,
    shape: Shape | None = None,
    mode: str = "low",
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw booleans that are True with probability p.

    Args:
        key: a key.
        p: probabilities, floats.
        shape: the shape of the result, to which p broadcasts; by default that of p.
        mode: "high" draws twice the bits, for probabilities close to 0; the option
            `unbiased_random` does for all but float64.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: p is not floating-point.
        ValueError: another mode.

    >>> irax.random.bernoulli(irax.random.key(0), irax.numpy.array([0.0, 1.0]))
    Array([False,  True], dtype=bool)
    """
    if mode not in ("low", "high"):
        raise ValueError(f"bernoulli: mode must be 'low' or 'high', got {mode!r}")
    p = as_array(p, "bernoulli: p")
    if not dtypes.issubdtype(p.dtype, np.floating):
        raise TypeError(f"bernoulli: p must be floating-point, got {p.aval}")
    sizes = shape_of("bernoulli", shape, p)
    if mode == "low" and not (config.unbiased_random and p.dtype.itemsize <= 4):
        return uniform(key, sizes, p.dtype) < p
    if config.unbiased_random and p.dtype.itemsize < 4:
        p = convert(p, F32)
    coarse, fine = uniform(key, (2, *sizes), p.dtype)
    step = np.array(2.0 ** -dtypes.finfo(p.dtype).nmant, p.dtype)
    return fine * step < p - coarse


@takes_out_sharding("rademacher")
def rademacher(
    key: Key, shape: Shape = (), dtype: DTypeLike | None = None, *, out_sharding: Any = None
) -> Array:
    """Draw numbers that are 1 or -1, with equal probability.

    Args:
        key: a key.
        shape: the shape of the result.
        dtype: the dtype of the result; by default that of Python's ints.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `key` is not a key, or `shape` is not a shape.

    >>> int(abs(irax.random.rademacher(irax.random.key(0))))
    1
    """
    found = dtypes.requested_dtype(int if dtype is None else dtype, "random.rademacher")
    heads = bernoulli(key, 0.5, shape_of("rademacher", shape))
    return convert(jnp.where(heads, np.int8(1), np.int8(-1)), found)
