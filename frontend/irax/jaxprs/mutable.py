"""Jaxprs of functions that touch Refs: the Refs are read first and written to last.

{ lambda a:Ref{f32[3]}; b:f32[]. let
    c:f32[3] <- a[...]
    d:f32[3] = add c b
    a[...] <- d
  in () }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from irax.core.array import Array
from irax.core.refs.functions import Found
from irax.core.refs.refs import Given, Ref
from irax.extend.primitive import Primitive
from irax.jaxprs.language import Atom, DropVar, Jaxpr, JaxprEqn, Var
from irax.jaxprs.text import Names
from irax.transforms.symbolic_zeros import zeros


class _Get(Primitive):
    """The primitive that reads a Ref."""

    def bind(self, *args: Any, **params: Any) -> Array:
        """Return the elements."""
        return args[0][...]

    def equation_text(self, eqn: JaxprEqn, names: Names) -> str:
        (ref,) = map(names, eqn.invars)
        return f"{names.typed(eqn.outvars)} <- {ref}[...]"


class _Swap(Primitive):
    """The primitive that writes to a Ref."""

    def bind(self, *args: Any, **params: Any) -> Array:
        """Write the elements, and return those before."""
        ref, value = args
        before = ref[...]
        ref[...] = value
        return before

    def equation_text(self, eqn: JaxprEqn, names: Names) -> str:
        ref, value = map(names, eqn.invars)
        return f"{ref}[...] <- {value}"


get_p: Primitive = _Get("get")
swap_p: Primitive = _Swap("swap")


def with_refs(closed: Jaxpr, found: Found, arguments: Mapping[int, Ref], num_results: int) -> Jaxpr:
    """Return the jaxpr of a function that touches Refs, from that of the function of their values
    that `traced_once` made.

    Args:
        closed: the jaxpr; the values at the end are results, after its own `num_results`.
        found: the Refs.
        arguments: those that are arguments, by their numbers.
        num_results: the number of the function's own results.
    """
    captured = {id(given): ref for ref, given in found.values.items()}
    reads: list[JaxprEqn] = []
    boxes: dict[Ref, tuple[Var, Atom]] = {}

    def box(ref: Ref, value: Var) -> Var:
        variable = Var(ref.aval)
        reads.append(JaxprEqn([variable], [value], get_p, {}))
        boxes[ref] = variable, value
        return variable

    jaxpr = closed.jaxpr
    constvars, consts = list(jaxpr.constvars), list(closed.consts)
    for i, (variable, const) in enumerate(zip(jaxpr.constvars, closed.consts, strict=True)):
        if id(const) in captured:
            consts[i] = captured[id(const)]
            constvars[i] = box(consts[i], variable)
        elif isinstance(const, Given):  # the token of a Ref, for derivatives
            consts[i] = zeros(const.aval)
    invars = [box(arguments[i], v) if i in arguments else v for i, v in enumerate(jaxpr.invars)]
    written: Sequence[Ref] = [*found.own, *found.written]
    ends = jaxpr.outvars[num_results : num_results + len(written)]
    writes = [
        JaxprEqn([boxes[ref][0], end], [DropVar(end.aval)], swap_p, {})
        for ref, end in zip(written, ends, strict=True)
        if end is not boxes[ref][1]
    ]
    changed = jaxpr.replace(
        constvars=constvars,
        invars=invars,
        outvars=jaxpr.outvars[:num_results],
        eqns=[*reads, *jaxpr.eqns, *writes],
    )
    return changed.with_consts(consts)
