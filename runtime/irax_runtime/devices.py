"""The devices there are, by platform.

A platform is a kind of device and who serves it: "cpu" is the processor, by IREE; "pjrt:cpu" the
same by the PJRT plugin for it, "tpu" a TPU by libtpu. `IRAX_PLATFORMS`, a list with commas, says
which to use and in what order: the first device of the first that is there is the default.
"""

from __future__ import annotations

import os
import warnings
from functools import cache

from irax_runtime.device import Device

VARIABLE = "IRAX_PLATFORMS"
PJRT = "pjrt:"


class NoDevice(RuntimeError):
    """A platform is not known, or none of its devices is here."""


def platforms() -> tuple[str, ...]:
    """The platforms to use, the preferred one first.

    >>> platforms()
    ('cpu',)
    """
    names = os.environ.get(VARIABLE, "").split(",")
    return tuple(name.strip().lower() for name in names if name.strip()) or ("cpu",)


def devices(platform: str | None = None) -> list[Device]:
    """The devices of one platform, or of all those to use.

    Raises:
        NoDevice: there are none.

    >>> devices("cpu")
    [CpuDevice(id=0)]
    """
    if platform is not None:
        return list(_of_platform(platform.lower()))
    return list(_all(platforms()))


@cache
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
        warnings.warn(f"falling back to {found[0]!r}: {reasons}", stacklevel=3)
    return tuple(found)


@cache
def _of_platform(name: str) -> tuple[Device, ...]:
    if name == "cpu":
        from irax_runtime import iree

        return (iree.cpu(),)
    if name == "tpu" or name.startswith(PJRT):
        from irax_runtime.pjrt.client import client_for
        from irax_runtime.pjrt.errors import PjrtError, PluginError

        try:
            return tuple(client_for(name.removeprefix(PJRT)).devices)
        except (PjrtError, PluginError) as error:
            raise NoDevice(f"no platform {name!r} here: {error}") from None
    raise NoDevice(
        f"no platform {name!r} here; there are 'cpu', 'tpu' and, with a plugin of that name, "
        "'pjrt:NAME'"
    )
