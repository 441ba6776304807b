"""The symbols that shared libraries within a compiled program expect to find elsewhere.

Source of the format: System V ABI, "ELF-64 Object File Format".
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator

_MAGIC = b"\x7fELF\x02\x01"  # of 64 bits, little-endian
_DYNAMIC_SYMBOLS = 11  # a section's type
_GLOBAL = 1  # how a symbol is bound: it must be found, as a weak one need not


def undefined_symbols(artefact: bytes) -> set[str]:
    """Return the symbols that the ELF libraries in an artefact use and do not define. Of what is
    damaged nothing is said: the loader refuses it.
    """
    found: set[str] = set()
    start = artefact.find(_MAGIC)
    while start >= 0:
        with contextlib.suppress(struct.error, ValueError, IndexError):
            found.update(_undefined(memoryview(artefact)[start:]))
        start = artefact.find(_MAGIC, start + 1)
    return found


def _undefined(image: memoryview) -> Iterator[str]:
    (sections_at,) = struct.unpack_from("<Q", image, 0x28)
    size, count = struct.unpack_from("<HH", image, 0x3A)
    sections = [
        struct.unpack_from("<IIQQQQII", image, sections_at + i * size) for i in range(count)
    ]
    for _, type_, _, _, offset, length, link, _ in sections:
        if type_ != _DYNAMIC_SYMBOLS:
            continue
        names = bytes(image[sections[link][4] :][: sections[link][5]])
        for name, info, _, section, _, _ in struct.iter_unpack(
            "<IBBHQQ", image[offset : offset + length]
        ):
            if section == 0 and info >> 4 == _GLOBAL:
                yield names[name : names.index(b"\0", name)].decode()
