"""The folder of IREE's temporary files: what is linked, and the libraries that are loaded.

LLVM ends the process where it cannot write them.
"""

from __future__ import annotations

import os
import tempfile

from irax_compiler.iree.invocation import CompileError

NEEDED = 8 << 20
"""The bytes that there must be place for. Libraries of large programs have a quarter of that."""

_VARIABLES = ("TMPDIR", "TMP", "TEMP", "TEMPDIR")
"""The variables that LLVM looks at, in its order."""


def folder() -> str:
    """Return the folder that LLVM writes to."""
    named = (os.environ.get(name) for name in _VARIABLES)
    return next(filter(None, named), "/tmp" if os.name == "posix" else tempfile.gettempdir())


def holds_programs() -> bool:
    """Return False where the system runs no programs that are in the folder. On Linux."""
    try:
        return not os.statvfs(folder()).f_flag & os.ST_NOEXEC
    except OSError:  # `check` tells
        return True


def check() -> None:
    """Raises CompileError where temporary files cannot be written."""
    there = folder()
    try:
        with tempfile.TemporaryFile(dir=there) as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, NEEDED)
    except OSError as error:
        raise CompileError(
            f"the compiler cannot write temporary files of {NEEDED >> 20} MB to {there}: "
            f"{error.strerror}: make room there, or name another folder by TMPDIR"
        ) from None
