"""Logarithms with their limits at 0, entropies, and logarithms of sums of exponentials."""

from __future__ import annotations

import numpy as np

import irax.numpy as jnp
from irax import lax, nn
from irax.core.array import Array
from irax.core.dtypes.operands import judge_ranks
from irax.scipy.arguments import floats, inexact
from irax.scipy.special.differences import deviance, log_ratio
from irax.transforms.custom_jvp import custom_jvp
from irax.typing import ArrayLike


def xlogy(x: ArrayLike, y: ArrayLike) -> Array:
    """x log(y); 0 where x is 0, so are its derivatives in y there.

    Its derivative in x is log(y), also at 0.

    Args:
        x: an array, or a number.
        y: another one; both broadcast.

    Raises:
        TypeError: not arrays or numbers.

    >>> irax.scipy.special.xlogy(0.0, 0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    x, y = inexact("xlogy", x, y)
    judge_ranks([x, y], "xlogy")
    return _times_log(x, y)


@custom_jvp
def _times_log(x: Array, y: Array) -> Array:
    return _or_zero(x, y, jnp.multiply(x, jnp.log(y)))


_times_log.defjvps(
    lambda dx, _, x, y: jnp.multiply(dx, jnp.log(y)),
    lambda dy, _, x, y: jnp.multiply(dy, _ratio(x, y)),
)


def _or_zero(x: Array, y: Array, product: Array) -> Array:
    """Return a product with x; 0 where x is 0, unless y is nan."""
    nothing = jnp.logical_and(jnp.equal(x, 0), jnp.logical_not(jnp.isnan(y)))
    return jnp.where(nothing, 0.0, product)


def _ratio(x: Array, y: Array) -> Array:
    """Return x / y; 0 where both are 0."""
    nothing = jnp.logical_and(jnp.equal(x, 0), jnp.equal(y, 0))
    return jnp.divide(x, jnp.where(nothing, 1.0, y))


def xlog1py(x: ArrayLike, y: ArrayLike) -> Array:
    """x log1p(y); 0 where x is 0, so are its derivatives in y there.

    Its derivative in x is log1p(y), also at 0.

    Args:
        x: an array, or a number.
        y: another one; both broadcast.

    Raises:
        TypeError: not arrays or numbers.

    >>> irax.scipy.special.xlog1py(0.0, -1.0)
    Array(0., dtype=float32, weak_type=True)
    """
    x, y = inexact("xlog1py", x, y)
    judge_ranks([x, y], "xlog1py")
    return _times_log1p(x, y)


@custom_jvp
def _times_log1p(x: Array, y: Array) -> Array:
    return _or_zero(x, y, jnp.multiply(x, jnp.log1p(y)))


_times_log1p.defjvps(
    lambda dx, _, x, y: jnp.multiply(dx, jnp.log1p(y)),
    lambda dy, _, x, y: jnp.multiply(dy, _ratio(x, jnp.add(1, y))),
)


def entr(x: ArrayLike) -> Array:
    """-x log(x); 0 at 0, -inf below.

    Args:
        x: an array of real numbers, or a number.

    Raises:
        TypeError: not an array or a number.
        ValueError: complex numbers.

    >>> irax.scipy.special.entr(irax.numpy.array([0.25, 0.5])).round(4)
    Array([0.3466, 0.3466], dtype=float32)
    """
    (x,) = floats("entr", x, error=ValueError)
    below = jnp.less(x, 0)
    return jnp.where(below, -np.inf, jnp.negative(_times_own_log(jnp.where(below, 1.0, x))))


@custom_jvp
def _times_own_log(x: Array) -> Array:
    return _times_log(x, x)


_times_own_log.defjvps(lambda dx, _, x: jnp.multiply(dx, jnp.add(jnp.log(x), 1)))


def rel_entr(p: ArrayLike, q: ArrayLike) -> Array:
    """p log(p / q); 0 where p is 0 and q is not negative, inf where either is out of range.

    Args:
        p: an array of real numbers, or a number.
        q: another one; both broadcast.

    Raises:
        TypeError: not arrays or numbers.
        ValueError: complex numbers.

    >>> irax.scipy.special.rel_entr(1.0, 1.0)
    Array(0., dtype=float32, weak_type=True)
    """
    p, q = floats("rel_entr", p, q, error=ValueError)
    both, nothing, outside = _domain(p, q)
    safe_p, safe_q = jnp.where(both, p, 1.0), jnp.where(both, q, 1.0)
    value = jnp.multiply(safe_p, log_ratio(safe_p, safe_q))
    return jnp.where(both, value, jnp.where(nothing, 0.0, outside))


def _domain(p: Array, q: Array) -> tuple[Array, Array, Array]:
    """Return where both are positive, where p is 0, and the value elsewhere."""
    both = jnp.logical_and(jnp.greater(p, 0), jnp.greater(q, 0))
    nothing = jnp.logical_and(jnp.equal(p, 0), jnp.greater_equal(q, 0))
    return both, nothing, jnp.where(jnp.logical_or(jnp.isnan(p), jnp.isnan(q)), np.nan, np.inf)


def kl_div(p: ArrayLike, q: ArrayLike) -> Array:
    """The part of an element in the Kullback-Leibler divergence: rel_entr(p, q) - p + q.

    Args:
        p: an array of real numbers, or a number.
        q: another one; both broadcast.

    Raises:
        TypeError: not arrays or numbers.
        ValueError: complex numbers.

    >>> irax.scipy.special.kl_div(1.0, 1.0)
    Array(0., dtype=float32, weak_type=True)
    """
    p, q = floats("kl_div", p, q, error=ValueError)
    both, nothing, outside = _domain(p, q)
    value = deviance(jnp.where(both, p, 1.0), jnp.where(both, q, 1.0))
    return jnp.where(both, value, jnp.where(nothing, jnp.subtract(q, p), outside))


def expit(x: ArrayLike) -> Array:
    """1 / (1 + exp(-x)).

    Args:
        x: an array, or a number.

    Raises:
        TypeError: not an array or a number.

    >>> irax.scipy.special.expit(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return lax.logistic(*inexact("expit", x))


def logit(x: ArrayLike) -> Array:
    """log(x / (1 - x)), the inverse of expit.

    Args:
        x: an array, or a number.

    Raises:
        TypeError: not an array or a number.

    >>> irax.scipy.special.logit(0.5)
    Array(0., dtype=float32, weak_type=True)
    """
    if jnp.iscomplexobj(x):
        return jnp.log(jnp.divide(x, jnp.subtract(1, x)))
    (x,) = floats("logit", x)
    is_near = jnp.abs(x - 0.5) < 0.2  # where the two logarithms cancel, but 2x - 1 is exact
    near = jnp.where(is_near, x, 0.5)
    far = jnp.where(is_near, 1e-3, x)
    return jnp.where(
        is_near,
        jnp.log1p((2 * near - 1) / (1 - near)),
        jnp.log(far) - jnp.log1p(-far),
    )


def boxcox(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """The transformation of Box and Cox: (x**lmbda - 1) / lmbda, and log(x) where lmbda is 0.

    Args:
        x: an array, or a number.
        lmbda: another one; both broadcast.

    Raises:
        TypeError: not arrays or numbers.

    >>> irax.scipy.special.boxcox(3.0, 2.0).round(3)
    Array(4., dtype=float32, weak_type=True)
    """
    x, power = inexact("boxcox", x, lmbda)
    judge_ranks([x, power], "boxcox")
    return _of_logarithm(jnp.log(x), power)


def boxcox1p(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """boxcox(1 + x, lmbda), precise for small x.

    Args:
        x: an array, or a number.
        lmbda: another one; both broadcast.

    Raises:
        TypeError: not arrays or numbers.

    >>> irax.scipy.special.boxcox1p(2.0, 2.0).round(3)
    Array(4., dtype=float32, weak_type=True)
    """
    x, power = inexact("boxcox1p", x, lmbda)
    judge_ranks([x, power], "boxcox1p")
    return _of_logarithm(jnp.log1p(x), power)


def _of_logarithm(logarithm: Array, power: Array) -> Array:
    product = jnp.multiply(power, logarithm)
    # The two first terms of its series, where the product is small or underflows.
    flat = jnp.less(jnp.abs(product), float(jnp.finfo(logarithm.dtype).eps) / 2)
    flat = jnp.logical_or(flat, jnp.equal(power, 0))
    half = jnp.where(jnp.isinf(logarithm), 0.0, jnp.multiply(0.5, product))
    near = jnp.multiply(logarithm, jnp.add(1, half))
    safe, product = jnp.where(flat, 1.0, power), jnp.where(flat, 0.0, product)
    return jnp.where(flat, near, jnp.divide(jnp.expm1(product), safe))


def softmax(x: ArrayLike, /, *, axis: int | tuple[int, ...] | None = None) -> Array:
    """exp(x) divided by its sum over axes, all by default.

    Args:
        x: an array.
        axis: the axis or axes; all by default.

    Returns:
        An array of the same shape.

    Raises:
        TypeError: `x` is not an array, or `axis` is not an int.
        ValueError: there is no such axis.

    >>> irax.scipy.special.softmax(irax.numpy.array([0.0, 0.0]))
    Array([0.5, 0.5], dtype=float32)
    """
    return nn.softmax(x, axis)


def log_softmax(x: ArrayLike, /, *, axis: int | tuple[int, ...] | None = None) -> Array:
    """log(softmax(x)) over axes, all by default, without underflow.

    Args:
        x: an array.
        axis: the axis or axes; all by default.

    Returns:
        An array of the same shape.

    Raises:
        TypeError: `x` is not an array, or `axis` is not an int.
        ValueError: there is no such axis.

    >>> irax.scipy.special.log_softmax(irax.numpy.array([0.0, 1000.0]))
    Array([-1000.,     0.], dtype=float32)
    """
    return nn.log_softmax(x, axis)
