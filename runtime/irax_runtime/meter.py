"""The meter of loops that need not end.

A program that is short but for such loops runs in the calling thread, since to hand it to another
one takes longer than most of them. Its loops take nanoseconds from a number in memory, an estimate
for each step, and stop when nothing is left. The program then has to be run again, where Ctrl-C can
leave it behind (see `interruptible`).

Each context of a program has a meter of its own, because a program asks for the address when it is
loaded, and a context serves one call at a time.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

BRIEF = 10_000_000
"""The nanoseconds of a program's loops that Ctrl-C may have to wait for."""
_ENDLESS = 1 << 62

Metered = tuple[Any, ctypes.c_int64]
"""A context of a program, and what is left on its meter."""


def new() -> ctypes.c_int64:
    """Return the number of a meter that does not run out."""
    return ctypes.c_int64(_ENDLESS)


def invoking(
    free: list[Metered], make: Callable[[], Metered], function: Any
) -> Callable[[Any, Any], bool]:
    """Return what calls a program's function whose loops stop after about `BRIEF`, in one of the
    free contexts or in one that it makes. It returns True if they stopped.
    """

    def ran_out(inputs: Any, outputs: Any) -> bool:
        try:
            metered = free.pop()
        except IndexError:
            metered = make()
        context, left = metered
        left.value = BRIEF
        try:
            context.invoke(function, inputs, outputs)
            return left.value <= 0
        finally:
            left.value = _ENDLESS
            free.append(metered)

    return ran_out
