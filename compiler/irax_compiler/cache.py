"""The cache of compiled artefacts on disk."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import platformdirs

from irax_compiler import chips
from irax_compiler.versions import version

SIZE_LIMIT = "2GB"
"""The size of the cache, above which the least recently used artefacts are removed, where
`IRAX_CACHE_SIZE` does not say another."""

EVICTION = 16
"""One of so many stored artefacts has the folder searched for what is to be removed."""

_ABANDONED = 3600.0
"""The age in seconds of an unfinished file that no process can still be writing."""

_NAME = re.compile(r"(?:(\w+)-)?[0-9a-f]{64}")
"""The form of the names that `key` returns, which a kind may precede: other files in the folder do
not belong to the cache."""

_CHECKSUM = 32
"""The bytes of the checksum that precedes an artefact."""
_UNFINISHED = re.compile(r"unfinished-\w+")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)I?B?")

_CPU_FACTS = re.compile(r"flags|Features|vendor_id|model|cpu family|CPU (implementer|part|variant)")
"""The lines of /proc/cpuinfo, on x86 and ARM, that identify the kind of processor."""


def key(module: bytes, flags: Sequence[str]) -> str:
    """Return the name of a module's artefact, which depends on compiler, flags and processor."""
    digest = hashlib.sha256(_environment())
    for part in (*(f.encode() for f in flags), module):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


_ABOUT = b"\0irax: about "
"""The bytes between an artefact and its description."""
_LONGEST_ABOUT = 500


class _Here(threading.local):
    reads = True
    about = ""


_here = _Here()


@dataclass
class Settings:
    """The settings of the process, in front of those of the environment."""

    folder: str | None = None
    """The folder of artefacts; None stands for `IRAX_CACHE_DIR`."""
    is_on: bool = True
    size: int = -1
    """The most bytes of the cache; -1 stands for `IRAX_CACHE_SIZE`."""


settings = Settings()


@contextlib.contextmanager
def unread() -> Iterator[None]:
    """For the length of a `with` block, this thread finds nothing in the cache: what was there did
    not load, and what is stored replaces it.
    """
    _here.reads = False
    try:
        yield
    finally:
        _here.reads = True


@contextlib.contextmanager
def describing(about: str) -> Iterator[None]:
    """For the length of a `with` block, what this thread stores is described so: by the function,
    its file, the types of its arguments.
    """
    before, _here.about = _here.about, about
    try:
        yield
    finally:
        _here.about = before


def reads() -> bool:
    """Return False where this thread is to find nothing in the cache (see `unread`)."""
    return _here.reads


def load(name: str) -> bytes | None:
    """Return the artefact of this name, or None."""
    folder = directory()
    if folder is None or not _here.reads:
        return None
    path = folder / name
    try:
        data = path.read_bytes()
    except OSError:
        return None
    with contextlib.suppress(OSError):  # a folder that can only be read serves as well
        os.utime(path)
    # A checksum: a truncated artefact could crash the runtime.
    checksum, artefact = data[:_CHECKSUM], data[_CHECKSUM:]
    return _parted(artefact)[0] if hashlib.sha256(artefact).digest() == checksum else None


def _parted(stored: bytes) -> tuple[bytes, str]:
    """Return an artefact and its description."""
    artefact, mark, about = stored.rpartition(_ABOUT)
    if not mark or len(about) > _LONGEST_ABOUT:
        return stored, ""
    return artefact, about.decode(errors="replace")


def store(name: str, artefact: bytes, is_one_of_many: bool = False) -> None:
    """Store an artefact atomically. One of many that are stored together has nothing removed for
    it.
    """
    folder = directory()
    if folder is None:
        return
    limit = size_limit()
    if _here.about and not is_one_of_many:
        artefact += _ABOUT + _here.about.encode()[:_LONGEST_ABOUT]
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor, unfinished = tempfile.mkstemp(dir=folder, prefix="unfinished-")
        try:
            with open(descriptor, "wb") as file:
                file.write(hashlib.sha256(artefact).digest() + artefact)
            os.replace(unfinished, folder / name)
        except OSError:  # the disk is full, or somebody else's process has the file
            os.unlink(unfinished)
            return
        if not is_one_of_many and int(name.rpartition("-")[2][:8], 16) % EVICTION == 0:
            prune(limit)


def size_limit() -> int:
    """Return the most bytes of the cache: those of `IRAX_CACHE_SIZE`, as `size` reads them, if
    `settings` has no others.

    Raises:
        ValueError: the variable is no size.
    """
    if settings.size >= 0:
        return settings.size
    setting = os.environ.get("IRAX_CACHE_SIZE", "") or SIZE_LIMIT
    try:
        return size(setting)
    except ValueError as error:
        raise ValueError(f"IRAX_CACHE_SIZE: {error}") from None


def size(text: str) -> int:
    """Return the number of bytes that a text such as 500MB, 1.5GiB or 4096 states. Units are powers
    of 1024.

    Raises:
        ValueError: the text is no size.
    """
    found = _SIZE.fullmatch(text.strip().upper())
    if found is None:
        raise ValueError(f"{text!r} is no size; expected a number of bytes, such as 500MB or 2GB")
    number, unit = found.groups()
    return int(float(number) * 1024 ** " KMGT".index(unit or " "))


def directory() -> Path | None:
    """Return the folder of artefacts, or None if none are kept: the cache is off, or the user has
    no home directory that it could be in.
    """
    setting = settings.folder or os.environ.get("IRAX_CACHE_DIR", "")
    if not settings.is_on or setting.lower() == "off":
        return None
    with contextlib.suppress(RuntimeError):  # there is no home directory
        if setting:
            return Path(setting).expanduser()
        return platformdirs.user_cache_path("irax") / "artefacts"
    return None


def why_none_are_kept() -> str:
    """Return why there is no folder of artefacts."""
    if not settings.is_on:
        return "the option enable_compilation_cache is off"
    setting = settings.folder or os.environ.get("IRAX_CACHE_DIR", "")
    if setting.lower() == "off":
        return "IRAX_CACHE_DIR=off"
    return "there is no home directory: set IRAX_CACHE_DIR to a folder, or HOME"


@dataclass(frozen=True)
class Entry:
    """An artefact on disk."""

    path: Path
    size: int
    """The size in bytes."""
    used: float
    """The time of its last use, in seconds since the epoch."""

    @property
    def kind(self) -> str:
        """Return the kind: "program", "kernel", or "object" for the code of kernels."""
        match = _NAME.fullmatch(self.path.name)
        return (match and match[1]) or "program"

    def read(self) -> bytes:
        """Return the artefact, which does not count as a use. Empty where it has been removed."""
        return self._parts()[0]

    def about(self) -> str:
        """Return the description, such as `step (train.py:8) of f32[64,3]`; empty without one."""
        return self._parts()[1]

    def _parts(self) -> tuple[bytes, str]:
        with contextlib.suppress(OSError):
            return _parted(self.path.read_bytes()[_CHECKSUM:])
        return b"", ""


def entries() -> list[Entry]:
    """Return all artefacts, the least recently used first."""
    folder = directory()
    return [] if folder is None or not folder.is_dir() else _entries(folder)


def clear() -> list[Entry]:
    """Remove the artefacts, and no other files; return those removed."""
    return prune(0)


def prune(limit: int) -> list[Entry]:
    """Remove the least recently used artefacts until the others have no more than `limit` bytes,
    and files that writers left unfinished. Return the artefacts removed.
    """
    found = entries()
    total = sum(entry.size for entry in found)
    removed: list[Entry] = []
    for entry in found:
        if total <= limit:
            break
        with contextlib.suppress(OSError):  # another process may have removed it
            entry.path.unlink()
        total -= entry.size
        removed.append(entry)
    _remove_unfinished()
    return removed


def _remove_unfinished() -> None:
    """Remove files of processes that ended while they wrote them."""
    folder = directory()
    if folder is None or not folder.is_dir():
        return
    for path in folder.iterdir():
        if _UNFINISHED.fullmatch(path.name):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _ABANDONED:
                    path.unlink()


def _entries(folder: Path) -> list[Entry]:
    found = []
    for path in folder.iterdir():
        if _NAME.fullmatch(path.name):
            with contextlib.suppress(OSError):  # another process may have removed it
                facts = path.stat()
                found.append(Entry(path, facts.st_size, facts.st_mtime))
    return sorted(found, key=lambda entry: entry.used)


@cache
def _environment() -> bytes:
    """Return the facts that an artefact depends on besides its module and flags."""
    try:
        first, _, _ = Path("/proc/cpuinfo").read_text().partition("\n\n")
        processor = "\n".join(line for line in first.splitlines() if _CPU_FACTS.match(line))
    except OSError:
        processor = platform.processor()  # it may run `uname`
    system = f"{sys.platform} {platform.machine()} {processor} {chips.may_use_blocks()}"
    return f"{version('iree-base-compiler')} {system}".encode()
