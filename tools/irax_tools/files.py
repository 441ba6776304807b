"""Reading and writing files: an output is all there, or not at all."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path

import click


def read_file(path: str) -> bytes:
    """A file's bytes, or those of standard input (-). Raises UsageError where there are none."""
    try:
        return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise click.UsageError(f"{path}: {error.strerror}") from None


def write_file(path: str, contents: str | bytes) -> None:
    """Writes a file, all of it or nothing; to standard output where the path is -.

    Raises ValueError where the file cannot be written.
    """
    if path == "-":
        click.echo(contents, nl=False)
        return
    data = contents.encode() if isinstance(contents, str) else contents
    try:
        if _is_special(path):
            Path(path).write_bytes(data)
        else:
            _replace(path, data)
    except OSError as error:
        raise ValueError(f"{path}: cannot be written: {error.strerror}") from None


def _is_special(path: str) -> bool:
    """True for /dev/null, pipes and the like, in whose place no file must be put."""
    try:
        return not stat.S_ISREG(Path(path).stat().st_mode)
    except FileNotFoundError:
        return False


def _replace(path: str, data: bytes) -> None:
    target = Path(path).resolve()
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".irax-", delete=False) as file:
        try:
            file.write(data)
            file.flush()
            os.chmod(file.name, stat.S_IMODE(target.stat().st_mode) if target.exists() else _mode())
            os.replace(file.name, target)
        except BaseException:
            os.unlink(file.name)
            raise


def _mode() -> int:
    """The permissions of new files; temporary ones have fewer."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
