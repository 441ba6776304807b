"""The versions of packages are those that Python reads from all of their metadata."""

from importlib import metadata

import pytest

from irax_compiler.versions import version


@pytest.mark.parametrize("package", ["numpy", "scipy", "iree-base-compiler", "pytest"])
def test_the_version_is_the_packages(package: str) -> None:
    pytest.importorskip(package.replace("iree-base-compiler", "iree.compiler"))
    assert version(package) == metadata.version(package)


def test_metadata_of_another_name_is_read_as_python_does(tmp_path, monkeypatch) -> None:
    folder = tmp_path / "irax_test_egg.egg-info"
    folder.mkdir()
    (folder / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: irax-test-egg\nVersion: 1.5\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert version("irax-test-egg") == "1.5"


def test_a_version_in_a_description_is_none(tmp_path, monkeypatch) -> None:
    folder = tmp_path / "irax_test_dist-2.dist-info"
    folder.mkdir()
    text = "Metadata-Version: 2.1\nName: irax-test-dist\nVersion: 2.0\n\nVersion: 3\n"
    (folder / "METADATA").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    assert version("irax-test-dist") == "2.0"


def test_a_package_that_is_not_there_has_no_version() -> None:
    assert version("irax-no-such-package") is None
