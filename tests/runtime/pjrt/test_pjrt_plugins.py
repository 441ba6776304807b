"""Finding plugins, and refusing files that are none."""

from __future__ import annotations

import _ctypes
import ctypes
import shutil
import sys
from pathlib import Path

import pytest
from tests.runtime.pjrt.pjrt_programs import needs_plugin, prints

from irax_runtime.pjrt import abi, plugins
from irax_runtime.pjrt.api import Api, load_plugin
from irax_runtime.pjrt.errors import OutOfMemoryError, PjrtError, PluginError, error_of_code


@needs_plugin
def test_an_installed_package_is_found_by_its_entry_point():
    found = plugins.plugin_for("cpu")
    assert found.name == "xla_cpu_pjrt"
    assert Path(found.path).name == "xla_cpu_pjrt.so"


@needs_plugin
def test_finding_imports_nothing():
    prints(
        "[]",
        """
        import sys
        from irax_runtime.pjrt.plugins import plugin_for
        plugin_for("cpu")
        packages = {m.partition(".")[0] for m in sys.modules}
        print(sorted(packages & {"jax_plugins", "xla_plugins", "jax"}))
        """,
    )


def test_the_client_needs_no_compiler_and_no_iree():
    prints(
        "[]",
        """
        import sys
        import irax_runtime.pjrt.client
        packages = {m.partition(".")[0] for m in sys.modules}
        print(sorted(packages & {"iree", "irax", "irax_compiler", "jax", "jaxlib", "scipy"}))
        """,
    )


def test_the_environment_comes_first(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(plugins.VARIABLE, "cpu:/a/b.so,abacus:/c.so")
    assert plugins.plugin_for("cpu") == plugins.Plugin("cpu", "/a/b.so", plugins.VARIABLE)
    assert plugins.plugin_for("abacus").path == "/c.so"


@pytest.mark.parametrize("text", ["cpu", "cpu:", ":/a.so", "cpu:/a.so,x"])
def test_a_malformed_environment_is_told(monkeypatch: pytest.MonkeyPatch, text: str):
    monkeypatch.setenv(plugins.VARIABLE, text)
    with pytest.raises(PluginError, match="expected name:path"):
        plugins.plugins()


def test_a_namespace_package_is_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "jax_plugins" / "abacus"
    folder.mkdir(parents=True)
    (folder / "abacus.so").write_bytes(b"...GetPjrtApi...")
    (folder / "other.so").write_bytes(b"...")
    (folder / "__init__.py").write_text("raise AssertionError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    assert plugins.plugin_for("abacus").path == str(folder / "abacus.so")


def test_a_platform_without_a_plugin():
    with pytest.raises(
        PluginError, match=r"no PJRT plugin for 'abacus'; installed: .*; name the file"
    ):
        plugins.plugin_for("abacus")


@pytest.mark.parametrize(
    "name, platform, expected",
    [
        ("xla_cuda13", "cuda", True),
        ("xla_cpu_pjrt", "cpu", True),
        ("my-tpu", "tpu", True),
        ("cpux", "cpu", False),
    ],
)
def test_names_tell_platforms(name: str, platform: str, expected: bool):
    assert plugins.Plugin(name, "", "").serves(platform) is expected


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other files")
@pytest.mark.skipif(not hasattr(_ctypes, "__file__"), reason="Python has no libraries of its own")
def test_a_file_that_is_cut_off(tmp_path: Path):
    """The loader would crash on it."""
    whole = Path(_ctypes.__file__).read_bytes()
    (tmp_path / "half.so").write_bytes(whole[:5000])
    (tmp_path / "start.so").write_bytes(whole[:40])
    with pytest.raises(PluginError, match=r"half\.so: the file is cut off"):
        load_plugin(str(tmp_path / "half.so"))
    with pytest.raises(PluginError, match=r"start\.so: cannot be loaded"):
        load_plugin(str(tmp_path / "start.so"))
    with pytest.raises(PluginError, match="not a file"):
        load_plugin(str(tmp_path))


def test_a_missing_file():
    with pytest.raises(PluginError, match=r"/no/such\.so: no such file"):
        load_plugin("/no/such.so")


def test_a_file_that_is_no_library(tmp_path: Path):
    (tmp_path / "plugin.so").write_text("GetPjrtApi")
    with pytest.raises(PluginError, match="cannot be loaded"):
        load_plugin(str(tmp_path / "plugin.so"))


@pytest.mark.skipif(not hasattr(_ctypes, "__file__"), reason="Python has no libraries of its own")
def test_a_library_that_is_no_plugin(tmp_path: Path):
    path = shutil.copy(_ctypes.__file__, tmp_path / "plugin.so")
    with pytest.raises(PluginError, match="has no function GetPjrtApi"):
        load_plugin(str(path))


def api_of(version: tuple[int, int], size: int = abi.Api.SIZE) -> tuple[Api, abi.Api]:
    table = abi.Api(struct_size=size)
    table.pjrt_api_version.major_version, table.pjrt_api_version.minor_version = version
    return Api(ctypes.addressof(table), "plugin.so"), table


@pytest.mark.parametrize("version", [(0, abi.MINOR - 1), (1, 200)])
def test_a_version_that_irax_does_not_speak(version: tuple[int, int]):
    with pytest.raises(PluginError, match=rf"speaks version {version[0]}\.{version[1]} .* newer"):
        api_of(version)


def test_a_newer_version_is_taken():
    api, _ = api_of((0, abi.MINOR + 100))
    assert api.version == (0, abi.MINOR + 100)


def test_no_function_beyond_the_end_of_the_table_is_called():
    api, table = api_of((0, 81), abi.Api.Client_DmaUnmap.offset)
    nowhere = 1
    table.Client_DmaUnmap = nowhere
    with pytest.raises(PjrtError, match="does not have PJRT_Client_DmaUnmap") as caught:
        api.call("Client_DmaUnmap")
    assert caught.value.code == abi.Error_Code.UNIMPLEMENTED


def test_no_function_that_is_missing_is_called():
    api, _ = api_of((0, 81))
    with pytest.raises(PjrtError, match="does not have PJRT_Compile"):
        api.call("Compile")


def test_codes_become_exceptions():
    assert isinstance(error_of_code(abi.Error_Code.RESOURCE_EXHAUSTED, "full"), OutOfMemoryError)
    assert isinstance(error_of_code(abi.Error_Code.RESOURCE_EXHAUSTED, "full"), MemoryError)
    assert error_of_code(12, "no").code is abi.Error_Code.UNIMPLEMENTED
    assert error_of_code(99, "new").code is abi.Error_Code.UNKNOWN
