"""jax._src.api_util: jax.api_util, and which arguments have which names."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

from irax.compat.jax.api_util import *  # noqa: F403


def infer_argnums_and_argnames(
    sig: inspect.Signature,
    argnums: int | Iterable[int] | None,
    argnames: str | Iterable[str] | None,
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the numbers and the names of arguments, of which one or the other is given."""
    by_position = [
        name
        for name, parameter in sig.parameters.items()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    names = (argnames,) if isinstance(argnames, str) else tuple(argnames or ())
    if argnums is None:
        return tuple(i for i, name in enumerate(by_position) if name in names), names
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    if argnames is None:
        names = tuple(by_position[i] for i in numbers if i < len(by_position))
    return numbers, names
