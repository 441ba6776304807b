"""Parameters under the names that they had in earlier versions of JAX, with a warning."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from irax.core import source

P = ParamSpec("P")
R = TypeVar("R")


def renamed(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator of a function that takes parameters by earlier names, too.

    Args:
        names: the new name of each earlier one.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            given: dict[str, Any] = dict(kwargs)
            for old in names.keys() & given.keys():
                new = names[old]
                what = f"{function.__name__}: {old}= is now {new}="
                if new in given:
                    raise TypeError(f"{what}, got both")
                source.warn(f"{what}; give {new}=", DeprecationWarning)
                given[new] = given.pop(old)
            return function(*args, **given)  # pyright: ignore[reportCallIssue]

        return call

    return decorate
