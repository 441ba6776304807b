"""The interface of communicators: collectives on NumPy arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from math import prod
from typing import Any

import numpy as np

from irax_runtime import memory
from irax_runtime.communication.workers import Begun

Array = np.ndarray[Any, Any]
Group = tuple[int, ...]
"""The ranks that take part in a collective. Their order is that of the parts of arrays."""

DEFAULT_LIMIT = 300.0
"""Seconds that a rank waits for the others before the program ends with an error."""

_SMALL = 64 << 10
"""Bytes below which each rank combines the arrays of all, where their order matters."""

LARGE = 256 << 10
"""Bytes from which on arrays are in memory that devices take as it is."""

COMBINERS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
"""NumPy's functions of the combiners of `all_reduce`."""


@cache
def wide_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which arrays are combined: narrow floats are rounded once."""
    is_narrow = dtype.itemsize < 4 and dtype.kind not in "biu"
    return np.dtype(np.float32) if is_narrow else dtype


def combined(arrays: list[Array], combiner: str) -> Array:
    """Return the sum, maximum or minimum of arrays as a new one. That of narrow floats is not yet
    rounded.
    """
    wide = wide_dtype(arrays[0].dtype)
    arrays = [x.astype(wide, copy=False) for x in arrays]
    combine = COMBINERS[combiner]
    total = empty(arrays[0].shape, wide)
    if len(arrays) == 1:
        np.copyto(total, arrays[0])
        return total
    combine(arrays[0], arrays[1], out=total)
    for array in arrays[2:]:
        combine(total, array, out=total)
    return total


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return an array for a result: a large one is in memory that devices take as it is."""
    large = prod(shape) * dtype.itemsize >= LARGE
    return memory.aligned_empty(shape, dtype) if large else np.empty(shape, dtype)


class CommunicationError(RuntimeError):
    """A collective did not take place: a rank failed, is missing, or called another one."""


class Communicator(ABC):
    """The connection of one rank to the others.

    All ranks of a group call the same collectives with the same group, in the same order. Arguments
    are not written to, and results are new arrays. Arrays have the same shape and dtype in all
    ranks.
    """

    rank: int
    """The number of this rank, from 0."""
    size: int
    """The number of ranks."""
    limit: float = DEFAULT_LIMIT
    """Seconds that a rank waits for the others."""
    overlaps: bool = False
    """True if another thread than the rank's may communicate for it, while it computes."""

    @cached_property
    def begun(self) -> Begun:
        """The collectives that have begun in this run."""
        return Begun(self.overlaps)

    @abstractmethod
    def all_reduce(self, x: Array, combiner: str, group: Group) -> Array:
        """Return the sum, maximum or minimum over the group; `combiner` is a key of `COMBINERS`."""

    @abstractmethod
    def all_gather(self, x: Array, group: Group) -> Array:
        """Return the arrays of all ranks of the group, stacked along a new first dimension."""

    @abstractmethod
    def reduce_scatter(self, x: Array, group: Group) -> Array:
        """Return part i, along the first dimension, of the sum over the group; i is this rank's
        place in the group.
        """

    def all_reduce_in_order(self, x: Array, combiner: str, group: Group) -> Array:
        """Return what `all_reduce` does, with the arrays combined in the order of the group: the
        same bits whichever processes the ranks are of.
        """
        count = len(group)
        if x.nbytes < _SMALL or count < 3:
            arrays = self.all_gather(x, group)
            return combined(list(arrays), combiner).astype(x.dtype, copy=False)
        flat = np.ascontiguousarray(x).reshape(-1)
        padded = np.concatenate([flat, flat[: -flat.size % count]])
        parts = self.all_to_all(padded.reshape(count, -1), group)
        own = combined(list(parts), combiner).astype(x.dtype, copy=False)
        return self.all_gather(own, group).reshape(-1)[: flat.size].reshape(x.shape)

    def reduce_scatter_in_order(self, x: Array, group: Group) -> Array:
        """Return what `reduce_scatter` does, with the arrays added in the order of the group."""
        parts = self.all_to_all(np.ascontiguousarray(x), group)
        return combined(list(parts), "add").astype(x.dtype, copy=False)

    @abstractmethod
    def all_to_all(self, x: Array, group: Group) -> Array:
        """Return the parts, along the first dimension, that the ranks of the group have for this
        one: part i of rank j becomes part j of rank i.
        """

    @abstractmethod
    def permute(self, x: Array, sources: Sequence[int], group: Group) -> Array:
        """Return the array of another rank of the group; zeros if there is none for this rank.
        `sources` has, for each place in the group, the place that it gets its array from, or -1.
        """

    @abstractmethod
    def exchange(self, message: bytes, group: Group | None = None) -> list[bytes]:
        """Return the messages of all ranks, or those of a group; they may differ in length."""

    @abstractmethod
    def abort(self, reason: str) -> None:
        """End the program in all ranks: those that wait for this one do not wait any more."""

    def alongside(self, name: str) -> Communicator:
        """Return a communicator of the same ranks for collectives that take place at the same time
        as this one's, in other threads. The ranks ask for it by the same name.
        """
        return self

    def watch(self, what: str, is_done: Callable[[], bool]) -> None:  # noqa: B027 (may do nothing)
        """End the job if something that waits for other ranks, other than a collective of this
        communicator, is not done within the limit.
        """

    def note_step(self, step: int) -> None:  # noqa: B027 (may do nothing)
        """Note the number of the program's step, for messages."""

    def note_saved(self, what: str) -> None:  # noqa: B027 (may do nothing)
        """Note what the program has saved, for the message of a job that ends."""

    def is_communicating(self) -> bool:
        """Return True if a thread of this process waits for others in a collective."""
        return False

    def begin_run(self) -> None:
        """Note that a run of this communicator's program begins."""
        self.begun = self.begun.next_run()

    def for_program(self, digest: str, what: str, group: Group) -> Communicator:
        """Return the communicator for a program that the ranks of a group are about to run, which
        all of them call this with. Its collectives do not meet those of other programs.

        Raises:
            CommunicationError: as `check_same`.
        """
        self.check_same(digest, what, group)
        return self

    def barrier(self) -> None:
        """Wait until all ranks have called this."""
        self.exchange(b"")

    def check_same(self, digest: str, what: str, group: Group | None = None) -> None:
        """Compare a digest of what is about to run with those of the other ranks, or of those of a
        group.

        Raises:
            CommunicationError: another rank has another digest; `what` names the program.
        """
        group = group or tuple(range(self.size))
        digests = self.exchange(digest.encode(), group)
        pairs = zip(group, digests, strict=True)
        others = [rank for rank, other in pairs if other != digest.encode()]
        if others:
            raise CommunicationError(
                f"{what}: rank {self.rank} runs another program than rank "
                f"{', '.join(map(str, others))}; all ranks must run the same functions, on "
                "arguments of the same shapes, in the same order"
            )


def check_same_calls(
    what: str, group: Group, place: int, calls: Sequence[Sequence[int]], programs: Mapping[int, str]
) -> None:
    """Compare what the ranks of a group call.

    Args:
        what: the collective that this rank calls.
        group: the ranks.
        place: the place of this rank among them.
        calls: for each rank numbers of what it calls, the first of which is that of the program.
        programs: the names of programs by their numbers.

    Raises:
        CommunicationError: another rank calls another collective, or that of another program.
    """
    others = [i for i, call in enumerate(calls) if call != calls[place]]
    if not others:
        return
    mine, theirs = (_in(programs[calls[i][0]]) for i in (place, others[0]))
    ranks = ", ".join(str(group[i]) for i in others)
    raise CommunicationError(
        f"rank {group[place]}{mine} calls another {what} than rank {ranks}{theirs}: all ranks must "
        "call the same collectives in the same order"
    )


def _in(program: str) -> str:
    return f" in {program}" if program else ""


class Alone(Communicator):
    """The communicator of a program with one rank."""

    rank, size = 0, 1

    def all_reduce(self, x: Array, combiner: str, group: Group) -> Array:
        return x.copy()

    def all_gather(self, x: Array, group: Group) -> Array:
        return x[np.newaxis].copy()

    def reduce_scatter(self, x: Array, group: Group) -> Array:
        return x[0].copy()

    def all_to_all(self, x: Array, group: Group) -> Array:
        return x.copy()

    def permute(self, x: Array, sources: Sequence[int], group: Group) -> Array:
        return x.copy() if sources[0] == 0 else np.zeros_like(x)

    def exchange(self, message: bytes, group: Group | None = None) -> list[bytes]:
        return [message]

    def abort(self, reason: str) -> None:
        pass
