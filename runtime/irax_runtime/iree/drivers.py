"""Queries of IREE's GPU drivers: the devices they have, without opening any, and the remedies
where there are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import iree.runtime as rt

from irax_runtime.devices import reason_of
from irax_runtime.iree.modules import DRIVER
from irax_runtime.platforms import IreePlatform

_PLACE = re.compile(r"\S+\.\w+:\d+: ")
"""A place in IREE's own source, which its messages begin with."""


class DriverError(RuntimeError):
    """A driver has no device here; the message says why, and what would help."""


def available(platform: IreePlatform) -> list[Found]:
    """The devices of a driver.

    Raises:
        DriverError: there are none.
    """
    driver = platform.name
    if driver not in rt.query_available_drivers():
        raise DriverError(
            f"this build of IREE's runtime has no driver {driver!r}; programs for it can be "
            f"compiled: irax compile --device {driver}"
        )
    with failures(platform):
        found = rt.get_driver(driver).query_available_devices()
        if not found:
            raise DriverError(_remedy(platform, ""))
        return [
            Found(platform, number, facts["device_id"], facts["name"])
            for number, facts in enumerate(found)
        ]


@contextmanager
def failures(platform: IreePlatform) -> Iterator[None]:
    """Makes a DriverError of whatever IREE raises where it talks to a driver: the types of its
    exceptions are those of its status codes, of which any may come.
    """
    try:
        yield
    except DriverError:
        raise
    except Exception as error:
        raise DriverError(_remedy(platform, reason_of(error))) from None


def _remedy(platform: IreePlatform, reason: str) -> str:
    """The remedy for a reason that a driver gives."""
    for pattern, remedy in platform.remedies.items():
        if re.search(pattern, reason):
            return remedy
    told = _PLACE.sub("", reason)
    return f"the driver fails; install it again, or a newer one: {told}"


@dataclass(frozen=True)
class Found:
    """A device that there is, and what its driver tells of it."""

    platform: IreePlatform
    id: int
    handle: Any
    """The driver's own handle on the device."""
    name: str

    def open(self) -> Any:
        """IREE's device. Raises DriverError where it cannot be opened."""
        with failures(self.platform):
            return rt.get_driver(self.platform.name).create_device(self.handle, None)

    @cached_property
    def facts(self) -> dict[str, str]:
        """The driver's description of it, by name. Raises DriverError where there is none."""
        with failures(self.platform):
            driver: Any = rt.get_driver(self.platform.name)
            return _facts(driver.dump_device_info(self.handle))

    @property
    def device_kind(self) -> str:
        """The device's own name."""
        return self.facts.get("name", self.name)

    @property
    def driver(self) -> str:
        """The driver that serves the device, with its version."""
        version = self.facts.get("driver_version", "")
        return f"{DRIVER}, {self.platform.name} {version}".rstrip()

    @property
    def is_processor(self) -> bool:
        """True for a driver that runs on the processor in place of a GPU."""
        return self.facts.get("type") == "cpu"

    def memory_stats(self) -> dict[str, int]:
        """`bytes_limit`, the largest of its heaps, where the driver tells it."""
        heaps = self.facts.get("memory_heaps", "").replace(";", "\n")
        sizes = [int(n) for n in re.findall(r"size=(\d+) flags=0x0*[13579bdf]\b", heaps)]
        return {"bytes_limit": max(sizes)} if sizes else {}

    @property
    def target(self) -> str:
        """The compiler's target for it, chosen by what the driver tells."""
        return self.platform.target(self.facts.get("gpu-arch-name", ""))


def _facts(text: str) -> dict[str, str]:
    """The lines `name: value` of what a driver tells, each with those indented below it."""
    facts: dict[str, str] = {}
    last = ""
    for line in text.splitlines():
        if line.startswith("  ") and last:
            facts[last] += f";{line.strip()}"
            continue
        name, _, value = line.lstrip("- ").partition(":")
        last = name.strip()
        facts[last] = value.strip()
    return facts
