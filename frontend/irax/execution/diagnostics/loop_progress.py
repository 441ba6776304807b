"""A line on a terminal, or below a notebook's cell, that tells how far a loop has come."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax import tree_util
from irax.execution import callbacks
from irax.execution.diagnostics import status_line
from irax_compiler.ops.callback import Callback

TIMES = 50
"""The number of blocks of steps of a loop, between which it may tell how far it has come."""
EVERY = 0.1
"""The least seconds between two changes of the line."""
GROWTH = 16
"""The number of blocks until a loop is asked again is at most so many times the last one."""
_MOST = 1 << 30


def is_seen() -> bool:
    """Return True if a user at a terminal or in a notebook sees such lines."""
    return status_line.is_seen()


class Line:
    """The line of a loop. It is told of after one block of steps, and then of more and more until
    these take `EVERY` seconds, so a short loop tells a few times.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._start: float | None = None
        """When the loop began; None where none runs."""
        self._asked = self._shown = 0.0
        self._number, self._size = 0, 1
        self._is_there = self._was_brief = False
        """True if the line is there; if the last loop had ended before it could be seen."""
        self._line = status_line.StatusLine()

    def tell(self, done: Any, length: Any) -> None:
        """Have a block of steps tell how many steps of how many are done before it."""
        self._call("progress", self._tell, self._at_once, done, length, [((), np.dtype(np.int32))])

    def end(self, length: Any) -> None:
        """Have the program tell, after the loop, that it has ended."""
        self._call("debug", self._end, self._end_at_once, length, length, [])

    def _call(
        self,
        kind: str,
        function: Callable[[Any, Any], Any],
        at_once: Callable[[], Sequence[int] | None],
        done: Any,
        length: Any,
        expected: callbacks.Expected,
    ) -> None:
        arrays, static, tree = callbacks.split(((length, done), {}))
        returned = tree_util.tree_structure(0) if expected else None
        told = callbacks.HostFunction(
            function, "progress", callbacks.where(), tree, static, returned, at_once
        )
        callbacks.call(kind, told, Callback, arrays, expected)

    def _begin(self, now: float) -> tuple[int]:
        self._start = self._asked = self._shown = now
        self._number, self._size, self._is_there = 0, 1, False
        return (1,)

    def _next(self, now: float) -> tuple[int]:
        """The blocks until the loop is asked again, by what the last ones took."""
        took = max(now - self._asked, 1e-9)
        self._asked = now
        size = min(self._size * EVERY / took, self._size * GROWTH, _MOST)
        self._size = max(int(size), 1)
        return (self._size,)

    def _at_once(self) -> tuple[int] | None:
        now = time.monotonic()
        if self._start is None:
            return self._begin(now) if self._was_brief else None
        return self._next(now) if now - self._shown < EVERY else None

    def _tell(self, length: Any, done: Any) -> int:
        number, whole, now = int(done), int(length), time.monotonic()
        begins = self._start is None or number < self._number
        (size,) = self._begin(now) if begins else self._next(now)
        assert self._start is not None
        self._number, self._shown, self._is_there = number, now, True
        took = now - self._start
        left = f", {took * (whole / number - 1):.1f} s left" if number else ""
        self._line.show(f"{self._name}: {number} of {whole}, {took:.1f} s{left}")
        return size

    def _end_at_once(self) -> tuple[()] | None:
        if self._is_there:
            return None
        self._start = None
        return ()

    def _end(self, length: Any, done: Any) -> None:
        took = 0.0 if self._start is None else time.monotonic() - self._start
        self._was_brief, self._start, self._is_there = took < EVERY, None, False
        whole = int(length)
        self._line.end("" if self._was_brief else f"{self._name}: {whole} of {whole}, {took:.1f} s")
