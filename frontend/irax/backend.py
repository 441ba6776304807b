"""Devices, and the way of a traced module to a program that runs on one."""

from __future__ import annotations

from typing import Any

import numpy as np

from irax import tree_util
from irax.array import Array, as_array
from irax_compiler import mlir
from irax_compiler.lowering import lower
from irax_runtime.device import Device, Executable


def devices(backend: str | None = None) -> list[Device]:
    """The devices there are, or those of one platform, such as "cpu".

    Raises:
        RuntimeError: there is no such platform here.

    >>> devices()
    [CpuDevice(id=0)]
    """
    from irax_runtime.iree import cpu

    if backend not in (None, "cpu"):
        raise RuntimeError(f"devices: no platform {backend!r} here; there is 'cpu'")
    return [cpu()]


def local_devices(backend: str | None = None) -> list[Device]:
    """The devices of this process: all of them."""
    return devices(backend)


def device_count(backend: str | None = None) -> int:
    """The number of devices."""
    return len(devices(backend))


local_device_count = device_count


def default_backend() -> str:
    """The platform that programs run on unless told otherwise."""
    return default_device().platform


def default_device() -> Device:
    """The device that programs run on unless told otherwise."""
    return devices()[0]


def compile(module: mlir.Module, name: str, device: Device | None = None) -> Executable:
    """Compiles function `name` of a module for a device, and loads it there."""
    from irax_compiler.targets import iree_cpu

    device = device or default_device()
    lowered = lower(module, name)
    artefact = iree_cpu.compile(mlir.bytecode(lowered))
    return device.load(artefact, name)


def device_put(x: Any, device: Device | None = None) -> Any:
    """The arrays, NumPy arrays and scalars of a pytree as irax arrays on a device.

    >>> device_put(np.ones(2, "float32"))
    Array([1., 1.], dtype=float32)
    """
    if device is not None and device not in devices():
        raise ValueError(f"device_put: expected a device of irax.devices(), got {device!r}")
    return tree_util.tree_map(lambda leaf: as_array(leaf, "device_put: x"), x)


def device_get(x: Any) -> Any:
    """The arrays of a pytree as NumPy arrays.

    >>> device_get([device_put(1.0)])
    [array(1., dtype=float32)]
    """

    def fetch(leaf: Any) -> Any:
        return np.asarray(leaf) if isinstance(leaf, Array) else leaf

    return tree_util.tree_map(fetch, x)
