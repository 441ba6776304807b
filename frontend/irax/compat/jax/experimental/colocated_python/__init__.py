"""jax.experimental.colocated_python: Python beside devices of other machines, which irax lacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


def colocated_python(fun: Callable[..., Any]) -> NoReturn:
    """Refuse: programs run in this process."""
    raise NotImplementedError("irax runs programs on the devices of this process alone")


def colocated_cpu_devices(devices: Any) -> Any:
    """Return the devices, which are those of this process."""
    return devices
