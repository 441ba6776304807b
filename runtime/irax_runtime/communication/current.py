"""The communicator of each thread."""

from __future__ import annotations

import threading

from irax_runtime.communication.communicator import Alone, Communicator


class _State(threading.local):
    communicator: Communicator | None = None


_state = _State()
_process: Communicator = Alone()
_processes_here = 1


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


def set_processes_here(count: int) -> None:
    """Set how many processes of the job are on this machine."""
    global _processes_here
    _processes_here = count


def processes_here() -> int:
    """Return the number of the job's processes on this machine, as far as it is known."""
    return _processes_here


class communicating:
    """In a `with` block, this thread is the rank of a communicator."""

    __slots__ = ("_communicator", "_outer")

    def __init__(self, communicator: Communicator) -> None:
        self._communicator = communicator

    def __enter__(self) -> None:
        self._outer, _state.communicator = _state.communicator, self._communicator

    def __exit__(self, *error: object) -> None:
        _state.communicator = self._outer
