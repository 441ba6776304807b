"""Distributions of integers, by their formulas."""

from __future__ import annotations

import numpy as np

import irax.numpy as jnp
from irax.core.array import Array
from irax.scipy import special
from irax.scipy.arguments import floats, polynomial
from irax.scipy.special.differences import log_choices, log_ratio, poisson_loss
from irax.scipy.stats.distribution import Distribution
from irax.typing import ArrayLike


def _before_success(k: Array, n: Array, p: Array) -> Array:
    """The last of n + k trials succeeds, and n - 1 of the others."""
    trials = n + k
    return log_choices(trials, n, p, k, 1 - p) + log_ratio(n, trials)


def _of_unknown_chance(k: Array, n: Array, a: Array, b: Array) -> Array:
    """Three binomial coefficients, each with the powers of its trials' mean chance."""
    rest, total = n - k, a + b
    successes, failures, trials = k + a, rest + b, n + total
    p, q = successes / trials, failures / trials
    logs = log_choices(n, k, p, rest, q) + log_choices(total, a, p, b, q)
    logs = logs - log_choices(trials, successes, p, failures, q)
    return logs + jnp.log(a / total) + jnp.log(b / failures) + jnp.log(trials / successes)


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
    {"logpmf": lambda k, n, p: log_choices(n, k, p, n - k, 1 - p)},
    (0.0, lambda n, p: n),
    discrete=True,
    valid=lambda n, p: jnp.logical_and(jnp.greater_equal(n, 0), _chance(p)),
)

betabinom: Distribution = Distribution(
    "betabinom",
    ("n", "a", "b"),
    "logpmf pmf",
    {"logpmf": _of_unknown_chance},
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
    {"logpmf": _before_success},
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
        "logpmf": lambda k, mu: -poisson_loss(k, mu),
        "cdf": lambda k, mu: special.gammaincc(k + 1, mu),
    },
    (0.0, np.inf),
    discrete=True,
    valid=lambda mu: jnp.greater_equal(mu, 0),
    further={"entropy": _poisson_entropy},
)
