"""MLIR bytecode: its sections, strings and dialects, and contents that are kept apart."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

Bytes = bytes | memoryview

MAGIC = b"ML\xefR"
STRINGS, DIALECTS, ENTRIES, OFFSETS, OPERATIONS, RESOURCES, PROPERTIES = 0, 1, 2, 3, 4, 5, 8
_ALIGNED = 0x80
_PADDING = b"\xcb"
_LARGEST_HEADER = 64
"""The most bytes that an attribute has before elements."""


def strings(data: bytes) -> bytes:
    """Return the strings of bytecode: the names of dialects, operations, attributes. What cannot be
    told from its sections is returned whole.
    """
    if data.startswith(MAGIC):
        with suppress(IndexError, ValueError):  # it is cut short, which the parser tells
            return next((bytes(s.data) for s in sections_of(data) if s.kind == STRINGS), data)
    return data


def has_resources(data: bytes) -> bool:
    """True for bytecode that keeps contents of constants apart from the operations."""
    if not data.startswith(MAGIC):
        return False
    try:
        return any(section.kind == RESOURCES for section in sections_of(data))
    except (IndexError, ValueError):  # it is cut short, which the parser tells
        return False


def resource(data: bytes) -> Bytes | None:
    """Return the contents that are kept apart in a module with at most one constant."""
    for section in sections_of(data):
        if section.kind == RESOURCES and section.data:
            reader = Reader(section.data)
            reader.number()  # the alignment
            size = reader.number()
            return section.data[len(section.data) - size :]
    return None


def elements(data: bytes, size: int) -> Bytes | None:
    """Return the elements of a constant of so many bytes, in a module with one; None where it is
    written otherwise, as one that repeats an element is.
    """
    by_kind = {section.kind: section.data for section in sections_of(data)}
    place = 0
    for length in _lengths(by_kind[OFFSETS]):
        place += length
        if size <= length < size + _LARGEST_HEADER:
            return by_kind[ENTRIES][place - size : place]
    return None


def _lengths(offsets: Bytes) -> Iterator[int]:
    """The lengths of the attributes and types of a module, in their order."""
    table = Reader(offsets)
    for count in (table.number(), table.number()):
        done = 0
        while done < count:
            table.number()  # the dialect
            size = table.number()
            for _ in range(size):
                yield table.number() // 2
            done += size


def sections_of(data: bytes) -> Iterator[Section]:
    """The sections, in their order."""
    yield from Reader(memoryview(data), header_of(data)).sections()


def header_of(data: bytes) -> int:
    """Return the length of what precedes the sections: a magic number, version, producer's name."""
    reader = Reader(data, len(MAGIC))
    reader.number()
    end = data.find(b"\0", reader.place)
    if end < 0:
        raise IndexError("the producer's name does not end")
    return end + 1


def names_of(data: Bytes) -> list[str]:
    """Return the strings of a module: their lengths, the last one's first, then their bytes."""
    reader = Reader(data)
    lengths = [reader.number() for _ in range(reader.number())][::-1]
    found = []
    for length in lengths:
        found.append(bytes(data[reader.place : reader.place + length - 1]).decode())
        reader.place += length
    return found


def dialects_of(data: Bytes, strings: list[str]) -> list[str]:
    """Return the names of the dialects; those that have a version are followed by it."""
    reader = Reader(data)
    found = []
    for _ in range(reader.number()):
        name, has_version = divmod(reader.number(), 2)
        found.append(strings[name])
        if has_version:
            reader.section()
    return found


@dataclass(frozen=True)
class Section:
    """A part of bytecode, by its kind."""

    kind: int
    alignment: int
    """The section's alignment in the file; 0 for none."""
    data: Bytes

    def header(self, length: int, place: int) -> bytes:
        """Return the header of a section with contents of the given length that begins at
        `place`.
        """
        if not self.alignment:
            return bytes([self.kind]) + encoded_number(length)
        start = (
            bytes([self.kind | _ALIGNED]) + encoded_number(length) + encoded_number(self.alignment)
        )
        return start + _PADDING * (-(place + len(start)) % self.alignment)


@dataclass
class Reader:
    """A place in bytecode, from which it is read on."""

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

    def signed(self) -> int:
        value = self.number()
        return value >> 1 ^ -(value & 1)

    def byte(self) -> int:
        self.place += 1
        return self.data[self.place - 1]

    def bytes_(self, length: int) -> Bytes:
        start, self.place = self.place, self.place + length
        return self.data[start : self.place]

    def section(self) -> Section:
        kind = self.data[self.place]
        self.place += 1
        length = self.number()
        alignment = self.number() if kind & _ALIGNED else 0
        if alignment:
            self.place += -self.place % alignment
        start, self.place = self.place, self.place + length
        if self.place > len(self.data):
            raise IndexError(self.place)
        return Section(kind & ~_ALIGNED, alignment, self.data[start : self.place])

    def sections(self) -> Iterator[Section]:
        while self.place < len(self.data):
            yield self.section()


def encoded_number(value: int) -> bytes:
    """Return a number as `Reader.number` reads it."""
    for length in range(1, 9):
        if value < 1 << (7 * length):
            return ((value << length) | (1 << (length - 1))).to_bytes(length, "little")
    return b"\0" + value.to_bytes(8, "little")
