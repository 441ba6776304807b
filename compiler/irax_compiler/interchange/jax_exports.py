"""Files of `jax.export`: FlatBuffers with a module, and what it takes and returns.

A table begins with the distance to a list of the places of its fields, whose order is JAX's.
Modules of several platforms take the number of the platform first. Arguments that a function does
not use are no arguments of its module.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from irax_compiler.interchange.bytecode_format import MAGIC

PREFERRED = "cpu"
"""The platform whose parts of a function are read: its custom calls are those that irax defines."""

_NAME, _IN_TREE, _IN_AVALS, _OUT_TREE, _OUT_AVALS = 1, 2, 3, 4, 5
_DEVICES_SHORT, _PLATFORMS, _ORDERED_EFFECTS, _MODULE = 6, 9, 10, 13
_CONVENTION, _KEPT, _DEVICES = 14, 15, 18
_UNIQUE_AVALS, _IN_PLACES, _OUT_PLACES, _VERSION = 19, 22, 23, 26
"""Fields of the table of an exported function."""
_KIND, _CHILDREN, _KEYS, _CLASS, _DATA = range(5)
"""Fields of the table of a node of a pytree."""
_LEAF, _NONE, _TUPLE, _LIST, _DICT, _CUSTOM = range(6)
"""The kinds of nodes."""
_SHAPE, _DTYPE = 1, 2
"""Fields of the table of an array's type."""
_DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128", "bfloat16", "int4", "uint4"),
    *("float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2"),
    *("float8_e5m2fnuz", "float0", "float8_e4m3", "float8_e3m4", "float8_e8m0fnu"),
    *("float4_e2m1fn", "key<fry>", "key<rbg>", "key<urbg>"),
)
"""The dtypes by their numbers."""
_KEY_WORDS = {"key<fry>": 2, "key<rbg>": 4, "key<urbg>": 4}
"""The words of random keys, which modules take as arrays of uint32."""
_GENERATORS = {"key<fry>": "", "key<rbg>": "rbg", "key<urbg>": "unsafe_rbg"}
_KEY = "irax.key"
_CONVENTIONS = (9, 10)
"""The versions of the calling convention that are known; those before are of 2024 and earlier."""


@dataclass(frozen=True)
class ArrayType:
    """The shape and the dtype of an array. Sizes are numbers, or expressions of names as text."""

    shape: tuple[str, ...]
    dtype: str

    @property
    def generator(self) -> str | None:
        """The generator of random keys, "" for threefry; None for other arrays."""
        return _GENERATORS.get(self.dtype)

    @property
    def held(self) -> ArrayType:
        """The array that a module takes in its place: that of a key's words."""
        words = _KEY_WORDS.get(self.dtype)
        return self if words is None else ArrayType((*self.shape, str(words)), "uint32")


@dataclass(frozen=True)
class Export:
    """A function as `jax.export` wrote it. Structures are as irax_runtime.trees has them, of the
    numbers of arrays.
    """

    name: str
    module: bytes
    platforms: tuple[str, ...]
    in_types: tuple[ArrayType, ...]
    out_types: tuple[ArrayType, ...]
    in_tree: Any
    """The structure of `(args, kwargs)`."""
    out_tree: Any
    kept: tuple[int, ...]
    """The numbers of the arguments that the module takes."""
    devices: int
    version: str
    """The version of JAX that wrote it, if it says."""

    @property
    def platform(self) -> int | None:
        """The number of the platform that is read; None for a function of one."""
        if len(self.platforms) < 2:
            return None
        return self.platforms.index(PREFERRED) if PREFERRED in self.platforms else 0

    @property
    def sizes(self) -> list[tuple[str, ...]]:
        """The sizes of the arguments of the module: numbers, and expressions of names."""
        return [self.in_types[i].held.shape for i in self.kept if i < len(self.in_types)]


def read(data: bytes) -> Export:
    """Read a file of `jax.export`.

    Raises:
        ValueError: it is none, is damaged, or has what is not supported.
    """
    try:
        export = _export(data)
    except (struct.error, IndexError, RecursionError, UnicodeDecodeError, KeyError):
        raise ValueError(
            "neither MLIR text nor MLIR bytecode, nor what jax.export serialises"
        ) from None
    return export


def _export(data: bytes) -> Export:
    table = _Table(data, struct.unpack_from("<I", data, 0)[0])
    module = table.bytes(_MODULE)
    if not module.startswith(MAGIC):
        raise IndexError
    if table.count(_ORDERED_EFFECTS):
        raise ValueError(
            "an export of JAX's with ordered effects, such as callbacks: not supported"
        )
    version = table.text(_VERSION)
    convention = table.number(_CONVENTION, "H")
    if convention not in _CONVENTIONS:
        raise ValueError(
            f"an export by version {convention} of JAX's calling convention"
            f"{f', by JAX {version}' if version else ''}; expected 9 or 10: export it again"
        )
    types = _types(table, _IN_PLACES, _IN_AVALS), _types(table, _OUT_PLACES, _OUT_AVALS)
    return Export(
        table.text(_NAME),
        module,
        tuple(table.texts(_PLATFORMS)),
        *types,
        _tree(table.table(_IN_TREE), types[0]),
        _tree(table.table(_OUT_TREE), types[1]),
        tuple(table.numbers(_KEPT, "H")),
        table.number(_DEVICES, "I") or table.number(_DEVICES_SHORT, "h"),
        version,
    )


def _types(table: _Table, places: int, given: int) -> tuple[ArrayType, ...]:
    """The types of arrays, which newer files have each once, and others for each array."""
    if table.count(places):
        unique = [_type(t) for t in table.tables(_UNIQUE_AVALS)]
        return tuple(unique[i] for i in table.numbers(places, "I"))
    return tuple(_type(t) for t in table.tables(given))


def _type(table: _Table) -> ArrayType:
    return ArrayType(tuple(table.texts(_SHAPE)), _DTYPES[table.number(_DTYPE, "b")])


def _tree(root: _Table, types: Sequence[ArrayType]) -> Any:
    """A structure, in which random keys are nodes with an array."""
    leaves = iter(range(len(types)))
    nodes = iter(range(len(root.data)))  # more, and it is no tree

    def go(table: _Table) -> Any:
        if next(nodes, None) is None:
            raise IndexError
        kind = table.number(_KIND, "b")
        if kind == _LEAF:
            number = next(leaves, None)
            if number is None:
                raise IndexError
            generator = types[number].generator
            if generator is None:
                return number
            return {"node": _KEY, "data": generator, "children": [number]}
        children = [go(child) for child in table.tables(_CHILDREN)]
        if kind == _NONE:
            return None
        if kind == _TUPLE:
            return {"tuple": children}
        if kind == _LIST:
            return children
        if kind == _DICT:
            return {"dict": dict(zip(table.texts(_KEYS), children, strict=True))}
        if kind != _CUSTOM:
            raise IndexError
        held = base64.b64encode(table.bytes(_DATA)).decode()
        return {"node": table.text(_CLASS), "data": held, "children": children}

    return go(root)


@dataclass(frozen=True)
class _Table:
    """A table of a FlatBuffer: its fields by their numbers. What it lacks is 0 or empty."""

    data: bytes
    place: int

    def _field(self, number: int) -> int | None:
        (back,) = struct.unpack_from("<i", self.data, self.place)
        fields = self.place - back
        if fields < 0:
            raise IndexError
        (size,) = struct.unpack_from("<H", self.data, fields)
        offset = 4 + 2 * number
        if offset >= size:
            return None
        (found,) = struct.unpack_from("<H", self.data, fields + offset)
        return self.place + found if found else None

    def _target(self, place: int) -> int:
        return place + struct.unpack_from("<I", self.data, place)[0]

    def _vector(self, number: int) -> tuple[int, int]:
        """The place of the first item of a vector, and the number of items."""
        place = self._field(number)
        if place is None:
            return 0, 0
        vector = self._target(place)
        (count,) = struct.unpack_from("<I", self.data, vector)
        if vector + 4 + count > len(self.data):
            raise IndexError
        return vector + 4, count

    def count(self, number: int) -> int:
        """The number of items of a vector."""
        return self._vector(number)[1]

    def number(self, number: int, code: str) -> int:
        """A number, of a type as struct has it."""
        place = self._field(number)
        return 0 if place is None else struct.unpack_from(f"<{code}", self.data, place)[0]

    def numbers(self, number: int, code: str) -> Sequence[int]:
        """A vector of numbers."""
        first, count = self._vector(number)
        return struct.unpack_from(f"<{count}{code}", self.data, first)

    def bytes(self, number: int) -> bytes:
        """A vector of bytes."""
        first, count = self._vector(number)
        return self.data[first : first + count]

    def text(self, number: int) -> str:
        """A string."""
        return self.bytes(number).decode()

    def _targets(self, number: int) -> list[int]:
        first, count = self._vector(number)
        return [self._target(first + 4 * i) for i in range(count)]

    def texts(self, number: int) -> list[str]:
        """A vector of strings."""
        found = []
        for place in self._targets(number):
            (count,) = struct.unpack_from("<I", self.data, place)
            found.append(self.data[place + 4 : place + 4 + count].decode())
        return found

    def table(self, number: int) -> _Table:
        """A table. Raises IndexError if there is none."""
        place = self._field(number)
        if place is None:
            raise IndexError
        return _Table(self.data, self._target(place))

    def tables(self, number: int) -> list[_Table]:
        """A vector of tables."""
        return [_Table(self.data, place) for place in self._targets(number)]
