"""Arrays of devices for meshes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.execution.shardings.make_meshes import device_mesh


def create_device_mesh(
    mesh_shape: Sequence[int],
    devices: Sequence[Any] | None = None,
    *,
    contiguous_submeshes: bool = False,
    allow_split_physical_axes: bool = False,
) -> np.ndarray[Any, Any]:
    """Return the devices in an array, for a `Mesh`.

    Args:
        mesh_shape: the shape of the array.
        devices: the devices; by default all.
        contiguous_submeshes: accepted; devices keep their order.
        allow_split_physical_axes: likewise.

    Raises:
        ValueError: the number of devices is not that of the shape.

    >>> create_device_mesh((1, 1)).shape
    (1, 1)
    """
    found = device_mesh("create_device_mesh", mesh_shape, devices)
    if devices is not None and found.size != len(devices):
        raise ValueError(
            f"create_device_mesh: a mesh of shape {tuple(mesh_shape)} takes {found.size} devices, "
            f"got {len(devices)}"
        )
    return found


def create_hybrid_device_mesh(
    mesh_shape: Sequence[int],
    dcn_mesh_shape: Sequence[int],
    devices: Sequence[Any] | None = None,
    *,
    process_is_granule: bool = False,
    should_sort_granules_by_key: bool = True,
    allow_split_physical_axes: bool = False,
) -> np.ndarray[Any, Any]:
    """Return the devices in an array, of which those of one process lie together.

    Args:
        mesh_shape: the devices of a process along each axis.
        dcn_mesh_shape: the processes along each axis.
        devices: the devices; by default all.
        process_is_granule: accepted; what lies together are the devices of a process.
        should_sort_granules_by_key: accepted; processes are in their order.
        allow_split_physical_axes: accepted; devices keep their order.

    Raises:
        ValueError: the shapes differ in length, or the number of devices is not theirs.

    >>> create_hybrid_device_mesh((1,), (1,)).shape
    (1,)
    """
    if len(mesh_shape) != len(dcn_mesh_shape):
        raise ValueError(
            f"create_hybrid_device_mesh: mesh_shape {tuple(mesh_shape)} and dcn_mesh_shape "
            f"{tuple(dcn_mesh_shape)} must have a size for each axis, or 1"
        )
    pairs = list(zip(dcn_mesh_shape, mesh_shape, strict=True))
    flat = create_device_mesh([n * m for n, m in pairs], devices).reshape(-1)
    ordered = sorted(flat, key=lambda device: (device.process_index, device.id))
    outer_first = np.empty(len(ordered), dtype=object)
    outer_first[:] = ordered
    apart = outer_first.reshape([*dcn_mesh_shape, *mesh_shape])
    rank = len(pairs)
    together = apart.transpose([d for axis in range(rank) for d in (axis, rank + axis)])
    return together.reshape([n * m for n, m in pairs])


__getattr__: _GetAttr = _refuse_names(__name__)
