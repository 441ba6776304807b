"""Helpers of the tests of Vulkan: the device, if there is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from irax_runtime.device import DeviceLostError
from irax_runtime.iree import drivers as iree_drivers
from irax_runtime.iree import gpu as iree_gpu
from irax_runtime.iree.gpu import GpuDevice
from irax_runtime.platforms import VULKAN


def _why_not() -> str:
    try:
        iree_drivers.available(VULKAN)
    except iree_drivers.DriverError as error:
        return str(error)
    return ""


T = TypeVar("T")
WHY_NOT = _why_not()
needs_vulkan = pytest.mark.needs_system(WHY_NOT and f"no Vulkan device: {WHY_NOT}")


def device() -> GpuDevice:
    return iree_gpu.devices(VULKAN)[0]


def again_if_lost(work: Callable[[], T]) -> T:
    """Return what `work` does, if need be at a second try: IREE 3.13 at times
    signals a semaphore twice on a busy machine, which Mesa 22.3 takes for the loss of the device.
    """
    try:
        return work()
    except DeviceLostError:
        if not device().is_processor:
            raise
        return work()


def run(text: str, *arrays: Any) -> list[Any]:
    """The results of the function @main of a module."""
    from irax_compiler import mlir, targets
    from irax_compiler.lowering import lower

    lowered = lower(mlir.parse_module(text), "main", device().target)
    program = device().load(targets.compile(lowered, device().target), "main")
    return [r.numpy() for r in program([device().put(a) for a in arrays])]
