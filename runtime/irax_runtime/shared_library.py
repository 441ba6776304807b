"""Programs that are shared libraries: what they need, and what IREE 3.13 leaves behind of them.

Most programs are in a form that IREE loads by itself. Those that call sin, cos, tanh, atan2 or
fmod of float64 are shared libraries, which the C library loads from a temporary file.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import sys
import threading
from functools import cache

_PLACEHOLDER = re.compile(r".*/iree_dylib_\w{6}")
_sweeping = threading.Lock()


def is_shared_library(artefact: bytes) -> bool:
    """Whether a compiled IREE module has its code in a shared library."""
    return b"system-elf" in artefact or b"system-dylib" in artefact


@cache
def provide_libm() -> None:
    """Makes the mathematical functions of C known to all libraries loaded from now on.

    Python is nearly always linked with them; where it is not, a call would end the process.
    """
    with contextlib.suppress(OSError):
        ctypes.CDLL("libm.so.6", ctypes.RTLD_GLOBAL)


def remove_placeholders() -> None:
    """Closes and removes the files that IREE opened to find unused names, and then forgot.

    Without this each load would use up a file descriptor of the process and leave an empty file.
    """
    if sys.platform != "linux":
        return
    with _sweeping:
        for descriptor in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                path = os.readlink(f"/proc/self/fd/{descriptor}")
                if _PLACEHOLDER.fullmatch(path):
                    os.close(int(descriptor))
                    os.unlink(path)
