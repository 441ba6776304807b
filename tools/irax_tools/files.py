"""Reading and writing files: an output is all there, or not at all."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import click


def read_file(path: str) -> bytes:
    """A file's bytes, or those of standard input (-). Raises UsageError where there are none."""
    try:
        return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise click.UsageError(f"{path}: {error.strerror}") from None


@contextmanager
def naming(path: str) -> Iterator[None]:
    """In a `with` block, each ValueError begins with the name of a file."""
    try:
        yield
    except ValueError as error:
        if str(error).startswith(path):
            raise
        raise ValueError(f"{path}: {error}") from None


def check_folder(path: str | None) -> None:
    """Raise ValueError, before long work, if a file cannot be written: there is no such folder."""
    if path is not None and not Path(path).parent.is_dir():
        raise ValueError(f"{path}: cannot be written: there is no folder {Path(path).parent}")


def write_file(path: str, contents: str | bytes | Callable[[IO[bytes]], object]) -> None:
    """Writes a file, all of it or nothing; to standard output where the path is -. A function of
    an open file writes it itself.

    Raises ValueError where the file cannot be written.
    """
    if path == "-":
        if callable(contents):
            file = io.BytesIO()
            contents(file)
            contents = file.getvalue()
        click.echo(contents, nl=False)
        return
    from irax_runtime import files

    try:
        if callable(contents):
            files.write_by(path, contents)
        else:
            files.write(path, contents.encode() if isinstance(contents, str) else contents)
    except OSError as error:
        raise ValueError(f"{path}: cannot be written: {error.strerror}") from None
