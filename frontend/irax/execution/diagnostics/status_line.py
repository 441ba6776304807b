"""A line that changes, on a terminal or below a notebook's cell."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from typing import Any

_ERASE = "\r\x1b[K"
_NOTEBOOKS = "ipykernel"
"""The package whose streams write below the cells of notebooks."""


def is_seen() -> bool:
    """Return True if a user at a terminal or in a notebook waits for this thread."""
    if threading.current_thread() is not threading.main_thread():
        return False
    if _is_in_notebook():
        return True
    with suppress(AttributeError, ValueError):  # no standard error, or a closed one
        return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    return False


def _is_in_notebook() -> bool:
    return type(sys.stderr).__module__.partition(".")[0] == _NOTEBOOKS


class StatusLine:
    """The line: text on standard error, which a terminal writes over; in a notebook an output that
    is changed, which the notebook keeps as it is last.
    """

    def __init__(self) -> None:
        self._output: Any = None

    def show(self, text: str) -> None:
        """Show a text in place of the one before."""
        with suppress(OSError, ValueError, AttributeError):  # the terminal has gone
            if _is_in_notebook():
                self._change(text)
            else:
                sys.stderr.write(f"{_ERASE}{text}")
                sys.stderr.flush()

    def end(self, text: str = "") -> None:
        """Leave a text, or nothing, in place of the one before."""
        self.show(text + "\n" * (bool(text) and not _is_in_notebook()))
        self._output = None

    def _change(self, text: str) -> None:
        from IPython.display import display

        data = {"text/plain": text}
        if self._output is None:
            self._output = display(data, raw=True, display_id=True)
        else:
            self._output.update(data, raw=True)
