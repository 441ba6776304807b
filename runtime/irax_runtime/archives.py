"""Zip archives of a program's files. Nothing is unpacked before it is known what that would take: a
file of a few bytes can claim to hold terabytes.

Weights are stored as they are, aligned, so that a file that is mapped has them in its memory.
"""

from __future__ import annotations

import io
import mmap
import os
import struct
import zipfile
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import IO

Bytes = bytes | memoryview

MAGIC = b"PK"
"""The first bytes of archives."""
LARGEST = 1 << 30
"""Bytes that the files of an archive may take beyond what the archive itself does."""
WEIGHTS = "weights/"
"""The folder of weights."""

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Other ways to compress ask for memory that is not said beforehand."""
_MAPPED = 1 << 20
"""The size of a file from which it is mapped."""
_ALIGNMENT = 64
_PADDING = 0xD935
"""The number of an extra field that other tools write to align the files of an archive."""
_LOCAL_HEADER = 30
"""The bytes of a file's header, without its name and extra fields."""


def read(data: Bytes, name: str) -> dict[str, Bytes]:
    """The files of an archive; weights are views of it. Raises ValueError where it is none, is
    damaged, or too large.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _contents(archive, memoryview(data))
    except Exception as error:  # zipfile raises what it meets: BadZipFile, zlib's, struct's, ...
        raise _damaged(name, error) from None


def read_file(path: str | os.PathLike[str]) -> dict[str, Bytes] | None:
    """The files of the archive in a file, of which weights are views of mapped memory; None where
    it has another beginning.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is damaged, or too large.
    """
    with open(path, "rb") as file:
        is_mapped = Path(path).is_file() and os.fstat(file.fileno()).st_size >= _MAPPED
        if not is_mapped:
            data = file.read()
            return read(data, str(path)) if data.startswith(MAGIC) else None
        if file.read(len(MAGIC)) != MAGIC:
            return None
        try:
            with zipfile.ZipFile(file) as archive:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
                return _contents(archive, memoryview(mapped))
        except Exception as error:  # as above
            raise _damaged(str(path), error) from None


def _damaged(name: str, error: Exception) -> ValueError:
    return ValueError(
        f"{name}: not a compiled program, or damaged: {error}; copy it again, or save it anew"
    )


def _contents(archive: zipfile.ZipFile, data: memoryview) -> dict[str, Bytes]:
    check(archive, len(data))
    return {
        entry.filename: _view(entry, data) if _is_weight(entry) else archive.read(entry)
        for entry in archive.infolist()
    }


def _is_weight(entry: zipfile.ZipInfo) -> bool:
    return entry.filename.startswith(WEIGHTS) and entry.compress_type == zipfile.ZIP_STORED


def _view(entry: zipfile.ZipInfo, data: memoryview) -> memoryview:
    """The bytes of a file that is not compressed. Raises ValueError where they are damaged."""
    header = data[entry.header_offset :][:_LOCAL_HEADER]
    start = entry.header_offset + _LOCAL_HEADER + sum(struct.unpack("<HH", header[26:]))
    found = data[start : start + entry.file_size]
    if len(found) != entry.file_size or zlib.crc32(found) != entry.CRC:
        raise ValueError(f"{entry.filename!r} has another checksum than its bytes")
    return found


def check(archive: zipfile.ZipFile, size: int) -> None:
    """Raises ValueError where the files of an archive of so many bytes would take far more, or are
    compressed in an unusual way. zipfile reads no more of a file than is claimed here.
    """
    claimed = sum(entry.file_size for entry in archive.infolist())
    if claimed > size + LARGEST:
        raise ValueError(
            f"its {size} bytes claim to hold {claimed}; expected at most {LARGEST >> 30} GiB more "
            "than it has itself: if it is to be trusted, write it again without compression"
        )
    for entry in archive.infolist():
        if entry.compress_type not in _METHODS:
            raise ValueError(f"{entry.filename!r} is compressed in a way that irax does not read")


def write(contents: Mapping[str, Bytes], compressed: Collection[str] = ()) -> bytes:
    """The archive of these files, of which some are compressed, unless `read` would refuse that.
    The same files make the same bytes.
    """
    data = io.BytesIO()
    write_to(data, contents, compressed)
    return data.getvalue()


def write_to(
    file: IO[bytes], contents: Mapping[str, Bytes], compressed: Collection[str] = ()
) -> None:
    """Write an archive of files, as `write` does, to the beginning of an open one."""
    with zipfile.ZipFile(file, "w") as archive:
        is_small = sum(len(contents[name]) for name in compressed) <= LARGEST
        for name, bytes_ in contents.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            if is_small and name in compressed:
                entry.compress_type = zipfile.ZIP_DEFLATED
            if name.startswith(WEIGHTS):
                padding = -(file.tell() + _LOCAL_HEADER + len(name.encode()) + 4) % _ALIGNMENT
                entry.extra = struct.pack("<HH", _PADDING, padding) + bytes(padding)
            archive.writestr(entry, bytes_)
