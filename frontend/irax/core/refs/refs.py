"""Mutable arrays. A `Ref` is a box of an array; programs see its values alone.

A trace may write to the Refs that were made in it, for their values are its values. To a function
of control flow the Refs that it touches are given as arrays, and their last values are further
results (`ref_functions`). Outside of traces it runs as one that touches none, until it does
(`attempt`). Otherwise a trace that is thrown away tells which it touches (`touched`). A function
that is differentiated or that `jit` compiles is traced once: its trace adopts Refs as it touches
them (`Adopted`).

A pullback writes to Refs too, where the rule of a custom_vjp does. Backward passes run in reverse
order, and so do cotangents: beside its value a Ref has a *token*, arrays that each such call takes
and returns as they are, and whose cotangent is what the Ref holds in the backward pass
(`ref_tokens`). Tokens exist for Refs alone that such calls get.

A `View` has no elements of its own: it reads and writes those of the Ref that it is of.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from weakref import WeakSet

import numpy as np

from irax import dtypes
from irax.core import source
from irax.core.array import Array, as_array
from irax.core.avals import AbstractRef as AbstractRef
from irax.core.avals import ShapedArray
from irax.core.dtypes.promotion import convert
from irax.core.refs import tokens as ref_tokens
from irax.core.tracing import Trace, Tracer, innermost, trace_function

T = TypeVar("T")

_alive: WeakSet[Ref] = WeakSet()
_expected = threading.Event()


class _Recording(threading.local):
    touched: dict[Ref, bool] | None = None
    """The Refs that the function being recorded has touched, in order, with True for those whose
    tokens it did; None outside of that."""
    adopted: Adopted | None = None
    """The Refs that the function being traced once has touched."""
    refuses: bool = False
    """True while an operation runs as one that touches no Refs from outside."""


_recording = _Recording()


class Ref:
    """A mutable array: `ref[...]` reads it, `ref[i] = x` and `ref[...] += x` write to it.

    Made by `irax.new_ref`. A function may write to its arguments, and to Refs that it finds
    outside: under `jit`, in `scan`, `while_loop`, `fori_loop`, `cond` and `switch`, and under
    `grad`, which takes no derivative of what is written. `vmap` writes to Refs that are arguments.
    """

    __slots__ = ("__weakref__", "_home", "_maker", "_token", "_value", "aval", "num_writes")

    def __init__(self, value: Array, token: Sequence[Array] | None = None) -> None:
        self._value: Array = value
        self._token: Sequence[Array] | None = token
        self.num_writes: int = 0
        """The number of times that it was written to, in Python."""
        self._home: Trace | None = innermost.trace
        """The trace that the value belongs to, which may write."""
        self._maker = _recording.touched
        """The recording that it was made in, to which it is of no interest."""
        self.aval: AbstractRef = AbstractRef(value.aval)
        _alive.add(self)

    def __repr__(self) -> str:
        if self._home:
            return f"Ref{{{self.aval.inner_aval}}}"
        return "Ref" + repr(self._value).removeprefix("Array")

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

    @property
    def at(self) -> Views:
        """`ref.at[index]` are the elements at an index, as a Ref: to write to it writes to this."""
        return Views(self)

    @property
    def root(self) -> Ref:
        """The Ref that has the elements: this one, unless it is a view."""
        return self

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        return iter(self.value)

    def __getitem__(self, index: Any) -> Array:
        return self.value[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        at = self.value.at[index]
        self.assign(at.set(self._fitting("ref[...] = x", value, index)))

    def addupdate(self, x: Any, idx: Any = ...) -> None:
        """Add an array to the elements at an index.

        >>> ref = irax.new_ref(irax.numpy.zeros(2))
        >>> ref.addupdate(1.5, 0)
        >>> ref[...]
        Array([1.5, 0. ], dtype=float32)
        """
        at = self.value.at[idx]
        self.assign(at.add(self._fitting("addupdate", x, idx)))

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
        self.touch()
        return self._value

    def assign(self, value: Array) -> None:
        """Replace all elements, by an array of the same type.

        Raises:
            ValueError: it is not to be written to in the innermost trace.
        """
        self.touch()
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
        self.num_writes += 1

    @property
    def is_known_outside(self) -> bool:
        """True if it was not made in the function being traced: a backward pass may write to it."""
        self.touch(with_token=True)
        return self._token is not None or is_recording()

    @property
    def token(self) -> list[Array]:
        """The arrays whose cotangents are what it holds in the backward pass."""
        self.touch(with_token=True)
        return list(self._token or ref_tokens.zeros(self.aval.inner_aval))

    def pass_token(self, token: Sequence[Array]) -> None:
        """Go on with the token that a call returned."""
        if self._token is not None and not is_recording() and self._home is not None:
            self._token = list(token)

    def keep(self) -> None:
        """Remember the value, before a function runs just to tell what it touches. Where nothing
        is written meanwhile, there is nothing to do.
        """

    def restore(self) -> None:
        """Return to the value that was kept."""

    def touch(self, with_token: bool = False) -> None:
        """Note that the innermost trace reads or writes it."""
        if _recording.refuses and self._home is None and innermost.trace is not None:
            raise _Touched
        touched, adopted = _recording.touched, _recording.adopted
        if touched is not None:
            if touched is not self._maker:
                if self not in touched:
                    self.keep()
                touched[self] = touched.get(self, False) or with_token
        elif adopted is not None:
            adopted.adopt(self, with_token)

    @contextmanager
    def holding(self, value: Array, token: Sequence[Array] | None) -> Iterator[None]:
        """In a `with` block, hold a value of the innermost trace, which may write."""
        before = self._value, self._token, self._home
        self._value, self._token, self._home = value, token, innermost.trace
        try:
            yield
        finally:
            self._value, self._token, self._home = before


class View(Ref):
    """Elements of a Ref, as a Ref."""

    __slots__ = ("_base", "_index")

    def __init__(self, base: Ref, index: Any) -> None:
        self._base, self._index = base, index
        self.aval: AbstractRef = AbstractRef(base.value[index].aval)

    def __repr__(self) -> str:
        return f"{self._base!r}.at[{self._index!r}]"

    @property
    def root(self) -> Ref:
        return self._base.root

    @property
    def num_writes(self) -> int:
        return self._base.num_writes

    @num_writes.setter
    def num_writes(self, count: int) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._base.num_writes = count

    @property
    def value(self) -> Array:
        return self._base.value[self._index]

    def assign(self, value: Array) -> None:
        self._base.assign(self._base.value.at[self._index].set(value))

    @property
    def is_known_outside(self) -> bool:
        return self._base.is_known_outside

    @property
    def token(self) -> list[Array]:
        return [part[self._index] for part in self._base.token]

    def pass_token(self, token: Sequence[Array]) -> None:
        if token:
            parts = zip(self._base.token, token, strict=True)
            self._base.pass_token([x.at[self._index].set(part) for x, part in parts])

    def touch(self, with_token: bool = False) -> None:
        self._base.touch(with_token)


@dataclass(frozen=True)
class Views:
    """The views of a Ref, by their indices."""

    ref: Ref

    def __getitem__(self, index: Any) -> Ref:
        return View(self.ref, index)


class Given(Array):
    """Stands for an array that a traced function is given when it is called: it captures this one
    in its place.
    """

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray) -> None:
        self.aval: ShapedArray = aval


class Adopted:
    """The Refs from outside that a trace has touched, and may write to while its function runs.

    Where it is `abstract`, the function will run again, for the values that the Refs then have.
    """

    def __init__(self, abstract: bool = False, given: Sequence[Ref] = ()) -> None:
        assert innermost.trace is not None
        self.trace: Trace = innermost.trace
        self.abstract = abstract
        self.given = {ref.root for ref in given}
        """The Refs that the caller has for `boxes`."""
        self.before: dict[Ref, tuple[Array, Sequence[Array] | None, Trace | None]] = {}
        """The state and the home that each Ref had before."""
        self.boxes: set[Ref] = set()
        """Refs that are arguments of the function."""
        self._first: dict[Ref, Array] = {}
        """The values that the others had when they were adopted, as those of this trace."""
        self.values: dict[Ref, Given] = {}
        self.tokens: dict[Ref, list[Given]] = {}
        """The arrays that the trace captures for their values and tokens."""

    def __enter__(self) -> Adopted:
        self._outer, _recording.adopted = _recording.adopted, self
        return self

    def __exit__(self, *_: object) -> None:
        _recording.adopted = self._outer
        for ref, before in self.before.items():
            ref._value, ref._token, ref._home = before

    def adopt(self, ref: Ref, with_token: bool) -> None:
        """Let the trace write to a Ref, if that was made outside of it.

        Raises:
            ValueError: it is an argument too, which stands for another array in the trace.
        """
        if self._is_inside(ref._home):
            if with_token and ref._token is None and (ref in self.before or ref in self.boxes):
                self.tokens[ref] = [Given(a) for a in ref_tokens.avals(ref.aval.inner_aval)]
                ref._token = [self._captured(x) for x in self.tokens[ref]]
            return
        if ref in self.given:
            raise ValueError(
                f"{self.trace.kind} at {source.user_line()}: a {ref.aval} was both closed over and "
                "passed as an argument: use it in one of these ways"
            )
        if self._outer is not None:
            self._outer.adopt(ref, with_token)
        self.before[ref] = ref._value, ref._token, ref._home
        ref._home, ref._token = self.trace, None
        if self.abstract:
            self.values[ref] = Given(ref._value.aval)
            ref._value = self._captured(self.values[ref])
        self._first[ref] = ref._value
        if with_token:
            self.adopt(ref, True)

    def _is_inside(self, trace: Trace | None) -> bool:
        while trace is not None and trace is not self.trace:
            trace = trace.parent
        return trace is not None

    def _captured(self, given: Given) -> Tracer:
        value = self.trace.value_of(given)
        return Tracer(self.trace, value, given.aval, self.trace.location)

    def written(self) -> dict[Ref, Array]:
        """Return the values of those that were written to."""
        return {x: x._value for x, first in self._first.items() if x._value is not first}


def boxed(box: Ref, token: Sequence[Array] | None) -> Ref:
    """Return a new Ref of a function as that for an argument, with the argument's token."""
    box._token = token
    adopted = _recording.adopted
    if adopted is not None and adopted.trace is innermost.trace:
        adopted.boxes.add(box)
    return box


def is_recording() -> bool:
    """Return True while a function runs just to tell which Refs it touches: nothing is written."""
    return _recording.touched is not None


def exist() -> bool:
    """Return True if there are Refs, or may be."""
    return len(_alive) > 0 or _expected.is_set()


def expect() -> None:
    """Take it from now on that there are Refs: there is what they are made of."""
    _expected.set()


class _Touched(BaseException):
    """Ends an operation that touches a Ref; functions of the user's do not catch it."""


def attempt(operation: Callable[[], T]) -> tuple[T] | None:
    """Return what an operation returns, in a tuple; None if it traces a function that touches a Ref
    from outside, or if it is itself part of a trace, which may have Refs of its own.
    """
    if not exist():
        return (operation(),)
    if innermost.trace is not None or is_recording():
        return None
    before, _recording.refuses = _recording.refuses, True
    try:
        return (operation(),)
    except _Touched:
        return None
    finally:
        _recording.refuses = before


def touched(function: Callable[[], Any]) -> dict[Ref, bool]:
    """Return the Refs from outside that a function reads or writes, with True for those whose
    tokens it passes.
    """
    if is_recording() or not exist():
        return {}
    found = _recording.touched = {}

    def run() -> list[Array]:
        function()
        return []

    try:
        trace_function(run, (), "the search for Refs", "refs", fresh_module=True)
    finally:
        _recording.touched = None
        for ref in found:
            ref.restore()
    return found
