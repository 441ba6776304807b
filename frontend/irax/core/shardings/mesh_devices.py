"""The devices that stand for those of meshes, and the types of arrays on them.

The runtime knows names and sizes of axes (`irax_runtime/mesh.py`); the mesh itself is kept here.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from irax.config import config
from irax.core.avals import ShapedArray
from irax.core.shardings.axis_names import text_of
from irax.core.shardings.meshes import Mesh
from irax.core.shardings.partition_specs import PartitionSpec
from irax.core.shardings.shardings import NamedSharding
from irax_runtime.mesh import MeshDevice, ShardedBuffer, Spec, mesh_device

_meshes: dict[MeshDevice, Mesh] = {}


def device_of_mesh(mesh: Mesh) -> MeshDevice:
    """Return the device that stands for those of a mesh. Devices that are the processor of this
    process share their memory, unless the option `spmd` is "threads".
    """
    devices = tuple(mesh.devices.flat)
    axes = tuple((text_of(name), size) for name, size in mesh.shape_tuple)
    is_shared = config.spmd == "one_buffer" and not mesh.is_multi_process
    is_shared = is_shared and all(d.platform == "cpu" for d in devices)
    kinds = () if mesh.are_all_axes_auto else tuple(kind.name for kind in mesh.axis_types)
    device = mesh_device(axes, devices, is_shared, kinds)
    _meshes.setdefault(device, mesh)
    return device


def device_of_place(place: Any) -> Any:
    """Return a device itself, or the one that stands for those of a mesh."""
    return device_of_mesh(place) if isinstance(place, Mesh) else place


def mesh_of(device: MeshDevice) -> Mesh:
    """Return the mesh of a device: that of the context, or the one by which it was first asked for,
    or one like it.
    """
    if config.mesh is not None and device_of_mesh(config.mesh) is device:
        return config.mesh
    if device not in _meshes:
        devices = np.empty(len(device.devices), dtype=object)
        devices[:] = device.devices
        _meshes[device] = Mesh(devices.reshape(*device.axes.values()), tuple(device.axes))
    return _meshes[device]


def aval_in(aval: ShapedArray, buffer: Any) -> ShapedArray:
    """Return the type of an array in a buffer, which tells how it is divided along explicit axes of
    the mesh that it is on.
    """
    if type(buffer) is ShardedBuffer:
        return _aval_on_mesh(aval, buffer.device, buffer.spec)
    return aval if aval.told is None else aval.update(sharding=None)


@functools.lru_cache(maxsize=4096)
def _aval_on_mesh(aval: ShapedArray, device: MeshDevice, spec: Spec) -> ShapedArray:
    """Return the type of an array that is divided over the devices of a mesh. Equal types are one
    object.
    """
    mesh = mesh_of(device)
    if not mesh.explicit_axes:
        return aval if aval.told is None else aval.update(sharding=None)
    names = {text_of(name): name for name in mesh.explicit_axes}
    entries = (tuple(names[a] for a in axes if a in names) for axes in spec)
    return aval.update(sharding=NamedSharding(mesh.abstract_mesh, PartitionSpec(*entries)))
