"""Functions that a compiled program calls on the host: NumPy's, where they are better than code,
and those of the user.

A program with such calls has the reflection attribute `irax.host`, a list in JSON of what it
imports: the name of one of `FUNCTIONS`, its parameters, the types of arguments and of results. The
names `callback` and `action` stand for a function of the user's, one of `CALLBACKS` by its key. An
action has an effect: its last argument and result is a token, by which effects keep their order;
`end` takes the last one.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

import iree.runtime as rt
import numpy as np

from irax_runtime import fourier, interruptible, linalg
from irax_runtime.communication import collectives
from irax_runtime.signature import TensorType, parse_signature

Array = np.ndarray[Any, Any]
Read = Callable[[Any, TensorType], Array]
"""Returns the elements of IREE's reference to a view that has a type."""
Put = Callable[[Array], Any]
"""Puts an array that nobody else writes to where the program can read it; returns IREE's reference
to a view of it."""


LONG = 4096
"""Elements in a row from which on it is looked at alone."""
_BRIEF = 1 << 16
"""Elements of an array up to which a library's function takes no longer than some 50 ms."""


def sort(x: Array, *, dimension: int) -> Array:
    """The numbers along a dimension in order, nan last; zeros of either sign as they were."""
    zeros = np.signbit(x[x == 0]) if x.dtype.kind == "f" else np.empty(0)
    mixed = zeros.any() and not zeros.all()
    return np.sort(x, dimension, kind="stable" if mixed else None)


def argsort(*keys: Array, dimension: int) -> Array:
    """The places of elements along a dimension in the order of the first key, where that ties of
    the second, and so on; where all tie, in their own.
    """
    return np.lexsort(keys[::-1], dimension).astype(_place_dtype(keys[0].shape[dimension]))


def _place_dtype(length: int) -> type[np.signedinteger[Any]]:
    """Return the dtype of places that programs expect."""
    return np.int32 if length <= np.iinfo(np.int32).max else np.int64


def first(keys: Array, *, dimension: int, count: int) -> Array:
    """The places of the `count` smallest of unsigned numbers along a dimension, in their order, of
    equal ones the first; fewer than there are.
    """
    rows = np.moveaxis(keys, dimension, -1)
    length = rows.shape[-1]
    if length < LONG and keys.itemsize <= 4:
        # Number and place in one, which NumPy sorts for all rows at a time.
        packed = (rows.astype(np.uint64) << np.uint64(32)) | np.arange(length, dtype=np.uint64)
        smallest = np.sort(np.partition(packed, count - 1)[..., :count])
        found = smallest & np.uint64(0xFFFFFFFF)
    else:
        flat = [_first_of_row(row, count) for row in rows.reshape(-1, length)]
        found = np.stack(flat).reshape(*rows.shape[:-1], count)
    return np.moveaxis(found, -1, dimension).astype(_place_dtype(length))


def _first_equal(row: Array, x: Any, count: int) -> Array:
    """The places of the `count` first elements that equal a number; there are as many."""
    found: list[Array] = []
    for start in range(0, len(row), _PART):
        found.append(start + np.flatnonzero(row[start : start + _PART] == x)[:count])
        count -= len(found[-1])
        if not count:
            break
    return np.concatenate(found)


_PART = 1 << 16
"""The elements that are compared at a time."""


def _first_of_row(row: Array, count: int) -> Array:
    # Of the smallest numbers of `width` parts, the last of the `count` first is a bound.
    width = max(count, 1024)
    depth = len(row) // width
    if depth >= 4:
        parts = row[: width * depth].reshape(depth, width).min(axis=0)
        bound = np.partition(parts, count - 1)[count - 1]
        row_of = np.flatnonzero(row < bound)
        if len(row_of) < count:  # there may be very many that are equal to the bound
            row_of = np.append(row_of, _first_equal(row, bound, count - len(row_of)))
    else:
        row_of = np.arange(len(row))
    found = row[row_of]
    bound = np.partition(found, count - 1)[count - 1]
    below, at = np.flatnonzero(found < bound), np.flatnonzero(found == bound)
    chosen = np.concatenate([below, at[: count - len(below)]])
    return row_of[chosen[np.argsort(found[chosen], kind="stable")]]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "argsort": argsort,
    "cholesky": linalg.cholesky,
    "eig": linalg.eig,
    "eigh": linalg.eigh,
    "fft": fourier.fft,
    "first": first,
    "lu": linalg.lu,
    "qr": linalg.qr,
    "schur": linalg.schur,
    "solve": linalg.solve,
    "sort": sort,
    "svd": linalg.svd,
    "triangular_solve": linalg.triangular_solve,
    **collectives.FUNCTIONS,
}
"""The functions that programs may import, by name. Arguments are read-only; results are new arrays.
"""

Callback = Callable[[Sequence[Array], Sequence[tuple[tuple[int, ...], np.dtype[Any]]]], Any]
"""Takes arrays, and the shapes and dtypes of the arrays that it must return; returns a list."""

CALLBACKS: WeakValueDictionary[str, Callback] = WeakValueDictionary()
"""Functions of the user's that programs may import, by key. A program keeps those it has alive."""


def has_effects(imports: str) -> bool:
    """Return True if a program imports functions of the user's, or communicates."""
    return not all(_is_library(name) for name, *_ in json.loads(imports))


def may_take_long(imports: str) -> bool:
    """Return True if a library's function may take longer than Ctrl-C should have to wait. Others
    run in the thread that waits, anyway.
    """
    types = (
        type_
        for name, _, arguments, _ in json.loads(imports)
        if _is_library(name)
        for type_ in parse_signature(arguments)
    )
    return any(math.prod(type_.shape) > _BRIEF for type_ in types)


def _is_library(name: str) -> bool:
    """True for functions that, unlike others, may run while nobody waits any more."""
    return name in FUNCTIONS and name not in collectives.FUNCTIONS


def host_module(imports: str, read: Read, put: Put, meter: int) -> Any:
    """The module that a program imports from: functions f0, f1, ... as `imports` lists them, and
    `meter`, which returns the address of the number that loops take time from.

    Raises:
        ValueError: a function is not one of `FUNCTIONS`, or of `CALLBACKS`.
    """
    interface = rt.PyModuleInterface("irax_host", _State)
    for number, (name, parameters, arguments, results) in enumerate(json.loads(imports)):
        types = parse_signature(arguments), parse_signature(results)
        convention = "0" + "_".join("r" * len(side) or "v" for side in types)
        called = _found(name, parameters, types[1])
        function = _adapted(called, types, read, put, _is_library(name))
        at_once = getattr(CALLBACKS.get(parameters.get("key", "")), "at_once", None)
        if at_once is not None and name == "action":
            function = _unless_known(function, at_once, types[1], put)
        interface.export(f"f{number}", convention, function)
    interface.export("meter", "0v_I", lambda state: meter)
    return interface.create()


def _found(
    name: str, parameters: dict[str, Any], results: Sequence[TensorType]
) -> Callable[..., Any]:
    """The function of arrays that an import is."""
    if name in FUNCTIONS:
        return partial(FUNCTIONS[name], **parameters)
    if name == "end":
        return lambda token: ()
    if name not in ("callback", "action"):
        known = ", ".join(FUNCTIONS)
        raise ValueError(f"the program imports {name!r}; this runtime has {known}")
    key = parameters["key"]
    callback = CALLBACKS.get(key)
    if callback is None:
        raise ValueError(
            f"the program calls {key!r} of the Python process that traced it, which is not here: "
            "run it in that process"
        )
    expected = [(type_.shape, type_.dtype) for type_ in results]
    if name == "callback":
        return lambda *arrays: tuple(callback(arrays, expected))
    return lambda *arrays: (*callback(arrays[:-1], expected[:-1]), arrays[-1])


def take_error() -> BaseException | None:
    """Return, once, what a host function last raised in this thread: IREE passes its text alone."""
    error, _raised.error = _raised.error, None
    return error


class _Raised(threading.local):
    error: BaseException | None = None


_raised = _Raised()


def _keep(error: BaseException) -> None:
    _raised.error = error


def _unless_known(
    function: Callable[..., Any],
    at_once: Callable[[], Sequence[Any] | None],
    types: Sequence[TensorType],
    put: Put,
) -> Callable[..., Any]:
    """Return an action that is left out where `at_once` knows its results: in the program's thread,
    without waiting for the one that runs actions. The token is passed on.
    """

    def call(state: _State, *references: Any) -> Any:
        known = at_once()
        if known is None:
            return function(state, *references)
        made = [
            put(np.asarray(x, type_.dtype).reshape(type_.shape))
            for x, type_ in zip(known, types[:-1], strict=False)
        ]
        return (*made, references[-1]) if made else references[-1]

    return call


class _State:
    """The module's state in one context of a program: empty."""

    def __init__(self, interface: Any) -> None:
        pass


def _adapted(
    function: Callable[..., Any],
    types: tuple[Sequence[TensorType], Sequence[TensorType]],
    read: Read,
    put: Put,
    is_library: bool,
) -> Callable[..., Any]:
    """The function as IREE calls it, of references to views of memory."""
    argument_types, result_types = types

    def call(state: _State, *references: Any) -> Any:
        try:
            if is_library:
                return run(references)
            return interruptible.in_waiting_thread(run, references)
        except interruptible.LeftBehind:
            raise
        except BaseException as error:
            interruptible.in_waiting_thread(_keep, error)
            raise

    def run(references: Sequence[Any]) -> Any:
        found = function(*map(read, references, argument_types))
        results = found if isinstance(found, tuple) else (found,)
        typed = [
            np.ascontiguousarray(x, type_.dtype).reshape(type_.shape)
            for x, type_ in zip(results, result_types, strict=True)
        ]
        made = tuple(map(put, typed))
        return made[0] if len(made) == 1 else made

    return call
