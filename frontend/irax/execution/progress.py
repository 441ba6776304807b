"""A line on the terminal that tells of a compilation that takes long."""

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


@contextmanager
def shown(name: str) -> Iterator[None]:
    """In a `with` block that compiles a function, show a line once that takes long: on terminals
    alone, and only where the main thread waits for it. The line disappears at the end.
    """
    if not config.progress or not _is_waited_for():
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


def _is_waited_for() -> bool:
    """Return True if a user at a terminal waits for this thread."""
    if threading.current_thread() is not threading.main_thread():
        return False
    with suppress(AttributeError, ValueError):  # no standard error, or a closed one
        return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    return False


def _tell(name: str, is_done: threading.Event) -> None:
    start = time.monotonic()
    if is_done.wait(AFTER):
        return
    with suppress(OSError, ValueError):  # the terminal has gone
        while True:
            took = time.monotonic() - start
            sys.stderr.write(f"{_ERASE}irax: compiling {name}, {took:.0f} s")
            sys.stderr.flush()
            if is_done.wait(_EVERY):
                break
        sys.stderr.write(_ERASE)
        sys.stderr.flush()
