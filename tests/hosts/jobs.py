"""Jobs on the hosts of a bed: how they are started, what their processes say."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.hosts.bed import ROOT, Bed, Host

_PORT = "10.77.0.1:7777"


def mpiexec(bed: Bed, command: Sequence[str]) -> list[subprocess.Popen[str]]:
    """Start a process on each host by Open MPI's launcher, on the first one."""
    count = len(bed.hosts)
    options = ["--allow-run-as-root", "--bind-to", "none", "--map-by", "node", "--oversubscribe"]
    for name, value in (
        ("plm_ssh_agent", str(bed.agent)),
        ("plm_ssh_no_tree_spawn", "1"),
        ("prte_if_include", "eth0"),
    ):
        options += ["--prtemca", name, value]
    hosts = ",".join(f"{host.name}:1" for host in bed.hosts)
    own = f"{bed.folder}/said.$OMPI_COMM_WORLD_RANK"
    wrapped = ["sh", "-c", f"exec {shlex.join(command)} > {own} 2>&1"]
    launcher = str(Path(sys.executable).parent / "mpiexec")
    started = [launcher, *options, "--host", hosts, "-n", str(count), *wrapped]
    return [bed[0].start(started, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]


def by_hand(bed: Bed, command: Sequence[str]) -> list[subprocess.Popen[str]]:
    """Start a process on each host, as programs for JAX are started, with its variables."""
    found = []
    for number, host in enumerate(bed.hosts):
        variables = {
            "JAX_COORDINATOR_ADDRESS": _PORT,
            "JAX_NUM_PROCESSES": str(len(bed.hosts)),
            "JAX_PROCESS_ID": str(number),
        }
        said = open(bed.folder / f"said.{number}", "w")  # noqa: SIM115 (the process has it)
        found.append(host.start(command, env=variables, stdout=said))
        said.close()
    return found


LAUNCHERS: dict[str, Callable[[Bed, Sequence[str]], list[subprocess.Popen[str]]]] = {
    "mpiexec": mpiexec,
    "by hand": by_hand,
}


class Job:
    """A job of `python -m MODULE ARGUMENTS`, a process on each host of a bed."""

    def __init__(self, bed: Bed, launcher: str, module: str, *arguments: str) -> None:
        self._bed, self._module = bed, module
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        command = ["env", f"PYTHONPATH={path}", sys.executable, "-m", module, *arguments]
        self.processes = LAUNCHERS[launcher](bed, command)

    def said(self, rank: int) -> list[str]:
        """Return the lines of a process so far."""
        file = self._bed.folder / f"said.{rank}"
        return file.read_text().splitlines() if file.exists() else []

    def await_line(self, words: str, seconds: float = 60) -> None:
        """Wait until each process has said some words."""
        end = time.monotonic() + seconds
        ranks = range(len(self._bed.hosts))
        while not all(any(words in line for line in self.said(rank)) for rank in ranks):
            if time.monotonic() > end or all(p.poll() is not None for p in self.processes):
                said = "\n".join(line for rank in ranks for line in self.said(rank)[-20:])
                raise AssertionError(f"not all said {words!r} in {seconds:g} seconds:\n{said}")
            time.sleep(0.05)

    def ranks_on(self, host: Host) -> list[int]:
        """Return the processes of the job on a host."""
        found = [pid for pid in host.processes(f"-m {self._module}") if is_python(pid)]
        return found

    def signal(self, host: Host, number: signal.Signals) -> None:
        """Send a signal to the processes of the job on a host."""
        for pid in self.ranks_on(host):
            os.kill(pid, number)
        if number == signal.SIGCONT:
            for process in self.processes:  # `nsenter` stops with what it has started
                process.send_signal(number)

    def end(self, seconds: float) -> float:
        """Wait until the processes of the job and its launcher have ended on hosts that are there;
        return the seconds that it took.
        """
        start = time.monotonic()
        while left := [pid for host in self._bed.hosts for pid in self._left(host)]:
            if time.monotonic() > start + seconds:
                raise AssertionError(f"{len(left)} processes are left after {seconds:g} seconds")
            time.sleep(0.05)
        seconds = time.monotonic() - start
        for process in self.processes:
            if process.poll() is None and _is_stopped(process.pid):
                process.kill()
        return seconds

    def _left(self, host: Host) -> list[int]:
        # What stands for `ssh` waits for a dead host in place of it.
        words = (f"-m {self._module}", "bin/prted", "bin/prterun")
        found = {pid for one in words for pid in host.processes(one)}
        return [pid for pid in found if not _is_stopped(pid) and not _is_agent(pid)]

    @property
    def codes(self) -> list[int | None]:
        """The exit statuses of the commands that were started."""
        return [process.wait(60) for process in self.processes]

    def last_words(self, rank: int) -> str:
        """Return the last line of irax's that a process said; "" if there is none."""
        found = [line for line in self.said(rank) if re.match(r"irax: ", line)]
        return found[-1] if found else ""


def is_python(pid: int) -> bool:
    """Return True if a process is Python."""
    return _start(pid).endswith(("python", "python3"))


def _is_agent(pid: int) -> bool:
    return _start(pid) in ("/bin/sh", "sh")


def _start(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode()
    except OSError:
        return ""


def _is_stopped(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "TZ"
    except OSError:
        return True
