"""Hosts to try programs of several hosts on: network namespaces of one machine, a cable each.

A bed is a namespace of processes, whose first process holds the switch. Each host is a process in
it with a network, a name and file systems of its own: its processes find it by its name, and reach
the others through the switch alone. When the first process of the bed ends, the kernel ends all
others, and takes away the networks with them. It ends when whoever made the bed does, by whatever
cause.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).parent.parent.parent
_TOOLS = ("ip", "nsenter", "setpriv", "unshare")
_PREFIX = "irax-hosts-"
_IDLE = "exec sleep infinity"
_SECONDS = 20.0
"""The seconds that a host may take to end."""


@cache
def why_not() -> str | None:
    """Return the reason why hosts cannot be made here; None if they can."""
    if not sys.platform.startswith("linux"):
        return "hosts are network namespaces of Linux"
    if missing := [tool for tool in _TOOLS if shutil.which(tool) is None]:
        return f"hosts need the commands {', '.join(missing)}"
    if os.geteuid() != 0:
        return "hosts need root, who alone makes network namespaces"
    try:
        with Bed(1) as bed:
            bed[0].run(["true"])
    except (BedError, subprocess.CalledProcessError) as error:
        return f"hosts cannot be made here: {error}"
    return None


class BedError(RuntimeError):
    """Something of a bed could not be made."""


class Bed:
    """Hosts `h1`, `h2`, ... with the addresses 10.77.0.1, 10.77.0.2, ...

    with Bed(2) as bed:
        bed[1].run(["ping", "-c1", "h1"])
    """

    def __init__(self, count: int) -> None:
        _remove_folders_of_dead_makers()
        self.folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        """A folder that all hosts see, as of a network file system."""
        self.hosts: list[Host] = []
        self.started: list[subprocess.Popen[str]] = []
        """The commands that were started on the hosts."""
        try:
            self._switch = _Namespace(
                ["setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--fork", "--kill-child"]
                + ["--mount", "--mount-proc", "--net", "--uts"],
                "ip link add switch type bridge && ip link set switch up",
            )
            names = "".join(f"{_address(i)} h{i + 1}\n" for i in range(count))
            (self.folder / "names").write_text(f"127.0.0.1 localhost\n{names}")
            self.agent.write_text(_AGENT.format(folder=shlex.quote(str(self.folder))))
            self.agent.chmod(0o755)
            for number in range(count):
                self.hosts.append(Host(self, number))
        except BaseException:
            self.end()
            raise

    @property
    def agent(self) -> Path:
        """The command in place of `ssh`: `agent HOST COMMAND`."""
        return self.folder / "agent"

    def __getitem__(self, number: int) -> Host:
        return self.hosts[number]

    def __enter__(self) -> Bed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self) -> None:
        """End all processes of all hosts."""
        for process in self.started:
            process.kill()  # it may be stopped, with what it started
        if hasattr(self, "_switch"):
            self._switch.kill()
        for host in self.hosts:
            host.namespace.wait()
        for process in self.started:
            process.wait()
            if process.stdout:
                process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def at_switch(self, *command: str) -> None:
        """Run a command in the network of the switch, whose ports have the hosts' names."""
        _checked(["nsenter", f"--net=/proc/{self._switch.pid}/ns/net", *command])


_AGENT = """#!/bin/sh
cd {folder} || exit 255
pid=$(cat "$1.pid") || exit 255
shift
nsenter -t "$pid" -n -u -m -- sh -c "$*"
status=$?
[ $status -lt 128 ] || sleep 0.5
kill -0 "$pid" 2>/dev/null || exec sleep infinity
exit $status
"""
"""A stand-in for `ssh`: where the other host is dead, this end of the connection waits for ever."""


class Host:
    """One of the hosts."""

    def __init__(self, bed: Bed, number: int) -> None:
        self.name = f"h{number + 1}"
        self.address = _address(number)
        self._bed = bed
        switch = bed._switch.pid
        folder = shlex.quote(str(bed.folder))
        self.namespace = _Namespace(
            ["setpriv", "--pdeathsig", "KILL", "nsenter", "-t", str(switch), "-p", "-m", "-n"]
            + ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--uts", "--mount"],
            f"hostname {self.name} && mount --bind {folder}/names /etc/hosts && "
            "mount -t tmpfs -o size=256m tmpfs /dev/shm && "
            "mount -t tmpfs -o size=16m tmpfs /mnt && "
            f"ip link set lo up && echo $$ > {folder}/{self.name}.pid",
        )
        self._network = _network(self.namespace.pid)
        port = ("ip", "link", "add", self.name, "type", "veth", "peer", "name", "eth0")
        bed.at_switch(*port, "netns", str(self.namespace.pid))
        bed.at_switch("ip", "link", "set", self.name, "master", "switch", "up")
        self.run(["ip", "address", "add", f"{self.address}/24", "dev", "eth0"])
        self.run(["ip", "link", "set", "eth0", "up"])

    def command(self, command: Sequence[str]) -> list[str]:
        """Return what runs a command on this host."""
        enter = ["nsenter", "-t", str(self.namespace.pid), "-n", "-u", "-m", "-p", "--"]
        return [*enter, *command]

    def run(self, command: Sequence[str]) -> str:
        """Run a command on this host; return what it prints."""
        return _checked(self.command(command))

    def start(self, command: Sequence[str], **options: Any) -> subprocess.Popen[str]:
        """Start a command on this host, in the repository's folder."""
        environment = {**os.environ, "TMPDIR": "/dev/shm", **options.pop("env", {})}
        options = {"cwd": ROOT, "stderr": subprocess.STDOUT, "stdout": subprocess.PIPE} | options
        started = subprocess.Popen(self.command(command), env=environment, text=True, **options)
        self._bed.started.append(started)
        return started

    # ---- faults

    def cut(self) -> None:
        """Pull the cable: nothing comes or goes, and nobody is told."""
        self._bed.at_switch("ip", "link", "set", self.name, "down")

    def restore(self) -> None:
        """Put the cable back."""
        self._bed.at_switch("ip", "link", "set", self.name, "up")

    def limit_rate(self, rate: str) -> None:
        """Let so many bits a second through the cable in either direction, such as "1gbit"."""
        bucket = ("root", "tbf", "rate", rate, "burst", "64kb", "latency", "50ms")
        self._bed.at_switch("tc", "qdisc", "replace", "dev", self.name, *bucket)
        self.run(["tc", "qdisc", "replace", "dev", "eth0", *bucket])

    def lose_packets(self, share: float) -> None:
        """Lose a share of the packets in either direction, each by chance."""
        code = _DROP.format(first=int((1 - share) * (1 << 32)))
        for command in (
            ("tc", "qdisc", "replace", "dev", "{port}", "ingress"),
            ("tc", "filter", "add", "dev", "{port}", "ingress", "bpf", "da", "bytecode", code),
        ):
            self._bed.at_switch(*(word.format(port=self.name) for word in command))
            self.run([word.format(port="eth0") for word in command])

    def fill_disk(self) -> None:
        """Leave no room in `/mnt`, the disk of this host."""
        subprocess.run(
            self.command(["dd", "if=/dev/zero", "of=/mnt/full", "bs=64k"]), capture_output=True
        )

    def die(self) -> None:
        """Lose power: the cable is dead, and all processes are gone at once."""
        self.cut()
        while pids := [pid for pid in _all() if _network(pid) == self._network]:
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

    def processes(self, words: str) -> list[int]:
        """Return the processes of this host whose command has some words in it."""
        return sorted(p for p in _all() if words in _command(p) and _network(p) == self._network)


_DROP = "4,32 0 0 4294963256,53 0 1 {first},6 0 0 2,6 0 0 4294967295"
"""A program of the kernel's: drop a packet for which a random number is not below another one."""


class _Namespace:
    """A process that holds namespaces, until it is killed."""

    def __init__(self, command: Sequence[str], script: str) -> None:
        script = f"({script}) 2>&1 && echo ready || exit 1; {_IDLE}"
        self._process = subprocess.Popen(
            [*command, "sh", "-c", script],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=_die_with_parent,
        )
        assert self._process.stdout
        said: list[str] = []
        for line in self._process.stdout:
            if line == "ready\n":
                break
            said.append(line)
        else:
            raise BedError("".join(said).strip() or "namespaces are not permitted")
        self.pid = self._innermost()
        """The process, as the whole machine knows it."""

    def _innermost(self) -> int:
        found = self._process.pid
        while children := Path(f"/proc/{found}/task/{found}/children").read_text().split():
            if Path(f"/proc/{children[0]}/comm").read_text() in ("sleep\n", "sh\n"):
                return int(children[0])
            found = int(children[0])
        return found

    def kill(self) -> None:
        """End the process, and all that live in its namespace of processes."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        self.wait()

    def wait(self) -> None:
        """Wait until the process has ended."""
        try:
            self._process.wait(_SECONDS)
        finally:
            if self._process.stdout:
                self._process.stdout.close()


_PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _address(number: int) -> str:
    return f"10.77.0.{number + 1}"


def _remove_folders_of_dead_makers() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        if not Path("/proc", folder.name.split("-")[2]).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _checked(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise BedError(f"{shlex.join(command)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def _all() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _network(pid: int) -> int:
    try:
        return os.stat(f"/proc/{pid}/ns/net").st_ino
    except OSError:
        return -1


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
