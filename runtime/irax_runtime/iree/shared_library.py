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
from collections.abc import Iterable, Iterator

from irax_runtime.libraries import MissingLibrary

_PLACEHOLDER = re.compile(r".*/iree_dylib_\w{6}")
_loading = threading.RLock()


def is_shared_library(artefact: bytes) -> bool:
    """Return True if a compiled IREE module has its code in a shared library."""
    return b"system-elf" in artefact or b"system-dylib" in artefact


def check(undefined: Iterable[str], libraries: Iterable[ctypes.CDLL]) -> None:
    """Check that the symbols which a shared library expects to find are there: the system ends the
    process at a call of one that is not.

    Args:
        undefined: the symbols.
        libraries: where they may be, besides among those of the process.

    Raises:
        MissingLibrary: some are nowhere.
    """
    _provide_libm()
    known = (ctypes.CDLL(None), *libraries)
    missing = [name for name in undefined if not any(hasattr(one, name) for one in known)]
    if missing:
        raise MissingLibrary(
            f"the program calls {', '.join(sorted(missing))}, which no library of this process "
            "has: compile it anew, on this machine"
        )


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """In its `with` block a shared library is loaded. One thread does so at a time: what it has
    open looks like what IREE has forgotten.
    """
    with _loading:
        yield
        _remove_placeholders()


def _provide_libm() -> None:
    """Makes the mathematical functions of C known to all libraries loaded from now on.

    Python is nearly always linked with them; where it is not, a call would end the process.
    """
    with contextlib.suppress(OSError):
        ctypes.CDLL("libm.so.6", ctypes.RTLD_GLOBAL)


def _remove_placeholders() -> None:
    """Closes and removes the files that IREE opened to find unused names, and then forgot.

    Without this each load would use up a file descriptor of the process and leave an empty file.
    """
    if sys.platform != "linux":
        return
    for descriptor in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            path = os.readlink(f"/proc/self/fd/{descriptor}")
            if _PLACEHOLDER.fullmatch(path):
                os.close(int(descriptor))
                os.unlink(path)
