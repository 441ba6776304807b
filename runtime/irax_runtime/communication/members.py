"""The processes of a job, and whether they are there.

Each process has a connection to process 0, over which both tell every second that they live, and
what they do. Where a connection ends before its process has taken leave, or nothing comes for the
job's limit, a process is lost: process 0 tells the others, and all of them end. So do those to whom
process 0 itself is lost. Collectives cannot tell: MPI and TCP wait for a host without a cable for
ever.

Messages are lines of JSON: {"rank", "host"} first, by the process that connects; then "doing" and
"saved", "left" when it ends, and "over" with the reason why the job ends.
"""

from __future__ import annotations

import atexit
import hmac
import json
import math
import os
import secrets
import selectors
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NoReturn

from irax_runtime.communication.launchers import Launcher
from irax_runtime.communication.store import Store, addresses_of_this_host

_BEAT = 1.0
"""Seconds between two beats, at most."""
_ANSWER = 2.0
"""Seconds in which process 0 tells all processes why the job ends."""
_TO_LEARN_WHY = 0.3
"""Seconds in which a process that is told to end may hear which other process was lost."""
_TO_LEARN_WHOSE = 0.05
"""Seconds in which process 0, whose launcher is lost, may hear of another one that was lost before:
daemons of the launcher soon end their processes."""
_MOST = 1 << 16
"""Bytes of a line, at most."""
_NAMED = 4
"""Processes whose places a message tells, at most."""

_WHERE = "irax: members"
"""The key under which the store has where process 0 is."""


@dataclass
class _Peer:
    """The other end of a connection."""

    connection: socket.socket
    heard: float
    rank: int = -1
    host: str = ""
    doing: str = ""
    is_known: bool = False
    """True if it has shown that it is of the job."""
    has_left: bool = False
    is_closed: bool = False
    unread: bytes = field(default=b"", repr=False)

    def __str__(self) -> str:
        return f"rank {self.rank} on host {self.host}"


class Members:
    """This process's place among those of its job. A thread looks after it.

    Args:
        store: values that all processes see.
        rank: the number of this process.
        size: the number of processes.
        limit: the seconds after which a silent process is lost.
        doing: says what this process does.
    """

    def __init__(
        self, store: Store, rank: int, size: int, limit: float, doing: Callable[[], str]
    ) -> None:
        self.rank, self.size, self.limit = rank, size, limit
        self.host = socket.gethostname()
        self.saved = ""
        """Checkpoints and the like, as the program or process 0 has named them."""
        self._beat = min(_BEAT, limit / 4)
        self._doing = doing
        self._launcher = Launcher()
        self._peers: list[_Peer] = []
        self._selector = selectors.DefaultSelector()
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self._token = b""
        self._process = os.getpid()
        if rank == 0:
            self._listen(store)
        else:
            self._connect(store)
        self._signals = self._watch_signals()
        if self._launcher.is_there:
            self._selector.register(self._launcher, selectors.EVENT_READ)
        threading.Thread(target=self._watch, name="irax members", daemon=True).start()
        atexit.register(self.leave)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._close)

    # ---- at the beginning

    def _listen(self, store: Store) -> None:
        self._token = secrets.token_hex(16).encode()
        self._listener = socket.create_server(("", 0), backlog=self.size)
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        port = self._listener.getsockname()[1]
        told = {"port": port, "hosts": addresses_of_this_host(), "token": self._token.decode()}
        store.put(_WHERE, json.dumps({**told, "host": self.host}).encode())

    def _connect(self, store: Store) -> None:
        told = json.loads(store.get(_WHERE, self.limit))
        hello = json.dumps({"rank": self.rank, "host": self.host})
        for host in [*store.hosts(), *told["hosts"]]:
            with suppress(OSError):
                connection = socket.create_connection((host, told["port"]), _ANSWER)
                connection.sendall(f"{told['token']}\n{hello}\n".encode())
                self._add(connection, 0, told["host"])
                return
        warnings.warn(
            f"process 0 cannot be reached at port {told['port']} of {told['hosts']}: a host that "
            f"is lost is noticed only when a collective has waited for {self.limit:g} seconds",
            RuntimeWarning,
            stacklevel=4,
        )

    def _add(self, connection: socket.socket, rank: int = -1, host: str = "") -> None:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer = _Peer(connection, time.monotonic(), rank, host, is_known=rank >= 0)
        self._selector.register(connection, selectors.EVENT_READ, peer)
        self._peers.append(peer)

    def _watch_signals(self) -> int:
        """Have SIGTERM, by which a launcher ends its processes, told to the thread, which may know
        why, if nothing else in this process looks after signals. Return what to read it from.
        """
        is_main = threading.current_thread() is threading.main_thread()
        is_free = signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
        if not (self._launcher.is_there and is_main and is_free):
            return -1
        heard, told = os.pipe()
        os.set_blocking(told, False)
        before = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        if before != -1:
            signal.set_wakeup_fd(before)
            return -1
        signal.signal(signal.SIGTERM, lambda *_: None)
        self._selector.register(heard, selectors.EVENT_READ)
        return heard

    # ---- in the thread

    def _watch(self) -> None:
        last, end, why = 0.0, math.inf, ""
        while True:
            for key, _ in self._selector.select(self._beat / 4):
                if key.data is not None:
                    self._read(key.data)
                elif key.fileobj is self._launcher:
                    self._selector.unregister(self._launcher)
                    end, why = self._end_without_launcher(), self._without_launcher()
                elif key.fd != self._signals:
                    self._accept()
                elif signal.SIGTERM in os.read(self._signals, _MOST) and not why:
                    end = time.monotonic() + _TO_LEARN_WHY
                    why = "ended by SIGTERM, as from its launcher"
            now = time.monotonic()
            if now > end:
                self._end(why)
            if now - last >= self._beat:
                last = now
                self._tell(self._peers, {"doing": self._doing(), "saved": self.saved})
                self._judge(now)

    def _accept(self) -> None:
        assert self._listener
        with suppress(OSError):
            self._add(self._listener.accept()[0])

    def _read(self, peer: _Peer) -> None:
        try:
            found = peer.connection.recv(_MOST)
        except BlockingIOError:
            return
        except OSError:
            found = b""
        if not found or len(peer.unread) > _MOST:
            self._selector.unregister(peer.connection)
            peer.is_closed = True
            if peer.rank < 0:  # a stranger
                self._peers.remove(peer)
            elif not peer.has_left:
                self._lose(peer, "has ended")
            return
        peer.heard = time.monotonic()
        *lines, peer.unread = (peer.unread + found).split(b"\n")
        for line in lines:
            self._hear(peer, line)

    def _hear(self, peer: _Peer, line: bytes) -> None:
        if not peer.is_known:
            peer.is_known = hmac.compare_digest(line, self._token)
            if not peer.is_known:
                peer.connection.shutdown(socket.SHUT_RDWR)
            return
        message: dict[str, Any] = json.loads(line)
        if "rank" in message:
            peer.rank, peer.host = message["rank"], message["host"]
        peer.doing = message.get("doing", peer.doing)
        peer.has_left = peer.has_left or "left" in message
        if peer.rank == 0:
            self.saved = message.get("saved") or self.saved
        if "over" in message:
            if "late" in message:
                self._end_late(message["over"], peer)
            self._end(message["over"])

    def _judge(self, now: float, limit: float = 0.0) -> None:
        for peer in self._peers:
            is_here = not (peer.has_left or peer.is_closed or peer.rank < 0)
            if is_here and now - peer.heard > (limit or self.limit):
                self._lose(peer, f"has not been heard of for {now - peer.heard:.0f} seconds")

    def _end_without_launcher(self) -> float:
        """Tell process 0 that the launcher is lost, which may be on this host alone. Return when to
        end: another process may know that the launcher ended because of its host.
        """
        if self.rank:
            self._tell(self._peers, {"over": self._without_launcher()})
        return time.monotonic() + (_TO_LEARN_WHY if self.rank else _TO_LEARN_WHOSE)

    def _without_launcher(self) -> str:
        return f"lost the launcher of rank {self.rank} on host {self.host}, which has ended"

    def _lose(self, peer: _Peer, how: str) -> NoReturn:
        where = f", last seen in {peer.doing}" if peer.doing else ""
        self._end(f"lost {peer}, which {how}{where}")

    def _end_late(self, reason: str, teller: _Peer | None) -> NoReturn:
        """End the job because a process has waited too long: for one that is silent, if there is
        one.
        """
        self._judge(time.monotonic(), max(self.limit / 2, 2 * self._beat))
        self._end(reason + self._others(teller))

    def _others(self, teller: _Peer | None) -> str:
        """The places of other processes, for the message of one that has waited too long."""
        places = [(str(p), p.doing) for p in self._peers if p is not teller and p.rank >= 0]
        if teller is not None:
            places.append((f"rank {self.rank} on host {self.host}", self._doing()))
        gone = {str(p) for p in self._peers if p.has_left}
        said = [
            f"{who} {'has ended' if who in gone else 'in ' + (what or 'no collective yet')}"
            for who, what in places
        ]
        return "".join(f"; {one}" for one in said[:_NAMED])

    def _end(self, reason: str) -> NoReturn:
        """End this process, and tell the others why."""
        if self.rank == 0:
            self._tell(self._peers, {"over": reason, "saved": self.saved})
        doing = self._doing()
        here = f"; this rank was in {doing}" if doing else ""
        saved = f"; saved: {self.saved}" if self.saved else ""
        head = f"irax: rank {self.rank} of {self.size} on host {self.host}"
        with suppress(OSError, ValueError):
            print(f"{head}: {reason}{here}{saved}", file=sys.stderr, flush=True)
        self._launcher.end()
        os._exit(1)

    def _tell(self, peers: list[_Peer], message: dict[str, Any]) -> None:
        line = json.dumps(message).encode() + b"\n"
        with self._lock:
            for peer in peers:
                # Where the buffer is full, nobody reads, and soon the process is lost.
                with suppress(OSError):
                    peer.connection.send(line)

    # ---- from other threads

    def end(self, reason: str, is_late: bool = False) -> None:
        """End the job; return if process 0 does not end this process in time.

        Args:
            reason: why.
            is_late: the message is to say what other processes do.
        """
        reason = f"rank {self.rank} on host {self.host}: {reason}"
        if self._launcher.is_lost():
            reason, is_late = self._without_launcher(), False
        if self.rank == 0:
            if is_late:
                self._end_late(reason, None)
            self._end(reason)
        if not self._peers:
            return
        self._tell(self._peers, {"over": reason} | ({"late": True} if is_late else {}))
        time.sleep(_ANSWER)

    def leave(self) -> None:
        """Tell the others that this process comes to its end."""
        if os.getpid() == self._process:
            self._tell(self._peers, {"left": True})

    def _close(self) -> None:
        """Close what a child process has inherited, which would seem to be this process."""
        if self._signals >= 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for peer in self._peers:
            peer.connection.close()
        if self._listener:
            self._listener.close()
