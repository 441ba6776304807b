"""Sessions of IREE's compiler that are kept, with the dialects that they have loaded.

To make a session and to load its dialects takes two to five thousandths of a second, and a program
goes through several. A session keeps the attributes and types of all modules that were in it, so it
serves for some programs of moderate size, then another takes its place.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from irax_compiler import chips
from irax_compiler.iree.managers import Managers
from irax_compiler.once import once

USES = 64
"""The modules that a session is for."""

SMALL = 10 << 10
"""The bytes of a module up to which IREE works in one thread. To share the few passes of one or two
kernels among threads takes more time than these, with processors that have nothing else to do."""

OF_HOSTS = {"after code": 256 << 10, "hal": 256 << 10}
"""The bytes for uses whose modules have machine code in them, by their names."""

LARGE = 1 << 20
"""The bytes of a module after which a session is not kept."""

MOST = 16
"""The sessions that wait at a time. Those that were used last do."""

Key = tuple[str, tuple[str, ...]]

_is_forked = False
"""True if this process was forked from another, and so lacks the compiler's threads."""

_lock = threading.Lock()
_waiting: OrderedDict[Key, tuple[Any, int]] = OrderedDict()
"""The sessions that are kept, and how often each was used."""


@atexit.register
def _leave() -> None:
    """Leave what sessions have to the system: to destroy them would delay the end of a process, and
    in one that was forked it would wait for threads that are not there.
    """
    for session, _ in _waiting.values():
        session._session_p = ctypes.c_void_p()
    _waiting.clear()


def _forked() -> None:
    global _is_forked, _lock
    _is_forked = True
    _lock = threading.Lock()
    _leave()
    api: Any = sys.modules.get("iree.compiler.api.ctypes_dl")
    if api is not None:  # to shut IREE down would wait for its threads, too
        api._global_init.local_dylib = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


@contextmanager
def session(flags: Sequence[str], use: str = "", size: int = 0) -> Iterator[Any]:
    """A session with IREE's flags. One for a `use` that has a name is kept for the next, unless an
    error occurs or the module has many bytes.

    Raises:
        ValueError: IREE does not know one of the flags.
    """
    key = (use, tuple(flags))
    with _lock:
        found, uses = _waiting.pop(key, (None, 0))
    found = found or _new(flags)
    # In a forked process, IREE would wait for its threads for ever.
    _use_threads(found, uses_threads(use, size) and not _is_forked)
    try:
        yield found
    except BaseException:
        _close(found)
        raise
    if not use or size > LARGE or uses + 1 >= USES:
        _close(found)
    else:
        _keep(key, found, uses + 1)


def uses_threads(use: str, size: int) -> bool:
    """Return True if IREE works in several threads on a module of so many bytes."""
    return size > OF_HOSTS.get(use, SMALL)


def _close(session: Any) -> None:
    session.managers.close()
    session.close()


def _keep(key: Key, session: Any, uses: int) -> None:
    with _lock:
        others = [_waiting.pop(key, None)]  # another thread's
        _waiting[key] = session, uses
        if len(_waiting) > MOST:
            others.append(_waiting.popitem(last=False)[1])
    for other in others:
        if other is not None:
            _close(other[0])


STEPS = 1024
"""The iterations in which IREE may find the devices of values. It takes several for a chain of
updates, and refuses what takes more than a few; loops with many results have long chains."""


_UNUSED = ("input_torch", "input_tosa", "hal_target_vmvx")
"""The plugins of IREE that irax never uses. Passes would collect the patterns of their operations,
too."""

_COPIES = ("memset", "memcpy", "memmove", "fma")
"""The functions of C's that IREE puts into each program. Loops byte by byte, they are no faster
optimized."""

_HELPERS = (
    *("iree_h2f_ieee", "iree_f2h_ieee", "__gnu_h2f_ieee", "__gnu_f2h_ieee"),
    *("__extendhfsf2", "__truncsfhf2", "__extendhfdf2", "__truncdfhf2"),
)
"""The functions that IREE puts into each program in case that the processor has no instructions for
float16."""


@once
def _set_options() -> None:
    """Set the options of IREE that are not those of a session, before there is one."""
    from iree.compiler.api import ctypes_dl

    settings = [f"--iree-stream-affinity-solver-max-iterations={STEPS}"]
    settings += [f"--iree-plugin=-{name}" for name in _UNUSED]
    # To optimize what is hardly ever called would take more than half of LLVM's time.
    for name in (*_COPIES, *(_HELPERS if chips.converts_halves() else ())):
        settings += [f"--force-attribute={name}:{x}" for x in ("optnone", "noinline")]
    ctypes_dl._initializeGlobalCL("iree-compile", *settings)
    _end_unfinished_objects_quietly()


def _end_unfinished_objects_quietly() -> None:
    """Give IREE's classes the attributes that their destructors read. An interruption in a
    constructor leaves an object without them, whose end would print an AttributeError.
    """
    from iree.compiler.api import Invocation, Output, Session, Source

    addresses = {
        Session: "_session_p",
        Invocation: "_inv_p",
        Source: "_source_p",
        Output: "_output_p",
    }
    for each, name in addresses.items():
        setattr(each, name, None)


def _new(flags: Sequence[str]) -> Any:
    from iree.compiler.api import Session

    _set_options()
    made: Any = Session()
    made.managers = Managers(made._session_p)
    try:
        made.set_flags(*flags)
    except BaseException:
        _close(made)
        raise
    return made


def _use_threads(session: Any, do: bool) -> None:
    """Have IREE share work on a session's modules among threads of its own, or not."""
    from iree.compiler.api import ctypes_dl

    library: Any = ctypes_dl._dylib
    borrow, enable = (
        library.ireeCompilerSessionBorrowContext,
        library.mlirContextEnableMultithreading,
    )
    borrow.restype, borrow.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    enable.restype, enable.argtypes = None, [ctypes.c_void_p, ctypes.c_bool]
    enable(borrow(session._session_p), do)
