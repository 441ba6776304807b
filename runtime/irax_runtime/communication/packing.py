"""Several messages in one. No pickles go from process to process: reading one may run code."""

from __future__ import annotations

import struct
from collections.abc import Sequence

_LENGTH = struct.Struct("<Q")


def pack(messages: Sequence[bytes]) -> bytes:
    """Return messages as one."""
    return b"".join(_LENGTH.pack(len(message)) + message for message in messages)


def unpack(packed: bytes) -> list[bytes]:
    """Return the messages of which one was made.

    >>> unpack(pack([b"a", b"", b"bc"]))
    [b'a', b'', b'bc']
    """
    found, place = [], 0
    while place < len(packed):
        (length,) = _LENGTH.unpack_from(packed, place)
        place += _LENGTH.size
        found.append(packed[place : place + length])
        place += length
    return found
