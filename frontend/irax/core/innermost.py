"""The innermost trace of a thread, and the operations that belong to a trace."""

from __future__ import annotations

import enum
import threading
from typing import Any


class Scope(enum.Enum):
    """The operations that belong to a trace, of those that belong to none within it."""

    ALL = enum.auto()
    """Every operation: the trace is a staging one."""
    TRACED = enum.auto()
    """Operations on traced arrays, of whichever trace: this one is partial, and its function may
    get from outside what it reads itself, and nothing that is computed of that."""
    OWN = enum.auto()
    """Operations on values of the trace: it is a partial one, too."""


class _Innermost(threading.local):
    trace: Any = None
    """A `tracing.Trace`, or None. The room of traces is above this one."""
    suspended: Any = None
    """The trace that goes on after a block of `ensure_compile_time_eval`, in such a block."""


innermost = _Innermost()
"""The state of this thread: `innermost.trace` is None outside of all traces."""
