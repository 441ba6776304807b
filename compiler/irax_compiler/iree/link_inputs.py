"""Inputs of IREE's linker beside the object of a program's own kernels.

IREE runs a command that its flags name, and sessions are kept by their flags. So the command names
a file of further arguments, of which the name serves for one program after the other. It is in the
folder of the cache, which removes what processes leave there that end early.
"""

from __future__ import annotations

import os
import secrets
import shlex
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

LINKER = "--iree-llvmcpu-system-linker-path="
"""The flag that has the command."""


@dataclass(frozen=True)
class Inputs:
    """Further inputs of the linker."""

    file: Path

    def flags(self, flags: Sequence[str]) -> tuple[str, ...]:
        """Return IREE's flags with a linker that gets them."""
        return tuple(f"{x}{self._argument}" if x.startswith(LINKER) else x for x in flags)

    def without(self, flags: Sequence[str]) -> tuple[str, ...]:
        """Return such flags with the linker as it was."""
        return tuple(x.removesuffix(self._argument) for x in flags)

    @property
    def _argument(self) -> str:
        return " " + shlex.quote(f"@{self.file}")

    @contextmanager
    def of(self, objects: Mapping[str, bytes]) -> Iterator[None]:
        """In the `with` block, the inputs are these objects, which have names."""
        paths = [self.file.with_name(f"{self.file.name}_{name}") for name in objects]
        try:
            for path, data in zip(paths, objects.values(), strict=True):
                path.write_bytes(data)
            self.file.write_text("".join(f'"{_escaped(path)}"\n' for path in paths))
            yield
        finally:
            self.file.write_text("")
            for path in paths:
                path.unlink(missing_ok=True)


def _escaped(path: Path) -> str:
    return str(path).replace("\\", "\\\\").replace('"', '\\"')


class _Names:
    """The names of files of this process that no thread uses."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.free: list[str] = []
        self.begin = secrets.token_hex(8)
        self.made = 0

    def take(self) -> str:
        with self.lock:
            if self.free:
                return self.free.pop()
            self.made += 1
            return f"unfinished-{self.begin}{self.made}"

    def give_back(self, name: str) -> None:
        with self.lock:
            self.free.append(name)


_names = _Names()


def _forked() -> None:
    """Leave the names to the process that this one was forked from."""
    global _names
    _names = _Names()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


@contextmanager
def inputs(folder: Path) -> Iterator[Inputs | None]:
    """Inputs for the length of a `with` block, none at first, in files of a folder. None if it
    cannot be written.
    """
    names = _names
    name = names.take()
    found = Inputs(folder / name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        found.file.write_text("")
    except OSError:
        yield None
        return
    try:
        yield found
    finally:
        found.file.unlink(missing_ok=True)
        names.give_back(name)
