"""Arrays in the memory of a plugin's device."""

from __future__ import annotations

import ctypes
from functools import cache
from math import prod
from typing import Any

import numpy as np

from irax_runtime import memory
from irax_runtime.pjrt import abi
from irax_runtime.pjrt.owner import DeviceHandle, Owner
from irax_runtime.signature import TensorType, dtype_of_name

_WORTH_ALIASING = 64 << 10
"""Bytes from which memory is lent to a plugin on this processor rather than copied."""

_TYPES = {
    "PRED": "i1",
    **{f"S{n}": f"i{n}" for n in (8, 16, 32, 64)},
    **{f"U{n}": f"ui{n}" for n in (8, 16, 32, 64)},
    "F16": "f16",
    "F32": "f32",
    "F64": "f64",
    "BF16": "bf16",
    "C64": "complex<f32>",
    "C128": "complex<f64>",
    "F8E5M2": "f8E5M2",
    "F8E3M4": "f8E3M4",
    "F8E4M3": "f8E4M3",
    "F8E4M3FN": "f8E4M3FN",
    "F8E4M3B11FNUZ": "f8E4M3B11FNUZ",
    "F8E5M2FNUZ": "f8E5M2FNUZ",
    "F8E4M3FNUZ": "f8E4M3FNUZ",
}


@cache
def dtype_of_type(number: int) -> np.dtype[Any]:
    """NumPy's dtype of one of PJRT's element types. Raises TypeError where it has none."""
    name = abi.Buffer_Type(number).name
    if name not in _TYPES:
        raise TypeError(f"NumPy has no arrays of PJRT's element type {name}")
    return dtype_of_name(_TYPES[name])


@cache
def _type_of_dtype(dtype: np.dtype[Any]) -> abi.Buffer_Type | None:
    for name, spelling in _TYPES.items():
        try:
            if dtype_of_name(spelling) == dtype:
                return abi.Buffer_Type[name]
        except ImportError:  # no ml_dtypes: no arrays of its dtypes either
            continue
    return None


class PjrtBuffer:
    """An array in the memory of a plugin's device. Its elements may still be being computed."""

    __slots__ = ("_numpy", "device", "dtype", "pointer", "shape")

    def __init__(
        self, pointer: int, shape: tuple[int, ...], dtype: np.dtype[Any], device: DeviceHandle
    ) -> None:
        """Takes a buffer over that the device's client has adopted."""
        self.pointer: int | None = pointer
        self.shape = shape
        self.dtype = dtype
        self.device = device
        self._numpy: np.ndarray[Any, Any] | None = None

    def __repr__(self) -> str:
        return f"<{TensorType(self.dtype, self.shape)} on {self.device!r}>"

    def __del__(self) -> None:
        if self.pointer is not None and self._numpy is None:
            self.device.client.free_buffer(self.pointer)

    def delete(self) -> None:
        """Frees the memory now; using the buffer from then on raises RuntimeError."""
        if self.pointer is not None and self._numpy is None:
            self.device.client.free_buffer(self.pointer)
        self.pointer, self._numpy = None, None

    def is_deleted(self) -> bool:
        """Return True if the memory was given up."""
        return self.pointer is None

    def live_pointer(self) -> int:
        """The plugin's buffer. Raises RuntimeError if it was deleted or its client closed."""
        self.device.client.check_open()
        if self.pointer is None:
            raise RuntimeError(
                f"an array of type {TensorType(self.dtype, self.shape)} on {self.device!r} was "
                "used after its memory had been given up: it was deleted or donated to a call "
                "(donate_argnums), which takes its memory; use the call's result, or give it a copy"
            )
        return self.pointer

    def wait(self) -> None:
        """Waits until the elements have been computed.

        Raises:
            PjrtError: the program that was to compute them failed.
        """
        api = self.device.client.api
        api.wait(api.call("Buffer_ReadyEvent", buffer=self.live_pointer()).event)

    def is_ready(self) -> bool:
        """Return True if the elements have been computed."""
        api = self.device.client.api
        event = api.call("Buffer_ReadyEvent", buffer=self.live_pointer()).event
        try:
            return api.is_ready(event)
        finally:
            api.call("Event_Destroy", event=event)

    def numpy(self) -> np.ndarray[Any, Any]:
        """The elements, read-only; waits for them. Without a copy where the device is the
        processor.

        Raises:
            PjrtError: the program that was to compute them failed.
        """
        if self._numpy is None:
            self.wait()
            pointer = self.live_pointer()
            api = self.device.client.api
            if not api.call("Buffer_IsOnCpu", buffer=pointer).is_on_cpu:
                return self._copy(pointer)
            size = prod(self.shape) * self.dtype.itemsize
            array = np.ndarray(self.shape, self.dtype, _shown(self.device.client, pointer, size))
            array.flags.writeable = False
            self._numpy = array
        return self._numpy

    def _copy(self, pointer: int) -> np.ndarray[Any, Any]:
        array = memory.aligned_empty(self.shape, self.dtype)
        order = (ctypes.c_int64 * array.ndim)(*reversed(range(array.ndim)))
        layout = abi.Buffer_MemoryLayout(struct_size=abi.Buffer_MemoryLayout.SIZE)
        layout.type = abi.Buffer_MemoryLayout_Type.TILED
        layout.tiled.struct_size = abi.Buffer_MemoryLayout_Tiled.SIZE
        layout.tiled.minor_to_major = ctypes.addressof(order)
        layout.tiled.minor_to_major_size = array.ndim
        api = self.device.client.api
        copied = api.call(
            "Buffer_ToHostBuffer",
            src=pointer,
            host_layout=ctypes.addressof(layout),
            dst=array.ctypes.data,
            dst_size=array.nbytes,
        )
        api.wait(copied.event)
        array.flags.writeable = False
        return array


class _Export:
    """Holds a buffer whose memory NumPy arrays show, and frees it after the last of them."""

    __slots__ = ("_client", "_pointer")

    def __init__(self, client: Owner, pointer: int) -> None:
        self._client, self._pointer = client, pointer
        client.export(pointer)

    def __del__(self) -> None:
        self._client.end_export(self._pointer)


def _shown(client: Owner, pointer: int, size: int) -> Any:
    """A buffer's memory as an object of `size` bytes that keeps it."""
    call = client.api.call
    call("Buffer_IncreaseExternalReferenceCount", buffer=pointer)
    address = call("Buffer_OpaqueDeviceMemoryDataPointer", buffer=pointer).device_memory_ptr
    if not address:  # of nothing
        return bytearray(size)
    shown: Any = (ctypes.c_uint8 * size).from_address(address)
    shown.export = _Export(client, pointer)
    return shown


def put(device: DeviceHandle, array: np.ndarray[Any, Any], may_alias: bool) -> PjrtBuffer:
    """The array in the device's memory; see `PjrtDevice.put`."""
    type_ = _type_of_dtype(array.dtype)
    if type_ is None:
        raise TypeError(f"put: {device!r} takes no arrays of dtype {array.dtype}")
    client = device.client
    client.check_open()
    lend = may_alias and array.nbytes >= _WORTH_ALIASING and memory.is_aligned(array)
    contents = array if array.flags.c_contiguous else np.ascontiguousarray(array)
    semantics = abi.HostBufferSemantics
    dims = (ctypes.c_int64 * array.ndim)(*array.shape)
    made = client.api.call(
        "Client_BufferFromHostBuffer",
        client=client.pointer,
        data=contents.__array_interface__["data"][0],  # `ctypes.data` takes three times as long
        type=type_,
        dims=ctypes.addressof(dims),
        num_dims=array.ndim,
        host_buffer_semantics=(
            semantics.IMMUTABLE_ZERO_COPY if lend else semantics.IMMUTABLE_ONLY_DURING_CALL
        ),
        device=device.pointer,
    )
    client.adopt_buffers([made.buffer])
    buffer = PjrtBuffer(made.buffer, array.shape, array.dtype, device)
    if lend:
        client.loans.add(made.done_with_host_buffer, contents)
    else:
        client.api.call("Event_Destroy", event=made.done_with_host_buffer)
    return buffer
