"""custom_gradient: a function that returns its result and its derivative."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from irax import dtypes, tree_util
from irax.core.array import Array, as_array
from irax.core.avals import ShapedArray
from irax.core.callables import check_callable
from irax.core.dispatch import call
from irax.core.tracebacks import api_boundary
from irax.core.tracing import Input, Traced, trace_function
from irax.core.trees import array_trees
from irax.core.trees.flattening import FlatFunction, name_of
from irax.core.wrapping import wraps
from irax.transforms import slots
from irax.transforms.accumulators import GradAccum, NullAccum, ValAccum, collected
from irax.transforms.custom_arguments import is_inexact
from irax.transforms.custom_vjp import custom_vjp


@api_boundary
def custom_gradient(
    fun: Callable[..., Any] | None = None,
    *,
    with_logs: bool = False,
    remat: bool = False,
    with_accums: Any = None,
) -> Any:
    """A function whose derivative is the function that it returns beside its result.

    Args:
        fun: returns `(result, pullback)`; `pullback(cotangent)` returns a cotangent for each
            argument, a tuple of them where there are several. None for a decorator.
        with_logs: `pullback` returns a pair of the cotangents and logs, as the rules of
            `custom_vjp.defvjp_with_logs` do.
        remat: `fun` returns `(result, rem)`; `rem(*args)` returns the result and the pullback.
        with_accums: anything but None: `pullback(cotangent, *places)` adds the cotangents to
            places, as of `custom_vjp.defvjp_with_accums`.

    >>> f = irax.custom_gradient(lambda x: (x * x, lambda ct: 10 * ct))
    >>> irax.grad(f)(3.0)
    Array(10., dtype=float32, weak_type=True)
    """
    if fun is None:
        options = {"with_logs": with_logs, "remat": remat, "with_accums": with_accums}
        return partial(custom_gradient, **options)
    check_callable(fun, "custom_gradient")
    if remat:
        fun = _of_rem(fun)
    if with_accums is not None:
        fun = _adding(fun)
    return _with_gradient(fun, with_logs and with_accums is None)


def _of_rem(fun: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(fun)
    def after(*args: Any) -> Any:
        _, rem = fun(*args)
        return rem(*args)

    return after


def _adding(fun: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(fun)
    def adding(*args: Any) -> Any:
        out, pullback = fun(*args)

        def cotangents(ct: Any) -> Any:
            places = tree_util.tree_map(_place, args)
            pullback(ct, *places)
            return collected(places)

        return out, cotangents

    return adding


def _place(x: Any) -> GradAccum:
    aval = as_array(x).aval
    return (ValAccum if is_inexact(aval) else NullAccum)(aval.to_tangent_aval())


def _with_gradient(fun: Callable[..., Any], with_logs: bool) -> custom_vjp:
    @wraps(fun)
    def value(*args: Any) -> Any:
        return fun(*args)[0]

    def fwd(*args: Any) -> tuple[Any, Any]:
        out, pullback = fun(*args)
        leaves, tree = array_trees.tree_flatten(out)
        avals = [as_array(x).aval for x in leaves]
        return out, _Kept(pullback, tree, avals, len(args), with_logs).residuals()

    def bwd(residuals: Any, cotangent: Any) -> Any:
        return residuals(cotangent)

    ruled = custom_vjp(value)
    if with_logs:
        ruled.defvjp_with_logs(fwd, bwd)
    else:
        ruled.defvjp(fwd, bwd)
    return ruled


class _Kept:
    """A pullback that is a closure, traced where it was made; captured values are residuals."""

    def __init__(
        self,
        pullback: Callable[..., Any],
        out_tree: Any,
        avals: Sequence[ShapedArray],
        num_args: int,
        with_logs: bool,
    ) -> None:
        self.pullback, self.out_tree = pullback, out_tree
        self.avals, self.num_args, self.with_logs = avals, num_args, with_logs

    def residuals(self) -> Any:
        inputs = [Input(a, None, "a cotangent") for a in self.avals if is_inexact(a)]
        in_tree = array_trees.tree_structure(((0,) * len(inputs), {}))
        flat = FlatFunction(self._tuple, in_tree)
        traced = trace_function(flat, inputs, "custom_gradient", name_of(self.pullback))
        return tree_util.Partial(_CallTraced(traced, flat.out_tree, self.avals), traced.captures)

    def _tuple(self, *cts: Array) -> tuple[Any, ...]:
        rest = iter(cts)
        leaves = [next(rest) if is_inexact(a) else _float0(a) for a in self.avals]
        found = self.pullback(array_trees.tree_unflatten(self.out_tree, leaves))
        if self.with_logs:
            cotangents, logs = slots.pair(self.pullback, found)
            return self._for_each(cotangents), logs
        return self._for_each(found)

    def _for_each(self, found: Any) -> Any:
        """The cotangents as a tuple with one for each argument."""
        for_each = isinstance(found, tuple) and len(found) == self.num_args
        return found if for_each or self.num_args != 1 else (found,)


class _CallTraced:
    """Calls a traced pullback, given its captured values and a cotangent."""

    def __init__(self, traced: Traced, out_tree: Any, avals: Sequence[ShapedArray]) -> None:
        self.traced, self.out_tree, self.avals = traced, out_tree, avals

    def __call__(self, captures: Sequence[Array], cotangent: Any) -> Any:
        leaves, _ = array_trees.flatten_tangents(cotangent)
        cts = [as_array(x) for x, a in zip(leaves, self.avals, strict=True) if is_inexact(a)]
        traced = self.traced
        found = call(traced.builder, traced.name, [*cts, *captures], traced.weak)
        return array_trees.tree_unflatten(self.out_tree, found)


def _float0(aval: ShapedArray) -> np.ndarray:
    return np.zeros(aval.shape, dtypes.float0)
