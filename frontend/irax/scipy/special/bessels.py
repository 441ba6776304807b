"""Bessel functions and spherical harmonics, by recurrences."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes, errors, lax
from irax.core.array import Array, as_array
from irax.core.operands import broadcast_shapes
from irax.core.promotion import broadcast_to, convert
from irax.scipy.arguments import floats, unsupported
from irax.typing import ArrayLike


def i0e(x: ArrayLike) -> Array:
    """exp(-|x|) i0(x).

    Args:
        x: an array of real numbers, or a number.

    Raises:
        TypeError: not an array or a number, or complex numbers.

    >>> irax.scipy.special.i0e(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return lax.bessel_i0e(*floats("i0e", x))


def i0(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind and order 0.

    Args:
        x: an array of real numbers, or a number.

    Raises:
        TypeError: not an array or a number, or complex numbers.

    >>> irax.scipy.special.i0(1.0)
    Array(1.266066, dtype=float32, weak_type=True)
    """
    (x,) = floats("i0", x)
    size = jnp.multiply(x, jnp.sign(x))  # whose derivative at 0 is 0
    return jnp.multiply(jnp.exp(size), lax.bessel_i0e(x))


def i1e(x: ArrayLike) -> Array:
    """exp(-|x|) i1(x).

    Args:
        x: an array of real numbers, or a number.

    Raises:
        TypeError: not an array or a number, or complex numbers.

    >>> irax.scipy.special.i1e(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return lax.bessel_i1e(*floats("i1e", x))


def i1(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind and order 1.

    Args:
        x: an array of real numbers, or a number.

    Raises:
        TypeError: not an array or a number, or complex numbers.

    >>> irax.scipy.special.i1(1.0).round(4)
    Array(0.5652, dtype=float32, weak_type=True)
    """
    (x,) = floats("i1", x)
    return jnp.multiply(jnp.exp(jnp.abs(x)), lax.bessel_i1e(x))


def bessel_jn(z: ArrayLike, *, v: int, n_iter: int = 50) -> Array:
    """Return the Bessel functions of the first kind and the orders 0 to v; shape (v + 1, *z.shape).

    Args:
        z: the arguments; |z| must be well below `n_iter`.
        v: the largest order.
        n_iter: the order at which the recurrence down to 0 begins.

    Raises:
        ValueError: v is negative, or not below `n_iter`.

    >>> irax.scipy.special.bessel_jn(0.0, v=1)
    Array([1., 0.], dtype=float32)
    """
    (z,) = floats("bessel_jn", z)
    v, n_iter = operator.index(v), operator.index(n_iter)
    if not 0 <= v < n_iter:
        raise ValueError(f"bessel_jn: v must be at least 0 and below n_iter={n_iter}, got {v}")
    return _orders(z.astype(z.dtype), v, n_iter)


def _orders(z: Array, v: int, n_iter: int) -> Array:
    at_zero = jnp.equal(z, 0)
    inverse = jnp.divide(2, jnp.where(at_zero, 1.0, z))
    limits = dtypes.finfo(z.dtype)
    upper, value = jnp.zeros_like(z), jnp.full_like(z, float(limits.tiny) ** 0.5)
    total = jnp.zeros_like(z)
    found: list[Array] = []
    for order in range(n_iter, 0, -1):
        lower = jnp.subtract(jnp.multiply(jnp.multiply(order, inverse), value), upper)
        upper, value = value, lower
        found.append(value)  # of the order - 1
        if (order - 1) % 2 == 0:
            total = jnp.add(total, jnp.multiply(1 if order == 1 else 2, value))
        # All values are known up to one factor, and are scaled to avoid overflow.
        large = jnp.greater(jnp.abs(value), float(limits.max) ** 0.5)
        scale = jnp.where(large, float(limits.max) ** -0.5, 1.0)
        upper, value, total = (jnp.multiply(scale, x) for x in (upper, value, total))
        found = [jnp.multiply(scale, x) for x in found[-(v + 1) :]]
    rows = [jnp.divide(x, total) for x in found[::-1]]
    exact = [jnp.where(at_zero, float(order == 0), x) for order, x in enumerate(rows)]
    return jnp.stack(exact).astype(z.dtype)


def sph_harm_y(
    n: ArrayLike,
    m: ArrayLike,
    theta: ArrayLike,
    phi: ArrayLike,
    diff_n: int | None = None,
    n_max: int | None = None,
) -> Array:
    """Return spherical harmonics, complex and orthonormal.

    Args:
        n: degrees, integers of at least 0.
        m: orders, integers; where |m| is above n, the result is 0.
        theta: polar angles, from 0 to pi.
        phi: angles around the axis.
        diff_n: not supported.
        n_max: the largest degree; by default that of `n`, which must be known then.

    Raises:
        ConcretizationTypeError: no `n_max`, and `n` is traced.
        NotImplementedError: a `diff_n`.
        TypeError: degrees or orders that are not integers.

    >>> irax.scipy.special.sph_harm_y(0, 0, 0.5, 0.5).round(4)
    Array(0.2821+0.j, dtype=complex64)
    """
    what = "sph_harm_y"
    unsupported(what, "diff_n", diff_n)
    degree, order = (as_array(v, f"{what}: {name}") for name, v in (("n", n), ("m", m)))
    for name, numbers in (("n", degree), ("m", order)):
        if not dtypes.issubdtype(numbers.dtype, np.integer):
            raise TypeError(f"{what}: {name} must be integers, got {numbers.aval}")
    if n_max is None:
        why = f"{what} needs n_max=..., or the degrees to know it"
        n_max = int(np.max(degree.concrete(why, errors.ConcretizationTypeError), initial=0))
    theta, phi = floats(what, theta, phi)
    shape = broadcast_shapes(degree.shape, order.shape, theta.shape, what=what)
    degree, order, theta, phi = (broadcast_to(v, shape) for v in (degree, order, theta, phi))
    legendre = _legendre(degree, order, theta, operator.index(n_max))
    angle = jnp.multiply(order, phi).astype(theta.dtype)
    return jnp.multiply(legendre, lax.complex(jnp.cos(angle), jnp.sin(angle)))


def _legendre(degree: Array, order: Array, theta: Array, n_max: int) -> Array:
    """Legendre's associated functions of cos(theta), normalized as spherical harmonics are."""
    m = convert(jnp.abs(order), theta.dtype)
    x, y = jnp.cos(theta), jnp.sin(theta)
    y = jnp.where(jnp.less(y, 0), jnp.negative(y), y)
    # The first of order m: (-1)**m sqrt((2 m + 1)! / (4 pi)) / (2**m m!) sin(theta)**m.
    size = jnp.subtract(
        jnp.multiply(0.5, lax.lgamma(jnp.add(jnp.multiply(2, m), 2))),
        jnp.add(jnp.multiply(float(np.log(2)), m), lax.lgamma(jnp.add(m, 1))),
    )
    size = jnp.multiply(jnp.exp(size), float(1 / np.sqrt(4 * np.pi)))
    odd = jnp.equal(jnp.remainder(order, 2), 1)
    power: Any = jnp.where(jnp.equal(m, 0), 1.0, jnp.power(y, jnp.maximum(m, 1)))
    value = jnp.multiply(jnp.where(odd, jnp.negative(size), size), power)
    # Orders below 0 are the conjugates of those above, times (-1)**m.
    value = jnp.where(jnp.logical_and(odd, jnp.less(order, 0)), jnp.negative(value), value)
    value = jnp.where(jnp.greater(jnp.abs(order), degree), 0.0, value)
    before = jnp.zeros_like(value)
    for k in range(1, n_max + 1):
        n = jnp.add(m, k)
        a = jnp.divide(jnp.subtract(jnp.multiply(4, jnp.square(n)), 1), k * jnp.add(n, m))
        last = jnp.subtract(n, 1)
        b = jnp.multiply(k - 1, jnp.add(last, m))
        b = jnp.divide(b, jnp.subtract(jnp.multiply(4, jnp.square(last)), 1))
        following = jnp.multiply(
            jnp.sqrt(a), jnp.subtract(jnp.multiply(x, value), jnp.multiply(jnp.sqrt(b), before))
        )
        goes_on = jnp.less_equal(n, convert(degree, n.dtype))
        before, value = jnp.where(goes_on, value, before), jnp.where(goes_on, following, value)
    return value
