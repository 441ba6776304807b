"""The op irax.custom_vmap: a call of a function with a batching rule of its own.

In the IR it is a composite: the decomposition is the function, and an attribute names the rule, a
Python function of the process that traced it. The derivative in forward mode is such a call, too,
whose rule is the derivative of the rule. In other processes, and in reverse mode, it is a plain
call of the function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakValueDictionary

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Module, Type, Value
from irax_compiler.ops import shape, slicing
from irax_compiler.ops.attributes import I64, STRING, attribute, from_operation
from irax_compiler.ops.composite import decomposition_of, register_composed
from irax_compiler.ops.control_flow.custom_rules import RuledOp
from irax_compiler.ops.core import Axis, Tangent, UnsupportedOp, zeros_like
from irax_compiler.ops.derived import Differentiated
from irax_compiler.ops.structured import call_function, scatter
from irax_compiler.ops.transformation import (
    Batching,
    DeferredDifferentiation,
    Differentiation,
    Linearization,
)


class BatchRule(Protocol):
    """The signature of a custom batching rule."""

    def __call__(
        self, module: Module, size: int, mapped: Sequence[bool], types: Sequence[Type]
    ) -> tuple[str, Sequence[np.ndarray], Sequence[bool]]:
        """Add the batched function to a module, for arguments whose mapped ones have the lanes
        first. Return its name, constants that it takes after its arguments, and which of its
        results are mapped.
        """
        ...

    key: str
    tangents: dict[Any, BatchRule]
    """The rules of derivatives, by the arguments that have tangents; they live as long as this rule
    does."""


RULES: WeakValueDictionary[str, BatchRule] = WeakValueDictionary()
"""The rules by the names that the IR has for them."""


@register_composed
@dataclass(frozen=True)
class CustomVmap(RuledOp):
    """The arguments, `num_args` of them, are followed by values from outside."""

    name = "irax.custom_vmap"
    function: str = from_operation(decomposition_of)
    rule: str = attribute(STRING)
    num_args: int = attribute(I64)

    @property
    def rule_names(self) -> tuple[str, ...]:
        return ()

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        rule = RULES.get(self.rule)
        if rule is None or any(t is not None for t in tangents[self.num_args :]):
            return transform.ask(self.plain(transform), primals, tangents)
        active = tuple(t is not None for t in tangents)
        derived = transform.function(self.function, active)
        function = _with_all_tangents(transform, derived, self.num_args)
        types = mlir.result_types(transform.functions[self.function])
        results = tuple(mlir.inexact(mlir.dtype_of_type(t)) for t in types)
        own = active[: self.num_args]
        moved = _RuleOfTangents(rule, transform.deferred(), own, results)
        key = rule.tangents.setdefault(own, moved).key
        given = [t for t in tangents if t is not None]
        op = CustomVmap(function, key, self.num_args + len(given))
        found = op.build([*primals[: self.num_args], *given, *primals[self.num_args :]])
        return found[: len(types)], scatter(found[len(types) :], results)

    def linearize(
        self, transform: Linearization, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        return transform.ask(self.plain(transform), primals, tangents)

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        rule = RULES.get(self.rule)
        if rule is None:
            return self.plain(transform).batch(transform, operands, axes)
        if any(axis is not None for axis in axes[self.num_args :]):
            raise UnsupportedOp(
                f"{self.name}: @{self.function} uses a value from outside that differs between "
                "lanes, of which its rule knows nothing: pass the value as an argument"
            )
        given = list(zip(operands[: self.num_args], axes, strict=False))
        placed = [x if axis is None else shape.move_axis(x, axis, 0) for x, axis in given]
        mapped = [axis is not None for _, axis in given]
        name, constants, out = rule(
            mlir.open_module(), transform.size, mapped, [x.type for x in placed]
        )
        others = [shape.Constant(x)() for x in constants]
        functions = mlir.Functions(mlir.open_module())  # one of them is new
        results = call_function(functions, name, [*placed, *others])
        return results, [0 if is_mapped else None for is_mapped in out]


def _with_all_tangents(transform: Differentiation, derived: Differentiated, num_args: int) -> str:
    """The name of a function like @f.jvp that takes values from outside after the tangents, and
    returns tangents of all inexact results: where the function's is zero, the rule's may not be.
    """
    types = [a.type for a in mlir.arguments(transform.functions[derived.name])]
    count, total = len(derived.active), len(derived.results)
    own, outside, moving = types[:num_args], types[num_args:count], types[count:]

    def build(*arguments: Value) -> Sequence[Value]:
        given, others = arguments[: num_args + len(moving)], arguments[num_args + len(moving) :]
        operands = [*given[:num_args], *others, *given[num_args:]]
        found = call_function(transform.functions, derived.name, operands)
        moved = zip(found[:total], scatter(found[total:], derived.results), strict=True)
        zeros = [zeros_like(x) if t is None else t for x, t in moved if mlir.is_inexact(x)]
        return [*found[:total], *zeros]

    return transform.build_function(f"{derived.name}.whole", [*own, *moving, *outside], build)


@dataclass(eq=False)
class _RuleOfTangents:
    """The batching rule of a derivative: the derivative of a rule."""

    rule: BatchRule
    differentiate: DeferredDifferentiation
    active: tuple[bool, ...]
    """For each argument, True if it has a tangent."""
    results: tuple[bool, ...]
    """For each result, True if it is inexact."""

    def __post_init__(self) -> None:
        self.key = f"{self.rule.key}.jvp#{id(self)}"
        self.tangents: dict[Any, BatchRule] = {}
        RULES[self.key] = self

    def __call__(
        self, module: Module, size: int, mapped: Sequence[bool], types: Sequence[Type]
    ) -> tuple[str, Sequence[np.ndarray], Sequence[bool]]:
        """An argument has lanes if it or its tangent has. A result has none if no argument has, but
        tangents alone: `jacfwd` asks for the value beside the derivative once.
        """
        count, moving = len(self.active), [i for i, moves in enumerate(self.active) if moves]
        places = {i: count + n for n, i in enumerate(moving)}
        either = [mapped[i] or (i in places and mapped[places[i]]) for i in range(count)]
        whole = [types[i] if mapped[i] or not either[i] else types[places[i]] for i in range(count)]
        name, constants, out = self.rule(module, size, either, whole)
        derived = self.differentiate(name, moving)
        functions = mlir.Functions(module)
        inputs = [a.type for a in mlir.arguments(functions[derived.name])]
        outside = inputs[count : count + len(constants)]
        title = mlir.unique_name(module, f"{derived.name}.lanes")
        function = mlir.new_function(module, title, [*types, *outside], mlir.current_location())
        with mlir.InsertionPoint(mlir.body(function)):
            arguments = mlir.arguments(function)
            own, others = arguments[: len(types)], arguments[len(types) :]
            given = [
                shape.batched_at(x, None, size, 0) if either[i] and not has_lanes else x
                for x, i, has_lanes in zip(own, [*range(count), *moving], mapped, strict=True)
            ]
            operands = [*given[:count], *others, *given[count:]]
            found = call_function(functions, derived.name, operands)
            results, moved = found[: len(out)], scatter(found[len(out) :], derived.results)
            pairs = zip(results, moved, self.results, strict=True)
            tangents = [zeros_like(r) if t is None else t for r, t, wanted in pairs if wanted]
            out_tangents = [o for o, wanted in zip(out, self.results, strict=True) if wanted]
            if not any(mapped[:count]):
                pairs = zip(results, out, strict=True)
                results = [_first_lane(r) if has_lanes else r for r, has_lanes in pairs]
                out = [False] * len(out)
        mlir.finish_function(function, [*results, *tangents])
        return title, constants, [*out, *out_tangents]


def _first_lane(x: Value) -> Value:
    return shape.reshape(slicing.slice_in_dim(x, 0, 1, 0), mlir.shape_of(x)[1:])
