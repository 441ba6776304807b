"""Collectives by messages from rank to rank.

Threads of a process that communicate at the same time have a channel each. MPI's own collectives
would need a communicator of MPI's for each group of threads, and Open MPI waits for ever where
several threads make one at a time.

Sums have the order of the ranks, whatever their number and the size of the array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from irax_runtime import memory
from irax_runtime.communication.communicator import Array, Communicator, Group, combined
from irax_runtime.communication.watchdog import Watched

Watching = Callable[[str, Array | None], Watched]
Message = tuple[int, Array]
"""A rank, and the bytes that it gets or sends."""

_EXCHANGE = "exchange"
_SMALL = 64 << 10
"""Bytes below which each rank combines the arrays of all."""


class Channel(Protocol):
    """Messages between the ranks that ask for them by the same name."""

    def swap(self, call: Watched, sent: Sequence[Message], received: Sequence[Message]) -> None:
        """Send messages, and wait for others. Those between two ranks keep their order."""


class MessageCommunicator(Communicator):
    """The collectives of a process, or of one of several threads of it.

    Args:
        rank: the number of this process.
        size: the number of processes.
        limit: the seconds that it waits for others.
        channel: what carries its messages.
        watching: makes the `with` block in which the watchdog watches a collective.
        end: ends the job, for a reason.
    """

    def __init__(
        self,
        rank: int,
        size: int,
        limit: float,
        channel: Channel,
        watching: Watching,
        end: Callable[[str], None],
    ) -> None:
        self.rank, self.size, self.limit = rank, size, limit
        self._channel, self._watching, self._end = channel, watching, end

    def _swap(
        self, what: str, x: Array, rows: Sequence[Array], results: Array, group: Group
    ) -> None:
        """Send a row of bytes to each rank of a group, and write what they send to `results`."""
        place = group.index(self.rank)
        received = results.view(np.uint8)
        received[place] = rows[place]
        others = [(i, rank) for i, rank in enumerate(group) if i != place]
        with self._watching(what, None if what == _EXCHANGE else x) as call:
            self._channel.swap(
                call,
                [(rank, rows[i]) for i, rank in others],
                [(rank, received[i]) for i, rank in others],
            )

    def all_reduce(self, x: Array, combiner: str, group: Group) -> Array:
        count = len(group)
        what = f"all_reduce ({combiner})"
        if x.nbytes < _SMALL or count == 1:
            arrays = self._gathered(what, x, group)
            return combined(list(arrays), combiner).astype(x.dtype, copy=False)
        flat = np.ascontiguousarray(x).reshape(-1)
        missing = -flat.size % count
        padded = np.concatenate([flat, flat[:missing]]) if missing else flat
        parts = self._exchanged(what, padded.reshape(count, -1), group)
        own = combined(list(parts), combiner).astype(x.dtype, copy=False)
        whole = self._gathered(what, own, group)
        return whole.reshape(-1)[: flat.size].reshape(x.shape)

    def all_reduce_in_order(self, x: Array, combiner: str, group: Group) -> Array:
        return self.all_reduce(x, combiner, group)

    def reduce_scatter_in_order(self, x: Array, group: Group) -> Array:
        return self.reduce_scatter(x, group)

    def all_gather(self, x: Array, group: Group) -> Array:
        return self._gathered("all_gather", x, group)

    def _gathered(self, what: str, x: Array, group: Group) -> Array:
        row = np.ascontiguousarray(x).reshape(-1)
        results = memory.aligned_empty((len(group), row.size), x.dtype)
        self._swap(what, x, [row.view(np.uint8)] * len(group), results, group)
        return results.reshape(len(group), *x.shape)

    def reduce_scatter(self, x: Array, group: Group) -> Array:
        parts = self._exchanged("reduce_scatter", x, group)
        return combined(list(parts), "add").astype(x.dtype, copy=False)

    def all_to_all(self, x: Array, group: Group) -> Array:
        return self._exchanged("all_to_all", x, group)

    def _exchanged(self, what: str, x: Array, group: Group) -> Array:
        rows = np.ascontiguousarray(x).reshape(len(group), x.size // len(group))
        results = memory.aligned_empty(rows.shape, x.dtype)
        self._swap(what, x, list(rows.view(np.uint8)), results, group)
        return results.reshape(x.shape)

    def permute(self, x: Array, sources: Sequence[int], group: Group) -> Array:
        place = group.index(self.rank)
        source = sources[place]
        result = np.zeros(x.shape, x.dtype)
        message = np.ascontiguousarray(x).reshape(-1).view(np.uint8)
        arrival = result.reshape(-1).view(np.uint8)
        targets = [group[i] for i, s in enumerate(sources) if s == place and i != place]
        if source == place:
            arrival[:] = message
        with self._watching(f"permute {list(sources)}", x) as call:
            self._channel.swap(
                call,
                [(target, message) for target in targets],
                [(group[source], arrival)] if source not in (-1, place) else [],
            )
        return result

    def exchange(self, message: bytes, group: Group | None = None) -> list[bytes]:
        group = group or tuple(range(self.size))
        lengths = self._gathered(_EXCHANGE, np.array(len(message), np.int64), group)
        padded = np.frombuffer(message.ljust(int(lengths.max()), b"\0"), np.uint8)
        pairs = zip(self._gathered(_EXCHANGE, padded, group), lengths, strict=True)
        return [row[:length].tobytes() for row, length in pairs]

    def abort(self, reason: str) -> None:
        self._end(reason)
