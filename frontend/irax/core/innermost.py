"""The trace that operations of a thread go to."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from irax.core.tracing import Trace


class _Innermost(threading.local):
    trace: Trace | None = None
    suspended: Trace | None = None
    """The trace that goes on after a block of `ensure_compile_time_eval`, in such a block."""


innermost = _Innermost()
"""The state of this thread: `innermost.trace` is None outside of all traces."""
