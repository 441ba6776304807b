"""The classes of values that hold arrays, which libraries define (see `hi_values`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_types: dict[type, Callable[[Any], Any]] = {}


def register(cls: type, typeof: Callable[[Any], Any]) -> None:
    """Declare a class of values, by the function that returns a value's type."""
    _types[cls] = typeof


def hi_type_of(x: Any) -> Any:
    """Return the type of a value, or None for what is none."""
    typeof = _types.get(type(x))
    return None if typeof is None else typeof(x)


def is_mutable(x: Any) -> bool:
    """Return True for a value that changes."""
    return type(x) in _types and hi_type_of(x).has_qdd
