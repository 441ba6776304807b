"""Ranks that are processes of an MPI job, by mpi4py.

MPI ends a job in which a process dies, but waits for ever for one that raised an exception, hangs
or left early. So an exception that nobody handles ends the job, and so does a thread that watches
how long collectives take.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from types import TracebackType
from typing import Any

import numpy as np

from irax_runtime import memory
from irax_runtime.communication import current
from irax_runtime.communication.communicator import (
    COMBINERS,
    DEFAULT_LIMIT,
    Array,
    CommunicationError,
    Communicator,
    Group,
    wide_dtype,
)
from irax_runtime.communication.mpi_messages import MessageCommunicator
from irax_runtime.communication.shared_memory import WORTH_SHARING, SharedMemory, shared_memory

_VARIABLES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK")
"""Variables that launchers of MPI set in the processes that they start."""

_ON_THIS_MACHINE = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")
"""Variables that tell how many processes of the job are on this machine."""


_SMALL = 4 << 10
"""Bytes below which devices copy arrays, whether they are aligned or not."""


def is_launched() -> bool:
    """Return True if a launcher of MPI started this process."""
    return any(variable in os.environ for variable in _VARIABLES)


def processes_here() -> int:
    """Return the number of the job's processes on this machine, as the launcher tells it."""
    told = (os.environ.get(variable, "") for variable in _ON_THIS_MACHINE)
    return next((int(text) for text in told if text.isdecimal() and int(text)), 1)


@contextmanager
def hidden() -> Iterator[None]:
    """In a `with` block, nothing shows that a launcher of MPI started this process. IREE otherwise
    looks for MPI's library, and makes no device without it.
    """
    taken = {name: os.environ.pop(name) for name in _VARIABLES if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(taken)


def start(limit: float = DEFAULT_LIMIT) -> MpiCommunicator:
    """Connect this process to the others of its MPI job, for all its threads.

    Args:
        limit: the seconds that a rank waits in a collective before it ends the job.

    Raises:
        CommunicationError: mpi4py or MPI's library is not installed.
    """
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise CommunicationError(
            f"MPI is not installed here: {error}; pip install 'irax[mpi]', or mpi4py and the "
            "cluster's own MPI"
        ) from error
    communicator = MpiCommunicator(MPI, limit)
    _end_job_on_errors(communicator)
    current.set_process(communicator)
    return communicator


class MpiCommunicator(Communicator):
    """This process's connection to the other processes of its MPI job."""

    def __init__(self, mpi: Any, limit: float) -> None:
        self.limit = limit
        self._mpi = mpi
        self._world = mpi.COMM_WORLD.Dup()
        self.rank = self._world.Get_rank()
        self.size = self._world.Get_size()
        self._groups: dict[Group, Any] = {tuple(range(self.size)): self._world}
        self._shared: dict[Group, SharedMemory | None] = {}
        self._operations = {"add": mpi.SUM, "maximum": mpi.MAX, "minimum": mpi.MIN}
        self._watchdog = Watchdog(limit, self.abort)
        self._messages = mpi.COMM_WORLD.Dup()
        self._alongside: dict[str, MessageCommunicator] = {}

    def alongside(self, name: str) -> MessageCommunicator:
        """Return a communicator of the same ranks for collectives that take place at the same time
        as this one's.

        Raises:
            CommunicationError: MPI allows one thread of a process alone.
        """
        if name not in self._alongside:
            if self._mpi.Query_thread() < self._mpi.THREAD_MULTIPLE:
                raise CommunicationError(
                    "MPI was started so that one thread of a process may communicate, and this "
                    "one has several devices: start a process for each device (mpiexec -n N, "
                    "without IRAX_CPU_DEVICES), or MPI with MPI_THREAD_MULTIPLE"
                )
            found = MessageCommunicator(self, self._mpi, self._messages, self._watchdog, name)
            self._alongside.setdefault(name, found)
        return self._alongside[name]

    def watch(self, what: str, is_done: Callable[[], bool]) -> None:
        self._watchdog.watch(what, is_done)

    def is_communicating(self) -> bool:
        return self._watchdog.is_watching()

    def _connection(self, group: Group) -> Any:
        """MPI's communicator of a group; its members make it together."""
        if group not in self._groups:
            with self._watchdog.watching("the first collective of a group"):
                members = self._world.Get_group().Incl(group)
                self._groups[group] = self._world.Create_group(members)
        return self._groups[group]

    def _shared_memory(self, group: Group) -> SharedMemory | None:
        """The memory that the processes of a group share; they make it together."""
        if group not in self._shared:
            self._shared[group] = shared_memory(self._connection(group), self._mpi, group)
        return self._shared[group]

    def _operation(self, combiner: str, dtype: np.dtype[Any]) -> Any:
        """MPI's operation that combines arrays. Of floats, its maximum and minimum lose nan."""
        if combiner == "add" or dtype.kind != "f":
            return self._operations[combiner]
        name = f"{combiner} of {dtype}"
        if name not in self._operations:
            self._operations[name] = self._mpi.Op.Create(_in_place(combiner, dtype), commute=True)
        return self._operations[name]

    def all_reduce(self, x: Array, combiner: str, group: Group) -> Array:
        connection = self._connection(group)
        sent = np.ascontiguousarray(x, _reducible(x.dtype))
        empty = np.empty if sent.nbytes < _SMALL else memory.aligned_empty
        received = empty(sent.shape, sent.dtype)
        with self._watchdog.watching("all_reduce", x):
            shared = self._shared_memory(group) if sent.nbytes >= WORTH_SHARING else None
            if shared:
                shared.all_reduce(sent, received, COMBINERS[combiner])
            else:
                connection.Allreduce(sent, received, self._operation(combiner, sent.dtype))
        return received.astype(x.dtype, copy=False)

    def all_gather(self, x: Array, group: Group) -> Array:
        connection = self._connection(group)
        received = memory.aligned_empty((len(group), *x.shape), x.dtype)
        with self._watchdog.watching("all_gather", x):
            connection.Allgather(_octets(x), _octets(received))
        return received

    def reduce_scatter(self, x: Array, group: Group) -> Array:
        connection = self._connection(group)
        sent = np.ascontiguousarray(x, _reducible(x.dtype))
        received = memory.aligned_empty(x.shape[1:], sent.dtype)
        with self._watchdog.watching("reduce_scatter", x):
            connection.Reduce_scatter_block(sent, received, self._mpi.SUM)
        return received.astype(x.dtype, copy=False)

    def all_to_all(self, x: Array, group: Group) -> Array:
        connection = self._connection(group)
        received = memory.aligned_empty(x.shape, x.dtype)
        with self._watchdog.watching("all_to_all", x):
            connection.Alltoall(_octets(x), _octets(received))
        return received

    def permute(self, x: Array, sources: Sequence[int], group: Group) -> Array:
        connection = self._connection(group)
        place = group.index(self.rank)
        received = np.zeros(x.shape, x.dtype)
        sent = _octets(x)
        with self._watchdog.watching("permute", x):
            requests = [
                connection.Isend(sent, target)
                for target, source in enumerate(sources)
                if source == place
            ]
            if sources[place] >= 0:
                connection.Recv(_octets(received), sources[place])
            self._mpi.Request.Waitall(requests)
        return received

    def exchange(self, message: bytes, group: Group | None = None) -> list[bytes]:
        connection = self._connection(group or tuple(range(self.size)))
        with self._watchdog.watching("exchange"):
            return connection.allgather(message)

    def abort(self, reason: str) -> None:
        print(f"irax: rank {self.rank} of {self.size}: {reason}", file=sys.stderr, flush=True)
        self._world.Abort(1)


class Watchdog:
    """A thread that ends the job when a collective takes longer than `limit` seconds."""

    def __init__(self, limit: float, abort: Any) -> None:
        self._limit = limit
        self._abort = abort
        self._entered: dict[int, tuple[_Collective, float]] = {}
        """The collectives that threads are in, and when they came."""
        self._others: SimpleQueue[tuple[str, float, Callable[[], bool]]] = SimpleQueue()
        """Other things that wait for other ranks, and since when, in this order."""
        threading.Thread(target=self._watch, name="irax watchdog", daemon=True).start()

    def watching(self, what: str, x: Array | None = None) -> _Collective:
        """Watch the collective in a `with` block."""
        return _Collective(self._entered, what, x)

    def watch(self, what: str, is_done: Callable[[], bool]) -> None:
        """Watch something that another thread looks after, or none."""
        self._others.put((what, time.monotonic(), is_done))

    def is_watching(self) -> bool:
        """Return True if a thread is in a collective."""
        return bool(self._entered)

    def _watch(self) -> None:
        while True:
            time.sleep(min(1.0, self._limit / 4))
            late = time.monotonic() - self._limit
            others = [self._others.get() for _ in range(self._others.qsize())]
            others = [other for other in others if not other[2]()]
            for other in others:
                self._others.put(other)
            entered = [*self._entered.values(), *((what, since) for what, since, _ in others)]
            late_in = [str(what) for what, since in entered if since < late]
            if late_in:
                self._abort(
                    f"{late_in[0]} has waited for other ranks for more than {self._limit:g} "
                    "seconds: one of them hangs, has ended, or runs another program"
                )


class _Collective:
    """A collective that a thread is in: a `with` block, which costs little to enter."""

    __slots__ = ("_entered", "_thread", "_what", "_x")

    def __init__(
        self, entered: dict[int, tuple[_Collective, float]], what: str, x: Array | None
    ) -> None:
        self._entered, self._what, self._x = entered, what, x
        self._thread = threading.get_ident()

    def __str__(self) -> str:
        return (
            self._what
            if self._x is None
            else f"{self._what} of {self._x.dtype}{list(self._x.shape)}"
        )

    def __enter__(self) -> None:
        self._entered[self._thread] = self, time.monotonic()

    def __exit__(self, *error: object) -> None:
        del self._entered[self._thread]


def _end_job_on_errors(communicator: MpiCommunicator) -> None:
    """Have an exception that nobody handles end all processes of the job."""
    before = sys.excepthook

    def report(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        before(kind, error, traceback)
        sys.stderr.flush()
        communicator.abort(f"ended by {kind.__name__}")

    sys.excepthook = report


def _reducible(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which MPI reduces: booleans are bytes."""
    return np.dtype(np.uint8) if dtype == np.bool_ else wide_dtype(dtype)


def _in_place(combiner: str, dtype: np.dtype[Any]) -> Callable[[Any, Any, Any], None]:
    """The function of an operation of MPI's, which combines arrays of a dtype as NumPy does."""

    def combine(given: Any, total: Any, _datatype: Any) -> None:
        result = np.frombuffer(total, dtype)
        COMBINERS[combiner](np.frombuffer(given, dtype), result, out=result)

    return combine


def _octets(x: Array) -> Array:
    """The bytes of an array, for dtypes that MPI does not know."""
    return np.ascontiguousarray(x).reshape(-1).view(np.uint8)
