"""The text of jaxprs: on one line where 80 columns have room for it.

{ lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from irax.core.settings.hints import Inline
from irax.core.shardings.layouts import UNSPECIFIED

WIDTH = 80
INDENT = "  "

_FIRST = {"jit": "name", "custom_jvp_call": "name", "custom_vjp_call": "name"}
"""The parameters that do not stand at their place in the alphabet, but before all others."""
_UNSAID: dict[str, tuple[str, ...]] = {
    "broadcast_in_dim": ("shape", "sharding", "broadcast_dimensions"),
    "convert_element_type": ("sharding",),
    "dot_general": ("precision", "out_sharding"),
}
"""Parameters that are not shown where they are None or empty; `shape` is the result's type."""


class Names:
    """The names of variables: a, b, ..., z, ba, bb, ... in the order in which they are met."""

    def __init__(self) -> None:
        self._names: dict[Any, str] = {}
        self._unused = _letters()

    def __call__(self, atom: Any) -> str:
        return atom.written(self)

    def of(self, variable: Any) -> str:
        """The name of a variable."""
        if variable not in self._names:
            self._names[variable] = next(self._unused)
        return self._names[variable]

    def each_typed(self, variables: Sequence[Any]) -> list[str]:
        """The variables, each with its type."""
        return [f"{self(v)}:{v.aval.str_short(short_dtypes=True)}" for v in variables]

    def typed(self, variables: Sequence[Any]) -> str:
        """The variables with their types."""
        return " ".join(self.each_typed(variables))


def _letters() -> Iterator[str]:
    letters = string.ascii_lowercase
    yield from letters
    for length in itertools.count(2):
        for first, *rest in itertools.product(letters[1:], *[letters] * (length - 1)):
            yield "".join([first, *rest])


def literal_text(value: Any) -> str:
    """Return the element of an array whose elements are all the same, or the array."""
    elements = np.asarray(value).reshape(-1)
    is_one = elements.size > 0 and bool((elements == elements[0]).all())
    return str(elements[0].item()) if is_one else str(value)


def is_jaxpr(value: Any) -> bool:
    """Return True for a jaxpr."""
    return hasattr(value, "eqns") and hasattr(value, "all_invars")


def jaxpr_text(jaxpr: Any, names: Names, indent: str = "", column: int = 0) -> str:
    """Return the text of a jaxpr, which begins in a column of a line; lines after the first one
    are indented.
    """
    constants, arguments = map(names.each_typed, (jaxpr.constvars, jaxpr.invars))
    words = ["{", "lambda", *constants, ";", *arguments]
    if constants:
        words[-len(arguments) - 2 : -len(arguments) or None] = [f"{constants[-1]};"]
    words = [*words[:-1], f"{words[-1]}.", "let"] if arguments else [*words, ".", "let"]
    inner = indent + 2 * INDENT
    eqns = [equation_text(e, names, inner) for e in jaxpr.eqns]
    results = ", ".join(map(names, jaxpr.outvars)) + "," * (len(jaxpr.outvars) == 1)
    line = f"{' '.join(words)} {'; '.join(eqns)} in ({results}) }}"
    if not eqns or ("\n" not in line and column + len(line) <= WIDTH):
        return line
    body = "".join(f"\n{inner}{e}" for e in eqns)
    return f"{_filled(words, inner, column)}{body}\n{indent}{INDENT}in ({results}) }}"


def _filled(words: Sequence[str], indent: str, column: int) -> str:
    """Return words in as many lines as they need."""
    text = words[0]
    column += len(text)
    for word in words[1:]:
        if column + 1 + len(word) > WIDTH:
            text, column = f"{text}\n{indent}{word}", len(indent) + len(word)
        else:
            text, column = f"{text} {word}", column + 1 + len(word)
    return text


def equation_text(eqn: Any, names: Names, indent: str) -> str:
    """Return the text of an equation on an indented line."""
    own = getattr(eqn.primitive, "equation_text", None)
    if own is not None:
        return own(eqn, names)
    results = names.typed(eqn.outvars)
    head = f"{results} = {eqn.primitive.name}" if results else eqn.primitive.name
    inner = indent + INDENT
    shown = [f"{key}={_parameter(key, value, names, inner)}" for key, value in _said(eqn)]
    operands = "".join(f" {names(v)}" for v in eqn.invars)
    if not shown:
        return head + operands
    line = f"{head}[{' '.join(shown)}]{operands}"
    holds_jaxprs = any(map(is_jaxpr, eqn.params.values()))
    if not holds_jaxprs and "\n" not in line and len(indent) + len(line) <= WIDTH:
        return line
    return f"{head}[" + "".join(f"\n{inner}{s}" for s in shown) + f"\n{indent}]{operands}"


def _said(eqn: Any) -> list[tuple[str, Any]]:
    """The parameters that an equation's text has, in its order."""
    name = eqn.primitive.name
    first, unsaid = _FIRST.get(name, ""), _UNSAID.get(name, ())
    rows = sorted(eqn.params.items(), key=lambda row: (row[0] != first, row[0]))
    return [
        (key, value)
        for key, value in rows
        if not (name == "jit" and _is_unset(value))
        and (key not in unsaid or (key != "shape" and value not in (None, ())))
    ]


def _is_unset(value: Any) -> bool:
    """Return True for an option of `jit` that has its default."""
    if isinstance(value, tuple):
        return all(map(_is_unset, value))
    return value in (None, False, UNSPECIFIED, Inline.AUTO) or getattr(value, "empty", False)


def _parameter(key: str, value: Any, names: Names, indent: str) -> str:
    if key == "dimension_numbers" and type(value) is tuple:
        return str(tuple(tuple(map(list, pair)) for pair in value))
    if is_jaxpr(value):
        return jaxpr_text(value, names, indent, len(indent) + len(key) + 1)
    if isinstance(value, tuple) and any(map(is_jaxpr, value)):
        inner = indent + INDENT
        rows = "".join(f"\n{inner}{_parameter('', v, names, inner)}" for v in value)
        return f"({rows}\n{indent})"
    return value.name if isinstance(value, np.dtype) else str(value)
