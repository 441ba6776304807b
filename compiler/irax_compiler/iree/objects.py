"""Object files in ELF of 64 bits, as LLVM writes them for this processor."""

from __future__ import annotations

import struct
from collections.abc import Iterator

_QUERY = b"iree_hal_executable_library_query"
"""The function that IREE's runtime looks for in a library of kernels."""
_SYMBOLS, _HIDDEN = 2, 2
"""The type of sections of symbols, and the visibility of symbols that other objects of a library
can name, but nobody outside of it."""
_HEADER = struct.Struct("<16x8x8x8xQ4x6xHHH")
_SECTION = struct.Struct("<4xI8x8xQQI4x8xQ")
_SYMBOL = 24
"""The bytes of a symbol: its name, a byte of what it is, one of its visibility, ..."""


def part(data: bytes, name: str) -> bytes:
    """Return the object of a library of kernels as a part of another library: its own query has
    another name, made of `name`, and is hidden.

    Raises:
        ValueError: it is not such an object.
    """
    changed = bytearray(data)
    own = f"irax_{name}".encode()[: len(_QUERY)].ljust(len(_QUERY), b"_")
    for start, at in _symbols(data):
        if data.startswith(_QUERY + b"\0", start):
            changed[start : start + len(own)] = own
            changed[at + 5] = _HIDDEN
            return bytes(changed)
    raise ValueError("an object without the query of a library of kernels")


def _symbols(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the place of the name of each symbol, and that of the symbol."""
    if data[:6] != b"\x7fELF\x02\x01":
        return
    start, size, count, _ = _HEADER.unpack_from(data)
    sections = [_SECTION.unpack_from(data, start + i * size) for i in range(count)]
    for kind, offset, length, link, _ in sections:
        if kind == _SYMBOLS:
            names = sections[link][1]
            for at in range(offset, offset + length, _SYMBOL):
                yield names + int.from_bytes(data[at : at + 4], "little"), at
