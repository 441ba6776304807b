"""The chips of a topology as devices: programs are compiled for them, and none runs here."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from irax_runtime.device import DeviceClient, HasMemories
from irax_runtime.pjrt.topology import Topology, topology_for
from irax_runtime.platforms import of_plugin


class ChipClient(DeviceClient):
    """The client of chips that are not here."""

    runtime_type = "compile_only"

    def __init__(self, topology: Topology) -> None:
        served = of_plugin(topology.platform)
        self.topology = topology
        self.platform = served.name
        self.platform_version = topology.version

    def devices(self) -> list[Chip]:
        """The chips, by their numbers."""
        return self._chips

    @cached_property
    def _chips(self) -> list[Chip]:
        return [Chip(self, one) for one in self.topology.chips]


class Chip(HasMemories):
    """A chip of a topology, which meshes and shardings can have."""

    compiler = None
    local_hardware_id = -1
    process_index = 0

    def __init__(self, client: ChipClient, told: dict[str, Any]) -> None:
        """The chip of which the plugin has told this."""
        self.client = client
        self.id: int = told["id"]
        self.device_kind: str = told["kind"]
        self.platform = client.platform
        self.target = client.topology.target
        for name, value in told.items():
            if name not in ("id", "kind"):
                setattr(self, name, value)

    def __repr__(self) -> str:
        coords = getattr(self, "coords", None)
        place = "" if coords is None else f", coords=({','.join(map(str, coords))})"
        return f"Chip({self.platform!r}, id={self.id}{place})"

    def __reduce__(self) -> Any:
        return chip, (self.platform, self.client.topology.name, self.id)

    @property
    def topology(self) -> Topology:
        """The topology that it is part of."""
        return self.client.topology

    @property
    def driver(self) -> str:
        """The version of the plugin."""
        return self.client.platform_version

    def memory_stats(self) -> None:
        """Return None: there are no statistics."""

    def put(self, array: np.ndarray[Any, Any], may_alias: bool = False) -> NoReturn:
        """Raise RuntimeError: the chip is not here."""
        self._refuse("arrays cannot be put there")

    def load(self, artefact: bytes, entry: str | None = None) -> NoReturn:
        """Raise RuntimeError: the chip is not here."""
        self._refuse("programs for it are compiled by jit(f).lower(x).compile(), and not run")

    def _refuse(self, what: str) -> NoReturn:
        raise RuntimeError(f"{self!r} of {self.topology.name!r} is not here: {what}")


_clients: dict[Topology, ChipClient] = {}


def chips_of(topology: Topology) -> list[Chip]:
    """The chips of a topology, which are the same objects each time."""
    return _clients.setdefault(topology, ChipClient(topology)).devices()


def chip(platform: str, topology: str, number: int) -> Chip:
    """The chip of a topology that has this number."""
    return next(c for c in chips_of(topology_for(platform, topology)) if c.id == number)
