"""The programs that run while they are watched, with the number and the times of their calls."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from irax.config import config


@dataclass
class Calls:
    """The calls of a program."""

    program: Any
    """The `Program`, which knows this module."""
    count: int = 0
    seconds: float = 0.0
    """The time of all calls, until their results were there."""


_watched: dict[int, Calls] | None = None


@contextmanager
def programs() -> Iterator[dict[int, Calls]]:
    """Watch all programs that run in a `with` block, which gets their calls. Each call waits for
    its results, so that its time is its own.
    """
    global _watched
    found: dict[int, Calls] = {}
    _watched = found
    config.set_profiling(True)
    try:
        yield found
    finally:
        config.set_profiling(False)
        _watched = None


@contextmanager
def called(program: Any) -> Iterator[None]:
    """Note the call of a program that a `with` block is, if programs are watched."""
    start = time.perf_counter()
    yield
    if _watched is not None:
        calls = _watched.setdefault(id(program), Calls(program))
        calls.count += 1
        calls.seconds += time.perf_counter() - start
