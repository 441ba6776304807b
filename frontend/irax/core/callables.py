"""The check that what a transformation gets is a function."""

from __future__ import annotations

from typing import Any


def check_callable(fun: Any, what: str) -> None:
    """Raise TypeError if `fun` is not callable."""
    if not callable(fun):
        raise TypeError(f"{what}: expected a function, got {fun!r} of type {type(fun).__name__}")
