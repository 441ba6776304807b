"""Hypergeometric functions: their power series, summed until nothing is added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes, lax
from irax.core.array import Array
from irax.scipy.arguments import floats, in_single
from irax.scipy.special.gammas import gammasgn
from irax.transforms.autodiff import jvp
from irax.transforms.custom_jvp import custom_jvp
from irax.typing import ArrayLike

_MOST_TERMS = 10_000


def _sum(numerators: Sequence[Array], denominator: Array, x: Array) -> Array:
    """The sum of prod (a)_k / (b)_k x**k / k!, with (a)_k the Pochhammer symbol."""
    small = float(dtypes.finfo(x.dtype).eps) / 64

    def more(carry: Any) -> Array:
        k, term, total = carry
        needed = jnp.greater(jnp.abs(term), jnp.multiply(small, jnp.abs(total)))
        return jnp.logical_and(jnp.less(k, _MOST_TERMS), jnp.any(needed))

    def step(carry: Any) -> Any:
        k, term, total = carry
        factor = jnp.divide(x, jnp.multiply(jnp.add(denominator, k), jnp.add(k, 1)))
        for numerator in numerators:
            factor = jnp.multiply(factor, jnp.add(numerator, k))
        term = jnp.multiply(term, factor)
        return jnp.add(k, 1), term, jnp.add(total, term)

    one = jnp.ones_like(x, x.dtype)
    return lax.while_loop(more, step, (jnp.zeros((), x.dtype), one, one))[2]


def _differentiable(function: Callable[..., Array]) -> Callable[..., Array]:
    """Give a function elementwise derivatives that are computed in forward mode, so that reverse
    mode need not run the loop backwards.
    """
    ruled = custom_jvp(function)

    def rule(primals: Any, tangents: Any) -> Any:
        zeros = [jnp.zeros_like(p) for p in primals]
        out, change = ruled(*primals), None
        for i, tangent in enumerate(tangents):
            directions = [*zeros[:i], jnp.ones_like(zeros[i]), *zeros[i + 1 :]]
            slope = jvp(function, primals, tuple(directions))[1]
            part = jnp.multiply(tangent, slope)
            change = part if change is None else jnp.add(change, part)
        return out, change

    ruled.defjvp(rule)
    return in_single(ruled)


@_differentiable
def _hyp1f1(a: Array, b: Array, x: Array) -> Array:
    turned = jnp.less(x, 0)  # Kummer's transformation: no terms cancel
    total = _sum([jnp.where(turned, jnp.subtract(b, a), a)], b, jnp.abs(x))
    return jnp.where(turned, jnp.multiply(jnp.exp(x), total), total)


def hyp1f1(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """Kummer's confluent hypergeometric function 1F1(a; b; x).

    It has derivatives in all three; second ones in forward mode only.

    >>> irax.scipy.special.hyp1f1(1.0, 1.0, 1.0).round(4)
    Array(2.7183, dtype=float32)
    """
    a, b, x = (v.astype(v.dtype) for v in floats("hyp1f1", a, b, x, error=ValueError))
    return _hyp1f1(a, b, x)


@_differentiable
def _hyp2f1(a: Array, b: Array, c: Array, x: Array) -> Array:
    turned = jnp.less(x, 0)  # Pfaff's transformation: no terms cancel, and x is between 0 and 1
    inside = jnp.where(jnp.less(x, 1), x, 0.5)
    place = jnp.where(turned, jnp.divide(inside, jnp.subtract(inside, 1)), inside)
    total = _sum([a, jnp.where(turned, jnp.subtract(c, b), b)], c, place)
    scale = jnp.power(jnp.subtract(1, jnp.where(turned, x, 0.0)), jnp.negative(a))
    value = jnp.where(turned, jnp.multiply(scale, total), total)
    left = jnp.subtract(jnp.subtract(c, a), b)
    tops, bottoms = (c, left), (jnp.subtract(c, a), jnp.subtract(c, b))
    size = sum((lax.lgamma(v) for v in tops), jnp.zeros_like(x))
    size = jnp.subtract(size, sum((lax.lgamma(v) for v in bottoms), jnp.zeros_like(x)))
    sign = jnp.ones_like(x)
    for v in (*tops, *bottoms):
        sign = jnp.multiply(sign, gammasgn(v))
    at_one = jnp.where(jnp.greater(left, 0), jnp.multiply(sign, jnp.exp(size)), np.inf)
    return jnp.where(
        jnp.less(x, 1),
        value,
        jnp.where(jnp.equal(x, 1), at_one, jnp.where(jnp.isnan(x), np.nan, np.inf)),
    )


def hyp2f1(a: ArrayLike, b: ArrayLike, c: ArrayLike, x: ArrayLike) -> Array:
    """Gauss's hypergeometric function 2F1(a, b; c; x), for x up to 1; inf above.

    The nearer x is to 1, the more terms there are. It has derivatives in all four where x is below
    1; second ones in forward mode only.

    >>> irax.scipy.special.hyp2f1(1.0, 1.0, 2.0, 0.5).round(4)
    Array(1.3863, dtype=float32)
    """
    a, b, c, x = (v.astype(v.dtype) for v in floats("hyp2f1", a, b, c, x))
    return _hyp2f1(a, b, c, x)
