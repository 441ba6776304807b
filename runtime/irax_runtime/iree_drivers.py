"""What IREE's drivers of GPUs tell: which devices there are, none of which is opened for it, and
what to do about it where there are none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import iree.runtime as rt

from irax_runtime.iree_modules import DRIVER

DRIVERS = ("vulkan", "cuda", "hip")

_INSTALL = {
    "vulkan": {
        r"loader library not found": "the Vulkan loader libvulkan.so.1 is missing: "
        "apt-get install libvulkan1, or your system's package of it",
        r"INCOMPATIBLE_DRIVER": "the Vulkan loader finds no driver: install your GPU's, or, to run "
        "Vulkan on the processor, apt-get install mesa-vulkan-drivers",
        r"^$": "no device: install your GPU's driver for Vulkan, or, to run Vulkan on the "
        "processor, apt-get install mesa-vulkan-drivers",
    },
    "cuda": {
        r"not available": "libcuda.so is missing: install NVIDIA's driver",
        r"^$": "no device: see `nvidia-smi`",
    },
    "hip": {
        r"not available": "libamdhip64.so is missing: install AMD's ROCm (rocm-hip-runtime)",
        r"^$": "no device: see `rocminfo`",
    },
}
"""What to do about what IREE's drivers say, "" standing for no device at all."""


class DriverError(RuntimeError):
    """A driver has no device here; the message says why, and what would help."""


def available(driver: str) -> list[Found]:
    """The devices of a driver.

    Raises:
        DriverError: there are none.
    """
    if driver not in rt.query_available_drivers():
        raise DriverError(
            f"this build of IREE's runtime has no driver {driver!r}; programs for it can be "
            f"compiled: irax compile --device {driver}"
        )
    reason = ""
    try:
        found = rt.get_driver(driver).query_available_devices()
        if found:
            return [
                Found(driver, number, facts["device_id"], facts["name"])
                for number, facts in enumerate(found)
            ]
    except RuntimeError as error:
        reason = " ".join(str(error).split())
    for pattern, cure in _INSTALL[driver].items():
        if re.search(pattern, reason):
            raise DriverError(cure)
    raise DriverError(reason)


@dataclass(frozen=True)
class Found:
    """A device that there is, and what its driver tells of it."""

    platform: str
    """The driver: "vulkan", "cuda" or "hip"."""
    id: int
    handle: Any
    """What the driver knows it by."""
    name: str

    def open(self) -> Any:
        """IREE's device."""
        return rt.get_driver(self.platform).create_device(self.handle, None)

    @cached_property
    def facts(self) -> dict[str, str]:
        """What the driver tells of it, by name."""
        driver: Any = rt.get_driver(self.platform)
        return _facts(driver.dump_device_info(self.handle))

    @property
    def device_kind(self) -> str:
        """What the device calls itself."""
        return self.facts.get("name", self.name)

    @property
    def driver(self) -> str:
        """Who serves it, version and all."""
        version = self.facts.get("driver_version", "")
        return f"{DRIVER}, {self.platform} {version}".rstrip()

    @property
    def is_processor(self) -> bool:
        """Whether it is no GPU, but a program on the processor that stands for one."""
        return self.facts.get("type") == "cpu"

    def memory_stats(self) -> dict[str, int]:
        """`bytes_limit`, the largest of its heaps, where the driver tells it."""
        heaps = self.facts.get("memory_heaps", "").replace(";", "\n")
        sizes = [int(n) for n in re.findall(r"size=(\d+) flags=0x0*[13579bdf]\b", heaps)]
        return {"bytes_limit": max(sizes)} if sizes else {}

    @property
    def target(self) -> str:
        """The compiler's target for it, chosen by what the driver tells."""
        arch = self.facts.get("gpu-arch-name", "")
        if self.platform == "hip" and arch:
            return f"iree-hip:{arch.partition(':')[0]}"
        if self.platform == "cuda" and (number := re.fullmatch(r"sm_(\d+)", arch)):
            # Code of an older chip runs on newer ones; IREE knows none after sm_89.
            known = [n for n in (60, 70, 75, 80, 86, 89) if n <= int(number[1])]
            return f"iree-cuda:sm_{known[-1]}" if known else "iree-cuda"
        return f"iree-{self.platform}"


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
