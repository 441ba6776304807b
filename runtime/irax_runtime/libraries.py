"""Libraries of C's that compiled programs call: OpenBLAS, for products and factorizations of
matrices.

A program with such calls has the reflection attribute `irax.libraries`, the packages that it needs.
It was linked with the library by name, and the system finds the one of that name that the process
has loaded: nothing is searched for, and no other library's symbols change.
"""

from __future__ import annotations

import ctypes
from importlib import metadata
from pathlib import Path
from typing import Any

from irax_runtime.once import once

OPENBLAS = "scipy-openblas64"


class MissingLibrary(RuntimeError):
    """A program calls a library that is not installed."""


def load(packages: str) -> None:
    """Loads the libraries that a program needs.

    Args:
        packages: the program's attribute `irax.libraries`, with spaces between packages.

    Raises:
        MissingLibrary: one is not installed, or is unknown; the message says what to do.
    """
    for package in packages.split():
        if package != OPENBLAS:
            raise MissingLibrary(
                f"the program calls a library of {package!r}; this runtime knows {OPENBLAS}: "
                "upgrade irax"
            )
        openblas()


@once
def openblas() -> Any:
    """OpenBLAS, which IREE's workers call: it has no threads of its own.

    Raises:
        MissingLibrary: it is not installed.
    """
    path = find(OPENBLAS, "libscipy_openblas")
    if path is None:
        raise MissingLibrary(
            f"the program calls OpenBLAS, which is not installed: pip install {OPENBLAS}; or "
            "compile the program with `--no-blas`"
        )
    library = ctypes.CDLL(str(path))
    library.scipy_openblas_set_num_threads64_(1)
    return library


def describe() -> str | None:
    """OpenBLAS's version and the processor that it takes this one for; None without it."""
    if find(OPENBLAS, "libscipy_openblas") is None:
        return None
    configuration = openblas().scipy_openblas_get_config64_
    configuration.restype = ctypes.c_char_p
    return " ".join(configuration().decode().split())


def find(package: str, name: str) -> Path | None:
    """The file of a package whose name begins so; None where that is not installed.

    The package is not imported: it would make its symbols everybody's.
    """
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        return None
    paths = [Path(str(file.locate())) for file in files if file.name.startswith(name)]
    return next((path for path in paths if path.exists()), None)
