"""The cache of compiled artefacts on disk."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

import platformdirs

SIZE_LIMIT = 2 << 30
"""Bytes; when it is exceeded, the artefacts that have not been used for longest are removed."""

_NAME = re.compile(r"[0-9a-f]{64}")
"""The form of the names that `key` returns: other files in the folder do not belong to the
cache."""

_CPU_FACTS = re.compile(r"flags|Features|vendor_id|model|cpu family|CPU (implementer|part|variant)")
"""The lines of /proc/cpuinfo, on x86 and ARM, that tell one kind of processor from another."""


def key(module: bytes, flags: Sequence[str]) -> str:
    """Names the artefact of a module: compiler, flags and processor are part of the name."""
    digest = hashlib.sha256(_environment())
    for part in (*(f.encode() for f in flags), module):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def load(name: str) -> bytes | None:
    """The artefact of this name, or None."""
    folder = directory()
    if folder is None:
        return None
    path = folder / name
    try:
        data = path.read_bytes()
    except OSError:
        return None
    with contextlib.suppress(OSError):  # a folder that can only be read serves as well
        os.utime(path)
    # A checksum: a truncated artefact could crash the runtime.
    checksum, artefact = data[:32], data[32:]
    return artefact if hashlib.sha256(artefact).digest() == checksum else None


def store(name: str, artefact: bytes) -> None:
    """Keeps an artefact; other processes see all of it or nothing."""
    folder = directory()
    if folder is None:
        return
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(hashlib.sha256(artefact).digest() + artefact)
        os.replace(file.name, folder / name)
        _evict(folder)


def directory() -> Path | None:
    """Return the folder of artefacts, or None if the cache is off."""
    setting = os.environ.get("IRAX_CACHE_DIR", "")
    if setting.lower() == "off":
        return None
    return (
        Path(setting).expanduser()
        if setting
        else platformdirs.user_cache_path("irax") / "artefacts"
    )


@dataclass(frozen=True)
class Entry:
    """An artefact on disk."""

    path: Path
    size: int
    """Its bytes."""
    used: float
    """When it was last used, in seconds since the epoch."""


def entries() -> list[Entry]:
    """The artefacts that are kept, those that have not been used for longest first."""
    folder = directory()
    return [] if folder is None or not folder.is_dir() else _entries(folder)


def clear() -> list[Entry]:
    """Removes the artefacts that are kept, and nothing else; those that were there."""
    found = entries()
    for entry in found:
        entry.path.unlink(missing_ok=True)
    return found


def _entries(folder: Path) -> list[Entry]:
    found = []
    for path in folder.iterdir():
        if _NAME.fullmatch(path.name):
            with contextlib.suppress(OSError):  # another process may have removed it
                facts = path.stat()
                found.append(Entry(path, facts.st_size, facts.st_mtime))
    return sorted(found, key=lambda entry: entry.used)


def _evict(folder: Path) -> None:
    files = _entries(folder)
    total = sum(entry.size for entry in files)
    for entry in files:
        if total <= SIZE_LIMIT:
            break
        with contextlib.suppress(OSError):
            entry.path.unlink()
        total -= entry.size


@cache
def _environment() -> bytes:
    """Return the facts that an artefact depends on besides its module and flags."""
    processor = platform.processor()
    with contextlib.suppress(OSError):
        first, _, _ = Path("/proc/cpuinfo").read_text().partition("\n\n")
        processor = "\n".join(line for line in first.splitlines() if _CPU_FACTS.match(line))
    system = f"{sys.platform} {platform.machine()} {processor}"
    return f"{metadata.version('iree-base-compiler')} {system}".encode()
