"""Adaptive steps of the Runge-Kutta pair of orders 5 and 4 by Dormand and Prince."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array

STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
"""The coefficients of the slopes in each stage; the last stage is the solution of order 5."""
TIMES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1)
"""The time of each stage, as a fraction of the step."""
ERRORS = (71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
"""The coefficients of the slopes in the difference of the solutions of order 5 and 4."""

Slope = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class Solver:
    """A solver of dy/dt = slope(y, t), for a vector y and increasing t.

    Derivatives are those of the steps that were taken; step sizes count as constants.
    """

    slope: Slope
    rtol: Any
    atol: Any
    mxstep: Any
    hmax: Any
    max_steps: int | None = None
    """A bound of the steps from one time to the next, which gives the loop reverse mode: most steps
    are computed again there (see `irax.lax.while_loop`).
    """

    def solve(self, y: Array, times: Array) -> Array:
        """Return y at each of the times; it is given at the first."""
        slope = self.slope(y, times[0])
        h = self.first_step(y, slope, times[0])

        def to_next(state: Any, time: Array) -> tuple[Any, Array]:
            y, slope, t, h = state
            state = self.advance(y, slope, t, h, time)
            return state, state[0]

        _, ys = lax.scan(to_next, (y, slope, times[0], h), times[1:])
        return jnp.concatenate([y[None], ys])

    def advance(
        self, y: Array, slope: Array, t: Array, h: Array, end: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Return the state at time `end`, for one at time t with h as the next step to try; nan
        where `mxstep` steps do not reach it, or they become too small to count.
        """

        def goes_on(state: Any) -> Array:
            _, _, t, h, steps = state
            return (t < end) & (steps < self.mxstep) & (t + h > t)

        def step(state: Any) -> Any:
            y, slope, t, h, steps = state
            is_last = t + h >= end
            size = jnp.where(is_last, end - t, h)
            after, slope_after, ratio = self.step(y, slope, t, size)
            accepted = ratio <= 1
            wanted = size * _factor(ratio)
            # A step that was cut short does not limit the next one.
            wanted = jnp.where(is_last & accepted, jnp.maximum(h, wanted), wanted)
            time = jnp.where(is_last, end, t + h)
            return (
                jnp.where(accepted, after, y),
                jnp.where(accepted, slope_after, slope),
                jnp.where(accepted, time, t),
                jnp.minimum(wanted, self.hmax).astype(h.dtype),
                steps + 1,
            )

        state = (y, slope, t, h, 0)
        y, slope, t, h, _ = lax.while_loop(goes_on, step, state, max_steps=self.max_steps)
        return jnp.where(t >= end, y, jnp.nan), slope, end, h

    def step(self, y: Array, slope: Array, t: Array, h: Array) -> tuple[Array, Array, Array]:
        """Return the solution after a step of size h, its slope there, and the error relative to
        the tolerance.
        """
        slopes = [slope]
        after = y
        for weights, time in zip(STAGES, TIMES, strict=True):
            after = y + h * _weighted(weights, slopes)
            slopes.append(self.slope(after, t + time * h))
        error = h * _weighted(ERRORS, slopes)
        return after, slopes[-1], self.ratio(error, y, after)

    def ratio(self, error: Array, *ys: Array) -> Array:
        """Return the root mean square of an error, relative to the tolerance at these values."""
        size = jnp.abs(ys[0])
        for y in ys[1:]:
            size = jnp.maximum(size, jnp.abs(y))
        ratio = jnp.abs(error) / (self.atol + self.rtol * size)
        return jnp.sqrt(jnp.mean(lax.stop_gradient(ratio) ** 2))

    def first_step(self, y: Array, slope: Array, t: Array) -> Array:
        """Return a first step to try (Hairer, Norsett, Wanner: Solving Ordinary Differential
        Equations I, section II.4).
        """
        size, speed = self.ratio(y, y), self.ratio(slope, y)
        small = (size < 1e-5) | (speed < 1e-5)
        h = jnp.where(small, 1e-6, 0.01 * size / jnp.where(small, 1, speed))
        after = y + h.astype(y.dtype) * slope
        bend = self.ratio(self.slope(after, t + h.astype(t.dtype)) - slope, y) / h
        most = jnp.maximum(speed, bend)
        flat = most <= 1e-15
        larger = jnp.where(flat, h * 1e-3, (0.01 / jnp.where(flat, 1, most)) ** (1 / 5))
        larger = jnp.maximum(larger, 1e-6)
        return jnp.minimum(jnp.minimum(100 * h, larger), self.hmax).astype(t.dtype)


def _weighted(weights: Sequence[float], slopes: Sequence[Array]) -> Array:
    first, *terms = [w * k for w, k in zip(weights, slopes, strict=True) if w]
    return sum(terms, first)


def _factor(ratio: Array) -> Array:
    """Return the factor by which the next step may be larger."""
    known = jnp.isfinite(ratio)  # a step to where the slope is not finite was much too large
    scaled = 0.9 * jnp.where(known & (ratio > 0), ratio, 1) ** (-1 / 5)
    scaled = jnp.where(ratio > 0, scaled, 10)
    return jnp.where(known, jnp.clip(scaled, 0.2, 10), 0.2)
