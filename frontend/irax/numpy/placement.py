"""Devices and memory of arrays, and whether they have been computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn, cast

import numpy as np

from irax import errors
from irax.core.array import Array, ConcreteArray
from irax.core.key_arrays import KeyArray
from irax.core.shardings.layouts import Format
from irax.core.shardings.sharded import Shard, placed, sharding_of, usual_sharding
from irax.core.shardings.shardings import NamedSharding, Sharding, SingleDeviceSharding, of_rows
from irax.execution import backend, transfers
from irax_runtime.memory import is_held_once
from irax_runtime.mesh import ShardedBuffer


def _block_until_ready(x: Array) -> Array:
    """Wait until the elements have been computed, raise its errors, and return the array."""
    if isinstance(x, ConcreteArray) and x._buffer is not None:
        x._buffer.wait()
    return x


def _is_ready(x: Array) -> bool:
    """Return True if the elements have been computed."""
    buffer = x._buffer if isinstance(x, ConcreteArray) else None
    return buffer is None or buffer.is_ready()


def _copy_to_host_async(x: Array) -> None:
    """Start to copy the elements to the host, for a later use there."""
    if isinstance(x, ConcreteArray) and _is_ready(x):
        x.value  # noqa: B018 fetched, and kept


def device_of(x: Array) -> Any:
    """Return the device that has the elements; calling it, an old spelling, returns it too."""
    buffer = x._buffer if isinstance(x, ConcreteArray) else None
    return backend.current_device() if buffer is None else buffer.device


def _to_device(x: Array, device: Any, *, stream: None = None) -> Array:
    """Return the array on a device.

    Raises:
        RuntimeError: there is no such device.
        NotImplementedError: `stream` is given: devices have none that could be named.
    """
    if stream is not None:
        raise NotImplementedError(f"to_device: stream={stream!r} is not supported, only None")
    return transfers.device_put(x, device)


def _pointer(x: Array) -> int:
    """Return the address of the first element on the host; valid as long as the array is kept. On
    IREE's CPU, a program that the array is donated to leaves a result of its type there.
    """
    if isinstance(x, ConcreteArray):
        from irax_runtime.iree.buffers import IreeBuffer  # which loads IREE's runtime

        _own_memory(x)
        if x._numpy is None and isinstance(x._buffer, IreeBuffer):
            return x._buffer.address()
    return x.concrete("an address", errors.ConcretizationTypeError).ctypes.data


def _own_memory(x: ConcreteArray) -> None:
    """Leave memory of NumPy's that nobody else has for that of the device."""
    if x._numpy is None or not is_held_once(x._numpy):
        return
    with suppress(TypeError):  # the device has no such dtype
        if x._buffer is None:
            x._buffer = backend.current_device().put(x._numpy)
        x._numpy = None


def _place(x: Array) -> Any:
    """Return the device that has the elements, or the sharding of an array that several have."""
    sharding = _sharding(x)
    return sharding.devices[0] if isinstance(sharding, SingleDeviceSharding) else sharding


def _format(x: Array) -> Format:
    """Return the order of the elements in memory, which is row-major, and the sharding."""
    return Format.row_major(x.ndim, _sharding(x))


def _sharding(x: Array) -> Sharding:
    """Return the division of the array among devices."""
    if isinstance(x, KeyArray):
        of_words = _sharding(x.data)
        return of_rows(of_words, x.ndim) if isinstance(of_words, NamedSharding) else of_words
    if isinstance(x, ConcreteArray) and not x.committed and (usual := usual_sharding(x.ndim)):
        return usual
    return sharding_of(x) or SingleDeviceSharding(device_of(x))


# ---- parts on devices ----------------------------------------------------------------------------


def _global_shards(x: Array) -> list[Shard]:
    """Return the parts of all devices; `data` is None for those of other processes' devices."""
    if isinstance(x, KeyArray):
        return [
            Shard(device, index[:-1], number, cast(Any, None if own is None else x.with_data(own)))
            for device, index, number, own in _global_shards(x.data)
        ]
    if not isinstance(x, ConcreteArray):
        x.concrete("shards need the elements", errors.ConcretizationTypeError)
    sharding = _sharding(x)
    array = cast(ConcreteArray, x)
    buffer = (array if array.committed else placed(array, sharding))._buffer
    if not isinstance(buffer, ShardedBuffer):
        return [Shard(sharding.devices[0], (slice(None),) * x.ndim, 0, x)]
    seen: Counter[str] = Counter()
    shards = []
    for place, (device, index) in enumerate(sharding.devices_indices_map(x.shape).items()):
        piece = buffer.pieces.get(place)
        data: Any = None
        if piece is not None:
            data = ConcreteArray(None, buffer=piece, committed=True)
            data = data.in_memory(array.aval.memory_kind)
            if not _has_sum(sharding, place):
                data = ConcreteArray(np.zeros(data.shape, data.dtype)).on(piece.device)
        shards.append(Shard(device, index, seen[str(index)], data))
        seen[str(index)] += 1
    return shards


def _has_sum(sharding: Sharding, place: int) -> bool:
    """Return True for the device that has the sum, and not zeros, along axes along which it is
    still to be taken: the first one.
    """
    if not isinstance(sharding, NamedSharding) or not sharding.spec.unreduced:
        return True
    places = np.unravel_index(place, sharding.mesh.axis_sizes)
    pairs = zip(sharding.mesh.axis_names, places, strict=True)
    return all(at == 0 for axis, at in pairs if axis in sharding.spec.unreduced)


def _shards(x: Array) -> list[Shard]:
    return [shard for shard in _global_shards(x) if shard.data is not None]


def _addressable_data(x: Array, index: int) -> Array:
    """Return the part on one of the array's devices.

    Raises:
        IndexError: the array is on fewer devices.
    """
    return _shards(x)[index].data


# ---- deletion ------------------------------------------------------------------------------------


class _Deleted:
    """Stands for the buffer of a deleted array: every use of it raises an error."""

    def is_deleted(self) -> bool:
        return True

    def __getattr__(self, name: str) -> NoReturn:
        raise RuntimeError("the array has been deleted: its elements were given up by .delete()")


def _delete(x: Array) -> None:
    """Delete the elements; using the array afterwards is a RuntimeError."""
    if isinstance(x, KeyArray):
        x = x.data
    if isinstance(x, ConcreteArray):
        x._numpy, x._buffer = None, _Deleted()  # pyright: ignore[reportAttributeAccessIssue]


def _is_deleted(x: Array) -> bool:
    """Return True if the array was deleted."""
    if isinstance(x, KeyArray):
        x = x.data
    buffer = x._buffer if isinstance(x, ConcreteArray) else None
    return buffer is not None and buffer.is_deleted()


METHODS: dict[str, Callable[..., Any]] = {
    "addressable_data": _addressable_data,
    "block_until_ready": _block_until_ready,
    "copy_to_host_async": _copy_to_host_async,
    "delete": _delete,
    "devices": lambda x: _sharding(x).device_set,
    "is_deleted": _is_deleted,
    "is_ready": _is_ready,
    "on_device_size_in_bytes": lambda x: x.nbytes,
    "platform": lambda x: device_of(x).platform,
    "to_device": _to_device,
    "unsafe_buffer_pointer": _pointer,
}
PROPERTIES: dict[str, Callable[[Array], Any]] = {
    "addressable_shards": _shards,
    "device": _place,
    "format": _format,
    "global_shards": _global_shards,
    "is_fully_addressable": lambda x: _sharding(x).is_fully_addressable,
    "is_fully_replicated": lambda x: _sharding(x).is_fully_replicated,
    "sharding": _sharding,
}
