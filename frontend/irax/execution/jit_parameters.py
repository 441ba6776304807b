"""Which parameters of a function are static or donated: what `jit` is told of them, checked."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from irax.core.flattening import name_of

Parameters = tuple[tuple[int, ...], frozenset[str]]
"""Parameters of a function, by position and by name."""


def parameters_of(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] | None,
    argnames: str | Iterable[str] | None,
    what: str,
) -> Parameters:
    """The static or donated parameters (`what`), by position and by name."""
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums or ())
    names = {argnames} if isinstance(argnames, str) else set(argnames or ())
    for number in numbers:
        if not isinstance(number, int):
            raise TypeError(f"jit: {what}_argnums must be ints, got {number!r}")
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"jit: {what}_argnames must be strings, got {name!r}")
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError) as error:
        if names and what == "donate":
            raise ValueError(
                f"jit: {what}_argnames={sorted(names)}: the signature of {name_of(fun)} cannot be "
                f"read ({error}): give {what}_argnums"
            ) from error
        return numbers, frozenset(names)
    positional = [
        p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    variadic = any(p.kind == p.VAR_POSITIONAL for p in parameters)
    open_names = any(p.kind == p.VAR_KEYWORD for p in parameters)
    known = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    unnamed = {p.name for p in parameters} - known
    for number in numbers:
        if not variadic and not -len(positional) <= number < len(positional):
            raise ValueError(
                f"jit: {what}_argnums={number} is out of range: {name_of(fun)} has "
                f"{len(positional)} positional arguments"
            )
    for name in names:
        if name in unnamed or (name not in known and not open_names):
            raise ValueError(
                f"jit: {what}_argnames={name!r}: {name_of(fun)} has no argument of this name; "
                f"by name it takes {', '.join(sorted(known))}"
            )
    by_name = {positional.index(name) for name in names if name in positional}
    by_number = {positional[n] for n in numbers if -len(positional) <= n < len(positional)}
    return tuple(sorted({*numbers, *by_name})), frozenset(names | by_number)
