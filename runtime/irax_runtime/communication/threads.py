"""Ranks that are threads of one process.

The ranks of a group meet: each brings its array and waits, and the last one computes the results of
all. An array is read only while its owner waits.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np

from irax_runtime.communication.communicator import (
    DEFAULT_LIMIT,
    LARGE,
    Array,
    CommunicationError,
    Communicator,
    Group,
    combined,
    empty,
)
from irax_runtime.communication.current import communicating
from irax_runtime.communication.workers import Worker

T = TypeVar("T")
Finish = Callable[[list[Any]], Sequence[Any]]
"""Computes the results of a group's ranks from what they brought, both in the group's order."""


class ThreadGroup:
    """N threads that run the same program. They are kept from one run to the next.

    >>> group = ThreadGroup(2)
    >>> group.run(lambda c: int(c.all_reduce(np.array(c.rank + 1), "add", (0, 1))))
    [3, 3]
    """

    def __init__(self, size: int, limit: float = DEFAULT_LIMIT) -> None:
        self.size = size
        self._limit = limit
        self._workers = [Worker(f"irax rank {rank}") for rank in range(1, size)]
        self._running = threading.Lock()

    def run(self, function: Callable[[ThreadRank], T]) -> list[T]:
        """Call a function in each rank, with the rank's communicator; return all results.

        The calling thread is rank 0. Runs of several threads take turns: their collectives would
        get in each other's way.

        Raises:
            Exception: what the function raised in the rank that failed first.
        """
        with self._running:
            place = _MeetingPlace(self.size, self._limit)
            ranks = [ThreadRank(place, rank) for rank in range(self.size)]
            pairs = zip(self._workers, ranks[1:], strict=True)
            others = [worker.submit(partial(_run, function, rank)) for worker, rank in pairs]
            try:
                first = _run(function, ranks[0])
                return [first, *(future.result() for future in others)]
            except BaseException:
                place.fail(0, "the run was ended")
                self._leave_behind(others)
                raise place.cause or CommunicationError("the run was ended") from None

    def _leave_behind(self, others: Sequence[Future[Any]]) -> None:
        """Wait until the other ranks have ended. One that does not in time has other threads take
        its place.
        """
        late = wait(others, self._limit).not_done
        for number, future in enumerate(others):
            if future in late:
                self._workers[number] = Worker(f"irax rank {number + 1}")


def _run(function: Callable[[ThreadRank], T], rank: ThreadRank) -> T:
    try:
        with communicating(rank):
            return function(rank)
    except BaseException as error:
        rank.place.fail(rank.rank, str(error) or type(error).__name__, error)
        raise
    finally:
        rank.place.leave(rank.rank)


What = tuple[Any, ...]
"""The call of a rank: the name of a collective, the dtype and the shape of the array."""


@dataclass
class _Meeting:
    """One collective of a group: what its ranks brought so far."""

    what: What
    brought: dict[int, Any] = field(default_factory=dict)
    results: dict[int, Any] | None = None


class _MeetingPlace:
    """The meetings of the ranks of one run.

    A rank that waits does so at a lock of its own, which whoever wakes it releases: a condition
    variable would take three times as long.
    """

    def __init__(self, size: int, limit: float) -> None:
        self.size = size
        self.cause: BaseException | None = None
        """The exception of the rank that failed first."""
        self._limit = limit
        self._mutex = threading.Lock()
        self._locks = [threading.Lock() for _ in range(size)]
        for lock in self._locks:
            lock.acquire()
        self._waiting: set[int] = set()
        """The ranks that nobody has woken yet."""
        self._meetings: dict[Group, _Meeting] = {}
        self._gone: set[int] = set()
        self._failure: str | None = None

    def fail(self, rank: int, reason: str, error: BaseException | None = None) -> None:
        """End all meetings: the ranks that wait raise an exception that names the rank."""
        with self._mutex:
            if self._failure is None:
                self._failure, self.cause = f"rank {rank} failed: {reason}", error
            self._wake(tuple(self._waiting))

    def leave(self, rank: int) -> None:
        """Note that a rank has ended: nobody is to wait for it."""
        with self._mutex:
            self._gone.add(rank)
            self._wake(tuple(self._waiting))

    def _wake(self, ranks: Group) -> None:
        for rank in ranks:
            if rank in self._waiting:
                self._waiting.remove(rank)
                self._locks[rank].release()

    def meet(self, rank: int, what: What, thing: Any, group: Group, finish: Finish) -> Any:
        """Bring a thing to the meeting of a group; return this rank's result."""
        with self._mutex:
            meeting = self._meetings.get(group)
            if meeting is None:
                meeting = self._meetings[group] = _Meeting(what)
            if meeting.what != what:
                other = next(iter(meeting.brought))
                raise CommunicationError(
                    f"rank {rank} calls {_described(what)}, but rank {other} calls "
                    f"{_described(meeting.what)}: all ranks must call the same collectives in the "
                    "same order"
                )
            meeting.brought[rank] = thing
            if len(meeting.brought) == len(group):
                del self._meetings[group]
                results = finish([meeting.brought[r] for r in group])
                meeting.results = dict(zip(group, results, strict=True))
                self._wake(group)
                return meeting.results[rank]
        if not self._wait(rank, meeting, group):
            raise CommunicationError(
                f"rank {rank} in {_described(what)}: {self._reason(meeting, group)}"
            )
        assert meeting.results is not None
        return meeting.results[rank]

    def _wait(self, rank: int, meeting: _Meeting, group: Group) -> bool:
        """Wait until a meeting is over; return True if it took place."""
        end = time.monotonic() + self._limit
        while True:
            with self._mutex:
                if self._is_over(meeting, group):
                    return meeting.results is not None
                self._waiting.add(rank)
            if not self._locks[rank].acquire(timeout=max(0.0, end - time.monotonic())):
                return meeting.results is not None

    def _is_over(self, meeting: _Meeting, group: Group) -> bool:
        return (
            meeting.results is not None
            or self._failure is not None
            or any(rank in self._gone for rank in _missing(meeting, group))
        )

    def _reason(self, meeting: _Meeting, group: Group) -> str:
        if self._failure is not None:
            return self._failure
        missing = _missing(meeting, group)
        gone = [rank for rank in missing if rank in self._gone]
        if gone:
            return f"rank {_listed(gone)} has ended without it"
        return f"rank {_listed(missing)} did not come within {self._limit:g} seconds"


def _missing(meeting: _Meeting, group: Group) -> list[int]:
    """The ranks that have not come yet."""
    return [rank for rank in group if rank not in meeting.brought]


def _described(what: What) -> str:
    name, *of = what
    return f"{name} of {of[0]}{list(of[1])}" if of else name


def _listed(ranks: list[int]) -> str:
    return ", ".join(map(str, sorted(ranks)))


class ThreadRank(Communicator):
    """One of the threads."""

    def __init__(self, place: _MeetingPlace, rank: int) -> None:
        self.place = place
        self.rank = rank
        self.size = place.size

    def share(self, what: What, thing: Any, group: Group) -> list[Any]:
        """Return the things of all ranks of a group. Their owners keep them as they are until the
        group has met again.
        """
        return self.place.meet(self.rank, what, thing, group, lambda things: [things] * len(things))

    def _meet(self, what: str, x: Array, group: Group, finish: Finish) -> Any:
        return self.place.meet(self.rank, (what, x.dtype, x.shape), x, group, finish)

    def _together(
        self, what: str, x: Array, group: Group, compute: Callable[[list[Array]], Array]
    ) -> Array:
        """Return what each rank computes of the arrays of all: of small ones the last one to come
        does so for all.
        """
        if x.nbytes < LARGE:
            return self._meet(what, x, group, lambda xs: [compute(xs)] * len(xs)).copy()
        # All compute at the same time, and meet again before anyone goes on to use his array.
        result = compute(self._meet(what, x, group, lambda xs: [xs] * len(xs)))
        self._meet(f"end of {what}", x, group, lambda xs: xs)
        return result

    def all_reduce(self, x: Array, combiner: str, group: Group) -> Array:
        what = f"all_reduce ({combiner})"

        def compute(arrays: list[Array]) -> Array:
            return combined(arrays, combiner).astype(x.dtype, copy=False)

        return self._together(what, x, group, compute)

    def all_reduce_in_order(self, x: Array, combiner: str, group: Group) -> Array:
        return self.all_reduce(x, combiner, group)

    def reduce_scatter_in_order(self, x: Array, group: Group) -> Array:
        return self.reduce_scatter(x, group)

    def all_gather(self, x: Array, group: Group) -> Array:
        return self._together("all_gather", x, group, _stacked)

    def reduce_scatter(self, x: Array, group: Group) -> Array:
        if x.nbytes < LARGE:

            def finish(arrays: list[Array]) -> Sequence[Array]:
                return list(combined(arrays, "add").astype(x.dtype, copy=False))

            return np.array(self._meet("reduce_scatter", x, group, finish))
        # Each adds up its own part, and meets the others before anyone goes on to use his array.
        arrays = self._meet("reduce_scatter", x, group, lambda xs: [xs] * len(xs))
        place = group.index(self.rank)
        result = combined([array[place] for array in arrays], "add").astype(x.dtype, copy=False)
        self._meet("end of reduce_scatter", x, group, lambda xs: xs)
        return result

    def all_to_all(self, x: Array, group: Group) -> Array:
        def finish(arrays: list[Array]) -> list[Array]:
            return [np.stack([a[i] for a in arrays]) for i in range(len(arrays))]

        return self._meet("all_to_all", x, group, finish)

    def permute(self, x: Array, sources: Sequence[int], group: Group) -> Array:
        def finish(arrays: list[Array]) -> list[Array]:
            return [arrays[s].copy() if s >= 0 else np.zeros_like(x) for s in sources]

        return self._meet(f"permute {list(sources)}", x, group, finish)

    def exchange(self, message: bytes, group: Group | None = None) -> list[bytes]:
        return self.share(("exchange",), message, group or tuple(range(self.size)))

    def abort(self, reason: str) -> None:
        self.place.fail(self.rank, reason)


def _stacked(arrays: list[Array]) -> Array:
    return np.stack(arrays, out=empty((len(arrays), *arrays[0].shape), arrays[0].dtype))
