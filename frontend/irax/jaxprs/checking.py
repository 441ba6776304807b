"""Checks of jaxprs: variables are defined, once, and types are those of the primitives."""

from __future__ import annotations

from typing import Any

from irax.core.avals import ShapedArray, ShapeDtypeStruct
from irax.core.tracebacks import api_boundary
from irax.errors import JaxprTypeError
from irax.execution.shapes import eval_shape
from irax.jaxprs.language import DropVar, Jaxpr, JaxprEqn, Literal, Var, jaxprs_in_params


@api_boundary
def check_jaxpr(jaxpr: Jaxpr) -> None:
    """Check that a jaxpr uses variables that it has, defines each once, and that the results of its
    equations have the types that their primitives give them, in the jaxprs that it holds, too.

    Args:
        jaxpr: a `Jaxpr`, such as one that a program has put together.

    Raises:
        JaxprTypeError: it does not hold.

    >>> jaxpr = irax.make_jaxpr(jnp.sin)(1.0)
    >>> irax.extend.core.check_jaxpr(jaxpr)
    """
    known: set[Var] = set()

    def define(variable: Any, where: str) -> None:
        if isinstance(variable, DropVar):
            return
        if variable in known:
            raise JaxprTypeError(f"{where} defines a variable a second time, in {jaxpr}")
        known.add(variable)

    for variable in jaxpr.all_invars:
        define(variable, "the head")
    for eqn in jaxpr.eqns:
        if any(v not in known for v in eqn.invars if not isinstance(v, Literal)):
            raise JaxprTypeError(f"{eqn} uses a variable that is not defined before, in {jaxpr}")
        for inner in jaxprs_in_params(eqn.params):
            check_jaxpr(inner)
        _check_types(eqn)
        for variable in eqn.outvars:
            define(variable, str(eqn))
    if any(v not in known for v in jaxpr.outvars if not isinstance(v, Literal)):
        raise JaxprTypeError(f"a result is a variable that is not defined, in {jaxpr}")


def _check_types(eqn: JaxprEqn) -> None:
    """Raise JaxprTypeError unless an equation has the results of its primitive."""
    avals = [v.aval for v in eqn.invars]
    if not all(isinstance(a, ShapedArray) for a in avals):
        return  # it is of Refs
    structs = [ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in avals]
    params = eqn.primitive.get_bind_params(eqn.params)
    try:
        found = eval_shape(lambda *args: eqn.primitive.bind(*args, **params), *structs)
    except (TypeError, ValueError) as error:
        raise JaxprTypeError(f"{eqn} is refused: {error}") from error
    results = list(found) if eqn.primitive.multiple_results else [found]
    expected = [(x.shape, x.dtype) for x in results]
    if expected != [(v.aval.shape, v.aval.dtype) for v in eqn.outvars]:
        told = ", ".join(str(ShapedArray(x.shape, x.dtype)) for x in results)
        raise JaxprTypeError(f"{eqn} has results of other types; expected {told}")
