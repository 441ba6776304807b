"""The names of irax's classes and functions, where they also go by others.

`irax.compat` has them say what JAX's say. What irax asks of its own is asked here.
"""

from __future__ import annotations

from typing import Any

_renamed: dict[int, tuple[Any, str, str]] = {}
"""Objects that say other names than those they were defined under, with these, by identity."""


def rename(x: Any, module: str, name: str) -> None:
    """Let a class or function say that it is `name` of a module."""
    if id(x) not in _renamed:
        _renamed[id(x)] = x, x.__module__, getattr(x, "__qualname__", x.__name__)
    x.__module__ = module
    if x.__name__ != name.rpartition(".")[2]:
        x.__name__ = name.rpartition(".")[2]
    if getattr(x, "__qualname__", name) != name:
        x.__qualname__ = name


def module_of(x: Any) -> str:
    """Return the name of the module that a class or function is defined in; "" if it has none."""
    found = _renamed.get(id(x))
    return str(getattr(x, "__module__", None) or "") if found is None else found[1]


def name_of(x: Any) -> str:
    """Return the qualified name under which a class or function is defined."""
    found = _renamed.get(id(x))
    return str(x.__qualname__) if found is None else found[2]
