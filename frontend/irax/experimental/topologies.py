"""Devices that need not be here: programs are compiled for them by `jit(f).lower(x).compile()`.

topology = get_topology_desc("v5e:2x2x1", "tpu")
mesh = make_mesh(topology, (2, 2), ("x", "y"))
sharding = irax.NamedSharding(mesh, irax.P("x", "y"))
x = irax.ShapeDtypeStruct((64, 64), "float32", sharding=sharding)
irax.jit(f).lower(x).compile().memory_analysis()
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.core.shardings.meshes import Mesh
from irax.core.tracebacks import api_boundary
from irax.execution import backend
from irax.experimental.mesh_utils import create_device_mesh
from irax_runtime.device import Device as Device


class TopologyDescription:
    """A number of devices."""

    def __init__(self, devices: list[Any]) -> None:
        self.devices: list[Any] = devices

    def __repr__(self) -> str:
        return f"TopologyDescription({self.devices!r})"

    def serialize(self) -> bytes:
        """Return the topology as bytes.

        Raises:
            NotImplementedError: the devices are those of this process.
        """
        topology = getattr(self.devices[0], "topology", None)
        if topology is None:
            raise NotImplementedError(
                "serialize: devices of this process have no topology with a name: take one by "
                "get_topology_desc"
            )
        return json.dumps([self.devices[0].platform, topology.name]).encode()

    @classmethod
    def deserialize(cls, serialized: bytes) -> TopologyDescription:
        """Return the topology of what `serialize` returned.

        Raises:
            ValueError: the bytes are no topology.
        """
        try:
            platform, name = json.loads(serialized)
        except ValueError:
            raise ValueError(
                "deserialize: the bytes are no topology that irax has serialized"
            ) from None
        return get_topology_desc(name, platform)


@api_boundary
def get_attached_topology(platform: str | None = None) -> TopologyDescription:
    """Return the devices of a platform that are here; by default those of the default one.

    >>> get_attached_topology("cpu").devices
    [CpuDevice(id=0)]
    """
    return TopologyDescription(list(backend.devices(platform)))


@api_boundary
def get_topology_desc(
    topology_name: str = "", platform: str | None = None, **kwargs: Any
) -> TopologyDescription:
    """Return the chips of a topology, which need not be here.

    Args:
        topology_name: "v5e:2x2x1" are four TPUs, "h100:1x1x4" four GPUs.
        platform: "tpu", as by default, or "cuda".
        **kwargs: accepted for JAX's options, and of no effect.

    Raises:
        NotImplementedError: programs are compiled ahead for TPUs and GPUs alone.
        ValueError: there is no such topology.
        RuntimeError: the compiler is not installed, or knows no such topology.
    """
    from irax_runtime.pjrt.chips import chips_of
    from irax_runtime.pjrt.topology import topology_for

    platform = platform or "tpu"
    platform = "cuda" if platform in ("gpu", "cuda") else platform
    if platform not in ("tpu", "cuda"):
        raise NotImplementedError(f"topology not implemented for {platform}: expected tpu or cuda")
    return TopologyDescription(chips_of(topology_for(platform, topology_name)))


def make_mesh(
    topo: TopologyDescription,
    mesh_shape: Sequence[int],
    axis_names: tuple[str, ...],
    *,
    contiguous_submeshes: bool = False,
) -> Mesh:
    """Return a mesh of the devices of a topology.

    Args:
        topo: the topology.
        mesh_shape: the number of devices along each axis.
        axis_names: the names of the axes.
        contiguous_submeshes: accepted; devices keep their order.

    Raises:
        ValueError: the number of devices is not that of the shape.

    >>> make_mesh(get_attached_topology("cpu"), (1,), ("x",)).shape
    OrderedDict({'x': 1})
    """
    devices = create_device_mesh(
        mesh_shape, topo.devices, contiguous_submeshes=contiguous_submeshes
    )
    return Mesh(devices, axis_names)


__getattr__: _GetAttr = _refuse_names(__name__)
