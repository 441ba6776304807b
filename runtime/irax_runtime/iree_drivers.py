"""What IREE's drivers of GPUs tell: which devices there are, none of which is opened for it, and
what to do about it where there are none.
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
from irax_runtime.iree_modules import DRIVER

_INSTALL = {
    "vulkan": {
        r"(?i)loader library not found.*no such file": "the Vulkan loader libvulkan.so.1 is "
        "missing: apt-get install libvulkan1, or your system's package of it",
        r"INCOMPATIBLE_DRIVER": "the Vulkan loader finds no driver: install your GPU's, or, to run "
        "Vulkan on the processor, apt-get install mesa-vulkan-drivers",
        r"^$": "no device: install your GPU's driver for Vulkan, or, to run Vulkan on the "
        "processor, apt-get install mesa-vulkan-drivers",
    },
    "cuda": {
        r"not available": "libcuda.so is missing, or damaged: install NVIDIA's driver",
        r"^$": "no device: see `nvidia-smi`",
    },
    "hip": {
        r"(?i)not available.*no such file": "libamdhip64.so is missing: install AMD's ROCm "
        "(rocm-hip-runtime)",
        r"^$": "no device: see `rocminfo`",
    },
    "metal": {r"^$": "no device: IREE needs a Mac with a GPU"},
}
"""What to do about what IREE's drivers say, "" standing for no device at all."""

_PLACE = re.compile(r"\S+\.\w+:\d+: ")
"""A place in IREE's own source, which its messages begin with."""


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
    with failures(driver):
        found = rt.get_driver(driver).query_available_devices()
        if not found:
            raise DriverError(_cure(driver, ""))
        return [
            Found(driver, number, facts["device_id"], facts["name"])
            for number, facts in enumerate(found)
        ]


@contextmanager
def failures(driver: str) -> Iterator[None]:
    """Makes a DriverError of whatever IREE raises where it talks to a driver: the types of its
    exceptions are those of its status codes, of which any may come.
    """
    try:
        yield
    except DriverError:
        raise
    except Exception as error:
        raise DriverError(_cure(driver, reason_of(error))) from None


def _cure(driver: str, reason: str) -> str:
    """The remedy for a reason that a driver gives."""
    for pattern, cure in _INSTALL[driver].items():
        if re.search(pattern, reason):
            return cure
    told = _PLACE.sub("", reason)
    return f"the driver fails; install it again, or a newer one: {told}"


@dataclass(frozen=True)
class Found:
    """A device that there is, and what its driver tells of it."""

    platform: str
    """The driver: "vulkan", "cuda", "hip" or "metal"."""
    id: int
    handle: Any
    """What the driver knows it by."""
    name: str

    def open(self) -> Any:
        """IREE's device. Raises DriverError where it cannot be opened."""
        with failures(self.platform):
            return rt.get_driver(self.platform).create_device(self.handle, None)

    @cached_property
    def facts(self) -> dict[str, str]:
        """The driver's description of it, by name. Raises DriverError where there is none."""
        with failures(self.platform):
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
