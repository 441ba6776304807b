"""The inventory of devices: those that are here, and what is missing for the others."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

from irax_runtime import devices
from irax_runtime.device import Device
from irax_runtime.iree import drivers as iree_drivers
from irax_runtime.iree.drivers import Found
from irax_runtime.platforms import PJRT, IreePlatform, PjrtPlatform, all_platforms, find


def describe() -> Iterator[str]:
    """A line for each device of each platform: what it is, its driver and its memory; or one that
    says why there is none, and what installs it.
    """
    listed = [platform.name for platform in all_platforms() if platform.is_listed]
    for name in dict.fromkeys([*devices.platforms(), *listed, *_of_plugins()]):
        try:
            lines = [_line(device) for device in _found(name)]
        except Exception as error:  # one that fails must not hide the others
            reason = devices.reason_of(error).removeprefix(f"no platform {name!r} here: ")
            lines = [f"none: {reason}"]
        for line in lines:
            yield f"{name:12} {line}"


def _line(device: Device | Found) -> str:
    facts = [device.device_kind, device.driver, _memory(device)]
    return f"{device.id}: {', '.join(filter(None, facts))}"


def _of_plugins() -> Iterator[str]:
    from irax_runtime.pjrt.plugins import plugins

    with suppress(Exception):  # the lines of "tpu" and "pjrt:cpu" tell it
        for plugin in plugins():
            served = [
                platform.name
                for platform in all_platforms()
                if isinstance(platform, PjrtPlatform) and plugin.serves(platform.plugin)
            ]
            yield served[0] if served else f"{PJRT}{plugin.name}"


def _found(name: str) -> Sequence[Device | Found]:
    """The devices of a platform. IREE's GPUs are not opened to tell of them."""
    platform = find(name)
    if isinstance(platform, IreePlatform):
        return iree_drivers.available(platform)
    return devices.devices(name)


def _memory(device: Device | Found) -> str:
    """The size of a device's memory, the share that programs may use, and the bytes that arrays
    take.
    """
    stats = device.memory_stats() or {}
    limit = stats.get("bytes_limit")
    if limit is None and device.device_kind == "cpu":
        with suppress(ValueError, OSError, AttributeError):  # a system that does not tell
            limit = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if limit is None:
        return ""
    used = stats.get("bytes_in_use", 0)
    return f"{limit / 2**30:.1f} GiB" + (f", {used / 2**30:.1f} GiB in use" if used else "")
