"""Native code that Ctrl-C ends the wait for.

Python answers signals in its main thread, between its own instructions: while a compiler or a
program is at work there, Ctrl-C does nothing. So the main thread has what may take long done by
another one, and waits where signals reach it. What KeyboardInterrupt leaves behind goes on until it
is done, calls Python, or the process ends.

The work sees the context variables of who waits, such as NumPy's `errstate`. Functions of the
user's that it calls are run by the thread that waits: options and traces are what they were, and an
exception such as KeyboardInterrupt comes up there.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import threading
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeVar

T = TypeVar("T")

_POLL = 0.1
"""Seconds after which signals are looked for that do not end a wait: all of them on Windows, and
those that other threads raise."""

_STACK_SIZE = 16 << 20
"""Bytes for a helper's stack: compilers recurse, and programs have arrays on it."""


class Worker(Protocol):
    """The owner of a thread that may be at work."""

    @property
    def thread(self) -> threading.Thread | None:
        """The thread."""
        ...


class LeftBehind(RuntimeError):
    """Nobody waits any more for the work that calls a function of Python."""


def run(work: Callable[..., T], *arguments: Any) -> T:
    """Runs `work` and returns its result; in the main thread, Ctrl-C ends the wait for it.

    >>> run(pow, 2, 3)
    8
    """
    if threading.current_thread() is not threading.main_thread():
        return work(*arguments)
    try:
        helper = _idle.pop() if _idle else _Helper()
    except RuntimeError:  # no more threads, or none while Python ends
        return work(*arguments)
    return helper.do(work, arguments)


def in_waiting_thread(function: Callable[..., T], *arguments: Any) -> T:
    """Calls a function in the thread that waits for this one; in this one, where none does.

    Raises:
        LeftBehind: it waits no more.
    """
    helper: _Helper | None = getattr(_here, "helper", None)
    return function(*arguments) if helper is None else helper.ask(function, arguments)


def is_work_left_behind() -> bool:
    """Return True while work that was left behind is still running."""
    return any(map(_is_at_work, _left_behind))


@dataclass
class _Call:
    """A function to be called, and what came of it."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    result: Any = None
    error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self.function(*self.arguments)
        except BaseException as error:
            self.error = error

    def outcome(self) -> Any:
        try:
            if self.error is not None:
                raise self.error
            return self.result
        finally:
            self.error = None  # whose traceback has this frame


class _Helper:
    """A thread that works for the main thread, one call at a time."""

    def __init__(self) -> None:
        self._orders: SimpleQueue[_Call | None] = SimpleQueue()
        self._told: SimpleQueue[_Call] = SimpleQueue()
        """The order, once it is done, and before it calls to be run by who waits."""
        self._answers: SimpleQueue[_Call] = SimpleQueue()
        try:
            self.thread = started(self._work, "irax helper")
        except BaseException:
            self._orders.put(None)  # it may have been started
            raise

    def _work(self) -> None:
        _here.helper = self
        while (order := self._orders.get()) is not None:
            order.run()
            self._told.put(order)
            del order

    def do(self, work: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Has it done, and waits."""
        order = _Call(copy_context().run, (work, *arguments))
        is_done = False
        try:
            self._orders.put(order)
            while (told := self._next()) is not order:
                told.run()
                self._answers.put(told)
            is_done = True
        except BaseException as error:
            if isinstance(error.__context__, Empty):  # of a wait, which says nothing
                error.__context__ = error.__context__.__context__
            raise
        finally:
            if is_done:
                _idle.append(self)
            else:
                self._leave()
        return order.outcome()

    def _next(self) -> _Call:
        while True:
            with contextlib.suppress(Empty):
                return self._told.get(timeout=_POLL)

    def _leave(self) -> None:
        """Lets it end by itself, after the next function that it asks for at the latest."""
        self._orders.put(None)
        self._answers.put(_Call(_Helper.ask, (), error=LeftBehind("the wait was interrupted")))
        leave_behind(self)

    def ask(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Has the main thread call a function, and waits for it."""
        self._told.put(_Call(function, arguments))
        return self._answers.get().outcome()


class Begun:
    """Work that another thread does, and that the process may end without.

    >>> Begun(pow, 2, 3).outcome()
    8
    """

    def __init__(self, work: Callable[..., Any], *arguments: Any) -> None:
        self._call = _Call(work, arguments)
        self.thread = started(self._call.run, "irax work")
        leave_behind(self)

    def is_done(self) -> bool:
        """Return True if the work has ended."""
        return not self.thread.is_alive()

    def outcome(self) -> Any:
        """Waits for the end of the work; returns its result, or raises its error."""
        while self.thread.is_alive():
            self.thread.join(_POLL)
        return self._call.outcome()


def started(run: Callable[[], None], name: str) -> threading.Thread:
    """Return a new thread for native code. Raises RuntimeError while Python ends."""
    thread = threading.Thread(target=run, name=name, daemon=True)
    before = threading.stack_size(_STACK_SIZE)
    try:
        thread.start()
    except KeyError as error:  # of `threading`, in place of what a signal's handler raised
        raise error.__context__ or error from None
    finally:
        threading.stack_size(before)
    return thread


_here = threading.local()
_idle: list[_Helper] = []
_left_behind: list[Worker] = []


def leave_behind(worker: Worker) -> None:
    """Take note of a worker for whose end nobody waits: the process may end before."""
    _left_behind[:] = [worker, *filter(_is_at_work, _left_behind)]


def _is_at_work(worker: Worker) -> bool:
    return worker.thread is not None and worker.thread.is_alive()


@atexit.register
def _end_beside_what_is_left_behind() -> None:
    """Lets the process end, with its exit status, while native code is still at work: where the C
    library is GNU's.
    """
    if not is_work_left_behind():
        return
    with contextlib.suppress(AttributeError, OSError):
        libc = ctypes.CDLL(None)
        # Destructors of C++ would take away what the work uses.
        libc.on_exit(libc._exit, None)
        # A thread that comes back to Python now is unwound, which C++ takes for a reason to abort.
        ctypes.CDLL("libstdc++.so.6")._ZSt13set_terminatePFvvE(libc.pause)


def _forget_helpers() -> None:
    """In a forked process, which has none of the threads."""
    _idle.clear()
    _left_behind.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_helpers)
