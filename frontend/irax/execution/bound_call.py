"""The short way of a call: to a jitted function that was called with the same signature before.

All that such a call needs is known: the program, the signature, the captured arrays, the avals of
the results. What is left is to see that the signature is the same, and to run.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax import dtypes
from irax.config import config
from irax.core.array import ConcreteArray
from irax.core.avals import ShapedArray, aval_of_array, aval_placed
from irax.core.trees import array_trees
from irax.core.trees.known_structures import Taken
from irax.execution.jit_parameters import Static, static_key
from irax_runtime.device import Buffer, Executable
from irax_runtime.mesh import Spec

OTHER = object()
"""The result of a bound call for arguments of another signature, or in another state."""

BoundCall = Callable[[tuple[Any, ...], dict[str, Any]], Any]
"""Takes the arguments of a call outside of traces, and returns its results or `OTHER`."""


@dataclass(frozen=True)
class Results:
    """Makes a call's pytree of results from buffers."""

    avals: Sequence[ShapedArray]
    unflatten: Callable[[Sequence[Any]], Any] | None
    """Makes the pytree; None where it is an array."""

    def __call__(self, buffers: Sequence[Buffer], committed: bool) -> Any:
        """Return the results; arrays are committed if arguments were."""
        arrays = ConcreteArray.of_buffers(buffers, self.avals, committed)
        return arrays[0] if self.unflatten is None else self.unflatten(arrays)


_NUMBERS = {bool, int, float, complex}
_IMMUTABLE = {bool, int, float, complex, str, bytes, type(None)}
_LEAVES = {ConcreteArray, np.ndarray, *_NUMBERS}


def bound_call(
    executable: Executable,
    leaves: Sequence[Any],
    take: Taken | None,
    captured: Sequence[Buffer],
    results: Results,
    state: Any,
    donated: Sequence[int] = (),
    commits: bool = False,
    follows: bool = False,
    divides: Sequence[bool] | None = None,
) -> BoundCall | None:
    """Return a call of a program for arguments of one signature, in one state of the options. None
    where an argument is neither an array of irax's or NumPy's nor a number of either's.

    Args:
        executable: the program, for one device.
        leaves: the leaves of arguments of this signature.
        take: takes arguments of a call to their leaves; None where all arguments are leaves, given
            by position.
        captured: further arguments of the program.
        results: makes the results.
        state: `config.state` when the signature was looked up.
        donated: the leaves that the caller gives up.
        commits: True if results are committed to the device, wherever the arguments were put.
        follows: True if the program runs on that device because an argument was put there.
        divides: None unless the trace depends on how arguments are divided on a mesh's devices;
            else, for each leaf, True if arrays of NumPy's are divided as this one is.
    """
    if not all(type(x) in _LEAVES or isinstance(x, np.generic) for x in leaves):
        return None
    device: Any = executable.device
    count = len(leaves)
    layouts = [] if divides is None else [_layout(x, device) for x in leaves]
    divided = [] if divides is None else list(map(_divided, leaves, divides, layouts))
    run, put, array_type, ndarray = executable.run, device.put, ConcreteArray, np.ndarray
    # The last number in each place, and its buffer: loops often give the same one.
    last = [None if i in donated else [(OTHER, None)] for i in range(count)]
    signature = [(*_expected(x), kept) for x, kept in zip(leaves, last, strict=True)]
    avals, unflatten = results.avals, results.unflatten
    of_buffer, of_buffers = ConcreteArray.of_buffer, ConcreteArray.of_buffers

    def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if config.state is not state:
            return OTHER
        if take is None:
            if kwargs or len(args) != count:
                return OTHER
            given: Sequence[Any] = args
        else:
            given = take(args, kwargs)
            if given is None:
                return OTHER
        committed, moves = commits and not follows, False
        buffers: list[Any] = []
        for x, (expected, dtype, kept) in zip(given, signature):  # noqa: B905 (of equal lengths)
            kind = type(x)
            if kind is array_type:
                if x.aval is not expected and x.aval != expected:  # which does not compare layouts
                    return OTHER
                buffer = x._buffer
                if buffer is None or buffer.device is not device:
                    if x.committed:
                        return OTHER
                    buffer, moves = x, True
                elif x.committed:
                    committed = True
            elif kind is expected:
                # Read once: other threads may replace it.
                number, buffer = kept[0] if kept else (OTHER, None)
                if number is not x:
                    try:
                        buffer = put(np.asarray(x, dtype))
                    except OverflowError:
                        return OTHER
                    if kept is not None:
                        kept[0] = x, buffer
            elif kind is ndarray and (x.shape, x.dtype) == expected:
                is_same = x.dtype == dtype
                buffer = put(x) if is_same else put(np.asarray(x, dtype, order="C"), may_alias=True)
            elif kind is ndarray and divided and (x.shape, x.dtype) == divided[len(buffers)]:
                buffer, committed = device.put_shards(x, layouts[len(buffers)]), True
            elif (kind,) == expected:
                try:
                    buffer = put(np.asarray(x.item(), dtype))
                except OverflowError:
                    return OTHER
            else:
                return OTHER
            buffers.append(buffer)
        if follows and not committed:
            return OTHER
        if moves:
            buffers = [x.buffer(device) if type(x) is array_type else x for x in buffers]
        if layouts and [buffer.spec for buffer in buffers] != layouts:
            return OTHER
        if captured:
            buffers += captured
        if donated:
            check_given_once(buffers, donated)
        found = run(buffers)
        if donated:
            forget(given, donated)
        if unflatten is None:
            return of_buffer(found[0], avals[0], committed)
        return unflatten(of_buffers(found, avals, committed))

    return call


def _layout(x: Any, device: Any) -> Spec | None:
    """Return how a leaf is divided on the devices of a mesh; None if it was put elsewhere."""
    if type(x) is not ConcreteArray or not x.committed:
        return ((),) * np.ndim(x)
    buffer: Any = x._buffer
    return buffer.spec if buffer.device is device else None


def _divided(x: Any, divides: bool, layout: Spec | None) -> tuple[Any, ...] | None:
    """Return the shape and the dtype of arrays of NumPy's that may take an array's place."""
    if not divides or layout is None or type(x) is not ConcreteArray or x.weak_type:
        return None
    return x.shape, x.dtype


def check_given_once(buffers: Sequence[Any], donated: Sequence[int]) -> None:
    """Check that no donated array is another argument of the same call too.

    Raises:
        RuntimeError: one is.
    """
    if len(set(map(id, buffers))) == len(buffers):
        return
    for i in donated:
        other = next((j for j, x in enumerate(buffers) if x is buffers[i] and j != i), None)
        if other is not None:
            raise RuntimeError(
                f"jit: array {i} of the arguments is donated, and the same array is given again, "
                f"as array {other}: its memory is given up once; give x.copy() in one of the places"
            )


def forget(leaves: Sequence[Any], donated: Sequence[int]) -> None:
    """Let go of the elements of arrays that were donated to a program, and are gone."""
    for i in donated:
        x = leaves[i]
        if type(x) is not ConcreteArray or x._numpy is None or x._buffer is None:
            continue
        if x._buffer.is_deleted():
            x._numpy = None


def with_static(bound: BoundCall, static: Sequence[Static], count: int) -> BoundCall | None:
    """Return a call that takes static arguments too, among `count` positional ones: objects that
    are equal to those before. None if one may have changed since.
    """
    if not all(_never_changes(item.value) for item in static):
        return None
    placed = [(x.where, x.value, static_key(x.value)) for x in static if isinstance(x.where, int)]
    named = [(x.where, x.value, static_key(x.value)) for x in static if isinstance(x.where, str)]
    fixed = {where for where, *_ in placed}
    others = [i for i in range(count) if i not in fixed]
    dynamic = _taking(others)

    def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if len(args) != count:
            return OTHER
        for where, value, key in placed:
            given = args[where]
            if given is not value and static_key(given) != key:
                return OTHER
        if named:
            kwargs = dict(kwargs)
            for name, value, key in named:
                given = kwargs.pop(name, OTHER)
                if given is not value and static_key(given) != key:
                    return OTHER
        return bound(dynamic(args), kwargs)

    return call


def _taking(places: Sequence[int]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Return what takes the items of a tuple that are in some places."""
    if not places:
        return lambda items: ()
    first, last = places[0], places[-1]
    if len(places) > 1 and len(places) <= last - first:
        return operator.itemgetter(*places)
    return operator.itemgetter(slice(first, last + 1))


def _never_changes(value: Any) -> bool:
    """Return True if what an object is equal to is the same for ever, whatever is done to it."""
    if type(value) is tuple:
        return all(map(_never_changes, value))
    return type(value) in _IMMUTABLE or type(value).__eq__ is object.__eq__


def _expected(x: Any) -> tuple[Any, np.dtype[Any] | None]:
    """Return the part of a signature that stands for a leaf, and the dtype that it gets."""
    if type(x) is ConcreteArray:
        return x.aval, None
    if type(x) is np.ndarray:
        return (x.shape, x.dtype), dtypes.canonicalize_dtype(x.dtype)
    dtype = dtypes.scalar_to_array(x).dtype
    # NumPy makes other integers of integers of its own that do not fit, but not of Python's.
    is_narrowed = isinstance(x, np.integer) and dtype != x.dtype
    return (type(x),) if is_narrowed else type(x), dtype


def results_as(tree: Any, avals: Sequence[ShapedArray]) -> Results:
    """Return what makes a pytree of arrays from the buffers of their elements."""
    # When results become arguments, an aval that is the same object is found equal at once.
    avals = [
        aval_placed(aval_of_array(a.shape, a.dtype, a.weak_type), a.memory_kind, a.sums)
        for a in avals
    ]
    is_array = tree.num_nodes == 1 and len(avals) == 1  # an empty tree is a leaf, too
    return Results(avals, None if is_array else array_trees.in_order(tree).unflatten)


def flattened(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Sequence[Any], Any]:
    """Return the leaves of a call's arguments, and their structure. Where all arguments are arrays
    or numbers, as in most calls, nothing needs to be flattened.
    """
    if kwargs:
        return array_trees.tree_flatten((args, kwargs))
    for x in args:
        if type(x) is not ConcreteArray and type(x) not in _NUMBERS:
            return array_trees.tree_flatten((args, kwargs))
    return args, tree_of_leaves(len(args))


@functools.cache
def tree_of_leaves(count: int) -> Any:
    """Return the structure of a call whose arguments are leaves."""
    return array_trees.tree_structure(((0,) * count, {}))
