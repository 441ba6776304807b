"""jax.monitoring: events that libraries record, and listeners to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Listener = Callable[..., Any]

_listeners: dict[str, list[Listener]] = {"event": [], "duration": [], "time_span": [], "scalar": []}


def _record(kind: str, *values: Any, **metadata: Any) -> None:
    for listener in list(_listeners[kind]):
        listener(*values, **metadata)


def record_event(event: str, **kwargs: str | int) -> None:
    """Tell listeners of an event."""
    _record("event", event, **kwargs)


def record_event_duration_secs(event: str, duration: float, **kwargs: str | int) -> None:
    """Tell listeners the duration of an event."""
    _record("duration", event, duration, **kwargs)


def record_event_time_span(
    event: str, start_time: float, end_time: float, **kwargs: str | int
) -> None:
    """Tell listeners the beginning and the end of an event."""
    _record("time_span", event, start_time, end_time, **kwargs)


def record_scalar(event: str, value: float, **kwargs: str | int) -> None:
    """Tell listeners a number."""
    _record("scalar", event, value, **kwargs)


def register_event_listener(callback: Listener) -> None:
    """Call a function of each event's name."""
    _listeners["event"].append(callback)


def register_event_duration_secs_listener(callback: Listener) -> None:
    """Call a function of each event's name and duration."""
    _listeners["duration"].append(callback)


def register_event_time_span_listener(callback: Listener) -> None:
    """Call a function of each event's name, beginning and end."""
    _listeners["time_span"].append(callback)


def register_scalar_listener(callback: Listener) -> None:
    """Call a function of each event's name and number."""
    _listeners["scalar"].append(callback)


def unregister_event_listener(callback: Listener) -> None:
    """Call a listener no more."""
    _listeners["event"].remove(callback)


def unregister_event_duration_listener(callback: Listener) -> None:
    """Call a listener no more."""
    _listeners["duration"].remove(callback)


def unregister_event_time_span_listener(callback: Listener) -> None:
    """Call a listener no more."""
    _listeners["time_span"].remove(callback)


def unregister_scalar_listener(callback: Listener) -> None:
    """Call a listener no more."""
    _listeners["scalar"].remove(callback)


def clear_event_listeners() -> None:
    """Forget all listeners."""
    for listeners in _listeners.values():
        listeners.clear()
