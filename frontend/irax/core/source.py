"""Locations in the user's code: the innermost frame that is not irax's."""

from __future__ import annotations

import copy
import functools
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from inspect import CO_VARARGS, CO_VARKEYWORDS
from pathlib import Path
from types import FrameType
from typing import Any, ParamSpec, TypeVar

import irax_compiler
import irax_runtime
from irax_compiler import mlir
from irax_compiler.cells import place

P = ParamSpec("P")
R = TypeVar("R")

_OURS = (
    *(
        str(folder) + os.sep
        for folder in (
            Path(__file__).absolute().parents[1],
            Path(irax_compiler.__file__).absolute().parent,
            Path(irax_runtime.__file__).absolute().parent,
        )
    ),
    os.path.abspath(copy.__file__),
)
_internal: dict[str, bool] = {}


def _absolute(file: str) -> str:
    try:
        return os.path.abspath(file)
    except OSError:  # the working directory is gone
        return file


def is_internal(file: str) -> bool:
    """True for the files of irax's own code, and for that of Python's `copy`, which calls it."""
    found = _internal.get(file)
    if found is None:
        found = _internal[file] = _absolute(file).startswith(_OURS)
    return found


def user_frame() -> FrameType | None:
    """The innermost frame that does not belong to irax."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not is_internal(frame.f_code.co_filename):
            return frame
        frame = frame.f_back
    return None


@lru_cache(maxsize=65536)
def _location(file: str, line: int, scope: str) -> mlir.Location:
    location = mlir.file_location(file, line)
    return mlir.named(scope, location) if scope else location


class _Scopes(threading.local):
    path = ""


_scopes = _Scopes()


@contextmanager
def named_scope(name: str) -> Iterator[None]:
    """Names what is traced in a `with` block, or in a function that this decorates: the IR shows
    the name, within that of blocks around it, where it shows the lines of operations.

    Args:
        name: the name, a string.

    Raises:
        TypeError: the name is not a string.

    >>> @irax.named_scope("layer")
    ... def layer(x):
    ...     return 2 * x
    >>> "layer" in irax.make_ir(layer)(1.0).as_text(locations=True)
    True
    """
    if not isinstance(name, str):
        raise TypeError(f"named_scope: expected a string, got {name!r}")
    outer = _scopes.path
    _scopes.path = f"{outer}/{name}" if outer else name
    try:
        yield
    finally:
        _scopes.path = outer


def current_scope() -> str:
    """Return the names of the `named_scope`s around the code that is running, with slashes."""
    return _scopes.path


def named_call(fun: Callable[P, R], *, name: str | None = None) -> Callable[P, R]:
    """Return a function that calls `fun` under a `named_scope`, by default that of its own name.

    Args:
        fun: a function.
        name: the name of the scope.

    >>> irax.named_call(lambda x: 2 * x, name="double")(3)
    6
    """
    scope = name or getattr(fun, "__name__", type(fun).__name__)

    @functools.wraps(fun)
    def named(*args: P.args, **kwargs: P.kwargs) -> R:
        with named_scope(scope):
            return fun(*args, **kwargs)

    return named


def user_location() -> mlir.Location:
    """The user's file and line as an MLIR location."""
    frame = user_frame()
    if frame is None:
        return mlir.UNKNOWN
    return _location(frame.f_code.co_filename, frame.f_lineno, _scopes.path)


def user_place() -> str | None:
    """The user's file and line, if there are any."""
    frame = user_frame()
    return None if frame is None else place(frame.f_code.co_filename, frame.f_lineno)


def argument_name(x: object, with_place: bool = False) -> str | None:
    """Return the name of the argument that holds an object, itself or in a tuple or list, of the
    public function of irax that the user called; None where the user's code itself uses it. The
    place in the tuple or list follows, if it is asked for: `arrays[1]`.
    """
    found = None
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_internal(frame.f_code.co_filename):
        code = frame.f_code
        if code.co_name[0] not in "_<":
            given = frame.f_locals
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            holding = (n for n in names if n != "self" and n in given and _holds(given[n], x))
            if (name := next(holding, None)) is not None:
                found = name + _place(given[name], x) if with_place else name
        frame = frame.f_back
    return found


def is_users(x: object) -> bool:
    """Return True for an object that the user gave to the function of irax that was called."""
    called = called_frame()
    if called is None:
        return False
    code, given = called.f_code, called.f_locals
    count = code.co_argcount + code.co_kwonlyargcount
    count += sum(bool(code.co_flags & flag) for flag in (CO_VARARGS, CO_VARKEYWORDS))
    return any(_holds(given.get(name), x) for name in code.co_varnames[:count])


def called_frame() -> FrameType | None:
    """The frame of the function of irax that the user called, within its decorators' ones."""
    frame: FrameType | None = sys._getframe(1)
    called = None
    while frame is not None and is_internal(frame.f_code.co_filename):
        if "<locals>" not in frame.f_code.co_qualname:
            called = frame
        frame = frame.f_back
    return called


def _holds(value: object, x: object) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    return value is x or (isinstance(value, tuple | list) and any(_holds(v, x) for v in value))


def _place(value: object, x: object) -> str:
    """Return how `x` is reached from the list or tuple that holds it; empty for itself."""
    if value is x or not isinstance(value, tuple | list):
        return ""
    index = next(i for i, v in enumerate(value) if _holds(v, x))
    return f"[{index}]{_place(value[index], x)}"


@dataclass(frozen=True)
class SourceInfo:
    """The user's line that an equation comes from."""

    line: str = ""
    name_stack: str = ""
    traceback: Any = None


_LONGEST = 60
"""The most characters of a line of the user's in a message."""


def user_line() -> str:
    """The user's file and line, and the text of the line, or its beginning, if it can be read."""
    frame = user_frame()
    if frame is None:
        return UNKNOWN
    return line_with_text(frame.f_code.co_filename, frame.f_lineno)


UNKNOWN = "an unknown line"


def line_with_text(file: str, line: int) -> str:
    """Return a file and line, and the text of the line, or its beginning, if it can be read."""
    import linecache

    text = linecache.getline(file, line).strip()
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST - 3].rstrip()}..."
    return place(file, line) + (f": `{text}`" if text else "")


class _Warnings(threading.local):
    withheld: list[str] | None = None
    count = 0


_warnings = _Warnings()


@contextmanager
def withholding_warnings() -> Iterator[list[str]]:
    """In a `with` block, warnings of this thread go to a list, and nowhere else."""
    outer, _warnings.withheld = _warnings.withheld, []
    try:
        yield _warnings.withheld
    finally:
        _warnings.withheld = outer


def warned() -> int:
    """Return the number of warnings of this thread, shown or not."""
    return _warnings.count


def warn(message: str, category: type[Warning]) -> None:
    """Warns at the user's line: once for each line, unless filters say otherwise."""
    _warnings.count += 1
    if _warnings.withheld is not None:
        _warnings.withheld.append(message)
        return
    frame = user_frame()
    if frame is None:
        warnings.warn(message, category, stacklevel=2)
        return
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    file, line = frame.f_code.co_filename, frame.f_lineno
    warnings.warn_explicit(message, category, file, line, registry=registry)
