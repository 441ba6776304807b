"""The parts of a jaxpr: variables, literals, equations.

{ lambda ; a:f32[3]. let
    b:f32[3] = sin a
  in (b,) }
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from irax.core.array import aval_of
from irax.core.avals import AbstractRef, ShapedArray
from irax.core.source import SourceInfo


class Var:
    """A variable of a jaxpr; different from all others."""

    def __init__(self, aval: ShapedArray | AbstractRef) -> None:
        self.aval: Any = aval

    def __repr__(self) -> str:
        return f"Var({id(self)}):{self.aval.str_short(short_dtypes=True)}"


class DropVar(Var):
    """Stands for a result that nothing uses."""

    def __repr__(self) -> str:
        return "_"


class Literal:
    """A constant that stands for itself in an equation."""

    def __init__(self, val: Any, aval: ShapedArray | None = None) -> None:
        self.val: Any = val
        self.aval: ShapedArray = aval_of(val) if aval is None else aval

    def __repr__(self) -> str:
        return f"{self.val}:{self.aval.str_short(short_dtypes=True)}"


Atom: TypeAlias = Var | Literal


@dataclass(eq=False)
class JaxprEqn:
    """An equation: a primitive, what it is applied to, and the variables that its results get."""

    invars: list[Atom]
    outvars: list[Any]
    primitive: Any
    params: dict[str, Any]
    effects: Any = frozenset()
    source_info: SourceInfo = field(default_factory=SourceInfo)
    ctx: Any = None

    def replace(self, **changed: Any) -> JaxprEqn:
        """Return a copy with some fields changed."""
        return replace(self, **changed)

    def __repr__(self) -> str:
        return equation_text(self, Names(), "")


def new_jaxpr_eqn(
    invars: Sequence[Atom],
    outvars: Sequence[Any],
    primitive: Any,
    params: dict[str, Any],
    effects: Any,
    source_info: SourceInfo | None = None,
    ctx: Any = None,
) -> JaxprEqn:
    """Return an equation.

    Args:
        invars: the operands, variables or literals.
        outvars: the variables of the results.
        primitive: the primitive.
        params: its parameters, a dict.
        effects: its effects, a set.
        source_info: the line of Python that it comes from.
        ctx: of no effect.
    """
    eqn = JaxprEqn(list(invars), list(outvars), primitive, dict(params), effects, ctx=ctx)
    return eqn if source_info is None else eqn.replace(source_info=source_info)


@dataclass(eq=False)
class Jaxpr:
    """A function as a list of equations, of `constvars` and `invars` to `outvars`."""

    constvars: list[Var]
    invars: list[Var]
    outvars: list[Atom]
    eqns: list[JaxprEqn]
    effects: Any = frozenset()
    debug_info: Any = None
    is_high: bool = field(default=False, repr=False)

    def replace(self, **changed: Any) -> Jaxpr:
        """Return a copy with some fields changed."""
        return replace(self, **changed)

    def __repr__(self) -> str:
        return jaxpr_text(self)

    def pretty_print(self, **options: Any) -> str:
        """Return the text."""
        return str(self)


class ClosedJaxpr:
    """A jaxpr with the values of its `constvars`."""

    def __init__(self, jaxpr: Jaxpr, consts: Sequence[Any]) -> None:
        self.jaxpr: Jaxpr = jaxpr
        self.consts: list[Any] = list(consts)

    @property
    def literals(self) -> list[Any]:
        """The values of the constants."""
        return self.consts

    @property
    def eqns(self) -> list[JaxprEqn]:
        """The equations."""
        return self.jaxpr.eqns

    @property
    def effects(self) -> Any:
        """The side effects."""
        return self.jaxpr.effects

    @property
    def in_avals(self) -> list[ShapedArray]:
        """The types of the arguments."""
        return [v.aval for v in self.jaxpr.invars]

    @property
    def out_avals(self) -> list[ShapedArray]:
        """The types of the results."""
        return [v.aval for v in self.jaxpr.outvars]

    def replace(self, *, jaxpr: Jaxpr | None = None, consts: Any = None) -> ClosedJaxpr:
        """Return a copy with another jaxpr or other constants."""
        return ClosedJaxpr(jaxpr or self.jaxpr, self.consts if consts is None else consts)

    def map_jaxpr(self, f: Callable[[Jaxpr], Jaxpr]) -> ClosedJaxpr:
        """Return a copy in which a function has changed the jaxpr."""
        return ClosedJaxpr(f(self.jaxpr), self.consts)

    def __repr__(self) -> str:
        return str(self.jaxpr)

    def pretty_print(self, **options: Any) -> str:
        """Return the text."""
        return str(self)


def jaxprs_in_params(params: dict[str, Any]) -> Iterator[Jaxpr]:
    """Return the jaxprs among the parameters of an equation.

    Args:
        params: the parameters, a dict.
    """
    for value in params.values():
        for item in value if isinstance(value, tuple | list) else [value]:
            if isinstance(item, Jaxpr):
                yield item
            elif isinstance(item, ClosedJaxpr):
                yield item.jaxpr


def subjaxprs(jaxpr: Jaxpr) -> Iterator[Jaxpr]:
    """Return the jaxprs that a jaxpr's equations hold.

    Args:
        jaxpr: a `Jaxpr`.
    """
    for eqn in jaxpr.eqns:
        yield from jaxprs_in_params(eqn.params)


def gensym(suffix: str = "") -> Callable[[ShapedArray], Var]:
    """Return a function that makes variables.

    Args:
        suffix: what the names of variables end with.
    """
    return Var


# ---- text ----------------------------------------------------------------------------------------

INDENT = "  "


class Names:
    """The names of variables: a, b, ..., z, ba, bb, ... in the order in which they are met."""

    def __init__(self) -> None:
        self._names: dict[Any, str] = {}
        self._unused = _letters()

    def __call__(self, atom: Any) -> str:
        if isinstance(atom, Literal):
            return f"{_literal(atom.val)}:{atom.aval.str_short(short_dtypes=True)}"
        if isinstance(atom, DropVar):
            return "_"
        if atom not in self._names:
            self._names[atom] = next(self._unused)
        return self._names[atom]

    def typed(self, atoms: Sequence[Any]) -> str:
        """The variables with their types."""
        return " ".join(f"{self(v)}:{v.aval.str_short(short_dtypes=True)}" for v in atoms)


def _letters() -> Iterator[str]:
    letters = string.ascii_lowercase
    yield from letters
    for length in itertools.count(2):
        for first, *rest in itertools.product(letters[1:], *[letters] * (length - 1)):
            yield "".join([first, *rest])


def _literal(value: Any) -> str:
    """The element of an array whose elements are all the same, or the array."""
    elements = np.asarray(value).reshape(-1)
    is_one = elements.size > 0 and bool((elements == elements[0]).all())
    return str(elements[0].item()) if is_one else str(value)


def jaxpr_text(jaxpr: Jaxpr, indent: str = "") -> str:
    """Return the text of a jaxpr, whose first line goes on a line that is there."""
    names = Names()
    constants, arguments = names.typed(jaxpr.constvars), names.typed(jaxpr.invars)
    head = (
        f"{{ lambda {constants}; {arguments}. let"
        if constants
        else (f"{{ lambda ; {arguments}. let")
    )
    inner = indent + 2 * INDENT
    body = "".join(f"\n{inner}{equation_text(e, names, inner)}" for e in jaxpr.eqns)
    results = ", ".join(map(names, jaxpr.outvars)) + "," * (len(jaxpr.outvars) == 1)
    if not jaxpr.eqns:
        return f"{head} in ({results}) }}"
    return f"{head}{body}\n{indent}{INDENT}in ({results}) }}"


def equation_text(eqn: JaxprEqn, names: Names, indent: str) -> str:
    """Return the text of an equation."""
    own = getattr(eqn.primitive, "equation_text", None)
    if own is not None:
        return own(eqn, names)
    operands = " ".join(map(names, eqn.invars))
    results = names.typed(eqn.outvars)
    nested = any(isinstance(v, Jaxpr | ClosedJaxpr) for v in eqn.params.values())
    shown = [
        f"{key}={_parameter(value, indent + INDENT)}" for key, value in sorted(eqn.params.items())
    ]
    if nested:
        parameters = "[" + "".join(f"\n{indent}{INDENT}{p}" for p in shown) + f"\n{indent}]"
    else:
        parameters = f"[{' '.join(shown)}]" if shown else ""
    return f"{results} = {eqn.primitive.name}{parameters} {operands}".rstrip()


def _parameter(value: Any, indent: str) -> str:
    if isinstance(value, ClosedJaxpr):
        return jaxpr_text(value.jaxpr, indent)
    if isinstance(value, Jaxpr):
        return jaxpr_text(value, indent)
    if isinstance(value, tuple) and any(isinstance(v, ClosedJaxpr) for v in value):
        return "(" + " ".join(_parameter(v, indent) for v in value) + ")"
    return value.name if isinstance(value, np.dtype) else str(value)
