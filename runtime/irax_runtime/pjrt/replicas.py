"""Programs that several devices of a plugin run together, a replica on each.

The replicas communicate by the plugin's own collectives.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from irax_runtime import interruptible
from irax_runtime.communication import current
from irax_runtime.pjrt import abi, programs
from irax_runtime.pjrt.buffers import PjrtBuffer
from irax_runtime.pjrt.executables import load_for, may_donate
from irax_runtime.pjrt.owner import DeviceHandle, Owner
from irax_runtime.signature import parse_signature


class PjrtReplicas:
    """A program with a replica on each of some devices.

    Args:
        devices: the devices of this process.
        numbers: the numbers of all devices; there may be such of other processes among them.
        artefact: the program, as the target `pjrt` makes it.

    Raises:
        ValueError: the bytes are no such program, or one of another number of devices.
        PjrtError: the plugin cannot compile it.
    """

    def __init__(
        self, devices: Sequence[DeviceHandle], numbers: Sequence[int], artefact: bytes
    ) -> None:
        self.devices = devices
        self._client = devices[0].client
        self._client.check_open()
        header, program = programs.split(artefact)
        self.name: str = header["name"]
        self._results = parse_signature(header["results"])
        self._donated: list[int] = header.get("donated", [])
        self._pointer = load_for(self._client, numbers, header, program)
        self._client.adopt_executable(self._pointer)
        self._execute = self._client.api.function("LoadedExecutable_Execute")
        self._waits_for_others = len(numbers) > len(devices)

    def __del__(self) -> None:
        if hasattr(self, "_pointer"):
            self._client.free_executable(self._pointer)

    def __call__(self, arguments: Sequence[Sequence[Any]]) -> list[list[PjrtBuffer]]:
        """Run the program; give and return arrays by device. It may still be at work afterwards.
        Donated arguments are deleted.

        Raises:
            RuntimeError: an argument was deleted.
            PjrtError: the program failed.
        """
        self._client.check_open()
        given = [_pointers([x.live_pointer() for x in own]) for own in arguments]
        made = [_pointers([None] * len(self._results)) for _ in self.devices]
        given_up = [i for i in self._donated if all(may_donate(own, i) for own in arguments)]
        kept = [i for i in self._donated if i not in given_up]
        kept_numbers = (ctypes.c_int64 * len(kept))(*kept)
        options = abi.ExecuteOptions(
            struct_size=abi.ExecuteOptions.SIZE,
            launch_id=self._client.next_launch(),
            non_donatable_input_indices=ctypes.addressof(kept_numbers),
            num_non_donatable_input_indices=len(kept),
        )
        argument_lists, output_lists = map(_addresses, (given, made))
        call = abi.LoadedExecutable_Execute_Args(
            struct_size=abi.LoadedExecutable_Execute_Args.SIZE,
            executable=self._pointer,
            options=ctypes.addressof(options),
            argument_lists=ctypes.addressof(argument_lists),
            num_devices=len(self.devices),
            num_args=len(arguments[0]),
            output_lists=ctypes.addressof(output_lists),
        )
        if self._waits_for_others:
            run = _Run(self._client, len(self.devices))
            call.device_complete_events = ctypes.addressof(run.ends)
            current.of_process().watch(f"the program {self.name}", run.is_done)
        error = interruptible.run(self._execute, ctypes.addressof(call))
        if error:
            self._client.api.fail(error)
        for own in arguments:
            for i in given_up:
                own[i].delete()
        results = []
        for device, own in zip(self.devices, made, strict=True):
            pointers: list[int] = own[:]
            self._client.adopt_buffers(pointers)
            results.append(
                [
                    PjrtBuffer(pointer, type_.shape, type_.dtype, device)
                    for pointer, type_ in zip(pointers, self._results, strict=True)
                ]
            )
        return results


class _Run:
    """A run of a program on devices of several processes. A plugin would wait for one that has
    ended for ever.
    """

    def __init__(self, client: Owner, count: int) -> None:
        self.ends = _pointers([None] * count)
        """The events of the devices' ends, which the plugin makes when it starts them."""
        self._client = client

    def is_done(self) -> bool:
        """Return True if the devices of this process have come to the end."""
        if self._client.pointer is None:
            return True
        ends = list(self.ends)
        if not all(end and self._client.api.is_ready(end) for end in ends):
            return False
        for end in ends:
            self._client.api.call("Event_Destroy", event=end)
        return True


def _pointers(values: Sequence[int | None]) -> Any:
    return (ctypes.c_void_p * len(values))(*values)


def _addresses(arrays: Sequence[Any]) -> Any:
    return _pointers([ctypes.addressof(array) for array in arrays])
