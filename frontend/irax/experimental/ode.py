"""Ordinary differential equations: odeint."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes, lax, tree_util
from irax.core.array import Array, as_array
from irax.core.closures import closure_convert
from irax.core.dtypes.strictness import library
from irax.core.trees.flattening import name_of
from irax.experimental.dormand_prince import Solver
from irax.flatten_util import ravel_pytree
from irax.transforms.autodiff import vjp
from irax.transforms.custom_vjp import custom_vjp
from irax.transforms.vmap import vmap


@library
def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    *args: Any,
    rtol: float = 1.4e-8,
    atol: float = 1.4e-8,
    mxstep: float = np.inf,
    hmax: float = np.inf,
) -> Any:
    """Solve the initial value problem dy/dt = func(y, t, *args) by adaptive Runge-Kutta steps
    (Dormand-Prince, of order 5).

    Reverse mode solves the adjoint equation backwards in time, in memory that does not grow with
    the number of steps. There is no forward mode.

    Args:
        func: returns the slope of y at time t, a pytree like `y0`, or one with as many elements in
            all. It may use traced values from
            outside, which have derivatives too.
        y0: y at the first time: a pytree of inexact arrays.
        t: a vector of increasing times, of floats.
        args: further arguments of `func`: pytrees of arrays.
        rtol: the relative error allowed in a step.
        atol: the absolute error allowed in a step.
        mxstep: the most steps from one time to the next.
        hmax: the largest step.

    Returns:
        y at each time: a pytree like `y0`, whose arrays have a further first axis for the times;
        nan where `mxstep` steps were not enough, or steps became too small to count.

    Raises:
        TypeError: `y0` is not inexact, `t` is not a vector of floats, or `func` returns what is not
            like `y0`.

    >>> ys = odeint(lambda y, t: -y, 1.0, jnp.array([0.0, 1.0, 2.0]), rtol=1e-5, atol=1e-5)
    >>> jnp.allclose(ys, jnp.exp(-jnp.arange(3.0)), atol=1e-4)
    Array(True, dtype=bool)
    """
    times = as_array(t, "odeint: t")
    if times.ndim != 1 or not times.size or not dtypes.issubdtype(times.dtype, np.floating):
        raise TypeError(f"odeint: t must be a vector of floats, got {times.aval}")
    times = times.with_weak_type(False)
    for path, leaf in tree_util.tree_leaves_with_path(y0):
        aval = as_array(leaf, f"odeint: y0{tree_util.keystr(path)}").aval
        if not dtypes.issubdtype(aval.dtype, np.inexact):
            raise TypeError(
                f"odeint: y0{tree_util.keystr(path)} has type {aval}; expected floats: convert it "
                "with .astype(float)"
            )
    settings = (rtol, atol, mxstep, hmax)
    return _odeint(func, y0, times, args, settings)


def _odeint(
    func: Callable[..., Any],
    y0: Any,
    times: Array,
    args: tuple[Any, ...],
    settings: Any,
) -> Any:
    y, unravel = ravel_pytree(y0)
    y = y.with_weak_type(False)
    args = tree_util.tree_map(lambda x: as_array(x, "odeint: args"), args)

    def slope(y: Array, t: Array, *args: Any) -> Array:
        out = func(unravel(y), t, *args)
        flat = ravel_pytree(out)[0]
        structure = tree_util.tree_structure(y0)
        if flat.shape != y.shape and tree_util.tree_structure(out) != structure:
            title = f"what func ({name_of(func)}) returned"
            error = tree_util.structure_error(structure, out, "y0", title)
            raise TypeError(f"odeint: {error}")
        return _like(y, flat, func)

    converted, outside = closure_convert(slope, y, times[0], *args)
    ys = _solve(converted, settings, y, times, (*args, *outside))
    return vmap(unravel)(ys)


def _like(y: Array, out: Array, func: Callable[..., Any]) -> Array:
    if out.shape != y.shape or (out.dtype.kind == "c" and y.dtype.kind != "c"):
        raise TypeError(
            f"odeint: func ({name_of(func)}) must return what is like y0, of {y.aval} in all, got "
            f"{out.aval}"
        )
    return out.astype(y.dtype)


@functools.partial(custom_vjp, nondiff_argnums=(0, 1))
def _solve(
    slope: Callable[..., Array],
    settings: Any,
    y: Array,
    times: Array,
    args: tuple[Any, ...],
) -> Array:
    return Solver(lambda y, t: slope(y, t, *args), *settings).solve(y, times)


def _forward(
    slope: Callable[..., Array],
    settings: Any,
    y: Array,
    times: Array,
    args: tuple[Any, ...],
) -> tuple[Array, Any]:
    ys = _solve(slope, settings, y, times, args)
    return ys, (ys, times, args)


def _backward(
    slope: Callable[..., Array], settings: Any, residuals: Any, cotangents: Array
) -> tuple[Any, ...]:
    """Solve the adjoint equation: y's cotangent goes backwards in time by the transposed derivative
    of the slope, and the cotangents of the arguments are summed up. y itself is carried along.
    """
    ys, times, args = residuals
    leaves, tree = tree_util.tree_flatten(args)
    moving = [dtypes.issubdtype(x.dtype, np.inexact) for x in leaves]

    def whole(chosen: Any) -> tuple[Any, ...]:
        """Return the arguments with the inexact ones replaced."""
        rest = iter(chosen)
        full = [next(rest) if m else x for x, m in zip(leaves, moving, strict=True)]
        return tree_util.tree_unflatten(tree, full)

    given = [x for x, m in zip(leaves, moving, strict=True) if m]

    def adjoint(state: Any, back: Array, given: Any) -> Any:
        y, ct, *_ = state
        out, pullback = vjp(lambda y, t, given: slope(y, t, *whole(given)), y, -back, given)
        return -out, *pullback(ct)

    def to_earlier(state: Any, row: Any) -> tuple[Any, Array]:
        ct, ct_first, ct_given = state
        y, y_ct, end, start = row
        ct = ct + y_ct
        # A later end time would add the slope there.
        ct_end = jnp.real(jnp.vdot(jnp.conj(slope(y, end, *args)), y_ct)).astype(end.dtype)
        begin = (y, ct, ct_first - ct_end, ct_given)
        span = jnp.stack([-end, -start])
        found = _odeint(adjoint, begin, span, (given,), settings)
        return tuple(tree_util.tree_map(lambda x: x[-1], part) for part in found[1:]), ct_end

    zero = tree_util.tree_map(jnp.zeros_like, given)
    start = (jnp.zeros_like(ys[0]), jnp.zeros_like(times[0]), zero)
    rows = (ys[1:], cotangents[1:], times[1:], times[:-1])
    (ct, ct_first, ct_given), ct_times = lax.scan(to_earlier, start, rows, reverse=True)
    sums = iter(ct_given)
    ct_args = [next(sums) if m else None for m in moving]
    ct_times = jnp.concatenate([ct_first[None], ct_times])
    return ct + cotangents[0], ct_times, tree_util.tree_unflatten(tree, ct_args)


_solve.defvjp(_forward, _backward)
