"""Operations in MLIR bytecode, of which some are written anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from irax_compiler.interchange.bytecode_format import Bytes, Reader, encoded_number

_ATTRIBUTES, _RESULTS, _OPERANDS, _SUCCESSORS, _REGIONS, _ORDERS, _PROPERTIES = (
    1 << i for i in range(7)
)
"""The bits that say which parts an operation has."""


@dataclass(frozen=True)
class Held:
    """The numbers of an operation's attributes and properties, None where it has none, and the
    number of its regions.
    """

    attributes: int | None
    properties: int | None
    regions: int


@dataclass(frozen=True)
class Operations:
    """The section of operations. `edit` returns what an operation is to hold, by the number of its
    name; further regions are empty.
    """

    edit: Callable[[int, Held], Held]

    def rewritten(self, data: Bytes) -> bytes:
        """Return the section anew.

        Raises:
            IndexError: it ends too soon.
        """
        return b"".join(self._block(Reader(data)))

    def _block(self, reader: Reader) -> list[bytes]:
        start = reader.place
        count, has_arguments = divmod(reader.number(), 2)
        if has_arguments:
            arguments = reader.number()
            for _ in range(arguments):
                if reader.number() % 2:
                    reader.number()  # the location
            if reader.byte():
                _skip_orders(reader, arguments)
        written = [bytes(reader.data[start : reader.place])]
        for _ in range(count):
            written += self._operation(reader)
        return written

    def _operation(self, reader: Reader) -> list[bytes]:
        name, parts, location = reader.number(), reader.byte(), reader.number()
        attributes = reader.number() if parts & _ATTRIBUTES else None
        properties = reader.number() if parts & _PROPERTIES else None
        start, results = reader.place, 0
        for part in (_RESULTS, _OPERANDS, _SUCCESSORS):
            if parts & part:
                numbers = [reader.number() for _ in range(reader.number())]
                results = len(numbers) if part == _RESULTS else results
        if parts & _ORDERS:
            _skip_orders(reader, results)
        between = bytes(reader.data[start : reader.place])
        regions, is_apart = divmod(reader.number(), 2) if parts & _REGIONS else (0, 0)
        held = self.edit(name, Held(attributes, properties, regions))
        parts &= ~(_ATTRIBUTES | _PROPERTIES)
        parts |= _ATTRIBUTES if held.attributes is not None else 0
        parts |= _PROPERTIES if held.properties is not None else 0
        numbers = [n for n in (held.attributes, held.properties) if n is not None]
        start_of = encoded_number(name) + bytes([parts]) + encoded_number(location)
        written = [start_of, *map(encoded_number, numbers), between]
        if not parts & _REGIONS:
            return written
        written.append(encoded_number(held.regions * 2 + is_apart))
        section = reader.section() if is_apart else None
        source = reader if section is None else Reader(section.data)
        inside = [part for _ in range(regions) for part in self._region(source)]
        inside += [encoded_number(0)] * (held.regions - regions)
        if section is not None:
            inside.insert(0, section.header(sum(map(len, inside)), 0))
        return written + inside

    def _region(self, reader: Reader) -> list[bytes]:
        blocks = reader.number()
        written = [encoded_number(blocks)]
        if blocks:
            written.append(encoded_number(reader.number()))  # how many values it has
        for _ in range(blocks):
            written += self._block(reader)
        return written


def _skip_orders(reader: Reader, values: int) -> None:
    """Skip the orders of the uses of values."""
    for _ in range(reader.number() if values > 1 else 1):
        if values > 1:
            reader.number()
        for _ in range(reader.number() // 2):
            reader.number()
