"""The interfaces of devices, buffers and executables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from irax_runtime.communication import current


class OutOfMemoryError(RuntimeError, MemoryError):
    """A device has too little memory left; the process can go on."""


class DeviceLostError(RuntimeError):
    """A device was lost, as after a fault of its driver, with the arrays in its memory. It takes
    others afterwards.
    """


class DeviceClient:
    """The client of a platform's devices: `device.client`."""

    platform: str
    platform_version: str
    runtime_type: str = "irax"
    """The name of the runtime, which libraries compare with those that they know."""

    @property
    def process_index(self) -> int:
        """The number of this process in its job."""
        return current.of_process().rank

    def devices(self) -> list[Any]:
        """The devices."""
        raise NotImplementedError

    def local_devices(self) -> list[Any]:
        """The devices of this process: all of them."""
        return self.devices()

    def device_count(self) -> int:
        """The number of devices."""
        return len(self.devices())

    def local_device_count(self) -> int:
        """The number of devices of this process."""
        return len(self.local_devices())


@runtime_checkable
class Device(Protocol):
    """A device: arrays live in its memory, and programs run on it."""

    id: int
    process_index: int
    """The number of the process that the device belongs to."""

    @classmethod
    def __subclasshook__(cls, other: type, /) -> bool:
        """Return True for classes that load programs as devices do: `issubclass` of a protocol with
        attributes raises otherwise, and libraries ask of which kind classes are.
        """
        return all(hasattr(other, name) for name in ("load", "client", "device_kind"))

    @property
    def local_hardware_id(self) -> int:
        """The number of the device among those of its host; -1 if nothing tells it here."""
        ...

    @property
    def client(self) -> DeviceClient:
        """The client that serves the device."""
        ...

    @property
    def target(self) -> str:
        """The compiler's target that makes its programs."""
        ...

    @property
    def compiler(self) -> str | None:
        """Names the compiler that `load` runs, version and all; None where programs come compiled.
        What it makes, an executable's `serialize` gives, and `load` takes.
        """
        ...

    @property
    def platform(self) -> str:
        """Its kind: "cpu", "vulkan", "cuda", ..."""
        ...

    @property
    def device_kind(self) -> str:
        """The device's own name."""
        ...

    @property
    def driver(self) -> str:
        """The driver or plugin that serves the device, with its version."""
        ...

    def put(self, array: np.ndarray[Any, Any], may_alias: bool = False) -> Buffer:
        """The array in this device's memory. With `may_alias` it may stay where it is: the caller
        promises that nobody writes to it any more.
        """
        ...

    def load(self, artefact: bytes, entry: str | None = None) -> Executable:
        """A compiled program. `entry` names its function where it has several."""
        ...

    def memory_stats(self) -> dict[str, int] | None:
        """Return statistics of the device's memory, such as `bytes_in_use`; None if it has none."""
        ...


MEMORY_KIND = "device"
"""The name of the memory of a device that arrays are in by default."""

HOST_KIND = "pinned_host"
"""The name of the memory of the host that a device reads and writes by itself."""


@dataclass(frozen=True)
class Memory:
    """A memory that a device can use."""

    device: Any
    kind: str = MEMORY_KIND

    @property
    def process_index(self) -> int:
        """The number of the process that the device belongs to."""
        return self.device.process_index

    @property
    def platform(self) -> str:
        """The platform of the device."""
        return self.device.platform

    def addressable_by_devices(self) -> list[Any]:
        """The devices that can use the memory."""
        return [self.device]


class HasMemories:
    """A device that has memories: a base of devices."""

    memory_kinds: tuple[str, ...] = (MEMORY_KIND,)
    """The names of its memories, the default one first."""
    platform: str
    id: int
    process_index: int

    def __str__(self) -> str:
        return f"{self.platform}:{self.id}"

    @property
    def host_id(self) -> int:
        """The number of the process, by an old name."""
        return self.process_index

    @property
    def task_id(self) -> int:
        """The number of the process, by another name."""
        return self.process_index

    def default_memory(self) -> Memory:
        """The memory that arrays are in."""
        return Memory(self, self.memory_kinds[0])

    def addressable_memories(self) -> list[Memory]:
        """The memories of the device."""
        return [Memory(self, kind) for kind in self.memory_kinds]

    def memory(self, kind: str) -> Memory:
        """The memory of a kind.

        Raises:
            ValueError: the device has no such memory.
        """
        if kind not in self.memory_kinds:
            raise ValueError(
                f"memory: {self!r} has no memory {kind!r}; it has "
                + ", ".join(map(repr, self.memory_kinds))
            )
        return Memory(self, kind)


class Buffer(Protocol):
    """An array in a device's memory. Nobody writes to it once it is made."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def device(self) -> Device: ...

    def numpy(self) -> np.ndarray[Any, Any]:
        """The elements; read-only, and without a copy where the memory is the host's."""
        ...

    def wait(self) -> None:
        """Waits until the elements have been computed; raises what went wrong there."""
        ...

    def is_ready(self) -> bool:
        """Return True if the elements have been computed."""
        ...

    def is_deleted(self) -> bool:
        """Return True if the memory was given up to a call that it was donated to."""
        ...


class Executable(Protocol):
    """A compiled function."""

    @property
    def device(self) -> Device: ...

    @property
    def name(self) -> str: ...

    def __call__(self, arguments: Sequence[Buffer]) -> Sequence[Buffer]:
        """Runs the function, or has the device begin to: results can be passed on at once. Raises
        TypeError or ValueError for arguments that do not fit it.
        """
        ...

    def run(self, arguments: Sequence[Buffer], /) -> Sequence[Buffer]:
        """Run without checking the arguments: for callers that know that they fit."""
        ...
