"""The op irax.checkpoint: a call whose residuals are recomputed in reverse mode instead of kept.
Operations with side effects are not repeated: their results are kept.

A checkpoint is a composite whose decomposition is the function. Its linear part is a composite too.
It takes the function's operands and the values that the policy saves, and computes the residuals
from them when it runs. Its transpose does so behind a fusion barrier, so that the recomputation is
not merged with the forward pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from irax_compiler import effects, mlir
from irax_compiler.mlir import Operation, Type, Value
from irax_compiler.ops import barrier
from irax_compiler.ops.attributes import I64, STRING, STRINGS, SYMBOL, attribute, from_operation
from irax_compiler.ops.composite import decomposition_of, register_composed
from irax_compiler.ops.control_flow import policies
from irax_compiler.ops.control_flow.custom_rules import RuledOp
from irax_compiler.ops.core import Axis, Linear, Tangent
from irax_compiler.ops.marks import InMemory
from irax_compiler.ops.structured import call_function, scatter
from irax_compiler.ops.transformation import (
    Batching,
    Differentiation,
    Linearization,
    Transformation,
    Transposition,
)


@register_composed
@dataclass(frozen=True)
class Checkpoint(RuledOp):
    """A call of which reverse mode keeps the operands and the values that the policy saves."""

    name = "irax.checkpoint"
    function: str = from_operation(decomposition_of)
    policy: str = attribute(STRING, default="nothing_saveable")
    """One of `policies.POLICIES`, or of `policies.FUNCTIONS`."""
    names: tuple[str, ...] = attribute(STRINGS, default=())
    """The names of values that the policy is about."""
    offloaded: tuple[str, ...] = attribute(STRINGS, default=())
    """The names of values that it saves in another memory."""
    memories: tuple[str, ...] = attribute(STRINGS, default=())
    """The memory that values are in and the one that they are saved in; none if they stay."""

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        derived = transform.function(self.function, tuple(t is not None for t in tangents))
        active = [t for t in tangents if t is not None]
        found = replace(self, function=derived.name).build([*primals, *active])
        count = len(derived.results)
        return found[:count], scatter(found[count:], derived.results)

    def linearize(
        self, transform: Linearization, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        derived = transform.function(self.function, tuple(t is not None for t in tangents))
        count = len(derived.results)
        forward, recompute = self._split(transform, derived.name, count)
        found = call_function(transform.functions, forward, primals)
        results, saved = found[:count], found[count:]
        if not any(derived.results):
            return results, [None] * count
        active = [t for t in tangents if t is not None]
        known = [*primals, *saved]
        linear = Rematerialized.of(transform, recompute, derived.linear, known, active)
        return results, scatter(linear.build([*known, *active]), derived.results)

    def separate(
        self, transform: Linearization, known: Sequence[Value], moving: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        return self.linearize(transform, known, moving)

    def _split(self, transform: Linearization, name: str, num_results: int) -> tuple[str, str]:
        """Split a function that returns results and residuals into two: one that returns the
        results and the saved values, and one that computes the residuals from the operands and the
        saved values.
        """
        source = transform.functions[name]
        *body, last = (view.operation for view in mlir.body(source).operations)
        arguments = mlir.arguments(source)
        results, residuals = last.operands[:num_results], last.operands[num_results:]
        saved: dict[Value, policies.Decision] = {}
        needed: list[Operation] = []
        wanted = set(residuals)
        for operation in reversed(body):
            there = [v for v in operation.results if v in wanted]
            if not there:
                continue
            kept = policies.decision(self, operation)
            if kept or effects.has_effects(operation):
                saved.update(dict.fromkeys(there, kept))
                continue
            needed.append(operation)
            wanted.update(operation.operands)
            wanted.update(mlir.captured(operation))
        types = [v.type for v in arguments]

        def forward(*given: Value) -> Sequence[Value]:
            env = _run(body, arguments, given)
            return [*(env[v] for v in results), *(_put_away(env[v], d) for v, d in saved.items())]

        def recompute(*given: Value) -> Sequence[Value]:
            own, away = given[: len(arguments)], given[len(arguments) :]
            back = map(_brought_back, away, saved.values())
            env = _run(needed[::-1], [*arguments, *saved], [*own, *back])
            return [env[v] for v in residuals]

        short = transform.build_function(f"{name}.saved", types, forward)
        effects.remove_dead_operations(mlir.body(transform.functions[short]))
        again = transform.build_function(
            f"{name}.again", [*types, *(v.type for v in saved)], recompute
        )
        return short, again

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        derived = transform.function(self.function, tuple(axes))
        return replace(self, function=derived.name).build(operands), derived.results


def _put_away(x: Value, decision: policies.Decision) -> Value:
    """A value in the memory that it is saved in."""
    is_moved = isinstance(decision, policies.Offloadable)
    return InMemory(decision.dst, decision.src)(x) if is_moved else x


def _brought_back(x: Value, decision: policies.Decision) -> Value:
    """A saved value in the memory that it was in."""
    is_moved = isinstance(decision, policies.Offloadable)
    return InMemory(decision.src, decision.dst)(x) if is_moved else x


def _run(
    operations: Sequence[Operation], inputs: Sequence[Value], given: Sequence[Value]
) -> dict[Value, Value]:
    """Copy operations to the insertion point, with their operands replaced."""
    env: dict[Value, Value] = dict(zip(inputs, given, strict=True))
    mlir.clone_all(operations, env)
    return env


@register_composed
@dataclass(frozen=True)
class Rematerialized(RuledOp):
    """The linear part of a checkpoint: `recompute` gives the residuals of the known operands,
    `linear` takes these and the tangents.
    """

    name = "irax.rematerialized"
    function: str = from_operation(decomposition_of)
    recompute: str = attribute(SYMBOL)
    linear: str = attribute(SYMBOL)
    num_known: int = attribute(I64)

    @classmethod
    def of(
        cls,
        transform: Transformation,
        recompute: str,
        linear: str,
        known: Sequence[Value],
        active: Sequence[Value],
    ) -> Rematerialized:
        """With its decomposition, for operands like these."""

        def both(*operands: Value) -> Sequence[Value]:
            residuals = call_function(transform.functions, recompute, operands[: len(known)])
            return call_function(transform.functions, linear, [*residuals, *operands[len(known) :]])

        types: list[Type] = [v.type for v in [*known, *active]]
        function = transform.build_function(f"{linear}.again", types, both)
        return cls(function, recompute, linear, len(known))

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        return transform.ask(self.plain(transform), primals, tangents)

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        known = [x for x in operands[: self.num_known] if isinstance(x, Value)]
        if len(known) != self.num_known:
            return self.plain(transform).transpose(transform, cotangents, operands)
        behind = barrier.barrier.build(known)
        residuals = call_function(transform.functions, self.recompute, behind)
        linear = [isinstance(x, Linear) for x in operands[self.num_known :]]
        pattern = (
            (*[False] * len(residuals), *linear),
            tuple(ct is not None for ct in cotangents),
        )
        derived = transform.function(self.linear, pattern)
        given = [x for x in operands[self.num_known :] if isinstance(x, Value)]
        active = [ct for ct in cotangents if ct is not None]
        found = call_function(transform.functions, derived.name, [*residuals, *given, *active])
        there = derived.results[len(residuals) :]
        return [*[None] * self.num_known, *scatter(found, there)]

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        known, moving = tuple(axes[: self.num_known]), tuple(axes[self.num_known :])
        again = transform.function(self.recompute, known)
        linear = transform.function(self.linear, (*again.results, *moving))
        batched = Rematerialized.of(
            transform,
            again.name,
            linear.name,
            operands[: self.num_known],
            operands[self.num_known :],
        )
        return batched.build(operands), linear.results
