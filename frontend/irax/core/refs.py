"""Mutable arrays. A `Ref` is a box of an array; programs see its values alone.

A trace may write to the Refs that were made in it, for their values are its values. To a function
of control flow, or one that `jit` compiles, the Refs that it touches are given as arrays, and their
last values are further results (`Functional`). Which it touches, a trace of it tells that is thrown
away (`touched`). A function that is differentiated is traced once: it adopts them as it runs
(`functional`).
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

import numpy as np

from irax import dtypes
from irax.core import array_trees, source
from irax.core.array import Array, as_array
from irax.core.avals import AbstractRef as AbstractRef
from irax.core.promotion import convert
from irax.core.tracing import Input, Trace, innermost, trace_function

_alive: WeakSet[Ref] = WeakSet()


class _Recording(threading.local):
    touched: dict[Ref, None] | None = None
    """The Refs that the function being recorded has touched, in order; None outside of that."""
    adopted: Adopted | None = None
    """The Refs that the function being differentiated has touched."""


_recording = _Recording()


class Ref:
    """A mutable array: `ref[...]` reads it, `ref[i] = x` and `ref[...] += x` write to it.

    Made by `irax.new_ref`. A function may write to its arguments, and to Refs that it finds
    outside: under `jit`, in `scan`, `while_loop`, `fori_loop`, `cond` and `switch`, and under
    `grad`, which takes no derivative of what is written. `vmap` writes to Refs that are arguments.
    """

    __slots__ = ("__weakref__", "_home", "_maker", "_value", "aval")

    def __init__(self, value: Array) -> None:
        self._value: Array = value
        self._home: Trace | None = innermost.trace
        """The trace that the value belongs to, which may write."""
        self._maker = _recording.touched
        """The recording that it was made in, to which it is of no interest."""
        self.aval: AbstractRef = AbstractRef(value.aval)
        _alive.add(self)

    def __repr__(self) -> str:
        return f"Ref{{{self.aval.inner_aval}}}" if self._home else f"Ref({self._value})"

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each dimension."""
        return self.aval.inner_aval.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self.aval.inner_aval.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.aval.inner_aval.size

    @property
    def sharding(self) -> Any:
        """The sharding of its elements."""
        return self.value.sharding

    def unsafe_buffer_pointer(self) -> int:
        """Return the address of its elements, which a write may change."""
        return self.value.unsafe_buffer_pointer()

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Array:
        return self.value[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        at = self.value.at[index]
        self.assign(at.set(self._fitting("ref[...] = x", value, index)))

    def addupdate(self, value: Any, idx: Any = ...) -> None:
        """Add `value` to the elements at an index.

        >>> ref = irax.new_ref(irax.numpy.zeros(2))
        >>> ref.addupdate(1.5, 0)
        >>> ref[...]
        Array([1.5, 0. ], dtype=float32)
        """
        at = self.value.at[idx]
        self.assign(at.add(self._fitting("addupdate", value, idx)))

    def _fitting(self, what: str, value: Any, index: Any) -> Array:
        """An array for the elements at an index.

        Raises:
            ValueError: it is of another shape or dtype.
        """
        array = as_array(value, what)
        expected = self.value[index].shape
        if array.shape not in ((), expected):
            raise ValueError(
                f"{what}: a value of shape {array.shape} for elements of shape {expected} of "
                f"{self.aval}; expected that shape, or a scalar"
            )
        if array.dtype != self.dtype and not (
            array.weak_type and dtypes.result_type(self.dtype, array) == self.dtype
        ):
            raise ValueError(
                f"{what}: a value of dtype {array.dtype} for {self.aval}; expected {self.dtype}: "
                "convert it with .astype(...)"
            )
        return convert(array, self.dtype, False)

    @property
    def value(self) -> Array:
        """The array of its elements, as they are now."""
        self._touch()
        return self._value

    def assign(self, value: Array) -> None:
        """Replace all elements, by an array of the same type.

        Raises:
            ValueError: it is not to be written to in the innermost trace.
        """
        self._touch()
        trace = innermost.trace
        if is_recording():
            return
        if trace is not self._home:
            kind = "outside of traces" if trace is None else f"in what {trace.kind} traces"
            raise ValueError(
                f"a {self.aval} was written to {kind}, at {source.user_line()}, where it is only "
                "to be read: make it an argument of the function, or return what is to be written"
            )
        self._value = value.with_weak_type(self.aval.inner_aval.weak_type)

    def _touch(self) -> None:
        touched, adopted = _recording.touched, _recording.adopted
        if touched is not None:
            if touched is not self._maker:
                touched[self] = None
        elif adopted is not None and self._home is not innermost.trace is adopted.trace:
            adopted.before[self] = self._value, self._home
            self._home = innermost.trace

    @contextmanager
    def holding(self, value: Array) -> Iterator[None]:
        """In a `with` block, hold a value of the innermost trace, which may write."""
        before = self._value, self._home
        self._value, self._home = value, innermost.trace
        try:
            yield
        finally:
            self._value, self._home = before


class Adopted:
    """The Refs from outside that a trace has touched, and may write to while its function runs."""

    def __init__(self) -> None:
        self.trace: Trace | None = innermost.trace
        self.before: dict[Ref, tuple[Array, Trace | None]] = {}
        """The values and homes that they had."""

    def __enter__(self) -> Adopted:
        self._outer, _recording.adopted = _recording.adopted, self
        return self

    def __exit__(self, *_: object) -> None:
        _recording.adopted = self._outer
        for ref, before in self.before.items():
            ref._value, ref._home = before

    def written(self) -> dict[Ref, Array]:
        """Return the values of those that were written to."""
        return {x: x._value for x, (value, _) in self.before.items() if x._value is not value}


def is_recording() -> bool:
    """Return True while a function runs just to tell which Refs it touches: nothing is written."""
    return _recording.touched is not None


def exist() -> bool:
    """Return True if there are Refs."""
    return len(_alive) > 0


def touched(function: Callable[..., Any], inputs: Sequence[Input] = ()) -> list[Ref]:
    """Return the Refs from outside that a function of flat arrays reads or writes."""
    if is_recording() or not exist():
        return []
    found = _recording.touched = {}

    def run(*arrays: Array) -> list[Array]:
        function(*arrays)
        return []

    try:
        trace_function(run, inputs, "the search for Refs", "refs", fresh_module=True)
    finally:
        _recording.touched = None
    return list(found)


@dataclass
class Functional:
    """Refs that functions touch, which are given to them as arrays instead."""

    refs: Sequence[Ref]

    @property
    def values(self) -> list[Array]:
        """The values now."""
        return [ref.value for ref in self.refs]

    def of(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of the values, then of the function's arguments, to the function's
        result and the values at the end.
        """

        @functools.wraps(function, updated=())
        def pure(values: Sequence[Array], *args: Any, **kwargs: Any) -> tuple[Any, list[Array]]:
            with _all_holding(self.refs, values):
                return function(*args, **kwargs), self.values

        return pure

    def write(self, values: Sequence[Array]) -> None:
        """Write the values at the end."""
        for ref, value in zip(self.refs, values, strict=True):
            if value is not ref.value:
                ref.assign(value)


@contextmanager
def _all_holding(refs: Sequence[Ref], values: Sequence[Array]) -> Iterator[None]:
    if not refs:
        yield
        return
    with refs[0].holding(values[0]), _all_holding(refs[1:], values[1:]):
        yield


def touched_by(operation: Callable[[], Any]) -> Functional | None:
    """Return the Refs that an operation touches, such as a loop; None if there are none."""
    found = touched(operation)
    return Functional(found) if found else None


# ---- arguments -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Arguments:
    """Arguments of a call, some of whose leaves are Refs."""

    refs: Functional
    args: Any
    kwargs: Any
    """The arguments, with arrays in place of Refs."""
    places: frozenset[int]
    """The leaves that are Refs."""

    @staticmethod
    def of(what: str, args: Any, kwargs: Any) -> Arguments | None:
        """Return the arguments of a call, or None if no leaf is a Ref.

        Raises:
            ValueError: one Ref is two arguments.
        """
        leaves, tree = array_trees.tree_flatten((args, kwargs))
        places = [i for i, x in enumerate(leaves) if isinstance(x, Ref)]
        if not places:
            return None
        refs = [leaves[i] for i in places]
        if len(set(refs)) != len(refs):
            raise ValueError(
                f"{what}: only one reference to a mutable array may be an argument; got "
                f"{len(refs)} arguments that are {len(set(refs))} Refs"
            )
        given = [x.value if isinstance(x, Ref) else x for x in leaves]
        args, kwargs = array_trees.tree_unflatten(tree, given)
        return Arguments(Functional(refs), args, kwargs, frozenset(places))

    def of_arrays(self, what: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of arrays in place of Refs, to the function's result and the values of
        the Refs at the end.
        """

        @functools.wraps(function, updated=())
        def pure(*args: Any, **kwargs: Any) -> tuple[Any, list[Array]]:
            leaves, tree = array_trees.tree_flatten((args, kwargs))
            boxes = {i: Ref(as_array(leaves[i], what)) for i in sorted(self.places)}
            given = [boxes.get(i, x) for i, x in enumerate(leaves)]
            args, kwargs = array_trees.tree_unflatten(tree, given)
            out = function(*args, **kwargs)
            if any(isinstance(x, Ref) for x in array_trees.tree_leaves(out)):
                raise ValueError(
                    f"{what}: the function returned a Ref; return its elements, ref[...]"
                )
            return out, [box.value for box in boxes.values()]

        return pure


def functional(
    what: str, function: Callable[..., Any], args: Any, kwargs: Any
) -> tuple[Callable[..., Any], Any, Any, Functional]:
    """Return a function without Refs for a call with some, to be traced once: the function, which
    returns the values of Refs at the end beside its result; its arguments; and the Refs, first
    those among the arguments, which are known when the function has run.
    """
    boxed = Arguments.of(what, args, kwargs)
    own = [] if boxed is None else list(boxed.refs.refs)
    inner = function if boxed is None else boxed.of_arrays(what, function)
    both = Functional(list(own))

    @functools.wraps(function, updated=())
    def pure(*given: Any, **named: Any) -> tuple[Any, list[Array]]:
        with Adopted() as adopted:
            out = inner(*given, **named)
            written = adopted.written()
        both.refs = [*own, *written]
        if boxed is None:
            return out, list(written.values())
        return out[0], [*out[1], *written.values()]

    return pure, *((args, kwargs) if boxed is None else (boxed.args, boxed.kwargs)), both


def with_values_beside(function: Callable[..., Any], has_aux: bool) -> Callable[..., Any]:
    """Return a function that `functional` made, with the values in an auxiliary result: from
    `(out, values)` or `((out, aux), values)` to `(out, (aux, values))`.
    """

    @functools.wraps(function, updated=())
    def run(*args: Any, **kwargs: Any) -> Any:
        out, values = function(*args, **kwargs)
        result, aux = out if has_aux else (out, None)
        return result, (aux, values)

    return run
