"""MLIR bytecode: removal of attributes of unknown dialects, and contents kept apart."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

Bytes = bytes | memoryview

MAGIC = b"ML\xefR"
_STRINGS, _DIALECTS, _ENTRIES, _OFFSETS = 0, 1, 2, 3
_RESOURCES = 5
_ALIGNED = 0x80
_PADDING = b"\xcb"
_REPLACEMENT = b"unit\0"
_LARGEST_HEADER = 64
"""The most bytes that an attribute has before elements."""


def without_attributes(data: bytes, dialect: str) -> bytes:
    """Replace each attribute of a dialect by `unit`; bytecode without any is returned unchanged.

    Raises ValueError where the data ends too soon.
    """
    try:
        return _without_attributes(data, dialect)
    except (IndexError, UnicodeDecodeError):
        raise ValueError("not a valid MLIR module: bytecode that is cut short") from None


def strings(data: bytes) -> bytes:
    """Return the strings of bytecode: the names of dialects, operations, attributes. What cannot be
    told from its sections is returned whole.
    """
    if data.startswith(MAGIC):
        with suppress(IndexError, ValueError):  # it is cut short, which the parser tells
            return next((bytes(s.data) for s in _sections(data) if s.kind == _STRINGS), data)
    return data


def has_resources(data: bytes) -> bool:
    """True for bytecode that keeps contents of constants apart from the operations."""
    if not data.startswith(MAGIC):
        return False
    try:
        return any(section.kind == _RESOURCES for section in _sections(data))
    except (IndexError, ValueError):  # it is cut short, which the parser tells
        return False


def resource(data: bytes) -> Bytes | None:
    """Return the contents that are kept apart in a module with at most one constant."""
    for section in _sections(data):
        if section.kind == _RESOURCES and section.data:
            reader = _Reader(section.data)
            reader.number()  # the alignment
            size = reader.number()
            return section.data[len(section.data) - size :]
    return None


def elements(data: bytes, size: int) -> Bytes | None:
    """Return the elements of a constant of so many bytes, in a module with one; None where it is
    written otherwise, as one that repeats an element is.
    """
    by_kind = {section.kind: section.data for section in _sections(data)}
    place = 0
    for length in _lengths(by_kind[_OFFSETS]):
        place += length
        if size <= length < size + _LARGEST_HEADER:
            return by_kind[_ENTRIES][place - size : place]
    return None


def _lengths(offsets: Bytes) -> Iterator[int]:
    """The lengths of the attributes and types of a module, in their order."""
    table = _Reader(offsets)
    for count in (table.number(), table.number()):
        done = 0
        while done < count:
            table.number()  # the dialect
            size = table.number()
            for _ in range(size):
                yield table.number() // 2
            done += size


def _sections(data: bytes) -> Iterator[_Section]:
    yield from _Reader(memoryview(data), _header_of(data)).sections()


def _header_of(data: bytes) -> int:
    """The length of what precedes the sections: a magic number, version, producer's name."""
    reader = _Reader(data, len(MAGIC))
    reader.number()
    return data.index(b"\0", reader.place) + 1


def _without_attributes(data: bytes, dialect: str) -> bytes:
    sections = [*_sections(data)]
    by_kind = {section.kind: section.data for section in sections}
    if not {_STRINGS, _DIALECTS, _ENTRIES, _OFFSETS} <= by_kind.keys():
        return data
    names = _dialects(by_kind[_DIALECTS], _strings(by_kind[_STRINGS]))
    if dialect not in names:
        return data
    entries, offsets = _replaced(by_kind[_ENTRIES], by_kind[_OFFSETS], names.index(dialect))
    written = data[: _header_of(data)]
    for section in sections:
        changed = {_ENTRIES: entries, _OFFSETS: offsets}.get(section.kind, section.data)
        written += section.header(len(changed), len(written)) + changed
    return written


def _replaced(entries: Bytes, offsets: Bytes, dialect: int) -> tuple[bytes, bytes]:
    """Remove a dialect's attributes from the sections of attributes and types and of their
    offsets.
    """
    table = _Reader(offsets)
    counts = table.number(), table.number()
    new_table = [_number(n) for n in counts]
    new_entries = b""
    place = 0
    for is_attribute, count in zip((True, False), counts, strict=True):
        done = 0
        while done < count:
            owner, size = table.number(), table.number()
            new_table += [_number(owner), _number(size)]
            for _ in range(size):
                length, has_own_encoding = divmod(table.number(), 2)
                entry = entries[place : place + length]
                place += length
                if is_attribute and owner == dialect:
                    entry, has_own_encoding = _REPLACEMENT, 0
                new_table.append(_number(len(entry) * 2 + has_own_encoding))
                new_entries += entry
            done += size
    return new_entries, b"".join(new_table)


def _strings(data: Bytes) -> list[str]:
    """The strings of a module: their lengths, the last one's first, then their bytes."""
    reader = _Reader(data)
    lengths = [reader.number() for _ in range(reader.number())][::-1]
    found = []
    for length in lengths:
        found.append(bytes(data[reader.place : reader.place + length - 1]).decode())
        reader.place += length
    return found


def _dialects(data: Bytes, strings: list[str]) -> list[str]:
    """The names of the dialects; those that have a version are followed by it."""
    reader = _Reader(data)
    found = []
    for _ in range(reader.number()):
        name, has_version = divmod(reader.number(), 2)
        found.append(strings[name])
        if has_version:
            reader.section()
    return found


@dataclass(frozen=True)
class _Section:
    kind: int
    alignment: int
    """The section's alignment in the file; 0 for none."""
    data: Bytes

    def header(self, length: int, place: int) -> bytes:
        """Return the header of a section with contents of the given length that begins at
        `place`.
        """
        if not self.alignment:
            return bytes([self.kind]) + _number(length)
        start = bytes([self.kind | _ALIGNED]) + _number(length) + _number(self.alignment)
        return start + _PADDING * (-(place + len(start)) % self.alignment)


@dataclass
class _Reader:
    data: Bytes
    place: int = 0

    def number(self) -> int:
        """Read a number; the zeros at the end of its first byte tell how many bytes follow."""
        first = self.data[self.place]
        length = 9 if first == 0 else (first & -first).bit_length()
        raw = self.data[self.place : self.place + length]
        if len(raw) < length:
            raise IndexError(self.place)
        self.place += length
        return int.from_bytes(raw[1:] if length == 9 else raw, "little") >> (length % 9)

    def section(self) -> _Section:
        kind = self.data[self.place]
        self.place += 1
        length = self.number()
        alignment = self.number() if kind & _ALIGNED else 0
        if alignment:
            self.place += -self.place % alignment
        start, self.place = self.place, self.place + length
        if self.place > len(self.data):
            raise IndexError(self.place)
        return _Section(kind & ~_ALIGNED, alignment, self.data[start : self.place])

    def sections(self) -> Iterator[_Section]:
        while self.place < len(self.data):
            yield self.section()


def _number(value: int) -> bytes:
    for length in range(1, 9):
        if value < 1 << (7 * length):
            return ((value << length) | (1 << (length - 1))).to_bytes(length, "little")
    return b"\0" + value.to_bytes(8, "little")
