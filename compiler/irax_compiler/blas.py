"""The BLAS library of programs for the CPU: OpenBLAS, from a package."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

from irax_compiler.once import once
from irax_compiler.versions import bundled_tool, version_of

VARIABLE = "IRAX_BLAS"
"""`off` keeps programs from calling the library: they then need nothing but IREE's runtime."""
PREFIX = "scipy_"
"""The beginning of the names of the library's functions."""
PACKAGE = "scipy-openblas64"
"""The package that contains the library."""


class _Here(threading.local):
    is_wanted = True


_here = _Here()


@contextmanager
def without_blas() -> Iterator[None]:
    """For the length of a `with` block, this thread compiles programs that call no library."""
    before, _here.is_wanted = _here.is_wanted, False
    try:
        yield
    finally:
        _here.is_wanted = before


def calls() -> Path | None:
    """The library for new programs to call; None where there is none, or none is wanted."""
    is_off = os.environ.get(VARIABLE, "").lower() == "off"
    return None if is_off or not _here.is_wanted else library()


@once
def library() -> Path | None:
    """The file of the library; None where programs cannot be linked with it."""
    if sys.platform != "linux" or bundled_tool("iree-lld") is None:
        return None
    package = _package()
    files = [] if package is None else package.files or []
    found = [
        Path(str(file.locate())) for file in files if file.name.startswith("libscipy_openblas")
    ]
    return next((path for path in found if path.exists()), None)


@once
def _package() -> metadata.Distribution | None:
    try:
        return metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        return None


def version() -> str:
    """The version of the package; "none" where it is not installed."""
    package = _package()
    return "none" if package is None else version_of(package)


def is_called(module: bytes) -> bool:
    """True if a module, text or bytecode, contains calls of libraries, such as this."""
    return b"hal.import.static" in module
