"""The store of a job, and the functions by which a plugin uses it."""

from __future__ import annotations

import ctypes
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.runtime.communication.test_communication import job
from tests.runtime.pjrt.pjrt_programs import needs_plugin

from irax_runtime.communication.communicator import CommunicationError
from irax_runtime.communication.store import OwnStore, RemoteStore, Store, serve, store_of
from irax_runtime.communication.threads import ThreadGroup
from irax_runtime.pjrt import abi
from irax_runtime.pjrt.key_value import KeyValueCallbacks

TOKEN = bytes(range(16))


def remote() -> Store:
    return RemoteStore([("127.0.0.1", serve(OwnStore(), TOKEN))], TOKEN)


STORES = pytest.mark.parametrize("make", [OwnStore, remote])


@STORES
def test_values_are_found_by_key(make: Any):
    store = make()
    assert store.find("é", 0.0) is None
    for value in (b"", b"\0a\n", bytes(1 << 20)):
        store.put("é", value)
        assert store.get("é", 1.0) == value
    assert store.find("e", 0.0) is None


@STORES
def test_folders_and_numbers(make: Any):
    store = make()
    assert [store.put_new("a/b", b"") for _ in range(2)] == [True, False]
    assert store.put_new("a/c/d", b"\xff")
    assert store.put_new("ab", b"x")
    assert store.below("a") == {"a/b": b"", "a/c/d": b"\xff"}
    assert store.below("none") == {}
    store.remove("a")
    assert store.below("a") == {}
    assert store.find("ab", 0.0) == b"x"
    assert [store.increase("n", by) for by in (2, -5)] == [2, -3]
    assert store.find("n", 0.0) == b"-3"
    with pytest.raises(ValueError, match="the value of 'ab' is no number"):
        store.increase("ab", 1)


@STORES
def test_who_asks_waits_for_who_puts(make: Any):
    store = make()
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(store.get, f"key {i}", 10.0) for i in range(6)]
        time.sleep(0.05)
        for i in range(6):
            store.put(f"key {i}", b"%d" % i)
        assert [one.result() for one in waiting] == [b"%d" % i for i in range(6)]


@STORES
def test_who_asks_waits_no_longer_than_it_says(make: Any):
    start = time.monotonic()
    with pytest.raises(TimeoutError, match=r"no process has put 'x' into the store in 0\.1 sec"):
        make().get("x", 0.1)
    assert 0.1 <= time.monotonic() - start < 5


def test_strangers_are_not_answered():
    port = serve(OwnStore(), TOKEN)
    with pytest.raises(CommunicationError, match="not process 0 of this job"):
        RemoteStore([("127.0.0.1", port)], bytes(16))
    with socket.create_connection(("127.0.0.1", port), 5) as stranger:
        stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert stranger.recv(1) == b""
    assert RemoteStore([("127.0.0.1", port)], TOKEN).find("x", 0.0) is None


def test_who_says_nothing_holds_up_nobody_for_long():
    port = serve(OwnStore(), TOKEN)
    with socket.create_connection(("127.0.0.1", port), 5):
        assert RemoteStore([("127.0.0.1", port)], TOKEN).find("x", 0.0) is None


def test_a_store_that_is_nowhere():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = unused.getsockname()
    with pytest.raises(CommunicationError, match="process 0 cannot be reached"):
        RemoteStore([address], TOKEN)


def test_all_ranks_have_one_store():
    def use(communicator: Any) -> list[bytes]:
        store = store_of(communicator)
        store.put(f"rank {communicator.rank}", b"%d" % communicator.rank)
        return [store.get(f"rank {rank}", 10.0) for rank in range(communicator.size)]

    assert ThreadGroup(3).run(use) == [[b"0", b"1", b"2"]] * 3


def test_processes_have_one_store():
    done = job(2, "store")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("stored") == 2


# ---- as a plugin uses it -------------------------------------------------------------------------


class Plugin:
    """Calls the functions as a plugin does."""

    def __init__(self, store: Store) -> None:
        self.callbacks = KeyValueCallbacks(store, "cuda:")
        self.errors: list[tuple[int, str]] = []
        kind = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
        self._fail = kind(self._failed)
        self._address_of_fail = ctypes.c_void_p(ctypes.cast(self._fail, ctypes.c_void_p).value)

    def _failed(self, code: int, message: int, size: int) -> int:
        self.errors.append((code, ctypes.string_at(message, size).decode()))
        return 4711

    def call(self, name: str, kind: Any, key: bytes, **fields: Any) -> Any:
        """The struct that a function has filled in; None if it returned the error."""
        address = self.callbacks.fields()[f"kv_{name}_callback"]
        function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(address)
        text = ctypes.create_string_buffer(key, len(key))
        given = kind(
            struct_size=kind.SIZE,
            key=ctypes.addressof(text),
            key_size=len(key),
            callback_error=ctypes.addressof(self._address_of_fail),
            **fields,
        )
        error = function(ctypes.addressof(given))
        assert error in (None, 4711)
        return None if error else given

    def put(self, key: bytes, value: bytes) -> bool:
        memory = ctypes.create_string_buffer(value, len(value) + 1)
        fields = {"value": ctypes.addressof(memory), "value_size": len(value)}
        return self.call("put", abi.KeyValuePutCallback_Args, key, **fields) is not None

    def get(self, key: bytes, milliseconds: int) -> bytes | None:
        kind = abi.KeyValueGetCallback_Args
        return self._copied(self.call("get", kind, key, timeout_in_ms=milliseconds))

    def try_get(self, key: bytes) -> bytes | None:
        return self._copied(self.call("try_get", abi.KeyValueTryGetCallback_Args, key))

    def _copied(self, given: Any) -> bytes | None:
        if given is None:
            return None
        found = ctypes.string_at(given.value, given.value_size)
        assert self.callbacks._lent
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(given.value_deleter_callback)(given.value)
        assert not self.callbacks._lent
        return found


def test_a_plugin_reads_what_another_process_puts():
    store = OwnStore()
    one, other = Plugin(store), Plugin(store)
    later = threading.Timer(0.05, lambda: one.put(b"topology", b"\0\1two"))
    later.start()
    assert other.get(b"topology", 10_000) == b"\0\1two"
    later.join()
    assert other.try_get(b"topology") == b"\0\1two"
    assert store.get("cuda:topology", 0.0) == b"\0\1two"
    assert one.put(b"nothing", b"")
    assert other.get(b"nothing", 0) == b""


def test_a_plugin_is_told_of_errors():
    plugin = Plugin(OwnStore())
    assert plugin.try_get(b"absent") is None
    assert plugin.get(b"absent", 10) is None
    codes = [code for code, _ in plugin.errors]
    assert codes == [abi.Error_Code.NOT_FOUND, abi.Error_Code.DEADLINE_EXCEEDED]
    assert all("cuda:absent" in message for _, message in plugin.errors)

    class Broken(OwnStore):
        def put(self, key: str, value: bytes) -> None:
            raise OSError("the network is down")

    plugin = Plugin(Broken())
    assert not plugin.put(b"a", b"b")
    assert plugin.errors == [(abi.Error_Code.INTERNAL, "OSError: the network is down")]


@needs_plugin
def test_a_client_takes_the_functions():
    from irax_runtime.pjrt.api import load_plugin
    from irax_runtime.pjrt.client import Client, of_job
    from irax_runtime.pjrt.errors import PluginError
    from irax_runtime.pjrt.plugins import plugin_for

    callbacks = KeyValueCallbacks(OwnStore(), "cpu:")
    client = Client(load_plugin(plugin_for("cpu").path), {}, callbacks)
    assert of_job(client, 0) is client
    assert client.devices()
    with pytest.raises(PluginError, match="has process 0 by the plugin, and process 1 by the job"):
        of_job(client, 1)


@needs_plugin
def test_plugins_without_communication_between_processes_are_refused():
    done = job(2, "plugin")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("communicate within a process alone, and this is a job of 2") == 2
