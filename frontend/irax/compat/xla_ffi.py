"""Handlers of XLA's foreign function interface: C functions that take an `XLA_FFI_CallFrame`.

The structures are those of XLA's header c_api.h, version 0.3, as far as a handler on the processor
reads them. Handlers of the stage "execute" are called, from Python.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int32, c_int64, c_size_t, c_void_p, cast
from typing import Any

import numpy as np

from irax.errors import JaxRuntimeError

_NUMBERS: dict[Any, int] = {
    "bool": 1,
    "int8": 2,
    "int16": 3,
    "int32": 4,
    "int64": 5,
    "uint8": 6,
    "uint16": 7,
    "uint32": 8,
    "uint64": 9,
    "float16": 10,
    "float32": 11,
    "float64": 12,
    "complex64": 15,
    "complex128": 18,
    "bfloat16": 16,
    "float8_e5m2": 19,
    "float8_e4m3fn": 20,
}
"""The numbers of dtypes."""
_EXECUTE, _BUFFER, _ARRAY, _DICTIONARY, _SCALAR, _STRING = 3, 1, 1, 2, 3, 4

_VERSION = (0, 3)


class _Struct(ctypes.Structure):
    """A structure that begins with its size and a pointer to extensions."""

    _fields_ = (("struct_size", c_size_t), ("extension_start", c_void_p))

    def __init__(self, **values: Any) -> None:
        super().__init__(struct_size=ctypes.sizeof(type(self)), **values)


class _Version(_Struct):
    _fields_ = (("major", c_int32), ("minor", c_int32))


class _Buffer(_Struct):
    _fields_ = (("dtype", c_int32), ("data", c_void_p), ("rank", c_int64), ("dims", c_void_p))


class _Values(_Struct):
    """The operands of a call, or its results."""

    _fields_ = (("size", c_int64), ("types", c_void_p), ("values", c_void_p))


class _Attributes(_Struct):
    _fields_ = (
        *(("size", c_int64), ("types", c_void_p)),
        *(("names", c_void_p), ("attrs", c_void_p)),
    )


class _ByteSpan(ctypes.Structure):
    _fields_ = (("ptr", c_char_p), ("len", c_size_t))


class _Scalar(ctypes.Structure):
    _fields_ = (("dtype", c_int32), ("value", c_void_p))


class _Array(ctypes.Structure):
    _fields_ = (("dtype", c_int32), ("size", c_size_t), ("data", c_void_p))


class _CallFrame(_Struct):
    _fields_ = (
        *(("api", c_void_p), ("ctx", c_void_p), ("stage", c_int32), ("args", _Values)),
        *(("rets", _Values), ("attrs", _Attributes), ("future", c_void_p)),
    )


class _ErrorCreate(_Struct):
    _fields_ = (("message", c_char_p), ("code", c_int32))


class _ErrorMessage(_Struct):
    _fields_ = (("error", c_void_p), ("message", c_char_p))


class _Schedule(_Struct):
    _fields_ = (("ctx", c_void_p), ("task", c_void_p), ("data", c_void_p))


class _NumThreads(_Struct):
    _fields_ = (("ctx", c_void_p), ("num_threads", POINTER(c_int64)))


class _RunId(_Struct):
    _fields_ = (("ctx", c_void_p), ("run_id", c_int64))


class _Ordinal(_Struct):
    _fields_ = (("ctx", c_void_p), ("device_ordinal", c_int32))


_Function = CFUNCTYPE(c_void_p, c_void_p)
"""The functions of the interface, and handlers: of a structure, they return an error or null."""

_errors: dict[int, bytes] = {}
"""The messages of errors that nobody has taken yet, by their handles."""


def _error(message: bytes) -> int:
    handle = max(_errors, default=0) + 1
    _errors[handle] = message
    return handle


def _create(args: int) -> int:
    return _error(cast(args, POINTER(_ErrorCreate)).contents.message or b"")


def _message(args: int) -> None:
    given = cast(args, POINTER(_ErrorMessage)).contents
    given.message = _errors.get(given.error, b"")


def _destroy(args: int) -> None:
    _errors.pop(cast(args, POINTER(_ErrorMessage)).contents.error, None)


def _schedule(args: int) -> None:
    """Tasks run at once."""
    given = cast(args, POINTER(_Schedule)).contents
    CFUNCTYPE(None, c_void_p)(given.task)(given.data)


def _num_threads(args: int) -> None:
    cast(args, POINTER(_NumThreads)).contents.num_threads[0] = 1


def _run_id(args: int) -> None:
    cast(args, POINTER(_RunId)).contents.run_id = 0


def _ordinal(args: int) -> None:
    cast(args, POINTER(_Ordinal)).contents.device_ordinal = 0


def _absent(name: str) -> Callable[[int], int]:
    """A function of the interface that irax has not."""
    return lambda args: _error(f"irax has no {name} for handlers of XLA's".encode())


_FUNCTIONS: dict[str, Callable[[int], int | None]] = {
    "Error_Create": _create,
    "Error_GetMessage": _message,
    "Error_Destroy": _destroy,
    "Handler_Register": _absent("Handler_Register"),
    "Stream_Get": _absent("Stream_Get"),
    "Type_Register": _absent("Type_Register"),
    "ExecutionContext_Get": _absent("ExecutionContext_Get"),
    "State_Set": _absent("State_Set"),
    "State_Get": _absent("State_Get"),
    "DeviceMemory_Allocate": _absent("DeviceMemory_Allocate"),
    "DeviceMemory_Free": _absent("DeviceMemory_Free"),
    "ThreadPool_Schedule": _schedule,
    "ThreadPool_NumThreads": _num_threads,
    "Future_Create": _absent("Future_Create"),
    "Future_SetAvailable": _absent("Future_SetAvailable"),
    "Future_SetError": _absent("Future_SetError"),
    "RunId_Get": _run_id,
    "DeviceOrdinal_Get": _ordinal,
}
"""The functions of the interface, in the order of the header."""


class _Api(_Struct):
    _fields_ = (
        *(("version", _Version), ("internal", c_void_p)),
        *((name, _Function) for name in _FUNCTIONS),
    )


_api = _Api(
    version=_Version(major=_VERSION[0], minor=_VERSION[1]),
    **{name: _Function(function) for name, function in _FUNCTIONS.items()},
)


class _Memory:
    """Holds what a call frame points to, for the length of a call."""

    def __init__(self) -> None:
        self._kept: list[Any] = []

    def address(self, thing: Any) -> int:
        """Keep a structure, and return its address."""
        self._kept.append(thing)
        return ctypes.addressof(thing)

    def row(self, kind: Any, values: Sequence[Any]) -> int:
        """Keep a C array, and return its address."""
        return self.address((kind * len(values))(*values))

    def buffer(self, array: np.ndarray[Any, Any]) -> int:
        """Keep the description of an array, whose memory is its own."""
        self._kept.append(array)
        dims = self.row(c_int64, array.shape)
        return self.address(
            _Buffer(dtype=_number(array.dtype), data=array.ctypes.data, rank=array.ndim, dims=dims)
        )

    def values(self, arrays: Sequence[np.ndarray[Any, Any]]) -> _Values:
        """Return the operands or results of a call."""
        types = self.row(c_int32, [_BUFFER] * len(arrays))
        values = self.row(c_void_p, list(map(self.buffer, arrays)))
        return _Values(size=len(arrays), types=types, values=values)

    def text(self, value: str) -> int:
        """Keep a string."""
        encoded = value.encode()
        return self.address(_ByteSpan(ptr=encoded, len=len(encoded)))

    def attributes(self, given: Mapping[str, Any]) -> _Attributes:
        """Return the attributes of a call, in the order of their names."""
        names = sorted(given)
        found = [self.attribute(name, given[name]) for name in names]
        return _Attributes(
            size=len(names),
            types=self.row(c_int32, [kind for kind, _ in found]),
            names=self.row(c_void_p, list(map(self.text, names))),
            attrs=self.row(c_void_p, [address for _, address in found]),
        )

    def attribute(self, name: str, value: Any) -> tuple[int, int]:
        """Return the kind of an attribute, and its address."""
        if isinstance(value, str):
            return _STRING, self.text(value)
        if isinstance(value, Mapping):
            return _DICTIONARY, self.address(self.attributes(value))
        array = np.ascontiguousarray(value)
        if array.dtype.kind not in "biufc":
            raise TypeError(
                f"ffi_call: the attribute {name!r} must be a number, an array of numbers, a str or "
                f"a dict, got {value!r}"
            )
        self._kept.append(array)
        number, data = _number(array.dtype), array.ctypes.data
        if not isinstance(value, np.ndarray | list | tuple) or not np.ndim(value):
            return _SCALAR, self.address(_Scalar(dtype=number, value=data))
        return _ARRAY, self.address(_Array(dtype=number, size=array.size, data=data))


def _number(dtype: np.dtype[Any]) -> int:
    found = _NUMBERS.get(dtype.name)
    if found is None:
        raise TypeError(f"ffi_call: arrays of {dtype} cannot be passed to handlers of XLA's")
    return found


def run(
    name: str,
    address: int,
    operands: Sequence[np.ndarray[Any, Any]],
    results: Sequence[tuple[tuple[int, ...], Any]],
    attributes: Mapping[str, Any],
) -> list[np.ndarray[Any, Any]]:
    """Return what a handler writes, into arrays of the shapes and dtypes of `results`.

    Raises:
        JaxRuntimeError: the handler returned an error.
        TypeError: an attribute or array of a type that handlers do not get.
    """
    memory = _Memory()
    found = [np.empty(shape, dtype) for shape, dtype in results]
    frame: Any = _CallFrame(
        api=ctypes.addressof(_api),
        stage=_EXECUTE,
        args=memory.values([np.ascontiguousarray(x) for x in operands]),
        rets=memory.values(found),
        attrs=memory.attributes(attributes),
    )
    frame.struct_size = _CallFrame.future.offset  # which the header does not count
    error = _Function(address)(ctypes.addressof(frame))
    if error:
        raise JaxRuntimeError(f"{name}: {_errors.pop(error, b'').decode('utf-8', 'replace')}")
    return found
