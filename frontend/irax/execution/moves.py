"""Copies of arrays to other devices, as the option `transfer_guard_device_to_device` sees them."""

from __future__ import annotations

from typing import Any

from irax.config import config
from irax.core import transfer_guards
from irax.core.array import ConcreteArray
from irax.execution.backend import current_device
from irax_runtime.mesh import devices_of


def check_move(x: Any, device: Any) -> None:
    """Log or forbid the use of an array on a device, if it is on another one.

    Raises:
        JaxRuntimeError: it is, and that is forbidden.
    """
    if not config.guards_transfers or not isinstance(x, ConcreteArray):
        return
    own = current_device() if x._buffer is None else x._buffer.device
    if devices_of(own) != devices_of(device):
        transfer_guards.check(
            "device_to_device", f"an array of type {x.aval} from {own!r} to {device!r}"
        )
