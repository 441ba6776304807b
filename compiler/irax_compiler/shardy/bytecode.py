r"""Shardy's operations and attributes in bytecode, in forms that are read without the dialect.

An attribute becomes a string, its text. The properties of an operation, which only the dialect
knows, become attributes: what `sharding.py` makes of text, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from irax_compiler.interchange import bytecode_format as bytecode
from irax_compiler.interchange.bytecode_format import Bytes, Reader, encoded_number
from irax_compiler.interchange.bytecode_operations import Held, Operations
from irax_compiler.shardy import replica_groups

_DIALECT = "sdy"
_UNKNOWN = b"unit\0"
_FIRST_VERSION = 5
"""The version of bytecode that has properties."""
_DICTIONARY, _STRING, _SYMBOL = 1, 2, 4
"""The numbers of forms of attributes of the dialect `builtin`."""

_GROUPS = 18
"""The number of the form of groups of devices, of the dialect `stablehlo`."""

_PROPERTIES = {
    "mesh": ("mesh", "sym_name"),
    "manual_computation": ("in_shardings", "manual_axes", "out_shardings"),
    "named_computation": ("in_shardings?", "name", "out_shardings?"),
    "sharding_constraint": ("sharding",),
    "reshard": ("sharding",),
    "sharding_group": ("group_id",),
    "constant": ("value",),
    "data_flow_edge": ("sharding?",),
    "propagation_barrier": ("allowed_direction",),
    "all_gather": ("gathering_axes", "out_sharding"),
    "all_slice": ("out_sharding", "slicing_axes"),
    "all_to_all": ("out_sharding", "params"),
    "collective_permute": ("out_sharding",),
}
"""The properties of operations, in the order of bytecode; those with `?` may be left out."""


def readable(data: bytes) -> bytes:
    """Return bytecode without what only the dialect can read; others are returned unchanged.

    Raises:
        ValueError: the data is damaged.
    """
    try:
        sections = [*bytecode.sections_of(data)]
        by_kind = {section.kind: section.data for section in sections}
        if not by_kind.keys() >= _NEEDED:
            return data
        module = _Bytecode(Reader(data, len(bytecode.MAGIC)).number(), by_kind)
        if _DIALECT not in module.dialects:
            return data
        changed = module.rewritten()
    except (IndexError, KeyError, UnicodeDecodeError):
        raise ValueError("not a valid MLIR module: bytecode that is cut short") from None
    except RecursionError:
        raise ValueError("not a valid MLIR module: damaged bytecode") from None
    written = data[: bytecode.header_of(data)]
    for section in sections:
        contents = changed.get(section.kind, section.data)
        written += section.header(len(contents), len(written)) + contents
    return written


_NEEDED = {bytecode.STRINGS, bytecode.DIALECTS, bytecode.ENTRIES, bytecode.OFFSETS}


@dataclass(frozen=True)
class _Entry:
    """An attribute or type, in the form of its dialect or as text."""

    dialect: int
    data: Bytes
    is_text: bool


@dataclass
class _Bytecode:
    version: int
    sections: dict[int, Bytes]
    added: list[_Entry] = field(default_factory=list)
    """Further attributes."""
    meshes: replica_groups.Meshes = field(default_factory=dict)

    @cached_property
    def strings(self) -> list[str]:
        return bytecode.names_of(self.sections[bytecode.STRINGS])

    @cached_property
    def dialects(self) -> list[str]:
        return bytecode.dialects_of(self.sections[bytecode.DIALECTS], self.strings)

    @cached_property
    def entries(self) -> tuple[list[_Entry], list[_Entry]]:
        """The attributes, and the types."""
        table, place = Reader(self.sections[bytecode.OFFSETS]), 0
        found: list[list[_Entry]] = []
        for count in (table.number(), table.number()):
            each: list[_Entry] = []
            while len(each) < count:
                dialect, size = table.number(), table.number()
                for _ in range(size):
                    length, has_own_form = divmod(table.number(), 2)
                    data = self.sections[bytecode.ENTRIES][place : place + length]
                    each.append(_Entry(dialect, data, not has_own_form))
                    place += length
            found.append(each)
        return found[0], found[1]

    def rewritten(self) -> dict[int, bytes]:
        """Return the sections that are written anew."""
        attributes, types = self.entries
        changed: dict[int, bytes] = {}
        if self.version >= _FIRST_VERSION and bytecode.PROPERTIES in self.sections:
            operations = Operations(self._edited).rewritten(self.sections[bytecode.OPERATIONS])
            changed[bytecode.OPERATIONS] = operations
        plain = [self._plain(entry) for entry in attributes] + self.added
        table = [encoded_number(len(plain)), encoded_number(len(types))]
        for entry in (*plain, *types):
            length = len(entry.data) * 2 + (not entry.is_text)
            table += [encoded_number(entry.dialect), encoded_number(1), encoded_number(length)]
        changed[bytecode.OFFSETS] = b"".join(table)
        changed[bytecode.ENTRIES] = b"".join(bytes(entry.data) for entry in (*plain, *types))
        return changed

    def _plain(self, entry: _Entry) -> _Entry:
        if self.dialects[entry.dialect] == "stablehlo" and not entry.is_text:
            return self._with_devices(entry)
        if self.dialects[entry.dialect] != _DIALECT:
            return entry
        text = bytes(entry.data[:-1]).decode() if entry.is_text else self._text(entry)
        if text.startswith('"') or text == "unit":
            return entry
        return _Entry(entry.dialect, _string(text) if text else _UNKNOWN, is_text=True)

    def _with_devices(self, entry: _Entry) -> _Entry:
        """Return groups of devices that are named by axes of a mesh as lists of devices."""
        reader = Reader(entry.data)
        if reader.number() != _GROUPS:
            return entry
        mesh, axes = self._text_of(reader.number()), []
        for _ in range(reader.number()):
            axis = Reader(self.entries[0][reader.number()].data)
            axis.number()  # its kind
            axes.append(f'#stablehlo.axis_ref<name = "{self.strings[axis.number()]}">')
            if axis.byte():
                raise ValueError(
                    f"a collective along parts of axes, {', '.join(axes)}, is not read from "
                    "bytecode; give the module as text"
                )
        text = f"#stablehlo.replica_group_mesh_axes<mesh = {mesh}, axes = [{', '.join(axes)}]>"
        found = replica_groups.of_attribute(text, self.meshes)
        return _Entry(self.dialects.index("builtin"), found.encode() + b"\0", is_text=True)

    # ---- operations ------------------------------------------------------------------------------

    @cached_property
    def operations(self) -> list[str]:
        """The names of the dialect's operations by their numbers; empty for those of others."""
        reader = Reader(self.sections[bytecode.DIALECTS])
        for _ in range(reader.number()):
            if reader.number() % 2:
                reader.section()
        found: list[str] = []
        count = reader.number()
        while len(found) < count:
            is_own = self.dialects[reader.number()] == _DIALECT
            for _ in range(reader.number()):
                name = self.strings[reader.number() // 2]
                found.append(name if is_own else "")
        return found

    @cached_property
    def properties(self) -> list[Bytes]:
        reader = Reader(self.sections[bytecode.PROPERTIES])
        return [reader.bytes_(reader.number()) for _ in range(reader.number())]

    def _edited(self, number: int, held: Held) -> Held:
        name = self.operations[number]
        if held.properties is None or name not in _PROPERTIES:
            return held
        reader = Reader(self.properties[held.properties])
        named: dict[str, int] = {}
        for key in _PROPERTIES[name]:
            value = reader.number()
            if not key.endswith("?"):
                named[key] = value
            elif value % 2:
                named[key[:-1]] = value // 2
        if name == "mesh":
            symbol = self._text_of(named["sym_name"])
            self.meshes[symbol] = replica_groups.sizes(self._text_of(named["mesh"]))
        # Of one region, MLIR would take it for a symbol table, in which calls find no function.
        regions = 2 if held.regions == 1 else held.regions
        return Held(self._dictionary(named), None, regions)

    def _dictionary(self, named: dict[str, int]) -> int:
        """Return the number of a new attribute that has these attributes."""
        pairs = [(self._add(_string(name), is_text=True), x) for name, x in named.items()]
        numbers = [_DICTIONARY, len(pairs), *(n for pair in pairs for n in pair)]
        return self._add(b"".join(map(encoded_number, numbers)), is_text=False)

    def _add(self, data: bytes, is_text: bool) -> int:
        self.added.append(_Entry(self.dialects.index("builtin"), data, is_text))
        return len(self.entries[0]) + len(self.added) - 1

    # ---- attributes ------------------------------------------------------------------------------

    def _text_of(self, attribute: int) -> str:
        """Return the text of the attribute of this number: of the dialect, a string or a symbol."""
        entry = self.entries[0][attribute]
        if entry.is_text:
            return bytes(entry.data[:-1]).decode()
        if self.dialects[entry.dialect] == _DIALECT:
            return self._text(entry)
        reader = Reader(entry.data)
        kind, value = reader.number(), reader.number()
        if kind == _SYMBOL:
            return "@" + self._text_of(value)
        return self.strings[value] if kind == _STRING else ""

    def _each(self, reader: Reader) -> list[str]:
        return [self._text_of(reader.number()) for _ in range(reader.number())]

    def _text(self, entry: _Entry) -> str:
        """Return the text of an attribute of the dialect; nothing for kinds that are not read."""
        reader = Reader(entry.data)
        write = self._kinds.get(reader.number())
        return "" if write is None else write(reader)

    @cached_property
    def _kinds(self) -> dict[int, Callable[[Reader], str]]:
        return {
            0: lambda reader: "{" + ", ".join(f'"{name}"' for name in self._each(reader)) + "}",
            1: lambda reader: f'"{self.strings[reader.number()]}"={reader.signed()}',
            2: self._mesh,
            3: lambda reader: f"({reader.signed()}){reader.signed()}",
            4: self._axis,
            5: self._dimension,
            6: self._sharding,
            7: self._per_value,
            15: self._sharding,
            16: self._per_value,
            17: self._sharding,
        }

    def _mesh(self, reader: Reader) -> str:
        return f"#sdy.mesh<[{', '.join(self._each(reader))}]>"

    def _axis(self, reader: Reader) -> str:
        name, part = self.strings[reader.number()], reader.number()
        return f'"{name}"' + (f":{self._text_of(part // 2)}" if part % 2 else "")

    def _dimension(self, reader: Reader) -> str:
        axes, is_closed = self._each(reader), reader.byte()
        return "{" + ", ".join([*axes, *(() if is_closed else ("?",))]) + "}"

    def _sharding(self, reader: Reader) -> str:
        mesh = self._text_of(reader.number()).removeprefix("#sdy.")
        return f"#sdy.sharding<{mesh}, [{', '.join(self._each(reader))}]>"

    def _per_value(self, reader: Reader) -> str:
        each = (text.removeprefix("#sdy.sharding") for text in self._each(reader))
        return f"#sdy.sharding_per_value<[{', '.join(each)}]>"


def _string(text: str) -> bytes:
    return ('"' + text.replace('"', "\\22") + '"').encode() + b"\0"
