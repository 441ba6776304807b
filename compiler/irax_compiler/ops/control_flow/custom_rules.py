"""The ops irax.custom_jvp and irax.custom_vjp: calls of functions with derivative rules of their
own.

In the IR they are composites: the decomposition is the function, and attributes name the functions
that are its rules. So a module that is written down keeps its rules.

Operands are the function's arguments (`num_args` of them), which have derivatives, then values from
outside that the functions use, which have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Type, Value, is_inexact
from irax_compiler.ops.attributes import I64, SYMBOL, attribute, from_operation
from irax_compiler.ops.composite import ComposedOp, decomposition_of, register_composed
from irax_compiler.ops.control_flow.lanes_of_rules import (
    backward_of_lanes,
    first_axes,
    placed_cotangents,
    with_lanes,
)
from irax_compiler.ops.control_flow.rows import stacked_type
from irax_compiler.ops.core import Axis, Linear, Tangent, UnsupportedOp
from irax_compiler.ops.derived import Batched
from irax_compiler.ops.structured import (
    Call,
    StructuredOp,
    call_function,
    instantiated,
    scatter,
)
from irax_compiler.ops.transformation import (
    Batching,
    Dependence,
    Differentiation,
    Evaluation,
    Linearization,
    Transformation,
    Transposition,
)


class NoForwardMode(UnsupportedOp, TypeError):
    """Forward mode was asked of a function that has only reverse mode."""


class OutsideValue(UnsupportedOp):
    """The derivative with respect to a captured value was asked of a function with a rule."""


class RuledOp(StructuredOp, ComposedOp):
    """A call of a function, `function`, with rules of its own."""

    num_results: ClassVar[int] = -1
    function: str

    def _decomposition(self, types: tuple[Type, ...]) -> Operation:
        return mlir.Functions(mlir.open_module())[self.function]

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Sequence[np.ndarray]:
        return call(self.function, operands)

    def plain(self, transform: Transformation) -> Call:
        """Return the plain call of the function, which ignores the custom rules."""
        return Call(self.function, tuple(mlir.result_types(transform.functions[self.function])))

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        return self.plain(transform).transpose(transform, cotangents, operands)

    def dependent_results(
        self, dependence: Dependence, flags: Sequence[bool]
    ) -> Sequence[bool] | None:
        return dependence.results(self.function, flags)

    def separate(
        self, transform: Linearization, known: Sequence[Value], moving: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        return self.plain(transform).separate(transform, known, moving)

    @property
    def rule_names(self) -> tuple[str, ...]:
        """The functions that are its rules."""
        raise NotImplementedError

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        """Rules may call the function that they are rules of: so the names of the batched ones are
        there before they are.
        """
        names = (self.function, *self.rule_names)
        batched, is_new = transform.reserve(
            (self, tuple(axes)), [f"{n}.batch.first" for n in names]
        )
        function, *rules = batched
        op = type(self)(function, *rules, self.num_args)  # pyright: ignore
        if is_new:
            self.batched(transform, op, axes)
        results = op.build(operands)
        shared = self.shared_results(transform, axes)
        return results, [None if is_shared else 0 for is_shared in shared]

    def shared_results(self, transform: Batching, axes: Sequence[Axis]) -> list[bool]:
        """For each result, True if all lanes share it; others have the mapped axis first. By
        default all have it.
        """
        return [False] * len(mlir.result_types(transform.functions[self.function]))

    def batched(self, transform: Batching, batched: Any, axes: Sequence[Axis]) -> None:
        """Adds the functions that the batched op names."""
        raise NotImplementedError

    def check_outside(
        self, transform: Transformation, tangents: Sequence[Tangent], num_args: int
    ) -> None:
        """Raise an error instead of ignoring the derivative with respect to a captured value.
        Values that only the rules use have no derivative.
        """
        arguments = mlir.arguments(transform.functions[self.function])
        outside = zip(tangents[num_args:], arguments[num_args:], strict=True)
        if any(t is not None and mlir.num_uses(argument) for t, argument in outside):
            raise OutsideValue(
                f"{self.name}: @{self.function} uses a value from outside that it is to be "
                "differentiated with respect to, of which its rule knows nothing: pass the value "
                "as an argument"
            )


def _inexact(types: Sequence[Any]) -> list[bool]:
    return [mlir.inexact(mlir.dtype_of_type(t)) for t in types]


def _types(function: Operation) -> tuple[list[Type], list[Type]]:
    """The types of a function's arguments and results."""
    return [a.type for a in mlir.arguments(function)], mlir.result_types(function)


# ---- custom_jvp ----------------------------------------------------------------------------------


@register_composed
@dataclass(frozen=True)
class CustomJvp(RuledOp):
    """A call whose `rule` takes the operands and tangents of the inexact arguments, and returns the
    results and tangents of the inexact ones.
    """

    name = "irax.custom_jvp"
    function: str = from_operation(decomposition_of)
    rule: str = attribute(SYMBOL)
    num_args: int = attribute(I64)

    @property
    def rule_names(self) -> tuple[str, ...]:
        return (self.rule,)

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        self.check_outside(transform, tangents, self.num_args)
        args = primals[: self.num_args]
        wanted = [is_inexact(x) for x in args]
        directions = instantiated(args, tangents[: self.num_args], wanted)
        _, types = _types(transform.functions[self.function])
        results, moved = transform.call_rule(self.rule, primals, directions, len(types))
        returned = mlir.terminator(mlir.body(transform.functions[self.rule])).operands
        zeros = [_is_zero(x, transform.functions) for x in list(returned)[len(types) :]]
        present = [None if zero else x for x, zero in zip(moved, zeros, strict=True)]
        return results, scatter(present, _inexact(types))

    def batched(self, transform: Batching, batched: CustomJvp, axes: Sequence[Axis]) -> None:
        own, types = _types(transform.functions[self.function])
        arg_axes = [a for a, t in zip(axes[: self.num_args], _inexact(own), strict=False) if t]
        function = transform.function(self.function, tuple(axes))
        batched_first(transform, function, len(types), batched.function)
        rule = transform.function(self.rule, (*axes, *arg_axes))
        batched_first(transform, rule, len(types) + sum(_inexact(types)), batched.rule)


def _is_zero(x: Value, functions: Mapping[str, Operation]) -> bool:
    """True if a value that a function returns is zero whatever it is given."""
    operation = mlir.definition(x)
    if operation is None:
        return False
    if operation.name == Call.name:
        callee = functions[mlir.callee(operation)]
        number = next(n for n, y in enumerate(operation.results) if y == x)
        return _is_zero(mlir.terminator(mlir.body(callee)).operands[number], functions)
    if operation.name == "stablehlo.broadcast_in_dim":
        return _is_zero(operation.operands[0], functions)
    element = mlir.splat(x)
    return element is not None and not element.any()


def batched_first(
    transform: Batching, derived: Batched, count: int, name: str, shared: Sequence[bool] = ()
) -> str:
    """Adds a batched function, whose first `count` results all have the mapped axis first, but for
    those that are `shared`: these are one lane's.
    """
    inputs, _ = _types(transform.functions[derived.name])

    def build(*arguments: Value) -> Sequence[Value]:
        found = call_function(transform.functions, derived.name, arguments)
        first = first_axes(found[:count], derived.results[:count], transform.size, shared)
        return [*first, *found[count:]]

    return transform.build_function(name, inputs, build)


# ---- custom_vjp ----------------------------------------------------------------------------------


class ReverseRuled(RuledOp):
    """A call of a function with a rule for reverse mode: `fwd` takes the operands and gives the
    results, then residuals.
    """

    fwd: str
    num_args: int

    def linear_part(
        self,
        transform: Linearization,
        known: Sequence[Value],
        directions: Sequence[Value],
        types: Sequence[Type],
    ) -> ReverseOnly:
        """The derivative as an operation: of the values from outside, the residuals, and tangents
        of the inexact arguments to tangents of some types.
        """
        raise NotImplementedError

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        raise NoForwardMode(
            f"{self.function.removesuffix('.primal')} has a rule for reverse mode (custom_vjp), "
            "and so no forward mode: differentiate it in reverse, or give it a rule by custom_jvp"
        )

    def linearize(
        self, transform: Linearization, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        self.check_outside(transform, tangents, self.num_args)
        if all(t is None for t in tangents[: self.num_args]):
            results = self.build(primals)
            return results, [None] * len(results)
        args, outside = primals[: self.num_args], primals[self.num_args :]
        _, types = _types(transform.functions[self.function])
        found = call_function(transform.functions, self.fwd, primals)
        results, residuals = found[: len(types)], found[len(types) :]
        wanted = [is_inexact(x) for x in args]
        directions = instantiated(args, tangents[: self.num_args], wanted)
        linear = [t for t in types if mlir.inexact(mlir.dtype_of_type(t))]
        known = [*outside, *residuals]
        moved = self.linear_part(transform, known, directions, linear).build([*known, *directions])
        return results, scatter(moved, _inexact(types))

    def shared_results(self, transform: Batching, axes: Sequence[Axis]) -> list[bool]:
        derived = transform.function(self.function, tuple(axes))
        return [axis is None for axis in derived.results]

    def shared_cotangents(self, transform: Batching, shared: Sequence[bool]) -> tuple[bool, ...]:
        """For each cotangent of a result, True if all lanes share it."""
        _, types = _types(transform.functions[self.function])
        return tuple(compress(shared, _inexact(types)))

    def axes_of_backward(
        self, axes: Sequence[Axis], fwd: Batched, transform: Batching
    ) -> tuple[tuple[Axis, ...], list[Axis]]:
        """For a batched call: the mapped axes of what the backward part knows, and those that its
        cotangents of arguments must have.
        """
        inputs, types = _types(transform.functions[self.function])
        known = (*axes[self.num_args :], *fwd.results[len(types) :])
        wanted = [a for a, t in zip(axes[: self.num_args], _inexact(inputs), strict=False) if t]
        return known, wanted


@register_composed
@dataclass(frozen=True)
class CustomVjp(ReverseRuled):
    """`bwd` takes the values from outside, the residuals and cotangents of the inexact results, and
    gives cotangents of the inexact ones among the arguments.
    """

    name = "irax.custom_vjp"
    function: str = from_operation(decomposition_of)
    fwd: str = attribute(SYMBOL)
    bwd: str = attribute(SYMBOL)
    num_args: int = attribute(I64)

    @property
    def rule_names(self) -> tuple[str, ...]:
        return (self.fwd, self.bwd)

    def linear_part(
        self,
        transform: Linearization,
        known: Sequence[Value],
        directions: Sequence[Value],
        types: Sequence[Type],
    ) -> ReverseOnly:
        declared = declared_linear(transform, self.bwd, [*known, *directions], types)
        return TransposeOnly(declared, self.bwd, len(known))

    def batched(self, transform: Batching, batched: CustomVjp, axes: Sequence[Axis]) -> None:
        _, types = _types(transform.functions[self.function])
        function = transform.function(self.function, tuple(axes))
        shared = self.shared_results(transform, axes)
        batched_first(transform, function, len(types), batched.function, shared)
        fwd = transform.function(self.fwd, tuple(axes))
        batched_first(transform, fwd, len(types), batched.fwd, shared)
        known, wanted = self.axes_of_backward(axes, fwd, transform)

        def derive(given: tuple[Axis, ...]) -> Batched:
            return transform.function(self.bwd, given)

        cotangents = self.shared_cotangents(transform, shared)
        bwd, is_one_lanes = backward_of_lanes(derive, known, cotangents, wanted)
        inputs = [
            *(a.type for a in mlir.arguments(transform.functions[bwd.name])[: len(known)]),
            *_types_of_cotangents(transform.functions[batched.function]),
        ]

        def build(*arguments: Value) -> Sequence[Value]:
            cts = arguments[len(known) :]
            given = with_lanes(cts, cotangents, transform.size) if is_one_lanes else cts
            found = call_function(transform.functions, bwd.name, [*arguments[: len(known)], *given])
            return placed_cotangents(found, bwd.results, wanted, transform.size)

        transform.build_function(batched.bwd, inputs, build)


def _types_of_cotangents(function: Operation) -> list[Type]:
    _, types = _types(function)
    return [t for t, is_one in zip(types, _inexact(types), strict=True) if is_one]


def declared_linear(
    transform: Transformation, bwd: str, operands: Sequence[Value], results: Sequence[Type]
) -> str:
    """A function that is declared and nowhere defined: a linear one of which just the transpose is
    known.
    """
    return transform.declare_function(f"{bwd}.transpose", [x.type for x in operands], results)


class ReverseOnly(RuledOp):
    """A linear function of which just the transpose is known: of `num_known` known operands and the
    results' cotangents to the other operands' cotangents.
    """

    num_known: int

    def dependent_results(self, dependence: Dependence, flags: Sequence[bool]) -> None:
        return None

    def transposed(self, present: Sequence[bool]) -> str:
        """The name of a function of the open module that is the transpose: of what is known, and
        the cotangents of those results that have one.
        """
        raise NotImplementedError

    def backward(
        self, transform: Transposition, known: Sequence[Value], cotangents: Sequence[Tangent]
    ) -> Sequence[Value]:
        """The cotangents of the operands that are not known."""
        name = self.transposed([ct is not None for ct in cotangents])
        transform.refresh()
        given = [ct for ct in cotangents if ct is not None]
        return call_function(transform.functions, name, [*known, *given])

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Sequence[np.ndarray]:
        raise self._refusal()

    def _refusal(self) -> NoForwardMode:
        return NoForwardMode(
            f"{self.name}: a function with a rule for reverse mode (custom_vjp) has no forward "
            "mode: differentiate it in reverse, or give it a rule by custom_jvp"
        )

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        raise self._refusal()

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        known = [x for x in operands[: self.num_known] if isinstance(x, Value)]
        if len(known) != self.num_known:
            raise self._refusal()
        found = self.backward(transform, known, cotangents)
        return [
            ct if isinstance(x, Linear) else None
            for x, ct in zip(operands, [*[None] * self.num_known, *found], strict=True)
        ]

    def lanes_of_results(self, transform: Batching) -> list[Type]:
        """The types of the batched results, with the mapped axis first."""
        types: list[Any] = mlir.result_types(transform.functions[self.function])
        return [stacked_type(t, transform.size) for t in types]


@register_composed
@dataclass(frozen=True)
class TransposeOnly(ReverseOnly):
    """`transpose_function` is the transpose."""

    name = "irax.transpose_only"
    function: str = from_operation(decomposition_of)
    transpose_function: str = attribute(SYMBOL, "transpose")
    num_known: int = attribute(I64)

    def transposed(self, present: Sequence[bool]) -> str:
        return self.transpose_function

    def backward(
        self, transform: Transposition, known: Sequence[Value], cotangents: Sequence[Tangent]
    ) -> Sequence[Value]:
        types = mlir.result_types(transform.functions[self.function])
        given = instantiated([Linear(t) for t in types], cotangents, [True] * len(types))
        return call_function(transform.functions, self.transpose_function, [*known, *given])

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        known, linear = tuple(axes[: self.num_known]), axes[self.num_known :]
        lanes = self.lanes_of_results(transform)
        transposed = transform.function(self.transpose_function, (*known, *[0] * len(lanes)))
        types = [a.type for a in mlir.arguments(transform.functions[transposed.name])]

        def build(*arguments: Value) -> Sequence[Value]:
            found = call_function(transform.functions, transposed.name, arguments)
            return placed_cotangents(found, transposed.results, linear, transform.size)

        declared = declared_linear(transform, transposed.name, operands, lanes)
        name = transform.build_function(f"{transposed.name}.like", types, build)
        batched = TransposeOnly(declared, name, self.num_known)
        return batched.build(operands), [0] * len(lanes)
