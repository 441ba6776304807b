"""NVIDIA's libraries in Python packages, which the plugin for CUDA needs: found in packages that
are laid out as theirs are.
"""

from __future__ import annotations

import _ctypes
import ctypes
import shutil
from pathlib import Path

import pytest
from tests.runtime.pjrt.pjrt_programs import prints

from irax_runtime.platforms import PJRT_CUDA, PJRT_ROCM, TPU
from irax_runtime.vendors import nvidia

FILES = [
    "cu13/lib/libcublas.so.13",
    "cu13/lib/libcublasLt.so.13",
    "cu13/lib/libcudart.so.13",
    "cu13/lib/libcusparse.so.12",
    "cu13/lib/libnothing.so.1",
    "cu13/nvvm/libdevice/libdevice.10.bc",
    "cudnn/lib/libcudnn.so.9",
    "cudnn/lib/libcudnn_graph.so.9",
    "nccl/lib/libnccl.so.2",
]


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages, of which none can be imported."""
    monkeypatch.setattr(nvidia, "PACKAGE", "irax_test_nvidia")
    folder = tmp_path / nvidia.PACKAGE
    for name in FILES:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"no library")
    (folder / "cudnn" / "__init__.py").write_text("raise AssertionError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def test_libraries_are_found_each_after_those_that_it_needs(packages: Path):
    found = [str(Path(path).relative_to(packages)) for path in nvidia.libraries()]
    assert found == [
        "cu13/lib/libcudart.so.13",
        "cu13/lib/libcublasLt.so.13",
        "cu13/lib/libcublas.so.13",
        "cu13/lib/libcusparse.so.12",
        "nccl/lib/libnccl.so.2",
        "cudnn/lib/libcudnn.so.9",
    ]


def test_the_compiler_is_told_where_the_toolkit_is(packages: Path):
    assert nvidia.toolkit() == str(packages / "cu13")
    assert PJRT_CUDA.settings() == {"xla_gpu_cuda_data_dir": str(packages / "cu13")}
    assert PJRT_ROCM.settings() == TPU.settings() == {}


def test_what_is_no_library_is_left_to_the_plugin(packages: Path):
    nvidia.preload()


@pytest.mark.skipif(not hasattr(_ctypes, "__file__"), reason="Python has no libraries of its own")
def test_libraries_are_loaded(packages: Path):
    path = packages / "cu13" / "lib" / "libcudart.so.13"
    shutil.copy(_ctypes.__file__, path)
    nvidia.preload()
    mapped = Path("/proc/self/maps")
    if mapped.exists():
        assert str(path) in mapped.read_text()
    assert ctypes.CDLL(str(path))


def test_there_are_none(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(nvidia, "PACKAGE", "irax_test_nothing")
    assert nvidia.libraries() == []
    assert nvidia.toolkit() is None
    assert PJRT_CUDA.settings() == {}


def test_nothing_is_imported(packages: Path):
    prints(
        "[]",
        f"""
        import sys
        sys.path.insert(0, {str(packages.parent)!r})
        from irax_runtime.vendors import nvidia
        nvidia.PACKAGE = "irax_test_nvidia"
        assert len(nvidia.libraries()) == 6
        print([name for name in sys.modules if name.startswith("irax_test")])
        """,
    )
