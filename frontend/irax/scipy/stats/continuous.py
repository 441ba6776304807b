"""Distributions of floats, by their formulas."""

from __future__ import annotations

import functools

import numpy as np

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array
from irax.scipy import special
from irax.scipy.stats.distribution import Distribution

_LOG_2 = float(np.log(2))
_LOG_PI = float(np.log(np.pi))
_LOG_ROOT_2_PI = float(np.log(2 * np.pi) / 2)
_DISTRIBUTION = "logpdf pdf cdf logcdf sf logsf"


def _log_of_complement(x: Array) -> Array:
    """log(1 - exp(-x)) for x of at least 0."""
    near = jnp.less(x, _LOG_2)
    low, high = jnp.where(near, x, 1.0), jnp.where(near, 1.0, x)
    of_low = jnp.log(jnp.negative(jnp.expm1(jnp.negative(low))))
    return jnp.where(near, of_low, jnp.log1p(jnp.negative(jnp.exp(jnp.negative(high)))))


def _positive(*parameters: Array) -> Array:
    return functools.reduce(jnp.logical_and, [jnp.greater(p, 0) for p in parameters])


norm: Distribution = Distribution(
    "norm",
    (),
    f"{_DISTRIBUTION} ppf isf",
    {
        "logpdf": lambda z: -0.5 * jnp.square(z) - _LOG_ROOT_2_PI,
        "cdf": special.ndtr,
        "logcdf": special.log_ndtr,
        "sf": lambda z: special.ndtr(-z),
        "logsf": lambda z: special.log_ndtr(-z),
        "ppf": special.ndtri,
        "isf": lambda q: -special.ndtri(q),
    },
)


def _normal_part(low: Array, high: Array) -> Array:
    """The logarithm of the probability of the standard normal distribution between two values."""
    mirrored = jnp.greater(low, 0)  # the tails are known best below 0
    low, high = jnp.where(mirrored, -high, low), jnp.where(mirrored, -low, high)
    upper = special.log_ndtr(high)
    return upper + _log_of_complement(jnp.maximum(upper - special.log_ndtr(low), 0))


truncnorm: Distribution = Distribution(
    "truncnorm",
    ("a", "b"),
    _DISTRIBUTION,
    {
        "logpdf": lambda z, a, b: -0.5 * jnp.square(z) - _LOG_ROOT_2_PI - _normal_part(a, b),
        "cdf": lambda z, a, b: jnp.exp(_normal_part(a, z) - _normal_part(a, b)),
        "logcdf": lambda z, a, b: _normal_part(a, z) - _normal_part(a, b),
        "sf": lambda z, a, b: jnp.exp(_normal_part(z, b) - _normal_part(a, b)),
        "logsf": lambda z, a, b: _normal_part(z, b) - _normal_part(a, b),
    },
    (lambda a, b: a, lambda a, b: b),
    valid=jnp.less,
)

gennorm: Distribution = Distribution(
    "gennorm",
    ("beta",),
    "logpdf pdf cdf",
    {
        "logpdf": lambda x, b: (
            jnp.log(b) - _LOG_2 - special.gammaln(1 / b) - jnp.power(jnp.abs(x), b)
        ),
        "cdf": lambda x, b: (
            0.5 + 0.5 * jnp.sign(x) * special.gammainc(1 / b, jnp.power(jnp.abs(x), b))
        ),
    },
    located=False,
    valid=_positive,
)


def _t_logpdf(z: Array, df: Array) -> Array:
    scale = special.gammaln((df + 1) / 2) - special.gammaln(df / 2) - 0.5 * (jnp.log(df) + _LOG_PI)
    return scale - (df + 1) / 2 * jnp.log1p(jnp.square(z) / df)


t: Distribution = Distribution("t", ("df",), "logpdf pdf", {"logpdf": _t_logpdf}, valid=_positive)

cauchy: Distribution = Distribution(
    "cauchy",
    (),
    f"{_DISTRIBUTION} ppf isf",
    {
        "logpdf": lambda z: -_LOG_PI - jnp.log1p(jnp.square(z)),
        "cdf": lambda z: jnp.arctan2(1.0, -z) / np.pi,
        "sf": lambda z: jnp.arctan2(1.0, z) / np.pi,
        "ppf": lambda q: -1 / jnp.tan(np.pi * q),
        "isf": lambda q: 1 / jnp.tan(np.pi * q),
    },
)

logistic: Distribution = Distribution(
    "logistic",
    (),
    "logpdf pdf cdf sf ppf isf",
    {
        "logpdf": lambda z: -jnp.abs(z) - 2 * jnp.log1p(jnp.exp(-jnp.abs(z))),
        "cdf": special.expit,
        "sf": lambda z: special.expit(-z),
        "ppf": special.logit,
        "isf": lambda q: -special.logit(q),
    },
    first={"ppf": "x", "isf": "x"},
)

laplace: Distribution = Distribution(
    "laplace",
    (),
    "logpdf pdf cdf",
    {
        "logpdf": lambda z: -_LOG_2 - jnp.abs(z),
        "cdf": lambda z: jnp.where(
            jnp.less(z, 0), 0.5 * jnp.exp(-jnp.abs(z)), 1 - 0.5 * jnp.exp(-jnp.abs(z))
        ),
    },
)

gumbel_l: Distribution = Distribution(
    "gumbel_l",
    (),
    f"{_DISTRIBUTION} ppf",
    {
        "logpdf": lambda z: z - jnp.exp(z),
        "cdf": lambda z: -jnp.expm1(-jnp.exp(z)),
        "logcdf": lambda z: _log_of_complement(jnp.exp(z)),
        "sf": lambda z: jnp.exp(-jnp.exp(z)),
        "logsf": lambda z: -jnp.exp(z),
        "ppf": lambda q: jnp.log(-jnp.log1p(-q)),
    },
    first={"ppf": "p"},
)

gumbel_r: Distribution = Distribution(
    "gumbel_r",
    (),
    f"{_DISTRIBUTION} ppf",
    {
        "logpdf": lambda z: -z - jnp.exp(-z),
        "cdf": lambda z: jnp.exp(-jnp.exp(-z)),
        "logcdf": lambda z: -jnp.exp(-z),
        "sf": lambda z: -jnp.expm1(-jnp.exp(-z)),
        "logsf": lambda z: _log_of_complement(jnp.exp(-z)),
        "ppf": lambda q: -jnp.log(-jnp.log(q)),
    },
    first={"ppf": "p"},
)

# ---- on a part of the line -----------------------------------------------------------------------

uniform: Distribution = Distribution(
    "uniform",
    (),
    "logpdf pdf cdf ppf",
    {"logpdf": jnp.zeros_like, "cdf": lambda z: z, "ppf": lambda q: q},
    (0.0, 1.0),
)

expon: Distribution = Distribution(
    "expon",
    (),
    f"{_DISTRIBUTION} ppf",
    {
        "logpdf": lambda z: -z,
        "cdf": lambda z: -jnp.expm1(-z),
        "logcdf": _log_of_complement,
        "sf": lambda z: jnp.exp(-z),
        "logsf": lambda z: -z,
        "ppf": lambda q: -jnp.log1p(-q),
    },
    (0.0, np.inf),
)

gamma: Distribution = Distribution(
    "gamma",
    ("a",),
    _DISTRIBUTION,
    {
        "logpdf": lambda z, a: special.xlogy(a - 1, z) - z - special.gammaln(a),
        "cdf": lambda z, a: special.gammainc(a, z),
        "sf": lambda z, a: special.gammaincc(a, z),
    },
    (0.0, np.inf),
    valid=_positive,
)

chi2: Distribution = Distribution(
    "chi2",
    ("df",),
    _DISTRIBUTION,
    {
        "logpdf": lambda z, df: (
            special.xlogy(df / 2 - 1, z) - z / 2 - df / 2 * _LOG_2 - special.gammaln(df / 2)
        ),
        "cdf": lambda z, df: special.gammainc(df / 2, z / 2),
        "sf": lambda z, df: special.gammaincc(df / 2, z / 2),
    },
    (0.0, np.inf),
    valid=_positive,
)

beta: Distribution = Distribution(
    "beta",
    ("a", "b"),
    _DISTRIBUTION,
    {
        "logpdf": lambda z, a, b: (
            special.xlogy(a - 1, z) + special.xlog1py(b - 1, -z) - special.betaln(a, b)
        ),
        "cdf": lambda z, a, b: special.betainc(a, b, z),
        "sf": lambda z, a, b: special.betainc(b, a, 1 - z),
    },
    (0.0, 1.0),
    valid=_positive,
)

pareto: Distribution = Distribution(
    "pareto",
    ("b",),
    f"{_DISTRIBUTION} ppf",
    {
        "logpdf": lambda z, b: jnp.log(b) - (b + 1) * jnp.log(z),
        "cdf": lambda z, b: -jnp.expm1(-b * jnp.log(z)),
        "logcdf": lambda z, b: _log_of_complement(b * jnp.log(z)),
        "sf": lambda z, b: jnp.power(z, -b),
        "logsf": lambda z, b: -b * jnp.log(z),
        "ppf": lambda q, b: jnp.exp(-jnp.log1p(-q) / b),
    },
    (1.0, np.inf),
    valid=_positive,
)

# ---- on a circle ---------------------------------------------------------------------------------

vonmises: Distribution = Distribution(
    "vonmises",
    ("kappa",),
    "logpdf pdf",
    {"logpdf": lambda x, k: k * (jnp.cos(x) - 1) - 2 * _LOG_ROOT_2_PI - jnp.log(lax.bessel_i0e(k))},
    located=False,
    valid=_positive,
)

wrapcauchy: Distribution = Distribution(
    "wrapcauchy",
    ("c",),
    "logpdf pdf",
    {
        "logpdf": lambda x, c: (
            jnp.log1p(-jnp.square(c))
            - 2 * _LOG_ROOT_2_PI
            - jnp.log1p(jnp.square(c) - 2 * c * jnp.cos(x))
        )
    },
    (0.0, 2 * np.pi),
    located=False,
    valid=lambda c: jnp.logical_and(jnp.greater(c, 0), jnp.less(c, 1)),
)
