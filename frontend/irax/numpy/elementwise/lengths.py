"""The length of a vector of two numbers, with derivatives that keep their digits at all sizes."""

from __future__ import annotations

import numpy as np

from irax import lax
from irax.core.array import Array
from irax.numpy.elementwise.logic import equal, logical_or, where
from irax.numpy.ufuncs import abs, add, divide, maximum, multiply, negative, square
from irax.transforms.custom_jvp import custom_jvp


@custom_jvp
def length(x: Array, y: Array) -> Array:
    """Return sqrt(x**2 + y**2), without overflow."""
    longer, unit, extreme = _units(x, y)
    size = lax.sqrt(add(square(divide(x, unit)), square(divide(y, unit))))
    return where(extreme, longer, multiply(unit, size))


@custom_jvp
def _cosine(x: Array, y: Array) -> Array:
    """Return x / length(x, y); 1/2 at (0, 0), 0 where the length is infinite."""
    longer, unit, extreme = _units(x, y)
    part, other = divide(where(extreme, 1, x), unit), divide(where(extreme, 1, y), unit)
    share = divide(part, lax.sqrt(add(square(part), square(other))))
    return where(extreme, where(equal(longer, 0), 0.5, 0), share)


length.defjvps(
    lambda dx, _, x, y: multiply(dx, _cosine(x, y)),
    lambda dy, _, x, y: multiply(dy, _cosine(y, x)),
)
# The sine is moved by the angle, which is moved by parts of 1 / length: no squares, which vanish.
_cosine.defjvps(
    lambda dx, _, x, y: multiply(_cosine(y, x), _turned(multiply(dx, _cosine(y, x)), x, y)),
    lambda dy, c, x, y: negative(multiply(_cosine(y, x), _turned(multiply(dy, c), x, y))),
)


def _turned(across: Array, x: Array, y: Array) -> Array:
    """Return the angle by which a small move across it turns a vector; 0 of (0, 0)."""
    size = length(x, y)
    return where(equal(size, 0), 0, divide(across, where(equal(size, 0), 1, size)))


def _units(x: Array, y: Array) -> tuple[Array, Array, Array]:
    """Return the longer one; a unit in which neither overflows; and where both are 0, or one is
    infinite.
    """
    x, y = abs(x), abs(y)
    infinite = logical_or(equal(x, np.inf), equal(y, np.inf))  # even if the other one is nan
    longer = where(infinite, np.inf, maximum(x, y))
    extreme = logical_or(equal(longer, 0), infinite)
    return longer, where(extreme, 1, longer), extreme
