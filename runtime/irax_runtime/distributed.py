"""The processes of a job, and the devices of all of them.

Each process numbers its devices from 0. In a job, those of process i follow those of process i - 1.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from irax_runtime import devices as own
from irax_runtime.communication import current, mpi, tcp
from irax_runtime.communication.communicator import DEFAULT_LIMIT
from irax_runtime.communication.tcp import Place
from irax_runtime.device import Device, HasMemories
from irax_runtime.once import once


class AlreadyStarted(RuntimeError):
    """The job was joined before, or devices are in use that do not know of it."""


@dataclass(frozen=True)
class RemoteDevice(HasMemories):
    """A device of another process: programs of the job run there, too."""

    id: int
    process_index: int
    platform: str
    device_kind: str
    target: str
    local_hardware_id: ClassVar[int] = -1

    @property
    def client(self) -> Any:
        """The client of this process's devices of the same platform."""
        return own.devices(self.platform)[0].client

    def put(self, array: Any, may_alias: bool = False) -> Any:
        """Raise ValueError: this process cannot write into the memory of another one."""
        raise ValueError(
            f"{self!r} belongs to process {self.process_index}, this is process "
            f"{process_index()}: an array is put there by that process, or by all processes "
            "together with a sharding"
        )


_is_started = False
_place: Place | None = None


def start(
    limit: float = DEFAULT_LIMIT, silence: float = DEFAULT_LIMIT, place: Place | None = None
) -> None:
    """Join the job that this process was started in; alone, it is a job of one process.

    Args:
        limit: the seconds that a process waits for the others before it ends the job.
        silence: the seconds after which a process of which nothing is heard is lost, if these are
            fewer.
        place: this process's place in a job that no launcher of MPI started.

    Raises:
        AlreadyStarted: it has joined before, or devices have been used.
        CommunicationError: this is a process of an MPI job, but mpi4py is not installed; or the
            other processes cannot be reached.
    """
    global _is_started, _place
    if _is_started:
        raise AlreadyStarted("this process has joined the job already")
    if own.are_open():
        raise AlreadyStarted("devices are in use already: join the job before all else")
    _is_started = True
    if mpi.is_launched() and (place is None or mpi.is_installed()):
        mpi.start(limit, silence)
    elif place is not None and place.size > 1:
        _place = place
        tcp.start(place, limit, silence)


def is_started() -> bool:
    """Return True if this process has joined a job."""
    return _is_started


def coordinator_address() -> str | None:
    """Return the address at which processes have met; None if MPI connects them."""
    return _place.coordinator if _place else None


def process_index() -> int:
    """Return the number of this process in its job."""
    return current.of_process().rank


def process_count() -> int:
    """Return the number of processes of the job."""
    return current.of_process().size


def note_step(step: int) -> None:
    """Note the number of the step that this process is in: messages tell it."""
    current.of_process().note_step(step)


def note_saved(what: str) -> None:
    """Note what was saved: the message of a job that ends tells it."""
    current.of_process().note_saved(what)


def devices(platform: str | None = None) -> list[Any]:
    """Return the devices of all processes: this one's own, and `RemoteDevice`s for others.

    All processes must ask for the first time together.
    """
    if process_count() == 1:
        return list(own.devices(platform))
    return list(_of_all(platform))


@once
def _of_all(platform: str | None) -> tuple[Any, ...]:
    local = own.devices(platform)
    told = json.dumps([_described(device) for device in local]).encode()
    by_process = [json.loads(message) for message in current.of_process().exchange(told)]
    found: list[Any] = []
    for process, described in enumerate(by_process):
        if process == process_index():
            found += local
        else:
            found += [RemoteDevice(*one) for one in described]
    return tuple(found)


def _described(device: Device) -> tuple[Any, ...]:
    return (
        device.id,
        process_index(),
        device.platform,
        device.device_kind,
        device.target,
    )
