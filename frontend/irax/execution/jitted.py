"""Jitted functions: each is traced once per signature, compiled, and runs as one program."""

from __future__ import annotations

import functools
import operator
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from irax import stages
from irax.config import config
from irax.core import dispatch, source
from irax.core.array import Array, as_array, device_of, zeros_of
from irax.core.avals import ShapeDtypeStruct
from irax.core.dispatch import call, runs_at_once, trace_of
from irax.core.module_builder import ModuleBuilder
from irax.core.refs import refs
from irax.core.settings import rule_logs
from irax.core.shardings import axis_names, explicit_axes
from irax.core.shardings.shardings import Sharding
from irax.core.tracebacks import api_boundary, hide_frames
from irax.core.tracing import Trace, current_trace, innermost, resumed, trace_function
from irax.core.trees import array_trees
from irax.core.trees.flattening import FlatFunction, abstract_inputs, name_of
from irax.core.trees.parameter_names import ParameterNames
from irax.core.wrapping import SignatureOfWrapped
from irax.execution import bound_call, jit_refs, replay
from irax.execution.bound_call import OTHER, BoundCall, flattened
from irax.execution.diagnostics import reports
from irax.execution.diagnostics.history import History
from irax.execution.dynamic_shapes import DynamicShapes, rest_of
from irax.execution.jit_parameters import (
    Parameters,
    Static,
    donated_leaves,
    signature_of,
    split_static,
    with_static,
)
from irax.execution.program import Program
from irax.execution.programs import Programs
from irax.execution.shardings.jit_shardings import divided_as_told
from irax.execution.shardings.program_shardings import device_of_structs, told_by
from irax_compiler.spans import Span, collecting
from irax_runtime.device import Device

if TYPE_CHECKING:
    from irax.execution.keyed_starts import FirstCall

P = ParamSpec("P")
R = TypeVar("R")

_caches: weakref.WeakKeyDictionary[Any, dict[Any, Programs]] = weakref.WeakKeyDictionary()
"""Programs by function: a second `jit(f)` finds those of the first."""


class PjitFunction(Generic[P, R]):
    """A jitted function, as `jit` returns it."""

    _may_touch_refs = True
    __signature__ = SignatureOfWrapped()

    def __init__(
        self,
        fun: Callable[P, R],
        static: Parameters = ((), frozenset()),
        donated: Parameters = ((), frozenset()),
        device: Device | str | None = None,
        when: str | None = None,
        dynamic_shapes: Any = None,
        moves: bool = False,
        cache_key: str | None = None,
    ) -> None:
        functools.update_wrapper(self, fun, updated=())
        # Attributes of the function's, but none in the place of methods.
        own = getattr(fun, "__dict__", {})
        self.__dict__.update({k: v for k, v in own.items() if not hasattr(PjitFunction, k)})
        self._fun: Callable[..., R] = fun
        self._device = device
        self._moves = moves
        self._static = static
        self._has_static = any(static)
        self._donated = donated
        # Not among the programs, which live as long as the function: these hold the function.
        self._with_refs = jit_refs.RefPrograms()
        self._when = when
        self._cache_key = cache_key
        self._dynamic: DynamicShapes | None = None
        if dynamic_shapes is not None:
            self._dynamic = DynamicShapes(fun, dynamic_shapes)
        options = (static, donated, device, when, repr(dynamic_shapes), moves, cache_key)
        try:
            self._cache = _caches.setdefault(fun, {}).setdefault(options, Programs())
        except TypeError:  # not hashable or no weak references
            self._cache = Programs()

    def __repr__(self) -> str:
        try:
            return f"<jit of {self._fun!r}>"
        except Exception:  # of the user's class
            return f"<jit of a {type(self._fun).__name__}>"

    def _repr_html_(self) -> str:
        """As a notebook shows it: for what it was traced and compiled."""
        from irax.execution.diagnostics.explanations import explain

        return explain(self)._repr_html_()

    def __reduce__(self) -> Any:
        """Copies share what was traced and compiled. Where the function is found by the name of
        what `jit` made of it, as a decorated one is, it is pickled by name.
        """
        name = getattr(self, "__qualname__", "")
        try:
            found = operator.attrgetter(name)(sys.modules[self.__module__])
        except (AttributeError, KeyError):
            found = None
        if found is self:
            return name
        dynamic = self._dynamic and self._dynamic.option
        options = (self._static, self._donated, self._device, self._when, dynamic, self._moves)
        return PjitFunction, (self._fun, *options, self._cache_key)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """As a method: bound to its instance, which is an argument like any other."""
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            if runs_at_once():
                for call in self._cache.recent:  # as `called` does: a function less in each call
                    result = call(args, kwargs)
                    if result is not OTHER:
                        return result
            return self._call(args, kwargs)
        except (Exception, KeyboardInterrupt) as error:
            if isinstance(error, RecursionError):
                reports.tell_depth(error)
            hide_frames(error)
            raise

    def _call(self, args: Any, kwargs: Any) -> Any:
        if config.disable_jit or rule_logs.calls() is not None:
            return self._fun(*args, **kwargs)
        if self._has_static:
            own, named, static = split_static(self._fun, self._static, args, kwargs)
        else:
            own, named, static = args, kwargs, ()
        leaves, tree = flattened(own, named)
        traced: Program | None = None
        if self._may_touch_refs and refs.exist():
            function = with_static(self._fun, static)
            known, compile = self._with_refs, self._functional
            ahead = functools.partial(self._trace_ahead, static)
            result, traced = jit_refs.call(function, known, compile, ahead, leaves, tree, static)
            if result is not OTHER:
                return result
        trace = trace_of(leaves)
        if trace is not None:
            with resumed():
                return self._call_traced(trace, leaves, tree, static, traced)
        state = config.state
        with explicit_axes.by_mesh_of(leaves):
            return self._call_outside(leaves, tree, static, own, traced, state, len(args))

    def _call_outside(
        self,
        leaves: Sequence[Any],
        tree: Any,
        static: tuple[Any, ...],
        own: tuple[Any, ...],
        traced: Program | None,
        state: Any,
        count: int,
    ) -> Any:
        """Call the function outside of traces, with `count` positional arguments. The short way of
        such calls is for a state of the options.
        """
        try:
            key = (tree, static, config.traced, *map(signature_of, leaves))
        except TypeError:
            filled = self._filled(leaves, tree, static)
            if filled is None:
                self._check_leaves(leaves, tree, static)
                raise
            return self._call_outside(filled, tree, static, own, traced, state, count)
        compiled = self._cache.find(key)
        first: FirstCall | None = None
        cache_key = self._cache_key if self.is_plain() and innermost.trace is None else None
        if compiled is None and traced is None and cache_key is not None:
            from irax.execution.keyed_starts import FirstCall

            given = (self._donated, self._cache, key, leaves, tree, static, count)
            first = FirstCall(self._fun, cache_key, *given)
            result = first.run()
            if result is not OTHER:
                return result
        if compiled is None:
            new = self._for_all_sizes(leaves, tree, static, key)
            if new is None:
                spans = reports.missed(self._fun, self._cache.history, key, is_part=False)
                new = self._trace(leaves, tree, static, spans, traced=traced)
            if new.traced.captures_tracers():
                return _called(new, list(map(as_array, leaves)))
            compiled = self._cache.keep(key, new)
            self._check_donations(compiled)
        fixed = self._device is not None
        asked = self._device if fixed else compiled.usual_device()
        result = compiled.run(leaves, asked, fixed)
        if first is not None:
            first.keep(compiled)
        bound = compiled.bound(leaves, tree, asked, state, self._divides(leaves, own))
        if bound is not None and static:
            bound = bound_call.with_static(bound, static, count)
        if bound is not None:
            self._bind(key, bound, result)
        return result

    def _filled(
        self, leaves: Sequence[Any], tree: Any, static: tuple[Any, ...]
    ) -> list[Any] | None:
        """Return the arguments with arrays in the places of `ShapeDtypeStruct`s, if there are such
        and the function does not use their elements; else None.
        """
        places = [i for i, x in enumerate(leaves) if isinstance(x, ShapeDtypeStruct)]
        filled = [zeros_of(x) if isinstance(x, ShapeDtypeStruct) else x for x in leaves]
        try:
            key = (tree, static, config.traced, *map(signature_of, filled))
        except TypeError:  # of another argument
            return None
        if not places:
            return None
        program = self._cache.find(key) or self._trace(filled, tree, static, [])
        return None if any(program.uses_argument(i) for i in places) else filled

    def _divides(self, leaves: Sequence[Any], own: tuple[Any, ...]) -> Sequence[bool] | None:
        """Return which leaves are divided as the function's options say, if the trace depends on
        how they are divided; None if it does not.
        """
        return None

    def _bind(self, key: Any, bound: BoundCall, result: Any) -> None:
        """Take the short way for calls of a signature from now on; the last one had this result."""
        self._cache.bind(key, bound)

    def is_plain(self) -> bool:
        """Return True if calls run where their arguments are, compiled at once for their sizes."""
        is_usual = self._device is None and self._dynamic is None
        return is_usual and self._when in (None, "at_once") and type(self) is PjitFunction

    @api_boundary
    def trace(self, *args: Any, **kwargs: Any) -> stages.Traced:
        """Trace the function for these arguments (or `ShapeDtypeStruct`s), without compiling it.

        Raises:
            TypeError: an argument is not an array.

        >>> jit(lambda x: x * x).trace(3.0).out_info
        ShapeDtypeStruct(shape=(), dtype=float32, weak_type=True)
        """
        own, named, static = split_static(self._fun, self._static, args, kwargs)
        names = self._parameter_names.of_leaves(own, named, {s.where for s in static})
        return stages.Traced(*self.traced_for(args, kwargs), names)

    def _functional(self, function: Callable[..., Any]) -> PjitFunction[..., Any]:
        """Return this function jitted in a form that touches no Refs."""
        jitted = PjitFunction(function, device=self._device, moves=self._moves)
        jitted._may_touch_refs = False
        return jitted

    def dynamic(self, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments of a call that are not static."""
        return split_static(self._fun, self._static, args, kwargs)[:2]

    def traced_for(
        self, args: Any, kwargs: Any
    ) -> tuple[Program, Any, Device | str | None, Sequence[Sharding | None], jit_refs.Ahead | None]:
        """Return the traced program of a call, the pytree of its arguments, its device, where each
        of the program's leaves is, and what it knows of Refs.
        """
        own, named, static = split_static(self._fun, self._static, args, kwargs)
        given = array_trees.with_words((own, named))
        leaves, tree = array_trees.tree_flatten(given)
        traced = None
        if self._may_touch_refs and jit_refs.may_be_touched(leaves):
            function, ahead = (
                with_static(self._fun, static),
                functools.partial(self._trace_ahead, static),
            )
            found = jit_refs.ahead(function, self._functional, ahead, leaves, tree)
            if isinstance(found, jit_refs.Ahead):
                program, _, device, told, _ = found.arrays
                return program, tree, device, told, found
            traced = found
        name = name_of(self._fun)
        there = device_of(leaves, name) or device_of_structs(leaves, name)
        with explicit_axes.by_mesh_of(leaves):
            program = self._trace(leaves, tree, static, [], traced=traced)
        device = self._device or there or program.usual_device()
        return program, tree, device, self._told(leaves, own), None

    def _told(self, leaves: Sequence[Any], own: tuple[Any, ...]) -> Sequence[Sharding | None]:
        """Return where each leaf of the arguments is; None for those that were put nowhere."""
        return [told_by(leaf) for leaf in leaves]

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """Return the shapes and dtypes of a call's results, as `irax.eval_shape` does."""
        return self.trace(*args, **kwargs).out_info

    @api_boundary
    def lower(self, *args: Any, **kwargs: Any) -> stages.Lowered:
        """Lower the function for these arguments (or `ShapeDtypeStruct`s): to a module to look at,
        and to compile ahead of time.

        Raises:
            TypeError: an argument is not an array.

        >>> jit(lambda x: x * x).lower(3.0).compile()(4.0)
        Array(16., dtype=float32, weak_type=True)
        """
        return self.trace(*args, **kwargs).lower()

    def _call_traced(
        self,
        trace: Trace,
        leaves: Sequence[Any],
        tree: Any,
        static: tuple[Any, ...],
        traced: Program | None = None,
    ) -> Any:
        names = self._names(tree, leaves, static)
        structs = [i for i, x in enumerate(leaves) if isinstance(x, ShapeDtypeStruct)]
        arrays = [
            zeros_of(x) if isinstance(x, ShapeDtypeStruct) else as_array(x, n)
            for x, n in zip(leaves, names, strict=True)
        ]
        options = (*config.traced, *axis_names.bound())
        key = (tree, static, options, *map(explicit_axes.signature, arrays))
        among = trace.builder.jitted
        compiled = self._cache.find(key)
        if compiled is None and among is not None:
            *_, compiled = among.get((id(self._cache), key), (None,))
        if compiled is None:  # each frame between calls counts: Python allows 1000
            spans = reports.missed(self._fun, self._cache.history, key, is_part=True)
            compiled = self._trace(arrays, tree, static, spans, among is not None, traced)
            compiled = self._kept(among, key, compiled)
        for place in structs:
            if compiled.uses_argument(place):
                as_array(leaves[place], names[place])  # which raises: it is no array
        return _called(compiled, arrays)

    def _kept(self, among: dict[Any, Any] | None, key: Any, compiled: Program) -> Program:
        """Keep the traced program of a call inside of a trace. Where that is of a jitted function,
        too, this one is in its module (`among`): to copy it there would copy all that it calls, at
        each level anew.
        """
        if compiled.traced.captures_tracers():
            return compiled
        if among is None:
            return self._cache.keep(key, compiled)
        among[(id(self._cache), key)] = self._cache, key, compiled
        return compiled

    def _trace(
        self,
        leaves: Sequence[Any],
        tree: Any,
        static: tuple[Any, ...],
        spans: list[Span],
        within: bool = False,
        traced: Program | None = None,
        form: Callable[..., Any] | None = None,
    ) -> Program:
        """Traces the function, or a form of it that touches no Refs, into a module of its own, or
        into that of a jitted function around it, if it has not been `traced`. The times that this
        takes, and compiling, go to `spans`.
        """
        if traced is not None:
            spans += traced.spans
            return replace(traced, spans=spans)
        flat = FlatFunction(form or with_static(self._fun, static), tree)
        names = self._names(tree, leaves, static)
        inputs = abstract_inputs(leaves, names)
        name = name_of(self._fun)
        with collecting(spans), reports.timed("traced", name, inputs):
            if within:
                found = trace_function(flat, inputs, "jit", name)
            else:
                with _own_module() as builder:
                    told = divided_as_told(flat)
                    found = trace_function(told, inputs, "jit", name, True, builder)
        donated = donated_leaves(self._donated, tree, len(leaves), static)
        options = donated, self._when, self._device is not None, self._moves
        return Program(found, flat.out_tree, *options, spans=spans)

    def _trace_ahead(
        self, static: tuple[Any, ...], form: Callable[..., Any], leaves: Sequence[Any], tree: Any
    ) -> Program:
        """Traces a form of this function that touches no Refs."""
        trace = current_trace()
        within = trace is not None and trace.builder.jitted is not None
        return self._trace(leaves, tree, static, [], within, form=form)

    def _for_all_sizes(
        self,
        leaves: Sequence[Any],
        tree: Any,
        static: tuple[Any, ...],
        key: Any,
    ) -> Program | None:
        """Return the program of a new signature that the function, traced for symbolic sizes, has;
        None where the signature is traced for itself.
        """
        if self._dynamic is None:
            return None

        def trace(given: Sequence[Any]) -> Program:
            spans = reports.missed(self._fun, self._cache.history, key, is_part=False)
            return self._trace(given, tree, static, spans)

        return self._dynamic.program(
            trace,
            leaves,
            tree,
            rest_of(leaves, tree, static),
            self._leaf_names(tree, leaves, static),
        )

    def _check_donations(self, compiled: Program) -> None:
        """Warns of donated arguments whose memory no result can take."""
        if not compiled.donated:
            return
        results = [(a.shape, a.dtype) for a in compiled.traced.results]
        unused = []
        for aval in compiled.donated_avals():
            if (aval.shape, aval.dtype) in results:
                results.remove((aval.shape, aval.dtype))
            else:
                unused.append(str(aval))
        if unused:
            source.warn(
                f"jit: Some donated buffers were not usable: {', '.join(unused)}: "
                f"{name_of(self._fun)} has no result of that shape and dtype for each",
                UserWarning,
            )

    def _names(self, tree: Any, leaves: Sequence[Any], static: Sequence[Static]) -> list[str]:
        """Return names of the leaves of arguments for messages, such as `f: params['w']`."""
        names = self._leaf_names(tree, leaves, static)
        return [f"{name_of(self._fun)}: {name}" for name in names]

    def _leaf_names(self, tree: Any, leaves: Sequence[Any], static: Sequence[Static]) -> list[str]:
        args, kwargs = array_trees.tree_unflatten(tree, leaves)
        return self._parameter_names.of_leaves(args, kwargs, {s.where for s in static})

    @functools.cached_property
    def _parameter_names(self) -> ParameterNames:
        return ParameterNames(self._fun)

    def _check_leaves(self, leaves: Sequence[Any], tree: Any, static: Sequence[Static]) -> None:
        for leaf, name in zip(leaves, self._names(tree, leaves, static), strict=True):
            try:
                signature_of(leaf)
            except TypeError:
                raise TypeError(
                    f"jit: {name}: expected an array or a number, got "
                    f"{leaf!r} of type {type(leaf).__name__}; {_cure(name)}"
                ) from None

    def histories(self) -> list[tuple[History, Callable[..., Any]]]:
        """Return the traces of this function, and of those made of it that return mutable arrays'
        values, each with the function that was traced.
        """
        made = [program.run for program in filter(None, self._with_refs.values())]
        return [(f._cache.history, f._fun) for f in (self, *made)]

    def starts(self) -> list[str]:
        """Return sentences about first calls: why they traced, or that they did not."""
        return list(self._cache.history.starts)

    def repeated_lines(self) -> list[str]:
        """Return sentences about lines that a trace met many times."""
        return reports.repeated_lines(self._modules())

    def detours(self) -> list[str]:
        """Return sentences about lines that compute much more than their results need."""
        return reports.detours(self._modules())

    def _modules(self) -> list[Any]:
        return [p.traced.builder.module for p in self._cache.values()]

    def programs_for_all_sizes(self) -> list[str]:
        """Return sentences about the programs that the option `dynamic_shapes` asks for."""
        return [] if self._dynamic is None else self._dynamic.explanation()

    def _cache_size(self) -> int:
        """The number of signatures that are kept: libraries look at it to count traces."""
        return len(self._cache)

    def clear_cache(self) -> None:
        """Clear the traces and programs of this function."""
        self._cache.clear()
        self._with_refs.clear()


def _called(program: Program, arrays: Sequence[Array]) -> Any:
    """Call a program as a part of the trace that its arguments or captures belong to."""
    own = program.traced
    results = call(own.builder, own.name, [*arrays, *own.captures], own.weak)
    return array_trees.tree_unflatten(program.out_tree, results)


@contextmanager
def _own_module() -> Iterator[ModuleBuilder]:
    """In a `with` block, a module to trace a jitted function into, with those that it calls; other
    threads see them once it is complete.
    """
    builder = ModuleBuilder()
    builder.jitted = jitted = {}
    yield builder
    builder.jitted = None
    for cache, key, compiled in jitted.values():
        cache.setdefault(key, compiled)


def _cure(name: str) -> str:
    """Return what to do about a leaf, `f: params['w']`, that is no array."""
    where = name.rpartition(": ")[2]
    if where == "self":
        return (
            "jit sees self as an argument: declare it static by static_argnums=0, or register its "
            "class as a pytree, as by irax.tree_util.register_dataclass"
        )
    if not where.isidentifier():
        return (
            "leave it out of the pytree, or have a class of pytrees hold it as static data: "
            "irax.tree_util.register_dataclass(..., meta_fields=...)"
        )
    return (
        "declare the argument static with static_argnums or static_argnames if it is a Python value"
    )


def clear_caches() -> None:
    """Clear the traces and programs of all functions. The cache on disk stays.

    >>> irax.clear_caches()
    """
    for reference in _caches.keyrefs():  # a list: other threads may add functions meanwhile
        function = reference()
        by_options = {} if function is None else _caches.get(function, {})
        for cache in list(by_options.values()):
            cache.clear()
    dispatch.clear_cache()
    replay.clear_cache()
