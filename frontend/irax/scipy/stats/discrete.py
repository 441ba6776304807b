"""Distributions of integers, by their formulas."""

from __future__ import annotations

import numpy as np

import irax.numpy as jnp
from irax.array import Array
from irax.scipy import special
from irax.scipy.stats.distribution import Distribution


def _log_choices(n: Array, k: Array) -> Array:
    return special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)


def _trials(k: Array, n: Array, p: Array) -> Array:
    return _log_choices(n, k) + special.xlogy(k, p) + special.xlog1py(n - k, -p)


bernoulli = Distribution(
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
)

binom = Distribution(
    "binom", ("n", "p"), "logpmf pmf", {"logpmf": _trials}, (0.0, lambda n, p: n), discrete=True
)

betabinom = Distribution(
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
)

geom = Distribution(
    "geom",
    ("p",),
    "logpmf pmf",
    {"logpmf": lambda k, p: special.xlog1py(k - 1, -p) + jnp.log(p)},
    (1.0, np.inf),
    discrete=True,
)

nbinom = Distribution(
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
)

poisson = Distribution(
    "poisson",
    ("mu",),
    "logpmf pmf cdf",
    {
        "logpmf": lambda k, mu: special.xlogy(k, mu) - special.gammaln(k + 1) - mu,
        "cdf": lambda k, mu: special.gammaincc(k + 1, mu),
    },
    (0.0, np.inf),
    discrete=True,
)
