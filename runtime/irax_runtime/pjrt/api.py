"""A plugin's table of functions: loading it, the policy on versions, and calls with errors.

The policy: major version 0, and at least the minor version that `abi` was generated from. Newer
plugins take the older, shorter structs, since each says its size; a plugin's own table says its
size too, and no function beyond its end is called.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from irax_runtime import interruptible
from irax_runtime.once import once
from irax_runtime.pjrt import abi
from irax_runtime.pjrt.errors import PluginError, error_of_code

_OF_EVENT = struct.Struct("NNP")
"""The arguments of functions that take an event and nothing else: their size, none, the event."""

_ELF = struct.Struct("<32sQ14x2H4x")
"""The header of a library: where its segments are described, how long each is and how many."""
_SEGMENT = struct.Struct("<8xQ16xQ16x")
"""A segment's offset in the file, and its length."""

_Function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_Void = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_WITHOUT_RESULT = ("Error_Destroy", "Error_Message")


@once
def load_plugin(path: str) -> Api:
    """The functions of the plugin in a file, which is loaded once.

    Raises:
        PluginError: there is no such file, it is no plugin, or its version is not one that irax
            speaks.
    """
    if not os.path.isfile(path):
        raise PluginError(f"{path}: {'not a file' if os.path.exists(path) else 'no such file'}")
    if _is_cut_off(path):
        raise PluginError(f"{path}: the file is cut off: copy or install it again")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # XLA tells stderr of each step it takes
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise PluginError(f"{path}: cannot be loaded: {error}") from None
    try:
        get_api = library.GetPjrtApi
    except AttributeError:
        raise PluginError(f"{path}: not a PJRT plugin: it has no function GetPjrtApi") from None
    get_api.restype = ctypes.c_void_p
    api = Api(get_api() or 0, path)
    api.call("Plugin_Initialize")
    return api


def _is_cut_off(path: str) -> bool:
    """Return True if a shared library of Linux ends before its last segment does: the loader would
    map that all the same, and crash.
    """
    with open(path, "rb") as file:
        header = file.read(_ELF.size)
        if len(header) < _ELF.size or not header.startswith(b"\x7fELF\x02\x01"):
            return False
        _, first, size, count = _ELF.unpack(header)
        file.seek(first)
        segments = file.read(size * count)
    if size < _SEGMENT.size or len(segments) < size * count:
        return True
    places = (_SEGMENT.unpack_from(segments, n * size) for n in range(count))
    return any(start + length > os.path.getsize(path) for start, length in places)


class Api:
    """The functions of a plugin."""

    def __init__(self, address: int, path: str) -> None:
        """Takes the table at `address` after a look at its version.

        Raises:
            PluginError: the version is not one that irax speaks.
        """
        self.path = path
        if not address:
            raise PluginError(f"{path}: GetPjrtApi gives no functions")
        self._table = abi.Api.from_address(address)
        version = self._table.pjrt_api_version
        self.version = (version.major_version, version.minor_version)
        if self.version[0] != abi.MAJOR or self.version[1] < abi.MINOR:
            raise PluginError(
                f"{path}: speaks version {self.version[0]}.{self.version[1]} of the PJRT C API; "
                f"irax needs {abi.MAJOR}.{abi.MINOR} or a later {abi.MAJOR}.x: install a newer "
                "plugin"
            )
        file = Path(path)
        self.identity = f"{file.name} {file.stat().st_mtime_ns if file.exists() else ''}"
        """Tells one build of a plugin from another, as versions do not."""
        self._calls: dict[str, tuple[Callable[[int | bytes], int | None], Any]] = {}

    def function(self, name: str) -> Callable[[int | bytes], int | None]:
        """A function of the table. It takes the address of its arguments, or them as bytes, and
        gives the address of an error, if it fails.

        Raises:
            PjrtError: the plugin does not have it.
        """
        slot = getattr(abi.Api, name)
        inside = slot.offset + slot.size <= self._table.struct_size
        pointer = getattr(self._table, name) if inside else None
        if not pointer:
            code = abi.Error_Code.UNIMPLEMENTED
            raise error_of_code(code, f"{self.path} does not have PJRT_{name}")
        return _Void(pointer) if name in _WITHOUT_RESULT else _Function(pointer)

    def call(self, name: str, **fields: Any) -> Any:
        """Calls a function with the given fields of its arguments; returns the arguments, some of
        which it has filled in. The caller keeps alive what addresses among them point to.

        Raises:
            PjrtError: it failed.
        """
        function, kind = self._calls.get(name) or self._prepare(name)
        arguments = kind(kind.SIZE, **fields)
        error = function(ctypes.addressof(arguments))
        if error:
            self.fail(error)
        return arguments

    def _prepare(self, name: str) -> tuple[Callable[[int | bytes], int | None], Any]:
        self._calls[name] = self.function(name), getattr(abi, f"{name}_Args")
        return self._calls[name]

    def fail(self, error: int) -> None:
        """Raises an error that a function gave, and frees it."""
        try:
            found = self.call("Error_Message", error=error)
            message = text(found.message, found.message_size)
            code = self.call("Error_GetCode", error=error).code
        finally:
            self.call("Error_Destroy", error=error)
        raise error_of_code(code, message)

    def wait(self, event: int | None) -> None:
        """Waits for an event, in a way that Ctrl-C ends, and frees it.

        Raises:
            PjrtError: what it stands for failed.
        """
        if not event:
            return
        arguments = _OF_EVENT.pack(_OF_EVENT.size, 0, event)  # half the time of a struct's
        if self.is_ready(event):
            error = self._await(arguments)
        else:
            error = interruptible.run(self._await, arguments)
        if error:
            self.fail(error)

    def _await(self, arguments: bytes) -> int | None:
        wait, destroy = self._of_events
        error = wait(arguments)
        destroy(arguments)
        return error

    @cached_property
    def _of_events(self) -> tuple[Callable[[int | bytes], int | None], ...]:
        return self.function("Event_Await"), self.function("Event_Destroy")

    def is_ready(self, event: int) -> bool:
        """Return True if an event has happened or failed."""
        return self.call("Event_IsReady", event=event).is_ready

    def attributes(self) -> dict[str, Any]:
        """The plugin's attributes, such as the versions of XLA and of StableHLO."""
        found = self.call("Plugin_Attributes")
        return named_values(found.attributes, found.num_attributes)


def text(address: int | None, size: int) -> str:
    """Text of a plugin's."""
    return ctypes.string_at(address, size).decode(errors="replace") if address else ""


def named_values(address: int | None, count: int) -> dict[str, Any]:
    """A plugin's array of PJRT_NamedValue as a dictionary."""
    found: dict[str, Any] = {}
    for value in (abi.NamedValue * count).from_address(address) if address else ():
        name = text(value.name, value.name_size)
        match value.type:
            case abi.NamedValue_Type.STRING:
                found[name] = text(value.string_value, value.value_size)
            case abi.NamedValue_Type.INT64:
                found[name] = value.int64_value
            case abi.NamedValue_Type.INT64_LIST:
                items = (ctypes.c_int64 * value.value_size).from_address(value.int64_array_value)
                found[name] = list(items)
            case abi.NamedValue_Type.FLOAT:
                found[name] = value.float_value
            case abi.NamedValue_Type.BOOL:
                found[name] = value.bool_value
    return found


def as_named_values(values: Mapping[str, str | int | bool | float]) -> tuple[Any, list[Any]]:
    """An array of PJRT_NamedValue, and what must live as long as it."""
    array = (abi.NamedValue * len(values))()
    alive: list[Any] = []

    def keep(data: bytes) -> int:
        alive.append(ctypes.create_string_buffer(data, max(len(data), 1)))
        return ctypes.addressof(alive[-1])

    for item, (name, value) in zip(array, values.items(), strict=True):
        item.struct_size = abi.NamedValue.SIZE
        item.name, item.name_size = keep(name.encode()), len(name.encode())
        item.value_size = 1
        match value:
            case bool():
                item.type, item.bool_value = abi.NamedValue_Type.BOOL, value
            case int():
                item.type, item.int64_value = abi.NamedValue_Type.INT64, value
            case float():
                item.type, item.float_value = abi.NamedValue_Type.FLOAT, value
            case _:
                data = value.encode()
                item.type, item.string_value = abi.NamedValue_Type.STRING, keep(data)
                item.value_size = len(data)
    return array, alive
