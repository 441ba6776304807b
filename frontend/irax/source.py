"""Where in the user's code a thing happens: the first frame outside of irax."""

from __future__ import annotations

import os
import sys
import warnings
from functools import lru_cache
from types import FrameType

from irax_compiler import mlir

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_is_ours: dict[str, bool] = {}


def user_frame() -> FrameType | None:
    """The innermost frame that does not belong to irax."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        ours = _is_ours.get(file)
        if ours is None:
            ours = _is_ours[file] = os.path.abspath(file).startswith(_OURS)
        if not ours:
            return frame
        frame = frame.f_back
    return None


@lru_cache(maxsize=65536)
def _location(file: str, line: int) -> mlir.Location:
    return mlir.file_location(file, line)


def user_location() -> mlir.Location:
    """The user's file and line as an MLIR location."""
    frame = user_frame()
    if frame is None:
        return mlir.UNKNOWN
    return _location(frame.f_code.co_filename, frame.f_lineno)


def user_line() -> str:
    """The user's file and line, and the text of the line if it can be read."""
    import linecache

    frame = user_frame()
    if frame is None:
        return "an unknown line"
    file, line = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(file, line).strip()
    return f"{file}:{line}" + (f": {text}" if text else "")


def warn(message: str, category: type[Warning]) -> None:
    """Warns at the user's line: once for each line, unless filters say otherwise."""
    frame = user_frame()
    if frame is None:
        warnings.warn(message, category, stacklevel=2)
        return
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    file, line = frame.f_code.co_filename, frame.f_lineno
    warnings.warn_explicit(message, category, file, line, registry=registry)
