"""Line search: the length of a step along a descent direction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array


class Point(NamedTuple):
    """A point, the function's value there, and its gradient, the direction of steepest ascent."""

    x: Array
    value: Array
    slope: Array


Evaluate = Callable[[Array], tuple[Array, Array]]
"""Computes the function's value and slope at a point."""


def inner(x: Array, y: Array) -> Array:
    """Return the inner product of two vectors; complex ones are pairs of real ones."""
    return jnp.real(jnp.vdot(x, y))


def first_length(slope: Array, steps: Array) -> Array:
    """Return the length to try first. Before any step nothing is known of the function's scale, and
    a step along the slope moves the point by 1 at most.
    """
    norm = jnp.sqrt(inner(slope, slope))
    return jnp.where(steps == 0, 1 / jnp.maximum(norm, 1), 1)


def search(
    evaluate: Evaluate, start: Point, direction: Array, first: Array, tries: int
) -> tuple[Array, Point, Array, Array]:
    """Find the length of a step along a direction that meets Wolfe's two conditions: the function
    falls by a part of what its slope promises, and the slope there is less steep. Near a minimum,
    where values differ by no more than rounding errors, slopes say whether it falls (Hager and
    Zhang, 2005, A new conjugate gradient method with guaranteed descent). Too long a step, `first`
    to begin with, is halved between bounds, too short a one doubled until there is an upper bound.

    Returns the length, the point there, the number of calls, and True if the function falls there;
    if it does not, the point is the start.
    """
    descent = inner(start.slope, direction)
    dtype = start.value.dtype
    rounding = 4 * np.finfo(dtype).eps * jnp.abs(start.value)

    def more(carry: Any) -> Array:
        number, done = carry[0], carry[-1]
        return jnp.logical_not(done) & (number < tries)

    def step(carry: Any) -> Any:
        number, low, high, length, best, _ = carry
        value, slope = evaluate(start.x + length * direction)
        rise = inner(slope, direction)
        lower = jnp.less_equal(value, start.value + 1e-4 * length * descent)
        level = jnp.less_equal(value, start.value + rounding)
        falls = lower | (level & jnp.less_equal(rise, (2e-4 - 1) * descent))
        flatter = jnp.greater_equal(rise, 0.9 * descent)
        # A lower point is kept in case that none satisfies both.
        better = (falls & flatter) | (lower & jnp.less(value, best[1]))
        new = (length, value, slope)
        best = tuple(jnp.where(better, a, b) for a, b in zip(new, best, strict=True))
        high = jnp.where(falls, high, length)
        low = jnp.where(falls, length, low)
        following = jnp.where(jnp.isinf(high), 2 * length, 0.5 * (low + high))
        return number + 1, low, high, following, best, falls & flatter

    zero = jnp.zeros((), dtype)
    best = (zero, start.value, start.slope)
    state = (jnp.zeros((), int), zero, zero + np.inf, first, best, jnp.asarray(False))
    number, _, _, _, (length, value, slope), _ = lax.while_loop(more, step, state)
    found = jnp.greater(length, 0)
    x = jnp.where(found, start.x + length * direction, start.x)
    return length, Point(x, value, slope), number, found
