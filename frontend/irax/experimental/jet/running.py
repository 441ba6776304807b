"""Jaxprs of power series."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax.core.array import as_array
from irax.dtypes import float0
from irax.execution.jit import jit
from irax.experimental.jet.series import UNARY, Series, divide, product
from irax.jaxprs.language import Atom, Jaxpr, JaxprEqn, Literal
from irax.jaxprs.primitives import OpPrimitive, call_p, cond_p, scan_p, while_p
from irax.lax.control_flow.branches import switch
from irax.lax.control_flow.loops import while_loop
from irax.lax.control_flow.scans import scan
from irax.transforms.autodiff import jvp
from irax_compiler.ops.linear import Bilinear


def run(closed: Jaxpr, args: Sequence[Series], order: int) -> list[Series]:
    """Return the series of a jaxpr's results."""
    jaxpr = closed.jaxpr
    consts = [constant(x, order) for x in closed.consts]
    env: dict[Any, Series] = dict(zip(jaxpr.constvars, consts, strict=True))
    env.update(zip(jaxpr.invars, args, strict=True))

    def read(atom: Atom) -> Series:
        return constant(atom.val, order) if isinstance(atom, Literal) else env[atom]

    for eqn in jaxpr.eqns:
        env.update(zip(eqn.outvars, _equation(eqn, [read(v) for v in eqn.invars]), strict=True))
    return [read(v) for v in jaxpr.outvars]


def constant(x: Any, order: int) -> Series:
    """Return the series of what does not change."""
    return [x, *[None] * order]


def _equation(eqn: JaxprEqn, args: list[Series]) -> list[Series]:
    order = len(args[0]) - 1 if args else 0
    moving = [i for i, x in enumerate(args) if any(c is not None for c in x[1:])]
    if not moving:
        return [constant(y, order) for y in _applied(eqn, [x[0] for x in args])]
    structured = _STRUCTURED.get(eqn.primitive)
    if structured is not None:
        return structured(eqn.params, args, order)
    if eqn.primitive.name == "stop_gradient":  # which is linear, too
        return [constant(y, order) for y in _applied(eqn, [args[0][0]])]
    if len(args) == 1 and eqn.primitive.name in UNARY:
        return [UNARY[eqn.primitive.name](args[0])]
    op = eqn.primitive.op if isinstance(eqn.primitive, OpPrimitive) else None
    op = op(**eqn.params) if isinstance(op, type) else op
    if op is not None and op.is_linear_in(moving):
        # A sum is linear in all operands: those that do not move are zero in other terms.
        every = op.linear_in or range(len(args))
        return _linear(eqn, args, every if op.is_linear_in(every) else moving)
    if isinstance(op, Bilinear):
        return [product(lambda x, y: _applied(eqn, [x, y])[0], *args)]
    if eqn.primitive.name == "div":
        return [divide(*args)]
    return _differentiated(eqn, args, moving)


def _applied(eqn: JaxprEqn, args: Sequence[Any]) -> list[Any]:
    params = eqn.primitive.get_bind_params(eqn.params)
    found = eqn.primitive.bind(*args, **params)
    return list(found) if eqn.primitive.multiple_results else [found]


def _linear(eqn: JaxprEqn, args: list[Series], linear_in: Sequence[int]) -> list[Series]:
    """The series of an operation that is linear in some operands, of which no others move."""
    found = [_applied(eqn, [x[0] for x in args])]
    for k in range(1, len(args[0])):
        if all(args[i][k] is None for i in linear_in):
            found.append([None] * len(found[0]))
            continue
        given = [x[0] for x in args]
        for i in linear_in:
            given[i] = jnp.zeros_like(given[i]) if args[i][k] is None else args[i][k]
        found.append(_applied(eqn, given))
    return [list(terms) for terms in zip(*found, strict=True)]


def _differentiated(eqn: JaxprEqn, args: list[Series], moving: Sequence[int]) -> list[Series]:
    """The series of any operation: derivatives of derivatives along the curve."""
    order = len(args[0]) - 1
    kind = np.result_type(*(as_array(args[i][0]).dtype for i in moving))
    real = np.finfo(kind).dtype if kind.kind == "c" else kind

    def along(t: Any) -> list[Any]:
        given = [x[0] for x in args]
        for i in moving:
            terms = [c * t**k for k, c in enumerate(args[i]) if c is not None and k]
            given[i] = sum(terms, start=as_array(args[i][0])).astype(as_array(args[i][0]).dtype)
        return _applied(eqn, given)

    def derivative(function: Callable[[Any], list[Any]]) -> Callable[[Any], list[Any]]:
        return lambda t: jvp(function, (t,), (jnp.ones((), real),))[1]

    start, function = jnp.zeros((), real), along
    found: list[list[Any]] = []
    for k in range(order + 1):
        found.append([_divided(y, factorial(k)) for y in function(start)])
        function = derivative(function)
    return [list(terms) for terms in zip(*found, strict=True)]


def _divided(y: Any, by: int) -> Any:
    """A derivative over a factorial; None for that of integers."""
    if getattr(y, "dtype", None) == float0:
        return None
    return y if by == 1 else y / by


# ---- control flow --------------------------------------------------------------------------------


def _whole(args: Sequence[Series]) -> list[Series]:
    """Series without None, for the values that loops carry; those of integers are constant."""
    return [
        [x[0], *(_zero(x[0]) if c is None else c for c in x[1:])] if _is_inexact(x[0]) else [x[0]]
        for x in args
    ]


def _zero(x: Any) -> Any:
    return jnp.zeros_like(x)


def _is_inexact(x: Any) -> bool:
    return as_array(x).aval.is_inexact


def _longer(args: Sequence[Series], order: int) -> list[Series]:
    return [[*x, *[None] * (order + 1 - len(x))] for x in args]


def _call(params: Any, args: list[Series], order: int) -> list[Series]:
    def called(given: list[Series]) -> list[Series]:
        return _whole(run(params["jaxpr"], _longer(given, order), order))

    return _longer(jit(called)(_whole(args)), order)


def _cond(params: Any, args: list[Series], order: int) -> list[Series]:
    def branch(jaxpr: Jaxpr) -> Callable[..., Any]:
        return lambda given: _whole(run(jaxpr, _longer(given, order), order))

    index, *operands = args
    branches = [branch(jaxpr) for jaxpr in params["branches"]]
    number = as_array(index[0]).astype(np.int32)
    return _longer(switch(number, branches, _arrays(_whole(operands))), order)


def _while(params: Any, args: list[Series], order: int) -> list[Series]:
    first = params["cond_nconsts"]
    second = first + params["body_nconsts"]
    known, consts, init = args[:first], args[first:second], args[second:]

    def goes_on(state: list[Series]) -> Any:
        given = [*(x[:1] for x in known), *(x[:1] for x in state)]
        return run(params["cond_jaxpr"], given, 0)[0][0]

    def step(state: list[Series]) -> list[Series]:
        given = [*consts, *_longer(state, order)]
        return _arrays(_whole(run(params["body_jaxpr"], given, order)))

    return _longer(while_loop(goes_on, step, _arrays(_whole(init))), order)


def _scan(params: Any, args: list[Series], order: int) -> list[Series]:
    first = params["num_consts"]
    second = first + params["num_carry"]
    consts, init, xs = args[:first], args[first:second], args[second:]

    def step(carry: list[Series], row: list[Series]) -> Any:
        given = [*consts, *_longer(carry, order), *_longer(row, order)]
        found = _arrays(_whole(run(params["jaxpr"], given, order)))
        return found[: len(carry)], found[len(carry) :]

    start, rows = _arrays(_whole(init)), _arrays(_whole(xs))
    carry, ys = scan(step, start, rows, params["length"], params["reverse"])
    return _longer([*carry, *ys], order)


def _arrays(args: Sequence[Series]) -> list[Series]:
    return [[as_array(c).with_weak_type(False) for c in x] for x in args]


_STRUCTURED: dict[Any, Callable[[Any, list[Series], int], list[Series]]] = {
    call_p: _call,
    cond_p: _cond,
    while_p: _while,
    scan_p: _scan,
}
