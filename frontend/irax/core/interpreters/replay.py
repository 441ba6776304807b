"""Replays: traces of library functions that are evaluated again and again, and never compiled."""

from __future__ import annotations

from irax.core.tracing import Trace
from irax_compiler.ops.core import Op


class Replay(Trace):
    """A function being traced to be evaluated: it may have what no target has."""

    def takes(self, op: Op) -> bool:
        return True
