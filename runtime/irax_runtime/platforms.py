"""The platforms, each with all that the runtime knows of it.

A platform is a kind of device and who serves it: `cpu` is the processor by IREE, `pjrt:cpu` the
processor by the PJRT plugin for it. To add one, register it here, or from another package:

    register(IreePlatform(name="abacus", device_files=("/dev/abacus0",)))      a driver of IREE's
    register(PjrtPlatform(name="pjrt:abacus", plugin="abacus", package="abacus-pjrt"))
    register(Platform(name="abacus", module="abacus.devices"))                 anything else
"""

from __future__ import annotations

import glob
import importlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TypeVar

from irax_runtime import extensions
from irax_runtime.device import Device
from irax_runtime.vendors import gpu_topologies, nvidia, tpu

PJRT = "pjrt:"
"""The prefix of the names of plugins' platforms."""

Settings = Mapping[str, str | int | bool]
"""Options of a plugin or of its compiler by name; those that are enumerations or lists are text."""


class NoDevice(RuntimeError):
    """A platform is not known, or none of its devices is here."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Platform:
    """A kind of device, and who serves it."""

    name: str
    module: str
    """The module whose function `devices` takes the platform and returns its devices. Modules are
    named, not imported, because drivers take time to load."""
    device_files: tuple[str, ...] = ()
    """Patterns of the system's files that tell that such a device may be here. A platform that has
    some is used by default where one is there."""
    is_listed: bool = True
    """True if `irax devices` lists it even where it has no device."""

    def may_be_here(self) -> bool:
        """Return True if one of its device files is here."""
        return any(map(glob.glob, self.device_files))

    def devices(self) -> Sequence[Device]:
        """Its devices. Raises anything: drivers and plugins are other people's."""
        return importlib.import_module(self.module).devices(self)


@dataclass(frozen=True, kw_only=True, eq=False)
class IreePlatform(Platform):
    """GPUs that a driver of IREE's serves; its name is the driver's."""

    module: str = "irax_runtime.iree.gpu"
    remedies: Mapping[str, str] = field(default_factory=dict)
    """The remedy for each message of the driver, by pattern; the empty message is no device at all.
    """
    chip: Callable[[str], str] = lambda architecture: ""
    """The chip to compile for, given what the driver calls the device's architecture."""

    def target(self, architecture: str) -> str:
        """The compiler's target for a device, with its chip where that is known."""
        return f"iree-{self.name}:{self.chip(architecture)}".removesuffix(":")


@dataclass(frozen=True, kw_only=True, eq=False)
class PjrtPlatform(Platform):
    """Devices that a PJRT plugin serves."""

    module: str = "irax_runtime.pjrt.client"
    plugin: str
    """The plugin's name for it."""
    package: str = ""
    """The package that has the plugin, for pip."""
    target: str = "pjrt"
    """The compiler's target for it."""
    prepare: Callable[[], None] = lambda: None
    """Called before the plugin is loaded; raises LookupError where it would find no device here."""
    options: Callable[[], Settings] = dict
    """The plugin's options when its devices are opened."""
    of_process: Callable[[int, int], Settings] | None = None
    """Further options of a process of a job, from its number and the count of processes; None where
    the plugin's devices communicate within a process alone."""
    settings: Callable[[], Settings] = dict
    """The settings of its compiler that are better than what it has by itself."""
    check_topology: Callable[[str], None] = lambda name: None
    """Raises ValueError for the name of a topology that the plugin must not see."""
    topology: Callable[[str], Settings] = lambda name: {}
    """The plugin's options for the topology of a name."""
    only_to_compile: Callable[[], AbstractContextManager[None]] = nullcontext
    """In which the plugin is loaded where it is only to compile."""


_platforms: dict[str, Platform] = {}

T = TypeVar("T", bound=Platform)


def register(platform: T) -> T:
    """Makes a platform known by its name, and returns it."""
    _platforms[platform.name] = platform
    return platform


def all_platforms() -> list[Platform]:
    """The platforms that are registered, the one to be preferred first."""
    extensions.load("irax.pjrt")
    return list(_platforms.values())


def find(name: str) -> Platform:
    """The platform of a name.

    Raises:
        NoDevice: there is none; the message says which there are.

    >>> find("pjrt:abacus").plugin
    'abacus'
    """
    if name not in _platforms:
        extensions.load("irax.pjrt")
    if name in _platforms:
        return _platforms[name]
    if name.startswith(PJRT) and name != PJRT:
        return of_plugin(name.removeprefix(PJRT))
    there = [p.name for p in all_platforms() if not p.name.startswith(PJRT)]
    raise NoDevice(
        f"no platform {name!r} here; there are {', '.join(map(repr, there))} and, with a plugin of "
        f"that name, '{PJRT}NAME'{_hint(name)}"
    )


def of_plugin(plugin: str) -> PjrtPlatform:
    """The platform that plugins call by a name, whether or not it is registered."""
    for platform in all_platforms():
        if isinstance(platform, PjrtPlatform) and platform.plugin == plugin:
            return platform
    return PjrtPlatform(name=PJRT + plugin, plugin=plugin)


def _hint(name: str) -> str:
    """A hint at the platform that an unknown name may mean."""
    if name in ("gpu", "rocm"):
        return "; GPUs go by the name of who serves them, 'cuda', 'hip' or 'vulkan'"
    platform, _, number = name.partition(":")
    if platform in _platforms and number.isdigit():
        return f"; one of several devices is irax.devices({platform!r})[{number}]"
    return ""


def _of_rocm(architecture: str) -> str:
    """`gfx90a:sramecc+` is the chip gfx90a."""
    return architecture.partition(":")[0]


def _of_cuda(architecture: str) -> str:
    """Code of an older chip runs on newer ones; IREE knows none after sm_89."""
    number = re.fullmatch(r"sm_(\d+)", architecture)
    known = [n for n in (60, 70, 75, 80, 86, 89) if number and n <= int(number[1])]
    return f"sm_{known[-1]}" if known else ""


CPU_DEVICES = "IRAX_CPU_DEVICES"
"""The environment variable that says how many devices the processor is."""

XLA_CPU_DEVICES = r"--xla_force_host_platform_device_count=([1-9]\d*)"
"""The flag in `XLA_FLAGS` by which programs for JAX say so."""


_cpu_devices: dict[str, int] = {}
"""The number of devices of the processor: as it was `chosen`, and as others were `told`."""


def cpu_devices() -> int:
    """Return how many devices the processor is.

    Raises:
        ValueError: the environment variable is no number of devices.
    """
    forced = re.findall(XLA_CPU_DEVICES, os.environ.get("XLA_FLAGS", ""))
    text = os.environ.get(CPU_DEVICES) or (forced or ["1"])[-1]
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{CPU_DEVICES}={text}: expected a number of devices, 1 or more")
    count = _cpu_devices.get("chosen", int(text))
    _cpu_devices["told"] = count
    return count


def are_cpu_devices_fixed() -> bool:
    """Return True if devices have been asked for: the processor keeps the number of its devices."""
    return "told" in _cpu_devices


def choose_cpu_devices(count: int) -> None:
    """Choose how many devices the processor is, instead of by the environment variable.

    Raises:
        RuntimeError: devices have been asked for before, when it was another number.
    """
    told = _cpu_devices.get("told", count)
    if told != count:
        raise RuntimeError(
            f"the processor is {told} devices since they were first asked for; choose {count} "
            f"before that, or set {CPU_DEVICES}={count}"
        )
    _cpu_devices["chosen"] = count


CPU = register(Platform(name="cpu", module="irax_runtime.iree.cpu"))

TPU = register(
    PjrtPlatform(
        name="tpu",
        plugin="tpu",
        package="libtpu",
        target="tpu",
        device_files=tpu.DEVICE_FILES,
        of_process=lambda index, count: {},  # libtpu knows by itself
        prepare=tpu.check_there_is_one,
        check_topology=tpu.check_topology,
        only_to_compile=tpu.only_to_compile,
    )
)

CUDA = register(
    IreePlatform(
        name="cuda",
        device_files=("/dev/nvidia0",),
        remedies={
            r"not available": "libcuda.so is missing, or damaged: install NVIDIA's driver",
            r"^$": "no device: see `nvidia-smi`",
        },
        chip=_of_cuda,
    )
)

HIP = register(
    IreePlatform(
        name="hip",
        device_files=("/dev/kfd",),
        remedies={
            r"(?i)not available.*no such file": "libamdhip64.so is missing: install AMD's ROCm "
            "(rocm-hip-runtime)",
            r"^$": "no device: see `rocminfo`",
        },
        chip=_of_rocm,
    )
)

VULKAN = register(
    IreePlatform(
        name="vulkan",
        device_files=("/dev/dri/renderD128",),
        remedies={
            r"(?i)loader library not found.*no such file": "the Vulkan loader libvulkan.so.1 is "
            "missing: apt-get install libvulkan1, or your system's package of it",
            r"INCOMPATIBLE_DRIVER": "the Vulkan loader finds no driver: install your GPU's, or, to "
            "run Vulkan on the processor, apt-get install mesa-vulkan-drivers",
            r"^$": "no device: install your GPU's driver for Vulkan, or, to run Vulkan on the "
            "processor, apt-get install mesa-vulkan-drivers",
        },
    )
)

METAL = register(
    IreePlatform(
        name="metal",
        remedies={r"^$": "no device: IREE needs a Mac with a GPU"},
        is_listed=False,
    )
)

PJRT_CPU = register(
    PjrtPlatform(
        name="pjrt:cpu",
        plugin="cpu",
        package="xla-cpu-pjrt",
        options=lambda: {"cpu_device_count": cpu_devices()},
        # Sums by a library, as younger versions of XLA have it: a fifth of the time.
        settings=lambda: {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_REDUCE"},
    )
)

PJRT_CUDA = register(
    PjrtPlatform(
        name="pjrt:cuda",
        plugin="cuda",
        package="jax-cuda13-pjrt",
        prepare=nvidia.preload,
        options=lambda: {"preallocate": False},  # other processes may use the GPU too
        of_process=lambda index, count: {"node_id": index, "num_nodes": count},
        check_topology=gpu_topologies.check,
        topology=gpu_topologies.options,
        settings=nvidia.settings,
    )
)

PJRT_ROCM = register(PjrtPlatform(name="pjrt:rocm", plugin="rocm", is_listed=False))
