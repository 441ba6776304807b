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
    """Decorator: a cache of what the function returns that makes nothing twice. Who calls it with
    arguments for which another thread is at work waits for that one. What it raises is not kept.

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
        """In a forked process, which has none of the threads that may have been at work."""
        nonlocal making
        making = threading.RLock()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget_the_maker)
    return made_once
