"""Replays: functions made of many operations, traced once and then evaluated outside of traces.

An operation outside of traces takes some microseconds of Python, and functions such as `median` are
made of dozens. So a function that is called again and again with arguments of the same types is
traced, and from then on what was traced is evaluated, as a straight line of calls of NumPy. Nothing
is compiled: the rules are those that evaluate single operations.
"""

from __future__ import annotations

import enum
import functools
import inspect
import math
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from irax.config import config
from irax.core import origins, source
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.dispatch import runs_at_once
from irax.core.dtypes.python_ints import is_outside, range_of
from irax.core.dtypes.strictness import library
from irax.core.interpreters.replay import Replay
from irax.core.key_arrays import KeyArray
from irax.core.tracebacks import api_boundary, hide_frames
from irax.core.tracing import Input, Traced, concrete_array, trace_function
from irax.core.trees import array_trees
from irax.execution import library_stages
from irax_compiler import api, mlir
from irax_compiler.ops.evaluation import straight
from irax_compiler.ops.evaluation.evaluator import Program
from irax_compiler.ops.transformation import Evaluation
from irax_compiler.quiet import quietly
from irax_runtime.once import once

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Kind = TypeVar("_Kind", bound=type)

_ENOUGH = 3e-4
"""Seconds after which calls of a kind, together, have taken about as long as tracing does."""

_MOST = 4096
"""The most kinds of calls that are kept, of all functions together."""

_LARGE = 1 << 14
"""The most elements of captured arrays that are kept for one kind of call."""

_PLAIN = frozenset({int, bool, str, type(None), type(Ellipsis)})
_NUMBERS = frozenset({int, float})
_FIXED: tuple[type, ...] = (type, np.dtype, enum.Enum)


def replayed(function: _Function, numbers_vary: bool = False) -> _Function:
    """Return the function with replays: outside of traces, calls of the same kind become faster.

    What it does must depend on nothing but its arguments and the options that traces depend on.
    Calls that depend on elements of arrays are not replayed. Numbers of Python are part of the kind
    of a call; with `numbers_vary` they are operands, like arrays.

    It has the methods `lower`, `trace`, `eval_shape` and `clear_cache` of jitted functions.
    """
    plain, function = function, library(function, numbers_vary)
    kept: dict[Any, _Replay | float | None] = {}  # until it is replayed, the time it has taken
    _all_kept.append(kept)

    @functools.wraps(plain)
    def replaying(*args: Any, **kwargs: Any) -> Any:
        try:
            if config.stepwise or not runs_at_once():
                return function(*args, **kwargs)
            arrays: list[Any] = []
            ints: list[int] = []
            key: list[Any] = [config.traced, *kwargs]
            for x in (*args, *kwargs.values()) if kwargs else args:
                kind = type(x)
                if kind is ConcreteArray and not x.committed:
                    arrays.append(x)
                    key.append(x.aval)
                elif numbers_vary and kind in _NUMBERS:
                    number = _number(x)
                    if number is None:
                        return function(*args, **kwargs)
                    arrays.append(number)
                    key.append(number.aval)
                    if kind is int and not 0 <= x <= 1:
                        ints.append(x)
                elif kind in _PLAIN:
                    key += (kind, x)  # the type too, because 1 == True
                elif not _describe(x, key, arrays):
                    return function(*args, **kwargs)
            place = tuple(key)
            replay = kept.get(place, 0)
            if isinstance(replay, _Replay):
                for x in ints:
                    if not replay.least <= x <= replay.greatest:
                        return function(*args, **kwargs)  # a replay would wrap it around
                return replay(arrays)
            if replay is None:
                return function(*args, **kwargs)
            if replay > _ENOUGH and not any(is_outside(x, a.dtype) for a in arrays for x in ints):
                if numbers_vary:
                    args = tuple(as_array(x) if type(x) in _NUMBERS else x for x in args)
                replay = kept[place] = _replay_of(function, args, kwargs)
                return function(*args, **kwargs) if replay is None else replay(arrays)
            start = time.perf_counter()
            result = function(*args, **kwargs)
            if not replay:
                _make_room()
            kept[place] = replay + time.perf_counter() - start
            return result
        except (Exception, KeyboardInterrupt) as error:
            hide_frames(error)
            raise

    found: Any = replaying
    found.__dict__ = _OwnAttributes(vars(found))
    for stage in ("lower", "trace", "eval_shape"):
        setattr(found, stage, functools.partial(_at_stage, stage, function))
    found.clear_cache = kept.clear
    return found


class _OwnAttributes(dict[str, Any]):
    """A function's `__dict__` that `functools.wraps` copies without the stages: those of
    `vmap(sin)`, and of a user's function around it, are not those of sin.
    """

    def keys(self) -> Any:
        return [name for name in super().__iter__() if name not in _STAGES]

    def items(self) -> Any:
        return [(name, self[name]) for name in self.keys()]

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())


_STAGES = ("lower", "trace", "eval_shape", "clear_cache")


def _at_stage(stage: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    return getattr(library_stages.jitted(function, args, kwargs), stage)(*args, **kwargs)


def replay_functions(package: str, also: Collection[str] = (), but: Collection[str] = ()) -> None:
    """Makes the functions of a package, or module, replayed ones: those that it has from modules of
    its own, and from some others. Some, by name, are library functions that are not replayed.

    Within the package functions call each other as they are.
    """
    namespace = vars(sys.modules[package])
    for name, value in list(namespace.items()):
        if not name.startswith("_"):
            namespace[name] = public(value, package, also, _entered if name in but else replayed)


def _entered(function: _Function) -> _Function:
    """Return a library function that is not replayed; its errors show the user's lines alone."""
    return api_boundary(library(function))


def public(
    value: Any,
    package: str,
    also: Collection[str] = (),
    kind: Callable[..., Any] = replayed,
) -> Any:
    """Return `value`, wrapped by `kind` if it is a function of the package or of `also`."""
    if not inspect.isfunction(value):
        return value
    home = origins.module_of(value)
    ours = home.startswith(package) or home in also
    return _public(value, package, kind) if ours else value


@once
def _public(
    function: Callable[..., Any], package: str, kind: Callable[..., Any]
) -> Callable[..., Any]:
    found = kind(function)
    found.__module__ = package  # where it is pickled from
    return found


def fixed(kind: _Kind) -> _Kind:
    """Class decorator: what a function does may depend on an object of this class, which can be
    hashed and does not change.
    """
    global _FIXED
    _FIXED += (kind,)
    return kind


_all_kept: list[dict[Any, Any]] = []


def clear_cache() -> None:
    """Clear all replays."""
    for kept in _all_kept:
        kept.clear()


def how_many() -> int:
    """Return the number of kinds of calls that are kept."""
    return sum(map(len, _all_kept))


def _make_room() -> None:
    if how_many() >= _MOST:
        clear_cache()


# ---- arguments -----------------------------------------------------------------------------------


def _describe(x: Any, key: list[Any], arrays: list[Any]) -> bool:
    """Adds what a trace depends on to a key, and arrays to those given; False for what is neither
    an array, nor fixed, nor made of such things.
    """
    kind = type(x)
    if kind is ConcreteArray:
        arrays.append(x)
        key.append(x.aval)
        return not x.committed
    if kind in _PLAIN or isinstance(x, _FIXED):
        key += (kind, x)
        return True
    if kind is float or kind is complex:
        key += (kind, repr(x))  # as text, 0.0 and -0.0 differ and nan is itself
        return True
    if kind is KeyArray:
        key += (kind, x.key_type)
        return _describe(x.data, key, arrays)
    if kind is np.ndarray or isinstance(x, np.generic):
        arrays.append(x)
        key += (kind, x.shape, x.dtype)
        return x.dtype.kind not in "OSU"
    if kind is tuple or kind is list:
        key += (kind, len(x))
        return all(_describe(y, key, arrays) for y in x)
    if kind is slice:
        key.append(kind)
        return all(_describe(y, key, arrays) for y in (x.start, x.stop, x.step))
    return False


def _number(x: float) -> ConcreteArray | None:
    """A number as an array; None for one that is too large for the default dtype."""
    try:
        return concrete_array(x)
    except OverflowError:
        return None


def _with_arrays(x: Any, arrays: Iterator[Array]) -> Any:
    """An argument with others in place of its arrays."""
    kind = type(x)
    if kind is ConcreteArray or kind is np.ndarray or isinstance(x, np.generic):
        return next(arrays)
    if kind is KeyArray:
        return x.with_data(next(arrays))
    if kind is tuple or kind is list:
        return kind(_with_arrays(y, arrays) for y in x)
    if kind is slice:
        return slice(*(_with_arrays(y, arrays) for y in (x.start, x.stop, x.step)))
    return x


# ---- replays -------------------------------------------------------------------------------------


Structure = Callable[[Sequence[Array], Sequence[Any]], Any]
"""Makes a result of the arrays that were computed, and those that were arguments."""


@dataclass(frozen=True)
class _Replay:
    """A traced call, ready to be evaluated for other arrays."""

    line: Callable[..., list[np.ndarray[Any, Any]]]
    call: Evaluation | None
    """Calls functions of the module by name; None if the call needs none."""
    captures: list[np.ndarray[Any, Any]]
    weak: list[bool]
    structure: Structure | None
    """Builds the result from arrays; None if it is the one array."""
    least: float
    greatest: float
    """The ends of the integers that the dtypes of all operands hold."""

    def __call__(self, arrays: list[Any]) -> Any:
        values = [x.value if type(x) is ConcreteArray else as_array(x).value for x in arrays]
        if self.call is None:
            found = quietly(self.line, None, *values, *self.captures)
        else:
            with np.errstate(all="ignore"):
                found = self.line(self.call, *values, *self.captures)
        if self.structure is None:
            return ConcreteArray(found[0], self.weak[0])
        results = [ConcreteArray(r, w) for r, w in zip(found, self.weak, strict=True)]
        return self.structure(results, arrays)


def _replay_of(function: Callable[..., Any], args: Any, kwargs: Any) -> _Replay | None:
    """Trace a call; None if what it does depends on more than the types of its arguments."""
    values = [*args, *kwargs.values()]
    given: list[Any] = []
    for x in values:
        _describe(x, [], given)
    structure: Any = None

    def of_arrays(*arrays: Array) -> list[Array]:
        nonlocal structure
        tracers = iter(arrays)
        now = [_with_arrays(x, tracers) for x in values]
        by_name = dict(zip(kwargs, now[len(args) :], strict=True))
        results, structure = _structure(function(*now[: len(args)], **by_name), arrays, given)
        return results

    if config.debug_key_reuse:  # keys remember what drew from them
        return None
    try:
        with source.withholding_warnings() as warnings:
            inputs = [Input(as_array(x).aval) for x in given]
            traced = trace_function(
                of_arrays,
                inputs,
                "replay",
                function.__name__,
                fresh_module=True,
                trace_type=Replay,
            )
    except Exception:  # the function itself, run again, says what is wrong
        return None
    if (
        traced.acts()
        or warnings  # each call must give them
        or sum(x.size for x in traced.captures) > _LARGE
        or any(concrete_array(x).committed for x in traced.captures)
    ):
        return None
    program = _program(traced)
    if program is None:
        return None
    call = None if straight.calls_nothing(program) else traced.builder.evaluator
    captures = [concrete_array(x).value for x in traced.captures]
    held = [found for x in inputs if (found := range_of(x.aval.dtype)) is not None]
    least = max((found.least for found in held), default=-math.inf)
    greatest = min((found.greatest for found in held), default=math.inf)
    line = straight.line(program)
    return _Replay(line, call, captures, traced.weak, structure, least, greatest)


def _program(traced: Traced) -> Program | None:
    """Return the evaluator's program of a trace, with calls of functions inlined where possible."""
    module = traced.builder.module
    main = mlir.functions(module)[traced.name]
    if any(o.operation.name == "func.call" for o in mlir.body(main).operations):
        mlir.make_public(main)
        try:
            api.run_passes(module, [api.INLINE])
        except api.PassError:  # an operation that the evaluator takes, and StableHLO does not
            return None
    return Program.of(mlir.body(main))


class _NoResultError(Exception):
    """A function's result cannot be built from arrays, so its calls are not replayed."""


def _structure(
    result: Any, tracers: Sequence[Array], given: list[Any]
) -> tuple[list[Array], Structure | None]:
    """Return the arrays to compute for a result, and its `Structure`; None if it is the
    one array.
    """
    passed_on = {id(t): i for i, t in enumerate(tracers) if type(given[i]) is ConcreteArray}
    leaves, tree = array_trees.tree_flatten(result)
    computed = [x for x in leaves if isinstance(x, Array) and id(x) not in passed_on]
    if len(computed) == len(leaves):
        if leaves and leaves[0] is result:
            return computed, None
        if type(result) is tuple and not any(isinstance(x, tuple | list | dict) for x in result):
            return computed, lambda computed, given: tuple(computed)
    fixed = [x for x in leaves if not isinstance(x, Array)]
    if not all(_describe(x, [], []) for x in fixed):
        raise _NoResultError
    places = [passed_on.get(id(x), -1) for x in leaves]

    def structure(computed: Sequence[Array], given: Sequence[Any]) -> Any:
        arrays, others = iter(computed), iter(fixed)
        made = [
            given[i] if i >= 0 else next(arrays if is_array else others)
            for i, is_array in zip(places, are_arrays, strict=True)
        ]
        return build(made)

    build = array_trees.in_order(tree).unflatten
    are_arrays = [isinstance(x, Array) for x in leaves]
    return computed, structure
