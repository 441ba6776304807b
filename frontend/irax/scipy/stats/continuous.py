"""Distributions of floats, by their formulas."""

from __future__ import annotations

import functools

import numpy as np

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array
from irax.scipy import special
from irax.scipy.special.differences import (
    LARGE,
    log1p_of_square,
    log_choices,
    poisson_loss_of_many,
    scaled_gammaln_difference,
)
from irax.scipy.stats.distribution import Distribution
from irax.scipy.stats.tails import beta_log_below, gamma_logcdf, gamma_logsf, log_of_share

_LOG_2 = float(np.log(2))
_LEGENDRE = np.polynomial.legendre.leggauss(10)
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
    width, middle = high - low, low + (high - low) / 2
    narrow = (width >= 0) & (width <= 1) & (width * jnp.abs(middle) <= 1)
    # Each is given operands at which it is harmless where the other one is taken.
    near = _narrow_normal_part(jnp.where(narrow, width, 1.0), jnp.where(narrow, middle, 0.0))
    wide = _wide_normal_part(jnp.where(narrow, -1.0, low), jnp.where(narrow, 1.0, high))
    return jnp.where(narrow, near, wide)


def _narrow_normal_part(width: Array, middle: Array) -> Array:
    """Integrate the density by Gauss's rule: a difference of probabilities would lose digits."""
    nodes, weights = (jnp.asarray(x, width.dtype) for x in _LEGENDRE)
    steps = lax.expand_dims(width / 2, (width.ndim,)) * nodes
    ratios = jnp.exp(-steps * (lax.expand_dims(middle, (middle.ndim,)) + steps / 2))
    mean = jnp.sum(ratios * weights, -1) / 2
    return jnp.log(width) + jnp.log(mean) - 0.5 * jnp.square(middle) - _LOG_ROOT_2_PI


def _wide_normal_part(low: Array, high: Array) -> Array:
    mirrored = jnp.greater(low, 0)  # the tails are known best below 0
    low, high = jnp.where(mirrored, -high, low), jnp.where(mirrored, -low, high)
    # Infinite ends have no derivatives that could be multiplied.
    all_below, all_above = jnp.equal(low, -np.inf), jnp.equal(high, np.inf)
    upper = jnp.where(all_above, 0.0, special.log_ndtr(jnp.where(all_above, 0.0, high)))
    lower = special.log_ndtr(jnp.where(all_below, 0.0, low))
    gap = jnp.where(all_below, np.inf, jnp.maximum(upper - lower, 0))
    return upper + _log_of_complement(gap)


def _log_by_rest(log_share: Array, log_rest: Array) -> Array:
    """Return the logarithm of a share of 1, near 1 by that of the rest."""
    small = jnp.less(log_share, -_LOG_2)
    rest = jnp.exp(jnp.where(small, -1.0, log_rest))
    return jnp.where(small, log_share, jnp.log1p(-rest))


truncnorm: Distribution = Distribution(
    "truncnorm",
    ("a", "b"),
    _DISTRIBUTION,
    {
        "logpdf": lambda z, a, b: -0.5 * jnp.square(z) - _LOG_ROOT_2_PI - _normal_part(a, b),
        "cdf": lambda z, a, b: jnp.exp(_normal_part(a, z) - _normal_part(a, b)),
        "logcdf": lambda z, a, b: _log_by_rest(
            _normal_part(a, z) - _normal_part(a, b), _normal_part(z, b) - _normal_part(a, b)
        ),
        "sf": lambda z, a, b: jnp.exp(_normal_part(z, b) - _normal_part(a, b)),
        "logsf": lambda z, a, b: _log_by_rest(
            _normal_part(z, b) - _normal_part(a, b), _normal_part(a, z) - _normal_part(a, b)
        ),
    },
    (lambda a, b: a, lambda a, b: b),
    valid=jnp.less,
)


def _gennorm_cdf(x: Array, b: Array) -> Array:
    tail = 0.5 * special.gammaincc(1 / b, jnp.power(jnp.abs(x), b))
    return jnp.where(x < 0, tail, 1 - tail)


gennorm: Distribution = Distribution(
    "gennorm",
    ("beta",),
    "logpdf pdf cdf",
    {
        "logpdf": lambda x, b: -_LOG_2 - special.gammaln(1 + 1 / b) - jnp.power(jnp.abs(x), b),
        "cdf": _gennorm_cdf,
    },
    located=False,
    valid=_positive,
)


def _t_logpdf(z: Array, df: Array) -> Array:
    normal = jnp.isinf(df)
    df = jnp.where(normal, 1.0, df)
    scale = scaled_gammaln_difference(df / 2, jnp.full_like(df, 0.5)) - _LOG_ROOT_2_PI
    found = scale - (df + 1) / 2 * log1p_of_square(z / jnp.sqrt(df))
    return jnp.where(normal, -0.5 * jnp.square(z) - _LOG_ROOT_2_PI, found)


def _cauchy_isf(q: Array) -> Array:
    """The cotangent of pi q, by the side on which its argument is exact."""
    middle = jnp.less(jnp.abs(q - 0.5), 0.25)
    of_middle = jnp.tan(np.pi * (0.5 - jnp.where(middle, q, 0.5)))
    upper = jnp.greater(q, 0.5)
    share = jnp.where(upper, 1 - q, q)
    of_tail = 1 / jnp.tan(np.pi * jnp.where(middle, 0.25, share))
    return jnp.where(middle, of_middle, jnp.where(upper, -of_tail, of_tail))


def _cauchy_logsf(z: Array) -> Array:
    """The share, about 1 / (pi z) for large z, may be subnormal, which programs take for 0."""
    far = jnp.greater(z, 1e8)
    near = jnp.where(far, 0.0, z)
    found = log_of_share(jnp.arctan2(1.0, near) / np.pi, jnp.arctan2(1.0, -near) / np.pi)
    return jnp.where(far, -_LOG_PI - jnp.log(jnp.where(far, z, 1.0)), found)


t: Distribution = Distribution("t", ("df",), "logpdf pdf", {"logpdf": _t_logpdf}, valid=_positive)

cauchy: Distribution = Distribution(
    "cauchy",
    (),
    f"{_DISTRIBUTION} ppf isf",
    {
        "logpdf": lambda z: -_LOG_PI - log1p_of_square(z),
        "cdf": lambda z: jnp.arctan2(1.0, -z) / np.pi,
        "sf": lambda z: jnp.arctan2(1.0, z) / np.pi,
        "logcdf": lambda z: _cauchy_logsf(-z),
        "logsf": _cauchy_logsf,
        "ppf": lambda q: -_cauchy_isf(q),
        "isf": _cauchy_isf,
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


def _log_of_gumbel(z: Array) -> Array:
    """log(1 - exp(-exp(z))), also where exp(z) underflows."""
    is_far = z < -40
    near = _log_of_complement(jnp.exp(jnp.where(is_far, -40, z)))
    return jnp.where(is_far, z, near)


gumbel_l: Distribution = Distribution(
    "gumbel_l",
    (),
    f"{_DISTRIBUTION} ppf",
    {
        "logpdf": lambda z: z - jnp.exp(z),
        "cdf": lambda z: -jnp.expm1(-jnp.exp(z)),
        "logcdf": _log_of_gumbel,
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
        "logsf": lambda z: _log_of_gumbel(-z),
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


def _gamma_logpdf(z: Array, a: Array) -> Array:
    large = jnp.greater(a, LARGE + 1)
    far = -poisson_loss_of_many(jnp.where(large, a - 1, 1.0), jnp.where(large, z, 1.0))
    near, z = jnp.where(large, 1.0, a), jnp.where(large, 1.0, z)
    return jnp.where(large, far, special.xlogy(near - 1, z) - z - special.gammaln(near))


def _beta_logpdf(z: Array, a: Array, b: Array) -> Array:
    """The density of z: where a and b are at least 1, by the chance of a - 1 of a + b - 2."""
    both = jnp.logical_and(jnp.greater_equal(a, 1), jnp.greater_equal(b, 1))
    k, rest = jnp.where(both, a - 1, 1.0), jnp.where(both, b - 1, 1.0)
    share = jnp.where(both, z, 0.5)
    found = log_choices(k + rest, k, share, rest, 1 - share) + jnp.log1p(k + rest)
    a, b, z = jnp.where(both, 1.0, a), jnp.where(both, 1.0, b), jnp.where(both, 0.5, z)
    plain = special.xlogy(a - 1, z) + special.xlog1py(b - 1, -z) - special.betaln(a, b)
    return jnp.where(both, found, plain)


def _beta_sf(z: Array, a: Array, b: Array) -> Array:
    """1 - z has rounded small z, which the density there multiplies: where that is above the other
    share, the complement is better.
    """
    found, below = special.betainc(b, a, 1 - z), special.betainc(a, b, z)
    is_steep = jnp.greater(_beta_logpdf(z, a, b), jnp.log(below))
    rounded = jnp.less(z, 0.5) & (is_steep | jnp.isinf(b))
    return jnp.where(rounded, 1 - below, found)


gamma: Distribution = Distribution(
    "gamma",
    ("a",),
    _DISTRIBUTION,
    {
        "logpdf": _gamma_logpdf,
        "cdf": lambda z, a: special.gammainc(a, z),
        "logcdf": lambda z, a: gamma_logcdf(z, a, _gamma_logpdf),
        "sf": lambda z, a: special.gammaincc(a, z),
        "logsf": lambda z, a: gamma_logsf(z, a, _gamma_logpdf),
    },
    (0.0, np.inf),
    valid=_positive,
)

chi2: Distribution = Distribution(
    "chi2",
    ("df",),
    _DISTRIBUTION,
    {
        "logpdf": lambda z, df: _gamma_logpdf(z / 2, df / 2) - _LOG_2,
        "cdf": lambda z, df: special.gammainc(df / 2, z / 2),
        "logcdf": lambda z, df: gamma_logcdf(z / 2, df / 2, _gamma_logpdf),
        "sf": lambda z, df: special.gammaincc(df / 2, z / 2),
        "logsf": lambda z, df: gamma_logsf(z / 2, df / 2, _gamma_logpdf),
    },
    (0.0, np.inf),
    valid=_positive,
)

beta: Distribution = Distribution(
    "beta",
    ("a", "b"),
    _DISTRIBUTION,
    {
        "logpdf": _beta_logpdf,
        "cdf": lambda z, a, b: special.betainc(a, b, z),
        "logcdf": lambda z, a, b: beta_log_below(
            *(z, 1 - z, a, b, special.betainc(a, b, z), _beta_sf(z, a, b)),
            lambda x, y, p, q: _beta_logpdf(x, p, q),
        ),
        "sf": _beta_sf,
        "logsf": lambda z, a, b: beta_log_below(
            *(1 - z, z, b, a, _beta_sf(z, a, b), special.betainc(a, b, z)),
            lambda x, y, p, q: _beta_logpdf(y, q, p),
        ),
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
    {
        "logpdf": lambda x, k: (
            -2 * k * jnp.square(jnp.sin(x / 2)) - 2 * _LOG_ROOT_2_PI - jnp.log(lax.bessel_i0e(k))
        )
    },
    located=False,
    valid=lambda k: jnp.greater_equal(k, 0),
)

wrapcauchy: Distribution = Distribution(
    "wrapcauchy",
    ("c",),
    "logpdf pdf",
    {
        "logpdf": lambda x, c: (
            jnp.log1p(-c)
            + jnp.log1p(c)
            - 2 * _LOG_ROOT_2_PI
            - jnp.log(jnp.square(1 - c) + 4 * c * jnp.square(jnp.sin(x / 2)))
        )
    },
    (0.0, 2 * np.pi),
    located=False,
    valid=lambda c: jnp.logical_and(jnp.greater(c, 0), jnp.less(c, 1)),
)
