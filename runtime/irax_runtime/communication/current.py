"""The communicator of each thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from irax_runtime.communication.communicator import Alone, Communicator


class _State(threading.local):
    communicator: Communicator | None = None


_state = _State()
_process: Communicator = Alone()


def current() -> Communicator:
    """Return the communicator of this thread, which is by default that of the process.

    >>> current().size
    1
    """
    return _state.communicator or _process


def set_process(communicator: Communicator) -> None:
    """Set the communicator of this process, for all threads that have none of their own."""
    global _process
    _process = communicator


def of_process() -> Communicator:
    """Return the communicator of this process."""
    return _process


@contextmanager
def communicating(communicator: Communicator) -> Iterator[None]:
    """In a `with` block, this thread is the rank of a communicator."""
    outer, _state.communicator = _state.communicator, communicator
    try:
        yield
    finally:
        _state.communicator = outer
