"""IREE's flags for programs that are shared libraries."""

from __future__ import annotations

import shlex
import sys

from irax_compiler.iree import addresses, blas
from irax_compiler.iree.invocation import bundled_tool


def flags(module: bytes) -> tuple[str, ...]:
    """Return the flags for a module whose program finds C's functions, and those of libraries that
    it calls, where it is loaded. On Linux the linker is the one that comes with IREE, elsewhere the
    system's.
    """
    chosen = ("--iree-llvmcpu-link-embedded=false",)
    linker = bundled_tool("iree-lld")
    if sys.platform != "linux" or linker is None:
        return chosen
    library = blas.library() if blas.is_called(module) else None
    command = [
        *(str(linker), "-flavor", "gnu", "--gc-sections", *addresses.definitions(module)),
        *(() if library is None else ("--as-needed", str(library))),
    ]
    return (*chosen, f"--iree-llvmcpu-system-linker-path={shlex.join(command)}")
