"""A line on a terminal, or below a notebook's cell, that tells of a long compilation."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from irax.config import config

AFTER = 2.0
"""Seconds after which the line appears."""

_EVERY = 0.5
"""Seconds between two changes of the line."""

_ERASE = "\r\x1b[K"
_NOTEBOOKS = "ipykernel"
"""The package whose streams write below the cells of notebooks."""


@contextmanager
def shown(name: str) -> Iterator[None]:
    """In a `with` block that compiles a function, show a line once that takes long: on terminals
    and in notebooks alone, and only where the main thread waits for it. It disappears at the end.
    """
    if not config.progress or not is_waited_for():
        yield
        return
    is_done = threading.Event()
    teller = threading.Thread(target=_tell, args=(name, is_done), name="irax progress", daemon=True)
    teller.start()
    try:
        yield
    finally:
        is_done.set()
        teller.join()


def is_waited_for() -> bool:
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


def _tell(name: str, is_done: threading.Event) -> None:
    start = time.monotonic()
    if is_done.wait(AFTER):
        return
    line = ""
    with suppress(OSError, ValueError):  # the terminal has gone
        while True:
            erase = erasing(line)
            line = f"irax: compiling {name}, {time.monotonic() - start:.0f} s"
            sys.stderr.write(f"{erase}{line}")
            sys.stderr.flush()
            if is_done.wait(_EVERY):
                break
        sys.stderr.write(erasing(line))
        sys.stderr.flush()


def erasing(line: str) -> str:
    """Return what erases a line. Notebooks know no sequence for it, but write over it."""
    return f"\r{' ' * len(line)}\r" if _is_in_notebook() else _ERASE
