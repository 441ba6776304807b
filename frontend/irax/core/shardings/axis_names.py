"""The names of mapped axes, while the functions that are mapped along them are traced."""

from __future__ import annotations

import threading
from collections.abc import Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple


class BoundAxis(NamedTuple):
    """An axis that a function is mapped along."""

    name: Hashable
    size: int
    is_checked: bool = False
    """True if values that are the same in all lanes are told from others, as in a `shard_map`."""


class _State(threading.local):
    bound: tuple[BoundAxis, ...] = ()
    of_lanes: frozenset[str] = frozenset()


_state = _State()


def bound() -> tuple[BoundAxis, ...]:
    """Return the axes that this thread traces lanes of, outermost first."""
    return _state.bound


def any_checked() -> bool:
    """Return True if one of the axes that this thread traces lanes of is checked."""
    return any(axis.is_checked for axis in _state.bound)


@contextmanager
def binding(name: Hashable | None, size: int) -> Iterator[None]:
    """In a `with` block, this thread traces a lane of the axis; None is an axis without a name."""
    with all_bound(_state.bound if name is None else (*_state.bound, BoundAxis(name, size))):
        yield


@contextmanager
def all_bound(axes: Sequence[BoundAxis]) -> Iterator[None]:
    """For the length of a `with` block, this thread traces lanes of these axes, as `bound` told."""
    outer = _state.bound
    _state.bound = tuple(axes)
    try:
        yield
    finally:
        _state.bound = outer


@contextmanager
def lanes_divided_along(axes: Collection[str]) -> Iterator[None]:
    """In a `with` block, this thread traces a lane of those that axes of a mesh divide."""
    outer = _state.of_lanes
    _state.of_lanes = outer.union(axes)
    try:
        yield
    finally:
        _state.of_lanes = outer


def check_not_of_lanes(axes: Collection[str], what: str) -> None:
    """Raise ValueError for axes of a mesh by which lanes are divided already."""
    if twice := sorted(_state.of_lanes.intersection(axes)):
        raise ValueError(
            f"{what} divides an array along {twice}, but the lanes of a vmap around it are divided "
            "along them by its spmd_axis_name, or as its arguments are: name other axes of the "
            "mesh in one of them"
        )


def find(name: Hashable, what: str) -> BoundAxis:
    """The innermost axis of a name.

    Raises:
        NameError: no function that is being traced is mapped along such an axis.
    """
    for axis in reversed(_state.bound):
        if axis.name == name:
            return axis
    names = ", ".join(repr(axis.name) for axis in _state.bound) or "none"
    raise NameError(
        f"{what}: unbound axis name {name!r}; names of mapped axes here: {names}. Expected the "
        f"name of one: irax.vmap(f, axis_name={name!r})"
    )


def size_of(name: Hashable, what: str) -> int:
    """The size of the innermost axis of a name; errors as of `find`."""
    return find(name, what).size


def size_of_text(text: str) -> int:
    """The size of the innermost axis that has a name in the IR."""
    return next(axis.size for axis in reversed(_state.bound) if text_of(axis.name) == text)


def text_of(name: Any) -> str:
    """Return the name of an axis in the IR."""
    return name if isinstance(name, str) else f"{type(name).__name__} {name!r}"
