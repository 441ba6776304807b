"""irax.scipy.optimize: minima of functions, by the method of Broyden and others (BFGS, L-BFGS)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array, as_array
from irax.core.dtypes.operands import inexact_dtype
from irax.core.dtypes.promotion import convert
from irax.core.dtypes.strictness import library
from irax.scipy import limited_memory
from irax.scipy.line_search import Evaluate, Point, first_length, search
from irax.transforms.autodiff import value_and_grad


class OptimizeResults(NamedTuple):
    """The result of `minimize`.

    x: the point found; success: True if the gradient is small there; status: 0 for success, 1 for
        too many
    iterations, 3 (L-BFGS: 5) for a failed line search, 2 to 4 for the options
    maxfun, maxgrad and ftol of L-BFGS; fun, jac: value and gradient;
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
    point: Point
    inverse: Array
    calls: Array
    steps: Array
    failed: Array


_BFGS_OPTIONS: Mapping[str, Any] = {
    "norm": np.inf,
    "gtol": 1e-5,
    "maxiter": None,
    "line_search_maxiter": 30,
}
_METHODS = {
    "bfgs": _BFGS_OPTIONS,
    "l-bfgs-experimental-do-not-rely-on-this": limited_memory.OPTIONS,
}


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
    """Minimize a differentiable function of a vector locally. It may be called under `jit`.

    Args:
        fun: called as fun(x, *args), returns a scalar.
        x0: the vector to begin with; for L-BFGS it may be complex.
        args: further arguments.
        method: "BFGS", or "l-bfgs-experimental-do-not-rely-on-this", which keeps no matrix.
        tol: the norm of the gradient below which the search ends; 1e-5 by default.
        options: gtol (the same), norm (of the gradient, the largest element by default), maxiter
            (200 for each element by default); for BFGS line_search_maxiter (30 by default); for
            L-BFGS maxcor (the number of steps that are kept, 10), ftol (the least progress,
            2.2e-9), maxfun and maxgrad (none), maxls (tries of a line search, 20).

    Raises:
        NotImplementedError: another method.
        TypeError: unknown options, or `args` is not a tuple.
        ValueError: x0 is not a vector.

    >>> minimize(lambda x: (x[0] - 2) ** 2, irax.numpy.zeros(1), method="BFGS").x.round(3)
    Array([2.], dtype=float32)
    """
    if method.lower() not in _METHODS:
        raise NotImplementedError(
            f"minimize: method={method!r} is not supported; expected 'BFGS' or {[*_METHODS][1]!r}"
        )
    if not isinstance(args, tuple):
        raise TypeError(f"minimize: args must be a tuple, got {args!r}")
    defaults = _METHODS[method.lower()]
    given = {"gtol": 1e-5 if tol is None else tol, **(options or {})}
    unknown = [name for name in given if name not in defaults]
    if unknown:
        raise TypeError(
            f"minimize: there is no option {unknown[0]!r}; expected {', '.join(defaults)}"
        )
    start = as_array(x0, "minimize: x0")
    if start.ndim != 1:
        raise ValueError(f"minimize: x0 must be a vector, got shape {start.shape}")
    start = convert(start, inexact_dtype(start.dtype))
    both = value_and_grad(lambda x: _scalar(fun(x, *args)))

    def evaluate(x: Array) -> tuple[Array, Array]:
        value, gradient = both(x)
        return value, jnp.conj(gradient)  # the direction of steepest ascent of a complex number

    settings = {**defaults, **given}
    if defaults is _BFGS_OPTIONS:
        return _with_matrix(evaluate, start, settings)
    state = limited_memory.minimize(evaluate, start, settings)
    return _results(state.point, state.status, None, state.calls, state.steps, settings)


def _scalar(value: Any) -> Array:
    array = as_array(value, "minimize: the value of fun")
    if array.shape != ():
        raise TypeError(
            f"minimize: fun must return a scalar, got an array of shape {array.shape}; reduce it, "
            "for example with irax.numpy.sum"
        )
    return array


def _results(
    point: Point,
    status: Array,
    inverse: Array | None,
    calls: Array,
    steps: Array,
    settings: Mapping[str, Any],
) -> OptimizeResults:
    """Return the results; `status` says why the search ended if the gradient is not small."""
    success = jnp.linalg.norm(point.slope, ord=settings["norm"]) < settings["gtol"]
    return OptimizeResults(
        point.x,
        success,
        jnp.where(success, 0, status),
        point.value,
        jnp.conj(point.slope),
        inverse,
        calls,
        calls,
        steps,
    )


def _with_matrix(evaluate: Evaluate, start: Array, settings: Mapping[str, Any]) -> OptimizeResults:
    """Minimize by BFGS: each step improves an estimate of the inverse Hessian."""
    size = start.size
    limit = size * 200 if settings["maxiter"] is None else settings["maxiter"]

    def more(state: _State) -> Array:
        large = jnp.linalg.norm(state.point.slope, ord=settings["norm"]) >= settings["gtol"]
        return jnp.logical_not(state.failed) & large & (state.steps < limit)

    def step(state: _State) -> _State:
        before = state.point
        direction = -(state.inverse @ before.slope)
        first = first_length(before.slope, state.steps)
        length, after, calls, found = search(
            evaluate, before, direction, first, settings["line_search_maxiter"]
        )
        moved, turned = length * direction, after.slope - before.slope
        product = jnp.vdot(turned, moved)
        usable = found & (product > 0)
        # The first estimate is scaled by the first step (Nocedal and Wright, 6.20).
        scale = jnp.where(usable & (state.steps == 0), product / jnp.vdot(turned, turned), 1)
        rho = jnp.where(usable, 1 / jnp.where(usable, product, 1), 0)
        left = jnp.eye(size, dtype=start.dtype) - rho * jnp.outer(moved, turned)
        inverse = left @ (scale * state.inverse) @ left.T + rho * jnp.outer(moved, moved)
        return _State(
            after,
            jnp.where(usable, inverse, state.inverse),
            state.calls + calls,
            state.steps + 1,
            jnp.logical_not(found),
        )

    none = jnp.zeros((), int)
    first = _State(
        Point(start, *evaluate(start)),
        jnp.eye(size, dtype=start.dtype),
        none + 1,
        none,
        jnp.asarray(False),
    )
    last = lax.while_loop(more, step, first)
    status = jnp.where(last.failed, 3, 1)
    return _results(last.point, status, last.inverse, last.calls, last.steps, settings)
