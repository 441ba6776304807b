"""Connections of a process to each other one of its job, by TCP, and messages over them.

Of the threads that wait for messages, one looks after all connections, and wakes those whose
messages have come. A message has a head that tells the channel, its length and what the sender
calls: so a rank that calls another collective, or that of another program, is found at once.
"""

from __future__ import annotations

import select
import socket
import struct
import threading
import time
import zlib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from irax_runtime.communication.communicator import CommunicationError
from irax_runtime.communication.messages import Message
from irax_runtime.communication.watchdog import Watched

_HEAD = struct.Struct("<IIIQ")
"""The channel, a digest of the call, the number of the program, the bytes that follow."""
_JOINED = 32 << 10
"""Bytes of messages that are copied behind their heads, to be sent with these at once."""
_BUFFER = 256 << 10
"""Bytes that are read at once where nobody waits for them yet."""
_EXPLAINED = 2.0
"""Seconds in which `Members` say why a connection has ended."""

_ENDED = "which has ended"
_IN, _OUT = select.POLLIN | select.POLLHUP | select.POLLERR, select.POLLOUT


class _Waiting:
    """A thread that waits for messages, and to send some."""

    __slots__ = ("call", "error", "left", "number", "wake")

    def __init__(self, call: str, number: int) -> None:
        self.call, self.number = call, number
        self.left = 0
        """Messages that have not come, or not gone."""
        self.error: str | None = None
        self.wake = threading.Lock()
        self.wake.acquire()


@dataclass
class _Receive:
    """A message that somebody waits for, or that nobody does yet."""

    view: memoryview
    digest: int
    number: int
    waiting: _Waiting | None
    is_whole: bool = False


class Links:
    """The connections of this process.

    Args:
        rank: the number of this process.
        sockets: a connection to each other process.
        programs: the names of programs by their numbers.
    """

    def __init__(
        self, rank: int, sockets: Mapping[int, socket.socket], programs: Mapping[int, str]
    ) -> None:
        self.rank, self.programs = rank, programs
        self._mutex = threading.Lock()
        self._leader: _Waiting | None = None
        self._waiting: set[_Waiting] = set()
        self._poll = select.poll()
        self._woken, self._waker = socket.socketpair()
        self._woken.setblocking(False)
        self._poll.register(self._woken, _IN)
        self._links = {other: _Link(self, other, found) for other, found in sockets.items()}
        self._by_handle = {link.socket.fileno(): link for link in self._links.values()}
        for handle in self._by_handle:
            self._poll.register(handle, _IN)

    def channel(self, name: str, number: int) -> TcpChannel:
        """Return a channel for a program, by its number."""
        return TcpChannel(self, zlib.crc32(name.encode()), number)

    def end(self) -> None:
        """Close all connections."""
        for link in self._links.values():
            link.socket.close()
        self._woken.close()
        self._waker.close()

    def swap(
        self,
        tag: int,
        number: int,
        call: str,
        sent: Sequence[Message],
        received: Sequence[Message],
    ) -> None:
        """Send messages over a channel, and wait for others."""
        digest = _digest(call)
        own = _Waiting(call, number)
        own.left = len(sent) + len(received)
        with self._mutex:
            for rank, row in sent:
                self._links[rank].send(tag, digest, number, _view(row), own)
            for rank, row in received:
                self._links[rank].expect(tag, _Receive(_view(row), digest, number, own))
        self._wait(own)
        if own.error is not None:
            if own.error.endswith(_ENDED):
                time.sleep(_EXPLAINED)
            raise CommunicationError(own.error)

    def _wait(self, own: _Waiting) -> None:
        while True:
            with self._mutex:
                if not own.left:
                    return
                leads = self._leader is None
                if leads:
                    self._leader = own
                else:
                    self._waiting.add(own)
            if not leads:
                own.wake.acquire()
                continue
            try:
                while own.left:
                    self._step()
            finally:
                with self._mutex:
                    self._leader = None
                    if self._waiting:
                        self._waiting.pop().wake.release()

    def _step(self) -> None:
        events = self._poll.poll()
        with self._mutex:
            for handle, event in events:
                link = self._by_handle.get(handle)
                if link is None:
                    self._woken.recv(_HEAD.size)
                    continue
                if event & _IN:
                    link.read()
                if event & _OUT:
                    link.write()

    def wait_for_room(self, link: _Link, has_more: bool) -> None:
        """Note whether there is more to send than a connection takes now."""
        self._poll.modify(link.socket, _IN | _OUT if has_more else _IN)
        if has_more and self._leader:
            self._waker.send(b"x")

    def close(self, link: _Link) -> None:
        """Note that the other process has ended a connection."""
        self._poll.unregister(link.socket)
        link.socket.close()

    def done(self, waiting: _Waiting, error: str | None = None) -> None:
        """Note that a message has come or gone, or that it never will."""
        waiting.left = 0 if error else waiting.left - 1
        waiting.error = waiting.error or error
        if not waiting.left and waiting in self._waiting:
            self._waiting.remove(waiting)
            waiting.wake.release()


def _view(row: Any) -> memoryview:
    return memoryview(row)


@lru_cache(1024)
def _digest(call: str) -> int:
    return zlib.crc32(call.encode())


class TcpChannel:
    """Messages over the connections of a process, for one thread at a time."""

    def __init__(self, links: Links, tag: int, number: int) -> None:
        self._links, self._tag, self._number = links, tag, number

    def swap(self, call: Watched, sent: Sequence[Message], received: Sequence[Message]) -> None:
        self._links.swap(self._tag, self._number, call.call, sent, received)


class _Link:
    """The connection to one other process."""

    def __init__(self, links: Links, rank: int, connection: socket.socket) -> None:
        connection.setblocking(False)
        self.socket = connection
        self._links, self._rank = links, rank
        self._outgoing: deque[tuple[memoryview, _Waiting]] = deque()
        self._expected: dict[int, deque[_Receive]] = {}
        self._arrived: dict[int, deque[_Receive]] = {}
        self._buffer = memoryview(bytearray(_BUFFER))
        self._unread = b""
        self._current: _Receive | None = None
        self._place = 0
        """The bytes of the current message that have come."""
        self._is_full, self._is_closed = False, False

    # ---- what is sent

    def send(self, tag: int, digest: int, number: int, row: memoryview, waiting: _Waiting) -> None:
        if self._is_closed:
            return self._links.done(waiting, self._end())
        head = _HEAD.pack(tag, digest, number, row.nbytes)
        is_first = not self._outgoing
        if row.nbytes <= _JOINED:
            self._outgoing.append((memoryview(head + row.tobytes()), waiting))
        else:
            waiting.left += 1
            self._outgoing.append((memoryview(head), waiting))
            self._outgoing.append((row, waiting))
        if is_first:
            self.write()

    def write(self) -> None:
        """Send what the connection takes now."""
        try:
            while self._outgoing:
                view, waiting = self._outgoing[0]
                count = self.socket.send(view)
                if count < len(view):
                    self._outgoing[0] = view[count:], waiting
                    continue
                self._outgoing.popleft()
                self._links.done(waiting)
        except BlockingIOError:
            pass
        except OSError:
            return self._close()
        if self._is_full != bool(self._outgoing):
            self._is_full = bool(self._outgoing)
            self._links.wait_for_room(self, self._is_full)

    # ---- what comes

    def expect(self, tag: int, receive: _Receive) -> None:
        if self._arrived.get(tag):
            return self._deliver(self._arrived[tag].popleft(), receive)
        if self._is_closed:
            assert receive.waiting
            return self._links.done(receive.waiting, self._end())
        self._expected.setdefault(tag, deque()).append(receive)

    def _deliver(self, arrived: _Receive, receive: _Receive) -> None:
        assert receive.waiting
        if error := self._difference(arrived, receive):
            return self._links.done(receive.waiting, error)
        receive.view[: len(arrived.view)] = arrived.view
        if arrived.is_whole:
            self._links.done(receive.waiting)
        else:  # the rest of it comes now
            self._current = receive

    def _difference(self, arrived: _Receive, receive: _Receive) -> str | None:
        is_same = arrived.digest == receive.digest and arrived.number == receive.number
        if is_same and len(arrived.view) == len(receive.view):
            return None
        assert receive.waiting
        names = self._links.programs
        own, other = (
            f" in {names[n]}" if names.get(n) else "" for n in (receive.number, arrived.number)
        )
        return (
            f"rank {self._links.rank}, in {receive.waiting.call}{own}, calls another collective "
            f"than rank {self._rank}{other}: all ranks must call the same collectives in the same "
            "order"
        )

    def read(self) -> None:
        try:
            while True:
                if self._current is None:
                    count = self.socket.recv_into(self._buffer)
                    self._take(self._unread + bytes(self._buffer[:count]))
                    is_more = count == _BUFFER
                else:
                    rest = self._current.view[self._place :]
                    count = self.socket.recv_into(rest)
                    self._place += count
                    is_more = count < len(rest)
                    if not is_more:
                        self._finish()
                if not count:
                    return self._close()
                if not is_more:
                    return
        except BlockingIOError:
            return
        except OSError:
            return self._close()

    def _take(self, found: bytes) -> None:
        """Take what was read between messages: whole ones, and the beginning of one."""
        view = memoryview(found)
        while len(view) >= _HEAD.size:
            tag, digest, number, length = _HEAD.unpack(view[: _HEAD.size])
            view = view[_HEAD.size :]
            self._begin(tag, digest, number, length)
            assert self._current
            self._place = min(length, len(view))
            self._current.view[: self._place] = view[: self._place]
            view = view[self._place :]
            if self._place < length:
                break
            self._finish()
        self._unread = bytes(view)

    def _begin(self, tag: int, digest: int, number: int, length: int) -> None:
        arrived = _Receive(memoryview(b""), digest, number, None)
        expected = self._expected.get(tag)
        if expected:
            receive = expected.popleft()
            assert receive.waiting
            is_fitting = len(receive.view) == length
            arrived.view = receive.view if is_fitting else memoryview(bytes(length))
            if error := self._difference(arrived, receive):
                self._links.done(receive.waiting, error)
            else:
                self._current = receive
                return
        arrived.view = memoryview(bytearray(length))
        self._current = arrived
        if not expected:
            self._arrived.setdefault(tag, deque()).append(arrived)

    def _finish(self) -> None:
        assert self._current
        self._current.is_whole = True
        if self._current.waiting:
            self._links.done(self._current.waiting)
        self._current = None

    # ---- the end

    def _end(self) -> str:
        return f"rank {self._links.rank} waits for rank {self._rank}, {_ENDED}"

    def _close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._links.close(self)
        waiting = {one for _, one in self._outgoing}
        receives = [self._current, *(r for found in self._expected.values() for r in found)]
        waiting |= {r.waiting for r in receives if r and r.waiting}
        for one in waiting:
            self._links.done(one, self._end())
