"""Tracebacks of the user's frames: irax's own frames are hidden where an exception leaves irax.

A public function is an `api_boundary`, or calls `hide_frames` itself where another call in between
would cost time. The option `traceback_filtering` says how frames are hidden, and "off" shows all.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Any, TypeVar

import numpy as np

from irax.config import config
from irax.core.source import is_internal

_Function = TypeVar("_Function", bound=Callable[..., Any])

_BETWEEN = frozenset([contextlib.__file__, functools.__file__])
"""Files of Python's library whose frames stand between those of irax."""

NOTE = (
    "irax's own frames are hidden: IRAX_TRACEBACK_FILTERING=off, or "
    'irax.config.update("traceback_filtering", "off"), shows them'
)


Spelling = Callable[[str], str]
_spelling: list[Spelling] = []


def spell_names_by(spelling: Spelling) -> None:
    """Have a function spell the names of irax in messages of errors, once for the process."""
    _spelling[:] = [spelling]


class UnfilteredStackTrace(Exception):
    """The cause of an error whose frames were removed; it has the whole traceback."""


def api_boundary(function: _Function) -> _Function:
    """Decorator: exceptions that leave the function, Ctrl-C's too, show no frames of irax.

    >>> @api_boundary
    ... def double(x):
    ...     return 2 * x
    >>> double(2)
    4
    """

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (Exception, KeyboardInterrupt) as error:
            hide_frames(error)
            raise

    return public  # pyright: ignore[reportReturnType]


def hide_frames(error: BaseException) -> None:
    """Hides irax's frames in the tracebacks of an exception, and of those that led to it.

    To be followed by a bare `raise` in the same `except` block, which adds no frame of its own.
    """
    if error.__traceback__ is None:
        return
    if raised_by_irax(error):
        _refer(error)
    for spelling in _spelling:
        for one in _chain(error):
            _spell(one, spelling)
    mode = _mode()
    if mode == "off":
        return
    if mode == "tracebackhide":
        for one in _chain(error):
            one.__traceback__ = _marked(one.__traceback__)
        return
    if mode == "remove_frames" and not isinstance(error.__cause__, UnfilteredStackTrace):
        whole = UnfilteredStackTrace("the traceback with irax's own frames is above")
        whole.__cause__, whole.__traceback__ = error.__cause__, error.__traceback__
        error.__cause__ = whole
    for one in _chain(error):
        one.__traceback__ = _without_internal(one.__traceback__)
    if mode == "quiet_remove_frames" and NOTE not in getattr(error, "__notes__", ()):
        error.add_note(NOTE)


def _spell(error: BaseException, spelling: Spelling) -> None:
    """Spell names in the message of an error that irax raised, unless its frames are hidden: then
    it is done already.
    """
    if raised_by_irax(error):
        error.args = tuple(spelling(x) if type(x) is str else x for x in error.args)


def raised_by_irax(error: BaseException) -> bool:
    """Return True if irax raised an exception, and its frames are not hidden yet."""
    frames = list(_frames(error.__traceback__))
    return bool(frames) and is_internal(frames[-1].tb_frame.f_code.co_filename)


def _refer(error: BaseException) -> None:
    """Have the message of an exception name what the user called, and add notes to it."""
    from irax.core import called_names, error_page  # an error is rare

    called: list[FrameType] = []  # irax's functions that the user's last line called
    for t in _frames(error.__traceback__):
        called = [*called, t.tb_frame] if _is_hidden(t) else []
    if len(error.args) == 1 and type(error.args[0]) is str and str(error) == error.args[0]:
        error.args = (called_names.named_as_called(error.args[0], called),)
        if isinstance(error, np.exceptions.AxisError):  # NumPy's keeps its text twice
            error._msg = error.args[0]
    for note in error_page.notes_on(error, called):
        if note not in getattr(error, "__notes__", ()):
            error.add_note(note)


def _mode() -> str:
    mode = config.traceback_filtering
    if mode != "auto":
        return mode
    # IPython, in a notebook too, leaves out the frames that are marked.
    return "tracebackhide" if "IPython" in sys.modules else "quiet_remove_frames"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception, its causes and contexts, each once, but no `UnfilteredStackTrace`."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        one = pending.pop()
        if one is None or id(one) in seen or isinstance(one, UnfilteredStackTrace):
            continue
        seen.add(id(one))
        yield one
        pending += [one.__cause__, one.__context__]


def _frames(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _is_hidden(traceback: TracebackType) -> bool:
    file = traceback.tb_frame.f_code.co_filename
    return file in _BETWEEN or is_internal(file)


def _without_internal(traceback: TracebackType | None) -> TracebackType | None:
    kept = [t for t in _frames(traceback) if not _is_hidden(t)]
    found: TracebackType | None = None
    for t in reversed(kept):
        found = TracebackType(found, t.tb_frame, t.tb_lasti, t.tb_lineno)
    return found


def _marked(traceback: TracebackType | None) -> TracebackType | None:
    """Mark frames as hidden; leave out those after the user's last, as IPython shows the last one,
    marked or not.
    """
    frames = list(_frames(traceback))
    while frames and _is_hidden(frames[-1]):
        frames.pop()
    if not frames:
        return None
    frames[-1].tb_next = None
    for t in frames:
        if _is_hidden(t):
            t.tb_frame.f_locals["__tracebackhide__"] = True
    return traceback
