"""Platforms: groups of devices, by their clients."""

from __future__ import annotations

from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.execution.backend import current_device as get_default_device
from irax.execution.backend import resolve_device
from irax_runtime.device import DeviceClient

__all__ = ["backends", "clear_backends", "get_backend", "get_default_device"]

__getattr__: _GetAttr = _refuse_names(__name__)


def get_backend(platform: str | None = None) -> DeviceClient:
    """Return the client of a platform, by default of that on which programs run.

    Args:
        platform: the name of a platform.

    Raises:
        RuntimeError: there is no such platform here.

    >>> irax.extend.backend.get_backend("cpu").platform
    'cpu'
    """
    return (get_default_device() if platform is None else resolve_device(platform)).client


def backends() -> dict[str, DeviceClient]:
    """Return the client of the platform that programs run on, by its name."""
    client = get_backend()
    return {client.platform: client}


def clear_backends() -> None:
    """Do nothing: devices are kept for as long as the process lives."""
