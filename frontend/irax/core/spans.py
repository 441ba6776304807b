"""Spans of time: what a process does while it is profiled, for `irax.profiler`."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from irax.config import config

_events: list[dict[str, Any]] | None = None
"""The spans of the profile that is being taken, as events of Chrome's trace format."""


def start() -> None:
    """Begin to record spans."""
    global _events
    _events = []
    config.set_profiling(True)


def stop() -> list[dict[str, Any]]:
    """Stop recording; return the events of the spans that have ended."""
    global _events
    found, _events = _events or [], None
    config.set_profiling(False)
    threads = {event["tid"] for event in found}
    names = {thread.native_id: thread.name for thread in threading.enumerate()}
    return [*(_named(tid, names.get(tid, f"thread {tid}")) for tid in threads), *found]


def _named(tid: int, name: str) -> dict[str, Any]:
    """The event that names a thread."""
    return {
        "ph": "M",
        "pid": os.getpid(),
        "tid": tid,
        "name": "thread_name",
        "args": {"name": name},
    }


@contextmanager
def span(name: str, category: str, **details: Any) -> Iterator[None]:
    """Record the time that a `with` block takes, if a profile is being taken.

    Args:
        name: what is done.
        category: the kind of work: "trace", "lower", "compile", "execute", "user".
        details: what a viewer shows of it.
    """
    if _events is None:
        yield
        return
    begin = time.perf_counter_ns()
    try:
        yield
    finally:
        add(name, category, begin, details)


def between(category: str) -> Callable[..., None] | None:
    """Return a function that records a span of the name it is given, from its last call, or from
    now, to this call; None if no profile is being taken.
    """
    if _events is None:
        return None
    begin = time.perf_counter_ns()

    def ended(name: str, *_: Any) -> None:
        nonlocal begin
        add(name.partition("{")[0], category, begin, {})
        begin = time.perf_counter_ns()

    return ended


def add(name: str, category: str, begin: int, details: dict[str, Any]) -> None:
    """Record a span that ends now and began at a reading of `time.perf_counter_ns`."""
    events = _events
    if events is None:
        return
    event = {
        "name": name,
        "cat": category,
        "ph": "X",
        "ts": begin / 1000,
        "dur": (time.perf_counter_ns() - begin) / 1000,
        "pid": os.getpid(),
        "tid": threading.get_native_id(),
    }
    if details:
        event["args"] = {key: str(value) for key, value in details.items()}
    events.append(event)
