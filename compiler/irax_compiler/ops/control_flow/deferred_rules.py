"""Calls of functions whose derivative rules are Python functions that have not run yet.

In the IR such a call is a composite: its decomposition is the function, and an attribute names the
rules, which belong to the process that traced the call. A pass that differentiates the call runs
the rules for the arguments that have a tangent: they give a function of the module that holds them
in the form of `custom_rules`. `write_rules` does that for a module that leaves the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import compress
from typing import Any, Protocol
from weakref import WeakValueDictionary

from irax_compiler import mlir
from irax_compiler.mlir import Type, Value
from irax_compiler.ops.attributes import I64, STRING, SYMBOL, attribute, from_operation
from irax_compiler.ops.composite import decomposition_of, register_composed
from irax_compiler.ops.control_flow.custom_rules import (
    ReverseOnly,
    ReverseRuled,
    RuledOp,
    batched_first,
    declared_linear,
)
from irax_compiler.ops.control_flow.lanes_of_rules import (
    backward_of_lanes,
    first_axes,
    placed_cotangents,
    with_lanes,
)
from irax_compiler.ops.core import Axis, Tangent, UnsupportedOp
from irax_compiler.ops.derived import Batched
from irax_compiler.ops.structured import Call, call_function
from irax_compiler.ops.transformation import (
    Batching,
    DeferredBatching,
    Differentiation,
    Linearization,
)


class DeferredRules(Protocol):
    """The rules of one call, as the compiler asks for them."""

    key: str
    is_recursive: bool
    """True if the call stands within the function's own rules: to write such rules out would never
    end."""
    has_forward_mode: bool
    """True if the rule is for reverse mode, and forward mode is that of the function."""
    lanes: dict[Any, DeferredRules]
    """These rules for lanes, by what is mapped; they live as long as these do."""

    def __call__(self, function: str, perturbed: Sequence[bool]) -> str:
        """Adds a function like `function` to the open module, in which the rules are written out
        for the arguments that have a tangent; returns its name.
        """
        ...


RULES: WeakValueDictionary[str, DeferredRules] = WeakValueDictionary()
"""The rules by the names that the IR has for them."""


@contextmanager
def users_code() -> Iterator[None]:
    """Marks what rules raise, which is for the user to see as it is."""
    try:
        yield
    except Exception as error:
        error.__dict__["is_users"] = True
        raise


def is_users(error: Exception) -> bool:
    """Return True if the user's code raised an exception, and no rule of irax's."""
    return "is_users" in error.__dict__


@dataclass(frozen=True)
class Deferred(RuledOp):
    """The arguments, `num_args` of them, are followed by values from outside."""

    function: str = from_operation(decomposition_of)
    unbatched: str = attribute(SYMBOL)
    """The function of one lane, which the rules are those of."""
    rules: str = attribute(STRING)
    num_args: int = attribute(I64)

    @property
    def rule_names(self) -> tuple[str, ...]:
        return ()

    def written_out(self, perturbed: Sequence[bool]) -> str:
        """The name of a function of the open module that is this call, with rules written out."""
        rules = RULES.get(self.rules)
        if rules is None:
            raise UnsupportedOp(
                f"{self.name}: @{self.function} has derivative rules that are Python functions of "
                "the process that traced it: differentiate it there, then write the module"
            )
        with users_code():
            return rules(self.unbatched, perturbed)

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        self.check_outside(transform, tangents, self.num_args)
        own = list(tangents[: self.num_args])
        perturbed = [t is not None for t in own]
        if not any(perturbed):
            results = self.build(primals)
            return results, [None] * len(results)
        name = self.written_out(perturbed)
        transform.refresh()
        types = tuple(mlir.result_types(transform.functions[name]))
        outside = [None] * (len(primals) - self.num_args)
        return transform.ask(Call(name, types), primals, [*own, *outside])

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        """Results are mapped as those of rules are."""
        derived = transform.function(self.function, tuple(axes))
        count, shared = len(derived.results), tuple(self.shared_results(transform, axes))
        function = batched_first(transform, derived, count, f"{self.function}.batch.first", shared)
        rules, key = RULES.get(self.rules), self.rules
        if rules is not None:
            lanes = Lanes(rules, transform.deferred(), tuple(axes), shared)
            key = rules.lanes.setdefault((lanes.batching, lanes.axes, shared), lanes).key
        op = type(self)(function, self.unbatched, key, self.num_args)
        return op.build(operands), [None if is_shared else 0 for is_shared in shared]


@register_composed
class DeferredJvp(Deferred):
    """A call of a function with a rule for its derivative."""

    name = "irax.deferred.custom_jvp"


@register_composed
class DeferredVjp(Deferred):
    """A call of a function with a rule for reverse mode."""

    name = "irax.deferred.custom_vjp"

    def shared_results(self, transform: Batching, axes: Sequence[Axis]) -> list[bool]:
        derived = transform.function(self.function, tuple(axes))
        return [axis is None for axis in derived.results]

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        rules = RULES.get(self.rules)
        if rules is None or not rules.has_forward_mode:
            return super().jvp(transform, primals, tangents)
        types = tuple(mlir.result_types(transform.functions[self.function]))
        return transform.ask(Call(self.function, types), primals, tangents)

    def linearize(
        self, transform: Linearization, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        if transform.pushes:
            return self.jvp(transform, primals, tangents)
        return super().jvp(transform, primals, tangents)


@dataclass(eq=False)
class Lanes:
    """Rules of all lanes at once: those of one lane, batched once they are written out."""

    rules: DeferredRules
    batching: DeferredBatching
    axes: tuple[Axis, ...]
    shared: tuple[bool, ...]
    """For each result, True if all lanes share it."""

    def __post_init__(self) -> None:
        self.key = f"{self.rules.key}.lanes#{id(self)}"
        self.is_recursive = self.rules.is_recursive
        self.has_forward_mode = self.rules.has_forward_mode
        self.lanes: dict[Any, DeferredRules] = {}
        RULES[self.key] = self

    def __call__(self, function: str, perturbed: Sequence[bool]) -> str:
        batched = self.batching.free(self.rules(function, perturbed), self.axes)

        def build(functions: mlir.Functions, *arguments: Value) -> Sequence[Value]:
            found = call_function(functions, batched.name, arguments)
            return first_axes(found, batched.results, self.batching.size, self.shared)

        return _around(batched.name, None, build)


# ---- backward parts ------------------------------------------------------------------------------


class DeferredBackward(Protocol):
    """The backward part of a rule for reverse mode, as the compiler asks for it."""

    key: str
    lanes: dict[Any, DeferredBackward]
    """The batched forms, by the arguments that are mapped."""

    def __call__(self, present: Sequence[bool]) -> str:
        """Adds a function to the open module, of what is known and the cotangents of those inexact
        results that have one, to the cotangents of the arguments; returns its name.
        """
        ...


BACKWARDS: WeakValueDictionary[str, DeferredBackward] = WeakValueDictionary()
"""The backward parts by the names that the IR has for them."""


@register_composed
@dataclass(frozen=True)
class ForwardRuled(ReverseRuled):
    """A call of a function with a rule for reverse mode whose backward part runs when cotangents
    arrive.
    """

    name = "irax.deferred.backward"
    function: str = from_operation(decomposition_of)
    fwd: str = attribute(SYMBOL)
    rule: str = attribute(STRING)
    num_args: int = attribute(I64)

    @property
    def rule_names(self) -> tuple[str, ...]:
        return (self.fwd,)

    def linear_part(
        self,
        transform: Linearization,
        known: Sequence[Value],
        directions: Sequence[Value],
        types: Sequence[Type],
    ) -> ReverseOnly:
        declared = declared_linear(transform, self.fwd, [*known, *directions], types)
        return DeferredTranspose(declared, self.rule, len(known))

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        derived = transform.function(self.function, tuple(axes))
        count, shared = len(derived.results), self.shared_results(transform, axes)
        function = batched_first(transform, derived, count, f"{self.function}.batch.first", shared)
        forward = transform.function(self.fwd, tuple(axes))
        fwd = batched_first(transform, forward, count, f"{self.fwd}.batch.first", shared)
        known, wanted = self.axes_of_backward(axes, forward, transform)
        cotangents = self.shared_cotangents(transform, shared)
        rule = _backward_of_lanes(self.rule, transform.deferred(), known, cotangents, wanted)
        results = ForwardRuled(function, fwd, rule, self.num_args).build(operands)
        return results, [None if is_shared else 0 for is_shared in shared]


@register_composed
@dataclass(frozen=True)
class DeferredTranspose(ReverseOnly):
    """The transpose is made when cotangents arrive."""

    name = "irax.deferred.transpose_only"
    function: str = from_operation(decomposition_of)
    rule: str = attribute(STRING)
    num_known: int = attribute(I64)

    def transposed(self, present: Sequence[bool]) -> str:
        backward = _backward(self.rule)
        with users_code():
            return backward(present)

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        known, linear = tuple(axes[: self.num_known]), axes[self.num_known :]
        lanes = self.lanes_of_results(transform)
        shared = (False,) * len(lanes)
        rule = _backward_of_lanes(self.rule, transform.deferred(), known, shared, linear)
        declared = declared_linear(transform, self.function, operands, lanes)
        results = DeferredTranspose(declared, rule, self.num_known).build(operands)
        return results, [0] * len(lanes)


def _backward(key: str) -> DeferredBackward:
    found = BACKWARDS.get(key)
    if found is None:
        raise UnsupportedOp(
            f"{DeferredTranspose.name}: the backward part of a rule (custom_vjp) is a Python "
            "function of the process that traced it: differentiate there"
        )
    return found


def _backward_of_lanes(
    key: str,
    batching: DeferredBatching,
    known: tuple[Axis, ...],
    shared: tuple[bool, ...],
    wanted: Sequence[Axis],
) -> str:
    """The key of the backward part of all lanes at once, some of whose cotangents these share."""
    backward = _backward(key)
    lanes = _BackwardLanes(backward, batching, known, shared, tuple(wanted))
    return backward.lanes.setdefault((batching, known, shared, lanes.wanted), lanes).key


@dataclass(eq=False)
class _BackwardLanes:
    """The backward part of all lanes at once."""

    backward: DeferredBackward
    batching: DeferredBatching
    known: tuple[Axis, ...]
    shared: tuple[bool, ...]
    wanted: tuple[Axis, ...]

    def __post_init__(self) -> None:
        self.key = f"{self.backward.key}.lanes#{id(self)}"
        self.lanes: dict[Any, DeferredBackward] = {}
        BACKWARDS[self.key] = self

    def __call__(self, present: Sequence[bool]) -> str:
        backward = self.backward(present)
        shared = tuple(compress(self.shared, present))
        count, size = len(self.known), self.batching.size

        def derive(axes: tuple[Axis, ...]) -> Batched:
            return self.batching.free(backward, axes)

        bwd, is_one_lanes = backward_of_lanes(derive, self.known, shared, self.wanted)

        def build(functions: mlir.Functions, *arguments: Value) -> Sequence[Value]:
            cts = arguments[count:]
            given = with_lanes(cts, shared, size) if is_one_lanes else cts
            found = call_function(functions, bwd.name, [*arguments[:count], *given])
            return placed_cotangents(found, bwd.results, self.wanted, size)

        own = [a.type for a in mlir.arguments(mlir.Functions(mlir.open_module())[bwd.name])]
        cotangents: list[Any] = own[count:]
        if is_one_lanes:
            cotangents = [
                mlir.tensor_type(tuple(t.shape)[1:], mlir.dtype_of_type(t)) if is_shared else t
                for t, is_shared in zip(cotangents, shared, strict=True)
            ]
        return _around(bwd.name, [*own[:count], *cotangents], build)


def _around(name: str, types: Sequence[Type] | None, build: Callable[..., Sequence[Value]]) -> str:
    """Adds a function around function `name` of the open module, by default of the same arguments;
    returns its name.
    """
    module = mlir.open_module()
    functions = mlir.Functions(module)
    if types is None:
        types = [a.type for a in mlir.arguments(functions[name])]
    around = mlir.unique_name(module, f"{name}.like")
    function = mlir.new_function(module, around, types, mlir.current_location())
    with mlir.InsertionPoint(mlir.body(function)):
        results = build(functions, *mlir.arguments(function))
    mlir.finish_function(function, results)
    return around
