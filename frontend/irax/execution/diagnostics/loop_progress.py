"""A line on a terminal, or below a notebook's cell, that tells how far a loop has come."""

from __future__ import annotations

import functools
import time
from typing import Any

from irax import debug
from irax.execution.diagnostics import status_line

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
        self._line = status_line.StatusLine()

    def tell(self, done: Any, length: Any) -> None:
        """Have the program tell how many steps of how many are done, at this place of it."""
        if isinstance(length, int):
            debug.callback(functools.partial(self._write, length), done)
        else:
            debug.callback(self._write, length, done)

    def _write(self, length: Any, done: Any) -> None:
        number, whole, now = int(done), int(length), time.monotonic()
        if not number:
            self._start = now
        elif number < whole and now - self._shown < EVERY:
            return
        self._shown = now
        took = now - self._start
        text = f"{self._name}: {number} of {whole}, {took:.1f} s"
        if number >= whole:
            self._line.end(text)
        else:
            left = f", {took * (whole / number - 1):.1f} s left" if number else ""
            self._line.show(text + left)
