"""Calls of functions whose derivative rules are Python functions that have not run yet.

In the IR such a call is a composite: its decomposition is the function, and an attribute names the
rules, which belong to the process that traced the call. A pass that differentiates the call runs
the rules for the arguments that have a tangent: they give a function of the module that holds them
in the form of `custom_rules`. `write_rules` does that for a module that leaves the process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
    placed_cotangents,
)
from irax_compiler.ops.core import Axis, Tangent, UnsupportedOp
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
        """All results are mapped, as those of rules are."""
        derived = transform.function(self.function, tuple(axes))
        count = len(derived.results)
        function = batched_first(transform, derived, count, f"{self.function}.batch.first")
        rules, key = RULES.get(self.rules), self.rules
        if rules is not None:
            lanes = _Lanes(rules, transform.deferred(), tuple(axes))
            key = rules.lanes.setdefault((lanes.batching, lanes.axes), lanes).key
        op = type(self)(function, self.unbatched, key, self.num_args)
        results = op.build(operands)
        return results, [0] * len(results)


@register_composed
class DeferredJvp(Deferred):
    """A call of a function with a rule for its derivative."""

    name = "irax.deferred.custom_jvp"


@register_composed
class DeferredVjp(Deferred):
    """A call of a function with a rule for reverse mode."""

    name = "irax.deferred.custom_vjp"

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
class _Lanes:
    """Rules of all lanes at once: those of one lane, batched once they are written out."""

    rules: DeferredRules
    batching: DeferredBatching
    axes: tuple[Axis, ...]

    def __post_init__(self) -> None:
        self.key = f"{self.rules.key}.lanes#{id(self)}"
        self.is_recursive = self.rules.is_recursive
        self.has_forward_mode = self.rules.has_forward_mode
        self.lanes: dict[Any, DeferredRules] = {}
        RULES[self.key] = self

    def __call__(self, function: str, perturbed: Sequence[bool]) -> str:
        return self.batching(self.rules(function, perturbed), self.axes)


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
        count = len(derived.results)
        function = batched_first(transform, derived, count, f"{self.function}.batch.first")
        forward = transform.function(self.fwd, tuple(axes))
        fwd = batched_first(transform, forward, count, f"{self.fwd}.batch.first")
        known, wanted = self.axes_of_backward(axes, forward, transform)
        rule = _backward_of_lanes(self.rule, transform.deferred(), known, wanted)
        results = ForwardRuled(function, fwd, rule, self.num_args).build(operands)
        return results, [0] * count


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
        rule = _backward_of_lanes(self.rule, transform.deferred(), known, linear)
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
    key: str, batching: DeferredBatching, known: tuple[Axis, ...], wanted: Sequence[Axis]
) -> str:
    """The key of the backward part of all lanes at once."""
    backward = _backward(key)
    lanes = _BackwardLanes(backward, batching, known, tuple(wanted))
    return backward.lanes.setdefault((batching, known, lanes.wanted), lanes).key


@dataclass(eq=False)
class _BackwardLanes:
    """The backward part of all lanes at once."""

    backward: DeferredBackward
    batching: DeferredBatching
    known: tuple[Axis, ...]
    wanted: tuple[Axis, ...]

    def __post_init__(self) -> None:
        self.key = f"{self.backward.key}.lanes#{id(self)}"
        self.lanes: dict[Any, DeferredBackward] = {}
        BACKWARDS[self.key] = self

    def __call__(self, present: Sequence[bool]) -> str:
        name = self.batching(self.backward(present), (*self.known, *[0] * sum(present)))
        module = mlir.open_module()
        functions = mlir.Functions(module)
        types = [a.type for a in mlir.arguments(functions[name])]
        placed = mlir.unique_name(module, f"{name}.like")
        function = mlir.new_function(module, placed, types, mlir.current_location())
        with mlir.InsertionPoint(mlir.body(function)):
            cts = call_function(functions, name, mlir.arguments(function))
            results = placed_cotangents(cts, [0] * len(cts), self.wanted, self.batching.size)
        mlir.finish_function(function, results)
        return placed
