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
"""The most bytes of the cache, above which the least recently used artefacts are removed."""

_NAME = re.compile(r"[0-9a-f]{64}")
"""The form of the names that `key` returns: other files in the folder do not belong to the
cache."""

_CPU_FACTS = re.compile(r"flags|Features|vendor_id|model|cpu family|CPU (implementer|part|variant)")
"""The lines of /proc/cpuinfo, on x86 and ARM, that identify the kind of processor."""


def key(module: bytes, flags: Sequence[str]) -> str:
    """Return the name of a module's artefact, which depends on compiler, flags and processor."""
    digest = hashlib.sha256(_environment())
    for part in (*(f.encode() for f in flags), module):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def load(name: str) -> bytes | None:
    """Return the artefact of this name, or None."""
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
    """Store an artefact atomically."""
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
    """The size in bytes."""
    used: float
    """The time of its last use, in seconds since the epoch."""


def entries() -> list[Entry]:
    """Return all artefacts, the least recently used first."""
    folder = directory()
    return [] if folder is None or not folder.is_dir() else _entries(folder)


def clear() -> list[Entry]:
    """Remove the artefacts, and no other files; return those removed."""
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
