"""Libraries of C's that compiled programs call: OpenBLAS, for products and factorizations of
matrices, and those with functions of the user's.

A program that calls OpenBLAS has the reflection attribute `irax.libraries`, the packages that it
needs. It was linked with the library by name, and the system finds the one of that name that the
process has loaded: nothing is searched for, and no other library's symbols change.

A program that calls functions of the user's has the reflection attribute `irax.functions`, a list
in JSON of libraries and symbols. It finds a symbol among those of the process, so the library's
symbols become everybody's.
"""

from __future__ import annotations

import ctypes
import json
import os
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any
from uuid import uuid4

from irax_runtime.once import once

OPENBLAS = "scipy-openblas64"
PROCESS = "process "
"""Begins the name that a process has in place of a library."""


class MissingLibrary(RuntimeError):
    """A program calls a library that is not installed."""


def load(packages: str) -> list[ctypes.CDLL]:
    """Loads the libraries that a program needs, and returns them.

    Args:
        packages: the program's attribute `irax.libraries`, with spaces between packages.

    Raises:
        MissingLibrary: one is not installed, or is unknown; the message says what to do.
    """
    loaded = []
    for package in packages.split():
        if package != OPENBLAS:
            raise MissingLibrary(
                f"the program calls a library of {package!r}; this runtime knows {OPENBLAS}: "
                "upgrade irax"
            )
        loaded.append(openblas())
    return loaded


def this_process() -> str:
    """The name of this process: no other has it."""
    return f"{PROCESS}{os.getpid()} {_started()}"


@once
def _started() -> str:
    return uuid4().hex


def load_functions(functions: str) -> None:
    """Loads the libraries with functions of the user's.

    Args:
        functions: the program's attribute `irax.functions`.

    Raises:
        MissingLibrary: a library or a function is missing, or the symbol is another library's; the
            message says what to do.
    """
    for library, symbol in json.loads(functions):
        if library == this_process():
            continue
        if library.startswith(PROCESS):
            raise MissingLibrary(
                "the program calls a C function by its address in the process that compiled it: "
                "run it there, or register a function of a shared library with "
                "irax.ffi.register_ffi_target"
            )
        own = _address(_opened(library, symbol), symbol)
        if own is None:
            raise MissingLibrary(
                f"the program calls the C function {symbol!r}, which {library} does not have; "
                "expected the library that the program was compiled with"
            )
        if own != _address(ctypes.CDLL(None), symbol):
            raise MissingLibrary(
                f"the program calls the C function {symbol!r} of {library}, but the process has "
                "another function of this name: give the function another name"
            )


def has(library: str, symbol: str) -> bool:
    """Return True if a library of this process exports a symbol."""
    with suppress(OSError):
        return _address(ctypes.CDLL(library), symbol) is not None
    return False


def _opened(library: str, symbol: str) -> ctypes.CDLL:
    """The library at its place, or else where the system finds one of its name."""
    for name in (library, Path(library).name):
        with suppress(OSError):
            return ctypes.CDLL(name, ctypes.RTLD_GLOBAL)
    raise MissingLibrary(
        f"the program calls the C function {symbol!r} of {library}, which is not there: put it "
        f"there, or a file {Path(library).name} into a folder that LD_LIBRARY_PATH names"
    )


def _address(library: ctypes.CDLL, symbol: str) -> int | None:
    function = getattr(library, symbol, None)
    return ctypes.cast(function, ctypes.c_void_p).value if function is not None else None


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
            "make the program without it: irax compile --no-blas, export(f, blas=False)"
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
