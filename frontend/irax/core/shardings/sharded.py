"""Arrays of which several devices have parts.

Such an array has a `ShardedBuffer`, on the device that stands for those of a mesh
(`mesh_devices.py`).
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, cast

import numpy as np

from irax.config import config
from irax.core.array import Array, ConcreteArray
from irax.core.avals import sums_of, with_sums
from irax.core.key_arrays import KeyArray
from irax.core.shardings.axis_names import text_of
from irax.core.shardings.mesh_devices import device_of_mesh, mesh_of
from irax.core.shardings.meshes import Mesh, current_mesh
from irax.core.shardings.partition_specs import PartitionSpec, axes_by_dimension
from irax.core.shardings.shardings import NamedSharding, Sharding, SingleDeviceSharding
from irax_compiler.ops.sums import WHOLE
from irax_runtime.mesh import MeshDevice, ShardedBuffer, Spec


class Shard(NamedTuple):
    """A part of an array that one device has."""

    device: Any
    index: tuple[slice, ...]
    """The slices of the array that it is."""
    replica_id: int
    """Its number among the devices that have this part."""
    data: Array


def spec_of(sharding: NamedSharding, rank: int) -> Spec:
    """Return the axes along which each dimension of an array of a rank is divided."""
    axes = axes_by_dimension(sharding.spec, rank)
    return tuple(tuple(map(text_of, of_one)) for of_one in axes)


@functools.lru_cache(maxsize=1024)
def _place(sharding: NamedSharding, rank: int, spmd: str) -> tuple[MeshDevice, Spec]:
    """Return where arrays of a rank are put for a sharding, with a value of the option `spmd`."""
    return device_of_mesh(cast(Mesh, sharding.mesh)), spec_of(sharding, rank)


def is_placed(x: Any, sharding: Sharding) -> bool:
    """Return True for an array that is committed to the devices of a mesh, divided in this way."""
    if type(x) is not ConcreteArray or not x.committed:
        return False
    buffer: Any = x._buffer
    if type(buffer) is not ShardedBuffer:
        return False
    if not isinstance(sharding, NamedSharding) or not isinstance(sharding.mesh, Mesh):
        return False
    if sharding.memory_kind != x.aval.memory_kind:
        return False
    rank = len(buffer.spec)
    if len(sharding.spec) > rank or sums_of(sharding.spec) != x.aval.sums:
        return False
    device, spec = _place(sharding, rank, config.spmd)
    return buffer.device is device and buffer.spec == spec


def placed(x: ConcreteArray, sharding: Sharding) -> ConcreteArray:
    """Return an array committed to the devices of a sharding.

    Raises:
        ValueError: it cannot be divided so.
    """
    if not isinstance(sharding, NamedSharding):
        (device,) = sharding.devices
        return x.on(device).in_memory(sharding.memory_kind)
    if is_placed(x, sharding):
        return x
    sharding.shard_shape(x.shape)  # raises where it does not fit
    mesh = sharding.mesh
    if not isinstance(mesh, Mesh):
        if mesh != current_mesh().abstract_mesh:
            raise ValueError(
                f"{sharding!r} has no devices to put an array on: its mesh is abstract, and not "
                "that of the context: with irax.set_mesh(mesh)"
            )
        sharding = sharding.update(mesh=current_mesh())
    device, spec = _place(sharding, x.ndim, config.spmd)
    aval = x.aval.placed(sharding.memory_kind, sums_of(sharding.spec))
    buffer: Any = x._buffer
    if isinstance(buffer, ShardedBuffer) and buffer.device.is_like(device):
        if buffer.device is device and buffer.spec == spec and x.committed:
            return ConcreteArray.of_buffer(buffer, aval, committed=True)
        buffer = device.resharded(buffer.on(device), spec)
    else:
        buffer = device.put_shards(x.value, spec, may_alias=True)
    return ConcreteArray.of_buffer(buffer, aval, committed=True)


def copied(x: Array) -> Array:
    """Return a copy of an array, in memory of its own, where that is; a traced one as it is."""
    if isinstance(x, KeyArray):
        return x.with_data(copied(x.data))
    if not isinstance(x, ConcreteArray):
        return x
    if not x.committed:
        return ConcreteArray(np.array(x.value), x.weak_type)
    buffer: Any = x._buffer
    if isinstance(buffer, ShardedBuffer):
        return ConcreteArray.of_buffer(buffer.copy(), x.aval, committed=True)
    return ConcreteArray.of_buffer(buffer.device.put(x.value), x.aval, committed=True)


def apart_from(given: Any, x: Array) -> Array:
    """Return an array that stays when `given`, of which it was made, is donated, and the reverse:
    a copy where `x` is `given`, or has its buffer with another weak type.
    """
    is_same = x is given or (
        isinstance(x, ConcreteArray)
        and isinstance(given, ConcreteArray)
        and (x._numpy is given._numpy if x._buffer is None else x._buffer is given._buffer)
    )
    return copied(x) if is_same else x


def sharding_of(x: Array) -> Sharding | None:
    """Return the sharding of an array that was put on devices; None for another one."""
    buffer: Any = x._buffer if isinstance(x, ConcreteArray) else None
    if buffer is None:
        return None
    spec = buffer.spec if isinstance(buffer, ShardedBuffer) else ()
    found = sharding_on(buffer.device, spec)
    if x.aval.sums != WHOLE and isinstance(found, NamedSharding):
        found = with_sums(found, x.aval.sums)
    kind = x.aval.memory_kind
    return found if found.memory_kind == kind else found.with_memory_kind(kind)


def usual_sharding(rank: int) -> Sharding | None:
    """Return the sharding of arrays of a rank that were put nowhere, where the context has a mesh
    for them: whole on each of its devices. None where it has none.
    """
    mesh = config.mesh
    if mesh is None:
        return None
    entries = (None,) * rank if mesh.explicit_axes else ()
    return NamedSharding(mesh, PartitionSpec(*entries))


def sharding_on(device: Any, spec: Spec) -> Sharding:
    """Return the sharding of an array on a device, or divided in a way on that of a mesh."""
    if not isinstance(device, MeshDevice):
        return SingleDeviceSharding(device)
    mesh = mesh_of(device)
    names = {text_of(name): name for name in mesh.axis_names}
    return NamedSharding(mesh, PartitionSpec(*(tuple(names[a] for a in axes) for axes in spec)))


def device_of_sharding(sharding: Sharding) -> Any:
    """Return the device that stands for those of a sharding; None if its mesh is abstract."""
    if not isinstance(sharding, NamedSharding):
        return next(iter(sharding.device_set))
    return device_of_mesh(sharding.mesh) if isinstance(sharding.mesh, Mesh) else None
