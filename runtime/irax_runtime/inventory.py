"""What devices there are, and what is missing for the others."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

from irax_runtime import devices, iree_drivers
from irax_runtime.device import Device

KNOWN = ("cpu", "tpu", "cuda", "hip", "vulkan", "pjrt:cpu", "pjrt:cuda")
"""The platforms to tell of, besides those to use and those that there are plugins for."""


def describe() -> Iterator[str]:
    """A line for each device of each platform: what it is, its driver and its memory; or one that
    says why there is none, and what installs it.
    """
    for name in dict.fromkeys([*devices.platforms(), *KNOWN, *_of_plugins()]):
        try:
            lines = [_line(device) for device in _found(name)]
        except Exception as error:  # one that fails must not hide the others
            reason = devices.reason_of(error).removeprefix(f"no platform {name!r} here: ")
            lines = [f"none: {reason}"]
        for line in lines:
            yield f"{name:12} {line}"


def _line(device: Device | iree_drivers.Found) -> str:
    facts = [device.device_kind, device.driver, _memory(device)]
    return f"{device.id}: {', '.join(filter(None, facts))}"


def _found(platform: str) -> Sequence[Device | iree_drivers.Found]:
    """The devices of a platform. IREE's GPUs are not opened to tell of them."""
    if platform in devices.IREE:
        return iree_drivers.available(platform)
    return devices.devices(platform)


def _of_plugins() -> Iterator[str]:
    from irax_runtime.pjrt.plugins import plugins

    with suppress(Exception):  # the lines of "tpu" and "pjrt:cpu" tell it
        for plugin in plugins():
            served = [name for name in ("cpu", "cuda", "rocm", "tpu") if plugin.serves(name)]
            platform = served[0] if served else plugin.name
            yield platform if platform == "tpu" else f"{devices.PJRT}{platform}"


def _memory(device: Device | iree_drivers.Found) -> str:
    """How much there is, of which programs may use some share, and how much arrays take."""
    stats = device.memory_stats() or {}
    limit = stats.get("bytes_limit")
    if limit is None and device.device_kind == "cpu":
        with suppress(ValueError, OSError, AttributeError):  # a system that does not tell
            limit = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if limit is None:
        return ""
    used = stats.get("bytes_in_use", 0)
    return f"{limit / 2**30:.1f} GiB" + (f", {used / 2**30:.1f} GiB in use" if used else "")
