"""Jobs and commands in processes of their own: compilers and programs may crash there, or hang."""

from __future__ import annotations

import contextlib
import faulthandler
import multiprocessing
import os
import shlex
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from irax_tools import guard

CANDIDATE = "{}"
"""The word of a command that stands for the file of a module."""
_MOST_OUTPUT = 20_000


@dataclass(frozen=True)
class Ending:
    """The end of a job or a command."""

    how: str
    """`returned`, `exit code 1`, `SIGSEGV`, or `time`: it was ended after its time."""
    result: Any = None
    """The value that a job returned, or the exception that it raised."""
    output: str = ""
    """The text that it wrote to standard output and standard error."""
    seconds: float = 0.0


def run_job(job: Callable[[], Any], limit: float | None = None) -> Ending:
    """Run a job in a forked process, for at most `limit` seconds. Where no process can be forked,
    it runs in this one.
    """
    if not hasattr(os, "fork"):
        return Ending("returned", _result_of(job))
    start = time.perf_counter()
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryFile() as output:
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=_work, args=(job, sender, output.fileno()))
        with warnings.catch_warnings():  # of threads: the job uses none of this process's
            warnings.simplefilter("ignore", DeprecationWarning)
            child.start()
        sender.close()
        try:
            has_ended = receiver.poll(limit)
            how, result = ("returned", receiver.recv()) if has_ended else ("time", None)
        except EOFError:  # it ended without a word
            child.join()
            how, result = _named(child.exitcode or 0), None
        finally:
            child.kill()
            child.join()
        return Ending(how, result, _read(output), time.perf_counter() - start)


def _work(job: Callable[[], Any], sender: Any, output: int) -> None:
    guard.end_with_parent(os.getppid())
    faulthandler.disable()
    for number in (1, 2):
        os.dup2(output, number)
    result = _result_of(job)
    try:
        sender.send(result)
    except Exception as error:  # an exception that cannot be pickled
        sender.send(RuntimeError(f"{type(result).__name__}: {result}: {error}"))


def _result_of(job: Callable[[], Any]) -> Any:
    try:
        return job()
    except Exception as error:
        return error


def run_command(command: Sequence[str], limit: float | None = None) -> Ending:
    """Run a command, for at most `limit` seconds. Raises ValueError for one that is not there."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        try:
            child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, process_group=0
            )
        except OSError as error:
            raise ValueError(f"{command[0]}: {error.strerror}") from None
        try:
            how = _named(child.wait(limit))
        except subprocess.TimeoutExpired:
            how = "time"
        finally:
            _end_group(child)
        return Ending(how, None, _read(output), time.perf_counter() - start)


def _end_group(child: subprocess.Popen[bytes]) -> None:
    """Ends a command and what it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def enough(seconds: float, limit: float | None) -> float:
    """Return a limit for what took so many seconds, and should take less when it is smaller."""
    return min(2 + 5 * seconds, float("inf") if limit is None else limit)


def with_file(command: Sequence[str], file: Path) -> list[str]:
    """The command for a file, which takes the place of `{}` or is its last argument.

    >>> with_file(["irax", "check", "{}"], Path("a.mlir"))
    ['irax', 'check', 'a.mlir']
    """
    if any(CANDIDATE in word for word in command):
        return [word.replace(CANDIDATE, str(file)) for word in command]
    return [*command, str(file)]


def shown(command: Sequence[str], file: str) -> str:
    """The command for a file, as a shell takes it."""
    return shlex.join(with_file(command, Path(file)))


def _named(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _read(output: IO[bytes]) -> str:
    output.seek(0)
    text = output.read().decode(errors="replace")
    if len(text) <= _MOST_OUTPUT:
        return text
    half = _MOST_OUTPUT // 2
    return f"{text[:half]}\n...\n{text[-half:]}"
