"""Platforms are declarations: what is declared is found, listed and used."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from irax_runtime import devices, inventory, platforms
from irax_runtime.once import once
from irax_runtime.platforms import IreePlatform, Platform, all_platforms, find, of_plugin

ABACUS = SimpleNamespace(
    id=0, device_kind="an abacus", driver="hand", memory_stats=dict, is_processor=False
)


@pytest.fixture
def abacus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Platform:
    """A platform that another package registers, of whose devices one is here."""
    module = ModuleType("irax_test_abacus")
    module.devices = lambda platform: [ABACUS]
    monkeypatch.setitem(sys.modules, "irax_test_abacus", module)
    monkeypatch.setattr(platforms, "_platforms", {})
    for name in ("_best", "_of_platform"):
        monkeypatch.setattr(devices, name, once(getattr(devices, name).__wrapped__))
    (tmp_path / "abacus7").touch()
    return platforms.register(
        Platform(
            name="abacus",
            module="irax_test_abacus",
            device_files=(str(tmp_path / "abacus[0-9]"),),
        )
    )


def test_a_platform_is_one_declaration(abacus: Platform, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(devices.VARIABLE, raising=False)
    monkeypatch.setattr(inventory, "_of_plugins", tuple)  # libtpu would look for a TPU for minutes
    assert find("abacus") is abacus
    assert devices.platforms() == ("abacus", "cpu")
    assert devices.devices("abacus") == [ABACUS]
    assert "abacus       0: an abacus, hand" in list(inventory.describe())


def test_a_name_that_is_none_is_told_of_those_there_are(abacus: Platform):
    told = r"no platform 'abacus:3' here; there are 'abacus' and, .*irax.devices\('abacus'\)\[3\]"
    with pytest.raises(platforms.NoDevice, match=told):
        find("abacus:3")


@pytest.mark.parametrize("platform", all_platforms(), ids=lambda platform: platform.name)
def test_the_module_that_a_platform_names_serves_it(platform: Platform):
    assert callable(importlib.import_module(platform.module).devices)


def test_every_platform_has_a_row_in_the_docs():
    docs = Path(__file__).parents[2] / "docs" / "devices.md"
    rows = re.findall(r"^\| `([\w:]+)` *\|", docs.read_text("utf-8"), re.MULTILINE)
    missing = {one.name for one in all_platforms() if one.is_listed} - set(rows)
    assert not missing, f"add {sorted(missing)} to the table of docs/devices.md"


def test_plugins_that_are_not_registered_have_a_platform_of_their_name():
    assert find("pjrt:abacus").name == "pjrt:abacus"
    assert find("pjrt:tpu") is of_plugin("tpu") is platforms.TPU


@pytest.mark.parametrize(
    "platform, architecture, target",
    [
        ("cuda", "sm_86", "iree-cuda:sm_86"),
        ("cuda", "sm_90", "iree-cuda:sm_89"),
        ("cuda", "sm_35", "iree-cuda"),
        ("cuda", "", "iree-cuda"),
        ("hip", "gfx90a:sramecc+", "iree-hip:gfx90a"),
        ("vulkan", "", "iree-vulkan"),
    ],
)
def test_targets_of_architectures(platform: str, architecture: str, target: str):
    found = find(platform)
    assert isinstance(found, IreePlatform)
    assert found.target(architecture) == target
