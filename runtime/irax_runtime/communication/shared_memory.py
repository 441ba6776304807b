"""Sums of large arrays by processes of one machine, in memory that they share.

Each process writes its array where the others read it, combines one part of the arrays of all, and
reads the other parts of the result. Of two processes, each combines all of both arrays, block by
block, which the caches hold. MPI's own collectives copy from the memory of other processes through
the kernel, which takes a fifth longer.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import zlib
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from irax_runtime.communication.communicator import Array, Group, check_same_calls

_WORTH_SHARING, _WORTH_SHARING_BY_TWO = 512 << 10, 64 << 10
"""Bytes from which on arrays are combined faster in shared memory: by several, by two."""

_MOST, _MOST_OF_TWO = 60 << 20, 8 << 20
"""Bytes that a group shares at most: containers often have 64 MiB of such memory."""

_BLOCK, _BLOCKS = 256 << 10, 8
"""The least bytes of a block, and the most blocks of an array that has such: where other programs
have the processors, processes wait long for each other."""

_HEADS = 4 << 10
"""Bytes that tell what each process calls."""

_FOLDER = Path("/dev/shm")
"""The folder of files that are memory."""


def is_worth_sharing(size: int, count: int) -> bool:
    """Return True if so many processes combine arrays of so many bytes faster in shared memory."""
    return size >= (_WORTH_SHARING_BY_TWO if count == 2 else _WORTH_SHARING)


def shared_memory(
    connection: Any, mpi: Any, group: Group, programs: Mapping[int, str]
) -> SharedMemory | None:
    """Return memory that the processes of a group share, who call this together; None where they
    are on several machines, or where there is not enough of it, or one rank alone.

    Args:
        connection: a communicator of MPI's of the group, for this memory alone.
        mpi: mpi4py's module.
        group: the numbers of the ranks.
        programs: the names of programs by their numbers.
    """
    if len(group) == 1:
        return None
    here = connection.Split_type(mpi.COMM_TYPE_SHARED)
    is_one_machine = connection.allreduce(here.Get_size() == connection.Get_size(), mpi.LAND)
    here.Free()
    if not (is_one_machine and _FOLDER.is_dir()) or 32 * len(group) > _HEADS:
        return None
    count = _chunks(group)
    chunk = 1 << ((_MOST_OF_TWO if len(group) == 2 else _MOST) // count).bit_length() - 1
    size = count * chunk + _HEADS
    name = connection.bcast(_created(size) if connection.Get_rank() == 0 else None)
    shared = _opened(name, size)
    is_open = connection.allreduce(shared is not None, mpi.LAND)
    if connection.Get_rank() == 0 and name is not None:
        os.unlink(name)
    if not is_open or shared is None:
        return None
    return SharedMemory(connection, shared, group, programs)


def _chunks(group: Group) -> int:
    """The number of chunks that a group shares: two have two each, which they use by turns."""
    return 4 if len(group) == 2 else len(group) + 1


def _created(size: int) -> str | None:
    """Make a file for so many bytes; return its name, or None where there is no room for them."""
    try:
        handle, name = tempfile.mkstemp(prefix="irax-", dir=_FOLDER)
    except OSError:
        return None
    try:
        os.posix_fallocate(handle, 0, size)
    except OSError:
        os.unlink(name)
        return None
    finally:
        os.close(handle)
    return name


def _opened(name: str | None, size: int) -> mmap.mmap | None:
    """Map a file that another process made."""
    try:
        with open(name or "", "r+b") as file:
            return mmap.mmap(file.fileno(), size)
    except (OSError, ValueError):  # another container on the machine does not see it
        return None


class SharedMemory:
    """Memory that the processes of a group share: what each one calls, by turns, a chunk of its
    array, and one of the result.
    """

    def __init__(
        self, connection: Any, shared: mmap.mmap, group: Group, programs: Mapping[int, str]
    ) -> None:
        self._connection, self._group, self._programs = connection, group, programs
        self._place = connection.Get_rank()
        self._turn = 0
        self._called = ""
        self._calls = np.frombuffer(shared, np.int64, 4 * len(group)).reshape(2, len(group), 2)
        self._chunks = np.frombuffer(shared, np.uint8, offset=_HEADS).reshape(_chunks(group), -1)
        self._pairs = lru_cache(64)(self._new_pairs)

    def all_reduce(
        self, x: Array, result: Array, combine: Callable[..., Any], program: int = 0
    ) -> None:
        """Write what NumPy's function `combine` makes of the arrays of all processes, in their
        order, to `result`. Both arrays are contiguous, of one dtype.

        Raises:
            CommunicationError: another process combines another array, or does so in another
                program.
        """
        self._call("all_reduce", combine, x, program)
        given, made = x.reshape(-1), result.reshape(-1)
        if len(self._group) == 2:
            return self._by_two(given, given, made, combine)
        chunks = self._chunks.view(x.dtype)
        length = chunks.shape[1]
        for start in range(0, given.size, length):
            end = min(start + length, given.size)
            self._all_reduce(chunks[:, : end - start], given[start:end], made[start:end], combine)

    def reduce_scatter(
        self, x: Array, result: Array, combine: Callable[..., Any], program: int = 0
    ) -> None:
        """Write what NumPy's function `combine` makes of this process's row of the arrays of all,
        in their order, to `result`. The arrays are contiguous, and have a row for each process.

        Raises:
            CommunicationError: another process combines another array, or does so in another
                program.
        """
        self._call("reduce_scatter", combine, x, program)
        count = len(self._group)
        rows, made = x.reshape(count, -1), result.reshape(-1)
        if count == 2:
            return self._by_two(rows[1 - self._place], rows[self._place], made, combine)
        chunks = self._chunks.view(x.dtype)
        length = chunks.shape[1] // count
        for start in range(0, made.size, length):
            end = min(start + length, made.size)
            shared = chunks[:count, : count * (end - start)].reshape(count, count, -1)
            self._reduce_scatter(shared, rows[:, start:end], made[start:end], combine)

    def _call(self, what: str, combine: Callable[..., Any], x: Array, program: int) -> None:
        """Tell the other processes what this one calls."""
        self._called = what
        digest = _digest(what, combine, x.dtype, x.size)
        self._calls[self._turn, self._place] = program, digest

    def _by_two(
        self, shared: Array, own: Array, result: Array, combine: Callable[..., Any]
    ) -> None:
        """Combine an array of this process's own with the one that the other process shares."""
        # A process writes to its chunk of a turn when the other one has come to the next barrier,
        # and so has read the last array of that turn.
        most = self._chunks.shape[1] // own.itemsize
        length = min(most, max(_BLOCK // own.itemsize, -(-own.size // _BLOCKS)))
        for start in range(0, own.size, length):
            part = slice(start, min(start + length, own.size))
            pair = self._pairs(own.dtype, part.stop - start)[self._turn]
            np.copyto(pair[self._place], shared[part])
            self._connection.Barrier()
            if start == 0:
                self._check_same_calls()
            self._turn = 1 - self._turn
            if self._place == 0:
                combine(own[part], pair[1], result[part])
            else:
                combine(pair[0], own[part], result[part])

    def _new_pairs(self, dtype: np.dtype[Any], size: int) -> list[list[Array]]:
        """The chunks of both processes, in either turn."""
        first, second, third, fourth = self._chunks.view(dtype)[:, :size]
        return [[first, second], [third, fourth]]

    def _all_reduce(
        self, chunks: Array, x: Array, result: Array, combine: Callable[..., Any]
    ) -> None:
        # A process writes to its chunk when all have read the last one, for which it waits at the
        # second barrier; so it is for the result, by the first one.
        *arrays, total = chunks
        count, place = len(arrays), self._place
        parts = [slice(x.size * i // count, x.size * (i + 1) // count) for i in range(count)]
        others = parts[:place] + parts[place + 1 :]
        for part in others:
            np.copyto(arrays[place][part], x[part])
        self._connection.Barrier()
        self._check_same_calls()
        arrays[place] = x
        own = parts[place]
        combine(arrays[0][own], arrays[1][own], out=result[own])
        for array in arrays[2:]:
            combine(result[own], array[own], out=result[own])
        np.copyto(total[own], result[own])
        self._connection.Barrier()
        for part in others:
            np.copyto(result[part], total[part])

    def _reduce_scatter(
        self, shared: Array, rows: Array, result: Array, combine: Callable[..., Any]
    ) -> None:
        # The barriers are as those of an all_reduce: memory is written when all have read it.
        count, place = len(rows), self._place
        for other in range(count):
            if other != place:
                np.copyto(shared[place][other], rows[other])
        self._connection.Barrier()
        self._check_same_calls()
        parts = [rows[place] if i == place else shared[i][place] for i in range(count)]
        combine(parts[0], parts[1], out=result)
        for part in parts[2:]:
            combine(result, part, out=result)
        self._connection.Barrier()

    def _check_same_calls(self) -> None:
        calls = self._calls[self._turn].tolist()
        check_same_calls(self._called, self._group, self._place, calls, self._programs)


@cache
def _digest(what: str, combine: Callable[..., Any], dtype: np.dtype[Any], size: int) -> int:
    """A number of a call, the same in all processes."""
    return zlib.crc32(f"{what}: {combine.__name__} of {dtype}[{size}]".encode())
