"""Programs that a plugin runs.

An artefact is a line of JSON, which MLIR reads as a comment, and then the program: StableHLO text,
or what `serialize` got from the plugin.

    // irax: {"name": "f", "args": "f32[3];i32[]", "results": "f32[3]"}

With it arguments are checked before a call: the plugin itself would take four bytes of integer for
four bytes of float. `donated` lists the arguments whose memory the program may use for its results.
"""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from irax_runtime.pjrt import abi
from irax_runtime.pjrt.api import named_values
from irax_runtime.pjrt.buffers import PjrtBuffer, dtype_of_type
from irax_runtime.pjrt.options import compile_options
from irax_runtime.signature import TensorType, parse_signature

if TYPE_CHECKING:
    from irax_runtime.pjrt.client import PjrtDevice

PREFIX = b"// irax: "

_UNKNOWN_SIZE = re.compile(rb"tensor<[0-9x]*\?")


def load(device: PjrtDevice, artefact: bytes, entry: str | None) -> PjrtExecutable:
    """The program of an artefact on a device; see `PjrtDevice.load`."""
    device.client.check_open()
    header, program = _split(artefact)
    name = header["name"]
    if entry is not None and entry != name:
        raise ValueError(f"the program has no function {entry}; it has {name}")
    made_by = header.get("serialized")
    if made_by is None:
        pointer = _compile(device, program)
    else:
        here = [device.client.platform, device.client.version]
        if made_by != here:
            raise ValueError(
                f"the program was serialized by {' '.join(made_by)}; this is {' '.join(here)}: "
                "compile it again"
            )
        pointer = _deserialize(device, program)
    device.client.adopt_executable(pointer)
    return PjrtExecutable(device, pointer, header)


def _split(artefact: bytes) -> tuple[dict[str, Any], bytes]:
    line, _, program = artefact.partition(b"\n")
    try:
        if not line.startswith(PREFIX):
            raise ValueError(f"it does not begin with {PREFIX.decode()!r}")
        header = json.loads(line[len(PREFIX) :])
        missing = [key for key in ("name", "args", "results") if key not in header]
        if missing:
            raise ValueError(f"its first line does not tell {' and '.join(missing)}")
    except ValueError as error:
        raise ValueError(f"not a program for a PJRT device: {error}") from None
    return header, program


def _compile(device: PjrtDevice, program: bytes) -> int:
    if unknown := _UNKNOWN_SIZE.search(program):
        raise ValueError(
            "a PJRT device runs no program with dimensions of unknown size, which some plugins "
            f"end the process for: {unknown[0].decode()}...>"
        )
    client = device.client
    described = abi.Program(
        struct_size=abi.Program.SIZE,
        code=_address(program),
        code_size=len(program),
        format=_address(b"mlir"),
        format_size=len(b"mlir"),
    )
    options = compile_options([device.id])
    return client.api.call(
        "Client_Compile",
        client=client.pointer,
        program=ctypes.addressof(described),
        compile_options=_address(options),
        compile_options_size=len(options),
    ).executable


def _deserialize(device: PjrtDevice, program: bytes) -> int:
    options = compile_options([device.id])
    return device.client.api.call(
        "Executable_DeserializeAndLoad",
        client=device.client.pointer,
        serialized_executable=_address(program),
        serialized_executable_size=len(program),
        overridden_serialized_compile_options=_address(options),
        overridden_serialized_compile_options_size=len(options),
    ).loaded_executable


def _address(data: bytes) -> int:
    """Where the bytes are, for as long as they live."""
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0


class PjrtExecutable:
    """A function compiled by a plugin. Any number of threads may call it at a time."""

    def __init__(self, device: PjrtDevice, pointer: int, header: dict[str, Any]) -> None:
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
        """The same, unchecked but for deleted arguments: for callers who know that they fit."""
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
        try:
            call.arguments[:] = pointers
            if self._donated:
                call.keep([i for i in self._donated if not self._may_donate(arguments, i)])
            error = self._execute(call.address)
            if error:
                client.api.fail(error)
            made: list[int] = call.results[:]
        finally:
            self._calls.append(call)
        client.adopt_buffers(made)
        for i in self._donated:
            if self._may_donate(arguments, i):
                arguments[i].delete()
        return [
            PjrtBuffer(pointer, type_.shape, type_.dtype, device)
            for pointer, type_ in zip(made, self.results, strict=True)
        ]

    @staticmethod
    def _may_donate(arguments: Sequence[PjrtBuffer], i: int) -> bool:
        """Whether nobody else sees an argument's memory: neither NumPy nor another argument."""
        given = arguments[i]
        return given._numpy is None and sum(other is given for other in arguments) == 1

    def _check_results(self) -> None:
        found = list(self._results_of_program())
        if found != self.results:
            told, is_ = (", ".join(map(str, types)) or "none" for types in (self.results, found))
            raise ValueError(f"{self.name}: the program's results are {is_}; it tells {told}")

    def _results_of_program(self) -> list[TensorType]:
        with _Executable(self) as (call, executable):
            types = call("Executable_OutputElementTypes", executable=executable)
            shapes = call("Executable_OutputDimensions", executable=executable)
            count = types.num_output_types
            numbers = _array(ctypes.c_int, types.output_types, count)
            ranks = _array(ctypes.c_size_t, shapes.dim_sizes, count)
            lengths = iter(_array(ctypes.c_int64, shapes.dims, sum(ranks)))
            return [
                TensorType(dtype_of_type(number), tuple(next(lengths) for _ in range(rank)))
                for number, rank in zip(numbers, ranks, strict=True)
            ]

    def serialize(self) -> bytes:
        """The compiled program, which `PjrtDevice.load` takes on a device of the same kind and
        with the same version of the plugin.

        Raises:
            PjrtError: the plugin cannot serialize programs.
        """
        client = self.device.client
        with _Executable(self) as (call, executable):
            made = call("Executable_Serialize", executable=executable)
            try:
                data = ctypes.string_at(made.serialized_bytes, made.serialized_bytes_size)
            finally:
                free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(made.serialized_executable_deleter)
                free(made.serialized_executable)
        header = {**self._header, "serialized": [client.platform, client.version]}
        return PREFIX + json.dumps(header).encode() + b"\n" + data

    def cost_analysis(self) -> dict[str, Any]:
        """What the plugin's compiler reckons of a call: `flops`, `bytes accessed`, ...

        Raises:
            PjrtError: the plugin does not tell.
        """
        with _Executable(self) as (call, executable):
            found = call("Executable_GetCostAnalysis", executable=executable)
            return named_values(found.properties, found.num_properties)

    def memory_analysis(self) -> dict[str, int]:
        """The bytes that a call needs, for code, arguments, results, temporaries and at its peak.

        Raises:
            PjrtError: the plugin does not tell.
        """
        with _Executable(self) as (call, executable):
            found = call("Executable_GetCompiledMemoryStats", executable=executable)
            names = [field[0] for field in abi.Executable_GetCompiledMemoryStats_Args._fields_]
            return {name: getattr(found, name) for name in names if name.endswith("_in_bytes")}


class _Executable:
    """The plugin's description of a loaded executable, for the length of a `with` block."""

    def __init__(self, loaded: PjrtExecutable) -> None:
        self._loaded = loaded

    def __enter__(self) -> tuple[Any, int]:
        client = self._loaded.device.client
        client.check_open()
        self._call = client.api.call
        found = self._call(
            "LoadedExecutable_GetExecutable", loaded_executable=self._loaded._pointer
        )
        self._pointer = found.executable
        return self._call, self._pointer

    def __exit__(self, *_: object) -> None:
        self._call("Executable_Destroy", executable=self._pointer)


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


def _array(kind: Any, address: int | None, count: int) -> list[int]:
    return list((kind * count).from_address(address)) if address and count else []
