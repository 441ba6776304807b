"""`once`, a cache for objects of which a process must have only one: devices, a plugin's client, a
parsed module.

`functools.cache` may run two concurrent first calls, which then return different objects. The
compiler and the runtime do not import each other, so each has this file.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def once(function: Callable[..., T]) -> Callable[..., T]:
    """Decorator: cache a function's results, and call it only once for the same arguments. Other
    threads that call it meanwhile wait. Exceptions are not cached.

    >>> new = once(lambda name: object())
    >>> new("cpu") is new("cpu")
    True
    """
    made: dict[tuple[object, ...], T] = {}
    making = threading.RLock()

    @functools.wraps(function)
    def made_once(*arguments: object) -> T:
        try:
            return made[arguments]
        except KeyError:
            pass
        with making:
            if arguments not in made:
                made[arguments] = function(*arguments)
            return made[arguments]

    def forget_the_maker() -> None:
        """Replace the lock in a forked process, which lacks the thread that may hold it."""
        nonlocal making
        making = threading.RLock()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget_the_maker)
    return made_once
