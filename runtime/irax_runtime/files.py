"""Writing files: all of it, or nothing."""

from __future__ import annotations

import io
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO


def write(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a file, or replaces it; whoever reads it sees all of it or nothing.

    Raises:
        OSError: it cannot be written. What was there before still is.
    """
    write_by(path, lambda file: file.write(data))


def write_by(path: str | os.PathLike[str], writing: Callable[[IO[bytes]], object]) -> None:
    """Writes a file as `write` does, by a function that is given an open one."""
    if _is_special(path):
        data = io.BytesIO()
        writing(data)
        Path(path).write_bytes(data.getvalue())
        return
    target = Path(path).resolve()
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".irax-", delete=False) as file:
        try:
            writing(file)
            file.flush()
            os.chmod(file.name, stat.S_IMODE(target.stat().st_mode) if target.exists() else _mode())
            os.replace(file.name, target)
        except BaseException:
            os.unlink(file.name)
            raise


def _is_special(path: str | os.PathLike[str]) -> bool:
    """True for /dev/null, pipes and the like, in whose place no file must be put."""
    try:
        return not stat.S_ISREG(Path(path).stat().st_mode)
    except FileNotFoundError:
        return False


def _mode() -> int:
    """The permissions of new files; temporary ones have fewer."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
