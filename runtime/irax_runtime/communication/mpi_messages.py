"""Collectives of MPI processes by messages, for threads that communicate at the same time.

Collectives of MPI's own would need a communicator of MPI's for each group of threads, and Open MPI
waits for ever where several threads make one at a time. Messages of a group have a tag.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax_runtime.communication.communicator import Array, Communicator, Group
from irax_runtime.communication.threads import combined
from irax_runtime.communication.watchdog import Watched

Watching = Callable[[str, Array], Watched]
_SMALL = 64 << 10
"""Bytes below which each rank combines the arrays of all."""


class MessageCommunicator(Communicator):
    """The collectives of one of several threads of a process.

    Args:
        process: the communicator of this process.
        mpi: mpi4py's module.
        world: MPI's communicator of all processes.
        watching: makes the `with` block in which the watchdog watches a collective.
        name: the name of the group of threads.
    """

    def __init__(
        self, process: Communicator, mpi: Any, world: Any, watching: Watching, name: str
    ) -> None:
        self.rank, self.size, self.limit = process.rank, process.size, process.limit
        self._process, self._mpi, self._world, self._watching = process, mpi, world, watching
        self._tag = zlib.crc32(name.encode()) % mpi.COMM_WORLD.Get_attr(mpi.TAG_UB)

    def _swap(self, what: str, rows: Array, group: Group) -> Array:
        """Send a row of elements to each rank of a group; return those that they send."""
        place = group.index(self.rank)
        received = np.empty_like(rows)
        received[place] = rows[place]
        others = [i for i in range(len(group)) if i != place]
        with self._watching(what, rows):
            requests = [
                self._world.Irecv(received[i].view(np.uint8), group[i], self._tag) for i in others
            ]
            requests += [
                self._world.Isend(rows[i].view(np.uint8), group[i], self._tag) for i in others
            ]
            self._mpi.Request.Waitall(requests)
        return received

    def all_reduce(self, x: Array, combiner: str, group: Group) -> Array:
        count = len(group)
        if x.nbytes < _SMALL or count == 1:
            arrays = self._gathered("all_reduce", x, group)
            return combined(list(arrays), combiner).astype(x.dtype, copy=False)
        flat = np.ascontiguousarray(x).reshape(-1)
        padded = np.resize(flat, (count, -(-flat.size // count)))
        parts = self._exchanged("all_reduce", padded, group)
        own = combined(list(parts), combiner).astype(x.dtype, copy=False)
        whole = self._gathered("all_reduce", own, group)
        return whole.reshape(-1)[: flat.size].reshape(x.shape)

    def all_gather(self, x: Array, group: Group) -> Array:
        return self._gathered("all_gather", x, group)

    def _gathered(self, what: str, x: Array, group: Group) -> Array:
        row = np.ascontiguousarray(x).reshape(-1)
        rows = np.repeat(row[np.newaxis], len(group), axis=0)
        return self._swap(what, rows, group).reshape(len(group), *x.shape)

    def reduce_scatter(self, x: Array, group: Group) -> Array:
        parts = self._exchanged("reduce_scatter", x, group)
        return combined(list(parts), "add").astype(x.dtype, copy=False)

    def all_to_all(self, x: Array, group: Group) -> Array:
        return self._exchanged("all_to_all", x, group)

    def _exchanged(self, what: str, x: Array, group: Group) -> Array:
        rows = np.ascontiguousarray(x).reshape(len(group), x.size // len(group))
        return self._swap(what, rows, group).reshape(x.shape)

    def permute(self, x: Array, sources: Sequence[int], group: Group) -> Array:
        place = group.index(self.rank)
        received = np.zeros(x.shape, x.dtype)
        message = np.ascontiguousarray(x).reshape(-1).view(np.uint8)
        with self._watching("permute", x):
            requests = [
                self._world.Isend(message, group[target], self._tag)
                for target, source in enumerate(sources)
                if source == place
            ]
            if sources[place] >= 0:
                arrival = received.reshape(-1).view(np.uint8)
                requests.append(self._world.Irecv(arrival, group[sources[place]], self._tag))
            self._mpi.Request.Waitall(requests)
        return received

    def exchange(self, message: bytes, group: Group | None = None) -> list[bytes]:
        group = group or tuple(range(self.size))
        lengths = self._gathered("exchange", np.array(len(message), np.int64), group)
        padded = np.frombuffer(message.ljust(int(lengths.max()), b"\0"), np.uint8)
        pairs = zip(self._gathered("exchange", padded, group), lengths, strict=True)
        return [row[:length].tobytes() for row, length in pairs]

    def abort(self, reason: str) -> None:
        self._process.abort(reason)
