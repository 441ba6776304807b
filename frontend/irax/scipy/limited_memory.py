"""L-BFGS: the quasi-Newton method that keeps the last few steps in place of a matrix (Nocedal and
Wright, 2006, Numerical Optimization, section 7.2). Complex variables are pairs of real ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array
from irax.scipy.line_search import Evaluate, Point, first_length, inner, search

OPTIONS: Mapping[str, Any] = {
    "maxiter": None,
    "norm": np.inf,
    "maxcor": 10,
    "ftol": 2.220446049250313e-09,
    "gtol": 1e-5,
    "maxfun": None,
    "maxgrad": None,
    "maxls": 20,
}
"""The options, and their defaults."""


class _History(NamedTuple):
    """The last steps, the newest last: the moves, the changes of the slope, and the reciprocals of
    their inner products; 0 where there is none yet.
    """

    moved: Array
    turned: Array
    rho: Array


class State(NamedTuple):
    """The state of a search."""

    point: Point
    history: _History
    scale: Array
    calls: Array
    steps: Array
    status: Array


def minimize(evaluate: Evaluate, start: Array, options: Mapping[str, Any]) -> State:
    """Search from a point until an option ends it. `status` says which: 1 to 3 for too many
    iterations, values or gradients, 4 for too small a progress, 5 for a search along a line that
    found nothing.
    """
    limits = [options["maxiter"], options["maxfun"], options["maxgrad"]]
    if all(limit is None for limit in limits):
        limits[0] = start.size * 200
    most_steps, most_values, most_slopes = (np.inf if n is None else n for n in limits)

    def more(state: State) -> Array:
        large = jnp.linalg.norm(state.point.slope, ord=options["norm"]) >= options["gtol"]
        return (state.status == 0) & large

    def step(state: State) -> State:
        before = state.point
        direction = _direction(before.slope, state.history, state.scale)
        _, after, calls, found = search(
            evaluate, before, direction, first_length(before.slope, state.steps), options["maxls"]
        )
        moved, turned = after.x - before.x, after.slope - before.slope
        product = inner(moved, turned)
        usable = found & (product > 0)
        history, scale = _appended(state, moved, turned, product)
        total, steps = state.calls + calls, state.steps + 1
        status = jnp.where(before.value - after.value < options["ftol"], 4, 0)
        for code, over in (
            (3, total >= most_slopes),
            (2, total >= most_values),
            (1, steps >= most_steps),
            (5, jnp.logical_not(found)),
        ):
            status = jnp.where(over, code, status)
        history = _History(
            *(jnp.where(usable, a, b) for a, b in zip(history, state.history, strict=True))
        )
        return State(after, history, jnp.where(usable, scale, state.scale), total, steps, status)

    value, slope = evaluate(start)
    none, rows = jnp.zeros((), int), jnp.zeros((options["maxcor"], start.size), start.dtype)
    history = _History(rows, rows, jnp.zeros(options["maxcor"], value.dtype))
    first = State(
        Point(start, value, slope), history, jnp.ones((), value.dtype), none + 1, none, none
    )
    return lax.while_loop(more, step, first)


def _appended(state: State, moved: Array, turned: Array, product: Array) -> tuple[_History, Array]:
    """Return the history with one more step, and the inverse Hessian's scale from that step."""
    newest = (moved, turned, 1 / product)
    rows = (
        jnp.concatenate([old[1:], new[None]])
        for old, new in zip(state.history, newest, strict=True)
    )
    return _History(*rows), product / inner(turned, turned)


def _direction(slope: Array, history: _History, scale: Array) -> Array:
    """Return minus the inverse Hessian, as the history has it, times the slope, by two loops."""

    def back(rest: Array, row: Any) -> tuple[Array, Array]:
        moved, turned, rho = row
        part = rho * inner(moved, rest)
        return rest - part * turned, part

    def forth(found: Array, row: Any) -> tuple[Array, None]:
        (moved, turned, rho), part = row
        return found + (part - rho * inner(turned, found)) * moved, None

    rest, parts = lax.scan(back, slope, history, reverse=True)
    found, _ = lax.scan(forth, scale * rest, (history, parts))
    return -found
