"""Measuring: medians of many runs; the rivals take turns, so that both see the same noise."""

from __future__ import annotations

import importlib
import importlib.util
import os
import time
from collections.abc import Callable
from typing import Any


def rival(platforms: str = "cpu") -> Any:
    """JAX on these platforms, or None where it is not installed: only the extra `oracle` has it."""
    if importlib.util.find_spec("jax") is None:
        return None
    os.environ.setdefault("JAX_PLATFORMS", platforms)
    return importlib.import_module("jax")


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


def compare(*rivals: Callable[[], object], rounds: int = 3) -> list[float]:
    """The median of each, in seconds, over rounds in which they take turns."""
    times: list[list[float]] = [[] for _ in rivals]
    for _ in range(rounds):
        for rival, found in zip(rivals, times, strict=True):
            found += seconds(rival, 0.3)
    return [median(found) for found in times]
