"""Jobs of several processes, and the communicators of the programs that these run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from irax_runtime.communication.communicator import Array, Communicator, Group
from irax_runtime.communication.members import Members
from irax_runtime.communication.messages import Channel, MessageCommunicator
from irax_runtime.communication.watchdog import Watchdog, Watched


@dataclass(kw_only=True)
class Job(ABC):
    """State that the communicators of a process share."""

    limit: float
    """Seconds that a process waits for the others."""
    programs: dict[int, str] = field(default_factory=lambda: {0: ""})
    """The names of programs by their numbers, which all processes that run them know them by."""
    members: Members | None = None

    def __post_init__(self) -> None:
        self.watchdog = Watchdog(self.limit, partial(self.abort, is_late=True))

    def abort(self, reason: str, is_late: bool = False) -> None:
        """End all processes of the job. If one is late, the message tells what others do."""
        if self.members:
            self.members.end(reason, is_late)
        self._end(reason)

    @abstractmethod
    def _end(self, reason: str) -> None:
        """End all processes of the job."""


J = TypeVar("J", bound=Job)


class ProgramCommunicator(Communicator, Generic[J]):
    """The connection of a process of a job to the others: that of a program, or, with the number 0,
    that of all else.
    """

    def __init__(self, job: J, number: int) -> None:
        self._job, self._number = job, number
        self._program, self._runs = job.programs[number], 0
        self._alongside: dict[str, MessageCommunicator] = {}

    def for_program(self, digest: str, what: str, group: Group) -> Communicator:
        self.check_same(digest, what, group)
        programs = self._job.programs
        told = self.exchange(str(max(programs)).encode(), group)
        number = 1 + max(map(int, told))
        programs[number] = what
        return self._numbered(number)

    @abstractmethod
    def _numbered(self, number: int) -> Communicator:
        """Return the communicator of the program with a number."""

    @abstractmethod
    def _channel_of(self, name: str) -> Channel:
        """Return a channel for collectives that take place at the same time as this one's."""

    def begin_run(self) -> None:
        super().begin_run()
        self._runs += 1
        self._job.watchdog.run = f"run {self._runs} of {self._program}"

    def alongside(self, name: str) -> MessageCommunicator:
        """Return a communicator of the same ranks for collectives that take place at the same time
        as this one's.

        Raises:
            CommunicationError: MPI allows one thread of a process alone.
        """
        if name not in self._alongside:
            channel = self._channel_of(name)
            found = MessageCommunicator(
                self.rank, self.size, self.limit, channel, self._watched, self.abort
            )
            self._alongside.setdefault(name, found)
        return self._alongside[name]

    def watch(self, what: str, is_done: Callable[[], bool]) -> None:
        self._job.watchdog.watch(what, is_done)

    def note_step(self, step: int) -> None:
        self._job.watchdog.step = f"step {step}"

    def note_saved(self, what: str) -> None:
        if self._job.members:
            self._job.members.saved = what

    def is_communicating(self) -> bool:
        return self._job.watchdog.is_watching()

    def abort(self, reason: str) -> None:
        self._job.abort(reason)

    def _watched(self, what: str, x: Array | None = None) -> Watched:
        return Watched(self._job.watchdog.entered, what, x, self._program)
