"""Processes of the libraries: each has one, in which it waits for its turn."""

from __future__ import annotations

import multiprocessing
import time
import warnings
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.peers import libraries, roofline
from benchmarks.peers.families import RACES


class WorkerError(Exception):
    """A program failed in a library, or ended its process, or took too long."""


class Worker:
    """A library's process. One that failed is replaced by the next call."""

    def __init__(self, library: str, threads: int, limit: float) -> None:
        self._library, self._threads, self._limit = library, threads, limit
        self._process: Any = None
        self._connection: Any = None

    def prepare(self, name: str) -> tuple[float, list[Any]]:
        """The seconds of the first call of a program, and its result."""
        return self._ask("prepare", name)

    def turn(self, seconds: float, processor_time: bool) -> list[float]:
        """The seconds of each of some calls, by the clock or on processors."""
        return self._ask("turn", (seconds, processor_time))

    def rates(self, processor_time: bool) -> roofline.Rates:
        """The measured rates of the machine."""
        return self._ask("rates", processor_time)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None

    def _ask(self, what: str, argument: Any) -> Any:
        if self._process is None:
            self._start()
        try:
            self._connection.send((what, argument))
            if not self._connection.poll(self._limit):
                raise WorkerError(f"took longer than {self._limit:.0f} s")
            failure, answer = self._connection.recv()
        except (EOFError, OSError):
            self.close()
            raise WorkerError("ended the process") from None
        except WorkerError:
            self.close()
            raise
        if failure:
            raise WorkerError(failure)
        return answer

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        arguments = (theirs, self._library, self._threads)
        self._process = context.Process(target=_work, args=arguments, daemon=False)
        self._process.start()
        theirs.close()
        if not self._connection.poll(120.0):
            raise WorkerError("did not start")
        self._connection.recv()


def _work(connection: Connection, library: str, threads: int) -> None:
    warnings.simplefilter("ignore")
    libraries.set_threads(threads)
    libraries.imported(library)
    connection.send("ready")
    call: libraries.Call | None = None
    while True:
        try:
            what, argument = connection.recv()
        except EOFError:
            return
        try:
            if what == "rates":
                answer: Any = roofline.measure(threads, argument)
            elif what == "turn":
                assert call is not None
                answer = _turn(call, *argument)
            else:
                call = None  # frees the arrays of the program before
                before = time.perf_counter()
                call = libraries.prepare(library, RACES[argument], threads)
                result = call()
                answer = time.perf_counter() - before, libraries.leaves(result)
            connection.send(("", answer))
        except Exception as error:
            line = str(error).strip().partition("\n")[0]
            connection.send((f"{type(error).__name__}: {line}", None))


def _turn(call: libraries.Call, seconds: float, processor_time: bool) -> list[float]:
    """A call that does not count, and then calls for so long, but two at least."""
    clock = time.process_time if processor_time else time.perf_counter
    call()
    times: list[float] = []
    begun = time.perf_counter()
    while len(times) < 2 or time.perf_counter() - begun < seconds:
        before = clock()
        call()
        times.append(clock() - before)
    return times
