"""The names of mapped axes, while the functions that are mapped along them are traced."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any


class _State(threading.local):
    bound: tuple[tuple[Hashable, int], ...] = ()


_state = _State()


def bound() -> tuple[tuple[Hashable, int], ...]:
    """Return the names and sizes of the axes that this thread traces lanes of, outermost first."""
    return _state.bound


@contextmanager
def binding(name: Hashable | None, size: int) -> Iterator[None]:
    """In a `with` block, this thread traces a lane of the axis; None is an axis without a name."""
    outer = _state.bound
    if name is not None:
        _state.bound = (*outer, (name, size))
    try:
        yield
    finally:
        _state.bound = outer


@contextmanager
def all_bound(axes: tuple[tuple[Hashable, int], ...]) -> Iterator[None]:
    """For the length of a `with` block, this thread traces lanes of these axes, as `bound` told."""
    outer = _state.bound
    _state.bound = axes
    try:
        yield
    finally:
        _state.bound = outer


def size_of(name: Hashable, what: str) -> int:
    """The size of the innermost axis of a name.

    Raises:
        NameError: no function that is being traced is mapped along such an axis.
    """
    for other, size in reversed(_state.bound):
        if other == name:
            return size
    names = ", ".join(repr(other) for other, _ in _state.bound) or "none"
    raise NameError(
        f"{what}: unbound axis name {name!r}; names of mapped axes here: {names}. Expected the "
        f"name of one: irax.vmap(f, axis_name={name!r})"
    )


def text_of(name: Any) -> str:
    """Return the name of an axis in the IR."""
    return name if isinstance(name, str) else f"{type(name).__name__} {name!r}"
