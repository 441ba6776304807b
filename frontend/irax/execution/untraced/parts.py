"""The parts of a description that are no functions or classes: numbers, containers, arrays."""

from __future__ import annotations

import hashlib
import struct
import types
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import optree

from irax.core.array import ConcreteArray
from irax.core.avals import ShapedArray
from irax.core.key_arrays import KeyArray
from irax.core.trees.treedefs import PyTreeDef
from irax.dtypes import KeyType
from irax.execution.untraced.reading import NotDescribed, names_special

MOST = 20_000
"""The most parts of a description: to make one of so many takes about as long as a long trace."""

MOST_BYTES = 1 << 22
"""The most bytes of arrays that are read."""

PLAIN = {type(None), bool, int, float, complex, str, bytes, type(...), range}
"""Classes whose objects are described by their texts."""


class Parts:
    """A description in the making."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []  # so that no other object gets its id
        self._bytes = 0
        self._path: list[str] = []

    def digest(self) -> bytes:
        """Return a number for the description, which no other one has."""
        return hashlib.sha256("\0".join(self.parts).encode("utf-8", "surrogatepass")).digest()

    def add(self, part: str) -> None:
        """Add a part that tells by itself where it ends: it has no null byte."""
        if len(self.parts) >= MOST:
            raise NotDescribed("more than can be described in little time is reached")
        self.parts.append(part)

    def value(self, x: Any) -> None:
        """Describe an object.

        Raises:
            NotDescribed: there is no description.
        """
        raise NotImplementedError

    def _plain(self, x: Any) -> None:
        kind: type = type(x)
        if kind is str and names_special(x):
            raise NotDescribed(f"{self.place()} is the special name {x!r}")
        self.add(f"{kind.__name__} {x!r}")
        if kind in (float, complex) and x != x:
            self._not_a_number(x)

    def _not_a_number(self, x: complex) -> None:
        """Describe the sign of a NaN, and which object it is: containers find it by identity."""
        self.add(struct.pack("2d", x.real, x.imag).hex())
        self._is_new(x)

    @contextmanager
    def at(self, what: str) -> Iterator[None]:
        """In a `with` block, what cannot be described is named as a part of `what`."""
        self._path.append(what)
        yield
        self._path.pop()

    def place(self) -> str:
        """Return where the walk is."""
        return " of ".join(reversed(self._path[-2:])) or "the function"

    def _is_new(self, x: Any) -> bool:
        """Return True for an object that was not described; note the number of one that was."""
        number = self._numbers.get(id(x))
        if number is not None:
            self.add(f"again {number}")
            return False
        self._numbers[id(x)] = len(self._numbers)
        self._kept.append(x)
        return True

    def _sequence(self, x: Any) -> None:
        if type(x) is list and not self._is_new(x):
            return
        self.add(f"{type(x).__name__} {len(x)}")
        for part in x:
            self.value(part)

    def _dict(self, x: Any) -> None:
        if not self._is_new(x):
            return
        self.add(f"{type(x).__name__} {len(x)}")
        for key, part in list(x.items()):
            self.value(key)
            with self.at(f"the entry {key!r}"):
                self.value(part)

    def _set(self, x: Any, is_tested: bool = False) -> None:
        if type(x) is set and not self._is_new(x):
            return
        if not all(type(part) in PLAIN for part in x):
            raise NotDescribed(f"{self.place()} is a set of more than numbers and strings")
        if not is_tested and not all(type(part) in (int, bool) for part in x):
            raise NotDescribed(f"{self.place()} is a set, whose order differs between processes")
        self.add(f"{type(x).__name__} {sorted(f'{type(p).__name__} {p!r}' for p in x)}")

    def _deque(self, x: Any) -> None:
        self.value([x.maxlen, *x])

    def _slice(self, x: Any) -> None:
        self.value((x.start, x.stop, x.step))

    def _dtype(self, x: np.dtype[Any]) -> None:
        is_plain = x.kind in "biufcSUmM" or x.type.__module__ == "ml_dtypes"
        if not is_plain or x.hasobject or x.metadata:
            raise NotDescribed(f"{self.place()} is the dtype {x}")
        self.add(f"dtype {x.name} {x.byteorder}")

    def _numpy_array(self, x: np.ndarray[Any, Any]) -> None:
        if not self._is_new(x):
            return
        self._elements(x)
        self.add(f"flags {x.flags.num}")
        if type(x.base) is np.ndarray:  # whose elements others may have too
            self.add(f"at {x.ctypes.data - x.base.ctypes.data}")
            self.value(x.base)
        elif x.base is not None:
            self._is_new(x.base)

    def _elements(self, x: np.ndarray[Any, Any]) -> None:
        self._dtype(x.dtype)
        self._bytes += x.nbytes
        if self._bytes > MOST_BYTES:
            raise NotDescribed(
                f"{self.place()} is one of arrays with more than {MOST_BYTES >> 20} MiB"
            )
        self.add(f"array {x.shape} {x.strides} {hashlib.sha256(x.tobytes()).hexdigest()}")

    def _array(self, x: ConcreteArray) -> None:
        if not self._is_new(x):
            return
        if x.committed:
            raise NotDescribed(f"{self.place()} is an array that was put on a device")
        self.aval(x.aval)
        self._elements(x.value)

    def aval(self, x: Any) -> None:
        """Describe the type of an array."""
        if type(x) is not ShapedArray or x.vma or x.told is not None:
            raise NotDescribed(f"{self.place()} has the type {x}")
        self.add(f"type {x.shape} {x.dtype.name} {x.weak_type}")

    def _key(self, x: KeyArray) -> None:
        self.add(f"key {x.key_type!r}")
        self.value(x.data)

    def _structure(self, x: Any) -> None:
        self.tree(x.spec if isinstance(x, PyTreeDef) else x)

    def tree(self, spec: optree.PyTreeSpec) -> None:
        """Describe the structure of a pytree."""
        self.add(f"tree {spec.num_nodes} {spec.namespace}")

        def node(kind: type, data: Any, children: Any) -> None:
            self.value(kind)
            self.value(data)
            self.add(f"children {len(children)}")

        spec.walk([None] * spec.num_leaves, node, lambda _: self.add("leaf"))

    def _text(self, x: Any) -> None:
        self.add(f"{type(x).__name__} {x!r}")


DESCRIBE: dict[type, Callable[[Any, Any], None]] = {
    tuple: Parts._sequence,
    list: Parts._sequence,
    dict: Parts._dict,
    types.MappingProxyType: Parts._dict,
    set: Parts._set,
    frozenset: Parts._set,
    deque: Parts._deque,
    slice: Parts._slice,
    np.ndarray: Parts._numpy_array,
    ConcreteArray: Parts._array,
    KeyArray: Parts._key,
    KeyType: Parts._text,
    PyTreeDef: Parts._structure,
    optree.PyTreeSpec: Parts._structure,
    type(NotImplemented): Parts._text,
}
"""The methods that describe objects of these classes."""
