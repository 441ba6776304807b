"""The process that started this one, where it is a launcher of jobs: `mpiexec`, or its daemon on a
host.

A launcher waits for the daemons of all hosts before it ends, for a quarter of an hour and more
where a host is lost. So the processes of a job that has lost a host end their launcher, too.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_NAMES = frozenset(
    ("mpiexec", "mpirun", "mpiexec.hydra", "hydra_pmi_proxy")
    + ("orted", "orterun", "prte", "prted", "prterun")
)

_REAPER = """
import select, signal, sys
launcher = int(sys.argv[1])
for seconds, number in ((2.0, signal.SIGTERM), (1.0, signal.SIGKILL)):
    if select.select([launcher], [], [], seconds)[0]:
        break
    signal.pidfd_send_signal(launcher, number)
"""
"""Waits for the launcher, which may end by itself, and then ends it."""


class Launcher:
    """The nearest process above this one that is a launcher, if there is one."""

    def __init__(self) -> None:
        self._handle = -1
        if hasattr(os, "pidfd_open"):
            with suppress(OSError):
                found = next((pid for pid in _ancestors() if _name(pid) in _NAMES), None)
                self._handle = -1 if found is None else os.pidfd_open(found)
        self.is_there = self._handle >= 0
        """True if there is a launcher."""

    def fileno(self) -> int:
        """Return what a selector can wait for: it is readable when the launcher has ended."""
        return self._handle

    def is_lost(self) -> bool:
        """Return True if there was a launcher, and it has ended."""
        return self.is_there and bool(select.select([self._handle], [], [], 0)[0])

    def end(self) -> None:
        """Have the launcher end soon after this process, whether it waits for other hosts or not.
        What does so lives on when the launcher ends its processes.
        """
        if not self.is_there or self.is_lost():
            return
        with suppress(OSError):
            quiet = subprocess.DEVNULL
            subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _REAPER, str(self._handle)],
                pass_fds=[self._handle],
                stdin=quiet,
                stdout=quiet,
                stderr=quiet,
                start_new_session=True,
            )


def _ancestors() -> Iterator[int]:
    pid = os.getppid()
    while pid > 0:
        yield pid
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
