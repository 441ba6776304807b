"""A plugin's client: its devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from irax_runtime.communication import current, store
from irax_runtime.device import Device, DeviceClient
from irax_runtime.devices import numbered
from irax_runtime.once import once
from irax_runtime.pjrt import buffers, executables, replicas
from irax_runtime.pjrt.api import Api, load_plugin
from irax_runtime.pjrt.errors import Error_Code, PjrtError, PluginError
from irax_runtime.pjrt.key_value import KeyValueCallbacks
from irax_runtime.pjrt.owner import DeviceHandle, Owner
from irax_runtime.pjrt.plugins import plugin_for
from irax_runtime.platforms import PjrtPlatform, Settings, of_plugin


def devices(platform: PjrtPlatform) -> list[PjrtDevice]:
    """The devices of a platform; see `client_for`."""
    return client_for(platform.plugin).devices()


@once
def client_for(plugin: str) -> Client:
    """The client of this process for what plugins call "cpu", "cuda", ..., from the first of them.

    In a job all processes ask for it together, and its plugin finds the devices of all.

    Raises:
        PluginError: there is no plugin for it, or none that can be used.
        PjrtError: the plugin finds no such device.
        ValueError: an environment variable that says how many devices there are is malformed.
    """
    platform = of_plugin(plugin)
    path = plugin_for(plugin).path
    process = current.of_process()
    if process.size == 1:
        _prepare(platform)
        return Client(load_plugin(path), platform.options())
    if platform.of_process is None:
        raise PluginError(
            f"{path}: the devices of this plugin communicate within a process alone, and this is a "
            f"job of {process.size} processes: run it with IRAX_PLATFORMS=cpu, or as one process "
            "that has several devices"
        )
    _prepare(platform)
    options = {**platform.options(), **platform.of_process(process.rank, process.size)}
    callbacks = KeyValueCallbacks(store.of_process(), f"{plugin}:")
    return of_job(Client(load_plugin(path), options, callbacks), process.rank)


def _prepare(platform: PjrtPlatform) -> None:
    try:
        platform.prepare()
    except LookupError as error:
        raise PjrtError(Error_Code.NOT_FOUND, str(error)) from None


def of_job(client: Client, rank: int) -> Client:
    """Return the client of a process of a job.

    Raises:
        PluginError: its plugin numbers the processes in another way.
    """
    for device in client.devices():
        if device.process_index != rank:
            raise PluginError(
                f"{client.api.path}: {device!r} has process {device.process_index} by the plugin, "
                f"and process {rank} by the job: start the processes in the plugin's order"
            )
    return client


class Client(Owner, DeviceClient):
    """The devices of a plugin."""

    def __init__(
        self,
        api: Api,
        options: Settings | None = None,
        callbacks: KeyValueCallbacks | None = None,
    ) -> None:
        """Opens the devices; see `Owner`."""
        super().__init__(api, options, callbacks)
        self._devices = [PjrtDevice(self, pointer) for pointer in self.device_pointers()]

    def devices(self) -> list[PjrtDevice]:
        """The plugin's devices in this process."""
        return list(self._devices)

    @property
    def platform_version(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The plugin's own description."""
        return self.version


class PjrtDevice(DeviceHandle):
    """One device of a plugin."""

    client: Client  # pyright: ignore[reportIncompatibleVariableOverride]

    def __repr__(self) -> str:
        return f"PjrtDevice({self.platform!r}, id={self.id})"

    def __reduce__(self) -> Any:
        return numbered, (self.platform, self.id)

    def __call__(self) -> PjrtDevice:
        """Itself: `array.device()` is an old spelling of `array.device`."""
        return self

    def put(self, array: np.ndarray[Any, Any], may_alias: bool = False) -> buffers.PjrtBuffer:
        """The array in the device's memory.

        With `may_alias` a device that is the processor may use the memory where it is; the caller
        then promises that nobody writes to the array any more.

        Raises:
            TypeError: the device has no such dtype.
            OutOfMemoryError: the device has no room for it.
        """
        return buffers.put(self, array, may_alias)

    def load(self, artefact: bytes, entry: str | None = None) -> executables.PjrtExecutable:
        """A program compiled by the target `pjrt`, or what `PjrtExecutable.serialize` gave.

        Args:
            artefact: the program; the plugin compiles it here.
            entry: its function's name, which must be the one that it was compiled for.

        Raises:
            ValueError: the bytes are no such program, or it has no such function.
            PjrtError: the plugin cannot compile it; the message is the compiler's.
        """
        return executables.load(self, artefact, entry)

    def load_together(self, devices: Sequence[Device], artefact: bytes) -> replicas.PjrtReplicas:
        """A program of which each of some devices runs a replica. Those of other processes load it
        there.

        Raises:
            ValueError: the bytes are no such program.
            PjrtError: the plugin cannot compile it; the message is the compiler's.
        """
        own = [device for device in devices if isinstance(device, PjrtDevice)]
        return replicas.PjrtReplicas(own, [device.id for device in devices], artefact)
