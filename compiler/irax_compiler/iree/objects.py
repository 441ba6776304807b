"""Object files in ELF of 64 bits, as LLVM writes them for this processor."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

QUERY = "iree_hal_executable_library_query"
"""The function that IREE's runtime looks for in a library of kernels."""
_HIDDEN = 2
"""The visibility of symbols that other objects of a library can name, but nobody outside of it."""

_HEADER = struct.Struct("<16x8x8x8xQ4x6xHHH")
_SECTION = struct.Struct("<4xIQ8xQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QIIq")

_CONTENTS, _SYMBOLS, _RELOCATIONS, _EMPTY = 1, 2, 4, 8
_WRITTEN, _LOADED, _CODE, _MERGED, _STRINGS = 0x1, 0x2, 0x4, 0x10, 0x20
_KNOWN = _WRITTEN | _LOADED | _CODE | _MERGED | _STRINGS
"""The flags of sections that may be put together as they are."""
_OF_LOCALS, _OF_ALL, _WEAK = 0, 1, 2
"""The ways in which symbols are bound."""
_PLAIN = range(4)
"""The types of symbols: of nothing, data, functions and sections."""
_ABSOLUTE = 0xFFF1


class Relocation(NamedTuple):
    """A place of a section that gets the address of a symbol, or the distance of it."""

    offset: int
    kind: int
    """The processor's number of what is written there."""
    symbol: int
    addend: int


@dataclass(frozen=True)
class Section:
    """A section that is loaded."""

    data: bytes
    alignment: int
    is_code: bool
    is_written: bool
    relocations: Sequence[Relocation]
    problem: str
    """A word on something unusual about it; usually empty."""


class Symbol(NamedTuple):
    """A symbol."""

    name: str
    is_shared: bool
    """True if other objects may name it."""
    section: int
    """The number of the section that it is in; 0 if it is in another object."""
    value: int
    """The place in its section."""
    problem: str
    """A word on something unusual about it; usually empty."""


class Object:
    """An object file.

    Raises:
        ValueError: it is not such an object.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("no object in ELF of 64 bits")
        try:
            start, size, count, _ = _HEADER.unpack_from(data)
            self._sections = [_SECTION.unpack_from(data, start + i * size) for i in range(count)]
        except struct.error as error:
            raise ValueError(f"a damaged object: {error}") from None

    @cached_property
    def _relocations(self) -> dict[int, list[tuple[int, int]]]:
        """The places of the relocations of each section, and their bytes."""
        found: dict[int, list[tuple[int, int]]] = {}
        for kind, _, offset, size, _, of, _, _ in self._sections:
            if kind == _RELOCATIONS:
                found.setdefault(of, []).append((offset, size))
        return found

    def section(self, number: int) -> Section:
        """Return a section by its number."""
        kind, flags, offset, size, _, _, alignment, _ = self._sections[number]
        problem = ""
        if kind not in (_CONTENTS, _EMPTY) or not flags & _LOADED or flags & ~_KNOWN:
            problem = f"a section of type {kind} with flags {flags:#x}"
        elif alignment > 64:
            problem = f"a section aligned to {alignment} bytes"
        data = bytes(size) if kind == _EMPTY else self.data[offset : offset + size]
        relocations = [
            Relocation(place, kind, symbol, addend)
            for begin, length in self._relocations.get(number, ())
            for place, kind, symbol, addend in _RELOCATION.iter_unpack(
                self.data[begin : begin + length]
            )
        ]
        is_code, is_written = bool(flags & _CODE), bool(flags & _WRITTEN)
        return Section(data, max(alignment, 1), is_code, is_written, relocations, problem)

    @cached_property
    def symbols(self) -> Sequence[Symbol]:
        """The symbols, by their numbers."""
        return [
            _symbol(self._name(names + name), info >> 4, info & 15, section, value)
            for at, names in self._places()
            for name, info, _, section, value, _ in [_SYMBOL.unpack_from(self.data, at)]
        ]

    def _places(self) -> list[tuple[int, int]]:
        """Return the place of each symbol, and that of the names."""
        return [
            (at, self._sections[link][2])
            for kind, _, offset, size, link, _, _, _ in self._sections
            if kind == _SYMBOLS
            for at in range(offset, offset + size, _SYMBOL.size)
        ]

    def _name(self, start: int) -> str:
        return self.data[start : self.data.index(0, start)].decode()

    def part(self, name: str) -> bytes:
        """Return the object of a library of kernels as a part of another library: its own query has
        another name, made of `name`, and is hidden.

        Raises:
            ValueError: it has no query.
        """
        changed = bytearray(self.data)
        own = f"irax_{name}".encode()[: len(QUERY)].ljust(len(QUERY), b"_")
        for (at, names), symbol in zip(self._places(), self.symbols, strict=True):
            if symbol.name == QUERY:
                start = names + _SYMBOL.unpack_from(self.data, at)[0]
                changed[start : start + len(own)] = own
                changed[at + 5] = _HIDDEN
                return bytes(changed)
        raise ValueError("an object without the query of a library of kernels")


def _symbol(name: str, binding: int, kind: int, section: int, value: int) -> Symbol:
    problem = ""
    bindings = (_OF_LOCALS, _OF_ALL, _WEAK) if section else (_OF_LOCALS, _OF_ALL)
    if kind not in _PLAIN or binding not in bindings or section >= _ABSOLUTE:
        problem = f"symbol {name}, of type {kind}, binding {binding} and section {section}"
    return Symbol(name, binding != _OF_LOCALS, section, value, problem)
