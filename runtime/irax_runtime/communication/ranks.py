"""Communicators whose ranks are some of another one's, in another order."""

from __future__ import annotations

from collections.abc import Sequence

from irax_runtime.communication.communicator import Array, Communicator, Group


class Ranks(Communicator):
    """A communicator of the devices of a mesh, each of which belongs to another process.

    Args:
        base: the communicator of the processes.
        ranks: the process of each device.
    """

    def __init__(self, base: Communicator, ranks: Sequence[int]) -> None:
        self._base = base
        self._ranks = tuple(ranks)
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
