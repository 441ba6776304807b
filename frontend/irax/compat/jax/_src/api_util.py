"""jax._src.api_util: jax.api_util, and which arguments have which names."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Iterable
from typing import Any

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


def _ensure_index_tuple(x: Any) -> tuple[int, ...]:
    """Return the indices that an index is, or that there are several of."""
    try:
        return (operator.index(x),)
    except TypeError:
        return tuple(operator.index(entry) for entry in x)


def check_callable(fun: Any) -> None:
    """Check what a transformation is asked to transform.

    Raises:
        TypeError: it cannot be called, or is a static method or a generator.
    """
    if isinstance(fun, staticmethod):
        raise TypeError(f"staticmethod arguments are not supported, got {fun}")
    if not callable(fun):
        raise TypeError(f"Expected a callable value, got {fun}")
    if inspect.isgeneratorfunction(fun):
        raise TypeError(f"Expected a function, got a generator function: {fun}")
