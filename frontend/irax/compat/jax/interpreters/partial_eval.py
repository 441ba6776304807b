"""jax.interpreters.partial_eval: functions as jaxprs, and their values that are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from irax.compat.jax.interpreters.tracers import Tracer as DynamicJaxprTracer
from irax.core.avals import ShapedArray
from irax.jaxprs.language import Jaxpr
from irax.jaxprs.make import flat_jaxpr
from irax.jaxprs.partial import known_results, needed_equations

JaxprTracer = DynamicJaxprTracer
Val = Any


class PartialVal(NamedTuple):
    """A value that is known (`aval` is None), or of which the type is."""

    aval: ShapedArray | None
    const: Any

    @classmethod
    def known(cls, const: Any) -> PartialVal:
        """Return the partial value of an array."""
        return cls(None, const)

    @classmethod
    def unknown(cls, aval: ShapedArray) -> PartialVal:
        """Return the partial value of which the type is known."""
        return cls(aval, None)

    def is_known(self) -> bool:
        """Return True if the value is known."""
        return self.aval is None

    def get_aval(self) -> ShapedArray:
        """Return the type."""
        return self.const.aval if self.aval is None else self.aval


def trace_to_jaxpr_dynamic(
    fun: Any, in_avals: Sequence[ShapedArray], *others: Any, **options: Any
) -> Any:
    """Return the jaxpr of a function of arrays of given types, the types of its results, and its
    constants.
    """
    closed, _ = flat_jaxpr(fun.call_wrapped, in_avals)
    return closed.jaxpr, closed.out_avals, closed.consts


def trace_to_jaxpr_nounits(
    fun: Any, pvals: Sequence[PartialVal], instantiate: bool | Sequence[bool] = False
) -> tuple[Jaxpr, list[PartialVal], list[Any]]:
    """Return the jaxpr of a function of its unknown arguments, its results as partial values, and
    the constants of the jaxpr.
    """

    def function(*unknown: Any) -> Any:
        given = iter(unknown)
        return fun.call_wrapped(*(p.const if p.is_known() else next(given) for p in pvals))

    closed, results = known_results(function, [p.aval for p in pvals if p.aval is not None])
    wanted = [instantiate] * len(results) if isinstance(instantiate, bool) else list(instantiate)
    outputs = [
        PartialVal.unknown(aval) if array is None or w else PartialVal.known(array)
        for (aval, array), w in zip(results, wanted, strict=True)
    ]
    return closed.jaxpr, outputs, closed.consts


def convert_constvars_jaxpr(jaxpr: Jaxpr) -> Jaxpr:
    """Return a jaxpr with its constants as first arguments."""
    return jaxpr.with_consts([])


def close_jaxpr(jaxpr: Jaxpr) -> Jaxpr:
    """Return a jaxpr without the values of constants."""
    return jaxpr.with_consts([])


def dce_jaxpr(
    jaxpr: Jaxpr, used_outputs: Sequence[bool], instantiate: bool | Sequence[bool] = False
) -> tuple[Jaxpr, list[bool]]:
    """Return a jaxpr without what its used results do not need, and which arguments are left."""
    outvars = [v for v, used in zip(jaxpr.outvars, used_outputs, strict=True) if used]
    eqns, needed = needed_equations(jaxpr, outvars)
    wanted = [instantiate] * len(jaxpr.invars) if isinstance(instantiate, bool) else instantiate
    used = [id(v) in needed or w for v, w in zip(jaxpr.invars, wanted, strict=True)]
    invars = [v for v, u in zip(jaxpr.invars, used, strict=True) if u]
    return jaxpr.replace(invars=invars, outvars=outvars, eqns=eqns), used
