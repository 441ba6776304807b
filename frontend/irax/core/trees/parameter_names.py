"""The names of a function's parameters, for messages about what it was called with."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Collection
from typing import Any

from irax.core.trees import array_trees


class ParameterNames:
    """The names of a function's parameters."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._positional: list[str] = []
        self._rest = "args"
        if type(function) is types.FunctionType and not function.__dict__:  # no other signature
            code = function.__code__
            named = code.co_argcount + code.co_kwonlyargcount
            self._positional = [*code.co_varnames[: code.co_argcount]]
            if code.co_flags & inspect.CO_VARARGS:
                self._rest = code.co_varnames[named]
            return
        try:
            found = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            return
        for p in found:
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
                self._positional.append(p.name)
            elif p.kind is p.VAR_POSITIONAL:
                self._rest = p.name

    def of(self, where: int | str) -> str:
        """Return the name of an argument, by its position or its name."""
        if isinstance(where, str):
            return where
        count = len(self._positional)
        return self._positional[where] if where < count else f"{self._rest}[{where - count}]"

    def of_leaves(
        self,
        args: Any,
        kwargs: dict[str, Any] | None = None,
        fixed: Collection[int | str] = (),
    ) -> list[str]:
        """Return a name for each leaf of a call's arguments, such as `params['w']`; positions that
        are `fixed` are not among `args`.
        """
        free = [n for n in range(len(args) + len(fixed)) if n not in fixed]
        given = [(self.of(n), arg) for n, arg in zip(free, args, strict=False)]
        return [
            name + array_trees.keystr(path)
            for name, argument in (*given, *(kwargs or {}).items())
            for path, _ in array_trees.tree_leaves_with_path(argument)
        ]
