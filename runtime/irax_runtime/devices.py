"""The devices there are, by platform.

`IRAX_PLATFORMS`, a list with commas, says which platforms (`platforms.py`) to use and in what
order: the first device of the first that is there is the default.

Without it that is the best there is: a TPU or a GPU, or else the processor. The system's device
files tell what to look for, so that nobody waits for the drivers of what is not there; programs on
the processor that stand for a GPU are not taken unasked.
"""

from __future__ import annotations

import os
import warnings

from irax_runtime.device import Device, DeviceClient
from irax_runtime.once import once
from irax_runtime.platforms import NoDevice, all_platforms, find

VARIABLE = "IRAX_PLATFORMS"


def platforms() -> tuple[str, ...]:
    """The platforms to use, the preferred one first.

    >>> platforms()
    ('cpu',)
    """
    names = os.environ.get(VARIABLE, "").split(",")
    return tuple(name.strip().lower() for name in names if name.strip()) or _best()


@once
def _best() -> tuple[str, ...]:
    """The best platform that is there, and the processor's; if what should be there is not, that
    too, so that it is told why.
    """
    absent: list[str] = []
    for platform in all_platforms():
        if not platform.may_be_here():
            continue
        try:
            if not all(getattr(d, "is_processor", False) for d in _of_platform(platform.name)):
                return platform.name, "cpu"
        except NoDevice:
            absent.append(platform.name)
    return (*absent[:1], "cpu")


def devices(platform: str | None = None) -> list[Device]:
    """The devices of one platform, or of all those to use.

    Raises:
        NoDevice: there are none.
        TypeError: `platform` is not a name.

    >>> devices("cpu")
    [CpuDevice(id=0)]
    """
    if platform is None:
        return list(_all(platforms()))
    if not isinstance(platform, str):
        raise TypeError(f"expected the name of a platform, such as 'cpu', got {platform!r}")
    return list(_of_platform(platform.strip().lower()))


class PlatformClient(DeviceClient):
    """The client of devices that one driver of IREE's serves."""

    def __init__(self, device: Device) -> None:
        self.platform, self.platform_version = device.platform, device.driver

    def devices(self) -> list[Device]:
        """The devices of the platform."""
        return devices(self.platform)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.platform!r})"


def numbered(platform: str, number: int) -> Device:
    """One of a platform's devices. Devices are pickled as this: what comes back is the device that
    there is.

    Raises:
        NoDevice: there is none.
    """
    found = devices(platform)
    for device in found:
        if device.id == number:
            return device
    raise NoDevice(f"platform {platform!r} has no device {number} here; it has {found}")


@once
def _all(names: tuple[str, ...]) -> tuple[Device, ...]:
    found: list[Device] = []
    missing: dict[str, str] = {}
    for name in names:
        try:
            found += _of_platform(name)
        except NoDevice as error:
            missing[name] = str(error)
    reasons = "; ".join(missing.values())
    if not found:
        raise NoDevice(f"{VARIABLE}={','.join(names)}: {reasons}")
    if names[0] in missing:
        warnings.warn(f"falling back to {found[0]!r}: {reasons}", stacklevel=4)
    return tuple(found)


def are_open() -> bool:
    """Return True if devices have been asked for."""
    return bool(_asked_for)


_asked_for: set[str] = set()


@once
def _of_platform(name: str) -> tuple[Device, ...]:
    platform = find(name)
    _asked_for.add(name)
    try:
        return tuple(platform.devices())
    except Exception as error:  # drivers and plugins are other people's: they raise anything
        raise NoDevice(f"no platform {name!r} here: {reason_of(error)}") from error


def reason_of(error: Exception) -> str:
    """The message of an error in one line, with its type where that tells of a bug."""
    text = " ".join(str(error).split())
    is_report = isinstance(error, RuntimeError | ValueError | OSError) and text
    return text if is_report else f"{type(error).__name__}: {text}".removesuffix(": ")
