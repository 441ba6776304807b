"""The meter of loops that need not end.

A program that is short but for such loops runs in the calling thread, since to hand it to another
one takes longer than most of them. Its loops take nanoseconds from a number in memory, an estimate
for each step, and stop when nothing is left. The program then has to be run again, where Ctrl-C can
leave it behind (see `interruptible`).

Each thread has a meter of its own, because a program asks for the address in the thread that calls
it.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

BRIEF = 10_000_000
"""The nanoseconds of a program's loops that Ctrl-C may have to wait for."""
_ENDLESS = 1 << 62


class _Meter(threading.local):
    def __init__(self) -> None:
        self.left = ctypes.c_int64(_ENDLESS)


_meter = _Meter()


def address() -> int:
    """Return the address of the thread's meter."""
    return ctypes.addressof(_meter.left)


def ran_out(work: Callable[..., Any], *arguments: Any) -> bool:
    """Do work whose loops stop after about `BRIEF`; return True if they did."""
    left = _meter.left
    left.value = BRIEF
    try:
        work(*arguments)
        return left.value <= 0
    finally:
        left.value = _ENDLESS
