"""A linker of shared libraries for x86-64 on Linux, of objects with kernels.

IREE starts a linker for each program, which takes longer than it links. The objects have few kinds
of things in them, and this knows those alone: it refuses any other, for a linker that knows all.

A library has what its query needs, and nothing else of the objects. Functions that no object has
are found where it is loaded.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from irax_compiler.iree.objects import QUERY, Object, Section, Symbol

PAGE = 1 << 12
ALIGNMENT = 64
"""The bytes that the parts of a library are aligned to in its file."""

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_WORDS = struct.Struct("<QQ")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SECTIONS = (".dynsym", ".dynstr")

_LOADED, _DYNAMIC, _STACK = 1, 2, 0x6474E551
_EXECUTED, _WRITTEN, _READ = 1, 2, 4
_GLOBAL_FUNCTION = 0x12
_NEEDED, _HASH, _NAMES, _SYMBOLS, _RELOCATIONS, _LIBRARY_NAME = 1, 4, 5, 6, 7, 14
_RELOCATIONS_SIZE, _RELOCATION_SIZE, _NAMES_SIZE, _SYMBOL_SIZE = 8, 9, 10, 11

_R_64, _R_PC32, _R_PLT32, _R_GOT, _R_GOTX, _R_REX_GOTX = 1, 2, 4, 9, 41, 42
_R_ADDRESS, _R_RELATIVE = 6, 8
"""Relocations of a library: by a symbol that is found where it is loaded, and by where it is."""

_STUB = b"\xff\x25\0\0\0\0\x66\x90"
"""A jump to a function whose address is in the table of addresses. At 2, the distance of that."""


def name_of(library: Path) -> str:
    """Return the name that a shared library is loaded by.

    Raises:
        Refused: it says none, or it is no such library.
    """
    try:
        with library.open("rb") as file:
            return _name_of(file)
    except (OSError, struct.error, ValueError, KeyError) as error:
        raise Refused(f"{library}: {error}") from None


def _name_of(file: BinaryIO) -> str:
    def read(offset: int, size: int) -> bytes:
        file.seek(offset)
        return file.read(size)

    fields = _HEADER.unpack(read(0, _HEADER.size))
    start, size, count = fields[5], fields[9], fields[10]
    table = read(start, size * count)
    segments = [_SEGMENT.unpack_from(table, i * size) for i in range(count)]
    (dynamic,) = (x for x in segments if x[0] == _DYNAMIC)
    entries = dict(_WORDS.iter_unpack(read(dynamic[2], dynamic[5])))
    if _LIBRARY_NAME not in entries:
        raise Refused("a library without a name")
    at = entries[_NAMES] + entries[_LIBRARY_NAME]
    (holder,) = (x for x in segments if x[0] == _LOADED and x[3] <= at < x[3] + x[5])
    return read(at - holder[3] + holder[2], 256).split(b"\0")[0].decode()


class Refused(ValueError):
    """An object has something in it that this linker does not know."""


@dataclass
class _Part:
    """The sections of a library with equal rights."""

    rights: int
    data: bytearray = field(default_factory=bytearray)
    address: int = 0

    def add(self, data: bytes, alignment: int) -> int:
        """Append data; return where it begins."""
        self.data += bytes(-len(self.data) % alignment)
        self.data += data
        return len(self.data) - len(data)


@dataclass(frozen=True)
class _Place:
    """A place in a part."""

    part: _Part
    offset: int

    @property
    def address(self) -> int:
        return self.part.address + self.offset


def link(
    objects: Sequence[Object], libraries: Mapping[str, str] = {}, addresses: Mapping[str, int] = {}
) -> bytes:
    """Return the library of objects.

    Of symbols of one name, the first is taken: two processes may have compiled the same kernel.

    Args:
        objects: the objects, of which the first has the query.
        libraries: others, by how the names of their functions begin. Those that the library calls
            are loaded before it.
        addresses: those of symbols that are known.

    Raises:
        Refused: this linker does not know something that an object has.
    """
    return _Link(objects, addresses).library(libraries)


class _Link:
    def __init__(self, objects: Sequence[Object], addresses: Mapping[str, int]) -> None:
        self.addresses = addresses
        self.read, self.code = _Part(_READ), _Part(_READ | _EXECUTED)
        self.written = _Part(_READ | _WRITTEN)
        self.shared: dict[str, tuple[Object, Symbol]] = {}
        for one in objects:
            for symbol in one.symbols:
                if symbol.is_shared and symbol.section:
                    self.shared.setdefault(symbol.name, (one, symbol))
        self.places: dict[tuple[int, int], _Place] = {}
        """The places of sections, by the object and their number."""
        self.sections: list[tuple[Object, Section, _Place]] = []
        self.missing: dict[str, int] = {}
        """The symbols that no object has, and their numbers in the library."""
        self.table: dict[object, _Place] = {}
        """The places of the addresses of symbols in the table of addresses."""
        self.stubs: dict[str, _Place] = {}
        self.relocations: list[tuple[_Place, int, int, _Place | int]] = []
        if QUERY not in self.shared:
            raise Refused("no query of a library of kernels")
        self._collect(*self.shared[QUERY])

    def _collect(self, one: Object, symbol: Symbol) -> None:
        """Take the section of a symbol, and all that it needs."""
        left = [(one, symbol)]
        while left:
            one, symbol = left.pop()
            if (id(one), symbol.section) in self.places:
                continue
            section = one.section(symbol.section)
            if section.problem:
                raise Refused(section.problem)
            part = self.written if section.is_written else self.read
            part = self.code if section.is_code else part
            if section.is_code and section.is_written:
                raise Refused("code that is written")
            place = _Place(part, part.add(section.data, section.alignment))
            self.places[id(one), symbol.section] = place
            self.sections.append((one, section, place))
            for relocation in section.relocations:
                found = self._found(one, one.symbols[relocation.symbol])
                if found is not None:
                    left.append(found)

    def _found(self, one: Object, symbol: Symbol) -> tuple[Object, Symbol] | None:
        """Return a symbol where it is defined; None if no object has it."""
        if symbol.problem:
            raise Refused(symbol.problem)
        return (one, symbol) if symbol.section else self.shared.get(symbol.name)

    def _place(self, one: Object, symbol: Symbol) -> _Place | None:
        """Return where a symbol is in the library; None if no object has it."""
        found = self._found(one, symbol)
        if found is None:
            return None
        section = self.places[id(found[0]), found[1].section]
        return _Place(section.part, section.offset + found[1].value)

    def _in_table(self, name: str, place: _Place | None) -> _Place:
        """Return where the address of a symbol is in the table of addresses."""
        key = name if place is None else (id(place.part), place.offset)
        if key not in self.table:
            known = self.addresses.get(name) if place is None else None
            at = _Place(self.written, self.written.add((known or 0).to_bytes(8, "little"), 8))
            self.table[key] = at
            if place is not None:
                self.relocations.append((at, _R_RELATIVE, 0, place))
            elif known is None:
                self.relocations.append((at, _R_ADDRESS, self._number(name), 0))
        return self.table[key]

    def _number(self, name: str) -> int:
        return self.missing.setdefault(name, len(self.missing) + 2)

    def _stub(self, name: str) -> _Place:
        """Return where a jump to a function is that no object has."""
        if name not in self.stubs:
            self._in_table(name, None)
            self.stubs[name] = _Place(self.code, self.code.add(_STUB, 8))
        return self.stubs[name]

    def library(self, libraries: Mapping[str, str]) -> bytes:
        changes = list(self._changes())
        called = (
            name for x, name in libraries.items() if any(y.startswith(x) for y in self.missing)
        )
        head = self._head([*called])
        for place, goal, addend in changes:
            distance = goal.address + addend - place.address
            if not -(1 << 31) <= distance < 1 << 31:
                raise Refused("a distance of more than 2 GiB")
            place.part.data[place.offset : place.offset + 4] = struct.pack("<i", distance)
        parts = (self.read, *self._parts)
        return head + b"".join(x.data + bytes(-len(x.data) % ALIGNMENT) for x in parts)

    def _changes(self) -> Iterator[tuple[_Place, _Place, int]]:
        """Yield the places that get the distance of another place, and what is added to it."""
        for one, section, begin in self.sections:
            for x in section.relocations:
                symbol = one.symbols[x.symbol]
                at, place = _Place(begin.part, begin.offset + x.offset), self._place(one, symbol)
                if x.kind == _R_64 and begin.part is self.written:
                    if place is None:
                        if symbol.name in self.addresses:
                            raise Refused("an address in data")
                        number = self._number(symbol.name)
                        self.relocations.append((at, _R_64, number, x.addend))
                    else:
                        goal = _Place(place.part, place.offset + x.addend)
                        self.relocations.append((at, _R_RELATIVE, 0, goal))
                elif x.kind in (_R_PC32, _R_PLT32):
                    if place is None and x.kind == _R_PC32:
                        raise Refused("data of another library")
                    yield at, place or self._stub(symbol.name), x.addend
                elif x.kind in (_R_GOT, _R_GOTX, _R_REX_GOTX):
                    yield at, self._in_table(symbol.name, place), x.addend
                else:
                    raise Refused(f"a relocation of kind {x.kind}")
        for name, stub in self.stubs.items():
            yield _Place(stub.part, stub.offset + 2), self.table[name], -4

    @property
    def _parts(self) -> tuple[_Part, ...]:
        """The parts in pages of their own; what is read alone is behind the head."""
        return self.code, self.written

    def _head(self, libraries: Sequence[str]) -> bytes:
        """Return the library up to its parts; give these their addresses."""
        names = b"\0"
        name_of: dict[str, int] = {}
        for name in (QUERY, *self.missing, *libraries, *_SECTIONS):
            name_of[name] = len(names)
            names += name.encode() + b"\0"
        count = len(self.missing) + 2
        symbols_at = _HEADER.size + 5 * _SEGMENT.size
        hash_at = symbols_at + count * _SYMBOL.size
        relocations_at = hash_at + (-hash_at % 8) + 4 * (3 + count) + (-4 * (3 + count) % 8)
        names_at = relocations_at + len(self.relocations) * _RELOCATION.size
        sections_at = names_at + len(names) + (-(names_at + len(names)) % 8)
        read_at = sections_at + 3 * _SECTION.size
        read_at += -read_at % ALIGNMENT
        self.read.address = read_at
        entries = len(libraries) + 9
        dynamic_at = self.written.add(bytes(entries * _WORDS.size), 8)
        begins = [read_at + len(self.read.data) + (-len(self.read.data) % ALIGNMENT)]
        begins.append(begins[0] + len(self.code.data) + (-len(self.code.data) % ALIGNMENT))
        # A page of memory has one part, and one of the file may have several.
        for i, (part, begin) in enumerate(zip(self._parts, begins, strict=True), 1):
            part.address = begin + i * PAGE

        one, query = self.shared[QUERY]
        place = self._place(one, query)
        assert place is not None
        symbols = [_SYMBOL.pack(0, 0, 0, 0, 0, 0)]
        symbols.append(_SYMBOL.pack(name_of[QUERY], _GLOBAL_FUNCTION, 0, 1, place.address, 0))
        symbols += [_SYMBOL.pack(name_of[x], _GLOBAL_FUNCTION, 0, 0, 0, 0) for x in self.missing]
        # All symbols are in one list.
        chain = [1, count, 1, 0, *range(2, count), 0]
        hashes = struct.pack(f"<{len(chain)}I", *chain)
        relocations = b"".join(
            _RELOCATION.pack(at.address, number << 32 | kind, _value(value))
            for at, kind, number, value in self.relocations
        )
        dynamic = [(_NEEDED, name_of[x]) for x in libraries]
        dynamic += [(_HASH, hash_at), (_NAMES, names_at), (_SYMBOLS, symbols_at)]
        dynamic += [(_NAMES_SIZE, len(names)), (_SYMBOL_SIZE, _SYMBOL.size)]
        dynamic += [(_RELOCATIONS, relocations_at), (_RELOCATION_SIZE, _RELOCATION.size)]
        dynamic += [(_RELOCATIONS_SIZE, len(relocations)), (0, 0)]
        data = b"".join(_WORDS.pack(*x) for x in dynamic)
        self.written.data[dynamic_at : dynamic_at + len(data)] = data

        size = read_at + len(self.read.data)
        segments = [_SEGMENT.pack(_LOADED, _READ, 0, 0, 0, size, size, PAGE)]
        for part, begin in zip(self._parts, begins, strict=True):
            length, at = len(part.data), part.address
            segments.append(
                _SEGMENT.pack(_LOADED, part.rights, begin, at, at, length, length, PAGE)
            )
        begin, at = begins[1] + dynamic_at, self.written.address + dynamic_at
        segments.append(
            _SEGMENT.pack(_DYNAMIC, _READ | _WRITTEN, begin, at, at, len(data), len(data), 8)
        )
        segments.append(_SEGMENT.pack(_STACK, _READ | _WRITTEN, 0, 0, 0, 0, 0, 16))
        magic = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
        header = _HEADER.pack(
            *(magic, 3, 62, 1, 0, _HEADER.size, sections_at, 0),
            *(_HEADER.size, _SEGMENT.size, 5, _SECTION.size, 3, 2),
        )
        # The runtime and tools look for symbols by sections, the system by the segments.
        table, text = (name_of[x] for x in _SECTIONS)
        length, at = count * _SYMBOL.size, symbols_at
        sections = bytes(_SECTION.size)
        sections += _SECTION.pack(table, 11, 2, at, at, length, 2, 1, 8, _SYMBOL.size)
        length, at = len(names), names_at
        sections += _SECTION.pack(text, 3, 2, at, at, length, 0, 0, 1, 0)
        head = header + b"".join(segments) + b"".join(symbols)
        head = head.ljust(hash_at, b"\0") + hashes
        head = head.ljust(relocations_at, b"\0") + relocations + names
        head = head.ljust(sections_at, b"\0") + sections
        return head.ljust(read_at, b"\0")


def _value(value: _Place | int) -> int:
    return value if isinstance(value, int) else value.address
