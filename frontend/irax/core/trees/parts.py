"""Checks of what users' functions take instances of their pytrees apart into."""

import reprlib
from collections.abc import Callable, Iterable
from typing import Any


def check_node(nodetype: Any, flatten: Any, unflatten: Any) -> None:
    """Raises TypeError for what is no class, or for functions that are none."""
    if not isinstance(nodetype, type):
        raise TypeError(f"a pytree node must be a class, got {nodetype!r}")
    for function, what in ((flatten, "an instance"), (unflatten, "static data and children")):
        if not callable(function):
            raise TypeError(
                f"the pytree node {nodetype.__qualname__} needs a function that takes {what}, got "
                f"{function!r}"
            )


def checked(flatten: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a user's function that takes an instance apart, with a check of what it returns."""

    def parts(instance: Any) -> tuple[Any, ...]:
        found = flatten(instance)
        if type(found) is tuple and len(found) == 2 and type(found[0]) in _SEQUENCES:
            return found
        if isinstance(found, tuple | list) and len(found) == 2 and isinstance(found[0], Iterable):
            return tuple(found[0]), found[1]
        raise not_parts(instance, found, "children")

    return parts


_SEQUENCES = frozenset({tuple, list})


def not_parts(instance: Any, found: Any, what: str) -> ValueError:
    """Return the error for what a user's function made of an instance; `what` should be first."""
    return ValueError(
        f"the function that takes an instance of the pytree {type(instance).__name__} apart must "
        f"return a pair of {what} and static data, got {reprlib.repr(found)}"
    )
