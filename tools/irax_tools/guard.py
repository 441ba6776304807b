"""The command runs in a child process, so that nothing that ends a process ends the command.

Compilers and drivers of other people's do that on input they do not expect: a damaged program, a
module in a form that nobody tried. The parent waits, tells what happened in one line, and exits
with 1. It imports nothing, so that to fork costs a millisecond. The child ends when the parent
does, also where that has no time to pass it on.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

PATIENCE = 2
"""Seconds that a command has to stop by itself when it is interrupted: native code may not ask."""
INTERRUPTED = 128 + signal.SIGINT
"""The exit code of interrupted commands, as shells have it."""

_PR_SET_PDEATHSIG = 1
_PASSED_ON = (signal.SIGINT, signal.SIGTERM)


def run(command: Callable[[], Any]) -> NoReturn:
    """Runs a command, which ends by SystemExit, and exits as it did."""
    if not hasattr(os, "fork"):
        command()
        sys.exit()
    parent = os.getpid()
    pipe, held = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(held)
        end_with_parent(parent, pipe)
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, _interrupt_once)
        _end(command)
    os.close(pipe)
    _watch(child)


def _end(command: Callable[[], Any]) -> NoReturn:
    """Runs a command, writes what it has printed, and exits as it did, or with 1 if that fails."""
    status: Any = 0
    if sys.stdout is None:  # it was closed when the command began
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    try:
        command()
    except SystemExit as end:
        status = end.code
    except OSError as error:  # help and versions are printed before there is a command
        status = _failed(error)
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python writes it again
        status = status or _failed(error)
    sys.exit(status)


def _failed(error: OSError) -> int:
    print(f"irax: error: {error}", file=sys.stderr)
    return 1


def end_with_parent(parent: int, pipe: int | None = None) -> None:
    """Has this process killed when its parent ends: by Linux, or by a thread that reads from a pipe
    of which the parent holds the other end, if there is one.
    """
    if not _is_killed_with_parent():
        import threading

        if pipe is not None:
            threading.Thread(target=_await_end, args=(pipe,), daemon=True).start()
        return
    if pipe is not None:
        os.close(pipe)
    if os.getppid() != parent:  # it ended before the system was asked
        os.kill(os.getpid(), signal.SIGKILL)


def _is_killed_with_parent() -> bool:
    """Asks the system for it; that minds the thread that forked, which is the parent's only one."""
    if sys.platform != "linux":
        return False
    import ctypes

    try:
        return ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL)) == 0
    except (OSError, AttributeError):
        return False


def _await_end(pipe: int) -> None:
    os.read(pipe, 1)  # nothing is ever written
    os.kill(os.getpid(), signal.SIGKILL)


def _interrupt_once(number: int, frame: Any) -> NoReturn:
    # A terminal interrupts both processes, and the parent passes it on: once is enough.
    signal.signal(number, signal.SIG_IGN)
    # What it leaves unfinished may fail in a destructor, which is no matter of the user's.
    sys.unraisablehook = lambda failure: None
    raise KeyboardInterrupt


def _watch(child: int) -> NoReturn:
    asked: list[int] = []

    def stop(number: int, frame: Any) -> None:
        asked.append(number)
        end(number if number == signal.SIGTERM or len(asked) == 1 else signal.SIGKILL)
        signal.alarm(PATIENCE)

    def end(number: int) -> None:
        with suppress(ProcessLookupError):  # it has just ended
            os.kill(child, number)

    for number in _PASSED_ON:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stop)
    signal.signal(signal.SIGALRM, lambda number, frame: end(signal.SIGKILL))
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if asked or code == INTERRUPTED:
        sys.stderr.write("irax: interrupted\n")
        os._exit(128 + asked[0] if asked else code)
    if code < 0:
        name = signal.Signals(-code).name
        sys.stderr.write(
            f"irax: error: the compiler or the device ended the process ({name}): the input is "
            "damaged, or this is a defect of theirs\n"
        )
        code = 1
    os._exit(code)
