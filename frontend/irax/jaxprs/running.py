"""Jaxprs as functions: they are run equation by equation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from irax.core.array import as_array
from irax.jaxprs.language import Atom, Jaxpr, JaxprEqn, Literal, Var


def eval_jaxpr(
    jaxpr: Jaxpr, consts: Sequence[Any], *args: Any, propagate_source_info: bool = True
) -> list[Any]:
    """Return the results of a jaxpr, by applying the primitives of its equations in order."""
    given = [*consts, *args]

    def bound(eqn: JaxprEqn, operands: Sequence[Any]) -> Any:
        return eqn.primitive.bind(*operands, **eqn.primitive.get_bind_params(eqn.params))

    return _weakly_typed(jaxpr, given, interpreted(jaxpr, given, bound))


def interpreted(
    jaxpr: Jaxpr, given: Sequence[Any], apply: Callable[[JaxprEqn, Sequence[Any]], Any]
) -> list[Any]:
    """Return the results of a jaxpr for values of its variables, constants first; `apply` computes
    an equation's result, or the list of its results, from its operands.
    """
    env: dict[Var, Any] = dict(zip(jaxpr.all_invars, given, strict=True))

    def read(atom: Atom) -> Any:
        return atom.val if isinstance(atom, Literal) else env[atom]

    for eqn in jaxpr.eqns:
        found = apply(eqn, [read(x) for x in eqn.invars])
        results = found if eqn.primitive.multiple_results else [found]
        env.update(zip(eqn.outvars, results, strict=True))
    return [read(x) for x in jaxpr.outvars]


def _weakly_typed(jaxpr: Jaxpr, given: Sequence[Any], results: list[Any]) -> list[Any]:
    """Return results with the weak types that they had when the function was traced, for arguments
    that are weakly typed where they were: operations of a module do not say it.
    """
    for var, x in zip(jaxpr.all_invars, given, strict=True):
        is_weak = getattr(var.aval, "weak_type", False)
        if is_weak and not getattr(x, "weak_type", isinstance(x, int | float | complex)):
            return results
    return [
        as_array(x).with_weak_type(True) if atom.aval.weak_type else x
        for atom, x in zip(jaxpr.outvars, results, strict=True)
    ]


def jaxpr_as_fun(closed_jaxpr: Jaxpr) -> Callable[..., list[Any]]:
    """Return the function of a closed jaxpr, from arrays to a list of arrays.

    Args:
        closed_jaxpr: a `Jaxpr`.

    >>> jaxpr = irax.make_jaxpr(lambda x: x + 1)(1.0)
    >>> irax.extend.core.jaxpr_as_fun(jaxpr)(2.0)
    [Array(3., dtype=float32, weak_type=True)]
    """
    return lambda *args: eval_jaxpr(closed_jaxpr.jaxpr, closed_jaxpr.consts, *args)
