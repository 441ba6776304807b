"""Tracing: Python runs once, and what it does to arrays is written down as a StableHLO function.

A `Trace` is a function being built; a `Tracer` is a handle on one of its SSA values. All operations
of a thread go to its innermost trace (see `dispatch`). A value from outside becomes an argument of
the function (closure conversion), so functions of a module never refer to each other's values.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from irax import errors
from irax.config import config
from irax.core import leaks, source
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.avals import ShapedArray
from irax.core.cures import cure
from irax.core.dtypes.operands import types_text
from irax.core.innermost import Scope as Scope
from irax.core.innermost import innermost as innermost
from irax.core.interpreters.interface import Interpreter, R
from irax.core.module_builder import ModuleBuilder
from irax.core.shardings import axis_names
from irax.core.shardings.explicit_axes import (
    ExplicitAxes,
    are_in_types,
    result_type,
    spec_of,
    type_of,
)
from irax.core.shardings.memory_spaces import MemoriesInTrace, Space
from irax.core.shardings.sum_types import SumsInTrace, check_summands
from irax.core.shardings.varying_axes import VaryingAxes
from irax_compiler import activity, determinism, effects, mlir
from irax_compiler.ops import shape as shape_ops
from irax_compiler.ops.core import Op
from irax_compiler.ops.evaluation.evaluator import evaluate_value
from irax_compiler.ops.structured import call_function
from irax_compiler.ops.sums import WHOLE
from irax_compiler.sizes import is_symbolic

INLINE_CONSTANT_SIZE = 16
"""Captured arrays of at most so many elements become constants in the IR, larger ones arguments."""


def _is_inline(x: ConcreteArray) -> bool:
    """Return True for a captured array that becomes a constant in the IR. One that was put on a
    device is an argument, so that it tells where a program runs.
    """
    return x.aval.size <= INLINE_CONSTANT_SIZE and not x.committed


def current_trace() -> Trace | None:
    """The innermost trace of this thread, or None outside of all."""
    return innermost.trace


def suspended_trace() -> Trace | None:
    """Return the trace that goes on after a block of `ensure_compile_time_eval`, inside of it."""
    return innermost.suspended


def trace_state_clean() -> bool:
    """Return True if this thread traces nothing."""
    return innermost.trace is None and innermost.suspended is None


class TracingContext:
    """The trace that operations belong to now, as libraries for JAX ask for it."""

    @property
    def trace(self) -> Trace | None:
        """The innermost trace; None outside of traces, where operations run at once."""
        return current_trace()

    def is_top_level(self) -> bool:
        """Return True outside of traces."""
        return current_trace() is None


trace_ctx: TracingContext = TracingContext()


class OpaqueTraceState:
    """Stands for the trace that a thread is in: equal for one trace, and not kept alive by it."""

    def __init__(self) -> None:
        trace = innermost.trace
        self._trace = None if trace is None else weakref.ref(trace)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpaqueTraceState) and self._trace == other._trace

    def __hash__(self) -> int:
        return hash(self._trace)


@contextmanager
def outside_traces() -> Iterator[None]:
    """In a `with` block, this thread traces nothing: for functions of the user's that run while
    another one is being traced.
    """
    with innermost_is(None, None):
        yield


@contextmanager
def innermost_is(trace: Any, suspended: Any) -> Iterator[None]:
    """In a `with` block, operations of this thread belong to other traces."""
    outer = innermost.trace, innermost.suspended
    innermost.trace, innermost.suspended = trace, suspended
    try:
        yield
    finally:
        innermost.trace, innermost.suspended = outer


@contextmanager
def ensure_compile_time_eval() -> Iterator[None]:
    """Computes at once in a `with` block, also while a function is being traced: of arrays whose
    elements are known. Operations on traced ones are traced, as outside of the block.

    >>> @irax.jit
    ... def f(x):
    ...     with irax.ensure_compile_time_eval():
    ...         n = int(irax.numpy.ones(3).sum())
    ...     return x * n
    >>> f(2.0)
    Array(6., dtype=float32, weak_type=True)
    """
    with innermost_is(None, innermost.trace or innermost.suspended):
        yield


@contextmanager
def resumed() -> Iterator[None]:
    """Resume the trace that `ensure_compile_time_eval` suspends, if it does, for the length of a
    block.
    """
    with innermost_is(innermost.trace or innermost.suspended, None):
        yield


class Trace(Interpreter):
    """A function being traced: operations are written into it."""

    def __init__(
        self,
        kind: str,
        name: str,
        builder: ModuleBuilder,
        parent: Trace | None,
        entered_by: frozenset[str] = frozenset(),
        scope: Scope = Scope.ALL,
    ) -> None:
        self.kind = kind
        self.builder = builder
        self.parent = parent
        self.scope = scope
        """The operations that belong to it."""
        self.options = config.traced
        """The options where it begins."""
        self.open = True
        self.captures: list[Any] = []
        self._captured: dict[int, mlir.Value] = {}
        self._sources: dict[mlir.Value, Known] = {}
        self._known: dict[mlir.Value, np.ndarray] = {}
        self._differentiated: dict[mlir.Value, bool] = {}
        self._is_stated = False
        self.location = source.user_location()
        self.function = mlir.new_function(
            builder.module, builder.unique_name(name), [], self.location
        )
        if config.deterministic:
            determinism.mark(self.function)
        self.block = mlir.body(self.function)
        self._insertion = mlir.InsertionPoint(self.block)
        self.argument_names: dict[mlir.Value, str] = {}
        self.made: dict[int, Any] = {}
        """The values of mutable classes that the function made, by their ids (see `hi_values`)."""
        self._varying = VaryingAxes(builder.module) if axis_names.any_checked() else None
        self._explicit = ExplicitAxes(builder.module) if are_in_types() else None
        self._memories = MemoriesInTrace(builder.module)
        self._sums = SumsInTrace(builder.module)
        self._entered_by = entered_by

    @property
    def main(self) -> Trace:
        """The trace itself, by which libraries for JAX compare the traces of arrays."""
        return self

    def add_argument(self, given: Input) -> Tracer:
        """A new argument of the function."""
        aval = given.aval.in_memory(given.aval.memory_space.kind)
        argument = self.block.add_argument(mlir.tensor_type(aval.shape, aval.dtype), self.location)
        if given.known_as is not None:
            self._sources[argument] = Known.of(given.known_as)
        if given.differentiated is not None:
            self._differentiated[argument] = given.differentiated
        self.argument_names[argument] = given.name
        if self._varying is not None:
            self._varying.known[argument] = aval.vma
        self._memories.known[argument] = aval.memory_space.kind
        self.builder.has_memories |= aval.memory_space is Space.Host
        if aval.sums != WHOLE:
            self._sums.known[argument] = aval.sums
            self.builder.has_sums = True
        spec = spec_of(aval)
        if self._explicit is not None and spec is not None:
            self._explicit.known[argument] = spec
        return Tracer(self, argument, aval, self.location)

    def new_arg(self, aval: ShapedArray, source_info: Any = None) -> Tracer:
        """Return a further argument of the jaxpr that is being made, which follows those that the
        function is called with. Libraries ask for one when a function first reads their state.

        Args:
            aval: its type.
            source_info: of no effect.

        Raises:
            TypeError: this is no trace of `make_jaxpr`, which alone may have more arguments.
        """
        if self.kind != "make_jaxpr":
            raise TypeError(f"new_arg: make_jaxpr alone takes more arguments, not {self.kind}")
        self.captures.append(Further(aval))
        return self.add_argument(Input(aval, name="a further argument"))

    def value_of(self, x: Array) -> mlir.Value:
        """The SSA value of an array in this function."""
        if isinstance(x, Tracer):
            if x.home is self:
                return x.value
            x.check_open()
        elif isinstance(x, ConcreteArray) and _is_inline(x):
            with self._insertion, source.user_location():
                constant = shape_ops.Constant(x.value)()
            self._memories.known[constant] = x.aval.memory_space.kind
            return constant
        return self._capture(x)

    def _capture(self, x: Array) -> mlir.Value:
        value = self._captured.get(id(x))
        if value is None:
            aval = type_of(x).varying_along(self._entering(x))
            value = self.add_argument(Input(aval, x, "a captured array")).value
            self._captured[id(x)] = value
            self.captures.append(x)  # also keeps x alive, so that its id stays its own
        return value

    def _entering(self, x: Array) -> frozenset[str]:
        """The axes along which devices may differ in whether they come to this function, from where
        an array was made.
        """
        axes: frozenset[str] = frozenset()
        trace: Trace | None = self
        while trace is not None and not (isinstance(x, Tracer) and x.home is trace):
            axes |= trace._entered_by
            trace = trace.parent
        return axes

    def run(
        self,
        op: Op,
        operands: Sequence[Array],
        weak_type: bool = False,
        builder: ModuleBuilder | None = None,
    ) -> list[Array]:
        values = [self.value_of(x) for x in operands]
        try:
            with self._insertion, source.user_location() as location:
                if self._varying is not None and op.joins_operands:
                    values = self._varying.joined(values)
                if self.builder.has_memories and op.joins_operands:
                    types = [x.aval for x in operands]
                    self._memories.check(op.name, values, types)
                if self.builder.has_sums and op.joins_operands:
                    check_summands(op, operands)
                results = op.build(values)
        except mlir.MLIRError as error:
            raise TypeError(
                f"{op.name}: {types_text(operands)} do not fit: {mlir.error_text(error)}"
            ) from None
        return [self._tracer(r, weak_type, location) for r in results]

    def _tracer(self, value: mlir.Value, weak_type: bool, location: mlir.Location) -> Tracer:
        """Return a tracer of a value of this function, which the user's code at `location` made."""
        vma = frozenset() if self._varying is None else self._varying.of(value)
        aval = ShapedArray(mlir.shape_of(value), mlir.dtype_of(value), weak_type, vma=vma)
        if self.builder.has_memories:
            aval = aval.in_memory(self._memories.of(value))
        if self.builder.has_sums:
            aval = aval.placed(aval.memory_kind, self._sums.of(value))
        if self._explicit is not None:
            aval = self._explicit.typed(value, aval)
        return Tracer(self, value, aval, location)

    def call(
        self, builder: ModuleBuilder, name: str, operands: Sequence[Array], weak: Sequence[bool]
    ) -> list[Array]:
        name = self.builder.import_function(builder, name)
        values = [self.value_of(x) for x in operands]
        functions = mlir.Functions(self.builder.module)
        with self._insertion, source.user_location() as location:
            results = call_function(functions, name, values)
        weak = padded(weak, results)
        return [self._tracer(r, w, location) for r, w in zip(results, weak, strict=True)]

    def staged(self, run: Callable[[], R], write: Callable[[ModuleBuilder], R]) -> R:
        return write(self.builder)

    def broadcast_to(self, x: Array, target: tuple[int, ...]) -> Array:
        is_known = not any(map(is_symbolic, target))
        if isinstance(x, ConcreteArray) and x.size == 1 and x.shape != target and is_known:
            elements = np.broadcast_to(x.value, target)
            return self.bind(shape_ops.Constant(elements), [], x.weak_type)
        return super().broadcast_to(x, target)

    def concretize(self, value: mlir.Value) -> np.ndarray | None:
        """Return the elements of a value if they follow from what the trace knows, else None.

        Under `jit` that is so for what depends on constants alone; under `grad` outside `jit`, for
        everything.
        """
        return evaluate_value(value, self._known, self.known_argument, self.builder.evaluator)

    def known_argument(self, value: mlir.Value) -> np.ndarray | None:
        """Return the elements of an argument if they are known, else None."""
        origin = self._sources.get(value)
        return None if origin is None else origin.elements()

    def chosen_by(self, value: mlir.Value) -> np.ndarray | None:
        """Return what `concretize` does, where Python is to choose by it."""
        return self.concretize(value)

    def text(self, value: mlir.Value) -> str | None:
        """Return the text of a value's elements; None where these are not known to a reader."""
        return None

    def has_derivative(self, value: mlir.Value) -> bool:
        """Return True if a derivative that is being taken may depend on a value."""

        def of_argument(argument: mlir.Value) -> bool:
            differentiated = self._differentiated.get(argument)
            if differentiated and self.open and not self._is_stated:
                return True
            origin = self._sources.get(argument)
            return differentiated is not False and origin is not None and origin.has_derivative()

        return activity.has_derivative(value, of_argument)

    @contextmanager
    def stated(self) -> Iterator[None]:
        """In a `with` block, a rule states the derivative that this trace takes."""
        self._is_stated = True
        try:
            yield
        finally:
            self._is_stated = False

    @contextmanager
    def taking_all(self) -> Iterator[None]:
        """In a `with` block, all operations belong to this trace."""
        before, self.scope = self.scope, Scope.ALL
        try:
            yield
        finally:
            self.scope = before

    @property
    def is_differentiated(self) -> bool:
        """True if a derivative is taken with respect to arguments of it."""
        return any(self._differentiated.values())

    @property
    def is_partial(self) -> bool:
        """True if not all operations belong to it."""
        return self.scope is not Scope.ALL

    def owns(self, operands: Sequence[Tracer]) -> bool:
        """Return True if an operation on these traced arrays belongs to it, as it belongs to no
        trace within this one.
        """
        return self.scope is not Scope.OWN or any(x.home is self for x in operands)

    def has_effects(self) -> bool:
        """Return True if the function, or one around it, has side effects so far."""
        if effects.has_effects(self.function):
            return True
        return self.parent is not None and self.parent.has_effects()

    def unknown_arguments(self, value: mlir.Value) -> dict[str, str]:
        """Return the names of the arguments that a value depends on whose values are unknown, those
        of traces around this one included; for each, the kind of its trace.
        """
        reached = mlir.reached_from(value)
        found: dict[str, str] = {}
        for argument, name in self.argument_names.items():
            if argument in reached:
                origin = self._sources.get(argument)
                found |= {name: self.kind} if origin is None else origin.unknown_arguments()
        return found

    def finish(self, results: Sequence[Array]) -> None:
        """End the function with a return of `results`."""
        values = [self.value_of(x) for x in results]
        mlir.finish_function(self.function, values)
        self.open = False

    def release(self) -> list[Any]:
        """Return the captured arrays, which a trace that has ended need not keep."""
        captures, self.captures = self.captures, []
        self._captured.clear()
        return captures

    def abandon(self) -> None:
        """Remove the unfinished function: tracing failed."""
        self.open = False
        self.function.erase()


class Tracer(Array):
    """Stands for an array in a function being traced."""

    __slots__ = ("aval", "home", "location", "value")

    def __init__(
        self, trace: Trace, value: mlir.Value, aval: ShapedArray, location: mlir.Location
    ) -> None:
        self.home = trace
        self.value = value  # not to be touched once the trace has ended: passes may erase it
        self.aval = aval
        self.location = location

    @property
    def _trace(self) -> Trace:
        """The trace it belongs to, under the name that libraries for JAX know."""
        return self.home

    @property
    def is_known(self) -> bool:
        """True if its elements are known as it depends on arrays with elements alone, and the trace
        is of what is differentiated.
        """
        return self.home.is_partial and self.home.concretize(self.value) is not None

    def __repr__(self) -> str:
        return f"Traced<{self.aval}> in {self.home.kind}"

    def with_weak_type(self, weak_type: bool) -> Array:
        self.check_open()
        aval = self.aval.update(weak_type=weak_type)
        return Tracer(self.home, self.value, aval, self.location)

    def check_open(self) -> None:
        """Raises UnexpectedTracerError if the function it belongs to has been traced to its end."""
        if not self.home.open:
            raise errors.UnexpectedTracerError(
                f"a traced array of type {self.aval} was used at {source.user_line()}, after the "
                f"function had ended that made it at {mlir.location_text(self.location)} "
                f"({self.home.kind} traced it at {mlir.location_text(self.home.location)}): it "
                "leaked out through a global, an attribute or a list. Return it from the function "
                "instead."
            )

    def concrete(
        self, why: str, error: type[Exception], chooses: bool = False, computes: bool = False
    ) -> np.ndarray[Any, Any]:
        """Return the elements if they are known while tracing, and, where Python `computes` with
        them, have no derivative; otherwise raise `error`.
        """
        self.check_open()
        known = (self.home.chosen_by if chooses else self.home.concretize)(self.value)
        if known is None:
            name = source.argument_name(self)
            what = f"a traced array of type {self.aval}"
            if name is not None:
                what = f"the argument {name!r}, {what},"
                if error in errors.TracedArgumentError.__bases__:
                    error = errors.TracedArgumentError
            kind, names = self._unknown_in()
            why, _, option = why.partition("; give ")
            depends = f"; it depends on {names}" if names else ""
            raise error(
                f"{why} at {source.user_line()}: the value of {what} is not known while {kind} "
                f"traces the function{depends}. {cure(error, kind, option)}"
            )
        if computes and self.home.has_derivative(self.value):
            raise error(
                f"{why} at {source.user_line()}: what Python computes of a traced array of type "
                f"{self.aval} has no derivative, and one is being taken. Keep it an array "
                "(irax.numpy functions take it), or take no derivative of it: "
                "irax.lax.stop_gradient(x)."
            )
        return known

    def _unknown_in(self) -> tuple[str, str]:
        """Return the kind of trace for which the value is unknown, and names of the arguments that
        it depends on.
        """
        kinds = self.home.unknown_arguments(self.value)
        if not kinds:
            return self.home.kind, ""
        names = ", ".join(kinds)
        return next(iter(kinds.values())), names if len(kinds) == 1 else f"one of {names}"


def still_open(x: Array) -> Array:
    """Return an array as it is.

    Raises:
        UnexpectedTracerError: a traced array that has leaked.
    """
    if isinstance(x, Tracer):
        x.check_open()
    return x


def concrete_array(x: Any) -> ConcreteArray:
    """Return an array, a NumPy array or a scalar as an array with elements.

    Raises:
        UnexpectedTracerError: a traced array, where nothing is being traced.
    """
    array = as_array(x)
    if isinstance(array, Tracer):
        array.check_open()
        raise errors.UnexpectedTracerError(
            f"a traced array of type {array.aval} was used in another thread than the one that "
            "traces, or where irax.ensure_compile_time_eval computes at once"
        )
    assert isinstance(array, ConcreteArray)
    return array


# ---- tracing whole functions ---------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """An array whose elements may be asked for later, kept without the traced array itself, which
    would count as leaked.
    """

    aval: ShapedArray
    _concrete: ConcreteArray | None
    _home: Trace | None
    _value: Any

    @staticmethod
    def of(x: Array | Known) -> Known:
        """Return the record of an array."""
        if isinstance(x, Known):
            return x
        if isinstance(x, Tracer):
            return Known(x.aval, None, x.home, x.value)
        return Known(x.aval, x if isinstance(x, ConcreteArray) else None, None, None)

    def has_derivative(self) -> bool:
        """Return True if a derivative that is being taken may depend on the array."""
        return self._home is not None and self._home.has_derivative(self._value)

    def unknown_arguments(self) -> dict[str, str]:
        """Return the unknown arguments that the array depends on (see `Trace`)."""
        return {} if self._home is None else self._home.unknown_arguments(self._value)

    def elements(self) -> np.ndarray | None:
        """The elements, if they are known."""
        if self._home is not None:
            return self._home.concretize(self._value)
        return None if self._concrete is None else self._concrete.value


@dataclass(frozen=True)
class Input:
    """An argument to trace a function with."""

    aval: ShapedArray
    known_as: Array | Known | None = None
    """The array it stands for, if the function is traced for this array alone."""
    name: str = "an argument"
    """Its name in error messages."""
    differentiated: bool | None = None
    """True if a derivative with respect to it is taken; False if a rule states the derivatives of
    the function; None if it has a derivative where what it stands for has one."""


@dataclass(frozen=True)
class Further:
    """An argument that was added while the function was traced, among the captured values."""

    aval: ShapedArray


@dataclass
class Traced:
    """A finished function in a module, and what belongs to it."""

    builder: ModuleBuilder
    name: str
    captures: list[Any]
    """The values that the function captured: operands of a call, after the arguments. In a trace of
    `make_jaxpr`, `Further` arguments are among them."""
    results: list[ShapedArray] = field(default_factory=list)
    weak_arguments: Sequence[bool] = ()
    """For each argument, True if it is weakly typed."""

    @property
    def weak(self) -> list[bool]:
        """For each result, True if it is weakly typed."""
        return [aval.weak_type for aval in self.results]

    def acts(self) -> bool:
        """True if it has side effects."""
        function = mlir.functions(self.builder.module)[self.name]
        return effects.has_effects(function)

    def returned(self) -> list[int | None]:
        """For each result, the number of the argument that it is, captured values being the last;
        None if it is computed.
        """
        function = mlir.Functions(self.builder.module)[self.name]
        numbers = {x: n for n, x in enumerate(mlir.arguments(function))}
        return [numbers.get(x) for x in mlir.terminator(mlir.body(function)).operands]

    def captures_tracers(self) -> bool:
        """True if it cannot outlive the traces around it."""
        return any(isinstance(x, Tracer) for x in self.captures)


def trace_function(
    function: Callable[..., Sequence[Array]],
    inputs: Sequence[Input],
    kind: str,
    name: str,
    fresh_module: bool = False,
    builder: ModuleBuilder | None = None,
    trace_type: Callable[..., Trace] = Trace,
    entered_by: frozenset[str] = frozenset(),
    scope: Scope = Scope.ALL,
) -> Traced:
    """Traces `function`, which takes and gives a flat sequence of arrays, into a new function.

    Which operations are traced is as its `scope` says; all of them, if the trace around takes all.

    With `fresh_module` it goes into a module of its own, otherwise into that of the trace around;
    outside of all traces into that of `builder`, if it is given. Devices may differ along the axes
    `entered_by` in whether they run it: arrays that it captures count as varying there.
    """
    outer = innermost.trace
    parent = outer or innermost.suspended
    share = parent is not None and not fresh_module
    if share and parent is not None:
        builder = parent.builder
    builder = builder or ModuleBuilder()
    if parent is not None and not parent.is_partial:
        scope = Scope.ALL
    trace = trace_type(kind, name, builder, parent, entered_by, scope)
    innermost.trace = trace
    try:
        tracers = [trace.add_argument(given) for given in inputs]
        results = list(function(*tracers))
        trace.finish(results)
    except BaseException:
        trace.abandon()
        raise
    finally:
        innermost.trace = outer
    avals = [result_type(x) for x in results]
    captures = trace.release()
    if config.check_tracer_leaks:
        del tracers, results
        leaks.check(trace, Tracer)
    weak = [given.aval.weak_type for given in inputs]
    return Traced(builder, mlir.function_name(trace.function), captures, avals, weak)


def padded(weak: Sequence[bool], results: Sequence[Any]) -> list[bool]:
    """Return for each result if it is weakly typed: beyond the end of `weak` (residuals), none."""
    return [*weak, *[False] * (len(results) - len(weak))]
