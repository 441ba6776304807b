"""A line on a terminal, or below a notebook's cell, that tells how far a loop has come."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import Any

from irax import debug
from irax.execution.diagnostics import progress

TIMES = 50
"""The number of times that the line changes in a loop, which take some milliseconds together."""


def is_seen() -> bool:
    """Return True if a user at a terminal or in a notebook sees such lines."""
    return progress.is_waited_for()


class Line:
    """The line of a loop."""

    def __init__(self, name: str, length: int) -> None:
        self._name, self._length = name, length
        self._start = time.monotonic()
        self._text = ""

    def tell(self, done: Any) -> None:
        """Have the program tell how many steps are done, at this place of it."""
        debug.callback(self._write, done)

    def _write(self, done: Any) -> None:
        number, now = int(done), time.monotonic()
        if not number:
            self._start = now
        took = now - self._start
        text = f"{self._name}: {number} of {self._length}, {took:.1f} s"
        if 0 < number < self._length:
            text += f", {took * (self._length / number - 1):.1f} s left"
        with suppress(OSError, ValueError, AttributeError):  # the terminal has gone
            sys.stderr.write(progress.erasing(self._text) + text)
            if number >= self._length:
                sys.stderr.write("\n")
                text = ""
            sys.stderr.flush()
        self._text = text
