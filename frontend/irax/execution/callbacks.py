"""Callbacks: Python functions that compiled programs call.

A `HostFunction` is what a program calls: the user's function, and how flat arrays become its
arguments, and its result flat arrays. The IR names it by a key; whoever holds the module (see
`tracing.ModuleBuilder.kept`) or the program keeps it alive.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from irax import dtypes
from irax.core import source
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.dispatch import acting, beside, bind, staged
from irax.core.dtypes.promotion import convert
from irax.core.module_builder import ModuleBuilder
from irax.core.shardings.meshes import get_abstract_mesh
from irax.core.shardings.shardings import SingleDeviceSharding
from irax.core.tracebacks import api_boundary
from irax.core.tracing import outside_traces
from irax.core.trees import array_trees
from irax_compiler import mlir
from irax_compiler.ops import callback as ops
from irax_runtime import in_flight, memory

Elements = np.ndarray[Any, Any]
Expected = Sequence[tuple[tuple[int, ...], np.dtype[Any]]]

_WIDENED = frozenset(
    [
        *("float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3"),
        *("float8_e4m3b11fnuz", "float8_e8m0fnu"),
    ]
)
"""The floats that programs pass to callbacks in float32."""


@api_boundary
def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: SingleDeviceSharding | None = None,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:
    """Call a Python function that has no side effects: NumPy, SciPy or anything else.

    Inside `jit` the compiled program calls it each time that it runs; as often as it likes, and not
    at all where nobody needs the result. It has no derivative: give the function around it one with
    `custom_jvp`.

    Args:
        callback: takes the arguments, with arrays in them as irax arrays, and returns a pytree of
            arrays or numbers.
        result_shape_dtypes: a pytree with a `shape` and a `dtype` for each array it returns, such
            as `ShapeDtypeStruct`s.
        args: pytrees of arrays.
        sharding: a `SingleDeviceSharding`, which says what holds anyway: the callback gets whole
            arrays, however the program divides them.
        vmap_method: what `vmap` does. "sequential": a call for each lane; "sequential_unrolled":
            the same, without a loop. One call for all lanes, which are along axis 0 of all arrays:
            "broadcast_all"; or of length 1 for those that the lanes share: "expand_dims"; or those
            do not have it: "legacy_vectorized".
        kwargs: more of them, by name.

    Returns:
        The callback's result, with irax arrays.

    Raises:
        TypeError: an argument is not an array; or when it runs, the callback returns another
            structure or dtype.
        ValueError: an unknown `vmap_method`, or 64-bit results without `enable_x64`; or when it
            runs, the callback returns another shape.
        NotImplementedError: under `vmap` without a `vmap_method`; another `sharding`, or one inside
            of a `shard_map`, whose devices call it each.

    >>> import numpy as np
    >>> result = irax.ShapeDtypeStruct((3,), "float32")
    >>> irax.jit(lambda x: irax.pure_callback(np.sort, result, x))(irax.numpy.array([3.0, 1, 2]))
    Array([1., 2., 3.], dtype=float32)
    """
    what = "pure_callback"
    if vmap_method is not None and vmap_method not in ops.VMAP_METHODS:
        raise ValueError(
            f"{what}: vmap_method must be None or one of "
            f"{', '.join(map(repr, ops.VMAP_METHODS))}, got {vmap_method!r}"
        )
    if sharding is not None:
        _check_sharding(what, sharding)
    make = partial(ops.Callback, vmap_method=vmap_method or "")
    return _called(what, "pure", make, callback, result_shape_dtypes, args, kwargs)


def _check_sharding(what: str, sharding: Any) -> None:
    """Raise NotImplementedError for a sharding that callbacks cannot have."""
    if not isinstance(sharding, SingleDeviceSharding):
        raise NotImplementedError(
            f"{what}: sharding must be a SingleDeviceSharding or None, got {sharding!r}"
        )
    if get_abstract_mesh().manual_axes:
        raise NotImplementedError(
            f"{what}: sharding={sharding!r} inside of a shard_map, each of whose devices calls the "
            "function; expected None"
        )


@api_boundary
def io_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: None = None,
    ordered: bool = False,
    **kwargs: Any,
) -> Any:
    """Call a Python function that has side effects: it reads, writes or counts.

    Inside `jit` the compiled program calls it as often as Python would, in Python's order, even
    where nobody needs what it returns. `vmap` calls it for one lane after the other.

    Args:
        callback: takes the arguments, with arrays in them as irax arrays, and returns a pytree of
            arrays or numbers, or None.
        result_shape_dtypes: a pytree with a `shape` and a `dtype` for each array it returns; None
            or an empty pytree if it returns none.
        args: pytrees of arrays.
        sharding: accepted for JAX's sake; None.
        ordered: True if the order of calls matters: then there is no `vmap`.
        kwargs: more of them, by name.

    Returns:
        The callback's result, with irax arrays.

    Raises:
        TypeError, ValueError: as `pure_callback`; and a ValueError for `vmap` if it is ordered.

    >>> from irax.experimental import io_callback
    >>> seen = []
    >>> irax.jit(lambda x: io_callback(lambda x: seen.append(float(x)), None, x))(1.5)
    >>> seen
    [1.5]
    """
    if sharding is not None:
        raise NotImplementedError(
            f"io_callback: sharding={sharding!r} is not supported; expected None"
        )
    make = partial(ops.Callback, ordered=bool(ordered))
    return _called("io_callback", "io", make, callback, result_shape_dtypes, args, kwargs)


def effects_barrier() -> None:
    """Waits until all callbacks have returned: they have, when a call of a compiled function that
    has some returns. Calls that are still at work are waited for, too.

    >>> irax.effects_barrier()
    """
    in_flight.wait_for_all()


def _called(
    what: str,
    kind: str,
    make: Callable[..., ops.Callback],
    function: Callable[..., Any],
    result_shape_dtypes: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    if not callable(function):
        raise TypeError(f"{what}: expected a function, got {function!r}")
    expected = [
        expected_result(what, array_trees.keystr(path), x)
        for path, x in array_trees.tree_leaves_with_path(result_shape_dtypes)
    ]
    leaves, in_tree = array_trees.tree_flatten((args, kwargs))
    named = array_trees.tree_leaves_with_path(args) + array_trees.tree_leaves_with_path(kwargs)
    arrays = [
        as_array(x, f"{what} of {label(function)}: argument {array_trees.keystr(path)}")
        for x, (path, _) in zip(leaves, named, strict=True)
    ]
    out_tree = array_trees.tree_structure(_as_tuples(result_shape_dtypes))
    host_function = HostFunction(function, what, where(), in_tree, (), out_tree)
    found = call(kind, host_function, make, arrays, expected)
    return array_trees.tree_unflatten(array_trees.tree_structure(result_shape_dtypes), found)


def expected_result(what: str, place: str, x: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape and dtype of one result; errors name its place among the results."""
    name = f"{what}: result_shape_dtypes{place}"
    if not hasattr(x, "shape") or not hasattr(x, "dtype"):
        raise TypeError(
            f"{name}: expected something with a shape and a dtype, such as "
            f"irax.ShapeDtypeStruct((2, 3), 'float32'), got {x!r}"
        )
    dtype = np.dtype(x.dtype)
    if dtypes.canonicalize_dtype(dtype) != dtype:
        raise ValueError(f"{name}: {dtype} needs enable_x64; expected a narrower dtype")
    return tuple(x.shape), dtype


# ---- errors --------------------------------------------------------------------------------------

Told = Callable[[Exception, str], Exception]
"""Returns the error that callers get for one of a callback, whose name it is given."""


_told: list[Told] = []


def tell_errors_as(told: Told) -> None:
    """Have a function tell the errors of callbacks, once for the process."""
    _told[:] = [told]


# ---- functions that programs call ----------------------------------------------------------------


@dataclass(frozen=True)
class HostFunction:
    """A Python function as one of flat arrays."""

    function: Callable[..., Any]
    what: str
    """The name of the function of irax's that it was given to."""
    where: str
    """The user's line with that call."""
    in_tree: Any
    static: tuple[tuple[int, Any], ...]
    """Leaves of the arguments that are not arrays, and their places among the leaves."""
    out_tree: Any
    """The structure of its result, with tuples for lists; None where the result does not count."""
    at_once: Callable[[], Sequence[int] | None] | None = None
    """Asked before a call, in the program's thread: the results, or None if they need the call."""
    dtypes: tuple[tuple[np.dtype[Any], ...], ...] = ()
    """The dtypes of the arguments and of the results, if programs pass some in wider ones."""

    def __call__(self, arrays: Sequence[Elements], expected: Expected) -> list[Elements]:
        """Call the function, and return its results in the expected shapes and dtypes."""
        if not self.dtypes:
            return self._logged(arrays, expected)
        of_arguments, of_results = self.dtypes
        arrays = [x.astype(dtype) for x, dtype in zip(arrays, of_arguments, strict=True)]
        inner = [(shape, dtype) for (shape, _), dtype in zip(expected, of_results, strict=True)]
        results = self._logged(arrays, inner)
        return [x.astype(dtype) for x, (_, dtype) in zip(results, expected, strict=True)]

    def _logged(self, arrays: Sequence[Elements], expected: Expected) -> list[Elements]:
        if self.what in ("pure_callback", "progress"):
            return self._run(arrays, expected)
        if _log.replayed is not None:
            return _log.replayed.popleft()
        results = self._run(arrays, expected)
        if _log.recorded is not None:
            _log.recorded.append(results)
        return results

    def _run(self, arrays: Sequence[Elements], expected: Expected) -> list[Elements]:
        # Copies, because the program may use the memory again while the user still has the array.
        leaves: list[Any] = [ConcreteArray(memory.aligned_copy(x)) for x in arrays]
        for place, leaf in self.static:
            leaves.insert(place, leaf)
        args, kwargs = array_trees.tree_unflatten(self.in_tree, leaves)
        with outside_traces(), _unlogged():
            if not _told or self.what not in ("pure_callback", "io_callback"):
                return self._results(args, kwargs, expected)
            try:
                return self._results(args, kwargs, expected)
            except Exception as error:
                raise _told[0](error, f"{self.what} of {label(self.function)}") from error

    def _results(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], expected: Expected
    ) -> list[Elements]:
        out = self.function(*args, **kwargs)
        is_unread = self.at_once is not None and not expected
        return [] if self.out_tree is None or is_unread else self._checked(out, expected)

    def _checked(self, out: Any, expected: Expected) -> list[Elements]:
        out = _as_tuples(out)
        name = f"{self.what} of {label(self.function)} at {self.where}"
        if out is None and not self.out_tree.num_leaves:
            return []
        if array_trees.tree_structure(out).num_leaves != self.out_tree.num_leaves:
            error = array_trees.structure_error(
                self.out_tree, out, "result_shape_dtypes", "what it returned"
            )
            raise TypeError(f"{name}: {error}")
        found = []
        for (path, leaf), (shape, dtype) in zip(
            array_trees.tree_leaves_with_path(out), expected, strict=True
        ):
            which = f"{name}: the result{array_trees.keystr(path)}"
            if not isinstance(leaf, Array) and hasattr(leaf, "__array__"):
                leaf = np.asarray(leaf)  # of another library, or of NumPy
            array = leaf if isinstance(leaf, np.ndarray) else as_array(leaf, which)
            given = dtypes.canonicalize_dtype(array.dtype)
            if array.shape != shape:
                raise ValueError(f"{which} has shape {array.shape}; expected {shape}")
            weak = isinstance(array, Array) and array.weak_type
            if given != dtype and not (weak and _holds(dtype, given)):
                raise TypeError(f"{which} has dtype {given}; expected {dtype}")
            elements = np.asarray(array).astype(dtype, copy=False)
            # A copy, because the user may write to the array again; nobody does to one of irax's.
            found.append(elements if isinstance(array, Array) else memory.aligned_copy(elements))
        return found


def _holds(dtype: np.dtype[Any], scalar: np.dtype[Any]) -> bool:
    """Return True if a Python number of dtype `scalar` may be of another dtype as well."""
    kinds = [np.bool_, np.integer, np.floating, np.complexfloating]
    ranks = [
        next(i for i, kind in enumerate(kinds) if dtypes.issubdtype(d, kind))
        for d in (scalar, dtype)
    ]
    return 0 < ranks[0] <= ranks[1]


def _as_tuples(tree: Any) -> Any:
    """The pytree with tuples for lists and named tuples: functions return now these, now those."""
    if isinstance(tree, tuple | list):
        return tuple(map(_as_tuples, tree))
    if type(tree) is dict:
        return {key: _as_tuples(value) for key, value in tree.items()}
    return tree


def call(
    kind: str,
    function: HostFunction,
    make: Callable[..., ops.Callback],
    arrays: Sequence[Array],
    expected: Expected,
) -> list[Array]:
    """The results of a callback of a kind: at once outside of all traces; inside one, a call of it
    is written down, as the op that `make` gives for its kind, a key and the types of the results.
    """

    def run() -> list[Array]:
        elements = [x.concrete("a callback", TypeError) for x in arrays]
        results = [ConcreteArray(x) for x in function(elements, expected)]
        return [beside(function.what, x, arrays) for x in results]

    def write(builder: ModuleBuilder) -> list[Array]:
        given = [x.dtype for x in arrays]
        returned = [dtype for _, dtype in expected]
        passed = {dtype: _passed_as(dtype) for dtype in (*given, *returned)}
        is_wider = any(dtype != wider for dtype, wider in passed.items())
        registered, key = _registered(
            replace(function, dtypes=(tuple(given), tuple(returned))) if is_wider else function
        )
        builder.kept.append(registered)
        types = tuple(mlir.tensor_type(shape, passed[dtype]) for shape, dtype in expected)
        taken = [convert(x, passed[x.dtype]) for x in arrays] if is_wider else arrays
        results = bind(make(key=key, types=types, kind=kind), *taken)
        return [convert(x, dtype) for x, dtype in zip(results, returned, strict=True)]

    if kind == "pure":
        return staged(run, write, arrays)
    return acting(run, write, arrays, reads=kind in ("debug", "progress"))


def _passed_as(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of the arrays in which programs pass those of `dtype`: devices have none of
    integers of a few bits, and of few small floats.
    """
    if dtypes.issubdtype(dtype, np.integer) and dtypes.iinfo(dtype).bits < 8:
        return np.dtype(np.int8 if dtypes.issubdtype(dtype, np.signedinteger) else np.uint8)
    return np.dtype(np.float32) if dtype.name in _WIDENED else dtype


def split(tree: Any) -> tuple[list[Array], tuple[tuple[int, Any], ...], Any]:
    """The arrays and numbers of a pytree; its other leaves, with their places; its structure."""
    leaves, structure = array_trees.tree_flatten(tree)
    arrays, static = [], []
    for place, leaf in enumerate(leaves):
        try:
            arrays.append(as_array(leaf))
        except TypeError:
            static.append((place, leaf))
    return arrays, tuple(static), structure


def label(function: Callable[..., Any]) -> str:
    """Return the name of a function in the IR and in errors."""
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if name is None:
        named = type(function).__str__ is not object.__str__
        return str(function) if named else type(function).__name__
    module = getattr(function, "__module__", None)
    return f"{module}.{name}" if module else name


# ---- keys ----------------------------------------------------------------------------------------

_keys: weakref.WeakKeyDictionary[Callable[..., Any], dict[Any, str]] = weakref.WeakKeyDictionary()
"""The keys that a function of the user's has had, by the other fields of the `HostFunction`: traced
again, it makes the same module, whose program is kept on disk.
"""
_numbers: dict[str, int] = {}
_registering = threading.RLock()
"""Two functions must not be given one number. Comparing leaves may run code of the user's."""


def _registered(function: HostFunction) -> tuple[HostFunction, str]:
    """A function equal to this one that the compiler and the runtime know, and its key, which no
    other one ever had.
    """
    from irax_runtime import host  # which loads IREE's runtime

    with _registering:
        key = _key(function)
        there = ops.CALLBACKS.get(key)
        if isinstance(there, HostFunction):
            return there, key
        ops.CALLBACKS[key] = host.CALLBACKS[key] = function
        return function, key


def _key(function: HostFunction) -> str:
    """The key that equal functions have had, or a new one."""
    others = (function.what, function.where, function.in_tree, function.static, function.out_tree)
    others = (*others, function.at_once, function.dtypes)
    keys: dict[Any, str] = {}
    with suppress(TypeError):  # of functions that are not hashable, or have no weak references
        keys = _keys.setdefault(function.function, keys)
    try:
        key = keys.get(others)
    except TypeError:  # of leaves that are not hashable
        keys, key = {}, None
        others = None
    if key is None:
        name = label(function.function)
        number = _numbers[name] = _numbers.get(name, 0) + 1
        key = keys[others] = name if number == 1 else f"{name}#{number}"
    return key


def where() -> str:
    """The user's file and line."""
    return source.user_line().partition(": ")[0]


# ---- recording and replaying calls ---------------------------------------------------------------


class _Log(threading.local):
    recorded: list[list[Elements]] | None = None
    replayed: deque[list[Elements]] | None = None


_log = _Log()


@contextmanager
def recorded() -> Iterator[list[list[Elements]]]:
    """In a `with` block, record the results of this thread's callbacks with side effects."""
    outer, _log.recorded = _log.recorded, []
    try:
        yield _log.recorded
    finally:
        _log.recorded = outer


@contextmanager
def replayed(results: list[list[Elements]]) -> Iterator[None]:
    """In a `with` block, callbacks with side effects are not called in this thread: they return the
    recorded results.
    """
    outer, _log.replayed = _log.replayed, deque(results)
    try:
        yield
    finally:
        _log.replayed = outer


@contextmanager
def _unlogged() -> Iterator[None]:
    """In a `with` block, calls are neither recorded nor replayed: user functions run in it."""
    outer = _log.recorded, _log.replayed
    _log.recorded = _log.replayed = None
    try:
        yield
    finally:
        _log.recorded, _log.replayed = outer
