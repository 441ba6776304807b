"""Zip archives of a program's files. Nothing is unpacked before it is known what that would take: a
file of a few bytes can claim to hold terabytes.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection

MAGIC = b"PK"
"""The first bytes of archives."""
LARGEST = 1 << 30
"""Bytes that the files of an archive may take beyond what the archive itself does."""

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Other ways to compress ask for memory that is not said beforehand."""


def read(data: bytes, name: str) -> dict[str, bytes]:
    """The files of an archive. Raises ValueError where it is none, is damaged, or too large."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check(archive, len(data))
            return {entry.filename: archive.read(entry) for entry in archive.infolist()}
    except Exception as error:  # zipfile raises what it meets: BadZipFile, zlib's, struct's, ...
        raise ValueError(
            f"{name}: not a compiled program, or damaged: {error}; copy it again, or save it anew"
        ) from None


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


def write(contents: dict[str, bytes], compressed: Collection[str] = ()) -> bytes:
    """The archive of these files, of which some are compressed, unless `read` would refuse that.
    The same files make the same bytes.
    """
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        is_small = sum(len(contents[name]) for name in compressed) <= LARGEST
        for name, bytes_ in contents.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            if is_small and name in compressed:
                entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, bytes_)
    return data.getvalue()
