"""Logarithms of the gamma and beta distributions' tails, also where the probabilities underflow.

There a tail is the density times an integral of nearly exp(-t), which Gauss's and Laguerre's rule
gives precisely; where the argument is small next to the mean, it is the density times a series that
converges fast.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array
from irax.core.dtypes.promotion import convert
from irax.scipy import special
from irax.scipy.special.differences import log1p_minus

_NODES, _WEIGHTS = np.polynomial.laguerre.laggauss(32)
_TERMS = 32
_SMALL = 0.3
"""The largest ratio of terms of a series, whose rest after `_TERMS` is then below rounding."""

Logarithm = Callable[[Array, Array], Array]


def log_of_share(share: Array, rest: Array) -> Array:
    """Return the logarithm of a probability; the rest is 1 less it, and may be known better."""
    small = jnp.less(share, 0.5)
    return jnp.where(
        small,
        jnp.log(jnp.where(small, share, 1.0)),
        jnp.log1p(jnp.negative(jnp.where(small, 0.0, rest))),
    )


def _log_of_share(share: Array, rest: Array, deep: Array) -> Array:
    return log_of_share(jnp.where(deep, 1.0, share), jnp.where(deep, 0.0, rest))


def _underflows(share: Array) -> Array:
    """Return where a share has lost digits, or all of them."""
    return jnp.less(share, 1e-30 if share.dtype.itemsize == 4 else 1e-290)


def _integral(exponent: Callable[[Array], Array]) -> Array:
    """Return the logarithm of the integral of exp(exponent(t) - t) over positive t, which the last
    axis is for.
    """
    values = jnp.exp(exponent(jnp.asarray(_NODES)))
    return jnp.log(jnp.sum(jnp.multiply(values, jnp.asarray(_WEIGHTS)), -1))


def _series(ratio: Callable[[int], Array], like: Array) -> Array:
    """Return the logarithm of 1 + r(0) (1 + r(1) (1 + ...))."""
    total = jnp.ones_like(like)
    for n in reversed(range(_TERMS)):
        total = 1 + ratio(n) * total
    return jnp.log(total)


def _unless_deep(plain: Array, deep: Array, tail: Callable[[], Array]) -> Array:
    return lax.cond(jnp.any(deep), lambda: jnp.where(deep, tail(), plain), lambda: plain)


def _node(x: Array) -> Array:
    return lax.expand_dims(x, (x.ndim,))


def gamma_logcdf(z: Array, a: Array, logpdf: Logarithm) -> Array:
    """Return the logarithm of P(a, z), given that of the density at (z, a)."""
    return _wide(_gamma_logcdf, logpdf, z, a)


def gamma_logsf(z: Array, a: Array, logpdf: Logarithm) -> Array:
    """Return the logarithm of Q(a, z), given that of the density at (z, a)."""
    return _wide(_gamma_logsf, logpdf, z, a)


def _wide(function: Callable[..., Array], logpdf: Callable[..., Array], *operands: Array) -> Array:
    """Call a function with operands of at least 32 bits."""
    dtype = operands[0].dtype
    wide = np.dtype(np.float32) if dtype.itemsize < 4 else dtype
    found = function(*(convert(x, wide, x.weak_type) for x in operands), logpdf)
    return convert(found, dtype, found.weak_type)


def _gamma_logcdf(z: Array, a: Array, logpdf: Logarithm) -> Array:
    share = special.gammainc(a, z)
    deep = _underflows(share) & (z > 0) & (z < a) & (a < np.inf)
    plain = _log_of_share(share, special.gammaincc(a, z), deep)

    def tail() -> Array:
        x, b = jnp.where(deep, z, 1.0), jnp.where(deep, a, 10.0)
        small = x < _SMALL * b
        series = _series(lambda n: x / (b + (n + 1)), x) - jnp.log(b)
        width = jnp.where(small, 1.0, b - 1 - x)
        near = jnp.where(small, 1.0, b)
        integral = _integral(lambda t: _powers(_node(near) - 1, -t / _node(width)))
        found = jnp.where(small, series, integral - jnp.log(width))
        return logpdf(x, b) + jnp.log(x) + found

    return _unless_deep(plain, deep, tail)


def _powers(power: Array, s: Array) -> Array:
    """Return the logarithm of ((1 + s) exp(-s))**power; -inf where s is -1 or less."""
    inside = s > -1
    return jnp.where(inside, power * log1p_minus(jnp.where(inside, s, 0.0)), -np.inf)


def _gamma_logsf(z: Array, a: Array, logpdf: Logarithm) -> Array:
    share = special.gammaincc(a, z)
    deep = _underflows(share) & (z > a) & (a > 0) & (z < np.inf)
    plain = _log_of_share(share, special.gammainc(a, z), deep)

    def tail() -> Array:
        x, b = jnp.where(deep, z, 100.0), jnp.where(deep, a, 1.0)
        width = x - b + 1
        integral = _integral(lambda t: _powers(_node(b) - 1, t / _node(width)))
        return logpdf(x, b) + jnp.log(x / width) + integral

    return _unless_deep(plain, deep, tail)


def beta_log_below(
    x: Array,
    y: Array,
    a: Array,
    b: Array,
    share: Array,
    rest: Array,
    logpdf: Callable[[Array, Array, Array, Array], Array],
) -> Array:
    """Return the logarithm of I_x(a, b), where y = 1 - x.

    Args:
        x: the place.
        y: 1 - x.
        a: the parameter of powers of x.
        b: the parameter of powers of y.
        share: I_x(a, b), which may underflow.
        rest: 1 - share.
        logpdf: the logarithm of the density at x, of x, y, a and b. At the ends its derivative is
            infinite: it is computed where it is needed alone.
    """
    deep = _underflows(share) & (x > 0) & (y > 0) & (x * b < y * a) & (a < np.inf)
    plain = _log_of_share(share, rest, deep)

    def tail() -> Array:
        place, mirror = jnp.where(deep, x, 0.1), jnp.where(deep, y, 0.9)
        p, q = jnp.where(deep, a, 10.0), jnp.where(deep, b, 1.0)
        density = logpdf(place, mirror, p, q)
        small = ((p + q) * place < _SMALL * (p + 1)) & (place < _SMALL)
        at = jnp.where(small, place, 0.1)
        series = _series(lambda n: at * jnp.where(small, (p + q + n) / (p + (n + 1)), 1.0), at)
        series = series + jnp.log(mirror / p)
        ratio = jnp.where(small, 0.1, place / mirror)
        p, q = jnp.where(small, 10.0, p), jnp.where(small, 1.0, q)
        width = (p - 1) - (q - 1) * ratio
        ratio, one, other, step = (_node(v) for v in (ratio, p - 1, q - 1, width))
        integral = _integral(lambda t: _powers(one, -t / step) + _powers(other, t / step * ratio))
        return density + jnp.log(place) + jnp.where(small, series, integral - jnp.log(width))

    return _unless_deep(plain, deep, tail)
