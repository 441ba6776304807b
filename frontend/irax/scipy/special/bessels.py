"""Bessel functions and spherical harmonics, by recurrences."""

from __future__ import annotations

import operator
from math import ceil
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes, errors, lax
from irax.core.array import Array, as_array
from irax.core.dtypes.operands import broadcast_shapes
from irax.core.dtypes.promotion import broadcast_to, convert
from irax.scipy.arguments import floats, polynomial, unsupported
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
        z: the arguments.
        v: the largest order.
        n_iter: the least order at which the recurrence down to 0 begins. It begins at a larger one
            where that is needed.

    Raises:
        ValueError: v is negative, or not below `n_iter`.

    >>> irax.scipy.special.bessel_jn(0.0, v=1)
    Array([1., 0.], dtype=float32)
    """
    (z,) = floats("bessel_jn", z)
    v, n_iter = operator.index(v), operator.index(n_iter)
    if not 0 <= v < n_iter:
        raise ValueError(f"bessel_jn: v must be at least 0 and below n_iter={n_iter}, got {v}")
    z = z.astype(z.dtype)
    # The recurrence upwards is stable for orders up to |z|, that downwards for others.
    edge = max(_ASYMPTOTIC, v)
    far = jnp.greater(jnp.abs(z), edge)
    start = max(n_iter, edge + ceil(_AHEAD * edge ** (1 / 3)))
    down = _orders(jnp.where(far, 1.0, z), v, start)
    return jnp.where(far, _orders_upwards(jnp.where(far, z, float(edge)), v), down)


_ASYMPTOTIC = 25
"""From this argument on, Hankel's series is as precise as float64."""
_AHEAD = 13
"""J_n(z) is below rounding next to J_z(z) from n = z + 13 z**(1/3) on."""


def _orders_upwards(z: Array, v: int) -> Array:
    size = jnp.abs(z)
    endless = jnp.isinf(size)
    size = jnp.where(endless, float(_ASYMPTOTIC), size)
    cosine, sine = jnp.cos(size), jnp.sin(size)
    scale = jnp.reciprocal(jnp.sqrt(jnp.multiply(float(np.pi), size)))
    total, difference = jnp.add(cosine, sine), jnp.subtract(sine, cosine)
    p, q = _hankel(0, size)
    rows = [jnp.multiply(scale, jnp.subtract(jnp.multiply(p, total), jnp.multiply(q, difference)))]
    p, q = _hankel(1, size)
    rows.append(jnp.multiply(scale, jnp.add(jnp.multiply(p, difference), jnp.multiply(q, total))))
    inverse = jnp.divide(2, size)
    for order in range(1, v):
        step = jnp.multiply(jnp.multiply(order, inverse), rows[-1])
        rows.append(jnp.subtract(step, rows[-2]))
    rows = [jnp.where(endless, 0.0, row) for row in rows[: v + 1]]
    negative = jnp.less(z, 0)
    return jnp.stack(
        [
            jnp.where(negative, jnp.negative(row), row) if k % 2 else row
            for k, row in enumerate(rows)
        ]
    )


def _hankel(order: int, z: Array) -> tuple[Array, Array]:
    """Return the two sums of Hankel's asymptotic series, P and Q."""
    terms = [1.0]
    for k in range(1, 30):
        terms.append(terms[-1] * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k))
    inverse = jnp.reciprocal(z)
    # In units of _ASYMPTOTIC: the coefficients alone overflow float32.
    unit = jnp.multiply(inverse, float(_ASYMPTOTIC))
    terms = [term / _ASYMPTOTIC**k for k, term in enumerate(terms)]
    square = jnp.multiply(unit, unit)
    signed = [-term if k // 2 % 2 else term for k, term in enumerate(terms)]
    return polynomial(signed[::2], square), jnp.multiply(unit, polynomial(signed[1::2], square))


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
