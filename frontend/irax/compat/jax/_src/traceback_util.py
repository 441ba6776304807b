"""jax._src.traceback_util: tracebacks, in which irax hides its own frames."""

from types import TracebackType

from irax.core.source import is_internal
from irax.core.tracebacks import UnfilteredStackTrace as UnfilteredStackTrace
from irax.core.tracebacks import api_boundary as api_boundary

_exclude_paths: list[str] = []


def register_exclusion(path: str) -> None:
    """Accepted: irax hides its own files alone."""
    _exclude_paths.append(path)


def include_frame(frame: object) -> bool:
    """Return True if tracebacks show a frame: a frame of no file that is hidden."""
    file = getattr(getattr(frame, "f_code", None), "co_filename", "")
    return not (is_internal(file) or any(file.startswith(path) for path in _exclude_paths))


def filter_traceback(tb: TracebackType) -> TracebackType | None:
    """Return a traceback without the frames that are hidden."""
    shown: list[TracebackType] = []
    rest: TracebackType | None = tb
    while rest is not None:
        if include_frame(rest.tb_frame):
            shown.append(rest)
        rest = rest.tb_next
    found: TracebackType | None = None
    for entry in reversed(shown):
        found = TracebackType(found, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return found
