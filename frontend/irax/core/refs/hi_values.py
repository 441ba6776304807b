"""Values that hold arrays and change, of classes that libraries define (`jax.experimental.hijax`).

The type of such a value tells the arrays that it holds. To transformations each is a mutable array,
a `Part`: a `Ref` that reads and writes the value. So a function may change values that it gets or
finds outside, as it may Refs; it may not change which arrays they hold.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import optree

from irax.core.array import Array, as_array
from irax.core.refs import refs
from irax.core.refs.hi_types import hi_type_of, is_mutable
from irax.core.refs.refs import Ref
from irax.core.tracing import Trace, innermost
from irax.core.trees import array_trees
from irax.core.trees.registry import ARRAYS

_outside: WeakValueDictionary[int, Held] = WeakValueDictionary()
"""Values that no traced function made, for as long as a trace or a program uses their parts."""


class _Reading(threading.local):
    directly: bool = False
    """True while a value is read or written for its parts."""


_reading = _Reading()


class Held:
    """The arrays that a value holds."""

    def __init__(self, value: Any, home: Trace | None) -> None:
        self.value: Any = value
        self.type: Any = hi_type_of(value)
        self.state: Any = value.cur_qdd()
        """The types and the structure of the arrays, as its type wants them."""
        with _directly():
            found = self.type.read_loval(self.state, value)
        arrays, self.tree = array_trees.tree_flatten(found)
        self.parts: list[Part] = [Part(self, k, x, home) for k, x in enumerate(arrays)]

    @property
    def arrays(self) -> list[Any]:
        """The arrays that the value is made of at this time."""
        with _directly():
            found = self.type.read_loval(self.value.cur_qdd(), self.value)
        return array_trees.tree_leaves(found)

    def check(self) -> None:
        """Raises NotImplementedError if it holds more or fewer arrays than before."""
        count = len(self.arrays)
        if count != len(self.parts):
            raise NotImplementedError(
                f"{self.type}: a function that is traced may replace the arrays that it holds, not "
                f"their number; there were {len(self.parts)} and are {count}: give it all of them "
                "before the function is called"
            )

    def replace(self, number: int, x: Any) -> None:
        """Replace an array."""
        arrays = self.arrays
        arrays[number] = x
        whole = array_trees.tree_unflatten(self.tree, arrays)
        with _directly():
            self.type.update_from_loval(self.state, self.value, *whole)


class Part(Ref):
    """One of the arrays that a value holds."""

    __slots__ = ("_before", "_held", "_number")

    def __init__(self, held: Held, number: int, array: Any, home: Trace | None) -> None:
        self._held = held
        self._number = number
        super().__init__(as_array(array))
        self._home = home
        if home is None:
            self._maker = None

    @property
    def _value(self) -> Array:
        found = as_array(self._held.arrays[self._number])
        return found.with_weak_type(self.aval.inner_aval.weak_type)

    @_value.setter
    def _value(self, value: Array) -> None:
        if hasattr(self, "aval"):  # not while it is made
            self._held.replace(self._number, value)

    def keep(self) -> None:
        self._before = self._value

    def restore(self) -> None:
        self._value = self._before  # pyright: ignore[reportIncompatibleVariableOverride]


@dataclass(frozen=True)
class Lowered:
    """Stands for a value among the arguments of a function of arrays."""

    kind: tuple[Any, ...]
    """The type of the value, its state, and the structure of its arrays."""
    parts: Sequence[Any]
    """The arrays, or what stands for them."""

    def raised(self, arrays: Sequence[Any]) -> Held:
        """Return a value with these arrays, in the function."""
        type_, state, tree = self.kind
        return made(type_.new_from_loval(state, *array_trees.tree_unflatten(tree, arrays)))


def _parts(x: Lowered) -> tuple[Sequence[Any], tuple[Any, ...]]:
    return x.parts, x.kind


optree.register_pytree_node(Lowered, _parts, Lowered, namespace=ARRAYS)  # pyright: ignore


def lowered(x: Any, parts: Sequence[Any]) -> Lowered:
    """Return what stands for a mutable value."""
    own = held(x)
    return Lowered((own.type, own.state, own.tree), parts)


@contextmanager
def _directly() -> Iterator[None]:
    before, _reading.directly = _reading.directly, True
    try:
        yield
    finally:
        _reading.directly = before


def held(x: Any) -> Held:
    """Return the arrays of a mutable value."""
    trace = innermost.trace
    while trace is not None:
        found = trace.made.get(id(x))
        if found is not None:
            return found
        trace = trace.parent
    found = _outside.get(id(x))
    if found is None:
        found = _outside[id(x)] = Held(x, None)
    return found


def made(x: Any) -> Held:
    """Return the arrays of a new value, which the function that is traced has made."""
    trace = innermost.trace
    assert trace is not None
    found = trace.made[id(x)] = Held(x, trace)
    return found


def bound(function: Callable[..., Any], operands: Iterable[Any], params: dict[str, Any]) -> Any:
    """Call a function that makes a value, or reads or writes those among its operands."""
    is_traced = innermost.trace is not None and not _reading.directly
    touched = [held(x) for x in operands if is_mutable(x)] if is_traced else []
    for each in touched:
        for part in each.parts:
            part.touch()
    result = function(*operands, **params)
    for each in touched:
        each.check()
    if is_mutable(result):
        refs.expect()
        if is_traced:
            made(result)
    return result
