"""Threads that do one thing after the other, and the collectives that they do for a rank."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class Worker:
    """A thread that does one thing after the other. It does not keep the process from ending."""

    def __init__(self, name: str) -> None:
        tasks: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        threading.Thread(target=_work, args=(tasks,), name=name, daemon=True).start()
        self._tasks = tasks

    def submit(self, task: Callable[[], Any]) -> Future[Any]:
        """Have the thread do something; return what will have the result."""
        future: Future[Any] = Future()
        self._tasks.put((task, future))
        return future

    def __del__(self) -> None:
        self._tasks.put(None)


def _work(tasks: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None]) -> None:
    while given := tasks.get():
        task, future = given
        try:
            future.set_result(task())
        except BaseException as error:  # whoever waits raises it
            future.set_exception(error)
        del given, task, future  # nothing is kept until the next one


class Begun:
    """The collectives of a rank in one run that began before their results are needed.

    They take place one after the other, in the order in which they began. After one that failed,
    none takes place.

    Args:
        overlaps: True if a thread does them while the rank computes; otherwise they take place
            when they begin.

    >>> begun = Begun(overlaps=True)
    >>> ticket = begun.begin(lambda: np.arange(3))
    >>> begun.outcome(ticket)
    array([0, 1, 2])
    """

    def __init__(self, overlaps: bool) -> None:
        self._overlaps = overlaps
        self._worker: Worker | None = None
        self._tickets = itertools.count()
        self._calls: dict[int, Future[Array]] = {}
        """The collectives whose results nobody has asked for, in their order."""
        self._error: BaseException | None = None

    def begin(self, collective: Callable[[], Array]) -> int:
        """Begin a collective; return its ticket."""
        ticket = next(self._tickets)
        if self._overlaps:
            self._worker = self._worker or Worker("irax collectives")
            context = copy_context()  # such as NumPy's `errstate`
            self._calls[ticket] = self._worker.submit(lambda: context.run(self._do, collective))
        else:
            result = collective()
            self._calls[ticket] = Future()
            self._calls[ticket].set_result(result)
        return ticket

    def _do(self, collective: Callable[[], Array]) -> Array:
        if self._error is not None:
            raise self._error
        try:
            return collective()
        except BaseException as error:
            self._error = error
            raise

    def outcome(self, ticket: int) -> Array:
        """Wait for the result of a collective, and return it, once.

        Raises:
            Exception: what went wrong in it, or in one before it.
        """
        result = self._calls[ticket].result()
        del self._calls[ticket]
        return result

    def settle(self) -> None:
        """Wait until those that have begun are done.

        Raises:
            Exception: what went wrong in the first that failed.
        """
        for call in tuple(self._calls.values()):
            call.result()

    def stop(self, error: BaseException) -> None:
        """Let none take place any more, after an error of the rank's."""
        self._error = self._error or error

    def is_busy(self) -> bool:
        """Return True if one is not done."""
        return not all(call.done() for call in tuple(self._calls.values()))

    def next_run(self) -> Begun:
        """Return those of the rank's next run, for the same thread unless it is still busy."""
        found = Begun(self._overlaps)
        if not self.is_busy():
            found._worker = self._worker
        return found
