"""Measuring: many runs of each rival, which take turns, so that all see the same noise."""

from __future__ import annotations

import importlib
import importlib.util
import os
import time
from collections.abc import Callable
from typing import Any

Clock = Callable[[], float]


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
    return [median(times) for times in alternate(rivals, rounds, 0.3)]


def alternate(
    rivals: tuple[Callable[[], object], ...],
    rounds: int = 5,
    turn: float = 0.1,
    most: float = 6.0,
    clock: Clock = time.perf_counter,
) -> list[list[float]]:
    """The times of each rival, over rounds in which they take turns.

    A turn takes `turn` seconds or three runs, of which the first does not count. After `most`
    seconds no other round begins.
    """
    times: list[list[float]] = [[] for _ in rivals]
    start = time.perf_counter()
    for _ in range(rounds):
        for run, found in zip(rivals, times, strict=True):
            run()
            begun, runs = time.perf_counter(), 0
            while runs < 2 or time.perf_counter() - begun < turn:
                before = clock()
                run()
                found.append(clock() - before)
                runs += 1
        if time.perf_counter() - start > most:
            break
    return times
