"""The memory that arrays hold, as a profile for pprof: its format is a protocol buffer."""

from __future__ import annotations

import gzip
import os
from collections import Counter
from collections.abc import Iterable
from typing import Any

from irax.execution.diagnostics.environment import live_arrays


def device_memory_profile(backend: str | None = None) -> bytes:
    """Return a profile of the arrays that Python holds, by type and device: a file for pprof.

    Args:
        backend: only arrays on the devices of this platform.

    >>> import gzip
    >>> b"allocations" in gzip.decompress(irax.profiler.device_memory_profile())
    True
    """
    count: Counter[tuple[str, str]] = Counter()
    size: Counter[tuple[str, str]] = Counter()
    for x in live_arrays(backend):
        kind = f"{x.dtype.name}[{','.join(map(str, x.shape))}]", str(x.device)
        count[kind] += 1
        size[kind] += x.nbytes
    return gzip.compress(_profile([(*kind, count[kind], size[kind]) for kind in sorted(count)]))


def save_device_memory_profile(
    filename: str | os.PathLike[str], backend: str | None = None
) -> None:
    """Write what `device_memory_profile` returns to a file, which `pprof -http : FILE` shows.

    Args:
        filename: the name of the file.
        backend: the platform whose arrays are listed; all by default.

    Raises:
        TypeError: `filename` is not a path.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "memory.prof")
    >>> irax.profiler.save_device_memory_profile(path)
    >>> os.path.exists(path)
    True
    """
    content = device_memory_profile(backend)
    with open(filename, "wb") as file:
        file.write(content)


def _profile(samples: Iterable[tuple[str, str, int, int]]) -> bytes:
    """Return a message Profile of samples: a type, a device, a number of arrays, their bytes."""
    strings = {"": 0}

    def text(x: str) -> int:
        return strings.setdefault(x, len(strings))

    types = [("allocations", "count"), ("space", "bytes")]
    found = b"".join(_field(1, _field(1, text(a)) + _field(2, text(b))) for a, b in types)
    for number, (kind, device, count, size) in enumerate(samples, 1):
        label = _field(1, text("device")) + _field(2, text(device))
        values = _field(2, count) + _field(2, size)
        found += _field(2, _field(1, number) + values + _field(3, label))
        found += _field(4, _field(1, number) + _field(4, _field(1, number)))
        found += _field(5, _field(1, number) + _field(2, text(kind)))
    return found + b"".join(_field(6, x.encode()) for x in strings)


def _field(number: int, value: Any) -> bytes:
    """Return a field of a protocol buffer: an integer, or bytes."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    """Return a number in groups of seven bits, the lowest first."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
