"""The state of irax's files, which tells its code from that of other versions."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

from irax_compiler.once import once

_BEGUN = time.time_ns()


def is_of_compiler(x: Any) -> bool:
    """Return True if a class or a function is in a file of the compiler's."""
    return x.__module__.partition(".")[0] == __package__


@once
def compiler() -> str | None:
    """Return the state of the compiler's files; None where one is newer than this process, which
    may have loaded what it was.
    """
    return state_of(os.path.dirname(__file__))


def state_of(folder: str) -> str | None:
    """Return the state of the Python files of a folder: names, sizes, and when they were written.
    None where one is newer than this process.
    """
    files = sorted(_files(folder, ""))
    return None if any(written >= _BEGUN for _, _, written in files) else str(files)


def _files(folder: str, inside: str) -> Iterator[tuple[str, int, int]]:
    """Yield the name of each Python file of a folder, its size, and when it was written."""
    with os.scandir(folder) as entries:
        for entry in entries:  # pathlib takes ten times as long
            if entry.is_dir():
                yield from _files(entry.path, f"{inside}{entry.name}/")
            elif entry.name.endswith(".py"):
                stat = entry.stat()
                yield f"{inside}{entry.name}", stat.st_size, stat.st_mtime_ns
