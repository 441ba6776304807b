"""A line on a terminal, or below a notebook's cell, that tells of a long compilation."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from irax.config import config
from irax.execution.diagnostics import status_line

AFTER = 2.0
"""Seconds after which the line appears."""

_EVERY = 0.5
"""Seconds between two changes of the line."""


@contextmanager
def shown(name: str) -> Iterator[None]:
    """In a `with` block that compiles a function, show a line once that takes long: on terminals
    and in notebooks alone, and only where the main thread waits for it. It disappears at the end.
    """
    if not config.progress or not status_line.is_seen():
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


def _tell(name: str, is_done: threading.Event) -> None:
    start = time.monotonic()
    if is_done.wait(AFTER):
        return
    line = status_line.StatusLine()
    while True:
        line.show(f"irax: compiling {name}, {time.monotonic() - start:.0f} s")
        if is_done.wait(_EVERY):
            break
    line.end()
