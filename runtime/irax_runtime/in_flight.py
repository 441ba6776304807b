"""Calls in flight: they have returned, and their work is done by another thread.

Each device has a queue of calls, which are run in order, one at a time. Their results are futures:
buffers whose `Pending` gets the memory, or the error, when the call has run. A thread that needs a
result runs the first calls of the queue itself if nobody is at it, because to wait for another
thread takes longer. The main thread does so for brief calls alone: in native code it does not hear
Ctrl-C.

`Cost` says which programs are worth a place in the queue. Only programs without side effects have
one, so a call that nobody needs may be left undone when the process ends, and one that was
interrupted may run again.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from math import inf
from queue import SimpleQueue
from typing import Any
from weakref import WeakSet

from irax_runtime import interruptible

VARIABLE = "IRAX_CPU_ENABLE_ASYNC_DISPATCH"
LONG = 500e-6
"""The seconds from which a call is worth a place in the queue, which takes about 20 us."""
LONG_FOR_AN_ARRAY = 2e-6
"""The seconds more for each argument and result: threads take turns at what is done to these."""
MOST = 8
"""The most calls in a queue: they keep their arguments' memory, and Python should not be far ahead.
"""
_VAIN, _REST, _LONGEST_REST = 4, 16, 512
"""The number of calls that were awaited before the queue came to them, after which it is not tried,
and for how many calls: at first, and at most."""
_SAMPLES = 3
"""The number of calls that a brief program is judged by, after the first, which is a cold start."""
_POLL = 0.1
"""Seconds after which a thread that waits looks for signals, and for work that it could do."""
_AT_EXIT = 1.0
"""The most seconds that the end of the process waits for a call."""

_PACKAGES = frozenset({"irax", "irax_compiler", "irax_runtime", "irax_tools"})

_is_enabled = os.environ.get(VARIABLE, "").strip().lower() not in ("0", "false", "no", "off")
_is_ending = False
_all: WeakSet[InFlight] = WeakSet()


def enable(value: bool) -> None:
    """Let calls return before their work is done, or not, from now on."""
    global _is_enabled
    _is_enabled = value


def wait_for_all() -> None:
    """Wait until all calls in flight have run. Errors are those of who uses the results."""
    for device in list(_all):
        device.drain()


class Pending:
    """The result of a call in flight: a reference to memory, once the call has run."""

    __slots__ = ("_error", "_ref", "call")

    def __init__(self) -> None:
        self.call: Call | None = None
        """The call, until it has run."""
        self._ref: Any = None
        self._error: BaseException | None = None

    def settle(self, ref: Any, error: BaseException | None) -> None:
        """Take the result, or the error."""
        self._ref, self._error = ref, error
        self.call = None

    def outcome(self) -> Any:
        """Wait for the call; return the reference, or raise the error."""
        if (call := self.call) is not None:
            call.wait()
        if self._error is not None:
            raise self._error.with_traceback(None)
        return self._ref


class Call:
    """A call of a program, to be run by the first thread that comes to it."""

    def __init__(
        self,
        work: Callable[[], Sequence[Any]],
        results: Sequence[Pending],
        cost: Cost,
        is_brief: bool,
        can_be_repeated: bool,
    ) -> None:
        """`work` returns buffers. A brief call may be run by the main thread; what cannot be
        repeated is lost when an interrupt ends it.
        """
        self._work: Callable[[], Sequence[Any]] | None = work
        self._results: Sequence[Pending] = results
        self.queue: Queue | None = None
        self.device: InFlight | None = None
        self.cost = cost
        self._can_be_repeated = can_be_repeated
        self._place = _place_of_user()
        self._running = threading.Lock()
        self._running.acquire()
        self._is_brief = is_brief
        self.is_done = False
        self.thread = threading.get_ident()
        """The thread that made the call."""
        for result in results:
            result.call = self

    def suits_main(self) -> bool:
        """Return True if the main thread may run the call: it hears Ctrl-C soon, and an interrupt
        there does not cost another thread its results.
        """
        is_own = self.thread == threading.get_ident()
        return self._is_brief and (self._can_be_repeated or is_own)

    def run(self) -> None:
        """Do the work. What is raised is an interrupt of the main thread."""
        assert self._work is not None
        try:
            refs = [buffer.ref for buffer in self._work()]
        except BaseException as error:
            if _is_interrupt(error):
                if not self._can_be_repeated:
                    self._end([None] * len(self._results), _Interrupted())
                raise
            _add_place(error, self._place)
            self._end([None] * len(self._results), error)
        else:
            self._end(refs, None)

    def _end(self, refs: Sequence[Any], error: BaseException | None) -> None:
        for result, ref in zip(self._results, refs, strict=True):
            result.settle(ref, error)
        self.is_done = True
        self._work = None
        self._results = ()
        self._running.release()

    def wait(self) -> None:
        """Wait until the call has run."""
        if self.device is not None:
            self.device.wait_for(self)

    def wait_a_while(self) -> None:
        """Wait until the call has run, but not for long."""
        if self._running.acquire(timeout=_POLL):
            self._running.release()


class _Interrupted(RuntimeError):
    """The error of results whose call was interrupted."""

    def __init__(self) -> None:
        super().__init__("the call that computes this array was interrupted")


def _is_interrupt(error: BaseException) -> bool:
    """Return True for what a signal's handler has raised, and not the program. Programs that call
    Python are not run by the main thread.
    """
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and not isinstance(error, RuntimeError)


_MADE = "the call was made at "


def _add_place(error: BaseException, place: str) -> None:
    """Tell where the call was made that failed, and not those that needed its results."""
    if place and not any(note.startswith(_MADE) for note in getattr(error, "__notes__", ())):
        error.add_note(_MADE + place)


def _place_of_user() -> str:
    """Return the line of the innermost frame that is not irax's."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _PACKAGES:
            return f"{frame.f_code.co_filename}:{frame.f_lineno}, in {frame.f_code.co_name}"
        frame = frame.f_back
    return ""


class Queue:
    """Calls of a device, and the thread that runs them in order."""

    def __init__(self) -> None:
        self._calls: deque[Call] = deque()
        self._turn = threading.Lock()
        """Held by the thread that runs calls."""
        self._orders: SimpleQueue[None] = SimpleQueue()
        self._entrance = threading.Lock()
        self._is_left = False
        self.thread: threading.Thread | None = None

    @property
    def is_busy(self) -> bool:
        """True if there are calls that have not run."""
        return bool(self._calls)

    def is_of_this_thread(self) -> bool:
        """Return True if no other thread has calls in the queue."""
        try:
            return self._calls[-1].thread == threading.get_ident()
        except IndexError:
            return True

    def make_room(self) -> None:
        """Wait for the first calls where there are too many."""
        while len(self._calls) >= MOST:
            self._wait_for_place(0)

    def put(self, call: Call) -> bool:
        """Put a call at the end; return False if nothing may enter any more."""
        with self._entrance:
            if self._is_left:
                return False
            if self.thread is None:
                with contextlib.suppress(RuntimeError):  # no more threads: who waits does the work
                    self.thread = interruptible.started(self._work, "irax queue")
            call.queue = self
            self._calls.append(call)
            self._orders.put(None)
            return True

    def drain(self) -> None:
        """Wait until all calls have run that are in the queue now."""
        self._wait_for_place(-1)

    def _wait_for_place(self, place: int) -> None:
        with contextlib.suppress(IndexError):  # another thread has run it
            self.wait_for(self._calls[place])

    def wait_for(self, call: Call) -> None:
        """Wait until a call has run; run it here if nobody is at it."""
        while not call.is_done:
            self._help(call)
            if not call.is_done:
                call.wait_a_while()

    def leave(self) -> None:
        """Have the thread end when the calls have run. Nothing may enter any more."""
        with self._entrance:
            self._is_left = True
            self._orders.put(None)

    def end(self) -> None:
        """Have the thread end after the call that it runs, and wait for that, but not long."""
        self.leave()
        if self.thread is not None:
            self.thread.join(_AT_EXIT)
            if self.thread.is_alive():
                interruptible.leave_behind(self)

    def _work(self) -> None:
        while not (self._is_left and not self._calls) and not _is_ending:
            self._orders.get()
            with self._turn:
                self._run(lambda _: not _is_ending)
        self._orders.put(None)  # for a second thread: the start of the first was interrupted

    def _help(self, call: Call) -> None:
        if self._turn.locked():
            return
        has_no_thread = _is_ending or self.thread is None
        takes_all = has_no_thread or threading.current_thread() is not threading.main_thread()
        with self._turn:
            self._run(lambda first: not call.is_done and (takes_all or first.suits_main()), call)

    def _run(self, is_to_run: Callable[[Call], bool], awaited: Call | None = None) -> None:
        """Run calls in order, up to one that is not to be run. This thread has the turn, and waits
        for the one that is `awaited`.
        """
        while self._calls and is_to_run(first := self._calls[0]):
            if not first.is_done:  # an interrupt may come after it
                first.cost.tell_wait(first is awaited and first is self._calls[-1])
                first.run()
            self._calls.popleft()


class InFlight:
    """The calls in flight of a device."""

    def __init__(self) -> None:
        self._queue = Queue()
        self._left: list[Queue] = []
        """The queues that an interrupt ended the wait for."""
        _all.add(self)

    def takes(self) -> bool:
        """Return True if a call of this thread may go into the queue. Calls of two threads would
        wait for each other there.
        """
        return _is_enabled and not _is_ending and self._queue.is_of_this_thread()

    @property
    def is_busy(self) -> bool:
        """True if there are calls in flight."""
        return self._queue.is_busy or self.is_unordered

    @property
    def is_unordered(self) -> bool:
        """True if there are calls in flight that the next ones do not come after."""
        for queue in list(self._left):
            if not queue.is_busy:
                with contextlib.suppress(ValueError):  # another thread has removed it
                    self._left.remove(queue)
        return bool(self._left)

    def enter(self, call: Call) -> None:
        """Put a call into the queue."""
        call.device = self
        is_in = False
        with self._leaving_when_interrupted():
            while not is_in:
                queue = self._queue
                queue.make_room()
                is_in = queue.put(call)

    def wait_for(self, call: Call) -> None:
        """Wait until a call has run. After an interrupt, later calls go into another queue: nobody
        can tell how long this one takes.
        """
        assert call.queue is not None
        with self._leaving_when_interrupted():
            call.queue.wait_for(call)

    def drain(self) -> None:
        """Wait until all calls have run that are in flight now."""
        with self._leaving_when_interrupted():
            for queue in (*self._left, self._queue):
                queue.drain()

    @contextlib.contextmanager
    def _leaving_when_interrupted(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._leave(self._queue)
            raise

    def _leave(self, queue: Queue) -> None:
        """Begin a new queue. Another interrupt has no effect here: one is on its way."""
        while self._queue is queue:
            with contextlib.suppress(BaseException):
                queue.leave()
                if queue not in self._left:
                    self._left.append(queue)
                self._queue = Queue()

    def end(self) -> None:
        """Have the threads end with the process."""
        for queue in (*self._left, self._queue):
            queue.end()

    def forget(self) -> None:
        """In a forked process, which has none of the threads: begin anew."""
        self._queue = Queue()
        self._left.clear()


class Cost:
    """The judgement of a program's calls: they are worth a place in the queue if they take long, by
    the times that they took, and are not awaited at once.

    >>> cost = Cost(varies=False)
    >>> for seconds in (1.0, 1e-5, 2e-5, 1e-5):
    ...     cost.tell(seconds)
    >>> cost.is_brief, cost.is_long
    (True, False)
    """

    __slots__ = (
        "_for_arrays",
        "_least",
        "_left",
        "_rest",
        "_resting",
        "_stops",
        "_vain",
        "_varies",
        "is_brief",
        "is_long",
    )

    def __init__(
        self, varies: bool, is_long: bool = False, stops: bool = False, arrays: int = 0
    ) -> None:
        """Time that `varies` with the values of arguments is that of the last call; `is_long` says
        what to expect of the first one. A call that `stops` where it takes long is taken for brief.
        Arguments and results are so many `arrays`.
        """
        self._varies = varies
        self._for_arrays = LONG_FOR_AN_ARRAY * arrays
        self._least = inf
        self._left = _SAMPLES + 1
        self._stops = stops
        self.is_brief = stops
        """True if calls are brief, or stop: nobody needs to look at their times."""
        self.is_long = is_long
        """True if the next call probably takes long."""
        self._vain, self._rest, self._resting = 0, _REST, 0

    def pays(self) -> bool:
        """Return True if the next call is to go into the queue."""
        if self._resting > 0:
            self._resting -= 1
            return False
        return self.is_long

    def tell_wait(self, in_vain: bool) -> None:
        """Take account of a call in the queue. It was there in vain if it was the only one, and
        run by who waited for it.
        """
        if not in_vain:
            self._vain, self._rest = 0, _REST
            return
        self._vain += 1
        if self._vain >= _VAIN:
            self._resting, self._rest = self._rest, min(2 * self._rest, _LONGEST_REST)

    def tell(self, seconds: float) -> None:
        """Take account of the time of a call."""
        if self._varies:
            self.is_long = seconds > LONG + self._for_arrays
            self.is_brief = self._stops and not self.is_long
        elif self._left > 0:
            self._left -= 1
            if self._left < _SAMPLES:
                self._least = min(self._least, seconds)
            if self._left == 0:
                self.is_long = self._least > LONG + self._for_arrays
                self.is_brief = not self.is_long


@atexit.register
def _end() -> None:
    global _is_ending
    _is_ending = True
    for device in list(_all):
        device.end()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=wait_for_all, after_in_child=lambda: [x.forget() for x in _all])
