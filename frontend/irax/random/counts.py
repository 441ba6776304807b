"""Distributions of counts: geometric, Poisson, binomial, multinomial."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes, lax
from irax.config import config
from irax.core.array import Array, as_array
from irax.core.dtypes.operands import inexact_dtype
from irax.core.dtypes.promotion import broadcast_to, convert
from irax.core.key_arrays import KeyArray
from irax.core.shardings.explicit_axes import layout_is_stated
from irax.execution.shardings.jit_shardings import takes_out_sharding
from irax.random.approximate import poissons
from irax.random.arguments import check_method, dtype_of, shape_of
from irax.random.basic import uniform
from irax.random.keys import Key, one_key, split_key
from irax.typing import ArrayLike, DTypeLike, Shape
from irax_compiler.importing import import_module

F32 = np.dtype(np.float32)


def _inexact(what: str, x: ArrayLike) -> Array:
    array = as_array(x, what)
    return convert(array, inexact_dtype(array.dtype))


@takes_out_sharding("geometric")
def geometric(
    key: Key,
    p: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw the number of trials up to the first success, each of probability p.

    Args:
        key: a key.
        p: in (0, 1].
        shape: the shape of the result, to which p broadcasts; by default that of p.
        dtype: an integer dtype.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `key` is not a key, or `p` is not an array.
        ValueError: `dtype` has no integers.

    >>> int(irax.random.geometric(irax.random.key(0), 1.0))
    1
    """
    dtype = dtype_of("geometric", dtype, np.integer)
    p = _inexact("geometric: p", p)
    u = uniform(key, shape_of("geometric", shape, p), p.dtype)
    log_u = jnp.log(jnp.where(u == 0, 1, u))
    return convert(jnp.floor(log_u / jnp.log1p(-p)) + 1, dtype)


# ---- poisson -------------------------------------------------------------------------------------


@takes_out_sharding("poisson")
def poisson(
    key: Key,
    lam: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    method: str = "exact",
    out_sharding: Any = None,
) -> Array:
    """Draw integers of the Poisson distribution.

    Args:
        key: a key.
        lam: the mean, not negative. (Where it is negative or nan the result is -1, as JAX's.)
        shape: the shape of the result, to which lam broadcasts; by default that of lam.
        dtype: an integer dtype.
        method: "exact" or "approximate": without loops, of a distribution that is nearly this one.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `key` is not a key, or `lam` is not an array.
        ValueError: `dtype` has no integers, or there is no such method.

    Knuth's products of uniform numbers for small means; for others Hörmann, "The transformed
    rejection method for generating Poisson random variables" (1993).

    >>> int(irax.random.poisson(irax.random.key(0), 0.0))
    0
    """
    check_method("poisson", method)
    dtype = dtype_of("poisson", dtype, np.integer)
    lam = as_array(lam, "poisson: lam")
    sizes = shape_of("poisson", shape, lam)
    key = one_key(key, "poisson")
    if method == "approximate":
        return poissons(key, lam, sizes, dtype)
    lam = broadcast_to(convert(lam, F32), sizes)
    by_products = jnp.isnan(lam) | (lam < 10)
    # Where the other method is used, each gets a mean for which it is fast.
    small = _poisson_by_products(key, jnp.where(by_products, lam, 0), dtype)
    large = _poisson_by_rejection(key, jnp.where(by_products, np.float32(1e5), lam))
    found = jnp.where(by_products, small, convert(large, dtype))
    return jnp.where(lam == 0, np.zeros((), dtype), found)


@layout_is_stated()
def _poisson_by_products(key: KeyArray, lam: Array, dtype: np.dtype[Any]) -> Array:
    """Return one less than the number of uniform numbers whose product falls below exp(-lam)."""

    def more(state: Any) -> Any:
        count, key, log_product = state
        key, now = split_key(key)
        count = jnp.where(log_product > -lam, count + np.ones((), dtype), count)
        return count, key, log_product + jnp.log(uniform(now, lam.shape, F32))

    start = (jnp.zeros(lam.shape, dtype), key, jnp.zeros(lam.shape, F32))
    count = lax.while_loop(lambda s: (s[2] > -lam).any(), more, start)[0]
    return count - np.ones((), dtype)


def _precise_densities() -> Any:
    """Return formulas of densities whose terms do not cancel, where the option asks for them: JAX's
    have lost their digits at means of 1e7.
    """
    if not config.unbiased_random:
        return None
    return import_module("irax.scipy.special.differences")


def _poisson_by_rejection(key: KeyArray, lam: Array) -> Array:
    """Hörmann's algorithm PTRS, for means from 10 on."""
    precise = _precise_densities()
    log_lam = jnp.log(lam)
    b = 0.931 + 2.53 * jnp.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    sure = 0.9277 - 3.6224 / (b - 2)

    def propose(u: Array, v: Array) -> tuple[Array, Array]:
        edge = 0.5 - jnp.abs(u)
        k = jnp.floor((2 * a / edge + b) * u + lam + 0.43)
        height = jnp.log(v * inverse_alpha / (a / (edge * edge) + b))
        if precise:
            density = -precise.poisson_loss(jnp.maximum(k, 0), lam)
        else:
            density = -lam + k * log_lam - lax.lgamma(k + 1)
        inside = ~((k < 0) | ((edge < 0.013) & (v > edge)))
        return k, ((edge >= 0.07) & (v <= sure)) | (inside & (height <= density))

    return _rejection(key, lam, propose)


@layout_is_stated()
def _rejection(
    key: KeyArray, like: Array, propose: Callable[[Array, Array], tuple[Array, Array]]
) -> Array:
    """Numbers that a function of u in [-1/2, 1/2) and v in [0, 1) proposes and says to accept.

    All are drawn until each is accepted; as in JAX, one may still be replaced after that.
    """

    def attempt(state: Any) -> Any:
        found, done, key = state
        key, u_key, v_key = split_key(key, (3,))
        u = uniform(u_key, like.shape, like.dtype) - 0.5
        k, accepted = propose(u, uniform(v_key, like.shape, like.dtype))
        return jnp.where(accepted, k, found), done | accepted, key

    start = (jnp.full(like.shape, -1, like.dtype), jnp.zeros(like.shape, bool), key)
    return lax.while_loop(lambda s: (~s[1]).any(), attempt, start)[0]


# ---- binomial ------------------------------------------------------------------------------------


def binomial(
    key: Key,
    n: ArrayLike,
    p: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
) -> Array:
    """Draw the number of successes in n trials, each of probability p, as floats.

    Args:
        key: a key.
        n: not negative; it is rounded down. The result is nan where it is negative or nan.
        p: in [0, 1]. The result is nan where it is not.
        shape: the shape of the result, to which both broadcast; by default their own.
        dtype: a floating-point dtype.

    Raises:
        TypeError: `key` is not a key, or `n` or `p` is not an array of real numbers.
        ValueError: `dtype` has no floats.

    Sums of geometric numbers for small means; for others Hörmann, "The generation of binomial
    random variates" (1993).

    >>> float(irax.random.binomial(irax.random.key(0), 7, 1.0))
    7.0
    """
    dtype = dtype_of("binomial", dtype)
    p = _inexact("binomial: p", p)
    n = convert(as_array(n, "binomial: n"), p.dtype)
    sizes = shape_of("binomial", shape, n, p)
    n, p = broadcast_to(n, sizes), broadcast_to(p, sizes)
    key = one_key(key, "binomial")
    # The rarer of success and failure is counted.
    rare = p < 0.5
    q = jnp.where(rare, p, 1.0 - p)
    no_count = jnp.isnan(n) | (n < 0)
    invalid = no_count | jnp.isnan(q) | (q < 0)
    infinite = jnp.isinf(n)
    q = jnp.where(jnp.isnan(q) | (q < 0), 0.01, q)
    by_sums = no_count | (n * q <= 10)
    n = jnp.floor(n)
    small = _binomial_by_sums(key, jnp.where(by_sums, n, 0), q)
    elsewhere = by_sums | infinite
    large = _binomial_by_rejection(key, jnp.where(elsewhere, 1e4, n), jnp.where(elsewhere, 0.5, q))
    found = jnp.where(by_sums, convert(small, dtype), convert(large, dtype))
    found = jnp.where(rare, found, convert(n, dtype) - found)
    found = jnp.where(infinite, np.array(np.inf, dtype), found)
    return jnp.where(invalid, np.array(np.nan, dtype), found)


@layout_is_stated()
def _binomial_by_sums(key: KeyArray, n: Array, q: Array) -> Array:
    """Return one less than the number of geometric numbers whose sum exceeds n."""
    log_failure = jnp.log1p(-q)

    def more(state: Any) -> Any:
        count, total, key = state
        now, key = split_key(key)
        count = jnp.where(total <= n, count + 1, count)
        u = uniform(now, q.shape, q.dtype)
        return count, total + jnp.ceil(jnp.log(u) / log_failure), key

    start = (jnp.zeros(q.shape, q.dtype), jnp.zeros(q.shape, q.dtype), key)
    return lax.while_loop(lambda s: (s[1] <= n).any(), more, start)[0] - 1


def _binomial_by_rejection(key: KeyArray, n: Array, q: Array) -> Array:
    """Hörmann's algorithm BTRS, for means from 10 on."""
    precise = _precise_densities()
    deviation = jnp.sqrt(n * q * (1 - q))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * q
    centre = n * q + 0.5
    sure = 0.92 - 4.2 / b
    odds = q / (1 - q)
    alpha = (2.83 + 5.1 / b) * deviation
    mode = jnp.floor((n + 1) * q)

    def propose(u: Array, v: Array) -> tuple[Array, Array]:
        edge = 0.5 - jnp.abs(u)
        k = jnp.floor((2 * a / edge + b) * u + centre)
        height = jnp.log(v * alpha / (a / (edge * edge) + b))
        if precise:
            inner = jnp.clip(k, 0, n)
            chances = [precise.log_choices(n, x, q, n - x, 1 - q) for x in (inner, mode)]
            density = chances[0] - chances[1]
        else:
            density = plain_density(k)
        inside = (k >= 0) & (k <= n)
        return k, ((edge >= 0.07) & (v <= sure)) | (inside & (height <= density))

    def plain_density(k: Array) -> Array:
        return (
            (mode + 0.5) * jnp.log((mode + 1) / (odds * (n - mode + 1)))
            + (n + 1) * jnp.log((n - mode + 1) / (n - k + 1))
            + (k + 0.5) * jnp.log(odds * (n - k + 1) / (k + 1))
            + _stirling_error(mode)
            + _stirling_error(n - mode)
            - _stirling_error(k)
            - _stirling_error(n - k)
        )

    return _rejection(key, n, propose)


_STIRLING_ERRORS = [
    math.lgamma(k + 1) - ((k + 0.5) * math.log(k + 1) - (k + 1) + 0.5 * math.log(2 * math.pi))
    for k in range(10)
]


def _stirling_error(k: Array) -> Array:
    """Return the error of Stirling's formula for log(k!): a table up to 9, then a series."""
    square = (k + 1) * (k + 1)
    series = (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
    table = jnp.asarray(np.array(_STIRLING_ERRORS, k.dtype))
    place = convert(jnp.clip(jnp.where(jnp.isnan(k), 0, k), 0, 9), np.dtype(np.int32))
    return jnp.where(k <= 9, table[place], series)


@layout_is_stated()
def multinomial(
    key: Key,
    n: ArrayLike,
    p: ArrayLike,
    *,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    unroll: int | bool = 1,
) -> Array:
    """Draw the numbers of trials, of n, that have each of several outcomes, as floats.

    Args:
        key: a key.
        n: the numbers of trials.
        p: probabilities of the outcomes, of shape (..., k), with sum 1.
        shape: the shape of the result without its last dimension, that of the outcomes, to which n
            broadcasts, and p without its last dimension; by default that of p.
        dtype: the dtype of the result, the default one of floats.
        unroll: of the loop over outcomes: see `irax.lax.scan`.

    Raises:
        ValueError: p is a scalar, or shapes that do not fit.

    >>> irax.random.multinomial(irax.random.key(0), 5, irax.numpy.array([0.5, 0.5])).sum()
    Array(5., dtype=float32)
    """
    dtype = dtypes.requested_dtype(float if dtype is None else dtype, "random.multinomial")
    n, p = (_inexact(f"multinomial: {name}", v) for name, v in (("n", n), ("p", p)))
    common = dtypes.result_type(n, p)
    n, p = convert(n, common), convert(p, common)
    if not p.ndim:
        raise ValueError("multinomial: p must be a vector, or a batch of them, got a scalar")
    whole = p.shape if shape is None else (*shape_of("multinomial", shape), p.shape[-1])
    sizes = shape_of("multinomial", whole, p)
    shape_of("multinomial", sizes[:-1], n)
    n = broadcast_to(n, sizes[:-1])
    p = jnp.moveaxis(broadcast_to(p, sizes), -1, 0)
    left = lax.cumsum(p, 0, reverse=True)
    # Of the trials that are left, each has the next outcome with this probability.
    ratios = jnp.clip(p / jnp.where(left == 0, 1, left), 0, 1)

    def step(trials: Array, outcome: Any) -> tuple[Array, Array]:
        ratio, key = outcome
        count = binomial(key, trials, ratio, dtype=trials.dtype)
        return trials - count, count

    keys = split_key(one_key(key, "multinomial"), (sizes[-1],))
    counts = lax.scan(step, n, (ratios, keys), unroll=unroll)[1]
    return convert(jnp.moveaxis(counts, 0, -1), dtype)
