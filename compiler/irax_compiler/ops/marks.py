"""Marks: identity composites that carry information for passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from irax_compiler.mlir import Value
from irax_compiler.ops.attributes import STRING, STRINGS, attribute
from irax_compiler.ops.composite import ComposedOp, register_composed
from irax_compiler.ops.core import Axis, Linear, Tangent, only, zeros_like
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation, Transposition


class _Mark(ComposedOp):
    """A composite that returns its operand."""

    linear_in = None

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        return operands

    def evaluate(self, call: Evaluation, x: np.ndarray) -> np.ndarray:
        return x

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        return results, [only(tangents)]

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        return cotangents

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        return self.build(operands), axes


@register_composed
@dataclass(frozen=True)
class Name(_Mark):
    """A value with a name, by which the policy of a checkpoint knows it."""

    name = "irax.name"
    label: str = attribute(STRING)


class _TypeMark(_Mark):
    """A mark that changes what the type of a value tells, and of its tangents likewise."""

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        return transform.results(self, primals), [self(only(tangents))]


@register_composed
@dataclass(frozen=True)
class InMemory(_TypeMark):
    """A value that is moved to another memory of its device."""

    name = "irax.memory"
    kind: str = attribute(STRING)
    """The memory that it is moved to."""
    origin: str = attribute(STRING)
    """The memory that it was in."""

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        return [InMemory(self.origin, self.kind)(only(cotangents))]


@register_composed
@dataclass(frozen=True)
class SumsAlong(_TypeMark):
    """A whole value that counts as summands along axes of a mesh (`ops/sums.py`)."""

    name = "irax.sums_along"
    unreduced: tuple[str, ...] = attribute(STRINGS)
    """The axes along which it counts as still to be summed."""
    reduced: tuple[str, ...] = attribute(STRINGS)
    """The axes along which its cotangents do."""
    unreduced_before: tuple[str, ...] = attribute(STRINGS)
    """The axes of the first kind that the operand's type tells."""
    reduced_before: tuple[str, ...] = attribute(STRINGS)
    """The axes of the second kind that it tells."""

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        of_operand = self.reduced_before, self.unreduced_before
        return [SumsAlong(*of_operand, self.reduced, self.unreduced)(only(cotangents))]


@register_composed
@dataclass(frozen=True)
class StopGradient(_Mark):
    """A value of which no derivative is taken."""

    name = "irax.stop_gradient"

    def is_flat(self, operands: Sequence[Value]) -> bool:
        return True

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        return results, [None]

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        return [None]


stop_gradient = StopGradient()


@register_composed
@dataclass(frozen=True)
class LostDerivative(_Mark):
    """Zeros in the place of a tangent that goes through the bits of floats in a way that no
    derivative follows from.
    """

    name = "irax.lost_derivative"

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        return [zeros_like(x) for x in operands]

    def evaluate(self, call: Evaluation, x: np.ndarray) -> np.ndarray:
        return np.zeros_like(x)

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        return transform.results(self, primals), [None]

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        return [self(only(cotangents))]


lost_derivative = LostDerivative()
