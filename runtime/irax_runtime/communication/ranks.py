"""Communicators whose ranks are some of another one's, in another order."""

from __future__ import annotations

from collections.abc import Sequence

from irax_runtime.communication.communicator import (
    Array,
    CommunicationError,
    Communicator,
    Group,
)


class Ranks(Communicator):
    """A communicator of the devices of a mesh, each of which belongs to another process.

    Args:
        base: the communicator of the processes.
        ranks: the process of each device.

    Raises:
        CommunicationError: a process has several of the devices.
    """

    def __init__(self, base: Communicator, ranks: Sequence[int]) -> None:
        self._base = base
        self._ranks = tuple(ranks)
        if several := sorted({rank for rank in self._ranks if self._ranks.count(rank) > 1}):
            raise CommunicationError(
                f"a mesh of the devices of several processes has {self._ranks.count(several[0])} "
                f"devices of process {several[0]}; expected one of each: start a process for each "
                "device (mpiexec -n N, without IRAX_CPU_DEVICES), or make a mesh of one device of "
                "each process"
            )
        self.rank = self._ranks.index(base.rank)
        self.size = len(self._ranks)

    def _group(self, group: Group) -> Group:
        return tuple(self._ranks[rank] for rank in group)

    def all_reduce(self, x: Array, combiner: str, group: Group) -> Array:
        return self._base.all_reduce(x, combiner, self._group(group))

    def all_gather(self, x: Array, group: Group) -> Array:
        return self._base.all_gather(x, self._group(group))

    def reduce_scatter(self, x: Array, group: Group) -> Array:
        return self._base.reduce_scatter(x, self._group(group))

    def all_to_all(self, x: Array, group: Group) -> Array:
        return self._base.all_to_all(x, self._group(group))

    def permute(self, x: Array, sources: Sequence[int], group: Group) -> Array:
        return self._base.permute(x, sources, self._group(group))

    def exchange(self, message: bytes, group: Group | None = None) -> list[bytes]:
        return self._base.exchange(message, self._group(group or tuple(range(self.size))))

    def abort(self, reason: str) -> None:
        self._base.abort(reason)
