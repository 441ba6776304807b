"""Drivers and plugins whose libraries are absent, are damaged, or raise anything: the processor
stays usable, and `irax devices` and `irax doctor` tell of them.
"""

from __future__ import annotations

import _ctypes
import ctypes.util
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import iree.runtime as rt
import pytest
from tests.runtime.pjrt.pjrt_programs import python

from irax_runtime import devices, inventory
from irax_runtime.iree import gpu as iree_gpu
from irax_runtime.once import once
from irax_runtime.pjrt import client, plugins
from irax_runtime.platforms import IreePlatform, all_platforms

README = (Path(__file__).parents[2] / "README.md").read_text()
EXAMPLE = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", README, re.DOTALL | re.M)[0]
LIBRARIES = ("libvulkan.so.1", "libvulkan.so", "libcuda.so", "libamdhip64.so")
DRIVERS = [p.name for p in all_platforms() if isinstance(p, IreePlatform)]
ERRORS = [
    RuntimeError("UNAVAILABLE"),
    ValueError("NOT_FOUND; a symbol"),
    OSError(5, "Input/output error"),
    KeyError("device_id"),
    MemoryError(),
    type("Status", (Exception,), {})("INTERNAL"),
]


class Driver:
    """One of IREE's, which fails from some step on."""

    STEPS = ("get_driver", "query_available_devices", "dump_device_info", "create_device")

    def __init__(self, step: str, error: Exception) -> None:
        self.failing, self.error = self.STEPS.index(step), error

    def reach(self, step: str, result: Any = None) -> Any:
        if self.STEPS.index(step) >= self.failing:
            raise self.error
        return result

    def query_available_devices(self) -> Any:
        return self.reach("query_available_devices", [{"device_id": 1, "name": "Abacus"}])

    def dump_device_info(self, handle: Any) -> Any:
        return self.reach("dump_device_info", "- name: Abacus")

    def create_device(self, handle: Any, *others: Any) -> Any:
        return self.reach("create_device")


@pytest.fixture
def _nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """But the processor. What is found is not kept for other tests."""
    devices.devices("cpu")
    known = [
        (devices, "_all"),
        (devices, "_best"),
        (devices, "_of_platform"),
        (iree_gpu, "devices"),
    ]
    for module, name in known:
        monkeypatch.setattr(module, name, once(getattr(module, name).__wrapped__))


def fallback(platform: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The warning of a platform that is not there."""
    monkeypatch.setenv(devices.VARIABLE, f"{platform},cpu")
    with pytest.warns(UserWarning, match=f"falling back to .*no platform '{platform}'") as told:
        assert devices.devices() == devices.devices("cpu")
    return str(told[0].message)


def line_of(platform: str) -> str:
    """The line of `irax devices` for a platform that has one device, or none."""
    (line,) = [line for line in inventory.describe() if line.split()[0] == platform]
    return line


@pytest.mark.sampled(3)
@pytest.mark.usefixtures("_nothing_is_known")
@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("step", Driver.STEPS)
@pytest.mark.parametrize("platform", DRIVERS)
def test_a_driver_that_raises(platform, step, error, monkeypatch):
    driver = Driver(step, error)
    monkeypatch.setattr(rt, "query_available_drivers", lambda: DRIVERS)
    monkeypatch.setattr(rt, "get_driver", lambda name: driver.reach("get_driver", driver))
    reason = str(error) or "MemoryError"
    with pytest.raises(devices.NoDevice, match=f"no platform '{platform}' here: ") as raised:
        devices.devices(platform)
    assert reason in str(raised.value)
    assert reason in fallback(platform, monkeypatch)
    expected = "0: Abacus" if step == "create_device" else "none: the driver fails"
    assert expected in line_of(platform)


@pytest.mark.usefixtures("_nothing_is_known")
@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_a_plugin_that_raises(error, monkeypatch, tmp_path):
    def load(path: str) -> None:
        raise error

    monkeypatch.setattr(client, "load_plugin", load)
    monkeypatch.setenv(plugins.VARIABLE, f"abacus:{tmp_path / 'plugin.so'}")
    reason = str(error) or "MemoryError"
    assert reason in fallback("pjrt:abacus", monkeypatch)
    assert reason in line_of("pjrt:abacus")


@pytest.mark.usefixtures("_nothing_is_known")
@pytest.mark.parametrize("contents", [b"", b"not a library", None])
def test_a_file_that_is_no_plugin(contents, monkeypatch, tmp_path):
    path = tmp_path / "plugin.so"
    if contents is not None:
        path.write_bytes(contents)
    monkeypatch.setenv(plugins.VARIABLE, f"abacus:{path}")
    assert str(path) in fallback("pjrt:abacus", monkeypatch)
    assert str(path) in line_of("pjrt:abacus")


def test_settings_that_are_malformed_are_told_of_what_they_are_for(monkeypatch):
    monkeypatch.setenv(plugins.VARIABLE, "rubbish")
    assert "0: " in line_of("cpu")
    assert "expected name:path,name:path,..., got 'rubbish'" in line_of("pjrt:cuda")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("libraries", ["absent", "empty", "others"])
@pytest.mark.skipif(sys.platform != "linux", reason="libraries have other names elsewhere")
@pytest.mark.skipif(not hasattr(_ctypes, "__file__"), reason="Python has no libraries of its own")
def test_the_processor_is_taken_where_a_gpu_has_no_working_driver(libraries, tmp_path):
    if libraries == "absent" and ctypes.util.find_library("vulkan"):
        pytest.skip("the loader of Vulkan is here: this is for machines without it")
    for name in LIBRARIES:
        if libraries == "empty":
            (tmp_path / name).touch()
        elif libraries == "others":
            shutil.copy(_ctypes.__file__, tmp_path / name)
    code = f"""
import warnings
import dataclasses
from irax_runtime import inventory, platforms
from irax_tools import doctor

a_gpu = dict(device_files=({str(tmp_path)!r},))  # as on most desktops
platforms.register(dataclasses.replace(platforms.VULKAN, **a_gpu))
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    exec({EXAMPLE[0]!r})
(warning,) = [str(w.message) for w in told]
assert warning.startswith("falling back to CpuDevice(id=0): no platform 'vulkan' here: "), warning
assert len(warning) < 1000 and "\\n" not in warning, warning
found = list(inventory.describe())
assert found[0].startswith("vulkan       none: "), found
listed = [p.name for p in platforms.all_platforms() if p.is_listed]
assert all(any(line.startswith(f"{{name}} ") for line in found) for name in listed), found
assert all(works is not False for _, works in doctor.examine())
"""
    missing = str(tmp_path / "none") if libraries == "absent" else ""
    done = python(
        code,
        IRAX_PLATFORMS="",
        LD_LIBRARY_PATH=str(tmp_path),
        **({"IREE_HAL_VULKAN_LIBVULKAN_PATH": missing} if missing else {}),
    )
    assert (done.returncode, len(done.stdout.split())) == (0, len(EXAMPLE[1].split())), done.stderr
