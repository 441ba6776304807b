"""Dry runs: evaluation for the types of results alone, during which callbacks are not called."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _State(threading.local):
    active = False


_state = _State()


@contextmanager
def types_only() -> Iterator[None]:
    """Context of a dry run of this thread, in which callbacks return zeros."""
    outer, _state.active = _state.active, True
    try:
        yield
    finally:
        _state.active = outer


def is_active() -> bool:
    """True in a dry run."""
    return _state.active
