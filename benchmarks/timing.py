"""Measuring: medians of many runs; the rivals take turns, so that both see the same noise."""

from __future__ import annotations

import time
from collections.abc import Callable


def seconds(run: Callable[[], object], budget: float = 0.5, most: int = 2000) -> list[float]:
    """The time of each of several runs, after two that do not count."""
    run()
    run()
    times: list[float] = []
    start = time.perf_counter()
    while len(times) < 5 or (time.perf_counter() - start < budget and len(times) < most):
        before = time.perf_counter()
        run()
        times.append(time.perf_counter() - before)
    return times


def median(times: list[float]) -> float:
    """The middle one."""
    return sorted(times)[len(times) // 2]


def compare(
    ours: Callable[[], object], theirs: Callable[[], object], rounds: int = 3
) -> tuple[float, float]:
    """The medians of both, in seconds, over rounds in which they take turns."""
    our_times: list[float] = []
    their_times: list[float] = []
    for _ in range(rounds):
        our_times += seconds(ours, 0.3)
        their_times += seconds(theirs, 0.3)
    return median(our_times), median(their_times)
