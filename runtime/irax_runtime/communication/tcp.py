"""Ranks that are processes which meet at a store that process 0 serves, and have connections to
each other by TCP: no launcher needs to know of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import socket
import time
from contextlib import suppress
from dataclasses import dataclass

from irax_runtime.communication import current, store
from irax_runtime.communication.communicator import CommunicationError
from irax_runtime.communication.jobs import Job, ProgramCommunicator
from irax_runtime.communication.members import Members
from irax_runtime.communication.messages import Channel, MessageCommunicator
from irax_runtime.communication.mpi import end_job_on_errors
from irax_runtime.communication.store import OwnStore, RemoteStore, Store
from irax_runtime.communication.tcp_links import Links

SECRET = "IRAX_JOB_SECRET"
"""The variable with a text that all processes of a job have, and nobody else."""

_CONNECTING = 5.0
"""Seconds in which an address must answer."""
_PAUSE = 0.1
"""Seconds between two attempts to reach process 0."""
_TOKEN = 16


@dataclass(frozen=True)
class Place:
    """A process's place in a job.

    Args:
        coordinator: where process 0 can be reached, as `HOST:PORT`.
        size: the number of processes.
        rank: the number of this process.
        bind: where process 0 listens, as `HOST:PORT`; all addresses of its host by default.
        timeout: the seconds in which all processes must have come.
    """

    coordinator: str
    size: int
    rank: int
    bind: str | None = None
    timeout: float = 300.0


def start(place: Place, limit: float, silence: float) -> TcpCommunicator:
    """Connect this process to the others of its job, for all its threads.

    Args:
        place: this process's place.
        limit: the seconds that a rank waits in a collective before it ends the job.
        silence: the seconds after which a process of which nothing is heard is lost, if these are
            fewer.

    Raises:
        CommunicationError: not all processes have come in time.
        OSError: process 0 cannot listen where it is to.
    """
    end = time.monotonic() + place.timeout
    shared = _meet(place, end)
    sockets = _connect(place, shared, end)
    job = _Job(limit=limit)
    links = Links(place.rank, sockets, job.programs)
    job.members = Members(shared, place.rank, place.size, min(limit, silence), job.watchdog.doing)
    communicator = TcpCommunicator(place.rank, place.size, job, links)
    store.set_of_process(shared)
    store.end_in_order(shared, place.rank, place.size, limit)
    end_job_on_errors(communicator)
    current.set_process(communicator)
    hosts = communicator.exchange(_machine().encode())
    current.set_processes_here(hosts.count(_machine().encode()))
    return communicator


def _meet(place: Place, end: float) -> Store:
    """The store of the job, when process 0 serves it."""
    token = hashlib.sha256(os.environ.get(SECRET, "").encode()).digest()[:_TOKEN]
    address = _address(place.coordinator)
    if place.rank == 0:
        own = OwnStore()
        store.serve(own, token, _address(place.bind) if place.bind else ("", address[1]))
        return own
    while True:
        try:
            return RemoteStore([address], token)
        except CommunicationError as error:
            if time.monotonic() > end:
                raise CommunicationError(
                    f"process 0 of the job has not been reached at {place.coordinator} within "
                    f"{place.timeout:g} seconds: {error}; see that it runs there, with the same "
                    f"{SECRET}, and that this machine reaches it"
                ) from error
            time.sleep(_PAUSE)


def _address(text: str) -> store.Address:
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def _connect(place: Place, shared: Store, end: float) -> dict[int, socket.socket]:
    """A connection to each other process: each connects to those before it."""
    with socket.create_server(("", 0), backlog=place.size) as listener:
        token = secrets.token_hex(_TOKEN)
        hosts = store.addresses_of_this_host()
        if place.rank:
            hosts.insert(0, _seen_from(shared.hosts()[0]))
        told = {"hosts": hosts, "port": listener.getsockname()[1], "token": token}
        shared.put(f"irax: process {place.rank}", json.dumps(told).encode())
        found = {rank: _connect_to(rank, place, shared, end) for rank in range(place.rank)}
        while missing := set(range(place.rank + 1, place.size)) - set(found):
            listener.settimeout(max(0.0, end - time.monotonic()))
            try:
                connection, _ = listener.accept()
            except (TimeoutError, BlockingIOError):
                raise CommunicationError(
                    f"rank {place.rank}: {_ranks(missing)} has not come within "
                    f"{place.timeout:g} seconds"
                ) from None
            rank = _greeted(connection, token)
            if rank in missing:
                found[rank] = connection
            else:
                connection.close()
    for connection in found.values():
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found


def _ranks(ranks: set[int]) -> str:
    return f"rank {', '.join(map(str, sorted(ranks)))}"


def _connect_to(rank: int, place: Place, shared: Store, end: float) -> socket.socket:
    told = shared.find(f"irax: process {rank}", max(0.0, end - time.monotonic()))
    if told is None:
        raise CommunicationError(
            f"rank {place.rank}: rank {rank} has not come within {place.timeout:g} seconds"
        )
    where = json.loads(told)
    hosts = [*(shared.hosts() if rank == 0 else ()), *where["hosts"]]
    for host in dict.fromkeys(hosts):
        with suppress(OSError):
            connection = socket.create_connection((host, where["port"]), _CONNECTING)
            connection.sendall(f"{where['token']} {place.rank}\n".encode())
            connection.settimeout(max(_CONNECTING, end - time.monotonic()))
            if connection.recv(1) == b"+":
                return connection
            connection.close()
    raise CommunicationError(
        f"rank {place.rank}: rank {rank} cannot be reached at port {where['port']} of {hosts}"
    )


def _greeted(connection: socket.socket, token: str) -> int:
    """The rank that connects; -1 for a stranger."""
    connection.settimeout(_CONNECTING)
    with suppress(OSError, ValueError):
        said = b""
        while not said.endswith(b"\n") and len(said) < 100:
            if not (more := connection.recv(100)):
                return -1
            said += more
        shown, rank = said.decode().split()
        if secrets.compare_digest(shown, token):
            connection.sendall(b"+")
            return int(rank)
    return -1


def _seen_from(host: str) -> str:
    """The address of this machine in the network in which it reaches another one."""
    family, kind, _, _, address = socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind) as probe:
        probe.connect(address)
        return str(probe.getsockname()[0])


def _machine() -> str:
    """A name of this machine, which no other has."""
    with suppress(OSError), open("/proc/sys/kernel/random/boot_id") as file:
        return f"{socket.gethostname()} {file.read().strip()}"
    return socket.gethostname()


class _Job(Job):
    """A job whose processes are told by each other that it ends."""

    def _end(self, reason: str) -> None:
        os._exit(1)


class TcpCommunicator(ProgramCommunicator[Job], MessageCommunicator):
    """This process's connections to the others."""

    overlaps = True

    def __init__(self, rank: int, size: int, job: Job, links: Links, number: int = 0) -> None:
        ProgramCommunicator.__init__(self, job, number)
        channel = links.channel("", number)
        MessageCommunicator.__init__(self, rank, size, job.limit, channel, self._watched, job.abort)
        self._links = links

    def _numbered(self, number: int) -> TcpCommunicator:
        return TcpCommunicator(self.rank, self.size, self._job, self._links, number)

    def _channel_of(self, name: str) -> Channel:
        return self._links.channel(name, self._number)
