"""Ranks that are threads of several processes: the devices of a mesh.

Ranks of one process meet as threads do, and ranks of which each process has one communicate as
processes do. Otherwise the ranks of each process meet first, and then one of them communicates for
all of these with the other processes.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from irax_runtime.communication.communicator import Array, Communicator, Group, combined
from irax_runtime.communication.current import communicating
from irax_runtime.communication.packing import pack, unpack
from irax_runtime.communication.threads import ThreadGroup, ThreadRank, What

T = TypeVar("T")

PATIENCE = 3.0
"""Seconds for which a rank that failed lets others of its process communicate."""


class ProcessRanks:
    """The ranks of this process, a thread for each device that it has of a mesh.

    Args:
        base: the communicator of the processes.
        owners: the process of each device of the mesh.
        like: other ranks of the same processes, whose threads these are.
    """

    def __init__(
        self, base: Communicator, owners: Sequence[int], like: ProcessRanks | None = None
    ) -> None:
        self.base = base
        self.owners = tuple(owners)
        self.own = tuple(rank for rank, owner in enumerate(owners) if owner == base.rank)
        """The ranks of this process."""
        self.are_several = max(Counter(owners).values()) > 1
        """True if some process has several ranks."""
        self._are_processes = self.owners == tuple(range(base.size))
        """True if the ranks are the processes: these communicate without a thread between."""
        self._running = like._running if like else threading.Lock()
        self._threads = like._threads if like else ThreadGroup(len(self.own), base.limit)
        self._divisions: dict[Group, _Division] = {}

    def for_program(self, digest: str, what: str) -> ProcessRanks:
        """Return the ranks for a program that all processes are about to run.

        Raises:
            CommunicationError: another process has another one; `what` names it.
        """
        processes = tuple(sorted(set(self.owners)))
        return ProcessRanks(self.base.for_program(digest, what, processes), self.owners, self)

    def run(self, function: Callable[[Communicator], T]) -> list[T]:
        """Call a function in each rank of this process, with the rank's communicator; return their
        results. All processes call this together.

        Raises:
            Exception: what the function raised in the rank that failed first.
        """
        if self._are_processes:
            with self._running:  # threads take turns
                self.base.begin_run()
                try:
                    return [_run(function, self.base)]
                except BaseException as error:
                    self._end_waiting(self.base, error)
                    raise
        self.base.begin_run()

        def run(thread: ThreadRank) -> T:
            rank = _Rank(self, thread)
            try:
                return _run(function, rank)
            except BaseException as error:
                thread.place.fail(rank.rank, str(error) or type(error).__name__, error)
                self._end_waiting(rank, error)
                raise

        return self._threads.run(run)

    def _end_waiting(self, rank: Communicator, error: BaseException) -> None:
        """Wait until no rank of this process communicates with other processes. Where these wait
        for the rank that failed, that is never: then end the job.
        """
        end = time.monotonic() + PATIENCE
        rank.begun.stop(error)
        while rank.begun.is_busy() or self.base.is_communicating():
            if time.monotonic() > end:
                traceback.print_exception(error)
                self.base.abort(f"device {rank.rank} of the mesh failed: {error}")
            time.sleep(0.01)

    def division(self, group: Group) -> _Division:
        """Return how a group is divided among the processes."""
        found = self._divisions.get(group)
        if found is None:
            found = self._divisions[group] = _Division(self, group)
        return found


def _run(function: Callable[[Communicator], T], rank: Communicator) -> T:
    """Call a function in a rank's thread, and wait for what it has begun."""
    with communicating(rank):
        result = function(rank)
        rank.begun.settle()
        return result


class _Division:
    """The ranks of a group by their processes."""

    def __init__(self, ranks: ProcessRanks, group: Group) -> None:
        members: dict[int, list[int]] = {}
        for place, rank in enumerate(group):
            members.setdefault(ranks.owners[rank], []).append(place)
        self.processes = tuple(members)
        """The processes, in the order of the group."""
        self.places = list(members.values())
        """For each process the places in the group that its ranks have."""
        self.width = max(map(len, self.places))
        """The most ranks of the group that a process has."""
        self.number = self.processes.index(ranks.base.rank)
        """The number of this process among those of the group."""
        self.threads = tuple(ranks.own.index(group[p]) for p in self.places[self.number])
        """This process's ranks of the group, by their threads."""
        self._ranks, self._group = ranks, group

    @cached_property
    def outside(self) -> Communicator:
        """The communicator of the processes. Where several threads of a process may communicate at
        a time, each group has its own.
        """
        base = self._ranks.base
        return base.alongside(repr(self._group)) if self._ranks.are_several else base

    @cached_property
    def table(self) -> Array:
        """For each process and each of its ranks, the place in the group; 0 beyond them."""
        return np.array([places + [0] * (self.width - len(places)) for places in self.places])

    @cached_property
    def owners(self) -> list[tuple[int, int]]:
        """For each place in the group, the number of its process, and its own among that's."""
        found = {
            place: (number, index)
            for number, places in enumerate(self.places)
            for index, place in enumerate(places)
        }
        return [found[place] for place in range(len(found))]

    def stacked(self, arrays: list[Array]) -> Array:
        """Return this process's arrays in one, with as many rows in all processes."""
        found = np.zeros((self.width, *arrays[0].shape), arrays[0].dtype)
        found[: len(arrays)] = arrays
        return found

    def in_order(self, by_process: Array) -> Array:
        """Return what the ranks have in the order of the group, from rows of each process."""
        numbers, indices = zip(*self.owners, strict=True)
        return by_process[list(numbers), list(indices)]

    def rounds(self, sources: Sequence[int]) -> list[dict[int, int]]:
        """Return the arrays that go from process to process, as their places by their targets'. In
        a round a process sends one array, and gets one.
        """
        rounds: list[dict[int, int]] = []
        for target, source in enumerate(sources):
            if source < 0 or self.owners[target][0] == self.owners[source][0]:
                continue
            fitting = [r for r in rounds if self._fits(r, target, source)]
            if fitting:
                fitting[0][target] = source
            else:
                rounds.append({target: source})
        return rounds

    def _fits(self, taken: dict[int, int], target: int, source: int) -> bool:
        owner = self.owners
        return all(
            owner[t][0] != owner[target][0] and (s == source or owner[s][0] != owner[source][0])
            for t, s in taken.items()
        )


Finish = Callable[[_Division, list[Any]], list[Any]]
"""Computes the results of this process's ranks from what they brought, with other processes."""


class _Rank(Communicator):
    """A thread of a process: one device of the mesh."""

    def __init__(self, ranks: ProcessRanks, thread: ThreadRank) -> None:
        self._ranks = ranks
        self._thread = thread
        self.rank = ranks.own[thread.rank]
        self.size = len(ranks.owners)
        self.overlaps = ranks.base.overlaps

    def _simple(self, group: Group) -> tuple[Communicator, Group] | None:
        """The communicator, and the ranks there, of a group that one process has, or of which each
        process has one rank; None for another.
        """
        division = self._ranks.division(group)
        if len(division.processes) == 1:
            return self._thread, division.threads
        if division.width == 1:
            return division.outside, division.processes
        return None

    def _together(self, what: What, thing: Any, group: Group, finish: Finish) -> Any:
        """Have one rank of this process compute the results of all; return this rank's."""
        division = self._ranks.division(group)
        thread, threads = self._thread, division.threads
        things = thread.share(what, thing, threads)
        results = finish(division, things) if thread.rank == threads[0] else None
        found = thread.share((f"end of {what[0]}", *what[1:]), results, threads)[0]
        return found[threads.index(thread.rank)]

    def all_reduce(self, x: Array, combiner: str, group: Group) -> Array:
        if simple := self._simple(group):
            return simple[0].all_reduce(x, combiner, simple[1])

        def finish(division: _Division, arrays: list[Array]) -> list[Array]:
            own = combined(arrays, combiner)
            total = division.outside.all_reduce(own, combiner, division.processes)
            return _rounded([total] * len(arrays), x.dtype)

        return self._together((f"all_reduce ({combiner})", x.dtype, x.shape), x, group, finish)

    def all_reduce_in_order(self, x: Array, combiner: str, group: Group) -> Array:
        if simple := self._simple(group):
            return simple[0].all_reduce_in_order(x, combiner, simple[1])
        return super().all_reduce_in_order(x, combiner, group)

    def reduce_scatter_in_order(self, x: Array, group: Group) -> Array:
        if simple := self._simple(group):
            return simple[0].reduce_scatter_in_order(x, simple[1])
        return super().reduce_scatter_in_order(x, group)

    def all_gather(self, x: Array, group: Group) -> Array:
        if simple := self._simple(group):
            return simple[0].all_gather(x, simple[1])

        def finish(division: _Division, arrays: list[Array]) -> list[Array]:
            found = division.outside.all_gather(division.stacked(arrays), division.processes)
            return [division.in_order(found) for _ in arrays]

        return self._together(("all_gather", x.dtype, x.shape), x, group, finish)

    def reduce_scatter(self, x: Array, group: Group) -> Array:
        if simple := self._simple(group):
            return simple[0].reduce_scatter(x, simple[1])

        def finish(division: _Division, arrays: list[Array]) -> list[Array]:
            by_process = combined(arrays, "add")[division.table]
            found = division.outside.reduce_scatter(by_process, division.processes)
            return _rounded(list(found[: len(arrays)]), x.dtype)

        return self._together(("reduce_scatter", x.dtype, x.shape), x, group, finish)

    def all_to_all(self, x: Array, group: Group) -> Array:
        if simple := self._simple(group):
            return simple[0].all_to_all(x, simple[1])

        def finish(division: _Division, arrays: list[Array]) -> list[Array]:
            by_process = np.moveaxis(division.stacked(arrays)[:, division.table], 1, 0)
            found = division.outside.all_to_all(by_process, division.processes)
            whole = division.in_order(found)
            return [np.ascontiguousarray(whole[:, i]) for i in range(len(arrays))]

        return self._together(("all_to_all", x.dtype, x.shape), x, group, finish)

    def permute(self, x: Array, sources: Sequence[int], group: Group) -> Array:
        if simple := self._simple(group):
            return simple[0].permute(x, sources, simple[1])

        def finish(division: _Division, arrays: list[Array]) -> list[Array]:
            return _permuted(division, arrays, sources)

        return self._together((f"permute {list(sources)}", x.dtype, x.shape), x, group, finish)

    def exchange(self, message: bytes, group: Group | None = None) -> list[bytes]:
        group = group or tuple(range(self.size))
        if simple := self._simple(group):
            return simple[0].exchange(message, simple[1])

        def finish(division: _Division, messages: list[bytes]) -> list[list[bytes]]:
            found = division.outside.exchange(pack(messages), division.processes)
            by_process = [unpack(own) for own in found]
            return [[by_process[number][i] for number, i in division.owners]] * len(messages)

        return self._together(("exchange",), message, group, finish)

    def abort(self, reason: str) -> None:
        self._ranks.base.abort(reason)


def _rounded(arrays: list[Array], dtype: np.dtype[Any]) -> list[Array]:
    """Copies of arrays in a dtype."""
    return [x.astype(dtype) for x in arrays]


def _permuted(division: _Division, arrays: list[Array], sources: Sequence[int]) -> list[Array]:
    """The arrays of other ranks for those of this process."""
    own, owners = division.number, division.owners
    results = [np.zeros_like(x) for x in arrays]
    for place, index in ((p, i) for p, (number, i) in enumerate(owners) if number == own):
        source = sources[place]
        if source >= 0 and owners[source][0] == own:
            results[index] = arrays[owners[source][1]].copy()
    for sent in division.rounds(sources):
        by_process = [-1] * len(division.processes)
        for target, source in sent.items():
            by_process[owners[target][0]] = owners[source][0]
        outgoing = [s for s in sent.values() if owners[s][0] == own]
        given = arrays[owners[outgoing[0]][1]] if outgoing else arrays[0]
        received = division.outside.permute(given, by_process, division.processes)
        for target in (t for t in sent if owners[t][0] == own):
            results[owners[target][1]] = received
    return results
