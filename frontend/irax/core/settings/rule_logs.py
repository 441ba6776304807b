"""The calls of rules with logs that a function makes while `vjp` traces it.

`transforms/slots.py` gives each of them zeros whose cotangents are its logs. Here stands what a
call must know: the rows of loops and the lanes of `vmap` that it is in, and the branches.
"""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from irax.core.wrapping import wraps

_names = itertools.count()


@dataclass
class Calls:
    """The calls that have been met, or those that get their zeros."""

    given: list[Any] | None = None
    """The slots of each call; None while calls are looked for."""
    met: list[Any] = field(default_factory=list[Any])
    """A description of each call that was met, in order."""
    rows: tuple[tuple[int, Any], ...] | None = ()
    """The sizes of the loops around a call, then those of the maps, each with the number of the row
    or lane that the call is in; None where these are not known.
    """
    num_loops: int = 0
    """The number of the loops."""
    branches: tuple[tuple[int, int], ...] = ()
    """The conditions around a call, by numbers, and the branches of them that it is in."""


class _State(threading.local):
    calls: Calls | None = None
    noticed: list[Any] | None = None


_state = _State()


def calls() -> Calls | None:
    """Return the calls of the function that is traced here; None where nobody asks."""
    return _state.calls


@contextmanager
def among(calls: Calls | None) -> Iterator[None]:
    """Calls that are made in the block are these; None: nobody asks for them."""
    before, _state.calls = _state.calls, calls
    try:
        yield
    finally:
        _state.calls = before


@contextmanager
def noticing() -> Iterator[list[Any]]:
    """Yield a list that gets the functions with rules which are called in the block."""
    before, _state.noticed = _state.noticed, []
    try:
        yield _state.noticed
    finally:
        _state.noticed = before


def notice(ruled: Any) -> None:
    """Add a function with rules, which is called, to the list of `noticing`."""
    if _state.noticed is not None:
        _state.noticed.append(ruled)


def numbered(function: Callable[..., Any], size: int, lanes: bool) -> Callable[..., Any]:
    """Return a function of the number of a row, of `size` rows, or `lanes`, and of arguments."""
    own = _state.calls
    assert own is not None
    start = len(own.met)

    def of_row(number: Any, /, *args: Any, **kwargs: Any) -> Any:
        del own.met[start:]  # a loop's body may be traced twice, and counts once
        rows, count = own.rows, own.num_loops
        if rows is not None:
            place = len(rows) if lanes else count
            own.rows = (*rows[:place], (size, number), *rows[place:])
            own.num_loops = count + (not lanes)
        try:
            return function(*args, **kwargs)
        finally:
            own.rows, own.num_loops = rows, count

    of_row.__name__ = getattr(function, "__name__", type(function).__name__)
    return of_row


def uncounted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose calls are in rows that nobody counts; itself where nobody asks."""
    own = _state.calls
    if own is None:
        return function

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        rows, own.rows = own.rows, None
        try:
            return function(*args, **kwargs)
        finally:
            own.rows = rows

    return call


def of_branches(functions: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Return the functions of a condition, whose calls know that they are in one of them."""
    own = _state.calls
    if own is None:
        return dict(functions)
    name = next(_names)

    def in_branch(number: int, function: Callable[..., Any], *args: Any) -> Any:
        branches, own.branches = own.branches, (*own.branches, (name, number))
        try:
            return function(*args)
        finally:
            own.branches = branches

    return {
        title: wraps(function)(functools.partial(in_branch, number, function))
        for number, (title, function) in enumerate(functions.items())
    }
