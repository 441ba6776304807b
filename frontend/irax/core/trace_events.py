"""The spans of a profile as events of Chrome's trace format, which Perfetto reads."""

from __future__ import annotations

import os
import threading
from typing import Any

from irax.config import config
from irax_compiler import spans


def start() -> None:
    """Begin to record the spans of the process, calls of jitted functions among them."""
    spans.start()
    config.set_profiling(True)


def stop() -> list[dict[str, Any]]:
    """Stop recording; return the events of the spans that have ended."""
    config.set_profiling(False)
    found = spans.stop()
    threads = {span.thread for span in found}
    names = {thread.native_id: thread.name for thread in threading.enumerate()}
    named = [_name_of_thread(tid, names.get(tid, f"thread {tid}")) for tid in sorted(threads)]
    return named + list(map(_event, found))


def _name_of_thread(tid: int, name: str) -> dict[str, Any]:
    of_process = {"ph": "M", "pid": os.getpid(), "tid": tid}
    return {**of_process, "name": "thread_name", "args": {"name": name}}


def _event(span: spans.Span) -> dict[str, Any]:
    event = {
        "name": span.name,
        "cat": span.kind,
        "ph": "X",
        "ts": span.begin / 1000,
        "dur": (span.end - span.begin) / 1000,
        "pid": os.getpid(),
        "tid": span.thread,
    }
    if span.details:
        event["args"] = {key: str(value) for key, value in span.details.items()}
    return event
