"""Arrays that share their memory with those of other libraries: the DLPack protocol.

NumPy speaks it for the dtypes that are its own. The others (bfloat16, the floats of 8 bits) travel
as unsigned integers of their width, and the message is told their dtype on the way.
"""

from __future__ import annotations

import ctypes
from typing import Any

import ml_dtypes
import numpy as np

from irax import dtypes
from irax.core.array import Array, ConcreteArray, as_array
from irax.execution import backend, transfers
from irax.typing import DTypeLike
from irax_compiler.dtypes import is_of_numpy

__all__ = ["from_dlpack", "is_supported_dtype"]

_CPU = (1, 0)
_HOST_MEMORY = (1, 3, 11, 13)  # of the CPU, or mapped so that it can read them
_UNSIGNED_INTEGER = 1

_CODES = {
    "bfloat16": 4,
    "float8_e3m4": 7,
    "float8_e4m3": 8,
    "float8_e4m3b11fnuz": 9,
    "float8_e4m3fn": 10,
    "float8_e4m3fnuz": 11,
    "float8_e5m2": 12,
    "float8_e5m2fnuz": 13,
    "float8_e8m0fnu": 14,
}
_DTYPES = {code: np.dtype(getattr(ml_dtypes, name)) for name, code in _CODES.items()}


def is_supported_dtype(dtype: DTypeLike) -> bool:
    """Return True if arrays of a dtype can be shared: their elements have whole bytes.

    Args:
        dtype: a dtype.

    Raises:
        TypeError: `dtype` is not a dtype.

    >>> is_supported_dtype("bfloat16"), is_supported_dtype("int4")
    (True, False)
    """
    found = np.dtype(dtype)
    return is_of_numpy(found) or found.name in _CODES


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """Import an array of another library by the DLPack protocol.

    The memory is shared where that is possible; then nobody may write to it from then on.

    Args:
        x: an array of NumPy, PyTorch, ..., in the memory of the CPU or such that it can be moved
            there.
        device: the device to put it on, one of `irax.devices()`.
        copy: True to have memory of its own, False to share in any case, None where possible.

    Raises:
        TypeError: `x` does not have the protocol, or its dtype is not one of irax.
        BufferError: it cannot be shared and `copy` is False; or its library does not export it.

    >>> irax.numpy.from_dlpack(np.arange(3, dtype="int32"))
    Array([0, 1, 2], dtype=int32)
    """
    if isinstance(x, Array):
        return _placed(x.copy() if copy else x, device)
    if not hasattr(x, "__dlpack__"):
        raise TypeError(
            f"from_dlpack: expected an array with the method __dlpack__, got {type(x).__name__}"
        )
    value = _shared(x)
    dtype = dtypes.canonicalize_dtype(value.dtype)
    can_share = value.dtype == dtype and value.flags.c_contiguous and value.flags.aligned
    if copy is False:
        if not can_share:
            raise BufferError(
                f"from_dlpack: an array of dtype {value.dtype} and strides {value.strides} cannot "
                f"be shared as one of dtype {dtype}: leave copy=False out"
            )
        return _placed_here(value, device)
    return _placed(ConcreteArray(value) if can_share and not copy else as_array(value), device)


def _placed(x: Array, device: Any) -> Array:
    return x if device is None else transfers.device_put(x, device)


def _placed_here(value: np.ndarray[Any, Any], device: Any) -> Array:
    if device is None:
        return ConcreteArray(value)
    there = backend.resolve_device(device)
    if there.platform != "cpu":
        raise BufferError(
            f"from_dlpack: {there!r} does not share the memory of the CPU: leave copy=False out"
        )
    return ConcreteArray(value, False, ConcreteArray(value).buffer(there), committed=True)


# ---- messages ------------------------------------------------------------------------------------


class _Tensor(ctypes.Structure):
    """DLPack's `DLTensor`: memory, device, dtype, shape and strides of an array."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
    )


class _Versioned(ctypes.Structure):
    """DLPack's `DLManagedTensorVersioned`: the message of version 1.0."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("owner", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_python = ctypes.pythonapi
_name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", _python))
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _python)
)


def _read(capsule: Any) -> _Tensor:
    name = _name_of(capsule)
    address = _pointer_of(capsule, name)
    if name == b"dltensor_versioned":
        return _Versioned.from_address(address).tensor
    return _Tensor.from_address(address)


class _Message:
    """A message for NumPy."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU


def _shared(x: Any) -> np.ndarray[Any, Any]:
    """The memory of another library's array as an array of NumPy's."""
    capsule = _message_from(x)
    tensor = _read(capsule)
    dtype = _DTYPES.get(tensor.code)
    if dtype is None:
        return np.from_dlpack(_Message(capsule))  # pyright: ignore[reportArgumentType]
    if tensor.lanes != 1:
        raise TypeError(f"from_dlpack: elements of {tensor.lanes} numbers each are not supported")
    tensor.code = _UNSIGNED_INTEGER
    integers = np.from_dlpack(_Message(capsule))  # pyright: ignore[reportArgumentType]
    return integers.view(dtype)


def _message_from(x: Any) -> Any:
    kind = int(x.__dlpack_device__()[0])
    elsewhere = {} if kind in _HOST_MEMORY else {"dl_device": _CPU}
    try:
        return x.__dlpack__(max_version=(1, 0), **elsewhere)
    except TypeError:
        if elsewhere:
            raise BufferError(
                f"from_dlpack: {type(x).__name__} is in the memory of another device and its "
                "library does not move it: move it to the CPU first"
            ) from None
    return x.__dlpack__()  # from before there were versions


def to_capsule(
    x: Array,
    *,
    stream: None = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Return the capsule of an array for `from_dlpack` of another library, as `x.__dlpack__` does.

    The old protocol (`max_version` below 1.0) has no read-only memory: it gets a copy, unless
    `copy=False`.

    Args:
        x: an array.
        stream: None: there are no streams on the CPU.
        max_version: the newest version of the protocol that the other library understands.
        dl_device: the device that it wants the array on: (1, 0), the CPU, or None.
        copy: True for memory of its own, False for that of `x`.

    Raises:
        ValueError: a stream.
        BufferError: another device, or a dtype that the protocol does not have.
        TracerArrayConversionError: `x` is traced.
    """
    if stream is not None:
        raise ValueError(f"__dlpack__: stream={stream!r}: the CPU has none, pass None")
    if dl_device is not None and tuple(map(int, dl_device)) != _CPU:
        raise BufferError(f"__dlpack__: dl_device={dl_device!r}: arrays go to the CPU, (1, 0)")
    value = np.asarray(x)
    if not is_supported_dtype(value.dtype):
        raise BufferError(
            f"__dlpack__: the protocol has no arrays of dtype {value.dtype} with a byte for each "
            "element; convert with .astype('int8') or .astype('float32')"
        )
    versioned = max_version is not None and tuple(max_version) >= (1, 0)
    if copy or (copy is None and not versioned):
        value = value.copy()
    code = _CODES.get(value.dtype.name)
    carried = value if code is None else value.view(f"u{value.itemsize}")
    if versioned:
        capsule = carried.__dlpack__(max_version=(1, 0))
    else:
        capsule = _writeable(carried).__dlpack__()
    if code is not None:
        _read(capsule).code = code
    return capsule


def _writeable(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a writeable view of an array: NumPy exports no other by the old protocol."""
    if value.flags.writeable:
        return value

    return np.asarray(_Memory(value))


class _Memory:
    """The memory of a read-only array, which NumPy takes for writeable."""

    def __init__(self, value: np.ndarray[Any, Any]) -> None:
        self.value = value
        interface = value.__array_interface__
        self.__array_interface__ = interface | {"data": (interface["data"][0], False)}
