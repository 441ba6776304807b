"""A watch on how long a process waits for other ranks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue

from irax_runtime.communication.communicator import Array


class Watchdog:
    """A thread that ends the job when a collective takes longer than `limit` seconds."""

    def __init__(self, limit: float, abort: Callable[[str], None]) -> None:
        self._limit = limit
        self._abort = abort
        self.entered: dict[int, tuple[Watched, float]] = {}
        """The collectives that threads are in, and when they came."""
        self.run = ""
        """The run of a program that this process is in, or was in last."""
        self.step = ""
        """The step that this process is in, as the program tells it."""
        self._others: SimpleQueue[tuple[str, float, Callable[[], bool]]] = SimpleQueue()
        """Other things that wait for other ranks, and since when, in this order."""
        threading.Thread(target=self._watch, name="irax watchdog", daemon=True).start()

    def watch(self, what: str, is_done: Callable[[], bool]) -> None:
        """Watch something that another thread looks after, or none."""
        self._others.put((what, time.monotonic(), is_done))

    def is_watching(self) -> bool:
        """Return True if a thread is in a collective."""
        return bool(self.entered)

    def doing(self) -> str:
        """Return what this process does, as far as communication tells."""
        calls = [what.call for what, _ in tuple(self.entered.values())]
        return " in ".join(filter(None, [*calls[:1], self.run, self.step]))

    def _watch(self) -> None:
        while True:
            time.sleep(min(1.0, self._limit / 4))
            late = time.monotonic() - self._limit
            others = [self._others.get() for _ in range(self._others.qsize())]
            others = [other for other in others if not other[2]()]
            for other in others:
                self._others.put(other)
            entered = [*self.entered.values(), *((what, since) for what, since, _ in others)]
            late_in = [str(what) for what, since in entered if since < late]
            if late_in:
                self._abort(
                    f"{late_in[0]} has waited for other ranks for more than {self._limit:g} "
                    "seconds: one of them hangs, has ended, or runs another program"
                )


class Watched:
    """A collective that a thread is in: a `with` block, which costs little to enter.

    Args:
        entered: where a watchdog looks for collectives.
        what: the collective.
        x: the array.
        program: the program that calls it.
    """

    __slots__ = ("_entered", "_program", "_thread", "_what", "_x")

    def __init__(
        self,
        entered: dict[int, tuple[Watched, float]],
        what: str,
        x: Array | None,
        program: str,
    ) -> None:
        self._entered, self._what, self._x, self._program = entered, what, x, program
        self._thread = threading.get_ident()

    @property
    def call(self) -> str:
        """The collective and its array."""
        of = "" if self._x is None else f" of {self._x.dtype}{list(self._x.shape)}"
        return f"{self._what}{of}"

    def __str__(self) -> str:
        return self.call + (f" in {self._program}" if self._program else "")

    def __enter__(self) -> Watched:
        self._entered[self._thread] = self, time.monotonic()
        return self

    def __exit__(self, *error: object) -> None:
        del self._entered[self._thread]
