"""A store of values by key that all processes of a job see.

PJRT's plugins find the devices of other processes by one. Process 0 has the values, and serves them
to the others by TCP; MPI tells these where. It ends after them, and still serves them then: by one
thread, since Python starts no more threads when it ends. So who asks for a value asks again until
it is there.
"""

from __future__ import annotations

import atexit
import hmac
import json
import os
import secrets
import socket
import socketserver
import struct
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Protocol

from irax_runtime.communication import current
from irax_runtime.communication.communicator import CommunicationError, Communicator
from irax_runtime.once import once

Address = tuple[str, int]

_TOKEN = 16
"""The bytes that a process shows to be one of the job."""
_REQUEST = struct.Struct("<cII")
"""The kind of a request, the lengths of key and value."""
_REPLY = struct.Struct("<?I")
"""True if there is a value, and its length."""
_PATIENCE = 10.0
"""Seconds in which process 0 must answer."""
_STALLING = 1.0
"""Seconds for which process 0 waits for the next part of a request."""
_PAUSES = 0.001, 0.25
"""The least and the most seconds between two questions for a value."""


class _Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Store(ABC):
    """Values by key. Any number of threads may use it at a time."""

    @abstractmethod
    def put(self, key: str, value: bytes) -> None:
        """Keep a value, in place of another of this key."""

    def hosts(self) -> tuple[str, ...]:
        """Return where process 0 has been reached; nothing in process 0."""
        return ()

    @abstractmethod
    def put_new(self, key: str, value: bytes) -> bool:
        """Keep a value, unless there is one of this key; return True if there was none."""

    @abstractmethod
    def find(self, key: str, timeout: float) -> bytes | None:
        """Return the value of a key; None if nobody puts one there in `timeout` seconds."""

    @abstractmethod
    def below(self, folder: str) -> dict[str, bytes]:
        """Return the values whose keys begin with `folder/`, in the order of their keys."""

    @abstractmethod
    def remove(self, key: str) -> None:
        """Forget the value of a key, and those whose keys begin with `key/`."""

    @abstractmethod
    def increase(self, key: str, by: int) -> int:
        """Add to the number of a key, which is 0 if there is none; return the sum.

        Raises:
            ValueError: the value of the key is no number.
        """

    def get(self, key: str, timeout: float) -> bytes:
        """Return the value of a key, when it is there.

        Raises:
            TimeoutError: nobody puts one there in `timeout` seconds.
        """
        found = self.find(key, timeout)
        if found is None:
            raise TimeoutError(f"no process has put {key!r} into the store in {timeout:g} seconds")
        return found


class OwnStore(Store):
    """Values in the memory of this process.

    >>> store = OwnStore()
    >>> store.put("a", b"1")
    >>> store.get("a", 1.0)
    b'1'
    """

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}
        self._changed = threading.Condition()

    def put(self, key: str, value: bytes) -> None:
        with self._changed:
            self._values[key] = value
            self._changed.notify_all()

    def put_new(self, key: str, value: bytes) -> bool:
        with self._changed:
            if key in self._values:
                return False
            self._values[key] = value
            self._changed.notify_all()
        return True

    def find(self, key: str, timeout: float) -> bytes | None:
        with self._changed:
            self._changed.wait_for(lambda: key in self._values, timeout)
            return self._values.get(key)

    def below(self, folder: str) -> dict[str, bytes]:
        with self._changed:
            return {k: v for k, v in sorted(self._values.items()) if k.startswith(f"{folder}/")}

    def remove(self, key: str) -> None:
        for one in [key, *self.below(key)]:
            with self._changed:
                self._values.pop(one, None)

    def increase(self, key: str, by: int) -> int:
        with self._changed:
            try:
                found = int(self._values.get(key, b"0")) + by
            except ValueError as error:
                raise ValueError(f"the value of {key!r} is no number") from error
            self._values[key] = str(found).encode()
            self._changed.notify_all()
        return found


class RemoteStore(Store):
    """The values of process 0.

    Args:
        addresses: where it may be reached; the first that answers is taken.
        token: what it expects to be shown.

    Raises:
        CommunicationError: it cannot be reached.
    """

    def __init__(self, addresses: Sequence[Address], token: bytes) -> None:
        self._token = token
        failures: dict[Address, str] = {}
        for address in addresses:
            self._address = address
            try:
                self._ask(b"f", "")
            except (OSError, EOFError) as error:
                failures[address] = str(error) or "not process 0 of this job"
            else:
                return
        raise CommunicationError(f"process 0 cannot be reached: {failures}")

    def hosts(self) -> tuple[str, ...]:
        return (self._address[0],)

    def put(self, key: str, value: bytes) -> None:
        self._ask(b"p", key, value)

    def put_new(self, key: str, value: bytes) -> bool:
        return self._ask(b"n", key, value) is not None

    def find(self, key: str, timeout: float) -> bytes | None:
        last = time.monotonic() + timeout
        pause, longest = _PAUSES
        while True:
            found = self._ask(b"f", key)
            left = last - time.monotonic()
            if found is not None or left <= 0:
                return found
            time.sleep(min(pause, left))
            pause = min(2 * pause, longest)

    def below(self, folder: str) -> dict[str, bytes]:
        told = json.loads(self._ask(b"b", folder) or b"{}")
        return {key: bytes.fromhex(value) for key, value in told.items()}

    def remove(self, key: str) -> None:
        self._ask(b"r", key)

    def increase(self, key: str, by: int) -> int:
        found = self._ask(b"i", key, str(by).encode())
        if found is None:
            raise ValueError(f"the value of {key!r} is no number")
        return int(found)

    def _ask(self, what: bytes, key: str, value: bytes = b"") -> bytes | None:
        encoded = key.encode()
        request = _REQUEST.pack(what, len(encoded), len(value))
        with (
            socket.create_connection(self._address, _PATIENCE) as connection,
            connection.makefile("rwb") as stream,
        ):
            stream.write(self._token + request + encoded + value)
            stream.flush()
            is_there, length = _REPLY.unpack(_exactly(stream, _REPLY.size))
            return _exactly(stream, length) if is_there else None


def serve(store: Store, token: bytes, address: Address = ("", 0)) -> int:
    """Serve the values of a store to all who show a token, while the process lives, at an address
    of this machine; return the port.
    """

    class Handler(socketserver.StreamRequestHandler):
        timeout = _STALLING

        def handle(self) -> None:
            with suppress(OSError, EOFError):  # who asked has gone
                self._answer()

        def _answer(self) -> None:
            if not hmac.compare_digest(_exactly(self.rfile, _TOKEN), token):
                return
            what, *lengths = _REQUEST.unpack(_exactly(self.rfile, _REQUEST.size))
            key, value = (_exactly(self.rfile, length) for length in lengths)
            found = _answer(store, what, key.decode(), value)
            self.wfile.write(_REPLY.pack(found is not None, len(found or b"")) + (found or b""))

    class Server(socketserver.TCPServer):
        request_queue_size = 128
        allow_reuse_address = True

    server = Server(address, Handler)
    threading.Thread(target=server.serve_forever, name="irax store", daemon=True).start()
    return server.server_address[1]


def _answer(store: Store, what: bytes, key: str, value: bytes) -> bytes | None:
    """Do what another process asks of a store; return what it is told, if anything."""
    match what:
        case b"p":
            store.put(key, value)
        case b"n":
            return b"" if store.put_new(key, value) else None
        case b"b":
            return json.dumps({k: v.hex() for k, v in store.below(key).items()}).encode()
        case b"r":
            store.remove(key)
        case b"i":
            with suppress(ValueError):
                return str(store.increase(key, int(value))).encode()
        case _:
            return store.find(key, 0.0)
    return None


def _exactly(stream: _Stream, length: int) -> bytes:
    found = stream.read(length)
    if len(found) < length:
        raise EOFError
    return found


def store_of(communicator: Communicator) -> Store:
    """Return a store that all processes see. All of them call this together."""
    is_server = communicator.rank == 0
    store, token, message = OwnStore(), secrets.token_bytes(_TOKEN), ""
    if is_server:
        port = serve(store, token)
        message = "\n".join(f"{host} {port}" for host in addresses_of_this_host())
    told = communicator.exchange(token + message.encode())[0]
    if not is_server:
        lines = (line.split() for line in told[_TOKEN:].decode().splitlines())
        found = RemoteStore([(host, int(port)) for host, port in lines], told[:_TOKEN])
    else:
        found = store
    end_in_order(found, communicator.rank, communicator.size, communicator.limit)
    return found


def end_in_order(store: Store, rank: int, size: int, limit: float) -> None:
    """Have process 0 end after the others, which tell it at their end; it waits no longer than a
    limit.
    """
    if rank == 0:
        _at_exit.insert(0, partial(_await_the_end_of, range(1, size), store, limit))
    else:
        _at_exit.append(partial(store.put, _end_of(rank), b""))


def _end_of(rank: int) -> str:
    """The key by which a process tells that it ends."""
    return f"irax: end of {rank}"


def _await_the_end_of(ranks: Sequence[int], store: Store, limit: float) -> None:
    """Wait until processes end, since they may still ask for values; no longer than a limit."""
    last = time.monotonic() + limit
    for rank in ranks:
        store.find(_end_of(rank), max(0.0, last - time.monotonic()))


_at_exit: list[Callable[[], object]] = []


@atexit.register
def _end() -> None:
    """Tell process 0 that this process ends; there, wait for the others. A plugin's client has
    waited for its work before: its module imports this one, and handlers run in reverse order.
    """
    while _at_exit:
        with suppress(OSError, EOFError):  # process 0 has gone
            _at_exit.pop()()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_at_exit.clear)


def addresses_of_this_host() -> list[str]:
    """The names by which others may reach this machine, and that by which it reaches itself."""
    names = [socket.gethostname()]
    with suppress(OSError):
        names += [str(entry[4][0]) for entry in socket.getaddrinfo(names[0], None, socket.AF_INET)]
    return list(dict.fromkeys([*names, "127.0.0.1"]))


_met_at: list[Store] = []


def set_of_process(store: Store) -> None:
    """Set the store of this process's job, by which its processes have met."""
    _met_at.append(store)


@once
def of_process() -> Store:
    """Return the store of this process's job. All processes ask for it the first time together."""
    if _met_at:
        return _met_at[0]
    communicator = current.of_process()
    return OwnStore() if communicator.size == 1 else store_of(communicator)
