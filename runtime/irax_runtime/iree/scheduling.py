"""Scheduling of IREE's workers and of the threads that wait for them, on Linux.

Linux can go wrong in two ways with a program of a few milliseconds, and mends neither before the
next tick of its clock. It may wake two workers on one processor while another has nothing to do.
And the worker that ends a program wakes the thread that waits for it, which often preempts that
worker, although it has to spin until the worker has run some instructions more
(`iree_task_scope_deinitialize`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_THREADS = Path("/proc/self/task")
_TRIES, _PAUSE = 100, 1e-3
"""The number of times that the names of threads are read, and the seconds in between."""


def workers() -> set[int]:
    """The numbers of the threads of this process that are IREE's workers; none outside of Linux."""
    try:
        names = {thread: (thread / "comm").read_text() for thread in _THREADS.iterdir()}
    except OSError:  # no such folder, or a thread that has just ended
        return set()
    return {int(thread.name) for thread, name in names.items() if name.startswith("iree-worker")}


def started(before: set[int], count: int) -> set[int]:
    """Return so many workers that have been started since. None where they are not all found: each
    names itself, which may take it a moment.
    """
    for _ in range(_TRIES if _THREADS.is_dir() else 0):
        found = workers() - before
        if len(found) == count:
            return found
        time.sleep(_PAUSE)
    return set()


class Placement:
    """The processors that each of a device's workers may use: one of its own, or any.

    Workers that are fixed are never two on one processor, but a worker whose processor is busy with
    something else waits for it while others may be free.

    Args:
        threads: the numbers of the workers' threads.
    """

    def __init__(self, threads: set[int]) -> None:
        self._threads = sorted(threads)
        self._processors = sorted(os.sched_getaffinity(0)) if threads else []
        self._are_fixed = False

    @property
    def has_choice(self) -> bool:
        """True if there is a processor for each worker, and no more."""
        return 1 < len(self._threads) == len(self._processors)

    def fix(self) -> None:
        """Let each worker use a processor of its own."""
        if not self._are_fixed:
            self._are_fixed = True
            self._place([{processor} for processor in self._processors])

    def free(self) -> None:
        """Let workers use any processor."""
        if self._are_fixed:
            self._are_fixed = False
            self._place([set(self._processors)] * len(self._threads))

    def forget(self) -> None:
        """Leave all threads alone from now on: a forked process does not have them."""
        self._threads = []

    def _place(self, processors: list[set[int]]) -> None:
        for thread, allowed in zip(self._threads, processors, strict=False):
            try:
                os.sched_setaffinity(thread, allowed)
            except OSError:  # a processor that was taken from the process since
                continue


def without_preemption(call: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    """Return `call` such that its thread preempts no other thread when it wakes, until it returns.

    That is what the policy SCHED_BATCH says (sched(7)). A thread whose policy somebody has changed
    keeps it. Other systems than Linux are left alone.

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
