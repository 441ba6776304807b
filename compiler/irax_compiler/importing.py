"""Imports of modules when they are first used, by one thread at a time.

Python has a lock for each module. Threads that come to a package and to a module of it by different
ways wait for each other's locks; Python sees that, and lets one of them go on with modules that are
half made.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
import threading
from collections.abc import Iterator
from types import ModuleType
from typing import Any

_PACKAGES = frozenset({"irax", "irax_compiler", "irax_runtime", "irax_tools"})

_turn = threading.RLock()


def import_module(name: str) -> ModuleType:
    """Return a module, which is imported while no other thread does so by these functions.

    >>> import_module("math").floor(2.5)
    2
    """
    found = sys.modules.get(name)
    if found is not None and not getattr(found.__spec__, "_initializing", False):
        return found
    with alone():
        return importlib.import_module(name)


class _Deferred(ModuleType):
    """Stands for a module until something of it is used."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


def deferred(package: str, *names: str) -> tuple[ModuleType, ...]:
    """Return modules of a package, each of which is imported when something of it is first used:
    for what few programs need.

        if TYPE_CHECKING:
            from irax_compiler.passes.kernels.moves import gathers, scatters
        else:
            moves = "irax_compiler.passes.kernels.moves"
            gathers, scatters = deferred(moves, "gathers", "scatters")
    """
    return tuple(_Deferred(f"{package}.{name}") for name in names)


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """For the length of a `with` block, other threads wait to import modules.

    A thread that is at work in a module of irax's has Python's lock of it, for which the thread
    whose turn it is may have to wait: so it does not wait for its own.
    """
    if _is_importing():
        yield
        return
    with _turn, uncollected():
        yield


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """For the length of a `with` block, Python does not look for garbage.

    Imports make many objects and hardly any garbage. To look through them again and again takes a
    seventh of the time of `import irax`.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            _make_objects_old()
            gc.enable()


def _make_objects_old() -> None:
    """Have Python not look through the objects that were made last, where it would do so at once.

    This takes time where a program has frozen objects alone: Python counts them one by one.
    """
    is_due = gc.get_count()[0] > gc.get_threshold()[0]
    if is_due and gc.get_freeze_count() == 0:
        gc.freeze()
        gc.unfreeze()


def _is_importing() -> bool:
    """Return True if a module of irax's is being imported by this thread."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            package = frame.f_globals.get("__name__", "").partition(".")[0]
            if package in _PACKAGES:
                return True
        frame = frame.f_back
    return False


def _forget_the_turn() -> None:
    """In a forked process, which lacks the thread whose turn it was."""
    global _turn
    _turn = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_the_turn)
