"""Ranks that are threads of one process.

The ranks of a group meet: each brings its array and waits, and the last one computes the results of
all. An array is read only while its owner waits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from irax_runtime import memory
from irax_runtime.communication.communicator import (
    COMBINERS,
    DEFAULT_LIMIT,
    Array,
    CommunicationError,
    Communicator,
    Group,
)
from irax_runtime.communication.current import communicating

_LARGE = 256 << 10
"""Bytes from which on each rank combines the arrays of all by itself."""

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
        self._pool = ThreadPoolExecutor(size - 1, "irax rank") if size > 1 else None
        self._running = threading.Lock()

    def run(self, function: Callable[[Communicator], T]) -> list[T]:
        """Call a function in each rank, with the rank's communicator; return all results.

        The calling thread is rank 0. Runs of several threads take turns: their collectives would
        get in each other's way.

        Raises:
            Exception: what the function raised in the rank that failed first.
        """
        with self._running:
            place = _MeetingPlace(self.size, self._limit)
            ranks = [_Rank(place, rank) for rank in range(self.size)]
            others = [self._pool.submit(_run, function, rank) for rank in ranks[1:] if self._pool]
            try:
                first = _run(function, ranks[0])
                return [first, *(future.result() for future in others)]
            except BaseException:
                place.fail(0, "the run was ended")
                for future in others:
                    future.exception()
                raise place.cause or CommunicationError("the run was ended") from None


def _run(function: Callable[[Communicator], T], rank: _Rank) -> T:
    try:
        with communicating(rank):
            return function(rank)
    except BaseException as error:
        rank.place.fail(rank.rank, str(error) or type(error).__name__, error)
        raise
    finally:
        rank.place.leave(rank.rank)


@dataclass
class _Meeting:
    """One collective of a group: what its ranks brought so far."""

    what: str
    brought: dict[int, Any] = field(default_factory=dict)
    results: dict[int, Any] | None = None


class _MeetingPlace:
    """The meetings of the ranks of one run."""

    def __init__(self, size: int, limit: float) -> None:
        self.size = size
        self.cause: BaseException | None = None
        """The exception of the rank that failed first."""
        self._limit = limit
        self._changed = threading.Condition()
        self._meetings: dict[Group, _Meeting] = {}
        self._gone: set[int] = set()
        self._failure: str | None = None

    def fail(self, rank: int, reason: str, error: BaseException | None = None) -> None:
        """End all meetings: the ranks that wait raise an exception that names the rank."""
        with self._changed:
            if self._failure is None:
                self._failure, self.cause = f"rank {rank} failed: {reason}", error
            self._changed.notify_all()

    def leave(self, rank: int) -> None:
        """Note that a rank has ended: nobody is to wait for it."""
        with self._changed:
            self._gone.add(rank)
            self._changed.notify_all()

    def meet(self, rank: int, what: str, thing: Any, group: Group, finish: Finish) -> Any:
        """Bring a thing to the meeting of a group; return this rank's result."""
        with self._changed:
            meeting = self._meetings.setdefault(group, _Meeting(what))
            if meeting.what != what:
                other = next(iter(meeting.brought))
                raise CommunicationError(
                    f"rank {rank} calls {what}, but rank {other} calls {meeting.what}: all ranks "
                    "must call the same collectives in the same order"
                )
            meeting.brought[rank] = thing
            if len(meeting.brought) == len(group):
                del self._meetings[group]
                results = finish([meeting.brought[r] for r in group])
                meeting.results = dict(zip(group, results, strict=True))
                self._changed.notify_all()
                return meeting.results[rank]
            self._changed.wait_for(lambda: self._is_over(meeting, group), self._limit)
            if meeting.results is not None:
                return meeting.results[rank]
            raise CommunicationError(f"rank {rank} in {what}: {self._reason(meeting, group)}")

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


def _listed(ranks: list[int]) -> str:
    return ", ".join(map(str, sorted(ranks)))


class _Rank(Communicator):
    """One of the threads."""

    def __init__(self, place: _MeetingPlace, rank: int) -> None:
        self.place = place
        self.rank = rank
        self.size = place.size

    def _meet(self, what: str, x: Array, group: Group, finish: Finish) -> Any:
        described = f"{what} of {x.dtype}{list(x.shape)}"
        return self.place.meet(self.rank, described, x, group, finish)

    def all_reduce(self, x: Array, combiner: str, group: Group) -> Array:
        what = f"all_reduce ({combiner})"
        if x.nbytes < _LARGE:

            def finish(arrays: list[Array]) -> list[Array]:
                return [_combined(arrays, combiner)] * len(arrays)

            return self._meet(what, x, group, finish).copy()
        # All combine all arrays at the same time, and meet again before anyone goes on to use his.
        arrays = self._meet(what, x, group, lambda brought: [brought] * len(brought))
        total = _combined(arrays, combiner)
        self._meet(f"end of {what}", x, group, lambda brought: brought)
        return total

    def all_gather(self, x: Array, group: Group) -> Array:
        def finish(arrays: list[Array]) -> list[Array]:
            return [np.stack(arrays)] * len(arrays)

        return self._meet("all_gather", x, group, finish).copy()

    def reduce_scatter(self, x: Array, group: Group) -> Array:
        def finish(arrays: list[Array]) -> Sequence[Array]:
            return list(_combined(arrays, "add"))

        return np.array(self._meet("reduce_scatter", x, group, finish))

    def all_to_all(self, x: Array, group: Group) -> Array:
        def finish(arrays: list[Array]) -> list[Array]:
            return [np.stack([a[i] for a in arrays]) for i in range(len(arrays))]

        return self._meet("all_to_all", x, group, finish)

    def permute(self, x: Array, sources: Sequence[int], group: Group) -> Array:
        def finish(arrays: list[Array]) -> list[Array]:
            return [arrays[s].copy() if s >= 0 else np.zeros_like(x) for s in sources]

        return self._meet(f"permute {list(sources)}", x, group, finish)

    def exchange(self, message: bytes, group: Group | None = None) -> list[bytes]:
        def finish(messages: list[bytes]) -> list[list[bytes]]:
            return [messages] * len(messages)

        everyone = tuple(range(self.size))
        return self.place.meet(self.rank, "exchange", message, group or everyone, finish)

    def abort(self, reason: str) -> None:
        self.place.fail(self.rank, reason)


def _combined(arrays: list[Array], combiner: str) -> Array:
    """The sum, maximum or minimum of arrays, which is rounded once for narrow floats."""
    dtype = arrays[0].dtype
    if len(arrays) == 1:
        return arrays[0].copy()
    if dtype.itemsize < 4 and dtype.kind not in "biu":
        arrays = [a.astype(np.float32) for a in arrays]
    combine = COMBINERS[combiner]
    total = memory.aligned_empty(arrays[0].shape, arrays[0].dtype)
    combine(arrays[0], arrays[1], out=total)
    for array in arrays[2:]:
        combine(total, array, out=total)
    return total.astype(dtype, copy=False)
