"""irax.scipy.optimize: minima of functions, by the method of Broyden and others (BFGS)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array, as_array
from irax.core.promotion import convert, inexact_dtype
from irax.core.strictness import library
from irax.transforms.autodiff import value_and_grad


class OptimizeResults(NamedTuple):
    """What `minimize` found.

    x: where; success: whether the gradient is small there; status: 0 for success, 1 for too many
    iterations, 3 for a search along a line that found nothing; fun, jac: value and gradient;
    hess_inv: the estimate of the inverse Hessian; nfev, njev, nit: numbers of values, gradients and
    iterations.
    """

    x: Array
    success: Array
    status: Array
    fun: Array
    jac: Array
    hess_inv: Array | None
    nfev: Array
    njev: Array
    nit: Array


class _State(NamedTuple):
    x: Array
    value: Array
    slope: Array
    inverse: Array
    calls: Array
    steps: Array
    failed: Array


_OPTIONS = ("norm", "gtol", "maxiter", "line_search_maxiter")


@library
def minimize(
    fun: Callable[..., Any],
    x0: Array,
    args: tuple[Any, ...] = (),
    *,
    method: str,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResults:
    """A local minimum of a differentiable function of a vector. It may be compiled.

    Args:
        fun: called as fun(x, *args), returns a scalar.
        x0: the vector to begin with.
        args: further arguments.
        method: "BFGS".
        tol: how small the gradient must become; 1e-5 by default.
        options: gtol (the same), maxiter (200 for each element by default), line_search_maxiter
            (30 by default), norm (of the gradient, the largest element by default).

    Raises:
        NotImplementedError: another method.
        TypeError: options that there are not.
        ValueError: x0 is not a vector.

    >>> minimize(lambda x: (x[0] - 2) ** 2, irax.numpy.zeros(1), method="BFGS").x.round(3)
    Array([2.], dtype=float32)
    """
    if method.upper() != "BFGS":
        raise NotImplementedError(f"minimize: method={method!r} is not supported; expected 'BFGS'")
    settings = {"gtol": 1e-5 if tol is None else tol, **(options or {})}
    unknown = [name for name in settings if name not in _OPTIONS]
    if unknown:
        raise TypeError(
            f"minimize: there is no option {unknown[0]!r}; expected {', '.join(_OPTIONS)}"
        )
    start = as_array(x0, "minimize: x0")
    if start.ndim != 1:
        raise ValueError(f"minimize: x0 must be a vector, got shape {start.shape}")
    start = convert(start, inexact_dtype(start.dtype))
    size = start.size
    limit = size * 200 if settings.get("maxiter") is None else settings["maxiter"]
    tries = settings.get("line_search_maxiter", 30)
    norm, small = settings.get("norm", np.inf), settings["gtol"]
    both = value_and_grad(lambda x: fun(x, *args))

    def large(slope: Array) -> Array:
        return jnp.greater_equal(jnp.linalg.norm(slope, ord=norm), small)

    def more(state: _State) -> Array:
        return jnp.logical_not(state.failed) & large(state.slope) & (state.steps < limit)

    def step(state: _State) -> _State:
        direction = -(state.inverse @ state.slope)
        length, value, slope, calls, found = _search(both, state, direction, tries)
        x = jnp.where(found, state.x + length * direction, state.x)
        moved, turned = length * direction, slope - state.slope
        inner = jnp.vdot(turned, moved)
        usable = jnp.logical_and(found, jnp.greater(inner, 0))
        rho = jnp.where(usable, 1 / jnp.where(usable, inner, 1), 0)
        left = jnp.eye(size, dtype=x.dtype) - rho * jnp.outer(moved, turned)
        inverse = left @ state.inverse @ left.T + rho * jnp.outer(moved, moved)
        return _State(
            x,
            jnp.where(found, value, state.value),
            jnp.where(found, slope, state.slope),
            jnp.where(usable, inverse, state.inverse),
            state.calls + calls,
            state.steps + 1,
            jnp.logical_not(found),
        )

    value, slope = both(start)
    none = jnp.zeros((), int)
    first = _State(
        start, value, slope, jnp.eye(size, dtype=start.dtype), none + 1, none, jnp.asarray(False)
    )
    last = lax.while_loop(more, step, first)
    success = jnp.logical_not(large(last.slope))
    status = jnp.where(success, 0, jnp.where(last.failed, 3, 1))
    calls = last.calls
    return OptimizeResults(
        last.x, success, status, last.value, last.slope, last.inverse, calls, calls, last.steps
    )


def _search(
    both: Callable[[Array], Any], state: _State, direction: Array, tries: int
) -> tuple[Array, Array, Array, Array, Array]:
    """How far to go along a direction, by Wolfe's two conditions: the function falls by a part of
    what its slope promises, and the slope there is less steep. Near a minimum, where values differ
    by no more than they are rounded by, slopes say whether it falls (Hager and Zhang, 2005, A new
    conjugate gradient method with guaranteed descent). Too long a step is halved between bounds,
    too short a one doubled until there is an upper bound.

    Returns the length, the value and the gradient there, the number of calls, and whether the
    function falls there at all.
    """
    descent = jnp.vdot(state.slope, direction)
    dtype = state.x.dtype
    rounding = 4 * np.finfo(dtype).eps * jnp.abs(state.value)

    def more(carry: Any) -> Array:
        number, done = carry[0], carry[-1]
        return jnp.logical_not(done) & (number < tries)

    def step(carry: Any) -> Any:
        number, low, high, length, best, _ = carry
        value, slope = both(state.x + length * direction)
        rise = jnp.vdot(slope, direction)
        lower = jnp.less_equal(value, state.value + 1e-4 * length * descent)
        level = jnp.less_equal(value, state.value + rounding)
        falls = lower | (level & jnp.less_equal(rise, (2e-4 - 1) * descent))
        flatter = jnp.greater_equal(rise, 0.9 * descent)
        # What is lower is kept in case that nothing satisfies both.
        better = (falls & flatter) | (lower & jnp.less(value, best[1]))
        new = (length, value, slope)
        best = tuple(jnp.where(better, a, b) for a, b in zip(new, best, strict=True))
        high = jnp.where(falls, high, length)
        low = jnp.where(falls, length, low)
        following = jnp.where(jnp.isinf(high), 2 * length, 0.5 * (low + high))
        return number + 1, low, high, following, best, falls & flatter

    one = jnp.ones((), dtype)
    best = (0 * one, state.value, state.slope)
    first = (jnp.zeros((), int), 0 * one, np.inf * one, one, best, jnp.asarray(False))
    number, _, _, _, (length, value, slope), _ = lax.while_loop(more, step, first)
    return length, value, slope, number, jnp.greater(length, 0)
