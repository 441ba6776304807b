"""Derivative rules that run when a derivative is taken, not when the function is called."""

from __future__ import annotations

import itertools
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from irax import errors
from irax.config import config
from irax.core import module_builder, source
from irax.core.array import Array, ConcreteArray
from irax.core.avals import ShapedArray
from irax.core.dispatch import options_of_rules, runs_at_once
from irax.core.module_builder import ModuleBuilder
from irax.core.settings import rule_logs
from irax.core.shardings import axis_names
from irax.core.tracing import Input, Known, Scope, Traced, Tracer, trace_function
from irax.transforms.custom_arguments import Arguments
from irax_compiler import api, mlir
from irax_compiler.ops import shape
from irax_compiler.ops.control_flow.deferred_rules import RULES, Deferred, Lanes
from irax_compiler.ops.registry import read
from irax_compiler.ops.structured import adapted, call_function


@dataclass(frozen=True)
class First:
    """A rule that was traced before its function, and stands for it."""

    rule: Callable[..., Sequence[Array]]
    """The rule as a function of flat arrays, which has run."""
    name: str
    """Its function in the module, with all values from outside as arguments."""
    builder: ModuleBuilder


@dataclass(frozen=True)
class RuleCall:
    """A call of a function whose rules are to be traced."""

    given: Arguments
    inputs: Sequence[Input]
    """Its arguments, in the order in which functions take them."""
    results: Sequence[ShapedArray]
    out_tree: Any
    function: str
    """The function of the arguments in that order, then what it uses from outside."""
    outside: Sequence[Array]
    builder: ModuleBuilder
    rules: DeferredRules

    @property
    def is_written(self) -> bool:
        """True if the module is to hold all rules, because it leaves the process."""
        return _state.writes

    @property
    def first(self) -> First | None:
        """The rule, if it has been traced already, and its function is in the module."""
        first = self.rules.first
        if first is None or first.builder is not self.builder:
            return None
        return first if first.name in mlir.functions(self.builder.module) else None

    def trace(
        self,
        rule: Callable[..., Sequence[Array]],
        inputs: Sequence[Input],
        at: int,
        suffix: str,
        options: tuple[Any, ...] | None = None,
    ) -> str:
        """The name of a rule as a function of the module. It takes all values from outside before
        its argument number `at`. It runs under these `options`, those of the call by default.
        """
        name, kind = f"{self.function}.{suffix}", self.rules.ruled.kind
        with self.rules.running(options), rule_logs.among(None):
            # an index along a named axis has no operand that would tell that it is traced
            takes_all = self.is_written or self.rules.staged or axis_names.bound()
            scope = Scope.ALL if takes_all else Scope.TRACED
            traced = trace_function(
                rule, inputs, kind, name, fresh_module=True, builder=self.builder, scope=scope
            )
        if not traced.captures and not self.outside:
            return traced.name
        with source.user_location():
            return self._closed(traced, at, f"{name}.whole")

    def _closed(self, traced: Traced, at: int, name: str) -> str:
        """The rule with all values from outside as arguments. Arrays that the function itself does
        not use are constants.
        """
        module = self.builder.module
        types = [a.type for a in mlir.arguments(mlir.Functions(module)[traced.name])]
        own = types[: len(types) - len(traced.captures)]
        outside = [mlir.tensor_type(x.aval.shape, x.aval.dtype) for x in self.outside]
        unique = self.builder.unique_name(name)
        function = mlir.new_function(
            module, unique, [*own[:at], *outside, *own[at:]], mlir.current_location()
        )
        arguments = mlir.arguments(function)
        end = at + len(outside)
        values = {_identity(x): v for x, v in zip(self.outside, arguments[at:end], strict=True)}
        with mlir.InsertionPoint(mlir.body(function)):
            captured = [values.get(_identity(x)) or _constant(x) for x in traced.captures]
            operands = [*arguments[:at], *arguments[end:], *captured]
            found = call_function(mlir.Functions(module), traced.name, operands)
        mlir.finish_function(function, found)
        return unique


def _identity(x: Array) -> Any:
    """Return the same key for traced arrays of one value, which may differ in their weak types."""
    return x.value if isinstance(x, Tracer) else id(x)


def _constant(x: Array) -> mlir.Value:
    if not isinstance(x, ConcreteArray):
        raise errors.UnexpectedTracerError(
            f"a derivative rule uses a traced array of type {x.aval} from outside, which neither "
            "its function nor a closure holds: pass it as an argument of the function"
        )
    return shape.Constant(x.value)()


def ruled_in(module: mlir.Module, name: str) -> Iterator[Any]:
    """Return the functions with rules that a function of a module calls, by itself or by others."""
    functions = mlir.Functions(module)
    seen, pending = {name}, [name]
    while pending:
        for operation in mlir.references(functions[pending.pop()]):
            called = [n for n in mlir.named_functions(operation) if n not in seen]
            seen.update(called)
            pending += [n for n in called if n in functions]
            op = read(operation)
            rules = RULES.get(op.rules) if isinstance(op, Deferred) else None
            while isinstance(rules, Lanes):
                rules = rules.rules
            if isinstance(rules, DeferredRules):
                yield rules.ruled


_PROCESS = uuid.uuid4().hex[:12]
"""Makes keys another process's modules cannot have."""
_numbers = itertools.count()


class DeferredRules:
    """The rules of one call of a function, as the compiler asks for them."""

    def __init__(
        self,
        ruled: Any,
        given: Arguments,
        arrays: Sequence[Array],
        traced: Traced,
        out_tree: Any,
        outside: Sequence[Array],
    ) -> None:
        self.ruled, self.given, self.results = ruled, given, traced.results
        self.out_tree, self.outside = out_tree, list(outside)
        self.has_forward_mode = ruled.has_forward_mode
        self.key = f"{traced.name}#{_PROCESS}.{next(_numbers)}"
        self.around = [r for other in _state.writing for r in (other.ruled, *other.around)]
        self.is_recursive = any(other is ruled for other in self.around)
        self.lanes: dict[Any, Any] = {}
        self.function = ""
        self.first: First | None = None
        self._known = [Known.of(x) for x in arrays]
        self._axes = axis_names.bound()
        self._options = options_of_rules()
        self.staged = not runs_at_once()
        """True if the call is one of a staged function, to which all operations belong."""
        RULES[self.key] = self

    def __call__(self, function: str, perturbed: Sequence[bool]) -> str:
        self.function = function
        builder = module_builder.deriving()
        given = self.given
        if self.ruled.symbolic_zeros:
            given = given.with_perturbed(perturbed)
        order = [*given.order, *range(len(perturbed), len(perturbed) + len(self.outside))]
        inputs = [Input(x.aval, x, name) for x, name in zip(self._known, given.names, strict=True)]
        call = RuleCall(
            given,
            [inputs[i] for i in given.order],
            self.results,
            self.out_tree,
            _permuted(builder.module, function, order),
            self.outside,
            builder,
            self,
        )
        op = self.ruled.operation(call)
        return self._written_out(builder, function, op, order)

    @contextmanager
    def running(self, options: tuple[Any, ...] | None = None) -> Iterator[None]:
        """For the length of a `with` block, the rules run where the call stood, under `options`,
        those of the call by default.
        """
        under = config.as_traced(self._options if options is None else options)
        with under, axis_names.all_bound(self._axes), _reopened(self.outside), _asked(self):
            yield

    def _written_out(
        self, builder: ModuleBuilder, function: str, op: Any, order: Sequence[int]
    ) -> str:
        """A function like `function` that consists of the operation which has the rules."""
        module = builder.module
        types = [a.type for a in mlir.arguments(mlir.Functions(module)[function])]
        name = builder.unique_name(f"{function}.ruled")
        written = mlir.new_function(module, name, types, mlir.current_location())
        arguments = mlir.arguments(written)
        with mlir.InsertionPoint(mlir.body(written)):
            results = op.build([arguments[i] for i in order])
        mlir.finish_function(written, results)
        return name


def _permuted(module: mlir.Module, function: str, order: Sequence[int]) -> str:
    """The name of a function that takes the arguments of another in another order."""
    if list(order) == sorted(order):
        return function
    types = [a.type for a in mlir.arguments(mlir.Functions(module)[function])]
    places = sorted(range(len(order)), key=order.__getitem__)
    new_types = [types[i] for i in order]
    return adapted(module, function, new_types, places, f"{function}.ordered")


# ---- what is going on in this thread -------------------------------------------------------------


class _State(threading.local):
    asked: tuple[DeferredRules, ...] = ()
    """The rules that run, if the module is being written."""
    writes = False

    @property
    def writing(self) -> tuple[DeferredRules, ...]:
        return self.asked if self.writes else ()


_state = _State()


@contextmanager
def _asked(rules: DeferredRules) -> Iterator[None]:
    outer = _state.asked
    _state.asked = (*outer, rules)
    try:
        yield
    finally:
        _state.asked = outer


@contextmanager
def _reopened(outside: Sequence[Array]) -> Iterator[None]:
    """Lets rules use traced values of functions that have been traced to their end: they are
    operands of the call.
    """
    closed = {x.home for x in outside if isinstance(x, Tracer) and not x.home.open}
    for trace in closed:
        trace.open = True
    try:
        yield
    finally:
        for trace in closed:
            trace.open = False


def same_call(ruled: Any, given: Arguments) -> DeferredRules | None:
    """Return the rules of an equal call that is being written into a module: a function that
    names itself cannot be written out anew each time.
    """
    for rules in reversed(_state.writing):
        if rules.ruled is ruled and rules.given.key == given.key:
            return rules
    return None


def with_rules(builder: ModuleBuilder) -> ModuleBuilder:
    """A copy of a module, into which the rules of all functions that it calls are written, and
    the lowerings of primitives.
    """
    copy = ModuleBuilder(mlir.clone_module(builder.module))
    copy.kept.append(builder)
    outer = _state.writes, _state.asked
    _state.writes, _state.asked = True, ()
    try:
        with copy.deriving():
            api.write_rules(copy.module)
            api.write_lowerings(copy.module)
    finally:
        _state.writes, _state.asked = outer
    return copy
