"""Scheduling of a thread that waits for IREE's workers, on Linux.

The worker that ends a program wakes the thread that waits for it, and has a few more instructions
to run, for which that thread spins (`iree_task_scope_deinitialize`). Linux often lets the woken
thread preempt the worker on the worker's own processor. It then spins until its time slice ends, 3
to 4 ms. A thread of the policy SCHED_BATCH preempts nobody when it wakes (sched(7)).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any


def without_preemption(call: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    """Return `call` such that its thread preempts no other thread when it wakes, until it returns.

    A thread whose policy somebody has changed keeps it. Other systems than Linux are left alone.

    >>> without_preemption(print)("its", "arguments")
    its arguments
    """
    if not hasattr(os, "SCHED_BATCH"):
        return call
    usual, batch, priority = os.SCHED_OTHER, os.SCHED_BATCH, os.sched_param(0)
    policy, set_policy = os.sched_getscheduler, os.sched_setscheduler

    def called(first: Any, second: Any) -> None:
        try:
            is_usual = policy(0) == usual
            if is_usual:
                set_policy(0, batch, priority)
        except OSError:  # a sandbox that refuses it
            is_usual = False
        try:
            call(first, second)
        finally:
            if is_usual:
                set_policy(0, usual, priority)

    return called
