"""The parts of a jaxpr: variables, literals, equations.

{ lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from irax.core.array import aval_of
from irax.core.avals import AbstractRef, ShapedArray
from irax.core.source import SourceInfo
from irax.jaxprs.text import Names, equation_text, jaxpr_text, literal_text


class Effect:
    """The base of side effects, as `def_effectful_abstract_eval` returns them."""


class _SideEffect(Effect):
    """The effect of callbacks, prints and checks, whose order is kept."""

    def __repr__(self) -> str:
        return "SideEffect"


SIDE_EFFECT = _SideEffect()


class Var:
    """A variable of a jaxpr; different from all others."""

    def __init__(self, aval: ShapedArray | AbstractRef) -> None:
        self.aval: Any = aval

    def __repr__(self) -> str:
        return f"Var(id={id(self)}):{self.aval}"

    def written(self, names: Names) -> str:
        """The variable's name in a text."""
        return names.of(self)


class DropVar(Var):
    """Stands for a result that nothing uses."""

    def __repr__(self) -> str:
        return "_"

    def written(self, names: Names) -> str:
        """The sign for it."""
        return "_"


class Literal:
    """A constant that stands for itself in an equation."""

    def __init__(self, val: Any, aval: ShapedArray | None = None) -> None:
        self.val: Any = val
        self.aval: ShapedArray = aval_of(val) if aval is None else aval

    def __repr__(self) -> str:
        return f"Literal({literal_text(self.val)})"

    def scalar(self) -> Literal:
        """Return the element of an array whose elements are all the same, as a literal."""
        if not self.aval.shape:
            return self
        return Literal(np.asarray(self.val).reshape(-1)[0], self.aval.update(shape=()))

    def written(self, names: Names) -> str:
        """The constant and its type."""
        return f"{literal_text(self.val)}:{self.aval.str_short(short_dtypes=True)}"


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


class Jaxpr:
    """A function as a list of equations, of `constvars`, whose values are `consts`, and `invars` to
    `outvars`.

    `Jaxpr(jaxpr, consts)`, or `Jaxpr(jaxpr=jaxpr, consts=consts)`, is `jaxpr.with_consts(consts)`.
    """

    def __init__(
        self,
        constvars: Sequence[Var] | Jaxpr = (),
        invars: Sequence[Any] | None = None,
        outvars: Sequence[Atom] | None = None,
        eqns: Sequence[JaxprEqn] | None = None,
        effects: Any = frozenset(),
        debug_info: Any = None,
        is_high: bool = False,
        consts: Sequence[Any] | None = None,
        jaxpr: Jaxpr | None = None,
    ) -> None:
        constvars = constvars if jaxpr is None else jaxpr
        if isinstance(constvars, Jaxpr):
            given = (invars if consts is None else consts) or ()
            vars(self).update(vars(constvars.with_consts(given)))
            return
        self.all_invars: list[Var] = [*constvars, *(invars or ())]
        """The variables of the constants, then those of the arguments."""
        self.consts: list[Any] = list(consts or ())
        self.outvars: list[Atom] = list(outvars or ())
        self.eqns: list[JaxprEqn] = list(eqns or ())
        self.effects: Any = effects
        self.debug_info: Any = debug_info
        self.is_high: bool = is_high

    @property
    def jaxpr(self) -> Jaxpr:
        """Itself: a closed jaxpr is one, too."""
        return self

    @property
    def constvars(self) -> list[Var]:
        """The variables of the constants: as many as there are values."""
        return self.all_invars[: len(self.consts)]

    @property
    def invars(self) -> list[Var]:
        """The variables of the arguments."""
        return self.all_invars[len(self.consts) :]

    @property
    def literals(self) -> list[Any]:
        """The values of the constants."""
        return self.consts

    @property
    def num_consts(self) -> int:
        """The number of values of constants."""
        return len(self.consts)

    @property
    def in_avals(self) -> list[ShapedArray]:
        """The types of the arguments."""
        return [v.aval for v in self.invars]

    @property
    def out_avals(self) -> list[ShapedArray]:
        """The types of the results."""
        return [v.aval for v in self.outvars]

    def with_consts(self, consts: Sequence[Any]) -> Jaxpr:
        """Return a copy with the values of the first of `all_invars`: the others are arguments.

        Args:
            consts: the values.
        """
        return self.replace(consts=consts)

    def replace(self, **changed: Any) -> Jaxpr:
        """Return a copy with some fields changed; with fewer `constvars`, their values go, too."""
        base = changed.pop("jaxpr", self)
        consts = changed.pop("consts", self.consts)
        if "constvars" in changed:
            consts = consts[: len(changed["constvars"])]
        fields = {
            "constvars": base.constvars,
            "invars": base.invars,
            "outvars": base.outvars,
            "eqns": base.eqns,
            "effects": base.effects,
            "debug_info": base.debug_info,
            "is_high": base.is_high,
        }
        return Jaxpr(**fields | changed, consts=consts)

    def map_jaxpr(self, f: Callable[[Jaxpr], Jaxpr]) -> Jaxpr:
        """Return a copy in which a function has changed the jaxpr, with the same constants."""
        return f(self).replace(consts=self.consts)

    def __repr__(self) -> str:
        return jaxpr_text(self, Names())

    def pretty_print(self, **options: Any) -> str:
        """Return the text."""
        return str(self)


ClosedJaxpr = Jaxpr
"""The name that jaxprs with values of their constants had."""


def jaxprs_in_params(params: dict[str, Any]) -> Iterator[Jaxpr]:
    """Return the jaxprs among the parameters of an equation.

    Args:
        params: the parameters, a dict.
    """
    for value in params.values():
        for item in value if isinstance(value, tuple | list) else [value]:
            if isinstance(item, Jaxpr):
                yield item


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
