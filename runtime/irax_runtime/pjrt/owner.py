"""The owner of what a plugin hands out.

The plugin frees a client's memory with the client, whoever still points there. So a client knows
all that it has handed out and frees that first; what is used afterwards raises an error, and memory
that NumPy arrays show keeps the client where it is.
"""

from __future__ import annotations

import atexit
import ctypes
import itertools
import os
import struct
import threading
import weakref
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from irax_runtime import interruptible
from irax_runtime.device import HasMemories
from irax_runtime.pjrt import abi
from irax_runtime.pjrt.api import Api, as_named_values, text
from irax_runtime.pjrt.errors import PjrtError
from irax_runtime.pjrt.key_value import KeyValueCallbacks
from irax_runtime.platforms import Settings, of_plugin

_STATISTICS = (
    "peak_bytes_in_use",
    "num_allocs",
    "largest_alloc_size",
    "bytes_limit",
    "bytes_reserved",
    "peak_bytes_reserved",
    "bytes_reservable_limit",
    "largest_free_block_bytes",
    "pool_bytes",
    "peak_pool_bytes",
)


class _Loans:
    """Memory of NumPy's that a plugin uses in place, and the events that give it back.

    The events are looked at when as much has been lent as was still out at the last look.
    """

    _COUNT, _BYTES = 16, 64 << 20

    def __init__(self, api: Api) -> None:
        self._api = api
        self._lock = threading.Lock()
        self._open: list[tuple[int, np.ndarray[Any, Any]]] = []
        self._count, self._bytes = self._COUNT, self._BYTES

    def add(self, event: int, array: np.ndarray[Any, Any]) -> None:
        with self._lock:
            self._open.append((event, array))
            self._count -= 1
            self._bytes -= array.nbytes
            if self._count < 0 or self._bytes < 0:
                self._look()

    def _look(self) -> None:
        still_open = []
        for event, array in self._open:
            if self._api.is_ready(event):
                self._api.call("Event_Destroy", event=event)
            else:
                still_open.append((event, array))
        self._open = still_open
        self._count = self._COUNT + len(still_open)
        self._bytes = self._BYTES + sum(array.nbytes for _, array in still_open)

    def end(self) -> None:
        """The client is gone, and all that it used."""
        for event, _ in self._open:
            self._api.call("Event_Destroy", event=event)
        self._open.clear()


class Owner:
    """A plugin's client, which owns what lives in it: buffers, programs, memory that is shown."""

    def __init__(
        self,
        api: Api,
        options: Settings | None = None,
        callbacks: KeyValueCallbacks | None = None,
    ) -> None:
        """Opens the devices. Of `options` each plugin has its own, `cpu_device_count` for one. By
        `callbacks` it finds the devices of other processes.

        Raises:
            PjrtError: there are no such devices, or there is no such option.
        """
        self.pointer: int | None = None
        self.api = api
        values, _alive = as_named_values(options or {})
        address = ctypes.addressof(values) if options else None
        self._callbacks = callbacks
        found = callbacks.fields() if callbacks else {}
        created = api.call(
            "Client_Create", create_options=address, num_options=len(values), **found
        )
        self.pointer = created.client
        self.loans = _Loans(api)
        self._buffers: set[int] = set()
        self._executables: set[int] = set()
        self._exported: set[int] = set()
        self._destroy_buffer = api.function("Buffer_Destroy")
        self._destroy_arguments = partial(
            struct.Struct("NNP").pack, abi.Buffer_Destroy_Args.SIZE, 0
        )
        self._launches = itertools.count(1)
        self._closed: int | None = None
        self._why_closed = "is closed"
        name = api.call("Client_PlatformName", client=self.pointer)
        version = api.call("Client_PlatformVersion", client=self.pointer)
        self.platform = text(name.platform_name, name.platform_name_size).lower()
        self.version = text(version.platform_version, version.platform_version_size)
        _owners.add(self)

    def device_pointers(self) -> list[int]:
        """Return the plugin's devices in this process."""
        found = self.api.call("Client_AddressableDevices", client=self.pointer)
        count = found.num_addressable_devices
        return list((ctypes.c_void_p * count).from_address(found.addressable_devices))

    def next_launch(self) -> int:
        """Return a number for the next run of a program on several devices, which their processes
        compare.
        """
        return next(self._launches)

    def check_open(self) -> None:
        """Raises PjrtError if the client is closed."""
        if self.pointer is None:
            code = abi.Error_Code.FAILED_PRECONDITION
            raise PjrtError(code, f"the client of {self.api.path} {self._why_closed}")

    def adopt_buffers(self, pointers: Sequence[int]) -> None:
        """Takes note of buffers, to be freed one by one or with the client."""
        self._buffers.update(pointers)

    def free_buffer(self, pointer: int) -> None:
        """Frees a buffer that has not been freed yet."""
        try:
            self._buffers.remove(pointer)
        except KeyError:
            return
        # Arguments that nothing else can touch: a finaliser may run in the middle of another.
        self._destroy_buffer(self._destroy_arguments(pointer))

    def adopt_executable(self, pointer: int) -> None:
        """Takes note of a loaded executable, to be freed by itself or with the client."""
        self._executables.add(pointer)

    def free_executable(self, pointer: int) -> None:
        """Frees a loaded executable that has not been freed yet."""
        try:
            self._executables.remove(pointer)
        except KeyError:
            return
        self.api.call("LoadedExecutable_Destroy", executable=pointer)

    def export(self, pointer: int) -> None:
        """Takes note that NumPy shows a buffer's memory: nothing may free it."""
        self._exported.add(pointer)

    def end_export(self, pointer: int) -> None:
        """No array shows the memory any more: frees the buffer, and a client that waits for it."""
        self._exported.discard(pointer)
        self.free_buffer(pointer)
        if self.pointer is None and not self._exported:
            self._destroy()

    def close(self) -> None:
        """Frees all buffers and programs, and the client once no NumPy array shows its memory.

        Waits for programs that are at work. What is used afterwards raises PjrtError.
        """
        if self.pointer is None:
            return
        self._closed, self.pointer = self.pointer, None
        for pointer in list(self._executables):
            self.free_executable(pointer)
        # From here on finalisers, which may run at any time, leave these alone.
        owned, self._buffers = self._buffers, set(self._exported)
        for pointer in owned - self._exported:
            with suppress(PjrtError):  # of interest to those alone who asked for that buffer
                self.api.wait(self.api.call("Buffer_ReadyEvent", buffer=pointer).event)
            self._destroy_buffer(self._destroy_arguments(pointer))
        if not self._exported:
            self._destroy()

    def __del__(self) -> None:
        self.close()

    def _destroy(self) -> None:
        closed, self._closed = self._closed, None
        if closed is not None:
            self.api.call("Client_Destroy", client=closed)
            self.loans.end()

    def end(self) -> None:
        """The process ends: nothing may be at work any more on memory that it is about to lose.
        Only the client's destruction waits for programs whose results nobody has kept. The memory
        that NumPy arrays show stays.
        """
        self.close()
        self._buffers.clear()
        self._destroy()

    def abandon(self) -> None:
        """In a forked process, which has none of the client's threads: nothing can be used."""
        self.pointer = None
        self._buffers, self._executables, self._exported = set(), set(), set()
        self._why_closed = (
            "belongs to the process that this one was forked from: start processes that use it "
            "with multiprocessing.get_context('spawn')"
        )


_owners: weakref.WeakSet[Owner] = weakref.WeakSet()


def _abandon_all() -> None:
    for owner in list(_owners):
        owner.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)


@atexit.register
def _end_all() -> None:
    for owner in list(_owners):
        if interruptible.is_work_left_behind():  # for whose end nobody waits
            owner.abandon()
        else:
            owner.end()


class DeviceHandle(HasMemories):
    """A device, as far as its plugin describes it."""

    def __init__(self, client: Owner, pointer: int) -> None:
        self.client = client
        self.pointer = pointer
        call = client.api.call
        description = call("Device_GetDescription", device=pointer).device_description
        kind = call("DeviceDescription_Kind", device_description=description)
        self.id: int = call("DeviceDescription_Id", device_description=description).id
        process = call("DeviceDescription_ProcessIndex", device_description=description)
        self.process_index: int = process.process_index
        self.device_kind = text(kind.device_kind, kind.device_kind_size)
        platform = of_plugin(client.platform)
        self.platform = platform.name
        self.target = platform.target
        self.compiler = f"{client.platform} {client.version} {client.api.identity} {self.id}"

    @property
    def driver(self) -> str:
        """The plugin, and the version of the C API that it speaks."""
        api = self.client.api
        return f"{os.path.basename(api.path)}, PJRT {'.'.join(map(str, api.version))}"

    @property
    def local_hardware_id(self) -> int:
        """The number of the device among those of its host, such as that of a GPU; -1 if the plugin
        has none for it.
        """
        return self.client.api.call("Device_LocalHardwareId", device=self.pointer).local_hardware_id

    def memory_stats(self) -> dict[str, int] | None:
        """Bytes in use, at most in use, and what else the plugin counts; None if it does not.

        The keys are JAX's: `bytes_in_use`, `peak_bytes_in_use`, `bytes_limit`, ...
        """
        self.client.check_open()
        try:
            found = self.client.api.call("Device_MemoryStats", device=self.pointer)
        except PjrtError as error:
            if error.code == abi.Error_Code.UNIMPLEMENTED:
                return None
            raise
        given = {n: getattr(found, n) for n in _STATISTICS if getattr(found, f"{n}_is_set")}
        return {"bytes_in_use": found.bytes_in_use, **given}
