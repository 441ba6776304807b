"""Distributions of integers, by their formulas."""

from __future__ import annotations

import numpy as np

import irax.numpy as jnp
from irax.core.array import Array
from irax.scipy import special
from irax.scipy.arguments import floats, polynomial
from irax.scipy.stats.distribution import Distribution
from irax.typing import ArrayLike


def _log_choices(n: Array, k: Array) -> Array:
    return special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)


def _trials(k: Array, n: Array, p: Array) -> Array:
    return _log_choices(n, k) + special.xlogy(k, p) + special.xlog1py(n - k, -p)


def _chance(p: Array) -> Array:
    """Return True for probabilities."""
    return jnp.logical_and(jnp.greater_equal(p, 0), jnp.less_equal(p, 1))


def _chance_above_0(p: Array) -> Array:
    return jnp.logical_and(jnp.greater(p, 0), jnp.less_equal(p, 1))


def _positive(p: Array) -> Array:
    return jnp.greater(p, 0)


bernoulli: Distribution = Distribution(
    "bernoulli",
    ("p",),
    "logpmf pmf cdf ppf",
    {
        "logpmf": lambda k, p: special.xlogy(k, p) + special.xlog1py(1 - k, -p),
        "cdf": lambda k, p: jnp.where(jnp.equal(k, 0), 1 - p, 1.0),
        "ppf": lambda q, p: jnp.where(jnp.less_equal(q, 1 - p), 0.0, 1.0),
    },
    (0.0, 1.0),
    discrete=True,
    unmoved="cdf ppf",
    valid=_chance,
)

binom: Distribution = Distribution(
    "binom",
    ("n", "p"),
    "logpmf pmf",
    {"logpmf": _trials},
    (0.0, lambda n, p: n),
    discrete=True,
    valid=lambda n, p: jnp.logical_and(jnp.greater_equal(n, 0), _chance(p)),
)

betabinom: Distribution = Distribution(
    "betabinom",
    ("n", "a", "b"),
    "logpmf pmf",
    {
        "logpmf": lambda k, n, a, b: (
            _log_choices(n, k) + special.betaln(k + a, n - k + b) - special.betaln(a, b)
        )
    },
    (0.0, lambda n, a, b: n),
    discrete=True,
    valid=lambda n, a, b: jnp.logical_and(
        jnp.greater_equal(n, 0), jnp.logical_and(_positive(a), _positive(b))
    ),
)

geom: Distribution = Distribution(
    "geom",
    ("p",),
    "logpmf pmf",
    {"logpmf": lambda k, p: special.xlog1py(k - 1, -p) + jnp.log(p)},
    (1.0, np.inf),
    discrete=True,
    valid=_chance_above_0,
)

nbinom: Distribution = Distribution(
    "nbinom",
    ("n", "p"),
    "logpmf pmf",
    {
        "logpmf": lambda k, n, p: (
            special.gammaln(k + n)
            - special.gammaln(n)
            - special.gammaln(k + 1)
            + special.xlogy(n, p)
            + special.xlog1py(k, -p)
        )
    },
    (0.0, np.inf),
    discrete=True,
    valid=lambda n, p: jnp.logical_and(_positive(n), _chance_above_0(p)),
)


def _poisson_entropy(mu: ArrayLike, loc: ArrayLike = 0) -> Array:
    """The entropy, for a mean mu: of each; where it is negative, nan.

    By its definition for means below 100, and by an expansion in 1 / mu (R. Evans and others,
    "The entropy of a Poisson distribution", SIAM Review 1988) from there on. The place, `loc`,
    changes nothing but the shape.

    >>> irax.scipy.stats.poisson.entropy(2.0).round(4)
    Array(1.7049, dtype=float32, weak_type=True)
    """
    mean, _ = floats("poisson.entropy", mu, loc)
    small = jnp.less(mean, 100)
    few = jnp.clip(jnp.where(small, mean, 1), 0)[..., None]
    counts = jnp.asarray(np.arange(250), mean.dtype)
    logs = special.xlogy(counts, few) - few - special.gammaln(counts + 1)
    direct = -jnp.sum(jnp.multiply(jnp.exp(logs), logs), -1)
    direct = jnp.where(jnp.equal(mean, 0), 0.0, direct)
    many = jnp.where(small, 100, mean)
    rest = polynomial((0, -1 / 12, -1 / 24, -19 / 360), jnp.divide(1, many))
    large = 0.5 * jnp.log(2 * np.pi * np.e * many) + rest
    return jnp.where(jnp.greater_equal(mean, 0), jnp.where(small, direct, large), np.nan)


poisson: Distribution = Distribution(
    "poisson",
    ("mu",),
    "logpmf pmf cdf",
    {
        "logpmf": lambda k, mu: special.xlogy(k, mu) - special.gammaln(k + 1) - mu,
        "cdf": lambda k, mu: special.gammaincc(k + 1, mu),
    },
    (0.0, np.inf),
    discrete=True,
    valid=lambda mu: jnp.greater_equal(mu, 0),
    further={"entropy": _poisson_entropy},
)
