"""The results of a function that do not depend on its arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from irax.core.array import as_array
from irax.core.avals import ShapedArray
from irax.core.trees import array_trees
from irax.jaxprs.language import Jaxpr, JaxprEqn
from irax.jaxprs.make import flat_jaxpr
from irax.jaxprs.running import eval_jaxpr


def known_results(
    fun: Callable[..., Sequence[Any]], avals: Sequence[ShapedArray]
) -> tuple[Jaxpr, list[tuple[ShapedArray, Any]]]:
    """Return the jaxpr of a function of arrays of given types, and for each of its results the type
    and, where it does not depend on the arguments, the array; otherwise None.
    """
    closed, results = flat_jaxpr(fun, avals)
    jaxpr = closed.jaxpr
    dependent = _dependent(jaxpr)
    remaining = iter(jaxpr.outvars)
    parts = [[next(remaining) for _ in range(r.structure.num_leaves)] for r in results]
    is_known = [not dependent.intersection(map(id, p)) for p in parts]
    outvars = [v for p, known in zip(parts, is_known, strict=True) if known for v in p]
    eqns, _ = needed_equations(jaxpr, outvars)
    alone = Jaxpr(jaxpr.constvars, [], outvars, eqns)
    values = iter(eval_jaxpr(alone, closed.consts))
    found: list[tuple[ShapedArray, Any]] = []
    for result, part, known in zip(results, parts, is_known, strict=True):
        leaves = [as_array(next(values)) for _ in part] if known else []
        array = array_trees.tree_unflatten(result.structure, leaves) if known else None
        found.append((result.aval, array))
    return closed, found


def _dependent(jaxpr: Jaxpr) -> set[int]:
    """The identities of the variables that depend on the arguments."""
    found = set(map(id, jaxpr.invars))
    for eqn in jaxpr.eqns:
        if found.intersection(map(id, eqn.invars)):
            found.update(map(id, eqn.outvars))
    return found


def needed_equations(jaxpr: Jaxpr, outvars: Sequence[Any]) -> tuple[list[JaxprEqn], set[int]]:
    """Return the equations that some variables depend on, with those that have side effects; and
    the identities of all variables in them.
    """
    needed: set[int] = set(map(id, outvars))
    eqns: list[JaxprEqn] = []
    for eqn in reversed(jaxpr.eqns):
        if eqn.effects or needed.intersection(map(id, eqn.outvars)):
            needed.update(map(id, eqn.invars))
            eqns.append(eqn)
    return eqns[::-1], needed
