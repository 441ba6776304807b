"""Instructions that a process may use once it has asked the system."""

from __future__ import annotations

import ctypes
import platform
import sys

from irax_runtime.once import once


@once
def ask_for_matrices() -> None:
    """Ask Linux for the registers of AMX, with which programs multiply small matrices where the
    processor has them. For the process and all of its threads, those to come too.
    """
    if sys.platform == "linux" and platform.machine() == "x86_64":
        ask, what, registers = 158, 0x1023, 18  # arch_prctl, ARCH_REQ_XCOMP_PERM, XTILEDATA
        ctypes.CDLL(None).syscall(ask, what, registers)
