"""NVIDIA's libraries as Python packages have them. A plugin for CUDA looks for them by name: where
they have been loaded before, it finds them wherever they are.
"""

from __future__ import annotations

import ctypes
import glob
import importlib.util
import os
from collections.abc import Iterator
from contextlib import suppress

PACKAGE = "nvidia"
_NAMES = (
    *("cudart", "nvrtc", "nvJitLink", "cublasLt", "cublas", "cupti", "cusparse", "cusolver"),
    *("cufft", "nccl", "nvshmem_host", "cudnn"),
)
"""Each after those that it needs."""


def libraries() -> list[str]:
    """The files to load, in order. Nothing is imported."""
    return [path for name in _NAMES for path in _files(f"*/lib/lib{name}.so.*")]


def preload() -> None:
    """Loads the libraries that there are; the plugin says what it misses."""
    for path in libraries():
        with suppress(OSError):
            ctypes.CDLL(path)


def toolkit() -> str | None:
    """The folder in which XLA finds what its programs are linked with, or None."""
    for path in _files("*/nvvm/libdevice/libdevice.10.bc"):
        return path.removesuffix("/nvvm/libdevice/libdevice.10.bc")
    return None


def settings() -> dict[str, str]:
    """The settings for XLA's compiler."""
    folder = toolkit()
    return {} if folder is None else {"xla_gpu_cuda_data_dir": folder}


def _files(pattern: str) -> Iterator[str]:
    try:
        spec = importlib.util.find_spec(PACKAGE)
    except (ImportError, ValueError):
        return
    for folder in (spec and spec.submodule_search_locations) or ():
        yield from sorted(glob.glob(os.path.join(glob.escape(folder), pattern)))
