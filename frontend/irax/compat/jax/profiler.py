"""jax.profiler: irax.profiler, and a name that libraries read when they are imported."""

from collections.abc import Callable
from typing import Any

import irax.profiler


def __getattr__(name: str) -> Any:
    return getattr(irax.profiler, name)


def register_subprocess(pid: int, port: int) -> Callable[[], None]:
    """Return a function that does nothing: a profile has the spans of its own process."""
    return lambda: None
