"""A linker of object files to shared libraries, for what LLVM makes of kernels on x86-64.

The linker that comes with IREE is a process that loads all of IREE's compiler, which takes as long
as half of LLVM's work on a small program. A program is one object file, with one function that is
looked up in the library, and calls of functions that other libraries have.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from irax_compiler.once import once


class NotLinked(Exception):
    """An object file has something that this linker does not know."""


_PAGE = 4096
_ALLOCATED, _EXECUTABLE, _WRITABLE, _THREAD_LOCAL = 2, 4, 1, 1 << 10
_RELA, _NOBITS, _SYMTAB = 4, 8, 2
_CALLED_AT_START = frozenset({14, 15, 16})
_UNDEFINED, _RESERVED = 0, 0xFF00
_CODE, _CONSTANTS, _DATA = "code", "constants", "data"
_LOADED, _DYNAMIC, _STACK = 1, 2, 0x6474E551
_NEEDED, _HASH, _STRINGS, _SYMBOLS, _LEFT, _LEFT_SIZE, _LEFT_EACH = 1, 4, 5, 6, 7, 8, 9
_STRINGS_SIZE, _SYMBOLS_EACH, _SONAME, _BIND_NOW = 10, 11, 14, 24

# Relocations: the names of x86-64's ABI, without "R_X86_64_".
_64, _PC32, _PLT32, _GLOB_DAT, _RELATIVE = 1, 2, 4, 6, 8
_OF_GOT = frozenset({9, 41, 42})
"""GOTPCREL, GOTPCRELX and REX_GOTPCRELX."""

_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_JUMP = b"\xff\x25"
"""A jump to an address in memory, up to the distance to it."""


@dataclass
class _Section:
    kind: int
    flags: int
    content: bytes
    size: int
    link: int
    info: int
    alignment: int
    relocations: list[tuple[int, int, int, int]] = field(default_factory=list)
    """The place of each, its kind, the number of the symbol, and the number that is added."""
    address: int = 0

    @property
    def segment(self) -> str:
        if self.flags & _EXECUTABLE:
            return _CODE
        return _DATA if self.flags & _WRITABLE else _CONSTANTS


@dataclass(frozen=True)
class _Symbol:
    name: bytes
    section: int
    value: int
    is_weak: bool


def link(
    data: bytes,
    exported: str,
    defined: Mapping[bytes, int] = MappingProxyType({}),
    libraries: Mapping[bytes, bytes] = MappingProxyType({}),
) -> bytes:
    """Return the shared library of an object file, with one function to look up. What that does not
    reach is left out.

    Args:
        data: the object file.
        exported: the name of the function.
        defined: the addresses of functions.
        libraries: the libraries that have the functions whose names begin so. Others are found in
            those that the process has when it loads this one.

    Raises NotLinked where the file is not one of x86-64, or has what this linker does not know.
    """
    sections, symbols = _read(data)
    root = next((s for s in symbols if s.name == exported.encode() and s.section), None)
    if root is None:
        raise NotLinked(f"the object file does not define {exported}")
    reached = _reached(root, sections, symbols)
    placed = [sections[i] for i in sorted(reached)]
    return _Library(root, placed, sections, symbols, defined, libraries).write()


@once
def soname(library: Path) -> bytes:
    """Return the name by which others need a shared library.

    Raises NotLinked where it is not one of this processor.
    """
    with library.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if data[:6] != b"\x7fELF\x02\x01":
        raise NotLinked(f"{library} is not a shared library")
    start, count = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
    segments = [_SEGMENT.unpack_from(data, start + i * _SEGMENT.size) for i in range(count)]
    loaded = [(x[3], x[2], x[5]) for x in segments if x[0] == _LOADED]
    entries: dict[int, int] = {}
    for kind, _, offset, _, _, size, _, _ in segments:
        if kind == _DYNAMIC:
            entries = dict(struct.iter_unpack("<QQ", data[offset : offset + size]))
    if not {_STRINGS, _SONAME} <= entries.keys():
        return str(library).encode()
    at = next(
        entries[_STRINGS] - address + offset
        for address, offset, size in loaded
        if 0 <= entries[_STRINGS] - address < size
    )
    begin = at + entries[_SONAME]
    return data[begin : data.find(b"\0", begin)]


def _read(data: bytes) -> tuple[list[_Section], list[_Symbol]]:
    if data[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<HH", data, 16) != (1, 62):
        raise NotLinked("not an object file of x86-64")
    start, count = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
    sections: list[_Section] = []
    for i in range(count):
        _, kind, flags, _, offset, size, to, info, alignment, _ = _SECTION.unpack_from(
            data, start + i * _SECTION.size
        )
        content = b"" if kind == _NOBITS else data[offset : offset + size]
        sections.append(_Section(kind, flags, content, size, to, info, alignment))
    symbols: list[_Symbol] = []
    for section in sections:
        if section.kind == _SYMTAB:
            names = sections[section.link].content
            for at, info, _, where, value, _ in _SYMBOL.iter_unpack(section.content):
                name = names[at : names.index(b"\0", at)]
                symbols.append(_Symbol(name, where, value, info >> 4 == 2))
        elif section.kind in _CALLED_AT_START:
            raise NotLinked("functions that are called when the library is loaded")
        elif section.kind == _RELA:
            sections[section.info].relocations = [
                (where, info & 0xFFFFFFFF, info >> 32, added)
                for where, info, added in _RELOCATION.iter_unpack(section.content)
            ]
    return sections, symbols


def _reached(root: _Symbol, sections: list[_Section], symbols: list[_Symbol]) -> set[int]:
    """Return the numbers of the sections that a symbol reaches."""
    found: set[int] = set()
    pending = [root.section]
    while pending:
        number = pending.pop()
        if number in found or number == _UNDEFINED:
            continue
        if number >= _RESERVED or sections[number].flags & _THREAD_LOCAL:
            raise NotLinked("common, absolute or thread-local symbols")
        found.add(number)
        pending += [symbols[r[2]].section for r in sections[number].relocations]
    return found


class _Library:
    """A shared library: a segment of constants, with the tables of the dynamic linker, one of code
    and one of data.
    """

    def __init__(
        self,
        root: _Symbol,
        placed: Sequence[_Section],
        sections: Sequence[_Section],
        symbols: Sequence[_Symbol],
        defined: Mapping[bytes, int],
        libraries: Mapping[bytes, bytes],
    ) -> None:
        self.root, self.placed, self.sections, self.symbols = root, placed, sections, symbols
        self.defined = defined
        used = [(r, symbols[r[2]]) for section in placed for r in section.relocations]
        symbols_of_others = (s for _, s in used if s.section == _UNDEFINED)
        outer = {s.name: s.is_weak for s in symbols_of_others if s.name not in defined}
        self.weak = {name for name, is_weak in outer.items() if is_weak}
        self.needed = [
            library for x, library in libraries.items() if any(n.startswith(x) for n in outer)
        ]
        self.outer = {name: i + 2 for i, name in enumerate(outer)}
        """The numbers of symbols of other libraries. Number 1 is that which is looked up."""
        entries = [s for r, s in used if r[1] in _OF_GOT or s.section == _UNDEFINED]
        self.table = {s: 8 * i for i, s in enumerate(dict.fromkeys(entries))}
        """The places of symbols in the table of addresses."""
        if any(r[1] == _PC32 and s.section == _UNDEFINED for r, s in used):
            raise NotLinked("distances to symbols of others that are no functions")
        called = [s for r, s in used if r[1] == _PLT32 and s.section == _UNDEFINED]
        self.jumps = {s: 8 * i for i, s in enumerate(dict.fromkeys(called))}
        """The places of jumps to functions of other libraries."""
        self.bounds: dict[str, tuple[int, int]] = {}
        """The addresses where segments begin and end."""
        self.jumps_at = self.table_at = self.dynamic_at = 0
        """The addresses of the jumps, the table and what the dynamic linker begins with."""
        self.dynamic: list[tuple[int, int, int]] = []
        """Relocations that are left to the dynamic linker: where, which, and what is added."""

    def write(self) -> bytes:
        count = 2 + len(self.outer)
        names = b"\0" + b"\0".join([self.root.name, *self.outer, *self.needed]) + b"\0"
        starts = [names.index(b"\0" + n + b"\0") + 1 for n in (self.root.name, *self.outer)]
        needed = [names.index(b"\0" + n + b"\0") + 1 for n in self.needed]
        # One chain of all symbols: there are few.
        hashes = struct.pack(f"<{3 + count}I", 1, count, 1, 0, *range(2, count), 0)
        left = sum(1 for s in self.placed for r in s.relocations if r[1] == _64) + len(self.table)
        hash_at = _HEADER.size + 5 * _SEGMENT.size + 4 * _SECTION.size
        symbols_at = _aligned(hash_at + len(hashes), 8)
        names_at = symbols_at + count * _SYMBOL.size
        left_at = _aligned(names_at + len(names), 8)
        self._lay_out(left_at + left * _RELOCATION.size, 16 * (10 + len(needed)))
        image = bytearray(self._offset(_DATA, self.bounds[_DATA][1]))
        for section in self.placed:
            _put(image, self._offset(section.segment, section.address), section.content)
        self._relocate(image)
        self._write_jumps(image)
        dynamic = [
            *((_NEEDED, start) for start in needed),
            *((_HASH, hash_at), (_STRINGS, names_at), (_SYMBOLS, symbols_at), (_LEFT, left_at)),
            *((_LEFT_SIZE, len(self.dynamic) * _RELOCATION.size), (_LEFT_EACH, _RELOCATION.size)),
            *((_STRINGS_SIZE, len(names)), (_SYMBOLS_EACH, _SYMBOL.size), (_BIND_NOW, 0)),
            (0, 0),
        ]
        place = self._offset(_DATA, self.dynamic_at)
        _put(image, place, b"".join(struct.pack("<QQ", *entry) for entry in dynamic))
        root = self._address(self.root)
        symbols = [(starts[0], 0x12, 0, 3, root, 0)]
        for name, start in zip(self.outer, starts[1:], strict=True):
            symbols.append((start, 0x20 if name in self.weak else 0x10, 0, _UNDEFINED, 0, 0))
        _put(image, hash_at, hashes)
        _put(image, symbols_at + _SYMBOL.size, b"".join(_SYMBOL.pack(*s) for s in symbols))
        _put(image, names_at, names)
        _put(image, left_at, b"".join(_RELOCATION.pack(*r) for r in self.dynamic))
        code, end = self.bounds[_CODE]
        sections = [
            (0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
            (0, 11, 2, symbols_at, symbols_at, count * _SYMBOL.size, 2, 1, 8, _SYMBOL.size),
            (0, 3, 2, names_at, names_at, len(names), 0, 0, 1, 0),
            (0, 1, 6, code, self._offset(_CODE, code), end - code, 0, 0, 64, 0),
        ]
        headers = self._headers(16 * len(dynamic))
        _put(image, 0, headers + b"".join(_SECTION.pack(*section) for section in sections))
        return bytes(image)

    def _lay_out(self, begin: int, dynamic_size: int) -> None:
        """Give sections and tables addresses, from `begin` on. In memory, segments are on pages of
        their own; in the file they follow one another.
        """
        at = begin
        for number, segment in enumerate((_CONSTANTS, _CODE, _DATA)):
            start = _aligned(at, 64) + _PAGE if number else 0
            at = start or at
            for section in self.placed:
                if section.segment == segment:
                    at = section.address = _aligned(at, section.alignment)
                    at += section.size
            if segment == _CODE:
                self.jumps_at = _aligned(at, 16)
                at = self.jumps_at + 8 * len(self.jumps)
            elif segment == _DATA:
                self.table_at = _aligned(at, 16)
                self.dynamic_at = self.table_at + 8 * len(self.table)
                at = self.dynamic_at + dynamic_size
            self.bounds[segment] = start, at

    def _headers(self, dynamic_size: int) -> bytes:
        ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
        sections_at = _HEADER.size + 5 * _SEGMENT.size
        header = _HEADER.pack(ident, 3, 62, 1, 0, 64, sections_at, 0, 64, 56, 5, 64, 4, 2)
        segments = [
            (_LOADED, rights, self._offset(name, begin), begin, end - begin, _PAGE)
            for name, rights in ((_CONSTANTS, 4), (_CODE, 5), (_DATA, 6))
            for begin, end in [self.bounds[name]]
        ]
        place = self._offset(_DATA, self.dynamic_at)
        segments.append((_DYNAMIC, 6, place, self.dynamic_at, dynamic_size, 8))
        segments.append((_STACK, 6, 0, 0, 0, 16))
        return header + b"".join(
            _SEGMENT.pack(kind, rights, offset, at, at, size, size, alignment)
            for kind, rights, offset, at, size, alignment in segments
        )

    def _offset(self, segment: str, address: int) -> int:
        """Return where the content of an address of a segment is in the file."""
        return address - _PAGE * (_CONSTANTS, _CODE, _DATA).index(segment)

    def _relocate(self, image: bytearray) -> None:
        for section in self.placed:
            for where, kind, number, added in section.relocations:
                symbol = self.symbols[number]
                at = section.address + where
                place = self._offset(section.segment, at)
                if kind == _64:
                    self._leave(image, place, at, symbol, added)
                elif kind in (_PC32, _PLT32) or kind in _OF_GOT:
                    target = self._target(symbol, kind in _OF_GOT) + added - at
                    struct.pack_into("<i", image, place, target)
                else:
                    raise NotLinked(f"relocations of the kind {kind}")
        for symbol, offset in self.table.items():
            at = self.table_at + offset
            self._leave(image, self._offset(_DATA, at), at, symbol, 0, _GLOB_DAT)
        self.dynamic.sort(key=lambda r: r[1] != _RELATIVE)

    def _leave(
        self, image: bytearray, place: int, at: int, symbol: _Symbol, added: int, kind: int = _64
    ) -> None:
        """Leave the address of a symbol to the dynamic linker, unless it is known."""
        if symbol.section != _UNDEFINED:
            self.dynamic.append((at, _RELATIVE, self._address(symbol) + added))
        elif symbol.name in self.defined:
            struct.pack_into("<Q", image, place, self.defined[symbol.name] + added)
        else:
            self.dynamic.append((at, kind | self.outer[symbol.name] << 32, added))

    def _target(self, symbol: _Symbol, is_entry: bool) -> int:
        if is_entry:
            return self.table_at + self.table[symbol]
        if symbol.section == _UNDEFINED:
            return self.jumps_at + self.jumps[symbol]
        return self._address(symbol)

    def _address(self, symbol: _Symbol) -> int:
        return self.sections[symbol.section].address + symbol.value

    def _write_jumps(self, image: bytearray) -> None:
        for symbol, at in self.jumps.items():
            here = self.jumps_at + at
            distance = self.table_at + self.table[symbol] - (here + 6)
            _put(image, self._offset(_CODE, here), _JUMP + struct.pack("<i", distance))


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // max(alignment, 1)) * max(alignment, 1)


def _put(image: bytearray, at: int, content: bytes) -> None:
    image[at : at + len(content)] = content
