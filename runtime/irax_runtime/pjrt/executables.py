"""Programs that a plugin's device runs."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import partial
from typing import Any

from irax_runtime import interruptible
from irax_runtime.pjrt import abi, analysis, programs
from irax_runtime.pjrt.api import Api
from irax_runtime.pjrt.buffers import PjrtBuffer
from irax_runtime.pjrt.errors import PjrtError
from irax_runtime.pjrt.options import compile_options
from irax_runtime.pjrt.owner import DeviceHandle, Owner
from irax_runtime.pjrt.programs import address
from irax_runtime.platforms import Settings, of_plugin
from irax_runtime.signature import parse_signature


def load(device: DeviceHandle, artefact: bytes, entry: str | None) -> PjrtExecutable:
    """The program of an artefact on a device; see `PjrtDevice.load`."""
    device.client.check_open()
    header, program = programs.split(artefact)
    name = header["name"]
    if entry is not None and entry != name:
        raise ValueError(f"the program has no function {entry}; it has {name}")
    pointer = load_for(device.client, [device.id], header, program)
    device.client.adopt_executable(pointer)
    return PjrtExecutable(device, pointer, header)


def load_for(client: Owner, devices: Sequence[int], header: dict[str, Any], program: bytes) -> int:
    """Load the two parts of an artefact, with a replica on each of the devices of some numbers;
    return the loaded executable.

    Raises:
        ValueError: it is for another number of devices, or was compiled by another plugin.
        PjrtError: the plugin cannot compile it; the message is the compiler's.
    """
    programs.check_devices(header, len(devices))
    made_by = header.get("serialized")
    if made_by is None:
        return _compile_for(client, devices, program)
    here = [client.platform, client.version]
    if made_by != here:
        theirs, ours = (" ".join(which).replace("\n", ", ") for which in (made_by, here))
        raise ValueError(
            f"the program was serialized by {theirs}; this is {ours}: compile it again"
        )
    return _deserialize(client, devices, program)


def _compile_for(client: Owner, devices: Sequence[int], program: bytes) -> int:
    settings = of_plugin(client.platform).settings()
    if settings:
        try:
            return _compile_with(client, devices, program, settings)
        except PjrtError as error:  # of a plugin that has no such setting
            if error.code != abi.Error_Code.INVALID_ARGUMENT:
                raise
    return _compile_with(client, devices, program)


def _compile_with(
    client: Owner, devices: Sequence[int], program: bytes, settings: Settings | None = None
) -> int:
    described = programs.for_compiler(program)
    options = compile_options(devices, settings)
    return client.api.call(
        "Client_Compile",
        client=client.pointer,
        program=ctypes.addressof(described),
        compile_options=address(options),
        compile_options_size=len(options),
    ).executable


def _deserialize(client: Owner, devices: Sequence[int], program: bytes) -> int:
    options = compile_options(devices)
    return client.api.call(
        "Executable_DeserializeAndLoad",
        client=client.pointer,
        serialized_executable=address(program),
        serialized_executable_size=len(program),
        overridden_serialized_compile_options=address(options),
        overridden_serialized_compile_options_size=len(options),
    ).loaded_executable


def may_donate(arguments: Sequence[PjrtBuffer], i: int) -> bool:
    """Return True if neither NumPy nor another argument shares an argument's memory."""
    given = arguments[i]
    return given._numpy is None and sum(other is given for other in arguments) == 1


class PjrtExecutable:
    """A function compiled by a plugin. Any number of threads may call it at a time."""

    def __init__(self, device: DeviceHandle, pointer: int, header: dict[str, Any]) -> None:
        """Takes a loaded executable over that the device's client has adopted.

        Raises:
            ValueError: the program's results are not those that the header tells.
        """
        self.device = device
        self.name: str = header["name"]
        self.arguments = parse_signature(header["args"])
        self.results = parse_signature(header["results"])
        self._header = header
        self._pointer = pointer
        self._donated: list[int] = header.get("donated", [])
        self._execute = device.client.api.function("LoadedExecutable_Execute")
        self._calls: list[_Call] = []
        is_short = header.get("takes") == "moments"
        self._start = self._enqueue if is_short else partial(interruptible.run, self._enqueue)
        self._check_results()

    def __repr__(self) -> str:
        return f"<program {self.name} on {self.device!r}>"

    def __del__(self) -> None:
        self.device.client.free_executable(self._pointer)

    def __call__(self, arguments: Sequence[Any]) -> list[PjrtBuffer]:
        """Runs the function. It may still be at work when this returns.

        Raises:
            TypeError: the wrong number of arguments, or one of another dtype.
            ValueError: an argument of another shape, or on another device.
            RuntimeError: an argument was deleted or donated.
            PjrtError: the program failed.
        """
        if len(arguments) != len(self.arguments):
            raise TypeError(
                f"{self.name} takes {len(self.arguments)} arguments, got {len(arguments)}"
            )
        for i, (argument, type_) in enumerate(zip(arguments, self.arguments, strict=True)):
            where = f"{self.name}: argument {i}"
            if argument.dtype != type_.dtype:
                raise TypeError(f"{where} has dtype {argument.dtype}; expected {type_}")
            if argument.shape != type_.shape:
                raise ValueError(f"{where} has shape {argument.shape}; expected {type_}")
            if argument.device is not self.device:
                raise ValueError(f"{where} is on {argument.device!r}; expected {self.device!r}")
        return self.run(arguments)

    def run(self, arguments: Sequence[Any]) -> list[PjrtBuffer]:
        """Run without checking the arguments, deleted ones aside: for callers that know that they
        fit.
        """
        device = self.device
        client = device.client
        pointers = [argument.pointer for argument in arguments]
        if client.pointer is None or None in pointers:
            client.check_open()
            for argument in arguments:
                argument.live_pointer()
        try:
            call = self._calls.pop()
        except IndexError:
            call = _Call(self._pointer, len(self.arguments), len(self.results))
        call.arguments[:] = pointers
        if self._donated:
            call.keep([i for i in self._donated if not may_donate(arguments, i)])
        error = self._start(call)  # interrupted, the plugin goes on to use the call's memory
        made: list[int] = call.results[:]
        self._calls.append(call)
        if error:
            client.api.fail(error)
        client.adopt_buffers(made)
        for i in self._donated:
            if may_donate(arguments, i):
                arguments[i].delete()
        return [
            PjrtBuffer(pointer, type_.shape, type_.dtype, device)
            for pointer, type_ in zip(made, self.results, strict=True)
        ]

    def _enqueue(self, call: _Call) -> int | None:
        """Has the plugin run it; some do so before they return. Gives the address of an error."""
        return self._execute(call.address)

    def _check_results(self) -> None:
        with _Executable(self) as of_program:
            found = analysis.result_types(*of_program)
        if found != self.results:
            told, is_ = (", ".join(map(str, types)) or "none" for types in (self.results, found))
            raise ValueError(f"{self.name}: the program's results are {is_}; it tells {told}")

    def serialize(self) -> bytes:
        """The compiled program, which `PjrtDevice.load` takes on a device of the same kind and
        with the same version of the plugin.

        Raises:
            PjrtError: the plugin cannot serialize programs.
        """
        client = self.device.client
        with _Executable(self) as of_program:
            data = analysis.serialized(*of_program)
        return programs.join(
            {**self._header, "serialized": [client.platform, client.version]}, data
        )

    def cost_analysis(self) -> dict[str, Any]:
        """The compiler's estimates for one call: `flops`, `bytes accessed`, ...

        Raises:
            PjrtError: the plugin does not tell.
        """
        with _Executable(self) as of_program:
            return analysis.costs(*of_program)

    def memory_analysis(self) -> dict[str, int]:
        """The bytes that a call needs, for code, arguments, results, temporaries and at its peak.

        Raises:
            PjrtError: the plugin does not tell.
        """
        with _Executable(self) as of_program:
            return analysis.memory(*of_program)


class _Executable:
    """The plugin's description of a loaded executable, for the length of a `with` block."""

    def __init__(self, loaded: PjrtExecutable) -> None:
        self._loaded = loaded

    def __enter__(self) -> tuple[Api, int]:
        client = self._loaded.device.client
        client.check_open()
        self._api = client.api
        loaded = self._loaded._pointer
        found = self._api.call("LoadedExecutable_GetExecutable", loaded_executable=loaded)
        self._pointer = found.executable
        return self._api, self._pointer

    def __exit__(self, *_: object) -> None:
        self._api.call("Executable_Destroy", executable=self._pointer)


class _Call:
    """The memory for the arguments of one call of the plugin, used again for the next."""

    def __init__(self, executable: int, num_arguments: int, num_results: int) -> None:
        self.arguments = (ctypes.c_void_p * num_arguments)()
        self.results = (ctypes.c_void_p * num_results)()
        self._lists = (ctypes.c_void_p * 2)(
            ctypes.addressof(self.arguments), ctypes.addressof(self.results)
        )
        self._options = abi.ExecuteOptions(struct_size=abi.ExecuteOptions.SIZE)
        lists = ctypes.addressof(self._lists)
        self._arguments = abi.LoadedExecutable_Execute_Args(
            struct_size=abi.LoadedExecutable_Execute_Args.SIZE,
            executable=executable,
            options=ctypes.addressof(self._options),
            argument_lists=lists,
            num_devices=1,
            num_args=num_arguments,
            output_lists=lists + ctypes.sizeof(ctypes.c_void_p),
        )
        self.address = ctypes.addressof(self._arguments)

    def keep(self, indices: list[int]) -> None:
        """Says which arguments are not to be donated, whatever the program says."""
        self._kept = (ctypes.c_int64 * len(indices))(*indices)
        self._options.non_donatable_input_indices = ctypes.addressof(self._kept)
        self._options.num_non_donatable_input_indices = len(indices)
