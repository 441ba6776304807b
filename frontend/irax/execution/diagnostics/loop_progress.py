"""A line on a terminal, or below a notebook's cell, that tells how far a loop has come."""

from __future__ import annotations

import time
from typing import Any

from irax.execution import callbacks
from irax.execution.diagnostics import status_line
from irax_compiler.ops.callback import Callback

TIMES = 50
"""The number of times that a loop tells how far it has come."""
EVERY = 0.1
"""The least seconds between two changes of the line."""


def is_seen() -> bool:
    """Return True if a user at a terminal or in a notebook sees such lines."""
    return status_line.is_seen()


class Line:
    """The line of a loop."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._start = self._shown = time.monotonic()
        self._number: int | None = None
        """The steps that were done when it was told last; None after the last step."""
        self._line = status_line.StatusLine()

    def tell(self, done: Any, length: Any) -> None:
        """Have the program tell how many steps of how many are done, at this place of it."""
        arrays, static, tree = callbacks.split(((length, done), {}))
        is_idle = None if done is length else self._is_idle
        told = callbacks.HostFunction(
            self._write, "progress", callbacks.where(), tree, static, None, is_idle
        )
        callbacks.call("debug", told, Callback, arrays, [])

    def _is_idle(self) -> bool:
        return self._number is not None and time.monotonic() - self._shown < EVERY

    def _write(self, length: Any, done: Any) -> None:
        number, whole, now = int(done), int(length), time.monotonic()
        if self._number is None or number < self._number:  # it begins
            self._start = now
        self._shown = now
        took = now - self._start
        text = f"{self._name}: {number} of {whole}, {took:.1f} s"
        if number < whole:
            self._number = number
            left = f", {took * (whole / number - 1):.1f} s left" if number else ""
            self._line.show(text + left)
        else:
            self._number = None
            self._line.end(text if took >= EVERY else "")
