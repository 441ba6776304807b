"""Instructions that a process may use once it has asked the system."""

from __future__ import annotations

import ctypes
import platform
import sys

from irax_runtime.once import once


@once
def ask_for_matrices() -> bool:
    """Ask Linux for the registers of AMX, with which programs multiply small matrices where the
    processor has them; return True if it gives them. For the process and all of its threads, those
    to come too.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    ask, what, registers = 158, 0x1023, 18  # arch_prctl, ARCH_REQ_XCOMP_PERM, XTILEDATA
    return ctypes.CDLL(None).syscall(ask, what, registers) == 0
